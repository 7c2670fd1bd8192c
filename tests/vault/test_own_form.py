"""The quick reader of gitmem's own records answers like the exact one, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.model.authority import Authority
from gitmem.model.ids import RecordId
from gitmem.model.record import Kind
from gitmem.model.vault_path import VaultPath
from gitmem.vault.record_file import _parse_any, _parse_own, format_record

PATH = VaultPath("promoted/run-tests-m7k2q9.md")
LINES = {
    "gitmem_id": ["m7k2q9abcdef", '"123456789012"', "123456789012", "1234567890e1", "0xabcdefabcd", "m7k2q9abcde"],
    "title": ["Run tests", "null", "True", "2024", "1e999", "'it is'", '" "', '"a: b"', "a: b", "a #b",
              "a#b", "[]", "…"],
    "kind": ["fact", "episode", "recipe", "Fact", "''"],
    "summary": ["One line.", '""', "x" * 200, "x" * 201, "-", "- a", "a:", "~", "a ", "b\tc", "é\u00a0e", "c\x85d"],
    "authority": ["model_inferred", "user_declared", "nobody"],
    "tags": ["", "\n  - a\n  - b/c", "\n  - A\n  - a", "\n  - a/", "\n  - null", "\n  - 1", "\n  - a b", "\n - a",
             "[a]", "\n  - #a", "\n  - a-b_c", "\n  - é", "\n  - \u203f", "\n  -  a"],
    "key": ["cache-ttl", "null", "n", "a b", "k" * 100, "k" * 101, "1", "a:b", "a: b", "a.b"],
    "created": ["2026-11-30T14:00:00Z", "2026-02-29", "2024-02-29", "2026-06-31", "0000-01-01", "2026-11-30T24:00:00Z",
                "2026-11-30 14:00", "1", "\u0662026-01-01"],
    "updated": ["2026-11-30", "2026-11-30T14:00Z", "2026-11-30T14:00:00+02:00"],
    "source": ["bench/s1", "null", "null/x", "host", "a b", "a//b", "/b", "9/b", "a/é", "a/b#c"],
    "evidence": ["\n  - run:case 4", "\n  - commit:abc\n  - url:https://a.b/c#d", "\n  - run: x", "\n  - run:x: y",
                 "\n  - run:x #y", "\n  - file:a b ", "\n  - what:x", "run:x", "", '\n  - "run:x"', "\n  - run::x"],
    "verified": ["2026-11-30", "yes"],
    "review_after": ["2026-11-30", "soon"],
    "private": ["true", "false", "maybe"],
    "Private": ["true"],
    "aliases": ["\n  - Other"],
}  # fmt: skip
BODIES = ["", "\nText.\n", "\nA #tag and #a.\n", "---\n", "\n<<<<<<< x\n", "\r\n", "\n`#code`\n", "\0"]


def _values(name: str) -> st.SearchStrategy[str]:
    first, *others = LINES[name]
    return st.sampled_from([first] * 6 + others)


@st.composite
def _notes(draw: st.DrawFn) -> str:
    optional = [name for name in LINES if name not in ("gitmem_id", "title")]
    names = ["gitmem_id", "title"] + [name for name in optional if draw(st.integers(0, 9)) < 5]
    if draw(st.integers(0, 9)) == 0:
        names = draw(st.permutations(names))
    pairs = [(name, draw(_values(name))) for name in names]
    lines = "".join(f"{name}:{'' if value[:1] in ('', chr(10)) else ' '}{value}\n" for name, value in pairs)
    return f"---\n{lines}---\n{draw(st.sampled_from(BODIES))}"


@settings(max_examples=800, derandomize=True, deadline=None)
@given(_notes())
def test_own_equals_exact_wherever_it_answers(note: str) -> None:
    _compare(note.encode())


_TEXT = st.text(st.sampled_from("ab:-# '\"[]0.né\u2028 \u00a0null"), min_size=1, max_size=12)


@settings(max_examples=600, derandomize=True, deadline=None)
@given(_TEXT, _TEXT, st.lists(_TEXT, max_size=3), _TEXT, st.text(max_size=30))
def test_own_equals_exact_on_any_text(title: str, summary: str, tags: list[str], key: str, body: str) -> None:
    lines = [f"title: {title}", f"summary: {summary}", "tags:", *(f"  - {tag}" for tag in tags), f"key: {key}"]
    note = "\n".join(["---", "gitmem_id: m7k2q9abcdef", *lines, "---", body])
    _compare(note.encode("utf-8", "surrogatepass"))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(_notes(), st.integers(0, 400), st.sampled_from(["\n", "\r\n", " ", ":", "-", "#", "\t", "\ufeff", "x", "---\n"]))
def test_own_equals_exact_after_a_keystroke(note: str, at: int, typed: str) -> None:
    _compare((note[:at] + typed + note[at:]).encode())


def test_what_gitmem_writes_is_read_quickly() -> None:
    data = format_record(
        RecordId("9k2q9abcdefg"),
        "Run tests with two workers: more is slower",
        "Body with #inline and #tool/pytest.",
        kind=Kind.FACT,
        summary="Why, in one line",
        authority=Authority.WORKSPACE_EVIDENCE,
        tags=("tool/pytest", "Domain/ci"),
        key="test-workers",
        created="2026-11-30T14:00:00Z",
        updated="2026-12-31T14:00:00Z",
        source="claude-code/5f2c-11",
        evidence=("file:pyproject.toml#L70", "run:make test"),
        verified="2026-11-30",
        valid_from="2026-01-01",
        valid_until="2027-01-31",
        review_after="2027-06-30",
    )
    record = _parse_own(PATH, data)
    assert record is not None
    assert (record.title, record.inline_tags) == ("Run tests with two workers: more is slower", ("inline",))
    _compare(data)


@pytest.mark.parametrize("path", ["notes/a.md", "manifest.json"])
def test_own_leaves_what_is_no_record_to_the_exact_reader(path: str) -> None:
    assert _parse_own(VaultPath(path), format_record(RecordId("m7k2q9abcdef"), "A", "B")) is None


def test_a_record_read_quickly_is_a_whole_one() -> None:
    record = _parse_own(PATH, format_record(RecordId("m7k2q9abcdef"), "A", "B"))
    assert record is not None
    assert record == replace(record)
    assert (record.kind, record.tags, record.private, record.problems) == (None, (), False, ())


def _compare(data: bytes) -> None:
    own = _parse_own(PATH, data)
    if own is None:
        return
    try:
        exact = _parse_any(PATH, data)
    except InputError as error:
        raise AssertionError(f"the exact reader refuses it: {error.code}") from error
    assert repr(own) == repr(exact)

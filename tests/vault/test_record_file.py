"""Records from files and back, names of new files, and what may be set by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.model.authority import Authority
from gitmem.model.ids import RecordId, fingerprint
from gitmem.model.record import EVIDENCE_FORM, MAX_KEY_CHARS, Kind, Problem, Record, State
from gitmem.model.vault_path import VaultPath, find_path_problem
from gitmem.resources import read_text
from gitmem.vault.record_file import PROPERTIES, check_property, file_name, format_record, parse_record
from gitmem.vault.schema import validate

ID = RecordId("m7k2q9abcdef")
PATH = VaultPath("promoted/run-tests-m7k2q9.md")

FULL = b"""---
gitmem_id: m7k2q9abcdef
title: Run tests with two workers
kind: convention
summary: "Use -n 2: more is slower."
authority: workspace_evidence
tags:
  - tool/pytest
  - convention/tests
key: test-workers
created: 2026-11-30T14:00:00Z
updated: 2026-11-30T15:00:00Z
source: claude-code/0a1b2c
evidence:
  - commit:0ce7f68
  - file:pyproject.toml#L70
verified: 2026-11-30
supersedes:
  - "[[old-way-abcdef]]"
private: true
rating: 5
---

The machine has two cores.
"""


def test_a_record_is_written_and_read_back() -> None:
    data = format_record(
        ID,
        "Run tests with two workers",
        "The machine has two cores.",
        kind=Kind.CONVENTION,
        summary="Use -n 2: more is slower.",
        authority=Authority.WORKSPACE_EVIDENCE,
        tags=("tool/pytest", "convention/tests"),
        key="test-workers",
        created="2026-11-30T14:00:00Z",
        updated="2026-11-30T15:00:00Z",
        source="claude-code/0a1b2c",
        evidence=("commit:0ce7f68", "file:pyproject.toml#L70"),
        rating=5,
        private=True,
        supersedes=["[[old-way-abcdef]]"],
        verified="2026-11-30",
        valid_from=None,
    )
    assert data == FULL
    record = parse_record(PATH, data)
    assert record is not None
    assert record == Record(
        id=ID,
        path=PATH,
        state=State.PROMOTED,
        title="Run tests with two workers",
        body="\nThe machine has two cores.\n",
        fingerprint=fingerprint(data),
        kind=Kind.CONVENTION,
        summary="Use -n 2: more is slower.",
        authority=Authority.WORKSPACE_EVIDENCE,
        tags=("tool/pytest", "convention/tests"),
        key="test-workers",
        created="2026-11-30T14:00:00Z",
        updated="2026-11-30T15:00:00Z",
        source="claude-code/0a1b2c",
        evidence=("commit:0ce7f68", "file:pyproject.toml#L70"),
        verified="2026-11-30",
        supersedes=("[[old-way-abcdef]]",),
        private=True,
        properties=record.properties,
    )
    assert (
        list(record.properties)
        == [line.split(b":")[0].decode() for line in FULL.splitlines() if line[:1].isalpha()][:-1]
    )
    validate("record", record.properties)


def test_a_bare_record_falls_back_to_its_file() -> None:
    data = b"---\ngitmem_id: m7k2q9abcdef\ntitle:\ntags:\n---\n"
    record = parse_record(VaultPath("observations/2026-11/Some note.md"), data)
    assert record is not None
    assert (record.title, record.state, record.tags, record.problems) == ("Some note", State.OBSERVATION, (), ())
    assert format_record(ID, "x", "") == b"---\ngitmem_id: m7k2q9abcdef\ntitle: x\n---\n"


def _parse(*lines: str, path: VaultPath = PATH) -> Record:
    record = parse_record(path, "\n".join(["---", f"gitmem_id: {ID}", *lines, "---", "Body"]).encode())
    assert record is not None
    return record


@pytest.mark.parametrize(
    ("line", "name", "value", "fits"),
    [
        ("title: 2024", "title", "2024", True),
        ("title: [a]", "title", "run-tests-m7k2q9", False),
        ("title: ''", "title", "run-tests-m7k2q9", False),
        ("title: " + "x" * 201, "title", "run-tests-m7k2q9", False),
        ("kind: recipe", "kind", None, False),
        ("kind: [fact]", "kind", None, False),
        ("kind: {a: b}", "kind", None, False),
        ("summary: |\n  two\n  lines", "summary", "", False),
        ("summary: " + "x" * 200, "summary", "x" * 200, True),
        ("summary: " + "x" * 201, "summary", "", False),
        ('summary: "a\\u2028b"', "summary", "", False),
        ("authority: root", "authority", None, False),
        ("tags: a, b", "tags", (), False),
        ("tags: one", "tags", ("one",), True),
        ("tags: [2024, x, '#Y', y, X]", "tags", ("x", "Y"), False),
        ("tags:\n  -\n  - '#x'\n  - # comment", "tags", ("x",), True),
        ("tags: []", "tags", (), True),
        ("TAG: x", "tags", (), True),
        ("Tags: x", "tags", (), True),
        ("aliases: [31102000, True, x, null, {Name: text}, '']", "aliases", ("31102000", "true", "x"), True),
        ("aliases: a, b", "aliases", ("a, b",), True),
        ("key: a b", "key", None, False),
        ("key: 5", "key", None, False),
        ("created: 2024-13-45", "created", None, False),
        ("created: yesterday", "created", None, False),
        ("created: 2024-07-21", "created", "2024-07-21", True),
        ("source: [a, b]", "source", None, False),
        ("source: a book", "source", None, False),
        ("source: https://example.com/x", "source", None, False),
        ("source: cli", "source", "cli", True),
        ("evidence: commit:abc", "evidence", ("commit:abc",), True),
        ("evidence: [commit:abc, trust me]", "evidence", ("commit:abc",), False),
        ("superseded_by: '[[x]]'", "superseded_by", ("[[x]]",), True),
        ("superseded_by: [[x]]", "superseded_by", (), False),
        ("private: false", "private", False, True),
        ("private:", "private", False, True),
        ("private: yes", "private", True, False),
        ("private: 'false'", "private", True, False),
    ],
)
def test_values_that_do_not_fit_are_absent_and_said(line: str, name: str, value: Any, fits: bool) -> None:
    record = _parse(line)
    assert getattr(record, name) == value
    assert [(problem.code, problem.path, problem.message.split()[0]) for problem in record.problems] == (
        [] if fits else [("property-does-not-fit", PATH, name)]
    )


def test_problems_say_what_would_fit() -> None:
    assert _parse("source: a book").problems == (
        Problem("property-does-not-fit", "source counts as absent: a source is written host/session", PATH),
    )


@pytest.mark.parametrize(
    ("path", "data", "code"),
    [
        ("promoted/a.md", "---\ngitmem_id: 123456789012\n---\n", "bad-record-id"),
        ("promoted/a.md", "---\ngitmem_id: m7k2q9аbcdef\n---\n", "bad-record-id"),
        ("promoted/a.md", "---\ngitmem_id:\n---\n", "bad-record-id"),
        ("promoted/a.md", "---\nGitmem_ID: m7k2q9abcdef\n---\n", "lookalike-property"),
        ("promoted/a.md", "---\ngitmem_id: m7k2q9abcdef\nAuthority: user_declared\n---\n", "lookalike-property"),
        ("promoted/a.md", "---\ngitmem_id: m7k2q9abcdef\na: b: c\n---\n", "yaml-syntax"),
        ("promoted/a.md", "---\ngitmem_id: m7k2q9abcdef\n", "frontmatter-unclosed"),
        ("promoted/a.md", "Plain\n<<<<<<< HEAD\n", "conflict-markers"),
        ("promoted/a.md", "---\ngitmem_id: m7k2q9abcdef\n---\n" + "x" * 2**20, "too-large"),
        ("notes/a.md", "---\ngitmem_id: m7k2q9abcdef\n---\n", "not-in-a-lifecycle-folder"),
        ("promoted.md", "---\ngitmem_id: m7k2q9abcdef\n---\n", "not-in-a-lifecycle-folder"),
    ],
)
def test_files_that_are_no_sound_records_are_refused(path: str, data: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_record(VaultPath(path), data.encode())
    assert (caught.value.code, caught.value.fields["path"]) == (code, path)
    assert caught.value.hint


@pytest.mark.parametrize(
    "data", ["", "Text", "---\n---\n", "---\nid: x\n---\n", "---\nPrivate: yes\n---\n", "x" * 2**21]
)
def test_a_persons_notes_are_no_records(data: str) -> None:
    assert parse_record(PATH, data.encode()) is None
    assert parse_record(VaultPath("Daily/2024.md"), data.encode()) is None


_LINE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=40)


@settings(max_examples=80, derandomize=True, deadline=None)
@given(
    title=_LINE,
    body=st.text(st.sampled_from("ab #\n-`")),
    kind=st.none() | st.sampled_from(Kind),
    summary=_LINE | st.just(""),
    authority=st.none() | st.sampled_from(Authority),
    tags=st.lists(st.from_regex(r"[a-z]{1,4}/[a-z0-9_-]{1,6}", fullmatch=True), max_size=3, unique=True),
    key=st.none() | st.from_regex(r"[a-z0-9]{1,12}", fullmatch=True),
)
def test_every_record_reads_back_as_it_was_given(title: str, body: str, summary: str, **others: Any) -> None:
    assume(title.strip() and (not summary or summary.strip()))
    data = format_record(ID, title, body, summary=summary, **others)
    record = parse_record(PATH, data)
    assert record is not None
    assert record.problems == ()
    given_back = replace(record, properties={}, inline_tags=(), fingerprint=fingerprint(b""))
    assert given_back == Record(
        ID,
        PATH,
        State.PROMOTED,
        title,
        f"\n{text}\n" if (text := body.strip("\n")) else "",
        fingerprint(b""),
        summary=summary,
        **{**others, "tags": tuple(others["tags"])},
    )
    validate("record", record.properties)


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"summary": "a\nb"}, "bad-property"),
        ({"summary": "x" * 201}, "bad-property"),
        ({"tags": ["a b"]}, "bad-property"),
        ({"evidence": ["trust me"]}, "bad-property"),
        ({"created": "today"}, "bad-property"),
        ({"other": float("inf")}, "bad-property"),
        ({"Authority": "x"}, "lookalike-property"),
    ],
)
def test_a_record_that_would_not_read_back_is_not_written(properties: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        format_record(ID, "Title", "", **properties)
    assert caught.value.code == code


def test_tags_in_the_body_are_kept_apart_from_those_of_the_frontmatter() -> None:
    body = "See #tool/pytest, #Client/Acme and `#code`.\n\n#new [[Note#heading]] #New\n"
    record = parse_record(PATH, format_record(ID, "Title", body, tags=["client/acme", "tool"]))
    assert record is not None
    assert (record.tags, record.inline_tags) == (("client/acme", "tool"), ("tool/pytest", "new"))


def test_file_names() -> None:
    assert file_name("Run tests with two workers", ID) == "run-tests-with-two-workers-m7k2q9.md"
    assert file_name("???", ID) == "record-m7k2q9.md"
    assert file_name("開発環境", ID) == "開発環境-m7k2q9.md"
    assert len(file_name("字" * 200, ID).encode()) <= 100


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.text(max_size=80))
def test_file_names_are_fit_for_every_system(title: str) -> None:
    name = file_name(title, ID)
    assert find_path_problem(f"observations/2026-11/{name}") is None
    assert len(name.encode()) <= 100


@pytest.mark.parametrize(
    ("name", "value", "checked"),
    [
        ("title", "New", "New"),
        ("kind", "fact", "fact"),
        ("tags", ["#a", "b"], ["a", "b"]),
        ("tags", "a", ["a"]),
        ("evidence", ("run:x",), ["run:x"]),
        ("review_after", "2026-11-30", "2026-11-30"),
        ("review_after", None, None),
        ("private", "true", True),
        ("private", False, False),
        ("rating", 5, 5),
        ("nested", {"a": [1, None]}, {"a": [1, None]}),
    ],
)
def test_values_set_by_hand(name: str, value: Any, checked: Any) -> None:
    result = check_property(name, value)
    assert (type(result), result) == (type(checked), checked)


@pytest.mark.parametrize("name", ["Title", "Created", "Verified", "valid-from", "Review After"])
def test_a_persons_own_property_that_looks_like_one_of_gitmems_may_be_set_where_it_is(name: str) -> None:
    assert check_property(name, "theirs", is_there=True) == "theirs"
    with pytest.raises(InputError) as caught:
        check_property(name, "theirs")
    assert caught.value.code == "lookalike-property"
    meant = name.lower().replace("-", "_").replace(" ", "_")
    is_managed = meant in ("created", "verified")
    assert caught.value.hint == (f"{meant} is set by gitmem alone." if is_managed else f"Write {meant}.")


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("gitmem_id", "000000000000", "property-is-managed"),
        ("authority", "user_declared", "property-is-managed"),
        ("created", "2026-11-30", "property-is-managed"),
        ("updated", "2026-11-30", "property-is-managed"),
        ("verified", "2026-11-30", "property-is-managed"),
        ("verified", None, "property-is-managed"),
        ("authority", None, "property-is-managed"),
        ("Authority", "user_declared", "lookalike-property"),
        ("authority ", "user_declared", "bad-property"),
        ("аuthority", "user_declared", "lookalike-property"),
        ("gitmem-id", "x", "lookalike-property"),
        ("prіvate", True, "lookalike-property"),
        ("", "x", "bad-property"),
        ("a\nb", "x", "bad-property"),
        ("kind", "recipe", "bad-property"),
        ("summary", "a\nb", "bad-property"),
        ("private", "maybe", "bad-property"),
        ("x", float("nan"), "bad-property"),
        ("x", 10**400, "bad-property"),
        ("x", "a\0b", "bad-property"),
        ("x", "\ud800", "bad-property"),
    ],
)
def test_what_may_not_be_set_by_hand(name: str, value: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        check_property(name, value)
    assert caught.value.code == code
    assert "\n" not in caught.value.message


def test_the_table_names_what_a_record_carries_in_the_order_of_writing() -> None:
    names = [own.name for own in PROPERTIES]
    assert names[:11] == [
        *("gitmem_id", "title", "kind", "summary", "authority", "tags", "key"),
        *("created", "updated", "source", "evidence"),
    ]
    assert set(names) - {"gitmem_id"} <= set(Record.__dataclass_fields__)
    managed = {own.name for own in PROPERTIES if own.is_managed}
    assert managed == {"gitmem_id", "authority", "created", "updated", "verified"}


def test_the_schema_knows_the_same_properties() -> None:
    for own in PROPERTIES:
        with pytest.raises(InputError, match=own.name):
            validate("record", {"gitmem_id": ID, own.name: {"no": "such"}})
    schema = json.loads(read_text("schema", "record.schema.json"))["properties"]
    assert schema["evidence"]["items"]["pattern"] == f"^{EVIDENCE_FORM}$"
    assert schema["key"]["pattern"] == f"^\\S{{1,{MAX_KEY_CHARS}}}$"
    candidate = json.loads(read_text("schema", "candidate.schema.json"))["properties"]
    assert candidate["evidence"]["items"]["pattern"] == f"^{EVIDENCE_FORM}$"
    assert candidate["key"]["maxLength"] == MAX_KEY_CHARS
    for name, value in [("tags", ["2024"]), ("summary", "a\nb"), ("created", "today"), ("source", "a book")]:
        with pytest.raises(InputError, match=name):
            validate("record", {"gitmem_id": ID, name: value})

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from some_notes import HAS_VAULTS, iter_own_notes, iter_real_notes

from gitmem.errors import InputError
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.record import Draft, Kind, Record, State
from gitmem.model.vault_path import VaultPath
from gitmem.policy import content

CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"


def code_of(call: Callable[..., None], *args: Any) -> str:
    """Return the code with which ``call`` refuses, empty when it doesn't."""
    try:
        call(*args)
    except InputError as error:
        return error.code if error.hint else "no-hint"
    return ""


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (CONFLICT.encode(), "conflict-markers"),
        (b"x" * (content.MAX_FILE_BYTES + 1), "file-too-large"),
        (("e" + "\u0301" * 10_000).encode(), "hidden-characters"),
        (("a" + "\U000e0101" * 20).encode(), "hidden-characters"),
    ],
)
def test_bytes_that_are_refused(data: bytes, code: str) -> None:
    assert code_of(content.check_content, data, "promoted/a.md") == code


def test_the_error_names_file_and_line() -> None:
    with pytest.raises(InputError) as caught:
        content.check_content(b"fine\n" + CONFLICT.encode(), "promoted/a.md")

    assert caught.value.message == "promoted/a.md holds a merge conflict from line 2"
    assert caught.value.fields == {"path": "promoted/a.md", "line": 2}


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\r\ntitle: x\r\n---\r\n",
        "می‌خواهم",
        "👨‍👩‍👧‍👦 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "ติ้ง",
        "a\u0301\u0302",
    ],
)
def test_text_of_every_script_passes(text: str) -> None:
    assert code_of(content.check_content, text.encode(), "a.md") == ""


def test_a_record_is_checked_beside_its_bytes() -> None:
    record = Record(
        id=RecordId("m7k2q9xx1234"),
        path=VaultPath("observations/2026-11/a.md"),
        state=State.OBSERVATION,
        title="a\u200bb",
        body="",
        fingerprint=Fingerprint(""),
    )

    assert code_of(content.check_content, b"fine", record.path, record) == "hidden-characters"


DRAFT = Draft(
    "Run tests with two workers",
    "The database is shared.",
    Kind.CONVENTION,
    "Two workers",
    ("tool/pytest", "领域/测试"),
    ("commit:0ce7f68",),
    "test-workers",
)


def test_a_sound_draft_passes() -> None:
    assert code_of(content.check_draft, DRAFT, State.OBSERVATION) == ""


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("title", " ", "no-title"),
        ("title", "x" * 201, "title-too-long"),
        ("title", "pay\u202epal", "hidden-characters"),
        ("title", "two\nlines", "hidden-characters"),
        ("title", "two\u2028lines", "hidden-characters"),
        ("summary", "x" * 201, "summary-too-long"),
        ("summary", "a\u200bb", "hidden-characters"),
        ("key", "x" * 101, "key-too-long"),
        ("key", "cache\u00adttl", "hidden-characters"),
        ("body", "x" * (256 * 1024 + 1), "body-too-large"),
        ("body", "é" * (128 * 1024 + 1), "body-too-large"),
        ("tags", ("a",) * 65, "too-many-tags"),
        ("tags", ("x" * 101,), "tag-too-long"),
        ("tags", ("a\u200bb",), "hidden-characters"),
        ("tags", ("Tool/pytest",), "bad-tag"),
        ("evidence", ("run:pytest",) * 65, "too-much-evidence"),
        ("evidence", ("run:" + "x" * 497,), "bad-evidence"),
        ("kind", Kind.BOUNDARY, "kind-misfit"),
    ],
)
def test_a_draft_out_of_bounds_is_refused(name: str, value: Any, code: str) -> None:
    draft = Draft(**{**vars(DRAFT), name: value})

    assert code_of(content.check_draft, draft, State.OBSERVATION) == code


def test_the_bounds_themselves_fit() -> None:
    draft = Draft("x" * 200, "x" * (256 * 1024), None, "x" * 200, ("a",) * 64, ("run:" + "x" * 496,) * 64, "x" * 100)

    assert code_of(content.check_draft, draft, State.OBSERVATION) == ""


@pytest.mark.parametrize("tag", ["a", "9a", "tool/pytest", "a_b-c/d2", "领域/测试", "größe", "тест"])
def test_tags_that_gitmem_makes(tag: str) -> None:
    assert code_of(content.check_new_tags, [tag]) == ""


@pytest.mark.parametrize(
    "tag", ["", "/", "a/", "/a", "a//b", "-a", "_a", "a b", "A", "#a", "a,b", "2026", "C++", "e\u0301"]
)
def test_tags_that_gitmem_does_not_make(tag: str) -> None:
    assert code_of(content.check_new_tags, [tag]) == "bad-tag"


@pytest.mark.parametrize(
    "entry",
    [
        "commit:0ce7f68",
        "commit:" + "a" * 64,
        "file:README.md",
        "file:.github/workflows/ci.yml#L3",
        "file:src/a b.py#L10-L20",
        "file:src/a..b.py#L10-20",
        "run:pytest -x",
        "url:https://example.org/a?b#c",
    ],
)
def test_evidence_that_can_be_followed(entry: str) -> None:
    assert code_of(content.check_evidence, [entry]) == ""


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "I saw it",
        "commit:",
        "commit:HEAD",
        "commit:0ce7f6",
        "file:",
        "file:/etc/passwd",
        "file:~/x",
        "file:C:/x",
        "file:a\\b",
        "file:../x",
        "file:a/../../x",
        "file:a/..",
        "file:a#10",
        "file:a\nb",
        "run:",
        "run: ",
        "url:ftp://x",
        "url:https://a b",
        "url:javascript:alert(1)",
        "run:a\u202eb",
    ],
)
def test_evidence_that_can_not_be_followed(entry: str) -> None:
    assert code_of(content.check_evidence, [entry]) == "bad-evidence"


def test_baseline_kinds_lie_in_the_baseline_and_only_they() -> None:
    fits = {state: {kind for kind in Kind if not code_of(content.check_kind, kind, state)} for state in State}
    baseline = {Kind.BOUNDARY, Kind.PREFERENCE, Kind.GOAL, Kind.STATE}

    assert fits == {
        State.BASELINE: baseline,
        State.OBSERVATION: set(Kind) - baseline,
        State.PROMOTED: set(Kind) - baseline,
        State.RETIRED: set(Kind),
    }


def refused(notes: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    return {name: code for name, data in notes if (code := code_of(content.check_content, data, name))}


def test_of_our_notes_only_the_half_merged_one_is_refused() -> None:
    assert refused(iter_own_notes()) == {"conflict.md": "conflict-markers"}


@pytest.mark.skipif(not HAS_VAULTS, reason="the real vaults are not here")
def test_no_note_of_the_real_vaults_is_refused() -> None:
    assert refused(iter_real_notes()) == {}

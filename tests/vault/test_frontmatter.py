"""Notes read from bytes and edited so that nothing else changes. Expected bytes are spelled out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from some_notes import HAS_VAULTS, HERE, ORACLE, iter_own_notes, iter_real_notes, load_dumps

from gitmem.errors import InputError, IntegrityError
from gitmem.vault import block_edit
from gitmem.vault.frontmatter import Note, edit_note, format_note, parse_note, replace_body

ID = "m7k2q9abcdef"

NOTE = b"""---
# about this note
title: "Old title" # keep me
tags: # mine
- a   # first
-   'b'

empty:
text: |
  one

  two


created: 2024-07-21
---
Body

---
not: frontmatter
---
"""

PROBLEMS = [
    (b"---\na: b: c\n---\n", "yaml-syntax", 2),
    (b"---\n\ta: 1\n---\n", "yaml-syntax", 2),
    (b"---\nauthority: a\nauthority: b\n---\n", "yaml-duplicate-key", 3),
    (b"---\na: &a [*a]\n---\n", "yaml-alias", 2),
    (b"---\na: !!binary aGk=\n---\n", "yaml-tag", 2),
    (b"---\na: 1\nb: .inf\n---\n", "yaml-number-range", 3),
    (b"---\na: -.inf\n---\n", "yaml-number-range", 2),
    (b"---\na: 1e999\n---\n", "yaml-number-range", 2),
    (b"---\na: " + b"9" * 10**6 + b"\n---\n", "yaml-too-large", 1),
    (b"---\na: " + b"[" * 3000 + b"]" * 3000 + b"\n---\n", "yaml-depth", 2),
    (b"---\n- a\n---\n", "yaml-not-a-mapping", 2),
    (b'---\na: "\\ud800"\n---\n', "yaml-character", 2),
    (b'---\na: "\\0"\n---\n', "yaml-character", 2),
    (b"---\nAuthority: user_declared\n---\n", "lookalike-property", None),
    (b'---\n"authority ": user_declared\n---\n', "lookalike-property", None),
    ("---\nаuthority: user_declared\n---\n".encode(), "lookalike-property", None),
    (b"---\nPrivate: true\n---\n", "lookalike-property", None),
    (b"---\na: 1\n", "frontmatter-unclosed", 1),
    ("---\na: 1\n---\n".encode("utf-16"), "not-text", None),
    (b"---\na: 1\n---\nx\0y", "not-text", None),
    (b"---\na: \xe9\n---\n", "not-utf8", 2),
    (b"---\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n---\n", "conflict-markers", 2),
    (b"---\na: 1\n---\n<<<<<<< HEAD\n=======\n>>>>>>> x\n", "conflict-markers", 4),
]


def _outcome(data: bytes, changes: dict[str, Any]) -> bytes | tuple[str, str | None]:
    """The edited bytes, or the code of the refusal and of the problem behind it."""
    try:
        return edit_note(data, changes)
    except (InputError, IntegrityError) as error:
        return error.code, error.fields.get("problem")


def test_a_note_in_parts() -> None:
    assert parse_note(b"\xef\xbb\xbf---\r\na: 1\r\ncontent: x\r\n---\r\n\r\nBody\n") == Note(
        {"a": 1, "content": "x"}, "\r\nBody\n", has_block=True, eol="\r\n", bom=True
    )
    assert parse_note(b"Body") == Note({}, "Body")
    assert parse_note(b"") == Note()
    assert parse_note(b"---\n---\nBody") == Note({}, "Body", has_block=True)


@pytest.mark.parametrize(("data", "code", "line"), PROBLEMS)
def test_bad_notes_are_problems_and_are_never_edited(data: bytes, code: str, line: int | None) -> None:
    problem = parse_note(data).problem
    assert problem is not None
    assert (problem.code, problem.line) == (code, line)
    for outcome in (_outcome(data, {"gitmem_id": ID}), _outcome(data, {"a": None})):
        assert outcome == ("frontmatter-unreadable", code)
    with pytest.raises(InputError) as caught:
        replace_body(data, "New")
    assert (caught.value.code, caught.value.fields["problem"]) == ("frontmatter-unreadable", code)


def test_body_can_be_read_where_the_block_can_not() -> None:
    assert parse_note(b"---\na: b: c\n---\nStill here").body == "Still here"
    assert parse_note(b"\xef\xbb\xbf---\nText").body == "---\nText"
    assert parse_note(b"---\nPrivate: true\n---\n").properties == {"Private": True}


def test_inv_exact_edit_one_property_changes_its_lines_and_nothing_else() -> None:
    assert edit_note(NOTE, {"title": "New: title"}) == NOTE.replace(b'"Old title"', b'"New: title"')
    assert edit_note(NOTE, {"tags": ["b", "c", "a"]}) == NOTE.replace(
        b"- a   # first\n-   'b'\n", b"-   'b'\n- c\n- a   # first\n"
    )
    assert edit_note(NOTE, {"tags": "b"}) == NOTE.replace(b"tags: # mine\n- a   # first\n-   'b'\n", b"tags: b\n")
    assert edit_note(NOTE, {"empty": 5}) == NOTE.replace(b"empty:\n", b"empty: 5\n")
    assert edit_note(NOTE, {"empty": ["x"]}) == NOTE.replace(b"empty:\n", b"empty:\n  - x\n")
    assert edit_note(NOTE, {"text": "three"}) == NOTE.replace(b"|\n  one\n\n  two\n", b"three\n").replace(
        b"text: |\n", b"text: three\n"
    )
    assert edit_note(NOTE, {"title": "a\nb"}) == NOTE.replace(b'"Old title" # keep me', b"|-\n  a\n  b")
    assert edit_note(NOTE, {"new": None, "added": "x", "list": ["z"]}) == NOTE.replace(
        b"created: 2024-07-21\n", b"created: 2024-07-21\nadded: x\nlist:\n  - z\n"
    )


def test_a_property_taken_out_takes_its_lines_along() -> None:
    assert edit_note(NOTE, {"title": None}) == NOTE.replace(b'title: "Old title" # keep me\n', b"")
    assert edit_note(NOTE, {"tags": None}) == NOTE.replace(b"tags: # mine\n- a   # first\n-   'b'\n", b"")
    assert edit_note(NOTE, {"empty": None}) == NOTE.replace(b"empty:\n", b"")
    assert edit_note(NOTE, {"text": None}) == NOTE.replace(b"text: |\n  one\n\n  two\n", b"")
    names = dict.fromkeys(parse_note(NOTE).properties)
    assert edit_note(NOTE, names).startswith(b"---\n# about this note\n")


def test_edits_that_change_nothing_return_the_same_bytes() -> None:
    note = parse_note(NOTE)
    changes: list[dict[str, Any]] = [{}, {"gone": None}, {**note.properties, "empty": 1, "x": None}]
    del changes[2]["empty"]
    assert [edit_note(NOTE, change) is NOTE for change in changes] == [True, True, True]
    assert replace_body(NOTE, note.body) is NOTE
    assert edit_note(b"---\na: 1\n---\n", {"a": True}) == b"---\na: true\n---\n"


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        (b"Body", {"b": 1, "gitmem_id": ID}, b"---\ngitmem_id: m7k2q9abcdef\nb: 1\n---\nBody"),
        (b"", {"gitmem_id": ID}, b"---\ngitmem_id: m7k2q9abcdef\n---\n"),
        (b"\xef\xbb\xbfBody\r\n", {"a": ["x"]}, b"\xef\xbb\xbf---\r\na:\r\n  - x\r\n---\r\nBody\r\n"),
        (b"---\n---\nBody", {"a": 1}, b"---\na: 1\n---\nBody"),
        (b"---\na: 1\n---", {"b": 2}, b"---\na: 1\nb: 2\n---"),
        (b"--- \na: 1\n---\t\n", {"gitmem_id": ID}, b"--- \na: 1\ngitmem_id: m7k2q9abcdef\n---\t\n"),
        (b"---\r\na: 1\r\n---\r\n", {"a": "x\ny"}, b"---\r\na: |-\r\n  x\r\n  y\r\n---\r\n"),
        (b"---\n  a: 1\n---\n", {"b": ["x"]}, b"---\n  a: 1\n  b:\n    - x\n---\n"),
        (b"---\n'a': [x, y]\n---\n", {"a": ["x", "z"]}, b"---\n'a':\n  - x\n  - z\n---\n"),
        (b"---\na: [x, y] # c\n---\n", {"a": []}, b"---\na: [] # c\n---\n"),
        (b"---\na: # c\nb: 1\n---\n", {"a": "x"}, b"---\na: x # c\nb: 1\n---\n"),
        (b"---\n? a\n: b\n---\n", {"a": "c"}, None),
        (b"---\na: 1\n---\nBody", {"a": None}, b"Body"),
        (b"---\na: 1\n---\n---\nb: 1\n---\n", {"a": None}, b"---\n---\n---\nb: 1\n---\n"),
        (b"---\na: x\n\n# c\nb: 1\n---\n", {"a": None}, b"---\n\n# c\nb: 1\n---\n"),
        (b"---\na:\n  - x # 1\n  # above y\n  - y\n---\n", {"a": ["y"]}, b"---\na:\n  # above y\n  - y\n---\n"),
        (b"---\na:\n  - x: 1\n    y: 2\n  - z\n---\n", {"a": ["z", {"x": 1, "y": 2}]},
         b"---\na:\n  - z\n  - x: 1\n    y: 2\n---\n"),
    ],
)  # fmt: skip
def test_edited_bytes(before: bytes, changes: dict[str, Any], after: bytes | None) -> None:
    if after is None:
        with pytest.raises(IntegrityError) as caught:
            edit_note(before, changes)
        assert caught.value.code == "edit-not-clean"
    else:
        assert edit_note(before, changes) == after


def test_properties_with_names_that_gitmem_would_not_give_can_be_changed() -> None:
    data = b"---\n'a ': 1\n? ''\n---\n"
    assert edit_note(data, {"a ": 2}) == b"---\n'a ': 2\n? ''\n---\n"
    assert edit_note(data, {"a ": None}) == b"---\n? ''\n---\n"
    with pytest.raises(InputError) as caught:
        edit_note(data, {"b ": 2})
    assert caught.value.code == "bad-property"


def test_json_frontmatter_is_read_but_not_edited() -> None:
    data = b'---\n{\n  "tags": "journal",\n  "publish": false\n}\n---\nBody'
    assert parse_note(data).properties == {"tags": "journal", "publish": False}
    with pytest.raises(InputError) as caught:
        edit_note(data, {"gitmem_id": ID})
    assert caught.value.code == "frontmatter-flow"


def test_inv_exact_edit_is_proven_not_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"---\na: 1\nb: 2\n---\nBody"
    monkeypatch.setattr(block_edit, "edit_block", lambda text, *_: text.replace("b: 2", "b: 3"))
    with pytest.raises(IntegrityError) as caught:
        edit_note(data, {"a": 5})
    assert caught.value.code == "edit-not-clean"


def test_bodies_are_replaced_with_the_notes_line_ends() -> None:
    assert replace_body(b"---\r\na: 1\r\n---\r\nOld", "New\ntext\n") == b"---\r\na: 1\r\n---\r\nNew\r\ntext\r\n"
    assert replace_body(b"Old", "") == b""
    assert replace_body(b"---\na: 1\n---\n", "---\nb: 1\n---\n") == b"---\na: 1\n---\n---\nb: 1\n---\n"
    for body in ("---\nb: 1\n---\n", "---\n", "a\0b", "\ud800", "<<<<<<< HEAD\n"):
        with pytest.raises(InputError) as caught:
            replace_body(b"Old", body)
        assert caught.value.code == "bad-body"


def test_new_notes() -> None:
    assert format_note({"title": "A: b", "tags": ["x"]}, "\n\nText\r\nmore\n\n") == (
        b'---\ntitle: "A: b"\ntags:\n  - x\n---\n\nText\nmore\n'
    )
    assert format_note({"a": None}, "") == b"---\na:\n---\n"
    assert format_note({}, "Text") == b"Text\n"
    assert format_note({}, "") == b""
    with pytest.raises(InputError, match="64 KiB"):
        format_note({"a": "x" * 70_000}, "")


_NAMES = st.sampled_from(["a", "b c", "tags", "Ünï", "x-y"])
_LINES = st.sampled_from(
    ["a: 1", "b c: 'q' # c", "tags:", "tags: [x, y]", "  - x", "- y # z", "  # c", "# c", "", "Ünï: |", "Ünï: >-",
     "  t", "x-y: {k: v}", "x-y:", "  k: v", '"x-y": "m', '  n"', "  - ", "a: p", "  q", "? a", ": r",
     "   ", "tags: |+"]
)  # fmt: skip
_VALUES = st.sampled_from([None, 1, "v", "a: b", "m\nn", [], ["x"], ["x", "y", "new"], {"k": "v"}, True, ""])


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.lists(_LINES, max_size=8),
    st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=3),
    st.sampled_from(["\n", "\r\n"]),
)
def test_an_edit_does_what_is_asked_or_refuses(lines: list[str], changes: dict[str, Any], eol: str) -> None:
    data = eol.join(["---", *lines, "---", "Body", "- x"]).encode()
    before = parse_note(data)
    edited = _outcome(data, changes)
    if edited == ("edit-not-clean", None):
        # Names in the long form, blank lines that a text keeps, comments that a new text would swallow.
        assert any(line.startswith(("?", ":", "tags: |+", "   ", "  # c")) for line in lines)
        return
    if isinstance(edited, tuple):
        assert before.problem is not None
        assert edited == ("frontmatter-unreadable", before.problem.code)
        return
    after = parse_note(edited)
    kept = {name: value for name, value in before.properties.items() if name not in changes}
    assert after.body == before.body
    assert after.properties == {**kept, **{name: value for name, value in changes.items() if value is not None}}
    if not changes.keys() & before.properties.keys():
        assert edited.startswith(data[: data.index(b"---", 3)])


def _check_id_comes_and_goes(notes: Iterable[tuple[str, bytes]]) -> None:
    for name, data in notes:
        note = parse_note(data)
        edited = _outcome(data, {"gitmem_id": ID})
        if isinstance(edited, tuple):
            assert edited == (
                ("frontmatter-unreadable", note.problem.code) if note.problem else ("frontmatter-flow", None)
            )
            continue
        again = parse_note(edited)
        assert again.properties == {**note.properties, "gitmem_id": ID}, name
        assert again.body == note.body, name
        if note.properties or not note.has_block:  # an empty block goes with its last property
            assert edit_note(edited, {"gitmem_id": None}) == data, name


def _forms(data: bytes) -> list[bytes]:
    """Return a note as it is, with CRLF line ends, and with a BOM."""
    return [data, data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data]


def test_odd_notes_are_read_or_said_to_be_unreadable() -> None:
    problems = {name: note.problem.code for name, data in iter_own_notes() if (note := parse_note(data)).problem}
    assert problems == {
        "anchors.md": "yaml-alias",
        "conflict.md": "conflict-markers",
        "template.md": "yaml-syntax",
        "twice.md": "yaml-duplicate-key",
    }
    for name, data in iter_own_notes():
        found = {(note.problem and note.problem.code, note.has_block) for note in map(parse_note, _forms(data))}
        assert len(found) == 1, name


def test_odd_notes_take_an_id_and_give_it_back() -> None:
    for name, data in iter_own_notes():
        _check_id_comes_and_goes((name, form) for form in _forms(data))


@pytest.mark.skipif(not HAS_VAULTS, reason="needs the real vaults")
def test_real_notes_are_all_read() -> None:
    notes = [parse_note(data) for _name, data in iter_real_notes()]
    problems = Counter(note.problem.code for note in notes if note.problem)
    assert len(notes) > 1400
    assert problems == {"yaml-syntax": 28}  # templates with an unquoted {{date}}


@pytest.mark.skipif(not HAS_VAULTS, reason="needs the real vaults")
def test_real_notes_take_an_id_and_give_it_back() -> None:
    _check_id_comes_and_goes(list(iter_real_notes())[::6])


@pytest.mark.slow
@pytest.mark.skipif(not HAS_VAULTS, reason="needs the real vaults")
def test_all_real_notes_take_an_id_and_give_it_back() -> None:
    _check_id_comes_and_goes(iter_real_notes())


def _check_properties(dumps: list[dict[str, Any]]) -> None:
    for dump in dumps:
        note = parse_note(dump["fileContents"].encode())
        assert note.properties == dump["cachedMetadata"].get("frontmatter", {}), dump["filePath"]
        assert note.problem is None


def test_properties_are_what_obsidian_takes_them_for() -> None:
    dumps = load_dumps(HERE / "dumps")
    assert len(dumps) == 2
    _check_properties(dumps)


@pytest.mark.skipif(not HAS_VAULTS, reason="needs the real vaults")
def test_obsidian_reads_the_same_properties() -> None:
    dumps = load_dumps(ORACLE)
    assert len(dumps) == 89
    _check_properties(dumps)

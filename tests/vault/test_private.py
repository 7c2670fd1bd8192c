"""INV-PRIVATE: the one rule of what is private fails closed."""

from __future__ import annotations

import pytest

from gitmem.model.vault_path import VaultPath
from gitmem.vault.private import find_ids, may_be_private
from gitmem.vault.record_file import parse_record

HIDING = {
    "plain": "---\nprivate: true\n---\nx",
    "whatever its value": "---\nprivate:\n---\nx",
    "json": '---\n{"private": true, "title": "x"}\n---\nx',
    "indented": "---\n private: true\n---\nx",
    "on two lines": "---\n? private\n: true\n---\nx",
    "escaped": '---\n"pri\\x76ate": true\n---\nx',
    "escaped beside a slip": '---\n"pri\\u0076ate": true\nkind: [fact\n---\nx',
    "on two lines beside a slip": "---\n? private\n: true\nkind: [fact\n---\nx",
    "json with a slip": '---\n{"private": true, "title": }\n---\nx',
    "merged": "---\n<<: {private: true}\n---\nx",
    "merged beside a slip": "---\n<<: {private: true}\na: 1\na: 2\n---\nx",
    "cyrillic": "---\npriv\u0430te: true\n---\nx",
    "full width, beside a slip": "---\n\uff50rivate: true\na: 1\na: 2\n---\nx",
    "with a zero-width character": "---\npri\u200bvate: true\n---\nx",
    "bare returns": "---\rprivate: true\r---\rx",
    "after a blank line": "\n---\nprivate: true\n---\nx",
    "no end": "---\nprivate: true\n\nx",
    "in conflict": "---\n<<<<<<< a\nprivate: true\n=======\n>>>>>>> b\n---\nx",
    "tagged": "---\n!!str private: true\na: *b\n---\nx",
    "no text": "\0",
}
SHOWING = {
    "no properties": "private: true",
    "in the text": "---\ntitle: x\n---\nprivate: true",
    "in a value": '---\ntitle: "a, private: b"\n---\nx',
    "in a comment": "---\n# private: true\ntitle: x\n---\nx",
    "in a word": "---\nprivately: true\n---\nx",
    "in a value beside a slip": "---\ntitle: a private beach\na: 1\na: 2\n---\nx",
}


@pytest.mark.parametrize("name", HIDING)
def test_a_note_that_may_be_private_is(name: str) -> None:
    assert may_be_private(HIDING[name].encode())


@pytest.mark.parametrize("name", SHOWING)
def test_a_note_that_only_speaks_of_it_is_not(name: str) -> None:
    assert not may_be_private(SHOWING[name].encode())


@pytest.mark.parametrize(
    ("line", "private"),
    [
        ("<<: {private: true}", True),
        ("<<: [{private: yes}]", True),
        ("<<: {private: false}", False),
        ("a: {b: 1}", False),
    ],
)
def test_a_record_is_private_by_a_property_inside_another(line: str, private: bool) -> None:
    record = parse_record(VaultPath("promoted/a.md"), f"---\ngitmem_id: 0123456789ab\n{line}\n---\nx".encode())
    assert record is not None
    assert record.private is private


def test_ids_are_found_in_what_cannot_be_read() -> None:
    data = (
        b'---\n<<<<<<< a\ngitmem_id: 0123456789ab\n=======\n"gitmem_id": "zzzz00001111"\n>>>>>>> b\nid: 0123456789xx\n'
    )
    assert find_ids(data) == {"0123456789ab", "zzzz00001111"}

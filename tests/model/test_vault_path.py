"""Names that a vault may hold, and those that it must not: every bad input under "Paths and ids"."""

from __future__ import annotations

import pytest

from gitmem.errors import InputError
from gitmem.model.ids import new_record_id, parse_record_id
from gitmem.model.vault_path import fold_path, parse_vault_path

GOOD = [
    "observations/2026-11/run-tests-m7k2q9.md",
    "promoted/🧰 本库指南/笔记 (1).md",
    "baseline/Café's note & more.md",
    "observations/缓存时间是五分钟-53kdr5.md",
    "observations/a--b.md",
    "promoted/👨‍👩‍👧 family.md",
    "promoted/console.md",
    "promoted/gitignore.md",
    "memory.base",
    ".obsidian/app.json",
]

BAD = {
    "../../etc/passwd": "'..' part",
    "/etc/passwd": "empty",
    "a//b": "empty",
    "": "empty",
    "..": "'..' part",
    ".": "part",
    "a/./b": "part",
    "a\0b": "control",
    ".GIT/hooks/x": "belong to Git",
    ".git": "belong to Git",
    "a/.git ": "ends with a blank",
    ".git ": "ends with a blank",
    "GIT~2": "belong to Git",
    "git~1/x": "belong to Git",
    ".g\u200cit/config": "invisible",
    ".gitmodules": "belong to Git",
    ".gitattributes": "belong to Git",
    "CON.md": "device",
    "aux": "device",
    "nul.md": "device",
    "com1.txt": "device",
    "LPT9": "device",
    "a:b": "control character or one of",
    "a\\b": "control character or one of",
    "a?.md": "control character or one of",
    'a"b': "control character or one of",
    "a|b": "control character or one of",
    "a.": "blank or '.'",
    "a /b": "blank or '.'",
    " a": "blank or '-'",
    "-rf.md": "blank or '-'",
    "--upload-pack=x": "blank or '-'",
    "a\x1b[31m.md": "control",
    "a\nb": "control",
    "abc\u202edm.md": "invisible",
    "a\u2066b.md": "invisible",
    "a\u200bb.md": "invisible",
    "a\udcff.md": "UTF-8",
    "/".join(["a"] * 2000): "longer than",
    "/".join(["a"] * 33): "folders deep",
    "a" * 256: "longer than",
}


@pytest.mark.parametrize("text", GOOD)
def test_names_that_people_give_are_kept(text: str) -> None:
    assert parse_vault_path(text) == text


@pytest.mark.parametrize("text", BAD)
def test_names_that_are_unsafe_somewhere_are_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_vault_path(text)
    assert refused.value.code == "bad-path"
    assert BAD[text] in refused.value.message
    assert refused.value.message.isprintable()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.md", "A.md"),
        ("straße.md", "STRASSE.md"),
        ("straße.md", "strasse.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("Istanbul.md", "ıstanbul.md"),
        ("ﬁle.md", "file.md"),
    ],
)
def test_names_that_are_one_file_elsewhere_have_one_key(one: str, other: str) -> None:
    assert fold_path(one) == fold_path(other)


def test_names_that_differ_have_different_keys() -> None:
    assert len({fold_path(name) for name in GOOD}) == len(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "m7k2q9xxxxx",
        "m7k2q9xxxxxxx",
        "M7K2Q9XXXXXX",
        "m7k2q9xxxxxi",
        "m7k2q9xxxx\u0430x",
        "../../../etc",
        "m7k2q9xxxxx\n",
    ],
)
def test_ids_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_record_id(text)
    assert refused.value.code == "bad-record-id"


def test_new_ids_are_random_and_of_the_right_form() -> None:
    made = {new_record_id() for _ in range(200)}
    assert len(made) == 200
    assert all(parse_record_id(one) == one for one in made)

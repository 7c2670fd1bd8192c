"""Fenced code is blanked; conflict markers are found outside it."""

from __future__ import annotations

import pytest

from gitmem.fences import find_conflict, mask_fences, remove_memory

CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"
DIFF3 = "<<<<<<< a\nours\n||||||| base\nold\n=======\ntheirs\n>>>>>>> b\n"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a\n```sh\nb\n```\nc", "a\n.....\n.\n...\nc"),
        ("````\n```\nb\n````\nc", "....\n...\n.\n....\nc"),
        ("~~~\n```\n~~~\nc", "...\n...\n...\nc"),
        ("- x\n  ```\n  b\n  ```\n  c", "- x\n.....\n...\n.....\n  c"),
        ("- ```\n  b\n  ```\nc", ".....\n...\n.....\nc"),
        ("> ```\n> b\nc", ".....\n...\nc"),
        ("> > ~~~\n> > b\n> > ~~~\nc", ".......\n.....\n.......\nc"),
        ("```\nb", "...\n."),
        ("``` a`b\nc", "``` a`b\nc"),
        ("```\nb\n``` x\nc\n```", "...\n.\n.....\n.\n..."),
        ("a ``` b\nc", "a ``` b\nc"),
        ("```\n    ```\n```\nc", "...\n.......\n...\nc"),
    ],
)
def test_fences(text: str, masked: str) -> None:
    assert mask_fences(text).replace("\0", ".") == masked
    assert mask_fences(text.replace("\n", "\r\n")).replace("\0", ".").count("\n") == masked.count("\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CONFLICT, 1),
        (f"---\ntitle: x\n---\n\n{CONFLICT}", 5),
        ("one\n" + CONFLICT.replace("\n", "\r\n"), 2),
        (DIFF3, 1),
        ("=======\ntheirs\n>>>>>>> branch\n", 3),
        ("<<<<<<< only the opening\n", 1),
        ("<<<<<<<\n=======\n>>>>>>>", 1),
        ("<<<<<<< a\n```\nx\n=======\ny\n>>>>>>> b\n", 1),
        (f"```\ncode\n```\n{CONFLICT}", 4),
        (f"````\n```\n````\n{CONFLICT}", 4),
        (f"```\n{CONFLICT}```\n\n{CONFLICT}", 9),
        (f"```\n    ```\n```\n{CONFLICT}", 4),
        (f"inline ``` is no fence\n{CONFLICT}", 2),
        (f"``` not`a fence\n{CONFLICT}", 2),
    ],
)
def test_a_conflict_is_found_where_it_begins(text: str, line: int) -> None:
    assert find_conflict(text) == line


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{CONFLICT}```\n",
        f"~~~ text\n{CONFLICT}~~~\n",
        f"````md\n```\n{CONFLICT}````\n",
        f"- x\n  ~~~~ git\n{CONFLICT}  ~~~~\n",
        "".join(f" {line}\n" for line in CONFLICT.splitlines()),
        "Heading\n=======\n\ntext\n",
        "Title\n=======\n>>>>>>>x\n",
        ">>>>>>> quoted seven times\n",
        "<<<<<<<HEAD\n=======\n>>>>>>>other\n",
        "<<<<<<<< eight\n========\n>>>>>>>> eight\n",
        "",
    ],
)
def test_what_only_looks_like_a_conflict_is_left_alone(text: str) -> None:
    assert find_conflict(text) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("before\n````gitmem-recall\n- x: y\n  > ```sh\n```\n````\nafter", "before\n\nafter"),
        ("> ```gitmem-context\n> a\n> ```\nafter", "\nafter"),
        ("gitmem: memory is degraded: it.\ngitmem remembers this about the prompt. It\nwhat now", "\n\nwhat now"),
        ("```gitmem-search\n1 record:\n```\n```gitmem-record\nx\n```", "\n"),
        ("```gitmem-recall\nnothing closes it", ""),
        ("how does gitmem: recall work? ```gitmem-recall", "how does gitmem: recall work? ```gitmem-recall"),
        ("```sh\ngitmem recall x\n```", "```sh\ngitmem recall x\n```"),
    ],
)
def test_what_gitmem_gave_before_is_no_part_of_a_prompt(text: str, left: str) -> None:
    assert remove_memory(text) == left

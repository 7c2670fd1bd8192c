"""Headings and blocks as Obsidian finds them, against its own dumps and case by case."""

from __future__ import annotations

import pytest
from some_notes import HAS_VAULTS, ORACLE, load_dumps

from gitmem.model.links import LinkTargets
from gitmem.vault.frontmatter import parse_note
from gitmem.vault.headings import Heading, find_blocks, find_headings, has_place

needs_dumps = pytest.mark.skipif(not HAS_VAULTS, reason="needs Obsidian's own dumps")


@needs_dumps
def test_obsidian_finds_the_same_headings_and_blocks() -> None:
    counts = {"notes": 0, "headings": 0, "blocks": 0}
    for dump in load_dumps(ORACLE):
        seen = dump["cachedMetadata"]
        note = parse_note(dump["fileContents"].encode())
        first = dump["fileContents"][: len(dump["fileContents"]) - len(note.body)].count("\n")
        headings = [
            Heading(one["heading"], one["level"], one["position"]["start"]["line"] + 1 - first)
            for one in seen.get("headings") or []
        ]
        assert list(find_headings(note.body)) == headings, dump["filePath"]
        assert list(find_blocks(note.body)) == list(seen.get("blocks") or {}), dump["filePath"]
        counts["notes"] += 1
        counts["headings"] += len(headings)
        counts["blocks"] += len(seen.get("blocks") or {})
    assert counts == {"notes": 89, "headings": 119, "blocks": 1}


@needs_dumps
def test_links_lead_where_obsidian_says() -> None:
    dumps = load_dumps(ORACLE)
    resolved = [(dump["filePath"], *pair) for dump in dumps for pair in dump["resolveLinkToPath"].items()]
    targets = LinkTargets({dump["filePath"] for dump in dumps} | {path for *_names, path in resolved if path})
    found = [targets.resolve(link.partition("#")[0], source).path for source, link, _path in resolved]
    assert found == [path for *_names, path in resolved]
    assert len(found) == 60


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# One\n### Three ###\n###### Six\n####### seven", [("One", 1, 1), ("Three", 3, 2), ("Six", 6, 3)]),
        ("#tag\n#\n# ", [("", 1, 2), ("", 1, 3)]),
        ("   # three blanks\n    # four", [("three blanks", 1, 1)]),
        ("Over\n====\n\nUnder\n---", [("Over", 1, 1), ("Under", 2, 4)]),
        ("\n---\n\n- item\n---\n\n> quote\n---", []),
        ("```\n# code\n```\n<!-- \n# comment\n-->\n# real", [("real", 1, 7)]),
        ("# with `code` and [[link]] #", [("with `code` and [[link]]", 1, 1)]),
        ("# windows\r\n## lines\r\n", [("windows", 1, 1), ("lines", 2, 2)]),
        ("# 缓存 C#", [("缓存 C#", 1, 1)]),
    ],
)
def test_headings(text: str, headings: list[tuple[str, int, int]]) -> None:
    assert [(one.text, one.level, one.line) for one in find_headings(text)] == headings


@pytest.mark.parametrize(
    ("subpath", "is_there"),
    [
        ("", True),
        ("#Setup", True),
        ("#setup", True),
        ("#Set up the tests", True),
        ("#Setup#Set up - the tests!", True),
        ("#Set up: the tests#Setup", False),
        ("#^ports", True),
        ("#^Ports", True),
        ("#^nothing", False),
        ("#Teardown", False),
        ("#?", False),
    ],
)
def test_what_a_link_may_name(subpath: str, *, is_there: bool) -> None:
    body = "# Setup\n## Set up: the tests\nPorts are random. ^ports\n`^code`\n"
    assert has_place(subpath, find_headings(body), find_blocks(body)) is is_there


@pytest.mark.parametrize("piece", ["# ", "#", "=\n", "-\n", "a\n-\n", "^a ", "\n# ", "```\n", "> # ", "#" * 7 + "\n"])
def test_hostile_text_takes_time_linear_in_its_length(piece: str) -> None:
    text = piece * (150_000 // len(piece))  # were it quadratic, this would not end
    assert find_headings(text + "\n\n# end")[-1:] in ((), (Heading("end", 1, text.count("\n") + 3),))
    assert find_blocks(text + "\n\nx ^end")[-1:] in ((), ("end",))

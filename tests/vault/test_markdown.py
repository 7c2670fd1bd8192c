"""Links and tags as Obsidian finds them, against its own dumps and case by case."""

from __future__ import annotations

from pathlib import Path

import pytest
from some_notes import HAS_VAULTS, HERE, ORACLE, load_dumps

from gitmem.vault.frontmatter import parse_note
from gitmem.vault.markdown import Link, find_links, find_property_links, find_tags, parse_tag, unique_tags


def _shown(link: Link) -> str:
    """The text that Obsidian shows for a link without one of its own."""
    if link.alias is not None:
        return link.alias
    return " > ".join(part for part in (link.target + link.subpath).split("#") if part)


@pytest.mark.parametrize(
    ("folder", "many"),
    [
        (HERE / "dumps", {"notes": 2, "links": 6, "embeds": 1, "tags": 8, "property links": 2}),
        pytest.param(
            ORACLE,
            {"notes": 89, "links": 68, "embeds": 3, "tags": 195, "property links": 10},
            marks=pytest.mark.skipif(not HAS_VAULTS, reason="needs Obsidian's own dumps"),
        ),
    ],
    ids=["ours", "Obsidian's"],
)
def test_obsidian_finds_the_same(folder: Path, many: dict[str, int]) -> None:
    counts = dict.fromkeys(many, 0)
    for dump in load_dumps(folder):
        seen = dump["cachedMetadata"]
        note = parse_note(dump["fileContents"].encode())
        links = find_links(note.body)
        expected = [(link["link"], link["displayText"]) for link in seen.get("links", [])]
        assert [(link.target + link.subpath, _shown(link)) for link in links if not link.embed] == expected
        first_line = dump["fileContents"][: len(dump["fileContents"]) - len(note.body)].count("\n")
        lines = [link["position"]["start"]["line"] + 1 - first_line for link in seen.get("links", [])]
        assert [link.line for link in links if not link.embed] == lines
        embeds = [link["link"] for link in seen.get("embeds", [])]
        assert [link.target + link.subpath for link in links if link.embed] == embeds
        tags = [tag["tag"][1:] for tag in seen.get("tags", [])]
        assert find_tags(note.body) == unique_tags(tags), dump["filePath"]
        inner = [(link["key"].split(".")[0], link["link"]) for link in seen.get("frontmatterLinks") or []]
        found = find_property_links(note.properties)
        assert [(link.source, link.target + link.subpath) for link in found] == inner
        for what, found_here in (("links", expected), ("embeds", embeds), ("tags", tags), ("property links", inner)):
            counts[what] += len(found_here)
        counts["notes"] += 1
    assert counts == many


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[Note]]", [Link("Note", line=1)]),
        ("[[Note.md]] [[Folder/Note]]", [Link("Note.md", line=1), Link("Folder/Note", line=1)]),
        ("x\n[[Note#Head#Sub|text]]", [Link("Note", "#Head#Sub", "text", line=2)]),
        ("[[#Head]] [[#^id]]", [Link("", "#Head", line=1), Link("", "#^id", line=1)]),
        ("![[img.png|100x145]]", [Link("img.png", "", "100x145", embed=True, line=1)]),
        ("| [[a\\|b]] |", [Link("a", "", "b", line=1)]),
        ("[[a||b]]", [Link("a", "", "|b", line=1)]),
        ("[[|]] [[|x]]", [Link("|", line=1), Link("|x", line=1)]),
        ("[[]] []() [x]()", []),
        ("[[a\nb]]", []),
        ("\\[[x]] \\[\\[y]] \\\\[[z]]", [Link("z", line=1)]),
        ("# [[h]] > [[q]] %% [[c]] %%", [Link("h", line=1), Link("q", line=1), Link("c", line=1)]),
        ("`[[x]]` ``[[y]] ` [[z]]`` [[a]]", [Link("a", line=1)]),
        ("```\n[[x]]\n```\n[[a]]", [Link("a", line=4)]),
        ("<!-- [[x]]\n[[y]] --> [[a]]", [Link("a", line=2)]),
        ("[t](Three%20laws.md#a%20b)", [Link("Three laws.md", "#a b", "t", line=1)]),
        ('[t](<a b.md>) [u](c.md "title")', [Link("a b.md", "", "t", line=1), Link("c.md", "", "u", line=1)]),
        ("![i](a(1).png)", [Link("a(1).png", "", "i", embed=True, line=1)]),
        ("[t](https://x.y/a.md) [m](mailto:a@b.c) [s](//x.y)", []),
        ("[[b]] [t](a.md) [[c]]", [Link("b", line=1), Link("a.md", "", "t", line=1), Link("c", line=1)]),
        ("\\[t](a.md)", []),
        ("[a [[b]] c](d.md)", [Link("d.md", "", "a [[b]] c", line=1), Link("b", line=1)]),
        ("[[ a | b ]]", [Link("a", "", "b", line=1)]),
    ],
)
def test_links(text: str, links: list[Link]) -> None:
    assert list(find_links(text)) == links


def test_links_in_properties_are_whole_texts() -> None:
    properties = {
        "up": "[[A#h|x]]",
        "list": ["[[B]]", "see [[C]]", 3, None, {"deep": "![[D]]"}],
        "unquoted": [["E"]],
        "markdown": "[t](F.md)",
    }
    assert find_property_links(properties) == (
        Link("A", "#h", "x", source="up"),
        Link("B", source="list"),
        Link("D", embed=True, source="list"),
    )


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#a #b/c #A", ("a", "b/c")),
        ("#1984 #y1984 #1984/a", ("y1984", "1984/a")),
        ("(#x) a#y [#z] #a#b", ("a",)),
        ("#C++ #it's #A–B #a,b", ("C", "it", "A", "a")),
        ("#标签，后文", ("标签，后文",)),
        ("#👨‍👩‍👧 #e2e #ffffff", ("👨", "e2e", "ffffff")),
        ("#a/ #/", ("a",)),
        ("# heading\n## two\n\t#t", ("t",)),
        ("%% #in %% > #quote\n- #item | #cell |", ("in", "quote", "item", "cell")),
        ("`#x` <!-- #y -->\n```\n#z\n```", ()),
        ("[[Note #x]] \\#y", ()),
        ("\\[\\[#Escaped Links\\]\\]", ("Escaped",)),
    ],
)
def test_tags(text: str, tags: tuple[str, ...]) -> None:
    assert find_tags(text) == unique_tags(tags)


def test_one_tag() -> None:
    texts = ["tool/pytest", "#x", "a/", "2024", "a b", "a, b", "", "#", "/", "日本"]
    assert [parse_tag(text) for text in texts] == ["tool/pytest", "x", "a", None, None, None, None, None, None, "日本"]


@pytest.mark.parametrize(
    "piece", ["[[a", "[a](b", "[", "[x](a(", "`", "<!-- ", "\\[[a]] ", "#a", "> ", "[a]", "``` ", "| ", "\\", "`a``b"]
)
def test_hostile_text_takes_time_linear_in_its_length(piece: str) -> None:
    text = piece * (150_000 // len(piece))  # were it quadratic, this would not end
    assert find_links(text + "\n\n[[end]]")[-1:] in ((), (Link("end", line=3),))
    assert set(find_tags(text + "\n\n#end")) <= {"a", "end"}

"""The memory that `gitmem tour` shows: whole in itself, and within the rules that gitmem sets for records."""

from __future__ import annotations

import json
import re
from typing import Any

import frontmatter
import pytest

from gitmem import resources
from gitmem.model.record import BASELINE_KINDS, MAX_SUMMARY_CHARS, MAX_TITLE_CHARS, Kind
from gitmem.model.vault_path import find_path_problem

FOLDER = resources.folder("templates") / "sample"
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}
NOTES: dict[str, dict[str, Any]] = {name: frontmatter.loads(text).metadata for name, text in TEXTS.items()}
STORY: dict[str, Any] = json.loads(resources.read_text("templates", "sample/story.json"))
PROPERTIES = ["title", "kind", "summary", "tags", "key", "evidence", "valid_from", "valid_until", "review_after"]
NAMESPACES = {"tool", "client", "domain", "convention", "scope"}


def has_han(text: str) -> bool:
    return re.search(r"[\u4e00-\u9fff]", text) is not None


def test_the_sample_is_large_and_varied() -> None:
    assert len(NOTES) >= 46
    assert {note["kind"] for note in NOTES.values()} == {
        "fact", "decision", "convention", "procedure", "finding", "episode",
    }  # fmt: skip
    assert {tag.partition("/")[0] for note in NOTES.values() for tag in note["tags"]} >= NAMESPACES - {"scope"}
    assert sum(has_han(note["title"]) for note in NOTES.values()) >= 8


@pytest.mark.parametrize("name", NOTES)
def test_a_note_keeps_to_the_form(name: str) -> None:
    note = NOTES[name]
    raw = (FOLDER / name).read_bytes()
    assert find_path_problem(f"observations/{name}") is None
    assert list(note) == [known for known in PROPERTIES if known in note]
    assert 0 < len(note["title"]) <= MAX_TITLE_CHARS
    assert 0 < len(note["summary"]) <= MAX_SUMMARY_CHARS
    assert Kind(note["kind"]) not in BASELINE_KINDS
    assert all(re.fullmatch(r"(commit|file|run|url):\S+", item) for item in note["evidence"])
    assert {tag.partition("/")[0] for tag in note["tags"]} <= NAMESPACES
    assert raw.endswith(b"\n")
    assert not raw.endswith(b"\n\n")
    assert b"\r" not in raw


def test_keys_and_titles_are_unique() -> None:
    keys = [note["key"] for note in NOTES.values() if "key" in note]
    titles = [note["title"] for note in NOTES.values()]
    assert len(keys) == len(set(keys)) >= 3
    assert len(titles) == len(set(titles))


def test_every_wikilink_leads_somewhere() -> None:
    texts = [*TEXTS.values(), *(new["body"] for new in STORY["declare"] + STORY["observe"] + STORY["propose"])]
    targets = re.findall(r"\[\[([^\]|#]+)", "\n".join(texts))
    assert len(targets) >= 25
    assert [target for target in targets if f"{target}.md" not in NOTES] == []


def test_every_address_is_an_example() -> None:
    text = "\n".join(path.read_text("utf-8") for path in FOLDER.iterdir())
    hosts = re.findall(r"(?:https?://|@)([\w.-]+\.[a-z]{2,})", text)
    assert [host for host in hosts if not re.fullmatch(r"(.+\.)?example\.com", host)] == []


def test_the_story_declares_every_baseline_kind() -> None:
    kinds = [declared["kind"] for declared in STORY["declare"]]
    assert kinds == ["boundary", "boundary", "preference", "preference", "goal", "state"]
    assert all(observed["evidence"] for observed in STORY["observe"])
    new = STORY["declare"] + STORY["observe"] + STORY["propose"]
    assert all(len(item["summary"]) <= MAX_SUMMARY_CHARS for item in new)
    assert {tag.partition("/")[0] for item in new for tag in item["tags"]} <= NAMESPACES


def test_the_story_names_notes_that_are_there() -> None:
    retired = STORY["retire"]
    named = [STORY["promote"]["file"], retired["file"], retired["superseded_by"], STORY["edit"]["file"]]
    named += [search["finds"] for search in STORY["search"]]
    assert [name for name in named if name not in NOTES] == []


def test_the_edit_of_the_story_fits_exactly_once() -> None:
    edit = STORY["edit"]
    assert TEXTS[edit["file"]].count(edit["old"]) == 1
    assert edit["new"] != edit["old"]

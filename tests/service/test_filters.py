"""Filters as a reader gives them: dates and paths as typed, links by what they lead to."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal
from unicodedata import normalize

import pytest

from gitmem.errors import InputError
from gitmem.model.authority import Actor
from gitmem.model.record import Draft
from gitmem.service.memory import Memory
from gitmem.service.query import MAX_VALUES, Filters

from conftest import Desk, draft


@pytest.fixture
def ids(memory: Memory, agent: Actor, desk: Desk) -> dict[str, str]:
    """Three records: the cache, one that links to it in its text, one that links to it and to a plain note."""
    cache = memory.observe(replace(draft("The cache"), key="cache-ttl"), agent).records[0]
    stem = cache.path.rpartition("/")[2].removesuffix(".md") if cache.path else ""
    one = memory.observe(draft("Linking", f"See [[{stem}]]."), agent).records[0]
    both = memory.observe(draft("Linking twice", f"See [[{cache.path}|it]], [[Home]] and [[Nowhere]]."), agent)
    memory.observe(Draft("Not linking", "cache-ttl", evidence=("run:1",)), agent)
    (desk.repo / "promoted" / "Home.md").write_text("Not a record.\n")
    return {"cache": cache.id, "one": one.id, "both": both.records[0].id, "path": cache.path or ""}


def found(memory: Memory, filters: Filters) -> set[str]:
    listed = {hit.record.id for hit in memory.list(filters).hits}
    assert {hit.record.id for hit in memory.search("cache", filters, 100).hits} <= listed
    return listed


@pytest.mark.parametrize("ref", ["cache", "path", "key", "name"])
def test_links_to_a_record_by_any_of_its_names(memory: Memory, ids: dict[str, str], ref: str) -> None:
    name = ids["path"].rpartition("/")[2].removesuffix(".md").upper()
    asked = {**ids, "key": "Cache-TTL", "name": name}[ref]
    assert found(memory, Filters(links_to=(asked,))) == {ids["one"], ids["both"]}


def test_links_to_several_and_to_what_is_no_record(memory: Memory, ids: dict[str, str]) -> None:
    assert found(memory, Filters(links_to=("Home",))) == {ids["both"]}
    assert found(memory, Filters(links_to=("nowhere",))) == {ids["both"]}
    assert found(memory, Filters(links_to=("Home", ids["cache"]))) == {ids["both"]}
    assert found(memory, Filters(links_to=("Home", ids["one"]))) == set()
    assert found(memory, Filters(links_to=("nothing at all",))) == set()


def test_a_link_of_an_ambiguous_name_leads_where_obsidian_takes_it(
    desk: Desk, memory: Memory, ids: dict[str, str]
) -> None:
    # The same name in the folder of the linking note comes before one with fewer folders.
    other = desk.repo / ids["path"].rpartition("/")[0] / "Home.md"
    other.write_text("Nearer.\n")
    assert found(memory, Filters(links_to=("promoted/Home.md",))) == set()
    assert found(memory, Filters(links_to=(str(other.relative_to(desk.repo)),))) == {ids["both"]}


def test_backlinks_are_those_of_records_and_plain_notes(desk: Desk, memory: Memory, ids: dict[str, str]) -> None:
    name = ids["path"].rpartition("/")[2].removesuffix(".md")
    (desk.repo / "promoted" / "Home.md").write_text(f"One\n\n[it]({name}.md) and [[{name}]]\n")
    (desk.repo / "promoted" / "Hidden.md").write_text(f"---\nprivate: true\n---\n[[{name}]]\n")
    rows = [(row["path"], row["line"]) for row in memory.links(ids["cache"]).rows if row["direction"] == "in"]
    assert [line for path, line in rows if path == "promoted/Home.md"] == [3, 3]
    records = {hit.record.path for hit in memory.list(Filters(links_to=(ids["cache"],))).hits}
    assert {path for path, _line in rows} == records | {"promoted/Home.md"}


def test_dates_are_those_of_the_asking(memory: Memory, ids: dict[str, str]) -> None:
    assert len(found(memory, Filters(since="today"))) == 4
    assert len(found(memory, Filters(since="1h", until="today"))) == 4
    assert found(memory, Filters(until="yesterday")) == set()
    assert found(memory, Filters(until="2020")) == set()
    assert len(found(memory, Filters(since="today", until="today"))) == 4
    assert len(found(memory, Filters(until="9999"))) == 4
    assert found(memory, Filters(since="9999-12-31")) == set()


def test_paths_lie_in_the_vault(desk: Desk, memory: Memory, ids: dict[str, str]) -> None:
    for path in ("observations", "./observations/", str(desk.repo / "observations"), "obs*", ".", ids["path"]):
        assert ids["cache"] in found(memory, Filters(paths=(path,))), path
    assert found(memory, Filters(paths=("promoted",))) == set()


@pytest.mark.parametrize(("on_disk", "typed"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_a_folder_is_found_however_its_accents_are_written(
    desk: Desk, memory: Memory, on_disk: Literal["NFC", "NFD"], typed: Literal["NFC", "NFD"]
) -> None:
    place = desk.repo / "promoted" / normalize(on_disk, "Dépôt")
    place.mkdir()
    (place / "a.md").write_text("---\ngitmem_id: m7k2q9x4c0de\ntitle: A\n---\n")
    asked = Filters(paths=(f"promoted/{normalize(typed, 'Dépôt')}",))
    assert [hit.record.id for hit in memory.list(asked).hits] == ["m7k2q9x4c0de"]


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        (Filters(since="soon"), "bad-date"),
        (Filters(until="2026-02-30"), "bad-date"),
        (Filters(since="2026-11", until="2026-09"), "until-before-since"),
        (Filters(since="2026-11-02", until="2026-11-01"), "until-before-since"),
        (Filters(paths=("../elsewhere",)), "bad-filter"),
        (Filters(paths=("/etc",)), "bad-filter"),
        (Filters(paths=("x" * 2000,)), "bad-filter"),
        (Filters(tags=(" # ",)), "bad-filter"),
        (Filters(links_to=("",)), "bad-filter"),
        (Filters(any_tags=("a",) * (MAX_VALUES + 1)), "bad-filter"),
    ],
)
def test_filters_that_are_none_are_refused(memory: Memory, filters: Filters, code: str) -> None:
    for read in (lambda: memory.list(filters), lambda: memory.search("x", filters)):
        with pytest.raises(InputError) as refused:
            read()
        assert refused.value.code == code

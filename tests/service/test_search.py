"""What a search returns beside its records, at the level of the service: notes, spellings, hints, several vaults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Sort, Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind, State
from gitmem.service.memory import Memory
from gitmem.service.query import Filters, SearchOptions

from conftest import Desk, draft

ALL = Filters()


@pytest.fixture
def filled(memory: Memory, agent: Actor) -> Memory:
    memory.observe(draft(), agent)
    memory.observe(
        replace(draft("Cache", "Redis.\n\n" + "Filler words. " * 40 + "The cache ends here."), summary="-"), agent
    )
    memory.observe(replace(draft("Episode of the cache"), kind=Kind.EPISODE), agent)
    return memory


def test_a_passage_shows_the_match_wherever_it_is(filled: Memory, agent: Actor) -> None:
    (hit,) = filled.search("cache ends", ALL).hits[:1]
    assert hit.snippet.endswith("Filler words. The cache ends here.")
    assert [hit.snippet[start:end] for start, end in hit.spans["snippet"]] == ["cache", "ends"]
    filled.observe(Draft("Only so", summary="A unicorn.", body="Nothing.", evidence=("file:zebra.py",)), agent)
    assert [filled.search(word, ALL).hits[0].snippet for word in ("unicorn", "zebra.py", "only")] == [
        "A unicorn.",
        "file:zebra.py",
        "Nothing.",
    ]


def test_notes_of_an_earlier_commit_are_found_but_not_what_is_private_now(desk: Desk, filled: Memory) -> None:
    note = desk.repo / "promoted" / "Plain.md"
    note.write_text("A walrus.\n")
    desk.git("add", "promoted/Plain.md")
    desk.git("commit", "-qm", "by hand")
    then = desk.git("rev-parse", "HEAD").strip()
    note.write_text("A seal.\n")
    assert filled.search("walrus", ALL).status == "no-match"
    earlier = filled.search("walrus", ALL, as_of=then)
    assert [row["snippet"] for row in earlier.extra["notes"]] == ["A walrus."]
    note.write_text("---\nprivate: true\n---\nA seal.\n")
    hidden = filled.search("walrus", ALL, as_of=then)
    assert (hidden.status, hidden.extra["notes"]) == ("no-match", [])


def test_secrets_in_notes_are_masked(desk: Desk, filled: Memory) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyzABCDEF0123"
    (desk.repo / "promoted" / "Plain.md").write_text(f"A walrus {secret} here.\n")
    (row,) = filled.search("walrus", ALL).extra["notes"]
    assert row["snippet"].startswith("A walrus ")
    assert secret not in str(row)
    filled.close()
    assert all(secret.encode() not in file.read_bytes() for file in desk.runtime.rglob("*") if file.is_file())


def test_notes_answer_only_where_no_filter_needs_a_record(desk: Desk, filled: Memory) -> None:
    (desk.repo / "promoted" / "Plain.md").write_text("A walrus.\n")
    for filters in (ALL, Filters(paths=("promoted",)), Filters(states=(State.PROMOTED,))):
        assert len(filled.search("walrus", filters).extra["notes"]) == 1
    for filters in (Filters(tags=("tool",)), Filters(paths=("baseline",)), Filters(states=(State.RETIRED,))):
        assert filled.search("walrus", filters).extra["notes"] == []
    assert filled.search("walrus", ALL, options=SearchOptions(episodes=True)).extra["notes"] == []


def test_what_keeps_all_records_out_is_said(filled: Memory) -> None:
    def hint(words: str, filters: Filters = ALL, options: SearchOptions | None = None) -> str | None:
        return filled.search(words, filters, options=options).extra.get("hint")

    assert hint("redis") is None
    assert hint("redis -cache") == "1 record matches but for what is left out."
    assert hint("redis", Filters(tags=("tool/pytests",))) == (
        "No record has the tag tool/pytests; did you mean tool/pytest?"
    )
    assert hint("redis", Filters(paths=("observation",))).startswith(  # type: ignore[union-attr]
        "No record lies at observation; did you mean observations/"
    )
    assert hint("redis", Filters(links_to=("nobody",))) == "Nothing links to nobody."
    assert hint("zzzzz") is None


@pytest.mark.parametrize("text", ["🎉", "→", '"…"'])
def test_that_signs_cannot_be_searched_for_is_said(filled: Memory, text: str) -> None:
    answer = filled.search(text, Filters())
    assert (answer.status, answer.extra["hint"]) == (
        Status.NO_MATCH,
        "Only letters and digits can be searched for, no other signs; give a word.",
    )


def test_episodes_are_counted_or_searched_alone(filled: Memory) -> None:
    found = filled.search("cache", ALL)
    assert ([hit.record.title for hit in found.hits], found.extra["episodes"]) == (["Cache"], 1)
    alone = filled.search("cache", ALL, options=SearchOptions(episodes=True))
    assert [hit.record.title for hit in alone.hits] == ["Episode of the cache"]
    assert "episodes" not in alone.extra
    both = filled.search("cache", Filters(kinds=(Kind.EPISODE, Kind.FACT)))
    assert ({hit.record.title for hit in both.hits}, "episodes" in both.extra) == (
        {"Cache", "Episode of the cache"},
        False,
    )


def test_every_order_pages_alike(filled: Memory) -> None:
    for sort in Sort:
        whole = [
            hit.record.id for hit in filled.search("cache redis workers", ALL, 10, None, SearchOptions(sort=sort)).hits
        ]
        pages = [
            hit.record.id
            for offset in range(3)
            for hit in filled.search("cache redis workers", ALL, 1, None, SearchOptions(offset, sort)).hits
        ]
        assert pages == whole


@pytest.mark.parametrize(
    ("options", "code"),
    [(SearchOptions(offset=-1), "bad-offset"), (SearchOptions(fields=("path",)), "bad-field")],
)
@pytest.mark.parametrize("all_vaults", [False, True])
def test_options_that_are_none_are_refused(filled: Memory, options: SearchOptions, code: str, all_vaults: bool) -> None:
    with pytest.raises(InputError) as refused:
        filled.search("cache", ALL, options=replace(options, all_vaults=all_vaults))
    assert refused.value.code == code

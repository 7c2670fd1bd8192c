"""Sessions that are set aside to be curated, and what is remembered of them."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from some_sessions import a_session, edit

from gitmem.curator.sessions import sum_up
from gitmem.errors import UnavailableError
from gitmem.model.ids import RecordId
from gitmem.vault.curated import MAX_IDEAS, MAX_SESSIONS, Curated, hold_curating, load_curated, save_curated
from gitmem.vault.layout import VaultLayout
from gitmem.vault.sightings import MAX_RECORDS, add_sightings, load_sightings
from gitmem.vault.spool import append_event, claim_spool, drop_claimed, iter_claimed, iter_spools


@pytest.fixture
def layout(tmp_path: object) -> VaultLayout:
    return VaultLayout(f"{tmp_path}/repo", f"{tmp_path}/runtime")


def test_what_is_set_aside_stays_as_it_is(layout: VaultLayout) -> None:
    for one in a_session():
        append_event(layout, one)
    assert claim_spool(layout, "s1")
    append_event(layout, edit(60, "later.py"))
    assert not claim_spool(layout, "s1"), "an earlier part comes first"
    assert not claim_spool(layout, "s2")
    (aside,), (kept,) = iter_claimed(layout), iter_spools(layout)
    assert (aside.events, kept.events) == (tuple(a_session()), (edit(60, "later.py"),))
    drop_claimed(layout, "s1")
    drop_claimed(layout, "s1")
    assert list(iter_claimed(layout)) == []
    assert claim_spool(layout, "s1")


def test_no_event_is_lost_while_a_session_is_set_aside(layout: VaultLayout) -> None:
    def write(name: str) -> None:
        for number in range(200):
            append_event(layout, edit(number / 60, f"{name}{number}.py"))

    writers = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    seen: list[str] = []
    for one in writers:
        one.start()
    while any(one.is_alive() for one in writers) or list(iter_spools(layout)):
        claim_spool(layout, "s1")
        for spool in list(iter_claimed(layout)):
            seen += [event.paths[0] for event in spool.events]
            drop_claimed(layout, spool.session)
    assert sorted(seen) == sorted(f"{name}{number}.py" for name in "ab" for number in range(200))


def test_what_is_remembered_reads_back_and_is_bounded(layout: VaultLayout) -> None:
    assert load_curated(layout) == Curated()
    one = sum_up(a_session(), "s1")
    many = [
        replace(one, session=f"s{number:03}", end=f"2026-11-{number % 28 + 1:02}T00:00:00Z") for number in range(300)
    ]
    ideas = {RecordId(f"{number:012}"): 1 for number in range(MAX_IDEAS + 5)}
    curated = Curated(place="a" * 12).with_sessions(many).with_ideas(ideas)
    assert (len(curated.sessions), len(curated.ideas)) == (MAX_SESSIONS, MAX_IDEAS)
    save_curated(layout, curated)
    assert load_curated(layout) == curated
    part = replace(one, part=2, stem="second")
    both = Curated().with_sessions([one, part, part])
    assert both.sessions == (one, part)
    assert both.find_last_part(one.source) == part
    assert both.find_last_part("codex/none") is None


def test_one_curates_at_a_time(layout: VaultLayout) -> None:
    with hold_curating(layout, 1), pytest.raises(UnavailableError) as caught, hold_curating(layout, 0):
        pass
    assert caught.value.code == "curate-busy"
    with hold_curating(layout, 0):
        pass


def test_sightings_are_counted_once_a_session_and_bounded(layout: VaultLayout) -> None:
    assert load_sightings(layout) == {}
    add_sightings(layout, [("a" * 12, ["codex/1"]), ("a" * 12, ["codex/1", "codex/2"])])  # type: ignore[list-item]
    assert load_sightings(layout) == {"a" * 12: ("codex/1", "codex/2")}
    add_sightings(layout, [(f"{number:012}", ["codex/1"]) for number in range(MAX_RECORDS)])  # type: ignore[misc]
    assert len(load_sightings(layout)) == MAX_RECORDS
    assert "a" * 12 not in load_sightings(layout)
    with open(layout.sightings_file, "w") as file:
        file.write("[")
    assert load_sightings(layout) == {}

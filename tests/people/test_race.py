"""People edit while gitmem writes: no edit is lost, no operation is lost or mixed (INV-PEOPLE-FIRST)."""

from __future__ import annotations

from pathlib import Path

import pytest

from race import Outcome, Race, run_race


def _judge(outcome: Outcome, race: Race) -> None:
    assert (outcome.lost, outcome.wrong) == ([], []), outcome
    tried = outcome.saved.total() + outcome.missed.total()
    assert tried == race.edits
    # A race in which nobody met anybody would prove nothing.
    assert outcome.saved.total() > 0.9 * race.edits
    assert outcome.done.total() > 0.2 * race.edits
    assert any(refused.endswith("edited-meanwhile") for refused in outcome.refused)


def test_inv_people_first_no_edit_is_lost_in_a_race_with_writers(tmp_path: Path) -> None:
    race = Race(edits=120)
    _judge(run_race(tmp_path, race), race)


@pytest.mark.slow
def test_inv_people_first_no_edit_is_lost_where_writers_are_killed(tmp_path: Path) -> None:
    race = Race(edits=600, seed=4, kills=0.02)
    _judge(run_race(tmp_path, race), race)


@pytest.mark.slow
def test_inv_people_first_no_edit_is_lost_where_files_cannot_be_exchanged(tmp_path: Path) -> None:
    race = Race(edits=600, seed=3, exchanges=False)
    _judge(run_race(tmp_path, race), race)


@pytest.mark.slow
def test_inv_people_first_no_edit_is_lost_in_a_long_race_with_writers(tmp_path: Path) -> None:
    race = Race(edits=2400, seed=2)
    outcome = run_race(tmp_path, race)
    _judge(outcome, race)
    assert outcome.saved.total() >= 2000
    assert outcome.found["displaced"] > 0

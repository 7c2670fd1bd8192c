"""The goals of the scanner on made-up notes: 98 of 100 secrets found, one look-alike of 100 stopped."""

from __future__ import annotations

import pytest
from some_notes import HERE

from gitmem.policy.secrets import find_secrets

from fake_secrets import make_look_alikes, make_secrets
from secret_figures import COUNT, MAX_FALSE, MIN_FOUND, SEED, Figures, format_figures, main, measure
from secret_forms import LOOK_ALIKES, SECRETS


@pytest.mark.parametrize("held_out", [False, True])
def test_the_goals_are_met(held_out: bool) -> None:
    secrets = measure(make_secrets(SEED, COUNT, held_out=held_out), secret=True)
    look_alikes = measure(make_look_alikes(SEED, COUNT, held_out=held_out), secret=False)

    assert len(secrets.made) >= 40
    assert secrets.share >= MIN_FOUND, [one.text for one in secrets.odd]
    assert look_alikes.share <= MAX_FALSE, [one.text for one in look_alikes.odd]


def test_the_same_seed_makes_the_same_notes_and_each_kind_is_there() -> None:
    notes = make_secrets(7, len(SECRETS))

    assert notes == make_secrets(7, len(SECRETS))
    assert notes != make_secrets(8, len(SECRETS))
    assert {note.kind for note in notes} == set(SECRETS)
    assert {note.kind for note in make_look_alikes(7, len(LOOK_ALIKES))} == set(LOOK_ALIKES)
    assert all("«" not in note.text and "»" not in note.text for note in notes)


def test_a_find_beside_the_secret_is_none() -> None:
    note = make_secrets(7, 1)[0]
    elsewhere = f"password: hQ7x9Zk2m!\n\n{note.text}"
    lines = {finding.line for finding in find_secrets(elsewhere)}

    assert 1 in lines
    assert measure([note], secret=True).share == 1


def test_the_table_names_each_kind_that_is_not_perfect() -> None:
    figures = Figures()
    figures.made.update({"github": 8, "jwt": 2})
    figures.found.update({"github": 7, "jwt": 2})

    assert format_figures("secrets found", figures, secret=True, every=False) == (
        "secrets found: 9 of 10 (90.0%), 2 kinds\n  github                           7 of 8"
    )
    assert "jwt" in format_figures("secrets found", figures, secret=True, every=True)


def test_the_command_prints_both_tables_and_says_by_its_exit_code_whether_the_goals_are_met(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["--seed", "3"])
    out = capsys.readouterr().out

    assert (code, "secrets found: " in out, "look-alikes stopped: " in out) == (0, True, True)


def test_no_note_of_the_corpora_is_stopped() -> None:
    notes = sorted((HERE / "eval" / "corpus").rglob("*.md")) + sorted((HERE.parent / "docs").rglob("*.md"))
    texts = {str(note): note.read_text(encoding="utf-8") for note in notes}
    texts |= {str(file): file.read_text(encoding="utf-8") for file in (HERE / "eval" / "corpus").rglob("*.json*")}

    assert len(texts) > 10
    assert {name: found for name, text in texts.items() if (found := find_secrets(text))} == {}

"""Every attempt to get text into the boundaries ends as the page on attacks says, and none arrives in a keyed vault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitmem.programs import find_program

from attack_ground import ARRIVES
from attempts import NEED_KEYS, WAYS, Attempt, say, try_it

PAGE = (Path(__file__).parents[2] / "docs" / "attacks.md").read_text(encoding="utf-8")
ROWS = {
    attempt: (without, with_keys)
    for attempt, without, with_keys in re.findall(r"^\| (.+?) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    if attempt not in ("Attempt", "---")
}
ALL = [attempt for _way, attempts in WAYS for attempt in attempts]
BEYOND_RECEIPTS = {
    "a note committed by plain Git, and a receipt of a person's forged for that commit",
    "the boundary's text replaced by plain Git, and a receipt of a person's forged for that commit",
}
needs_openssh = pytest.mark.skipif(find_program("ssh-keygen") is None, reason="OpenSSH's ssh-keygen is not there")


def name(attempt: Attempt) -> str:
    return attempt.__name__


@pytest.mark.parametrize("attempt", [one for one in ALL if one not in NEED_KEYS], ids=name)
def test_inv_boundaries_against_every_attempt_in_a_vault_without_keys(attempt: Attempt, tmp_path: Path) -> None:
    assert try_it(attempt, tmp_path, keys=False) == ROWS[say(attempt)][0]


@needs_openssh
@pytest.mark.parametrize("attempt", ALL, ids=name)
def test_inv_boundaries_against_every_attempt_in_a_vault_with_keys(attempt: Attempt, tmp_path: Path) -> None:
    assert try_it(attempt, tmp_path, keys=True) == ROWS[say(attempt)][1]


def test_the_page_has_every_attempt_and_none_arrives_but_by_forged_receipts() -> None:
    assert list(ROWS) == [say(attempt) for attempt in ALL]
    assert len(ROWS) >= 60
    assert {one for one, (without, _keys) in ROWS.items() if ARRIVES in without} == BEYOND_RECEIPTS
    assert [one for one, (_without, keys) in ROWS.items() if ARRIVES in keys] == []
    assert [one for one, said in ROWS.items() if "missing in silence" in said] == []

"""``gitmem recall`` in a session: the same is said once, what no longer fits is said, and a compaction forgets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

TITLE = "Availability is cached for five minutes"
ELSE = "please write a limerick about penguins"


@pytest.fixture
def told(gitmem: Gitmem) -> Gitmem:
    gitmem.observe(TITLE, "--body", "See the cache settings.", "--key", "cache-ttl")
    return gitmem


def test_a_session_is_told_once(told: Gitmem) -> None:
    first = told("recall", TITLE, "--session", "s")
    assert first.code == 0
    assert f"): {TITLE}\n  > See the cache settings.\n" in first.out
    record_id = told("list", "--json").document["results"][0]["id"]
    again = told("recall", TITLE, "--session", "s")
    assert again.out == f"gitmem: 1 record remembered for this prompt, the same as shown last: {record_id}.\n"
    gone = told("recall", ELSE, "--session", "s")
    assert gone.code == 1
    assert gone.out == (
        f"gitmem: nothing remembered fits this prompt; what was shown before ({record_id}) is superseded.\n"
    )
    nothing = told("recall", ELSE, "--session", "s")
    assert (nothing.code, nothing.out) == (1, "")
    assert told("recall", TITLE, "--session", "s").out == first.out
    assert told("recall", TITLE, "--session", "t").out == first.out
    assert told("recall", TITLE).out == first.out


def test_a_compaction_forgets(told: Gitmem) -> None:
    first = told("recall", TITLE, "--session", "s").out
    assert told("recall", "--session", "s", "--reset", "--json").document["reset"] is True
    assert told("recall", "--session", "s", "--reset", "--json").document["reset"] is False
    assert told("recall", TITLE, "--session", "s").out == first
    assert told("recall", TITLE, "--session", "s").out != first
    assert told("recall", TITLE, "--session", "s", "--reset").out == first
    plain = told("recall", "--session", "s", "--reset")
    assert (plain.code, plain.out, plain.err) == (0, "", "")
    assert told("recall", "--reset").code == 2
    assert told("recall").code == 2


def test_nothing_of_the_prompt_or_the_session_is_kept(told: Gitmem) -> None:
    told("recall", TITLE, "--session", "my very own session")
    (file,) = Path(told.environment.home, "global", "runtime", "recall").iterdir()
    kept = json.loads(file.read_text())
    assert set(kept) == {"digest", "ids"}
    assert "session" not in file.name
    assert "Availability" not in file.read_text()


def test_a_memory_that_can_not_be_read_is_one_line_without_content(told: Gitmem) -> None:
    shutil.rmtree(told.repo)
    result = told("recall", TITLE, "--session", "s", "--json")
    assert result.code == 6
    assert result.document["text"] == (
        "gitmem: memory is unavailable (vault-missing): the vault is not where it was; that says nothing about what is"
        " remembered."
    )
    assert TITLE not in result.out
    assert told("recall", TITLE).out == ""


def test_remembered_text_in_a_prompt_is_not_what_the_prompt_is_about(told: Gitmem) -> None:
    page = told("recall", TITLE).out
    assert told("recall", f"{ELSE}\n\n{page}").out == ""
    assert told("recall", f"{page}\n{TITLE}").out == page

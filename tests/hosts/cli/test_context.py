"""``gitmem context`` from the command line, and the page that explains it, whose console sessions are run here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault, open_memory

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

PAGE = Path(__file__).parents[3] / "docs" / "context.md"
# Ids, commits and days differ from run to run.
VARYING = re.compile(r"\b(?=[0-9a-z]*\d)[0-9a-z]{12}\b|\b\d{4}-\d{2}-\d{2}\b")


@pytest.fixture
def harbour(gitmem: Gitmem, person: Actor, agent: Actor) -> Gitmem:
    """gitmem in a project with a vault of its own, and something in both vaults."""
    home, project = gitmem.environment.home, gitmem.environment.folder
    make_vault(home, NewVault(Scope.WORKSPACE, project=project), person)
    with open_memory(home, project, "global") as memory:
        steps = "Open a pull request instead:\n\n```sh\ngh pr create\n```"
        memory.declare(Draft("Never push to main", steps, Kind.BOUNDARY), person)
        memory.declare(Draft("Answer in English", "Short sentences, please.", Kind.PREFERENCE), person)
    with open_memory(home, project) as memory:
        memory.declare(Draft("Ask before you touch the database", kind=Kind.BOUNDARY), person)
        memory.declare(Draft("Release 2.0 in spring", kind=Kind.GOAL), person)
        wanted = Draft("Run the API tests with two workers", "More than two exhaust the database.", evidence=("run:1",))
        memory.promote(memory.observe(wanted, agent).records[0].id, person)
    return gitmem


def iter_sessions() -> Iterator[tuple[str, str]]:
    """Yield each command of the page's console blocks with what it prints."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _newline, output = session.partition("\n")
            yield command, output


@pytest.mark.parametrize(("command", "output"), list(iter_sessions()), ids=lambda value: value.partition("\n")[0][:40])
def test_the_page_shows_what_is_printed(harbour: Gitmem, command: str, output: str) -> None:
    result = harbour(*shlex.split(command)[1:])
    assert VARYING.sub("*", result.out + result.err) == VARYING.sub("*", output)


def test_it_is_bounded_and_its_document_holds_the_text(harbour: Gitmem) -> None:
    document = harbour("context", "--json", "--max-chars", "900").document
    assert document["status"] == "ok"
    assert len(document["text"]) <= 900
    assert document["max_chars"] == 900
    assert document["omitted"] == 5 - len(document["results"])
    assert document["held_back"] == {"out_of_date": 0, "superseded": 0, "uncommitted": 0, "unreadable": 0}
    assert [(row["scope"], row["part"]) for row in document["results"][:2]] == [
        ("global", "boundary"),
        ("workspace", "boundary"),
    ]
    assert harbour("context", "--max-chars", "900").out == document["text"] + "\n"


def test_boundaries_without_room_end_with_an_error(harbour: Gitmem) -> None:
    result = harbour("context", "--max-chars", "10", "--json")
    assert result.code == 6
    assert result.document["status"] == "unavailable"
    assert result.document["results"] == []
    assert result.document["text"].startswith("gitmem: memory is unavailable (boundaries-do-not-fit): ")
    assert "--max-chars" in result.document["hint"]
    assert harbour("context", "--max-chars", "0").code == 2


def test_nothing_yet_is_said_beside_the_result(gitmem: Gitmem) -> None:
    result = gitmem("context")
    assert (result.code, result.out) == (1, "")
    assert result.err == "nothing has been declared or promoted yet\n"
    assert gitmem("context", "--json").document["text"] == ""


def test_a_vault_that_is_missing_is_not_an_empty_one(harbour: Gitmem) -> None:
    harbour.repo.rename(harbour.repo.with_name("elsewhere"))
    result = harbour("context")
    assert result.code == 0
    assert result.out.startswith("gitmem: memory is degraded: ")
    assert "the global vault can't be read (vault-missing)" in result.out
    assert "memory degraded" in result.err

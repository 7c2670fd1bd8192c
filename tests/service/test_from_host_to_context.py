"""The whole way, for each host: from what it told a hook to an episode, a candidate, a promoted record and a context.

The recordings are those of ``tests/hosts/payloads``; each is told three times, as three sessions.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from host_payloads import load_payloads

from gitmem.hosts.hooks.payload import find_family, find_seen
from gitmem.model.authority import Actor
from gitmem.model.candidate import Choice
from gitmem.model.record import Draft, Kind, State
from gitmem.model.settings import Scope
from gitmem.service.curate import Wanted
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.vault.inbox import load_inbox
from gitmem.wiring import make_vault, open_memory

from conftest import git

HOSTS = ("claude-code", "codex", "cursor", "dsh", "gemini", "opencode")
SILENT = ("codex",)
"""Hosts that don't tell how a command went."""
LESSON = "The totals need the tax module first"


@pytest.mark.parametrize("host", HOSTS)
def test_a_recorded_stream_becomes_a_reviewed_record_in_the_context(
    host: str, tmp_path: Path, person: Actor, agent: Actor
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    entry, _receipt = make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, project=str(project)), person)
    with open_memory(str(tmp_path / "home"), str(project)) as memory:
        for number in range(3):
            tell(memory, host, project, f"s{number}")
        done = memory.curate(agent, Wanted(every=True))
        assert len(done.receipt.records) == 3
        text = (Path(entry.path) / done.receipt.records[0].path).read_text()
        assert f"source: {host}/s" in text
        assert f"  - host/{host}\n  - tool/python\n  - tool/git\n" in text
        if host in SILENT:
            assert "`python -m unittest` (2 with an unknown end)" in text
            memory.propose(
                Draft("Totals", "From a session.", Kind.FINDING, evidence=("run:python -m unittest",)), agent
            )
        else:
            assert "`python -m unittest` (1 failed, 1 passed, passed last)" in text
        (candidate,) = load_inbox(memory.vault.layout).candidates
        lesson = Draft(LESSON, "Without it the tests fail.", Kind.FINDING, "", candidate.draft.tags, ("run:make",))
        receipt = memory.accept([Choice(candidate.id, to=State.PROMOTED, draft=lesson)], person)
        assert [(ref.id, ref.state) for ref in receipt.records] == [(candidate.id, State.PROMOTED)]
        assert load_inbox(memory.vault.layout).candidates == ()
        assert LESSON in memory.context().extra["text"]
        assert memory.curate(agent).added == ()
        assert memory.check().rows == ()
    assert git(Path(entry.path), "status", "--porcelain") == ""
    assert git(Path(entry.path), "log", "-2", "--format=%s").splitlines()[0].startswith("accept: ")


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_that_was_said_in_a_session_is_in_the_repository(
    host: str, tmp_path: Path, person: Actor, agent: Actor
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    entry, _receipt = make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, project=str(project)), person)
    with open_memory(str(tmp_path / "home"), str(project)) as memory:
        tell(memory, host, project, "s0")
        memory.curate(agent, Wanted(every=True))
    history = git(Path(entry.path), "log", "-p", "--all")
    said = [
        line for one in list_texts(load_payloads(host, project)) for line in one.splitlines() if " " in line.strip()
    ]
    assert said
    assert [line for line in said if line.strip() in history and line.strip() not in KNOWN] == []


KNOWN = ("python -m unittest", "git commit")
"""What may be told: commands of the vocabulary."""


def tell(memory: Memory, host: str, project: Path, session: str) -> None:
    for payload in load_payloads(host, project):
        family = find_family(payload)
        seen = find_seen(payload, family) if family is not None else None
        if seen is not None:
            memory.capture(replace(seen, session=session))


def list_texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inside for text in list_texts(one)]

"""Curating a vault: episodes in one commit, once each whatever crashes, and candidates with their reasons."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from some_sessions import a_session, edit, event

from gitmem.clock import SystemClock
from gitmem.errors import InputError
from gitmem.model.authority import Actor
from gitmem.model.event import Event, EventKind
from gitmem.service.curate import Wanted
from gitmem.service.memory import Memory
from gitmem.service.vault import list_steps
from gitmem.vault.spool import append_event, iter_claimed, iter_spools

from conftest import Desk

STEPS = [step for step in list_steps() if not step.startswith("maintain")]


class Noon(SystemClock):
    """A day after the sessions, at noon."""

    def now(self) -> datetime.datetime:
        return datetime.datetime(2026, 11, 3, 12, 0, tzinfo=datetime.UTC)


@pytest.fixture
def memory(desk: Desk) -> Iterator[Memory]:
    with desk.open() as opened:
        opened.vault.clock = Noon()
        yield opened


def see(memory: Memory, events: Sequence[Event]) -> None:
    for one in events:
        assert append_event(memory.vault.layout, one)


def read_all(desk: Desk) -> dict[Path, bytes]:
    """Return every file of the home and the vault but the search catalog, which any read brings in step."""
    files = [path for root in (Path(desk.home), desk.repo) for path in root.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in files if not path.name.startswith("catalog.sqlite")}


def read_episode(desk: Desk, number: int = 0) -> str:
    found = sorted(desk.repo.glob("observations/2026-11/session-*.md"))
    return found[number].read_text()


def test_a_session_that_is_over_becomes_one_record_and_leaves(desk: Desk, memory: Memory, agent: Actor) -> None:
    see(memory, a_session())
    done = memory.curate(agent)
    (ref,) = done.receipt.records
    assert (
        ref.path
        == f"observations/2026-11/session-2026-11-02-14-00-with-claude-code-src-cache-py-pytest-{ref.id[:6]}.md"
    )
    assert read_episode(desk) == (
        "---\n"
        f"gitmem_id: {ref.id}\n"
        'title: "Session 2026-11-02 14:00 with claude-code: src/cache.py, pytest"\n'
        "kind: episode\n"
        "summary: 42 minutes with claude-code, 1 file touched in src/cache.py, pytest passed last\n"
        "authority: workspace_evidence\n"
        "tags:\n"
        "  - host/claude-code\n"
        "  - tool/pytest\n"
        "created: 2026-11-02T14:42:00Z\n"
        "updated: 2026-11-02T14:42:00Z\n"
        "source: claude-code/s1\n"
        "---\n"
        "\n"
        "- from 2026-11-02 14:00 to 2026-11-02 14:42 UTC, 42 minutes, with claude-code\n"
        "- 1 prompt, 4 uses of tools (Bash 2, Edit 1, Read 1)\n"
        "- touched 1 file: in `src` `cache.py`; only read 1 file\n"
        "- ran `pytest` (1 failed, 1 passed, passed last)\n"
    )
    assert desk.commits()[0] == "curate: Session 2026-11-02 14:00 with claude-code: src/cache.py, pytest"
    assert "Gitmem-Rule: curate\n" in desk.git("log", "-1", "--format=%B")
    assert list(iter_spools(memory.vault.layout)) == list(iter_claimed(memory.vault.layout)) == []
    assert memory.curate(agent).receipt.changed is False
    desk.judge()


def test_many_sessions_are_one_commit(desk: Desk, memory: Memory, agent: Actor) -> None:
    for number in range(12):
        see(memory, a_session(f"s{number}", number * 60))
    before = len(desk.commits())
    done = memory.curate(agent)
    assert len(done.receipt.records) == 12
    assert len(desk.commits()) == before + 1
    desk.judge()


def test_a_session_that_goes_on_waits_unless_it_is_asked_for(desk: Desk, memory: Memory, agent: Actor) -> None:
    see(memory, a_session("over"))
    see(memory, [replace(one, time="2026-11-03T11:45:00Z") for one in a_session("busy")[:-1]])
    see(memory, [replace(one, time="2026-11-03T11:29:00Z") for one in a_session("quiet")[:-1]])
    done = memory.curate(agent)
    assert [(one.session, one.why) for one in done.waiting] == [("busy", "it goes on")]
    assert sorted(one.session.session for one in done.episodes) == ["over", "quiet"]
    assert [one.session.session for one in memory.curate(agent, Wanted(every=True)).episodes] == ["busy"]
    with pytest.raises(InputError) as caught:
        memory.curate(agent, Wanted(sessions=("nobody",)))
    assert caught.value.code == "no-such-session"


def test_a_session_is_asked_for_by_name(memory: Memory, agent: Actor) -> None:
    see(memory, a_session("one")[:-1])
    see(memory, a_session("two"))
    done = memory.curate(agent, Wanted(sessions=("one",)))
    assert [one.session.session for one in done.episodes] == ["one"]
    assert [(one.session, one.why) for one in done.waiting] == [("two", "it was not asked for")]


def test_what_comes_later_is_a_second_part_that_is_linked(desk: Desk, memory: Memory, agent: Actor) -> None:
    see(memory, a_session())
    (first,) = memory.curate(agent).receipt.records
    see(memory, a_session("s1", 120))
    (second,) = memory.curate(agent).receipt.records
    text = (desk.repo / second.path).read_text()
    stem = Path(first.path).stem
    assert f"\n- continues [[{stem}]]\n" in text
    assert "with claude-code, part 2: src/cache.py, pytest" in text
    assert [row["hit"].record.id for row in memory.links(second.id).rows if "hit" in row] or stem in text
    assert memory.check().rows == ()
    see(memory, a_session("s1", 240))
    (third,) = memory.curate(agent).receipt.records
    assert f"continues [[{Path(second.path).stem}]]" in (desk.repo / third.path).read_text()


def test_a_session_without_any_use_of_tools_makes_none(desk: Desk, memory: Memory, agent: Actor) -> None:
    see(memory, [event(0, EventKind.SESSION_START), event(1, EventKind.PROMPT), event(2, EventKind.SESSION_END)])
    done = memory.curate(agent)
    assert (done.receipt.changed, [one.record for one in done.episodes]) == (False, [None])
    assert list(iter_spools(memory.vault.layout)) == []


def test_a_dry_run_writes_nothing_at_all(desk: Desk, memory: Memory, agent: Actor) -> None:
    for number in range(3):
        see(memory, a_session(f"s{number}", number * 60))
    memory.check()
    before = read_all(desk)
    done = memory.curate(agent, dry_run=True)
    assert len(done.episodes) == 3
    assert [(one.candidate.draft.title, one.outcome) for one in done.added] == [
        ("pytest fails at first and passes later", "found")
    ]
    assert read_all(desk) == before


def test_torn_lines_cost_only_themselves(desk: Desk, memory: Memory, agent: Actor) -> None:
    see(memory, a_session())
    (file,) = desk.runtime.glob("events/*.jsonl")
    data = file.read_bytes()
    file.write_bytes(b'{"time": "20\n' + data[: len(data) // 2] + b"\n\n\0\xff\n" + data[len(data) // 2 :] + b'{"torn')
    done = memory.curate(agent)
    assert done.receipt.changed
    assert "lines of it can't be read" in done.episodes[0].notices[0]
    assert list(iter_spools(memory.vault.layout)) == []


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_gives_each_episode_once(desk: Desk, agent: Actor, step: str) -> None:
    def fail(at: str) -> None:
        if at == step:
            raise KeyboardInterrupt

    with desk.open(probe=fail) as memory:
        memory.vault.clock = Noon()
        see(memory, a_session())
        see(memory, a_session("s2", 60))
        with contextlib.suppress(KeyboardInterrupt):
            memory.curate(agent)
    finish(desk, agent)


@pytest.mark.parametrize("place", ["claim_due", "_remember", "save_curated", "drop_claimed", "_propose"])
def test_a_crash_between_the_steps_of_curating_gives_each_episode_once(
    desk: Desk, agent: Actor, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with desk.open() as memory:
        memory.vault.clock = Noon()
        see(memory, a_session())
        see(memory, a_session("s2", 60))
        with monkeypatch.context() as patch:
            patch.setattr(f"gitmem.service.curate.{place}", fail)
            with pytest.raises(KeyboardInterrupt):
                memory.curate(agent)
        if place != "claim_due":  # else it belongs to the same part
            see(memory, [edit(200, "later.py")])
    finish(desk, agent, later=place != "claim_due")


def finish(desk: Desk, agent: Actor, *, later: bool = False) -> None:
    """Curate again after a crash, and see that each of two sessions has one episode, and nothing is left."""
    with desk.open() as memory:
        memory.vault.clock = Noon()
        memory.curate(agent)
        memory.curate(agent)  # what came after the crash waits until what was set aside is done
        assert list(iter_claimed(memory.vault.layout)) == list(iter_spools(memory.vault.layout)) == []
    texts = [path.read_text() for path in desk.repo.glob("observations/2026-11/session-*.md")]
    assert sorted(line for text in texts for line in text.splitlines() if line.startswith("- from ")) == [
        "- from 2026-11-02 14:00 to 2026-11-02 14:42 UTC, 42 minutes, with claude-code",
        "- from 2026-11-02 15:00 to 2026-11-02 15:42 UTC, 42 minutes, with claude-code",
        *(["- from 2026-11-02 17:20 to 2026-11-02 17:20 UTC, less than a minute, with claude-code"] if later else []),
    ]
    assert sum("- continues [[session-2026-11-02-14-00-" in text for text in texts) == later
    desk.judge()

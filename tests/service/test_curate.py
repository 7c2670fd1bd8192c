"""Curating a vault: episodes in one commit, once each whatever crashes, and candidates with their reasons."""

from __future__ import annotations

import contextlib
import datetime
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from some_sessions import a_session, edit, event

from gitmem.clock import SystemClock
from gitmem.errors import InputError
from gitmem.model.authority import Actor
from gitmem.model.candidate import Wants
from gitmem.model.event import Event, EventKind
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope
from gitmem.service.curate import Wanted
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.vault import list_steps
from gitmem.vault.inbox import load_inbox
from gitmem.vault.schema import validate
from gitmem.vault.spool import append_event, iter_claimed, iter_spools
from gitmem.wiring import make_vault, open_memory

from conftest import Desk, draft, git

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


def list_added(memory: Memory, agent: Actor) -> list[tuple[str, str, str]]:
    return [(one.candidate.wants.value, one.outcome, one.candidate.why[0]) for one in memory.curate(agent).added]


def test_what_repeats_is_proposed_once_and_gains_with_each_session(memory: Memory, agent: Actor) -> None:
    for number in range(3):
        see(memory, a_session(f"s{number}", number * 60))
    assert list_added(memory, agent) == [
        ("record", "new", "`pytest` failed and then passed in 3 of the 3 sessions that ran it")
    ]
    (first,) = load_inbox(memory.vault.layout).candidates
    assert (first.seen, first.actor, first.surface.value) == (3, "curator", "model")
    assert list_added(memory, agent) == []
    see(memory, a_session("s3", 180))
    assert [outcome for _wants, outcome, _why in list_added(memory, agent)] == ["merged"]
    (second,) = load_inbox(memory.vault.layout).candidates
    assert (second.id, second.seen, second.sources[-1]) == (first.id, 4, "claude-code/s3")
    assert second.worth > first.worth


def test_what_was_rejected_is_not_proposed_again(memory: Memory, agent: Actor, person: Actor) -> None:
    for number in range(3):
        see(memory, a_session(f"s{number}", number * 60))
    memory.curate(agent)
    (one,) = load_inbox(memory.vault.layout).candidates
    memory.reject([one.id], "it is the fixture", person)
    see(memory, a_session("s3", 180))
    assert list_added(memory, agent) == []
    assert load_inbox(memory.vault.layout).candidates == ()


def test_records_that_say_the_same_or_are_over_give_candidates(desk: Desk, memory: Memory, agent: Actor) -> None:
    same = "The booking tests starve the database with more than two workers at once."
    for number in range(3):
        wanted = Draft("Two workers", same, Kind.FACT, evidence=("run:1",))
        memory.observe(wanted, agent_of(agent, number))
    over = memory.observe(draft("Frozen until the release", "Merge nothing before."), agent).records[0]
    path = desk.repo / over.path
    path.write_text(path.read_text().replace("source:", "valid_until: 2026-11-01\nsource:"))
    wants = sorted((wants, why) for wants, outcome, why in list_added(memory, agent) if outcome == "new")
    assert wants == [
        ("merge", "3 records say nearly the same"),
        *[("promote", "seen in 3 sessions: cli/s0, cli/s1, cli/s2")] * 3,
        ("retire", "out of date since 2026-11-01"),
    ]
    assert list_added(memory, agent) == []


def agent_of(agent: Actor, number: int) -> Actor:
    return replace(agent, session=f"s{number}")


def test_evidence_that_is_gone_from_the_project(tmp_path: Path, person: Actor, agent: Actor) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "here.py").write_text("x")
    git(project, "init", "-q")
    make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, project=str(project)), person)
    with open_memory(str(tmp_path / "home"), str(project)) as memory:
        memory.observe(Draft("Stays", "One.", evidence=("file:src/here.py#L1",)), agent)
        gone = memory.observe(Draft("Goes", "Other.", evidence=("file:src/gone.py",)), agent).records[0]
        (added,) = memory.curate(agent).added
    assert (added.candidate.wants, added.candidate.targets) == (Wants.RETIRE, (gone.id,))
    assert added.candidate.reason == "the files it was seen in are gone from the project: src/gone.py"


def test_a_record_that_is_seen_again_and_again_is_to_be_promoted(memory: Memory, agent: Actor) -> None:
    memory.observe(draft(), agent)
    for number in range(2):
        told = memory.propose(draft(), agent_of(agent, 10 + number))
        assert told.outcome.value == "known"
    assert list_added(memory, agent) == [("promote", "new", "seen in 3 sessions: cli/s1, cli/s10, cli/s11")]


def test_a_name_of_a_file_that_looks_like_a_secret_costs_the_names_alone(
    desk: Desk, memory: Memory, agent: Actor
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    see(memory, a_session(paths=(f"src/{secret}.txt",)))
    (episode,) = memory.curate(agent).episodes
    assert episode.notices == ("names of files are withheld, since one looks like a secret",)
    text = read_episode(desk)
    assert "- touched 1 file; their names are withheld; only read 1 file\n" in text
    assert secret not in text + desk.git("log", "--format=%B")


def test_two_who_curate_at_once(desk: Desk, agent: Actor) -> None:
    for number in range(4):
        with desk.open() as memory:
            memory.vault.clock = Noon()
            see(memory, a_session(f"s{number}", number * 60))
    command = [sys.executable, "-m", "gitmem", "--vault", str(desk.repo), "curate", "--all"]
    env = {"GITMEM_HOME": desk.home, "PATH": "/usr/bin:/bin", "HOME": desk.home}
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    said = [one.communicate() for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], said
    assert len(list(desk.repo.glob("observations/2026-11/session-*.md"))) == 4
    desk.judge()


def test_what_was_remembered_and_is_damaged_is_said(desk: Desk, memory: Memory, agent: Actor) -> None:
    (desk.runtime / "curated.json").write_text('{"sessions": "all"}')
    see(memory, a_session())
    done = memory.curate(agent)
    assert done.receipt.changed
    assert done.problems == ("what was curated before can't be read; what repeats is counted anew",)
    validate("curated", json.loads((desk.runtime / "curated.json").read_text()))
    assert (desk.runtime / "curated.json").stat().st_mode & 0o777 == 0o600


def test_a_candidate_with_nothing_left_to_do_is_put_away(memory: Memory, agent: Actor, person: Actor) -> None:
    same = "The booking tests starve the database with more than two workers at once."
    made = [
        memory.observe(Draft("Two workers", same, Kind.FACT, evidence=("run:1",)), agent_of(agent, number))
        .records[0]
        .id
        for number in range(2)
    ]
    assert [wants for wants, _outcome, _why in list_added(memory, agent)] == ["merge"]
    memory.retire(made[1], "twice", person)
    done = memory.curate(agent)
    assert [one.wants for one in done.expired] == [Wants.MERGE]
    assert load_inbox(memory.vault.layout).candidates == ()
    memory.restore(made[1], person)
    assert list_added(memory, agent) == []


@pytest.mark.parametrize("step", ["curate-claimed", "commit", "receipt", "curate-remember", "curate-drop:2"])
def test_a_process_that_is_killed_gives_each_episode_once(desk: Desk, agent: Actor, step: str) -> None:
    with desk.open() as memory:
        see(memory, a_session())
        see(memory, a_session("s2", 60))
    command = [sys.executable, "-m", "gitmem", "--vault", str(desk.repo), "curate"]
    env = {"GITMEM_HOME": desk.home, "PATH": "/usr/bin:/bin", "HOME": desk.home, "GITMEM_FAILPOINT": step}
    assert subprocess.run(command, env=env, capture_output=True, check=False).returncode == -9
    finish(desk, agent)

"""Sample vaults for the pages whose examples are run. Each function returns how a page writes the ids, by the id."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from host_payloads import load_payloads
from some_sessions import a_session, event, run

from gitmem.clock import SystemClock, format_utc
from gitmem.hosts.hooks.payload import find_family, find_seen
from gitmem.model.authority import Actor, Surface
from gitmem.model.event import Event, EventKind, Odd
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope, VaultEntry
from gitmem.model.task_report import TaskReport
from gitmem.service.init import NewVault
from gitmem.vault.layout import VaultLayout
from gitmem.vault.spool import append_event
from gitmem.wiring import make_vault, open_memory

from conftest import git

if TYPE_CHECKING:
    from hosts.driving import Gitmem

Ids = dict[str, str]
_PERSON = Actor(Surface.HUMAN, "Pat", "pat@example.com")
_AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid")

NOTES = {
    "promoted/cache.md": """---
gitmem_id: m7k2q9x4c0d1
title: Cache lifetime
kind: fact
summary: Answers are kept for five minutes.
tags:
  - tool/redis
  - client/acme
created: 2026-10-05T08:00:00Z
updated: 2026-11-02T08:00:00Z
valid_until: 2026-05-01
source: claude/s1
---

Five minutes.
""",
    "promoted/workers.md": """---
gitmem_id: m7k2q9x4c0d2
title: Run tests with two workers
kind: procedure
summary: More of them starve the database.
tags:
  - tool/pytest
  - tool/pytest/xdist
review_after: 2026-01-01
created: 2026-11-02T09:00:00Z
---

Two workers.
""",
    "observations/2026-11/upgrade.md": """---
gitmem_id: m7k2q9x4c0d3
title: The upgrade of the database
kind: episode
tags:
  - client/acme
created: 2026-11-02T10:30:00Z
source: claude/s1
---
""",
    "promoted/undated.md": "---\ngitmem_id: m7k2q9x4c0d4\ntitle: Undated\n---\n",
}
"""Four notes with dates, by path."""


def make_search_sample(gitmem: Gitmem) -> Ids:
    """A team's memory of a boat booking service: six facts, an episode, a record that is retired, a note of Pat's."""
    made = {
        "w0rkers00001": gitmem.observe(
            "Run the tests with two workers",
            *("--body", "More than two workers starve the database and `test_booking` fails at random."),
            *("--tag", "tool/pytest", "--key", "test-workers"),
        ),
        "cache0000002": gitmem.observe(
            "How long availability is cached",
            *("--body", "Redis keeps it for five minutes. `parse_availability` in src/booking/cache.py sets the time."),
            *("--tag", "tool/redis", "--kind", "decision", "--key", "cache-ttl"),
        ),
        "retry0000003": gitmem.observe(
            "A failed payment is retried three times",
            *("--body", "Then the booking is released; the provider answers ERR_2041."),
            *("--tag", "domain/payment"),
        ),
        "share0000004": gitmem.observe(
            "Clean the share by name", "--body", "Never run rm -rf on the share: use find . -name '*.tmp'."
        ),
        "refund000005": gitmem.observe("退款手续费", "--body", "出发前两天以内的退款收取百分之十的手续费。"),
        "mem0ry000006": gitmem.observe("Sessions live in memory", "--body", "A restart of the server ends them all."),
        "episode00007": gitmem.observe(
            "Moved the cache to Redis", "--kind", "episode", "--body", "It took two workers an afternoon."
        ),
    }
    old = gitmem.observe("Availability is cached for an hour")
    gitmem("retire", old, "--reason", "five minutes now", "--superseded-by", made["cache0000002"])
    (gitmem.repo / "promoted" / "Standup.md").write_text("Pat looks after the cache this week.\n")
    return {**{real: shown for shown, real in made.items()}, old: "0ldcache0008"}


def make_dated_sample(gitmem: Gitmem) -> Ids:
    """``NOTES``, and before the last commit, made by hand, two of them as they were then."""
    _write(gitmem.repo, NOTES)
    cache = gitmem.repo / "promoted" / "cache.md"
    workers = gitmem.repo / "promoted" / "workers.md"
    now = cache.read_text()
    cache.write_text(now.replace("Five minutes.", "Ten minutes.").replace("tool/redis", "tool/valkey"))
    workers.rename(gitmem.repo / "observations" / "workers.md")
    commit(gitmem, "notes")
    cache.write_text(now)
    (gitmem.repo / "observations" / "workers.md").rename(workers)
    commit(gitmem, "by hand")
    return {}


def make_context_sample(gitmem: Gitmem) -> Ids:
    """A project with a vault of its own: two boundaries, a preference, a goal and a fact that was reviewed."""
    home, project = gitmem.environment.home, gitmem.environment.folder
    make_vault(home, NewVault(Scope.WORKSPACE, project=project), _PERSON)
    ids = {}
    with open_memory(home, project, "global") as memory:
        steps = "Open a pull request instead:\n\n```sh\ngh pr create\n```"
        ids["q3269vf2pyh1"] = memory.declare(Draft("Never push to main", steps, Kind.BOUNDARY), _PERSON)
        wanted = Draft("Answer in English", "Short sentences, please.", Kind.PREFERENCE)
        ids["gwy7ev3mdak0"] = memory.declare(wanted, _PERSON)
    with open_memory(home, project) as memory:
        ids["m7k2q9x4c0de"] = memory.declare(Draft("Ask before you touch the database", kind=Kind.BOUNDARY), _PERSON)
        ids["4gbmek6bfx18"] = memory.declare(Draft("Release 2.0 in spring", kind=Kind.GOAL), _PERSON)
        wanted = Draft("Run the API tests with two workers", "More than two exhaust the database.", evidence=("run:1",))
        seen = memory.observe(wanted, _AGENT).records[0].id
        ids["d1xtgkar8dnv"] = memory.promote(seen, _PERSON)
    return {receipt.records[0].id: shown for shown, receipt in ids.items()}


def make_agents_sample(gitmem: Gitmem) -> Ids:
    """A project with a boundary, a convention and a procedure that were reviewed, and a convention that was not."""
    home, project = gitmem.environment.home, gitmem.environment.folder
    make_vault(home, NewVault(Scope.WORKSPACE, project=project), _PERSON)
    drafts = {
        "d1xtgkar8dnv": Draft("Commits name the ticket", "`ABC-123: text`, in the first line.", Kind.CONVENTION),
        "gwy7ev3mdak0": Draft(
            "Run the API tests with two workers", "More than two exhaust the database.", Kind.PROCEDURE
        ),
    }
    ids = {}
    with open_memory(home, project) as memory:
        wanted = Draft("Ask before you touch the database", kind=Kind.BOUNDARY)
        ids[memory.declare(wanted, _PERSON).records[0].id] = "m7k2q9x4c0de"
        for shown, one in drafts.items():
            seen = memory.observe(replace(one, evidence=("run:1",)), _AGENT).records[0].id
            ids[memory.promote(seen, _PERSON).records[0].id] = shown
        memory.observe(Draft("Tabs", kind=Kind.CONVENTION, evidence=("run:1",)), _AGENT)
    return ids


def make_coordination_sample(gitmem: Gitmem) -> Ids:
    """A project with a session that was curated, one that has ended, one that goes on, and a task report."""
    home, project = gitmem.environment.home, gitmem.environment.folder
    make_vault(home, NewVault(Scope.WORKSPACE, project=project), _PERSON)
    with open_memory(home, project) as memory:
        layout = memory.vault.layout
        for one in a_session("first"):
            append_event(layout, one)
        memory.curate(_AGENT)
        for one in a_session("second", 60):
            append_event(layout, one)
        now = SystemClock().now()
        for minutes, kind in ((20, EventKind.PROMPT), (10, EventKind.STOP)):
            time = format_utc(now - timedelta(minutes=minutes))
            append_event(layout, Event(time, "third", kind, "codex"))
        report = TaskReport(
            "An index on boats.harbour: 40 ms instead of 900.",
            ("commit:1a2b3c4d",),
            ("make test passes",),
            "Not measured with more than 10,000 boats.",
            "Do the same for bookings.",
        )
        return {memory.report("Speed up the search", report, _AGENT).records[0].id: "m7k2q9x4c0de"}


def make_capture_sample(gitmem: Gitmem) -> Ids:
    """A project under Git, the session that was recorded with Claude Code in it, and one odd payload."""
    project = gitmem.environment.folder
    git(Path(project), "init", "-q")
    with open_memory(gitmem.environment.home, project) as memory:
        for payload in load_payloads("claude-code", project):
            family = find_family(payload)
            assert family is not None
            seen = find_seen(payload, family)
            if seen is not None:
                memory.capture(replace(seen, session="5f0c2a7e"))
        memory.count_odd(Odd.UNKNOWN)
    return {}


def make_inbox_sample(gitmem: Gitmem) -> Ids:
    """An inbox with a fact that two sessions proposed, one that contradicts a record, a boundary; one was rejected."""
    record = gitmem.observe("Answers are cached for 30 seconds", "--body", "The bench says so.", "--key", "cache-ttl")
    ids = {record: "cache0000001"}

    def propose(shown: str, title: str, body: str, *options: str, session: str = "s1") -> None:
        said = gitmem.at(host="codex", session=session)("propose", title, "--body", body, *options, "--json")
        ids[said.document["candidates"][0]["id"]] = shown

    tags = ("--tag", "tool/pytest")
    propose("w0rkers00002", "Run the tests with two workers", "More exhaust the database.", *tags)
    seen = ("--evidence", "run:ci-4812")
    propose("w0rkers00002", "Run tests with 2 workers", "More exhaust the database.", *seen, session="s2")
    propose("cache0000003", "Answers are cached for 90 seconds", "The bench says so.")
    propose("push00000004", "Never push to main", "Open a pull request.", "--kind", "boundary")
    propose("node00000005", "The build takes Node 20", "The lock file says so.")
    with open_memory(gitmem.environment.home, gitmem.environment.folder) as memory:
        real = {shown: one for one, shown in ids.items()}
        memory.reject([real["node00000005"]], "it takes Node 24 since October", _PERSON)
    return ids


def make_curate_sample(gitmem: Gitmem) -> Ids:
    """Three sessions of a host that are over, and one of the page's programs in the working folder."""
    entry = find_entry(gitmem)
    for number, name in enumerate(("5f2c71d0", "5f2c71d1", "5f2c71d2")):
        for one in a_session(name, number * 24 * 60)[: -1 if number == 2 else None]:
            append_event(VaultLayout(entry.path, entry.runtime), one)
    for one in (run(2 * 24 * 60 + 20, "make lint", 2, name), event(2 * 24 * 60 + 42, EventKind.SESSION_END, name)):
        append_event(VaultLayout(entry.path, entry.runtime), one)
    page = (Path(__file__).parents[1] / "docs" / "curate.md").read_text()
    program = page.split("```python\n", 1)[1].split("```", 1)[0]
    Path(gitmem.environment.folder, "tidy.py").write_text(program)
    found = gitmem("curate", "--dry-run", "--json").json
    shown = ("ep1sode00001", "ep1sode00002", "ep1sode00003", "cand1date001")
    real = [one["id"] for one in (*found["episodes"], *found["candidates"])]
    return dict(zip(real, shown, strict=True))


def find_entry(gitmem: Gitmem) -> VaultEntry:
    """Return the vault that the command line means."""
    with open_memory(gitmem.environment.home, gitmem.environment.folder) as memory:
        return memory.vault.entry


def make_policy_sample(gitmem: Gitmem) -> Ids:
    """A project with a vault of its own, a policy that Pat set, and an observation of an agent."""
    home, project = gitmem.environment.home, gitmem.environment.folder
    make_vault(home, NewVault(Scope.WORKSPACE, project=project), _PERSON)
    with open_memory(home, project) as memory:
        memory.set_policy(POLICY.encode(), _PERSON)
        wanted = Draft("Run the API tests with two workers", "More of them exhaust the database.", Kind.FACT)
        seen = memory.observe(replace(wanted, tags=("tool/pytest",), evidence=("run:make test",)), _AGENT)
    Path(project, "draft.yaml").write_text("bounds:\n  body_char: 500\n")
    return {seen.records[0].id: "d1xtgkar8dnv"}


POLICY = """\
# What our agents may do in this project.
model_may: [propose, observe, curate, edit, retire, restore, undo]
namespaces: [tool, domain]
bounds:
  observations_per_day: 40
promote:
  - id: shown-by-a-run
    kinds: [fact, finding]
    tags: [tool]
    evidence: [run]
"""
"""The policy of ``make_policy_sample``; the page shows it."""


def write_notes(gitmem: Gitmem) -> None:
    """Write ``NOTES`` and commit them by hand."""
    _write(gitmem.repo, NOTES)
    commit(gitmem, "notes")


def commit(gitmem: Gitmem, message: str) -> None:
    """Commit all that lies in the vault, as somebody else with Git would."""
    gitmem.git("add", "-A")
    gitmem.git("-c", "user.name=Pat", "-c", "user.email=pat@example.com", "commit", "-qm", message)


def _write(repo: Path, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        file = repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

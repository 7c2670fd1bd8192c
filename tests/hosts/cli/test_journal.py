"""``gitmem journal``, and what status says of events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.model.event import Odd
from gitmem.vault import spool
from gitmem.vault.layout import VaultLayout
from gitmem.vault.tally import add_to_tally

from conftest import git

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"


@pytest.fixture
def project(gitmem: Gitmem) -> Gitmem:
    """gitmem in a project under Git, with the global vault."""
    git(Path(gitmem.environment.folder), "init", "-q")
    return gitmem


def layout_of(gitmem: Gitmem) -> VaultLayout:
    return VaultLayout(str(gitmem.repo), str(gitmem.repo.parent / "runtime"))


def test_events_are_added_listed_and_counted(project: Gitmem) -> None:
    nothing = project("journal", "list")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "no events wait\n")
    assert "events " not in project("status").out
    add = ("journal", "add", "--session", "s42")
    assert project(*add, "--event", "session-start").out == "kept: session-start in session s42\n"
    ran = project(
        *add, "--event", "tool", "--command", "npm test -- x", "--exit-code", "1", "--duration-ms", "51", "--json"
    )
    [row] = ran.document["results"]
    head = project.git("rev-parse", "HEAD")
    assert ran.document == {"status": "ok", "revision": head, "results": [row], "diagnostics": []}
    time = row.pop("time")
    assert row == {
        "session": "s42",
        "event": "tool",
        "host": "cli",
        "command": "npm test",
        "exit_code": 1,
        "failed": True,
        "duration_ms": 51,
    }
    assert project(*add, "--event", "tool", "--tool", "Edit", "--path", "src/a b.py", "--path", "x").code == 0
    shown = project("journal", "list", "--session", "s4").out.splitlines()
    assert [line[len(time) :] for line in shown] == [
        "  session-start  -",
        "  tool           npm test, failed, exit code 1, 51 ms",
        "  tool           Edit, src/a b.py, x",
    ]
    listed = project("journal", "list", "--json").document
    [session] = listed["results"]
    assert {name: session[name] for name in ("session", "host", "events", "ended", "dropped", "torn")} == {
        "session": "s42",
        "host": "cli",
        "events": 3,
        "ended": False,
        "dropped": 0,
        "torn": 0,
    }
    assert project("journal", "list").out.endswith("  cli  s42  3 events, not ended\n")
    assert project.at(session="s43")("journal", "add", "--event", "session-end").code == 0
    add_to_tally(layout_of(project), Odd.UNKNOWN, 2)
    add_to_tally(layout_of(project), Odd.TOO_LARGE)
    (Path(layout_of(project).events) / f"{'0' * 32}.jsonl").write_bytes(b"")  # as a full disk leaves it
    status = project("status")
    assert "\nevents    4 events of 2 sessions wait to be curated, 1 not kept, 2 not understood\n" in status.out + "\n"
    assert project("status", "--json").document["journal"] == {
        "sessions": 2,
        "events": 4,
        "dropped": 0,
        "unknown": 2,
        "unreadable": 0,
        "too-large": 1,
        "failed": 0,
        "sessions-dropped": 0,
        "events-dropped": 0,
    }
    assert project.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--command", "secret-tool x"], "the command is none that gitmem knows, and so would not be kept"),
        (
            ["--command", "pytest | tail", "--exit-code", "0"],
            "the exit code of that line does not tell how its command went",
        ),
        (["--path", "../x"], "a path lies outside the project, or can't be shown"),
        (["--path", "a\x1b[31m"], "a path lies outside the project, or can't be shown"),
        (["--tool", "rm -rf"], "the tool's name has a form that is not kept"),
        (["--session", "a b"], "the session's name has a form that is not kept"),
    ],
)
def test_what_could_not_be_kept_is_refused(options: list[str], message: str, project: Gitmem) -> None:
    refused = project("journal", "add", "--event", "tool", *options)
    assert (refused.code, refused.out, refused.err.splitlines()[0]) == (3, "", f"error: {message}")
    assert project("journal", "add", "--event", "tool", *options, "--json").document["error"]["code"] == "bad-event"
    assert list(spool.iter_spools(layout_of(project))) == []


@pytest.mark.parametrize("option", ["--tool", "--session", "--path"])
def test_a_secret_is_refused_and_not_left_out_in_silence(option: str, project: Gitmem) -> None:
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ456789"
    refused = project("journal", "add", "--event", "tool", option, token)
    assert (refused.code, refused.out) == (5, "")
    assert "looks like a secret (github-token)" in refused.err
    assert token not in refused.err
    assert list(spool.iter_spools(layout_of(project))) == []


def test_usage_bounds_and_names_that_mean_several(project: Gitmem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project("journal", "add", "--event", "unknown").code == 2
    assert project("journal", "add").code == 2
    assert project("journal", "add", "--event", "stop", "--duration-ms", "-1").code == 2
    for session in ("s1", "s12"):
        project("journal", "add", "--event", "stop", "--session", session)
    assert project("journal", "list", "--session", "s1").code == 0
    assert project("journal", "list", "--session", "s").code == 3
    missing = project("journal", "list", "--session", "t")
    assert (missing.code, missing.err) == (1, "no events wait of a session t\n")
    monkeypatch.setattr(spool, "MAX_SESSION_BYTES", 120)
    full = project("journal", "add", "--event", "stop", "--session", "s1")
    assert (full.code, full.err.splitlines()[0]) == (
        4,
        "error: no more events are kept of this session; this one was counted",
    )
    assert project("journal", "list", "--session", "s1").out.endswith("\n1 not kept\n")


def test_events_that_can_not_be_read_are_no_empty_journal(project: Gitmem) -> None:
    events = Path(layout_of(project).events)
    events.parent.mkdir(exist_ok=True)
    events.write_text("no folder")
    unreadable = project("journal", "list", "--json")
    assert unreadable.code == 6
    assert [one["code"] for one in unreadable.document["diagnostics"]] == ["spool-unreadable"]
    status = project("status", "--json")
    assert (status.code, status.document["journal"]) == (0, None)
    assert [one["code"] for one in status.document["diagnostics"]] == ["spool-unreadable"]
    assert "\nevents   can't be read\n" in project("status").out + "\n"


def test_the_hook_is_a_verb_too(project: Gitmem) -> None:
    calls = (["hook"], ["hook", "--host", "codex"], ["--vault", "global", "hook"], ["hook", "--vault", "global"])
    for number, args in enumerate(calls):
        payload = b'{"hook_event_name": "Stop", "session_id": "s%d"}' % number
        done = project(*args, stdin=payload)
        assert (done.code, done.out, done.err) == (0, "", "")
    rows = project("journal", "list", "--json").document["results"]
    assert sorted((one["session"], one["host"]) for one in rows) == [
        ("s0", "claude-code"),
        ("s1", "codex"),
        ("s2", "claude-code"),
        ("s3", "claude-code"),
    ]
    assert project("hook", "--host", "nobody").code == 2

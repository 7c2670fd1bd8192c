"""``gitmem journal``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import family, verb
from gitmem.hosts.cli.plain import count
from gitmem.hosts.cli.reading import print_answer, say_answer
from gitmem.model.answer import Answer
from gitmem.model.event import EventKind, Seen
from gitmem.service.journal import TOLD

DEFAULT_SESSION = "by-hand"


@family(
    "journal",
    """
gitmem journal list
gitmem journal list --session 5f0c
gitmem journal add --event tool --command "pytest" --exit-code 1 --session s42
""",
)
def command() -> None:
    """Show the events that wait to be curated, or add one by hand.

    Events are metadata of what hosts saw: times, tools, paths below the project, exit codes. No prompt, output or
    content of a file is in them. Writes nothing into the repository: they lie in the vault's runtime folder.
    """


@verb(
    "add",
    """
gitmem journal add --event session-start --session s42
gitmem journal add --event tool --tool Edit --path src/cache.py --session s42
gitmem journal add --event tool --command "npm test" --exit-code 0 --duration-ms 5100 --session s42
gitmem journal add --event session-end --session s42 --json
""",
)
@click.option("--event", type=click.Choice([kind.value for kind in TOLD]), required=True, help="What happened.")
@click.option("--session", metavar="S", help="In which session; else GITMEM_SESSION, else one of its own for this.")
@click.option("--tool", default="", metavar="T", help="The tool that was used.")
@click.option("--path", "paths", multiple=True, metavar="P", help="A file of the project; may be given several times.")
@click.option("--command", "line", default="", metavar="C", help="The command that ran; known programs alone.")
@click.option("--exit-code", type=int, metavar="N", help="How it ended.")
@click.option("--duration-ms", type=click.IntRange(min=0), metavar="N", help="How long it took.")
@pass_call
def add(
    call: Call,
    *,
    event: str,
    session: str | None,
    tool: str,
    paths: tuple[str, ...],
    line: str,
    exit_code: int | None,
    duration_ms: int | None,
) -> int:
    """Add one event, with the bounds of those that hosts tell.

    Of a command its program and verb are kept, of a path its name below the project. What could not be kept is refused,
    and nothing is written then.
    """
    around = call.environment
    seen = Seen(
        kind=EventKind(event),
        session=session or around.session or DEFAULT_SESSION,
        host=around.host,
        folder=around.folder,
        tool=tool,
        command_line=line,
        paths=paths,
        exit_code=exit_code,
        failed=None if exit_code is None else exit_code != 0,
        duration_ms=duration_ms,
    )
    with call.open_memory() as memory:
        return print_answer(call, memory.journal_add(seen), memory.vault.layout.repo, _format_added)


@verb("list", "gitmem journal list\ngitmem journal list --session 5f0c\ngitmem journal list --json")
@click.option("--session", metavar="S", help="Show the events of this session; the beginning of its name will do.")
@pass_call
def show(call: Call, *, session: str | None) -> int:
    """List the sessions of which events wait, or the events of one."""
    if session is None:
        return say_answer(call, lambda memory: memory.journal_list(), _format_sessions, "no events wait")
    nothing = f"no events wait of a session {safe_line(session)}"
    return say_answer(call, lambda memory: memory.journal_list(session), _format_events, nothing)


def _format_added(answer: Answer) -> str:
    row = answer.rows[0]
    return f"kept: {row['event']} in session {safe_line(row['session'])}"


def _format_sessions(answer: Answer) -> str:
    return "\n".join(align([_session_cells(row) for row in answer.rows]))


def _session_cells(row: dict[str, Any]) -> tuple[str, ...]:
    said = [count(row["events"], "event"), "ended" if row["ended"] else "not ended"]
    said += [f"{row[name]} {words}" for name, words in (("dropped", "not kept"), ("torn", "torn")) if row[name]]
    return row["last"], safe_line(row["host"] or "-"), safe_line(row["session"] or "?"), ", ".join(said)


def _format_events(answer: Answer) -> str:
    lines = align([_event_cells(row) for row in answer.rows])
    left = [f"{answer.extra[name]} {words}" for name, words in (("dropped", "not kept"), ("torn", "torn"))]
    return "\n".join([*lines, *(line for line in left if not line.startswith("0 "))])


def _say_outcome(failed: bool | None) -> str | None:  # noqa: FBT001 - a member of an event
    return None if failed is None else "failed" if failed else "passed"


def _event_cells(row: dict[str, Any]) -> tuple[str, ...]:
    said = [row.get("detail"), row.get("tool"), row.get("command"), _say_outcome(row.get("failed"))]
    said.append(None if row.get("exit_code") is None else f"exit code {row['exit_code']}")
    said.append(None if row.get("duration_ms") is None else f"{row['duration_ms']} ms")
    said += row.get("paths", ())
    said.append(f"{row['outside']} outside" if row.get("outside") else None)
    said.append(f"at {row['commit'][:12]}" if row.get("commit") else None)
    return row["time"], row["event"], ", ".join(safe_line(one) for one in said if one) or "-"


command.add_command(add)
command.add_command(show)

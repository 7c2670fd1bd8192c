"""``gitmem curate``."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import INDENT, align, safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import op_id_option, text
from gitmem.hosts.cli.output import Document, write_document
from gitmem.hosts.cli.plain import MAX_LISTED, count, format_receipt
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.model.ids import OpId
from gitmem.model.outside import MAX_OUTPUT_BYTES, MAX_TIMEOUT_S, Program

if TYPE_CHECKING:
    from gitmem.service.curate import Added, Curation, Wanted

_EFFECT = "episodes of the sessions that are over become records, in one commit; what repeats waits in the inbox"


@verb(
    "curate",
    """
gitmem curate
gitmem curate --dry-run
gitmem curate --session 5f2c71d0 --json
gitmem curate --with "python3 tidy.py" --timeout 30
""",
)
@click.option("--session", "sessions", multiple=True, metavar="ID", type=text, help="Only this session; repeatable.")
@click.option("--all", "every", is_flag=True, help="Sessions that go on, too.")
@click.option(
    "--idle-minutes",
    type=click.IntRange(1),
    metavar="N",
    help="A session that did not end is over after so long without an event (30).",
)
@click.option(
    "--records",
    type=click.IntRange(0, 20_000),
    metavar="N",
    help="How many records to compare with others this time (100); the next time goes on behind them.",
)
@click.option("--with", "command_line", metavar="COMMAND", type=text, help="Let this program propose, too.")
@click.option(
    "--timeout", type=click.FloatRange(0.1, MAX_TIMEOUT_S), default=60.0, metavar="S", help="How long it may take (60)."
)
@click.option(
    "--max-output",
    type=click.IntRange(1, MAX_OUTPUT_BYTES),
    default=256 << 10,
    metavar="BYTES",
    help="How much it may say (262144).",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing and start no program.")
@op_id_option
@pass_call
def command(call: Call, /, op_id: OpId | None, *, dry_run: bool, **values: Any) -> int:
    """Turn what hosts saw into episodes, what repeats into candidates.

    Writes one episode of each session that is over: when it was, how long it took, what was touched, which commands
    failed and passed, which commits were made in the project. All of them are one commit. A command that fails again
    and again, files that are changed together, records that are out of date, say the same or contradict each other
    become candidates with their reasons; nothing else changes before a person accepts it. Old candidates expire.

    --with hands the same to a program as JSON and takes its proposals (schema/curate-input.schema.json and
    curate-output.schema.json); what fails there costs nothing.
    """
    wanted = _make_wanted(call, values)
    with call.open_memory() as memory:
        done = run_confirmed(
            call,
            lambda actor: memory.curate(actor, wanted, dry_run=dry_run, op_id=op_id),
            lambda: Preview("curate", vault_name(memory), _EFFECT),
        )
    call.print_result(_document(done, dry_run=dry_run), _format(done, dry_run=dry_run))
    call.warn("\n".join(f"warning: {safe_line(line)}" for line in _list_warnings(done)))
    return 0


def _make_wanted(call: Call, values: dict[str, Any]) -> Wanted:
    from gitmem.service.consolidation import DEFAULT_LOOK
    from gitmem.service.curate import Wanted
    from gitmem.service.episodes import IDLE_MINUTES

    look = values["records"]
    return Wanted(
        sessions=values["sessions"],
        every=values["every"],
        idle_minutes=values["idle_minutes"] or IDLE_MINUTES,
        look=DEFAULT_LOOK if look is None else look,
        program=_parse_program(call, values),
    )


def _parse_program(call: Call, values: dict[str, Any]) -> Program | None:
    line = values["command_line"]
    if line is None:
        return None
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise click.UsageError(f"--with can't be read as a command: {error}") from None
    if not words:
        raise click.UsageError("--with names no program")
    program = os.path.expanduser(words[0])
    return Program((program, *words[1:]), call.environment.folder, values["timeout"], values["max_output"])


def _document(done: Curation, *, dry_run: bool) -> Document:
    program = done.program
    return write_document(done.receipt) | {
        "dry_run": dry_run,
        "episodes": [
            {
                "session": one.session.session,
                "host": one.session.host,
                "part": one.session.part,
                "id": one.record.id if one.record else None,
                "title": one.record.title if one.record else None,
                "path": one.record.path if one.record else None,
                "was_known": one.is_known,
                "refused": one.refused or None,
                "notices": list(one.notices),
            }
            for one in done.episodes
        ],
        "waiting": [{"session": one.session, "why": one.why} for one in done.waiting],
        "candidates": [
            {
                "id": one.candidate.id,
                "title": one.candidate.draft.title,
                "wants": one.candidate.wants.value,
                "targets": list(one.candidate.targets),
                "why": list(one.candidate.why),
                "outcome": one.outcome,
                "reason": one.reason or None,
            }
            for one in done.added
        ],
        "expired": [{"id": one.id, "title": one.draft.title} for one in done.expired],
        "to_look_at": [{"id": one.id, "title": one.title, "reason": one.reason} for one in done.named],
        "problems": list(done.problems),
        "program": None
        if program is None
        else {
            "name": program.name,
            "problem": program.problem or None,
            "proposals": program.proposals,
            "merges": program.merges,
            "retirements": program.retirements,
        },
    }


def _format(done: Curation, *, dry_run: bool) -> str:
    blocks = [_format_dry(done) if dry_run else format_receipt(done.receipt)]
    quiet = sum(one.record is None and not one.refused for one in done.episodes)
    if quiet:
        blocks.append(f"{count(quiet, 'session')} with nothing to tell")
    if done.added:
        blocks.append("\n".join(["candidates:", *(line for one in done.added for line in _format_added(one))]))
    if done.expired:
        rows = [(str(one.id), safe_line(one.draft.title)) for one in done.expired]
        blocks.append("\n".join(["expired:", *_indent(align(rows))]))
    if done.named:
        rows = [(one.id, f"{safe_line(one.title)}: {safe_line(one.reason)}") for one in done.named]
        blocks.append("\n".join(["declared, for you to look at:", *_indent(align(rows))]))
    if done.waiting:
        rows = [(safe_line(one.session), one.why) for one in done.waiting[:MAX_LISTED]]
        blocks.append("\n".join(["not curated now:", *_indent(align(rows))]))
    return "\n".join(blocks)


def _format_dry(done: Curation) -> str:
    told = [one.record for one in done.episodes if one.record is not None and not one.is_known]
    rows = [(one.id, safe_line(one.title)) for one in told[:MAX_LISTED]]
    return "\n".join([f"curate: {count(len(told), 'episode')} to write; nothing was written", *align(rows)])


def _format_added(one: Added) -> list[str]:
    reason = f" ({safe_line(one.reason)})" if one.reason else ""
    head = f"{INDENT}{one.candidate.id}  {one.outcome}{reason}  {safe_line(one.candidate.draft.title)}"
    return [head, *(f"{INDENT}{INDENT}{safe_line(line)}" for line in one.candidate.why)]


def _list_warnings(done: Curation) -> list[str]:
    said = [*done.problems]
    for one in done.episodes:
        said += [f"session {one.session.session}: {notice}" for notice in one.notices]
        if one.refused:
            said.append(f"session {one.session.session} has no episode: {one.refused}")
    if done.program is not None and done.program.problem:
        said.append(f"nothing was taken from {done.program.name}: {done.program.problem}")
    return said


def _indent(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]

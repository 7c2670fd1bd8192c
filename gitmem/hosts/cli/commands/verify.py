"""``gitmem verify``."""

from __future__ import annotations

import sys
from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text
from gitmem.hosts.cli.plain import count, short
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer
from gitmem.service.memory import Memory

_VERDICTS = {
    "proven": "proven: since the first key, all that only people may change is signed, by keys trusted here",
    "consistent": "consistent, not proven: nothing contradicts itself, and not everything is signed by trusted keys",
    "broken": "broken: {faults} against the rules",
}


@verb("verify", "gitmem verify\ngitmem verify --since 2w\ngitmem --vault ~/notes verify --json")
@click.option("--since", type=text, metavar="REV|DATE", help="Look only at what came after this.")
@pass_call
def command(call: Call, since: str | None) -> int:
    """Prove from history who changed what only people may change.

    Looks at every commit and compares what it does with its trailers and with what was signed; names the first that
    breaks a rule. Writes nothing into the repository; where all of it holds, this machine remembers how far it came.
    Exit code 7 when something is broken.
    """
    return say_answer(call, lambda memory: _verify(call, memory, since), _format)


def _verify(call: Call, memory: Memory, since: str | None) -> Answer:
    if call.as_json or not sys.stderr.isatty():
        return memory.verify(since)

    width = 0

    def progress(done: int) -> None:
        nonlocal width
        said = f"looked at {done} commits"
        width = len(said)
        click.echo(f"\r{said}", nl=False, err=True)

    answer = memory.verify(since, progress)
    if width:
        click.echo(f"\r{' ' * width}\r", nl=False, err=True)
    return answer


def _format(answer: Answer) -> str:
    extra = answer.extra
    lines = [line for row in answer.rows for line in _describe(row)]
    facts = f"{count(extra['commits'], 'commit')}, {extra['signed']} signed, {extra['outside']} by plain Git"
    if extra["unsigned"]:
        facts += f", {count(extra['unsigned'], 'change')} of what only people may without a signature"
    verdict = _VERDICTS[extra["verdict"]].format(faults=count(extra["faults"], "commit"))
    return "\n".join([*lines, *([""] if lines else []), facts, verdict])


def _describe(row: dict[str, Any]) -> list[str]:
    said = f"{row['severity']}: {row['code']}: {safe_line(row['message'])}"
    if row["commit"] is None:
        return [said]
    what = f"{row['op']} {row['op_id'] or ''}".strip()
    return [said, "  " + safe_line(f"{short(row['commit'])} {what} {row['title']!r} of {row['time']} by {row['by']}")]

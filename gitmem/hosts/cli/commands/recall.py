"""``gitmem recall``."""

from __future__ import annotations

import sys
from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import require, text
from gitmem.hosts.cli.plain import count
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer, Status
from gitmem.service.memory import Memory
from gitmem.service.recall import DEFAULT_LIMIT, MAX_LIMIT

MAX_PROMPT_BYTES = 1 << 20
"""How much of standard input is read; of a prompt that long, gitmem looks at the beginning and the end."""


@verb(
    "recall",
    """
gitmem recall "how long do we keep the availability cache?"
gitmem recall --explain "add an index to the bookings table"
git log -1 --format=%B | gitmem recall - --session s42 --json
gitmem recall --session s42 --reset
""",
)
@click.argument("prompt", metavar="[PROMPT|-]", type=text, required=False)
@click.option("--session", type=text, default="", help="Of this session: what it was told last is not told again.")
@click.option(
    "--limit", type=click.IntRange(1, MAX_LIMIT), default=DEFAULT_LIMIT, show_default=True, help="At most so many."
)
@click.option("--max-chars", type=click.IntRange(1), metavar="N", help="At most so many characters; 4000 without it.")
@click.option("--reset", is_flag=True, help="Forget first what the session was told, as after a compaction.")
@click.option("--explain", is_flag=True, help="Say of every record that was considered why it was admitted or not.")
@pass_call
def command(
    call: Call, /, prompt: str | None, *, session: str, limit: int, max_chars: int | None, reset: bool, explain: bool
) -> int:
    """Print the few records that a prompt should know, or nothing.

    A workspace is asked together with the global vault. Verified knowledge stands before what nobody reviewed. A prompt
    about something else gets nothing, and exit code 1.
    A PROMPT of - is read from standard input. Writes nothing into the repository; with --session, what was told is
    remembered in the runtime folder.
    """
    if reset and not session:
        raise click.UsageError("--reset needs --session")
    if prompt is None:
        if not reset:
            require("prompt")
        return say_answer(call, lambda memory: memory.reset_session(session), lambda _answer: "")
    if prompt == "-":
        prompt = sys.stdin.buffer.read(MAX_PROMPT_BYTES).decode("utf-8", "replace")

    def ask(memory: Memory) -> Answer:
        if reset and (answer := memory.reset_session(session)).status is not Status.OK:
            return answer
        return memory.recall(prompt, session=session, limit=limit, max_chars=max_chars, explain=explain)

    return say_answer(
        call,
        ask,
        _format,
        nothing="" if explain else "nothing that is remembered fits this prompt",
    )


def _format(answer: Answer) -> str:
    decided = answer.extra.get("recall")
    return _format_explanation(decided) if decided else str(answer.extra["text"])


def _format_explanation(decided: dict[str, Any]) -> str:
    """Return the terms of the prompt, heaviest first, then every candidate with what decided."""
    lines = [f"best {decided['score']:.2f}, enough is {decided['threshold']:.2f}", "terms:"]
    terms = [
        (f"  {safe_line(one['word'])}", f"{one['weight']:.2f}", f"in {count(one['records'], 'record')}")
        for one in decided["terms"]
    ]
    lines += align(terms)
    lines.append("records:" if decided["candidates"] else "records: none")
    for one in decided["candidates"]:
        verdict = "admitted" if one["admitted"] else "left out"
        known = "verified" if one["is_verified"] else "unverified"
        lines.append(f"  {one['id']}  {one['scope']}  {verdict}  {one['rule']}  {known}  {safe_line(one['title'])}")
        lines.append(f"      {safe_line(one['reason'])}")
        if one["matched"]:
            lines.append(f"      shares: {safe_line(', '.join(one['matched']))}")
        if one["caution"]:
            lines.append(f"      mind: {safe_line(one['caution'])}")
    return "\n".join(lines)

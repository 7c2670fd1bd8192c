"""``gitmem status``."""

from __future__ import annotations

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.plain import count, short
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer


@verb("status", "gitmem status\ngitmem --vault ~/notes status --json")
@pass_call
def command(call: Call) -> int:
    """Show what is in the vault, and what waits for a person.

    Lists notes that were edited outside gitmem and are not committed yet. Writes nothing into the repository.
    """
    return say_answer(call, lambda memory: memory.status(), _format)


def _format(answer: Answer) -> str:
    extra = answer.extra
    vault = extra["vault"]
    counts = ", ".join(f"{number} {state}" for state, number in extra["counts"].items()) or "nothing yet"
    facts = [
        ("vault", safe_line(f"{vault['name']} ({vault['scope']}, {vault['id']})")),
        ("folder", safe_line(vault["path"])),
        ("at", safe_line(f"{short(answer.revision)} on {extra['branch'] or 'no branch'}")),
        ("records", counts),
    ]
    if extra["in_progress"]:
        facts.append(("under way", safe_line(f"a {extra['in_progress']} of Git; finish or abort it")))
    lines = align(facts)
    if answer.rows:
        notes = count(len(answer.rows), "note")
        lines += ["", f"{notes} edited outside gitmem; `gitmem adopt` commits them:"]
        lines += align([(str(row["change"]), safe_line(row["path"])) for row in answer.rows])
    return "\n".join(lines)

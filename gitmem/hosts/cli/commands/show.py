"""``gitmem show``."""

from __future__ import annotations

from dataclasses import replace

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import as_of_option, text
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Action
from gitmem.model.record import State
from gitmem.service.memory import Memory
from gitmem.text import make_visible


@verb(
    "show",
    """
gitmem show m7k2q9x4c0de
gitmem show test-workers --json
gitmem show m7k2q9 --raw
gitmem show m7k2q9 --as-of HEAD~3
""",
)
@click.argument("ref", metavar="ID", type=text, shell_complete=complete_records)
@click.option("--raw", is_flag=True, help="Print the file as it is, hidden characters included.")
@as_of_option
@pass_call
def command(call: Call, ref: str, as_of: str | None, *, raw: bool) -> int:
    """Show one record: its properties, then its text.

    ID is an id, the beginning of one, a key or a path. What a workspace has not is looked for in the global vault,
    too. Of a retired record of this vault the reason is shown. Secrets are masked. Writes nothing.
    """
    if raw and call.as_json:
        raise click.UsageError("--raw and --json exclude each other")
    return say_answer(call, lambda memory: _read(memory, ref, as_of), _format_raw if raw else _format)


def _read(memory: Memory, ref: str, as_of: str | None) -> Answer:
    answer = memory.show(ref, as_of=as_of, all_vaults=True)
    if as_of is not None or answer.status is not Status.OK:
        return answer
    if answer.hits[0].vault is not None or answer.hits[0].record.state is not State.RETIRED:
        return answer
    last = memory.log(answer.hits[0].record.path, limit=1).rows
    notes = [row["note"] for row in last if row["op"] == Action.RETIRE.value]
    return replace(answer, extra={**answer.extra, "retired": notes[0]}) if notes else answer


def _format_raw(answer: Answer) -> str:
    return str(answer.extra["file"]).removesuffix("\n")


def _format(answer: Answer) -> str:
    hit = answer.hits[0]
    record = hit.record
    facts = [
        ("id", record.id),
        ("path", safe_line(record.path) + (" (uncommitted)" if hit.uncommitted else "")),
        ("state", record.state.value),
        *([("vault", f"{safe_line(hit.vault.name)} ({hit.vault.scope})")] if hit.vault else []),
    ]
    # The answer's own properties and body, not the record's: secrets are masked in them.
    for name, value in answer.extra["properties"].items():
        if name not in ("gitmem_id", "title"):
            facts.append((safe_line(name), safe_line(", ".join(map(str, value)) if isinstance(value, list) else value)))
    facts += [("retired", safe_line(line)) for line in answer.extra.get("retired", "").splitlines()]
    facts += [("mind", mark.text) for mark in hit.marks]
    facts += [("problem", safe_line(problem.message)) for problem in record.problems]
    head = [click.style(safe_line(record.title), bold=True), *align(facts)]
    body = make_visible(answer.extra["body"]).strip("\n")
    return "\n".join([*head, *(["", body] if body else [])])

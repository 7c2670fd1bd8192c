"""``gitmem accept``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from gitmem.hosts.cli.accepting import Accepting, choose_all
from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_candidates, complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.keeping import keep_typed
from gitmem.hosts.cli.options import (
    KINDS,
    body_options,
    clean_tags,
    op_id_option,
    read_body,
    tag_option,
    text,
    text_option,
    wants_editor,
)
from gitmem.hosts.cli.output import write_document
from gitmem.hosts.cli.plain import format_receipt
from gitmem.hosts.cli.reading import NOTHING_FOUND
from gitmem.model.authority import Action
from gitmem.model.candidate import Choice
from gitmem.model.change import Receipt
from gitmem.model.ids import new_op_id
from gitmem.model.record import Draft, Kind, State
from gitmem.service.memory import Memory

_TO = [state.value for state in (State.OBSERVATION, State.PROMOTED, State.BASELINE)]
_EDITS = ("title", "body", "body_file", "editor", "edit", "kind", "summary", "tags", "evidence", "key")


@verb(
    "accept",
    """
gitmem accept m7k2q9
gitmem accept m7k2q9 x4c0de --to promoted
gitmem accept m7k2q9 --title "Run the tests with two workers" --tag tool/pytest
gitmem accept m7k2q9 --into cache-ttl
gitmem accept --group tool/pytest
gitmem accept --all
""",
)
@click.argument("refs", metavar="ID...", nargs=-1, type=text, shell_complete=complete_candidates)
@click.option("--all", "everything", is_flag=True, help="All that wait, but for what is to be declared.")
@click.option("--group", type=text, help="All of this topic, but for what is to be declared.")
@click.option("--to", type=click.Choice(_TO), help="The state of the new records; usually observation.")
@click.option(
    "--into",
    metavar="RECORD",
    type=text,
    shell_complete=complete_records,
    help="Add it to this record (id, key or path) instead of writing a new one.",
)
@text_option("--title", help="Another title.")
@body_options
@click.option("--kind", type=click.Choice(KINDS), help="Another kind.")
@text_option("--summary", help="Another summary.")
@tag_option("--tag", "tags", help="Tags in place of the proposed ones. May be repeated.")
@text_option("--evidence", multiple=True, help="Evidence in place of what was proposed. May be repeated.")
@text_option("--key", help="Another key.")
@op_id_option
@pass_call
def command(call: Call, /, refs: tuple[str, ...], group: str | None, **values: Any) -> int:
    """Accept candidates: what they propose is done, all in one commit.

    ID is an id or the beginning of one, as `gitmem inbox` lists them. A person has to confirm it at the terminal,
    unless a rule of the vault's policy accepts it. A proposed record is written with the id of its candidate; a
    proposed promotion, retirement or merge is carried out. Commits all of it at once. Boundaries, preferences, goals
    and states are declared by you then; --all and --group leave them out, name each to accept it.

    The options that describe a record change the one candidate that is named, before it is accepted. With --into, or
    for a merge, a --body is the whole text that the record gets; without one, what is new is appended.
    """
    if sum((bool(refs), values["everything"], group is not None)) != 1:
        raise click.UsageError("name candidates, or give one of --all and --group")
    edits = [name for name in _EDITS if values[name] not in (None, (), False)]
    if len(refs) != 1 and (edits or values["into"] is not None):
        raise click.UsageError("only one candidate that is named can be changed, or go into a record")
    with call.open_memory() as memory:
        if not refs:
            return _accept_all(call, memory, group, values)
        if not edits:
            return _accept(call, memory, [_choice(ref, values) for ref in refs], values)
        draft = _edit(call, memory, refs[0], values)
        with keep_typed(call, memory.vault, draft.body if wants_editor(values) else None):
            return _accept(call, memory, [replace(_choice(refs[0], values), draft=draft)], values)


def _choice(ref: str, values: dict[str, Any]) -> Choice:
    return Choice(ref, to=State(values["to"]) if values["to"] else None, into=values["into"])


def _accept_all(call: Call, memory: Memory, group: str | None, values: dict[str, Any]) -> int:
    refs, left = choose_all(memory, group)
    if refs:
        return _accept(call, memory, [_choice(ref, values) for ref in refs], values, left)
    nothing = Receipt(Action.ACCEPT, values["op_id"] or new_op_id(), None, changed=False, records=(), notices=left)
    call.print_result(write_document(nothing), format_receipt(nothing))
    return NOTHING_FOUND


def _accept(
    call: Call, memory: Memory, choices: Sequence[Choice], values: dict[str, Any], left: tuple[str, ...] = ()
) -> int:
    accepting = Accepting(memory, tuple(choices), values["op_id"], left)
    receipt = accepting.run(call, stdin_is_used=values["body_file"] == "-")
    call.print_result(write_document(receipt), format_receipt(receipt))
    return 0


def _edit(call: Call, memory: Memory, ref: str, values: dict[str, Any]) -> Draft:
    """Return the candidate's draft as the options change it. May read a file or start the editor."""
    draft = memory.get_candidate(ref).draft
    body = read_body(call, values["body"], values["body_file"], draft.body if wants_editor(values) else None)
    given: dict[str, Any] = {
        "title": values["title"],
        "body": body,
        "kind": Kind(values["kind"]) if values["kind"] else None,
        "summary": values["summary"],
        "tags": clean_tags(values["tags"]) or None,
        "evidence": values["evidence"] or None,
        "key": values["key"],
    }
    return replace(draft, **{name: value for name, value in given.items() if value is not None})

"""What the writing verbs share: try, let a person confirm where policy wants it, and say what was done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.keeping import keep_typed
from gitmem.hosts.cli.options import read_draft, read_drafts, require, wants_editor
from gitmem.hosts.cli.output import write_document
from gitmem.hosts.cli.plain import format_receipt
from gitmem.hosts.cli.preview import Preview, preview_draft, preview_drafts
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.service.memory import Memory


def write_draft(call: Call, name: str, values: dict[str, Any], effect: str) -> int:
    """Write a new record, or those of a file, with ``observe`` or ``declare`` of a memory (``name``).

    Returns the exit code. A usage error where neither a title nor a file was given.
    """
    if values["from_file"] is not None:
        return _write_drafts(call, name, values, effect)
    require("title", *(("kind",) if name == "declare" else ()))
    op_id = values["op_id"]
    with call.open_memory() as memory:
        draft = read_draft(call, values["title"], values)
        write = memory.declare if name == "declare" else memory.observe
        with keep_typed(call, memory.vault, draft.body if wants_editor(values) else None):
            return write_and_say(
                call,
                lambda actor: write(draft, actor, op_id),
                lambda: preview_draft(memory, name, draft, effect),
                stdin_is_used=values["body_file"] == "-",
            )


def _write_drafts(call: Call, name: str, values: dict[str, Any], effect: str) -> int:
    lines, drafts = read_drafts(call, values)
    op_id = values["op_id"]
    with call.open_memory() as memory:
        write = memory.declare_all if name == "declare" else memory.observe_all
        return write_and_say(
            call,
            lambda actor: write(drafts, actor, op_id, lines),
            lambda: preview_drafts(memory, name, drafts, effect),
            stdin_is_used=values["from_file"] == "-",
        )


def write_record(
    call: Call,
    attempt: Callable[[Memory, Actor], Receipt],
    preview: Callable[[Memory], Preview],
) -> int:
    """Run a write on the memory that the call means; return the exit code."""
    with call.open_memory() as memory:
        return write_and_say(call, lambda actor: attempt(memory, actor), lambda: preview(memory))


def write_and_say(
    call: Call, attempt: Callable[[Actor], Receipt], preview: Callable[[], Preview], *, stdin_is_used: bool = False
) -> int:
    """Run ``attempt`` under the human check and print its receipt; return the exit code 0. Raises what it raises."""
    receipt = run_confirmed(call, attempt, preview, stdin_is_used=stdin_is_used)
    call.print_result(write_document(receipt), format_receipt(receipt))
    return 0

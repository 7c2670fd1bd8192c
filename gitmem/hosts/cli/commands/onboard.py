"""``gitmem onboard``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gitmem.errors import GitmemError, PolicyError, StateError
from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import read_file
from gitmem.hosts.cli.output import read_document, write_document
from gitmem.hosts.cli.plain import format_receipt
from gitmem.hosts.cli.preview import Preview, preview_drafts, vault_name
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Action, Actor, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import new_op_id

if TYPE_CHECKING:
    from gitmem.model.record import Draft
    from gitmem.service.memory import Memory
    from gitmem.service.onboard import Onboarding

_EFFECT = "new records in baseline/, declared by you and given to agents as such, in one commit"
_NOTHING = "there is nothing new to declare; no commit was made"


@verb(
    "onboard",
    """
gitmem onboard
gitmem onboard --vault global
gitmem onboard --print-template > answers.md
gitmem onboard --from answers.md
gitmem onboard --template team-questions.md
""",
)
@click.option("--from", "from_file", metavar="FILE|-", help="Take the answers from FILE instead of asking.")
@click.option("--template", metavar="FILE", help="Ask the questions in FILE; answers in it are taken as given.")
@click.option("--print-template", is_flag=True, help="Print gitmem's own questions, to be answered in a file, and end.")
@click.option("--discard", is_flag=True, help="Drop the answers of an onboarding that was not finished.")
@pass_call
def command(call: Call, from_file: str | None, template: str | None, print_template: bool, discard: bool) -> int:  # noqa: FBT001 - click's
    """Ask a person what holds in this project, and declare it all.

    Asks for boundaries, preferences, the goal and the state; of the global vault for the first two alone. Each question
    takes any number of answers; what is declared already is shown, and left out. Answers are kept in a draft until all
    of them are shown and confirmed with the code at the terminal; so an interrupt loses nothing, and the same command
    goes on. Writes new records into baseline/ and commits them, all at once.

    FILE has the form that --print-template prints.
    """
    if sum((from_file is not None, template is not None, print_template, discard)) > 1:
        raise click.UsageError("give one of --from, --template, --print-template and --discard")
    if print_template:
        return _print_template(call)
    with call.open_memory() as memory:
        if discard:
            return _discard(call, memory)
        if from_file is not None:
            return _declare_file(call, memory, from_file)
        return _ask(call, memory, template)


def _print_template(call: Call) -> int:
    from gitmem.service.onboard import own_template

    text = own_template()
    call.print_result(read_document(Answer(Status.OK, None, extra={"text": text}), ""), text.rstrip("\n"))
    return 0


def _ask(call: Call, memory: Memory, template: str | None) -> int:
    from gitmem.hosts.cli.onboarding_dialogue import Dialogue, LeftError
    from gitmem.hosts.cli.terminal import find_terminal
    from gitmem.service.onboard import hold_onboarding
    from gitmem.service.onboarding_form import MAX_FORM_BYTES

    terminal = None if call.as_json else find_terminal(call)
    if terminal is None:
        hint = "Answer in a file (--print-template, then --from FILE), and confirm at a terminal."
        raise PolicyError("needs-human", "an onboarding asks a person at a terminal", hint)
    form = None if template is None else read_file(call, template, MAX_FORM_BYTES + 1)
    with hold_onboarding(memory.vault, form) as onboarding, _saying_where(call, onboarding):
        if form is not None and onboarding.is_resumed:
            terminal.show("note: an onboarding is under way, so --template is not looked at; --discard drops it")
        try:
            Dialogue(call, terminal, onboarding).run()
        except LeftError:
            raise click.Abort from None
        code = _declare(call, memory, onboarding.drafts)
        onboarding.discard()
        return code


def _declare_file(call: Call, memory: Memory, file: str) -> int:
    from gitmem.service.onboard import read_answers
    from gitmem.service.onboarding_form import MAX_FORM_BYTES

    drafts, told = read_answers(memory.vault, read_file(call, file, MAX_FORM_BYTES + 1))
    call.warn("\n".join(f"note: {safe_line(line)}" for line in told))
    return _declare(call, memory, drafts, told, stdin_is_used=file == "-")


def _declare(
    call: Call, memory: Memory, drafts: Sequence[Draft], told: tuple[str, ...] = (), *, stdin_is_used: bool = False
) -> int:
    receipt = Receipt(Action.DECLARE, new_op_id(), None, changed=False, records=())
    if drafts:
        receipt = run_confirmed(
            call,
            lambda actor: memory.declare_all(drafts, actor),
            lambda: preview_drafts(memory, "onboard", drafts, _EFFECT),
            stdin_is_used=stdin_is_used,
        )
    with_told = replace(receipt, notices=(*told, *receipt.notices))
    call.print_result(write_document(with_told), format_receipt(receipt) if drafts else _NOTHING)
    return 0


def _discard(call: Call, memory: Memory) -> int:
    from gitmem.service.onboard import discard_draft, find_draft

    kept = find_draft(memory.vault)
    if kept is None:
        raise StateError("no-draft", "no onboarding is under way", "There is nothing to drop.")

    def drop(actor: Actor) -> Receipt:
        if actor.surface is not Surface.HUMAN:
            raise PolicyError("needs-human", "only a person drops what a person answered", "Run it at a terminal.")
        discard_draft(memory.vault)
        return Receipt(Action.DECLARE, new_op_id(), None, changed=False, records=())

    shown = Preview("onboard --discard", vault_name(memory), "these answers are dropped", texts=(("answers", kept),))
    receipt = run_confirmed(call, drop, lambda: shown)
    call.print_result(write_document(receipt), "the answers were dropped; no commit was made")
    return 0


@contextlib.contextmanager
def _saying_where(call: Call, onboarding: Onboarding) -> Iterator[None]:
    """Say, however the block fails, where the answers are kept; if there are any."""
    try:
        yield
    except GitmemError as error:
        if os.path.exists(onboarding.place):
            error.hint = f"{error.hint} Your answers are kept: `gitmem onboard` goes on with them.".strip()
        raise
    except BaseException:
        if os.path.exists(onboarding.place):
            call.warn(
                "\nYour answers are kept: `gitmem onboard` goes on with them, `gitmem onboard --discard` drops them."
            )
        raise

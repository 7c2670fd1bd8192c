"""``gitmem policy``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gitmem.errors import InputError, PolicyError
from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import family, verb
from gitmem.hosts.cli.options import KINDS, STATES, clean_tags, op_id_option, read_file, tag_option, text, text_option
from gitmem.hosts.cli.policy_text import format_policy, format_rules, format_verdict
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.hosts.cli.reading import print_answer, say_answer
from gitmem.hosts.cli.writing import write_and_say
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Action, Actor, Proof, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.policy import MAX_FILE_BYTES
from gitmem.model.record import Draft, Kind, State
from gitmem.service.memory import Memory
from gitmem.text import shorten

if TYPE_CHECKING:
    from gitmem.service.set_policy import Setting

_SURFACES = {
    "model": (Surface.MODEL, Proof.CODE),
    "human": (Surface.HUMAN, Proof.CODE),
    "prompt": (Surface.HUMAN, Proof.PROMPT),
}
_ACTIONS = [action.value for action in Action]
_OWN = "policy.yaml"
_HINT_CHECKED = "See docs/policy.md for what may stand there."
_EFFECT = "this file says from now on what agents do by themselves in this vault, in one commit"
_EFFECT_INIT = "commits policy.yaml as it holds by default, with what each member means, for you to edit"


@family(
    "policy",
    "gitmem policy show\ngitmem policy init\ngitmem policy apply\ngitmem policy explain observe --kind finding",
)
def command() -> None:
    """See and set what agents may do by themselves, and how much.

    The policy is policy.yaml in the vault's folder: edit it with any editor, then commit it with `gitmem policy apply`.
    It holds only as a person set it. It can't let an agent declare, promote to the global vault, or change the policy.
    Writes nothing but by init, set and apply, which a person confirms.
    """


@verb("show", "gitmem policy show\ngitmem policy show --json")
@pass_call
def show(call: Call) -> int:
    """Show the policy that holds, and where it comes from.

    Where policy.yaml was committed outside gitmem, it opens nothing until a person confirms it with `gitmem policy
    apply`; where it can't be read, agents write nothing.
    """
    return say_answer(call, lambda memory: memory.policy(), format_policy)


@verb("check", "gitmem policy check\ngitmem policy check draft.yaml\ngitmem policy check - < draft.yaml")
@click.argument("file", metavar="[FILE|-]", required=False, type=text)
@pass_call
def check(call: Call, file: str | None) -> int:
    """Check a policy and show how it would be read; without FILE, policy.yaml as it lies in the vault.

    Exit code 3 where it can't be read, with the line. Writes nothing.
    """
    if file is None:
        with _calling(_OWN, _HINT_CHECKED):
            return say_answer(call, lambda memory: memory.check_policy_file(), format_policy)
    from gitmem.service.show_policy import describe_file

    data = read_file(call, file, MAX_FILE_BYTES + 1)
    with _calling(file, _HINT_CHECKED):
        return print_answer(call, describe_file(data), "", format_policy)


@verb("init", "gitmem policy init\ngitmem --vault ~/notes policy init")
@op_id_option
@pass_call
def init(call: Call, op_id: OpId | None) -> int:
    """Commit a policy.yaml that says what holds by default, with comments, as a file to edit.

    It changes nothing of what is allowed. A person has to confirm it at the terminal.
    """
    with call.open_memory() as memory:
        return write_and_say(
            call,
            lambda actor: memory.init_policy(actor, op_id),
            lambda: Preview("policy init", vault_name(memory), _EFFECT_INIT),
        )


@verb("set", "gitmem policy set draft.yaml\ngitmem policy set - < draft.yaml")
@click.argument("file", metavar="FILE|-", type=text)
@op_id_option
@pass_call
def set_file(call: Call, file: str, op_id: OpId | None) -> int:
    """Make FILE the vault's policy, in one commit.

    What changes is shown, and a person has to confirm it at the terminal.
    """
    data = read_file(call, file, MAX_FILE_BYTES + 1)
    with _calling(file):
        return _set(call, "policy set", data, op_id)


@verb("apply", "gitmem policy apply\ngitmem --vault ~/notes policy apply")
@op_id_option
@pass_call
def apply(call: Call, op_id: OpId | None) -> int:
    """Commit policy.yaml as you edited it in the vault, so that it holds.

    A file that was committed outside gitmem is confirmed as it is; one that you removed is taken away, and the defaults
    hold. What changes is shown, and a person has to confirm it at the terminal.
    """
    return _set(call, "policy apply", None, op_id)


@contextlib.contextmanager
def _calling(file: str, hint: str | None = None) -> Iterator[None]:
    """Have what is wrong with a policy told by the name of the file that was given, and not by what it would be."""
    try:
        yield
    except InputError as error:
        if error.code == "bad-policy":
            name = "standard input" if file == "-" else safe_line(shorten(file, 200))
            error.message = name + error.message.removeprefix(_OWN)
            error.hint = hint or error.hint
        raise


def _set(call: Call, name: str, data: bytes | None, op_id: OpId | None) -> int:
    with call.open_memory() as memory:
        wanted = _Wanted(memory, name, data, op_id)
        return write_and_say(call, wanted.run, wanted.preview, stdin_is_used=data is not None)


class _Wanted:
    """What is shown is what is committed: the very bytes of the preview."""

    def __init__(self, memory: Memory, name: str, data: bytes | None, op_id: OpId | None) -> None:
        self.memory, self.name, self.data, self.op_id = memory, name, data, op_id
        self.shown: Setting | None = None

    def run(self, actor: Actor) -> Receipt:
        """Set the policy that was shown, or, before any was, the one that is there."""
        return self.memory.set_policy(self.data, actor, self.op_id, self.shown)

    def preview(self) -> Preview:
        """Return what would change, read now."""
        self.shown = self.memory.find_setting(self.data)
        goes = "policy.yaml goes, and the defaults hold" if self.shown.data is None else _EFFECT
        return Preview(self.name, vault_name(self.memory), goes, texts=(("policy.yaml", self.shown.shown),))


@verb(
    "explain",
    "gitmem policy explain observe --kind finding --tag tool/pytest --evidence 'run:make test'\n"
    "gitmem policy explain promote m7k2q9\n"
    "gitmem policy explain declare --surface prompt\n"
    "gitmem policy explain m7k2q9",
)
@click.argument("what", metavar="ACTION|ID", type=text)
@click.argument("ref", metavar="[ID]", required=False, type=text, shell_complete=complete_records)
@click.option("--surface", type=click.Choice(list(_SURFACES)), help="Who asks: an agent, a person, a host's prompt.")
@click.option("--kind", type=click.Choice(KINDS), help="What the record is about.")
@tag_option("--tag", "tags", help="A tag of the record. May be repeated.")
@text_option("--evidence", multiple=True, help="What shows it, as for `gitmem observe`. May be repeated.")
@text_option("--body", help="The record's text.")
@text_option("--session", help="The host's session that asks; else this one.")
@click.option("--sessions", type=click.IntRange(1, 32), help="In how many sessions a candidate was proposed.")
@click.option("--to", "to_state", type=click.Choice(STATES), help="The state that it goes to (import, restore).")
@pass_call
def explain(call: Call, /, what: str, ref: str | None, **values: Any) -> int:
    """Say what would happen to an operation, and by which rule; writes nothing.

    ACTION is what a commit's Gitmem-Op says: observe, promote, … ID is the record that it is done to, or the candidate
    that is accepted; without one the options describe a new record. The rules are those of the table
    (docs/authority.md) and those of the policy, which begin with policy:. Exit code 5 where it needs a person or is
    refused. ID alone tells by which rules a record came to be as it is.
    """
    if what not in _ACTIONS:
        if ref is not None or any(value not in (None, ()) for value in values.values()):
            raise click.UsageError(f"{what} is no action; it takes one of {', '.join(_ACTIONS)}")
        return say_answer(call, lambda memory: _explain_record(memory, what), format_rules)
    from gitmem.service.explain import Asked

    kind = Kind(values["kind"]) if values["kind"] else None
    to_state = State(values["to_state"]) if values["to_state"] else None
    draft = Draft("a record", values["body"] or "", kind, "", clean_tags(values["tags"]), values["evidence"])
    actor = _actor(call, values["surface"] or "model", values["session"])
    with call.open_memory() as memory:
        answer = memory.explain(Action(what), actor, Asked(ref, draft, to_state, values["sessions"] or 1))
        code = print_answer(call, answer, memory.vault.layout.repo, format_verdict)
    if answer.status is Status.OK and answer.extra["verdict"] != "allowed":
        return PolicyError.exit_code
    return code


def _explain_record(memory: Memory, ref: str) -> Answer:
    try:
        return memory.explain_record(ref)
    except InputError as error:
        if error.code != "no-such-record":
            raise
        hint = f"Look for it with `gitmem search`. An action is one of {', '.join(_ACTIONS)}."
        raise InputError(error.code, error.message, hint) from None


def _actor(call: Call, surface: str, session: str | None) -> Actor:
    """Return who would ask; nothing is done in a person's name here."""
    kind, proof = _SURFACES[surface]
    actor = replace(call.model(), surface=kind, proof=proof)
    return actor if session is None else replace(actor, session=session)


for _one in (show, check, init, set_file, apply, explain):
    command.add_command(_one)

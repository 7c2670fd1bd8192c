"""``gitmem keys``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import family, verb
from gitmem.hosts.cli.options import op_id_option, text, text_option
from gitmem.hosts.cli.plain import count
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.hosts.cli.reading import say_answer
from gitmem.hosts.cli.writing import write_and_say, write_record
from gitmem.model.answer import Answer
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import OpId
from gitmem.service.memory import Memory

if TYPE_CHECKING:
    from gitmem.service.human_keys import Adding, Trusting

_ADDED = "lists the key in manifest.json, in one signed commit; from then on what only a person may do is signed"
_REMOVED = "takes the key off the list, in one signed commit; what it signed so far stays good"
_LAST = (
    "takes the last key off the list, in one signed commit: from then on nothing is signed, and what was declared is "
    "known by this machine's receipts alone"
)
_TRUSTED = "has this machine take these keys for people's; changes nothing in the repository"
_FORGOTTEN = "has this machine take this vault for one without keys, as it is now; changes nothing in the repository"


@family(
    "keys",
    """
gitmem keys list
gitmem keys add ~/.ssh/id_ed25519.pub --name "Pat's laptop"
gitmem keys remove "Pat's laptop"
gitmem keys trust
""",
)
def command() -> None:
    """Show and change the keys with which people sign operations.

    In a vault that lists keys, what only a person may do is signed with one of them, by OpenSSH's ssh-keygen, and a
    context shows as declared only what was signed. See docs/signing.md. Commits the list, but for `keys trust`, which
    is this machine's alone.
    """


@verb("list", "gitmem keys list\ngitmem keys list --json")
@pass_call
def list_keys(call: Call) -> int:
    """Show the keys that the vault lists, and which of them this machine trusts and signs with."""
    return say_answer(call, lambda memory: memory.list_human_keys(), _format, nothing="this vault lists no keys")


@verb("add", "gitmem keys add ~/.ssh/id_ed25519.pub\ngitmem keys add spare.pub --name 'in the safe'")
@click.argument("file", metavar="FILE", type=text)
@text_option("--name", help="What the key is called; else the comment in its file.")
@op_id_option
@pass_call
def add(call: Call, file: str, name: str | None, op_id: OpId | None) -> int:
    """List a public key as a person's, as a signed operation.

    FILE is the .pub file, or the private one beside it. The first key signs for itself, and becomes the one that this
    machine signs with, unless one is set. Every other is signed for by one that is listed. A person has to confirm it.
    """
    place = os.path.abspath(os.path.join(call.environment.folder, os.path.expanduser(file)))
    with call.open_memory() as memory:
        adding = _Adding(memory, place, name, op_id)
        return write_and_say(call, adding.run, adding.preview)


@verb("remove", "gitmem keys remove 'in the safe'")
@click.argument("name", metavar="NAME", type=text)
@op_id_option
@pass_call
def remove(call: Call, name: str, op_id: OpId | None) -> int:
    """Take a key off the list, as a signed operation.

    One that stays has to sign for it; the last one signs for itself. A person has to confirm it.
    """
    return write_record(
        call,
        lambda memory, actor: memory.remove_key(name, actor, op_id),
        lambda memory: _preview_remove(memory, name),
    )


@verb("trust", "gitmem keys trust")
@pass_call
def trust(call: Call) -> int:
    """Have this machine take the keys that the vault lists for people's.

    That is needed once, where the vault was cloned or handed over; compare the fingerprints with what their owners
    tell you by another way. A person has to confirm it. Changes nothing in the repository.
    """
    with call.open_memory() as memory:
        trusting = _Trusting(memory)
        wanted = run_confirmed(call, trusting.run, trusting.preview)
        document: dict[str, Any] = {
            "ok": True,
            "trusted": [{"name": key.name, "fingerprint": print_} for key, print_ in wanted.list_fingerprints()],
            "counter": wanted.counter,
        }
        keys = count(len(wanted.keys), "key")
        call.print_result(document, f"this machine trusts {keys}, as of statement {wanted.counter}")
    return 0


def _preview_add(memory: Memory, adding: Adding) -> Preview:
    asked = [("name", adding.key.name), ("type", adding.key.key.split()[0]), ("fingerprint", adding.fingerprint)]
    texts = [
        ("declared so far, and signed with it", "\n".join(adding.declared or ())),
        ("not signed, for nothing here proves that a person declared it", "\n".join(adding.left_out)),
    ]
    return Preview("keys add", vault_name(memory), _ADDED, asked=tuple(asked), texts=tuple(texts))


def _preview_remove(memory: Memory, name: str) -> Preview:
    rows = [row for row in memory.list_human_keys().rows if row["listed"]]
    asked = [("name", name), *(("fingerprint", row["fingerprint"]) for row in rows if row["name"] == name)]
    return Preview("keys remove", vault_name(memory), _LAST if len(rows) == 1 else _REMOVED, asked=tuple(asked))


class _Trusting:
    """What is shown is what is trusted: the very keys of the preview."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.shown: Trusting | None = None

    def run(self, actor: Actor) -> Trusting:
        """Trust what was shown, or, before anything was, what is there."""
        wanted = self.shown or self.memory.find_trusting()
        self.memory.trust_keys(actor, wanted)
        return wanted

    def preview(self) -> Preview:
        """Return what would be trusted, read now."""
        self.shown = wanted = self.memory.find_trusting()
        facts = tuple((key.name, fingerprint) for key, fingerprint in wanted.list_fingerprints())
        before = [] if not wanted.before else [("trusted so far", ", ".join(key.name for key in wanted.before))]
        asked = (("statement", str(wanted.counter)), *before)
        effect = _TRUSTED if wanted.keys else _FORGOTTEN
        return Preview("keys trust", vault_name(self.memory), effect, asked=asked, facts=facts)


class _Adding:
    """What is shown is what is listed: the very key of the preview."""

    def __init__(self, memory: Memory, file: str, name: str | None, op_id: OpId | None) -> None:
        self.memory, self.file, self.name, self.op_id = memory, file, name, op_id
        self.shown: HumanKey | None = None

    def run(self, actor: Actor) -> Receipt:
        """List the key that was shown, or, before any was, the one in the file."""
        return self.memory.add_key(self.file, self.name, actor, self.op_id, self.shown)

    def preview(self) -> Preview:
        """Return what would be listed, read now."""
        adding = self.memory.find_adding(self.file, self.name)
        self.shown = adding.key
        return _preview_add(self.memory, adding)


def _format(answer: Answer) -> str:
    lines = [
        (safe_line(row["name"]), row["type"], row["fingerprint"], ", ".join(_list_marks(row))) for row in answer.rows
    ]
    extra = answer.extra
    if extra["signed"] is None:
        return "\n".join(align(lines))
    declared = count(extra["declared"], "declared record")
    return "\n".join([*align(lines), "", f"statement {extra['signed']} signs for {declared}"])


def _list_marks(row: dict[str, Any]) -> list[str]:
    marks = [] if row["listed"] else ["not listed any more"]
    marks += ["trusted here"] if row["trusted"] else ["not trusted here"]
    return [*marks, *(["signs here"] if row["signs"] else [])]


for one in (list_keys, add, remove, trust):
    command.add_command(one)

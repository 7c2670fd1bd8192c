"""How the command line accepts candidates: what would become of the records is shown, and is what is then done."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.model.authority import Actor, Proof, Surface
from gitmem.model.candidate import Candidate, Choice, InboxFilters
from gitmem.model.change import Receipt, RecordChange
from gitmem.model.ids import OpId
from gitmem.model.record import BASELINE_KINDS, Record, State
from gitmem.service.memory import Memory

Facts = tuple[tuple[str, str], ...]
_PROPERTIES = ("title", "summary", "tags", "key", "evidence", "supersedes", "superseded_by")


@dataclass
class Accepting:
    """Candidates that somebody chose. ``left`` are notices about those that were left out."""

    memory: Memory
    choices: tuple[Choice, ...]
    op_id: OpId | None = None
    left: tuple[str, ...] = ()
    _shown: tuple[Candidate, ...] = field(default=(), init=False)

    def run(self, call: Call, *, stdin_is_used: bool = False) -> Receipt:
        """Accept them under the human check. Raises what ``run_confirmed`` and ``accept`` raise."""
        receipt = run_confirmed(call, self._attempt, lambda: self._preview(call.person()), stdin_is_used=stdin_is_used)
        return replace(receipt, notices=(*receipt.notices, *self.left))

    def _attempt(self, actor: Actor) -> Receipt:
        choices = self.choices
        if actor.surface is Surface.HUMAN and actor.proof is Proof.CODE:
            # What a person accepts is what they were shown, whatever came into the inbox since.
            choices = tuple(replace(one, shown=shown) for one, shown in zip(choices, self._shown, strict=True))
        return self.memory.accept(choices, actor, self.op_id)

    def _preview(self, person: Actor) -> Preview:
        self._shown = tuple(self.memory.get_candidate(choice.id) for choice in self.choices)
        changes = self.memory.plan_accept(self.choices, person)
        items = tuple(describe_change(one) for one in changes)
        asked = tuple(("contradicts", line) for line in self._list_contradicted())
        asked += tuple(("left out", line) for line in self.left)
        return Preview("accept", vault_name(self.memory), _describe_effect(changes), asked=asked, items=items)

    def _list_contradicted(self) -> Iterator[str]:
        for one in self._shown:
            for target in one.contradicts:
                yield f"{one.draft.title} (candidate {one.id}) contradicts the record {target}"


def choose_all(memory: Memory, group: str | None) -> tuple[list[str], tuple[str, ...]]:
    """Return the ids of the candidates that may be accepted together, and a notice about each that may not.

    What is declared is accepted one by one, and what looks like a secret not at all. Raises what the answer says where
    the inbox can't be read.
    """
    from gitmem.hosts.cli.preview import raise_unreadable

    answer = memory.inbox(InboxFilters(group=group))
    raise_unreadable(answer)
    refs, left = [], []
    for row in answer.rows:
        is_declared = row.get("kind") in [kind.value for kind in BASELINE_KINDS]
        is_declared |= any(target["state"] == State.BASELINE.value for target in row["targets"])
        if is_declared:
            left.append(f"{row['id']} is for a person to declare; accept it by its id: {row['title']}")
        elif row["findings"]:
            left.append(f"{row['id']} holds what looks like a secret: {row['title']}")
        else:
            refs.append(row["id"])
    return refs, tuple(left)


def _describe_effect(changes: Sequence[RecordChange]) -> str:
    new = [one for one in changes if one.before is None]
    declared = sum(one.after is not None and one.after.state is State.BASELINE for one in new)
    told = [f"{len(new)} new" if new else "", f"{len(changes) - len(new)} changed" if len(changes) > len(new) else ""]
    effect = f"{' and '.join(filter(None, told))} {'record' if len(changes) == 1 else 'records'}, in one commit"
    return f"{effect}; {declared} of them declared by you and given to agents as such" if declared else effect


def describe_change(change: RecordChange) -> tuple[Facts, str]:
    """Return the facts of a record that is new or changes, and its text or how that differs, for ``Preview.items``."""
    before, after = change.before, change.after
    assert after is not None
    return (_describe_new(after), after.body.strip("\n")) if before is None else _describe_changed(before, after)


def _describe_new(after: Record) -> Facts:
    facts = [
        ("new record", after.id),
        ("in", after.path),
        ("title", after.title),
        ("kind", after.kind.value if after.kind else ""),
        ("authority", after.authority.value if after.authority else ""),
        ("summary", after.summary),
        ("key", after.key or ""),
        ("tags", ", ".join(after.tags)),
        ("evidence", ", ".join(after.evidence)),
        ("source", after.source or ""),
    ]
    return tuple((name, value) for name, value in facts if value)


def _describe_changed(before: Record, after: Record) -> tuple[Facts, str]:
    state = before.state.value if before.state is after.state else f"{before.state.value} -> {after.state.value}"
    facts = [("record", after.id), ("in", after.path), ("state", state), ("title", before.title)]
    for name in _PROPERTIES:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            facts.append((f"new {name}", ", ".join(new) if isinstance(new, tuple) else str(new)))
    if before.body == after.body:
        return tuple(facts), ""
    old, new = (one.body.strip("\n").splitlines() for one in (before, after))
    lines = difflib.unified_diff(old, new, lineterm="", n=1)
    return tuple(facts), "\n".join(list(lines)[2:])

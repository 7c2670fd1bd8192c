"""What the verbs that decide candidates share: a person is shown them whole, and what was done is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.inbox_text import describe_wants
from gitmem.hosts.cli.preview import Preview, vault_name, with_asked
from gitmem.model.authority import Actor
from gitmem.model.candidate import Candidate, Decisions, Fate
from gitmem.model.ids import new_op_id
from gitmem.service.memory import Memory

_SHOWN = ("id", "title", "kind", "summary", "key")


def decide_and_say(
    call: Call,
    name: str,
    refs: Sequence[str],
    attempt: Callable[[Memory, Actor], Decisions],
    effect: str,
    asked: Sequence[tuple[str, str]] = (),
) -> int:
    """Decide the candidates ``refs`` under the human check and print what became of them; return the exit code 0."""
    with call.open_memory() as memory:
        done = run_confirmed(
            call, lambda actor: attempt(memory, actor), lambda: with_asked(_preview(memory, name, refs, effect), asked)
        )
    call.print_result(_document(name, done), _format(name, done))
    return 0


def preview_candidate(row: dict[str, Any]) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the facts of one candidate, and its text, as ``Preview.items`` takes them."""
    facts = [(name, str(row[name])) for name in _SHOWN if row.get(name)]
    facts.insert(1, ("wants", describe_wants(row)))
    facts += [(name, ", ".join(row[name])) for name in ("tags", "evidence") if row.get(name)]
    facts += [(name, f"{one['id']} {one['title']}") for name in ("targets", "contradicts") for one in row[name]]
    return tuple(facts), row["body"].rstrip("\n")


def _preview(memory: Memory, name: str, refs: Sequence[str], effect: str) -> Preview:
    rows = {row["id"]: row for ref in refs for row in memory.inbox(ref=ref).rows}
    return Preview(name, vault_name(memory), effect, items=tuple(map(preview_candidate, rows.values())))


def _document(name: str, done: Decisions) -> dict[str, Any]:
    return {
        "ok": True,
        "op": name,
        "op_id": new_op_id(),
        "commit": None,
        "changed": done.changed,
        "records": [],
        "notices": [],
        "candidates": [
            {"id": one.id, "title": one.draft.title, "fate": done.fate.value if done.fate else None}
            | ({"deferred": one.deferred} if one.deferred else {})
            for one in done.candidates
        ],
    }


def _format(name: str, done: Decisions) -> str:
    if not done.changed:
        return f"{name}: nothing to do"
    rows = [(one.id, _tell(one, done.fate), safe_line(one.draft.title)) for one in done.candidates]
    return "\n".join([f"{name}: {len(rows)} decided" if done.fate else f"{name}:", *align(rows)])


def _tell(candidate: Candidate, fate: Fate | None) -> str:
    """Return what became of ``candidate``; one that was deferred before may be rejected."""
    if fate is not None:
        return fate.value
    return f"until {candidate.deferred[:10]}" if candidate.deferred else "in the inbox"

"""``gitmem propose``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.inbox_text import describe_outcome, format_proposed
from gitmem.hosts.cli.keeping import keep_typed
from gitmem.hosts.cli.options import KINDS, draft_options, read_draft, read_drafts, require, wants_editor
from gitmem.hosts.cli.preview import Preview, preview_draft, preview_drafts
from gitmem.model.candidate import Outcome, Proposed
from gitmem.model.ids import new_op_id
from gitmem.model.record import Draft
from gitmem.service.memory import Memory

_EFFECT = "puts it into the inbox, where it waits for review; nothing is committed"
_EFFECT_OF_MANY = "puts them into the inbox, where they wait for review; nothing is committed"


@verb(
    "propose",
    """
gitmem propose "Run tests with two workers" --body "More exhaust the database." --tag tool/pytest
gitmem propose "Never push to main" --kind boundary
gitmem propose --from findings.jsonl --json
""",
)
@draft_options(KINDS)
@pass_call
def command(call: Call, /, **values: Any) -> int:
    """Propose a record: it waits in the inbox for a person.

    What waits already is not put there twice: it gains evidence and weight. What a record says already, or a person
    rejected, is not added again; the answer says so. Any kind may be proposed: boundaries, preferences, goals and
    states are declared by the person who accepts them. Writes nothing into the repository.
    """
    many = values["from_file"] is not None
    if not many:
        require("title")
    lines, drafts = read_drafts(call, values) if many else (None, [])
    with call.open_memory() as memory:
        if not many:
            drafts = [read_draft(call, values["title"], values)]
        op_id = values["op_id"]
        with keep_typed(call, memory.vault, drafts[0].body if not many and wants_editor(values) else None):
            placed = run_confirmed(
                call,
                lambda actor: memory.propose_all(drafts, actor, op_id=op_id, lines=lines),
                lambda: _preview(memory, drafts),
                stdin_is_used="-" in (values["body_file"], values["from_file"]),
            )
    call.print_result(_document(placed, op_id or new_op_id()), format_proposed(placed))
    return 0


def _preview(memory: Memory, drafts: Sequence[Draft]) -> Preview:
    if len(drafts) == 1:
        return preview_draft(memory, "propose", drafts[0], _EFFECT)
    return preview_drafts(memory, "propose", drafts, _EFFECT_OF_MANY)


def _document(placed: Sequence[Proposed], op_id: str) -> dict[str, Any]:
    return {
        "ok": True,
        "op": "propose",
        "op_id": op_id,
        "commit": None,
        "changed": any(one.outcome in (Outcome.NEW, Outcome.MERGED) for one in placed),
        "records": [],
        "notices": [],
        "candidates": [_describe(one) for one in placed],
    }


def _describe(one: Proposed) -> dict[str, Any]:
    candidate = one.candidate
    told: dict[str, Any] = {
        "id": None if one.outcome is Outcome.KNOWN else candidate.id,
        "outcome": one.outcome.value,
        "title": candidate.draft.title,
        "wants": candidate.wants.value,
        "targets": list(candidate.targets),
        "contradicts": list(candidate.contradicts),
        "seen": candidate.seen,
        "record": one.record,
        "said": describe_outcome(one),
    }
    if one.decided is not None:
        told |= {"rejected_at": one.decided.time, "rejected_because": one.decided.reason}
    return told

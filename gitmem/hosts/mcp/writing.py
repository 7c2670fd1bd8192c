"""The two tools that write: into the inbox, and an observation with evidence. There is no other way to write here."""

from __future__ import annotations

from gitmem.hosts.mcp.arguments import Arguments, read_draft, read_observation
from gitmem.hosts.mcp.replies import Reply
from gitmem.model.authority import Actor
from gitmem.model.candidate import Outcome, Proposed
from gitmem.model.ids import new_op_id, parse_op_id
from gitmem.service.memory import Memory
from gitmem.service.told import plain_line


def propose(memory: Memory, arguments: Arguments, actor: Actor) -> Reply:
    """``memory_propose``: a candidate for a person to look at."""
    why = (arguments["why"],) if arguments.get("why") else ()
    placed = memory.propose(read_draft(arguments), actor, why=why)
    notes = _tell_outcome(placed)
    data = {"outcome": placed.outcome.value, "notes": notes}
    if placed.outcome in (Outcome.NEW, Outcome.MERGED):
        data["candidate"] = placed.candidate.id
    if placed.record is not None:
        data["record"] = placed.record
    return Reply("\n".join([f"gitmem: {placed.outcome.value}.", *notes]), data)


def observe(memory: Memory, arguments: Arguments, actor: Actor) -> Reply:
    """``memory_observe``: one commit with one new record, told when it is there for good."""
    op_id = parse_op_id(arguments["op_id"]) if "op_id" in arguments else new_op_id()
    receipt = memory.observe(read_observation(arguments), actor, op_id)
    record = receipt.records[0]
    notes = [plain_line(notice, 300) for notice in receipt.notices]
    data = {
        "op_id": receipt.op_id,
        "changed": receipt.changed,
        "id": record.id,
        "path": plain_line(record.path, 300),
        "notes": notes,
    }
    if receipt.commit is not None:
        data["commit"] = receipt.commit
    said = f"gitmem: recorded as {record.id}, in commit {(receipt.commit or '')[:12]}; a person may review it."
    return Reply("\n".join([said, *notes]), data)


def _tell_outcome(placed: Proposed) -> list[str]:
    candidate = placed.candidate
    if placed.outcome is Outcome.KNOWN:
        return [f"the record {placed.record} says it already; nothing was added"]
    if placed.outcome is Outcome.REJECTED_BEFORE:
        why = plain_line(placed.decided.reason, 300) if placed.decided else ""
        return [f"a person rejected this before: {why}", "don't propose it again"]
    said = [f"it waits for a person as {candidate.id}; it is not part of the memory until they accept it"]
    if placed.outcome is Outcome.MERGED:
        said.append(f"it was proposed before; {candidate.seen} times by now")
    said += [f"it contradicts the record {target}; read it with memory_get" for target in candidate.contradicts]
    return said

"""What a host's payload says happened. Pure: bytes in, what was seen out, in memory only."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

from gitmem.hosts.hooks.families import (
    COMMAND_MEMBERS,
    COMMAND_TOOLS,
    FAMILIES,
    FILE_TOOLS,
    PATCH_MEMBERS,
    PATCH_TOOLS,
    PATH_MEMBERS,
    Family,
    Payload,
)
from gitmem.hosts.hooks.outcome import UNKNOWN, find_outcome
from gitmem.model.event import EventKind, Seen
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.values import replace

MAX_PAYLOAD_BYTES = 8 << 20
_MAX_PATHS = 200
_PATCHED = late(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)
_SUBAGENT = "agent_id"
"""A member of what a host tells of its subagents; a model writes the prompts of these."""
_AGENT = "agent_type"
"""A member of what it tells of them and of agents that a person started."""
_TURNS = ("prompt_id", "turn_id", "generation_id", "timestamp")
_DETAILS = ("source", "trigger", "reason", "final_status", "status")


class UnreadableError(ValueError):
    """The bytes are no JSON object, or one that is nested without measure."""


def parse_payload(data: bytes) -> Payload:
    """Return the JSON object in ``data``. Raises ``UnreadableError`` for anything else."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise UnreadableError from None
    if not isinstance(value, dict):
        raise UnreadableError
    return value


def find_family(payload: Payload, host: str = "") -> Family | None:
    """Return the host whose payload this is, or the one called ``host`` where that is told; ``None`` for nobody's."""
    return next((one for one in FAMILIES if (one.host == host if host else one.owns(payload))), None)


def is_known(payload: Payload, family: Family) -> bool:
    """Tell whether the payload's event is one of the host's that gitmem knows, kept or not."""
    return _text(payload, "hook_event_name") in family.events


def find_seen(payload: Payload, family: Family) -> Seen | None:
    """Return what happened; ``None`` for an event that is not kept, or that names no session."""
    event = _text(payload, "hook_event_name")
    kind = family.events.get(event)
    session = next(filter(None, (_text(payload, name) for name in family.sessions)), "")
    if kind is None or not session:
        return None
    folder = _find_folder(payload)
    detail = next(filter(None, (_text(payload, name) for name in _DETAILS)), "")
    if kind is EventKind.TOOL:
        return _see_tool(payload, family, event, Seen(kind, session, family.host, folder))
    seen = Seen(kind, session, family.host, folder, detail=detail)
    return _see_prompt(payload, family, seen) if kind is EventKind.PROMPT else seen


def _see_prompt(payload: Payload, family: Family, seen: Seen) -> Seen:
    prompt = _find_typed(_text(payload, "prompt"), family.puts_before)
    return replace(
        seen,
        given=prompt.encode("utf-8", "replace"),
        prompt="" if payload.get(_SUBAGENT) else prompt,
        is_typed=not (payload.get(_SUBAGENT) or payload.get(_AGENT)),
        turn=next(filter(None, (_text(payload, name) for name in _TURNS)), ""),
    )


def _find_typed(prompt: str, tag: str) -> str:
    """Return the ``prompt`` without what stands before it in ``tag``, in which the host leaves no other bracket."""
    opened, closed = f"<{tag}>", f"</{tag}>"
    if not tag or not prompt.startswith(opened) or closed not in prompt:
        return prompt
    return prompt.partition(closed)[2].lstrip("\n")


def _see_tool(payload: Payload, family: Family, event: str, seen: Seen) -> Seen:
    tool = _text(payload, "tool_name") or ("Edit" if event == "afterFileEdit" else "")
    given = payload.get("tool_input")
    members = given if isinstance(given, dict) else {}
    if event == "afterFileEdit":
        given = members = {name: payload.get(name) for name in ("file_path", "edits")}
    produced = next((payload[name] for name in ("tool_response", "tool_output", "error") if name in payload), None)
    code, failed = find_outcome(family.host, event, tool, payload) if tool else UNKNOWN
    duration = payload.get(family.duration)
    return Seen(
        kind=seen.kind,
        session=seen.session,
        host=seen.host,
        folder=seen.folder,
        tool=tool,
        command_line=_find_command(tool, members),
        paths=tuple(_iter_paths(tool, members)),
        exit_code=code,
        failed=failed,
        duration_ms=_to_ms(duration),
        given=_to_bytes(given),
        produced=_to_bytes(produced),
    )


def _find_folder(payload: Payload) -> str:
    """Return where the host works: what it says, else the first folder of its workspace.

    Empty for what can be no folder.
    """
    folder = _text(payload, "cwd")
    roots = payload.get("workspace_roots")
    if not folder and isinstance(roots, list) and roots and isinstance(roots[0], str):
        folder = roots[0]
    try:
        return "" if b"\0" in os.fsencode(folder) else folder
    except UnicodeEncodeError:  # half a character, which no file system has
        return ""


def _find_command(tool: str, members: dict[str, Any]) -> str:
    if tool.lower() not in COMMAND_TOOLS:
        return ""
    command = next((members[name] for name in COMMAND_MEMBERS if name in members), "")
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        import shlex

        return shlex.join(command)
    return command if isinstance(command, str) else ""


def _iter_paths(tool: str, members: dict[str, Any]) -> Iterator[str]:
    name = tool.lower()
    if name in PATCH_TOOLS:
        patch = next((members[one] for one in PATCH_MEMBERS if isinstance(members.get(one), str)), "")
        yield from _PATCHED.findall(patch)[:_MAX_PATHS]
    elif name in FILE_TOOLS:
        yield from dict.fromkeys(filter(None, (_text(members, one) for one in PATH_MEMBERS)))


def _text(members: Payload, name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""


def _to_ms(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 40:
        return None
    return int(value)


def _to_bytes(value: Any) -> bytes | None:
    """Return what stands for a value of JSON, always the same for the same; of a text its own bytes."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text.encode("utf-8", "replace")

"""How a tool's use went, from the form in which its host tells it. Pure; nothing of an output is returned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from gitmem.hosts.hooks.families import COMMAND_TOOLS, PATCH_TOOLS, Payload
from gitmem.patterns import late
from gitmem.typed import Any

Outcome = tuple[int | None, bool | None]
"""The exit code and whether it failed, each ``None`` where the host doesn't tell."""
UNKNOWN: Outcome = (None, None)
_MAX_CODE = 1 << 32
_TAIL_CHARS = 400
_LEADING_CODE = late(r"(?:Exit code:? |Command failed with exit code )(-?\d{1,10})\b")
_GEMINI_CODE = late(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_GEMINI_SIGNAL = late(r"^(?:Signal: |Error: )", re.MULTILINE)
_DSH_CODE = late(r"\[exit code: (-?\d{1,10})\]\s*$")


def find_outcome(host: str, event: str, tool: str, payload: Payload) -> Outcome:
    """Return how the use of ``tool`` went that ``payload`` of ``host`` tells of."""
    reader = _READERS.get(host)
    code, failed = UNKNOWN if reader is None else reader(event, tool.lower(), payload)
    return (code if code is None or abs(code) < _MAX_CODE else None), failed


def _read_claude(event: str, tool: str, payload: Payload) -> Outcome:
    if event == "PostToolUseFailure":
        return _leading_code(payload.get("error")), True
    response = payload.get("tool_response")
    members = response if isinstance(response, dict) else {}
    if members.get("interrupted") is True or members.get("backgroundTaskId"):
        return UNKNOWN
    # The host tells a command that failed with an event of its own.
    return (0 if tool in COMMAND_TOOLS else None), False


def _read_codex(_event: str, tool: str, payload: Payload) -> Outcome:
    response = payload.get("tool_response")
    if isinstance(response, dict):
        return _by_code(_find_int(response, ("exit_code", "exitCode")))
    if tool in PATCH_TOOLS:
        return _by_code(_leading_code(response))
    return UNKNOWN  # what a command printed, and no more


def _read_gemini(_event: str, tool: str, payload: Payload) -> Outcome:
    response = payload.get("tool_response")
    members = response if isinstance(response, dict) else {}
    said = members.get("llmContent")
    if members.get("error"):
        return None, True
    if tool not in COMMAND_TOOLS:
        return None, False
    if not isinstance(said, str):
        return UNKNOWN
    tail = said[-_TAIL_CHARS:]
    if found := _GEMINI_CODE.findall(tail):
        return _by_code(int(found[-1]))
    return (None, True) if _GEMINI_SIGNAL.search(tail) else (0, False)


def _read_opencode(_event: str, tool: str, payload: Payload) -> Outcome:
    response = payload.get("tool_response")
    members = response.get("metadata") if isinstance(response, dict) else None
    code = _find_int(members, ("exit",))
    return _by_code(code) if tool in COMMAND_TOOLS else (None, False)


def _read_cursor(event: str, tool: str, payload: Payload) -> Outcome:
    if event == "postToolUseFailure":
        return _leading_code(payload.get("error_message")), True
    try:
        output = json.loads(payload["tool_output"])
    except (KeyError, TypeError, ValueError, RecursionError):
        output = None
    code = _find_int(output, ("exitCode", "exit_code"))
    return _by_code(code) if tool in COMMAND_TOOLS else (None, False)


def _read_dsh(_event: str, tool: str, payload: Payload) -> Outcome:
    said = payload.get("tool_response")
    if not isinstance(said, str) or said.startswith("Error: "):
        return UNKNOWN
    found = _DSH_CODE.search(said[-_TAIL_CHARS:])
    if tool not in COMMAND_TOOLS:
        return None, False
    return _by_code(int(found[1])) if found else (0, False)


_READERS: dict[str, Callable[[str, str, Payload], Outcome]] = {
    "claude-code": _read_claude,
    "codex": _read_codex,
    "gemini": _read_gemini,
    "opencode": _read_opencode,
    "cursor": _read_cursor,
    "dsh": _read_dsh,
}


def _by_code(code: int | None) -> Outcome:
    return UNKNOWN if code is None else (code, code != 0)


def _leading_code(said: Any) -> int | None:
    found = _LEADING_CODE.match(said) if isinstance(said, str) else None
    return int(found[1]) if found else None


def _find_int(members: Any, names: tuple[str, ...]) -> int | None:
    if not isinstance(members, dict):
        return None
    values = (members.get(name) for name in names)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)

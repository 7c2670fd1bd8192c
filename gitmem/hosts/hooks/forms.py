"""The forms in which hosts take an answer of a hook from its standard output. Pure; each is one JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gitmem.hosts.hooks.families import Family
from gitmem.model.event import EventKind
from gitmem.typed import Any

_SHOWS_SYSTEM_MESSAGES = frozenset(("claude-code", "codex", "gemini"))
"""Hosts that show a ``systemMessage`` to their person."""


def format_context(family: Family, kind: EventKind, text: str) -> str:
    """Return the answer that puts ``text`` before the model, at a start or a prompt (``kind``) of ``family``."""
    return _dump(_add_context(family, kind, text))


def format_notice(family: Family, kind: EventKind, line: str) -> str:
    """Return the answer that puts ``line`` before the model and, where the host can, the person."""
    shown = {"systemMessage": line} if family.host in _SHOWS_SYSTEM_MESSAGES else {}
    return _dump(shown | _add_context(family, kind, line))


def format_result(family: Family, said: str) -> str:
    """Return the answer to a prompt that was a command: the model does not get it, and the person is shown ``said``."""
    answers: Mapping[str, dict[str, Any]] = {
        "cursor": {"continue": False, "user_message": said},
        "gemini": {"decision": "deny", "reason": said},
        "opencode": {"answer": said},
    }
    return _dump(answers.get(family.host, {"decision": "block", "reason": said}))


def _add_context(family: Family, kind: EventKind, text: str) -> dict[str, Any]:
    if family.host == "opencode":
        return {"context": text}
    if family.host == "cursor":
        return ({"continue": True} if kind is EventKind.PROMPT else {}) | {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": family.name_event(kind), "additionalContext": text}}


def _dump(answer: dict[str, Any]) -> str:
    return json.dumps(answer) + "\n"

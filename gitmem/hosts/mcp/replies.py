"""What a call comes to: plain values, the same as text for clients that show only that, and nothing without bounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gitmem.errors import GitmemError
from gitmem.model.answer import Answer, Status
from gitmem.service.told import plain_line

MAX_REPLY_BYTES = 24_000
"""Both forms together. Some hosts cut what a tool says at 10,000 tokens."""
MAX_NOTES = 8
MAX_NOTE_CHARS = 300
_UNREAD = (Status.UNAVAILABLE, Status.WITHHELD)
T = TypeVar("T")

_ADVICE: Mapping[str, str] = {
    "no-vault": "Work on without a memory. A person makes one with `gitmem init`.",
    "vault-missing": "Work on without the memory, and tell the person that the vault is not where it was.",
    "needs-human": "Only a person may do this. Use memory_propose; it waits for them in the inbox.",
    "refused": "Nobody may do this. Use memory_propose for what a person should decide.",
    "policy-bound": "Don't try again in this session. Tell the person what you wanted to keep.",
    "policy-broken": "Tell the person that the vault's policy can't be read; work on without writing.",
    "secret-found": "Leave the secret out, say where it is kept instead, and call again.",
    "scanner-failed": "Tell the person that the secret scanner failed; nothing is read or written until it works.",
    "vault-busy": "Somebody else is writing. Call again in a moment.",
    "index-locked": "A Git command is at work in the vault. Call again in a moment.",
    "no-such-record": "Search for it with memory_search; a record may be named by id, key or path.",
    "near-duplicate": "Read that record with memory_get. If it says what you mean, nothing is to be done.",
    "op-id-reused": "Take another op_id: this one was used for something else.",
    "key-taken": "Read the record that has the key with memory_get, or leave the key out.",
}
"""What a model can do about an error, where the error's own hint speaks to a person at a terminal."""
DEFAULT_ADVICE = "Correct the arguments and call again, or tell the person."


@dataclass(frozen=True)
class Reply:
    """What a tool answers. ``data`` fits the tool's output schema, or is empty where the call failed."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    failed: bool = False

    @property
    def size_bytes(self) -> int:
        """How much a client is sent, about."""
        return len(json.dumps(self.data, ensure_ascii=False).encode()) + len(self.text.encode())


def tell_error(code: str, message: str, hint: str = "") -> Reply:
    """Return the reply for a call that failed: what is wrong, and what the model can do."""
    what = plain_line(message, MAX_NOTE_CHARS)
    advice = plain_line(_ADVICE.get(code) or hint or DEFAULT_ADVICE, MAX_NOTE_CHARS)
    return Reply(f"error {code}: {what}\nWhat to do: {advice}", failed=True)


def tell_exception(error: GitmemError) -> Reply:
    """Return the reply for ``error``, without any secret that it may quote."""
    from gitmem.service.masked import mask_error

    told = mask_error(error)
    return tell_error(told.code, told.message, told.hint)


def tell_answer(answer: Answer, make: Callable[[dict[str, Any], list[str]], Reply]) -> Reply:
    """Return what ``make`` makes of an answer that could be read, given what all of them say and the notes to it.

    A memory that can't be read is an error, so that it never looks like one in which nothing was found.
    """
    if answer.status in _UNREAD:
        worst = answer.diagnostics[0]
        said = f"the memory is {answer.status.value}, which says nothing about what it holds: {worst.message}"
        return tell_error(worst.code, said, str(answer.extra.get("hint", "")))
    notes = list_notes(answer)
    told = {"status": answer.status.value, "revision": answer.revision, "notes": notes}
    return make({name: value for name, value in told.items() if value}, notes)


def list_notes(answer: Answer) -> list[str]:
    """Return what is to be known about an answer, a line each: how it is degraded, and what is wrong with files."""
    said = [f"{one.code}: {one.message}" + (f" ({one.path})" if one.path else "") for one in answer.diagnostics]
    if answer.status is Status.DEGRADED and not said:
        said.append("the memory could not be read as well as usual; something may be missing")
    more = len(said) - MAX_NOTES
    shown = [plain_line(line, MAX_NOTE_CHARS) for line in said[:MAX_NOTES]]
    return [*shown, *([f"{more} more problems; `gitmem check` lists them"] if more > 0 else [])]


def fit(items: Sequence[T], make: Callable[[Sequence[T]], Reply]) -> Reply:
    """Return what ``make`` makes of as many of ``items``, from the first on, as ``MAX_REPLY_BYTES`` have room for."""
    shown = items
    while (reply := make(shown)).size_bytes > MAX_REPLY_BYTES and shown:
        shown = shown[: min(len(shown) - 1, len(shown) * MAX_REPLY_BYTES // reply.size_bytes)]
    return reply

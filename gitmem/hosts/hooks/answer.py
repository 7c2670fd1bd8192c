"""What a hook says back to its host, on standard output, in the host's own form.

A session starts with the context, a prompt gets its recall, a command that a person typed is carried out. It is asked
after the event was kept, with the prompt still in memory. An empty answer is nothing on standard output, which every
host takes for "go on".
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from gitmem.hosts.environment import Environment
from gitmem.hosts.hooks.families import READING_TOOLS, Family
from gitmem.model.event import EventKind, Seen
from gitmem.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitmem.model.answer import Answer
    from gitmem.service.memory_read import ReadVerbs


MAX_CONTEXT_CHARS = 9000
"""Claude Code and Codex take 10,000 characters from a hook whole."""
_FORGETTING = frozenset(("clear", "compact"))
"""Starts after which the model has forgotten what it was given before: rather twice than not at all."""
RunTyped = Callable[[Sequence[str], Environment], int]
"""Runs a command line as that of a person who typed it as a prompt, prints what came of it, returns the exit code."""


class Answered(NamedTuple):
    """What to print for an event, empty for nothing, and what is wrong with the memory, empty where nothing is."""

    said: str = ""
    complaint: str = ""


NOTHING = Answered()


def is_answered(seen: Seen) -> bool:
    """Tell whether something comes of ``seen`` beside its being kept."""
    if seen.kind is EventKind.TOOL:
        return bool(seen.paths) and seen.tool.lower() not in READING_TOOLS
    return seen.kind in (EventKind.SESSION_START, EventKind.PROMPT, EventKind.COMPACTION)


def find_answer(
    family: Family, seen: Seen, memory: ReadVerbs, run_typed: RunTyped, *, is_again: bool = False
) -> Answered:
    """Return what to print for ``seen``; with ``is_again`` it was told before, and answered then.

    May raise ``GitmemError`` and ``OSError``; the host goes on.
    """
    if seen.kind is EventKind.PROMPT:
        return _answer_prompt(family, seen, memory, run_typed, is_again=is_again)
    if seen.kind is EventKind.TOOL:
        from gitmem.service.refresh import refresh_written

        refresh_written(memory.vault, (os.path.join(seen.folder, path) for path in seen.paths))
        return NOTHING
    if seen.kind is EventKind.COMPACTION or seen.detail in _FORGETTING:
        _forget(seen, memory)
    if seen.kind is not EventKind.SESSION_START or (is_again and seen.detail not in _FORGETTING):
        return NOTHING
    return _give(family, seen, memory, _find_context(memory))


def tell_failure(family: Family, seen: Seen, home: str, code: str) -> str:
    """Return the answer that says, once a session, that the memory can't be read, and why: the ``code`` of an error.

    Without a ``home`` in which to remember that, at its start. Empty for events to which a host takes no context.
    """
    from gitmem.clock import SystemClock
    from gitmem.hosts.hooks.forms import format_notice
    from gitmem.model.answer import Answer, Status
    from gitmem.model.record import Problem
    from gitmem.service.notices import mark_told
    from gitmem.service.status_line import add_status

    if seen.kind not in (EventKind.SESSION_START, EventKind.PROMPT):
        return ""
    is_first = bool(home) and mark_told(home, seen.session, Status.UNAVAILABLE, SystemClock())
    if not is_first and seen.kind is EventKind.PROMPT:
        return ""
    broken = add_status(Answer(Status.UNAVAILABLE, None, diagnostics=(Problem(code, ""),)))
    return format_notice(family, seen.kind, broken.extra["text"])


def _answer_prompt(family: Family, seen: Seen, memory: ReadVerbs, run_typed: RunTyped, *, is_again: bool) -> Answered:
    if seen.is_typed and seen.prompt.startswith("gitmem "):
        from gitmem.hosts.hooks.prompt_command import answer_command

        said = answer_command(family, seen, memory, run_typed)
        if said:
            return Answered(said)
    if is_again or not seen.prompt.strip():
        return NOTHING
    return _give(family, seen, memory, memory.recall(seen.prompt, session=seen.session))


def _find_context(memory: ReadVerbs) -> Answer:
    """Return the context, of a length that hosts take whole: some count characters beyond the first plane twice."""
    answer = memory.context(MAX_CONTEXT_CHARS)
    units = _count_units(answer)
    if units > MAX_CONTEXT_CHARS:
        answer = memory.context(MAX_CONTEXT_CHARS**2 // units)
    return answer if _count_units(answer) <= MAX_CONTEXT_CHARS else memory.context(MAX_CONTEXT_CHARS // 2)


def _count_units(answer: Answer) -> int:
    return len(answer.extra["text"].encode("utf-16-le", "replace")) // 2


def _give(family: Family, seen: Seen, memory: ReadVerbs, answer: Answer) -> Answered:
    """Return the text of ``answer`` in the host's form; that the memory can't be read is told once a session.

    At a start it is told whatever was told before: that may have been to a model which has forgotten it.
    """
    from gitmem.hosts.hooks.forms import format_context, format_notice
    from gitmem.model.answer import Status
    from gitmem.service.notices import mark_told

    text = answer.extra["text"]
    if answer.status in (Status.OK, Status.NO_MATCH):
        return Answered(format_context(family, seen.kind, text) if text else "")
    complaint = f"memory is {answer.status.value}: {answer.diagnostics[-1].message}"
    is_first = mark_told(memory.vault.options.home, seen.session, answer.status, memory.vault.clock)
    if answer.hits or answer.rows:
        return Answered(format_context(family, seen.kind, text), complaint)
    if is_first or seen.kind is EventKind.SESSION_START:
        return Answered(format_notice(family, seen.kind, text), complaint)
    _line, _break, rest = text.partition("\n")
    return Answered(format_context(family, seen.kind, rest) if rest else "", complaint)


def _forget(seen: Seen, memory: ReadVerbs) -> None:
    from gitmem.service.digest import reset_digest
    from gitmem.service.notices import forget_told

    forget_told(memory.vault.options.home, seen.session)
    with contextlib.suppress(OSError):  # then something is told as unchanged that the model has forgotten
        reset_digest(memory.vault.layout, seen.session)

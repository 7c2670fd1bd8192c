"""What the reading verbs share: how an answer is printed, and which exit code says how the read went."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitmem.errors import IntegrityError, UnavailableError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.output import read_document
from gitmem.hosts.cli.plain import format_hint, format_problems, format_tier, format_unreadable, short
from gitmem.model.answer import Answer, Status
from gitmem.service.memory import Memory

NOTHING_FOUND = 1


def say_answer(
    call: Call,
    read: Callable[[Memory], Answer],
    text: Callable[[Answer], str],
    nothing: str = "",
    fields: Sequence[str] = (),
) -> int:
    """Ask the memory that the call means, print its answer, and return the exit code.

    ``text`` makes the text for people, and is asked only when there is an answer to show. ``nothing`` is said, beside
    the result, where nothing was found. Of each result the document has ``fields`` alone, where any are given. The code
    is 0 for ``ok`` and ``degraded``, 1 for ``no-match``, 6 for
    ``unavailable`` and ``withheld``, 7 where a row is an error.
    """
    with call.open_memory() as memory:
        return print_answer(call, read(memory), memory.vault.layout.repo, text, nothing, fields)


def print_answer(
    call: Call,
    answer: Answer,
    repo: str,
    text: Callable[[Answer], str],
    nothing: str = "",
    fields: Sequence[str] = (),
) -> int:
    """Print ``answer``, as a document or as ``text``, warnings beside it; return the exit code of ``say_answer``."""
    if answer.status in (Status.UNAVAILABLE, Status.WITHHELD):
        call.print_result(read_document(answer, repo), "")
        call.warn(format_unreadable(answer))
        return UnavailableError.exit_code
    if call.as_json:
        call.print_result(read_document(answer, repo, fields), "")
    else:
        call.print_paged(text(answer))
    if "as_of" in answer.extra:
        call.warn(f"as of {answer.extra['as_of']}, commit {short(answer.revision)}")
    call.warn(format_problems(answer.diagnostics))
    call.warn(format_tier(answer))
    if answer.status is Status.NO_MATCH:
        call.warn(nothing)
        call.warn(format_hint(answer))
        return NOTHING_FOUND
    if answer.status is Status.DEGRADED:
        call.warn("memory degraded: the answer may be slower or less complete than usual")
    return IntegrityError.exit_code if any(row.get("severity") == "error" for row in answer.rows) else 0

"""The human check: show a person exactly what will be done, and let them type a code that nobody could know before.

A write is first tried as what any command line call is, the model surface. Only where policy answers ``needs-human``
and a terminal is there is a person asked; the answer makes the same request a human one. With ``--human`` it is asked
for at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from gitmem.errors import PolicyError, StateError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.columns import find_columns
from gitmem.hosts.cli.preview import Preview, format_preview
from gitmem.hosts.cli.terminal import Terminal, discard_typed, find_screen, read_line
from gitmem.model.authority import Actor
from gitmem.model.ids import new_token

CODE_CHARS = 4
MAX_ANSWER_BYTES = 1024
Result = TypeVar("Result")


def run_confirmed(
    call: Call,
    attempt: Callable[[Actor], Result],
    preview: Callable[[], Preview],
    *,
    stdin_is_used: bool = False,
) -> Result:
    """Return what ``attempt`` returns as the model, or as a person who agreed, where that is needed or wanted.

    What was typed as a prompt in a host is a person's at once, with no more to confirm; policy says how far that goes.
    ``preview`` tells what would be done; it is called again after the answer, so that what is done is what was shown;
    the records in it are tied to the person whom ``attempt`` is handed.
    ``stdin_is_used`` says that standard input was the record's text: then the answer comes from the controlling
    terminal. Raises ``PolicyError`` (``needs-human`` without a terminal, ``not-confirmed``) or ``StateError``
    (``changed-meanwhile``), nothing written, and whatever ``attempt`` raises.
    """
    if call.by_prompt:
        return attempt(call.person())
    needed = PolicyError("needs-human", "--human takes a person", "Run it at a terminal, or leave --human out.")
    if not call.as_person:
        try:
            return attempt(call.model())
        except PolicyError as error:
            if error.code != "needs-human":
                raise
            needed = error
    with _open_terminal(call, stdin_is_used=stdin_is_used) as terminal:
        if terminal is None:
            raise needed
        shown = preview()
        _ask(terminal, shown)
    if preview() != shown:
        raise StateError(
            "changed-meanwhile",
            "what was shown has changed since; nothing was written",
            "Run the command again and look at what it says now.",
        )
    return attempt(replace(call.person(), shown=shown.seen))


@contextlib.contextmanager
def _open_terminal(call: Call, *, stdin_is_used: bool) -> Iterator[Terminal | None]:
    screen = find_screen(call)
    if screen is None:
        yield None
    elif sys.stdin is not None and sys.stdin.isatty():
        yield Terminal(screen, sys.stdin.fileno())
    elif stdin_is_used and (keys := _open_controlling_terminal()) is not None:
        try:
            yield Terminal(screen, keys)
        finally:
            os.close(keys)
    else:
        yield None


def _open_controlling_terminal() -> int | None:
    try:
        return os.open("/dev/tty", os.O_RDONLY | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return None


def _ask(terminal: Terminal, shown: Preview) -> None:
    code = new_token(CODE_CHARS)
    terminal.show(f"{format_preview(shown, find_columns(terminal.screen))}\n")
    # Whatever was typed or pasted before the code was on the screen is no answer to it.
    discard_typed(terminal.keys)
    terminal.show(f"Type {code} to confirm: ", ends="")
    if read_line(terminal.keys, MAX_ANSWER_BYTES).decode(errors="replace").strip() != code:
        raise PolicyError(
            "not-confirmed", "the code was not typed; nothing was written", "Run it again to get a new code."
        )

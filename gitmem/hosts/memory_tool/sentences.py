"""What the memory tool says, in the words of its documentation (2026-11), and how files and folders are shown. Pure.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool, "Tool commands". Text of records is shown
line by line behind a number of ours, with what can't be seen made visible; nothing is longer than ``MAX_VIEW_CHARS``.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.text import make_visible

MAX_LINES = 999_999
MAX_VIEW_CHARS = 16_000
"""The tool's own description promises a model that views are cut there."""
MAX_ENTRIES = 200
"""How many files and folders one listing shows."""
MAX_ECHO_CHARS = 500
_NUMBER_WIDTH = 6
_AROUND = 2
"""How many lines before and behind a change are shown."""
_UNITS = "BKMG"


class CommandError(Exception):
    """A command that was not carried out; its text is what the model is told. Nothing was written."""


def no_such_path(path: str, *, error: bool = True, advice: bool = True) -> CommandError:
    """Return that nothing is at ``path``. The documentation words it in three ways."""
    head, tail = "Error: " if error else "", ". Please provide a valid path." if advice else ""
    return CommandError(f"{head}The path {echo(path)} does not exist{tail}")


def already_there(path: str) -> CommandError:
    """Return that a file can't be created because something is at ``path``."""
    return CommandError(f"Error: File {echo(path)} already exists")


def destination_exists(path: str) -> CommandError:
    """Return that nothing can be renamed to ``path`` because something is there."""
    return CommandError(f"Error: The destination {echo(path)} already exists")


def not_found(old: str, path: str) -> CommandError:
    """Return that the text to be replaced is not in the file."""
    return CommandError(f"No replacement was performed, old_str `{echo(old)}` did not appear verbatim in {echo(path)}.")


def found_often(old: str, lines: Sequence[int]) -> CommandError:
    """Return that the text to be replaced is in the file more than once, on ``lines``."""
    shown = ", ".join(map(str, lines[:MAX_ENTRIES])) + (", …" if len(lines) > MAX_ENTRIES else "")
    return CommandError(
        f"No replacement was performed. Multiple occurrences of old_str `{echo(old)}` in lines: {shown}. "
        "Please ensure it is unique"
    )


def bad_line(line: int, count: int) -> CommandError:
    """Return that there is no place behind ``line`` in a file of ``count`` lines."""
    return CommandError(
        f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: "
        f"[0, {count}]"
    )


def too_many_lines(path: str) -> CommandError:
    """Return that a file has more lines than a view numbers."""
    return CommandError(f"File {echo(path)} exceeds maximum line limit of 999,999 lines.")


def echo(text: str) -> str:
    """Return what a model gave, fit to be told back: visible, and not longer than a message should be."""
    shown = make_visible(text[:MAX_ECHO_CHARS])
    return shown + ("…" if len(text) > MAX_ECHO_CHARS else "")


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text`` without their ends; a line feed at the end begins no further one."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def show_file(path: str, text: str, span: tuple[int, int] | None) -> str:
    """Return the lines of a file from ``span[0]`` to ``span[1]`` (-1: the last), all of them for ``None``.

    What does not fit into ``MAX_VIEW_CHARS`` is left out, and a last line says how to see it.
    """
    lines = split_lines(text)
    if len(lines) > MAX_LINES:
        raise too_many_lines(path)
    first, last = _clamp(span, len(lines))
    shown, rest = _number(lines, first, last)
    if rest is not None:
        shown.append(f"[Lines {rest} to {len(lines)} are not shown; view them with view_range [{rest}, -1].]")
    return "\n".join([f"Here's the content of {path} with line numbers:", *shown])


def show_change(text: str, start: int, end: int) -> str:
    """Return that a file was edited, with its lines around those from ``start`` to ``end``, counted from 1."""
    lines = split_lines(text)
    shown, _rest = _number(lines, max(1, start - _AROUND), min(len(lines), end + _AROUND))
    head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return "\n".join([head, *shown])


def show_folder(path: str, size: int, entries: Sequence[tuple[int, str]], span: tuple[int, int] | None) -> str:
    """Return the listing of a folder: its size and those of ``entries``, (bytes, path) in order; folders end in ``/``.

    ``span`` chooses among more than ``MAX_ENTRIES``, which the last line then says.
    """
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
    first, last = _clamp(span, len(entries))
    last = min(last, first + MAX_ENTRIES - 1)
    shown = [f"{format_size(each)}\t{make_visible(name)}" for each, name in entries[first - 1 : last]]
    if last < len(entries):
        shown.append(f"[{len(entries) - last} more; view them with view_range [{last + 1}, -1].]")
    return "\n".join([head, f"{format_size(size)}\t{path}", *shown])


def format_size(size: int) -> str:
    """Return a number of bytes for people: ``0B``, ``410B``, ``1.5K``, ``2M``."""
    power = 0
    while size >= 1024 ** (power + 1) and power < len(_UNITS) - 1:
        power += 1
    value = size / 1024**power
    return f"{value:.0f}{_UNITS[power]}" if value == int(value) else f"{value:.1f}{_UNITS[power]}"


def _clamp(span: tuple[int, int] | None, count: int) -> tuple[int, int]:
    if span is None:
        return 1, count
    first, last = max(1, span[0]), count if span[1] == -1 else min(span[1], count)
    if count and (first > count or last < first):
        raise CommandError(
            f"Error: Invalid `view_range` parameter: {list(span)}. It should be [start_line, end_line] within the "
            f"range of lines: [1, {count}], or [start_line, -1]"
        )
    return first, last


def _number(lines: Sequence[str], first: int, last: int) -> tuple[list[str], int | None]:
    """Return the lines with their numbers, and the first of them that did not fit."""
    shown: list[str] = []
    room = MAX_VIEW_CHARS
    for number in range(first, last + 1):
        # What breaks lines elsewhere must not begin one here, where a number of ours would have to be.
        text = make_visible(lines[number - 1].removesuffix("\r")).replace("\n", "\\n")
        line = f"{number:>{_NUMBER_WIDTH}}\t{text}"
        if len(line) > room:
            if shown:
                return shown, number
            line = f"{line[:room]}… [the line has {len(text)} characters]"
        shown.append(line)
        room -= len(line) + 1
    return shown, None

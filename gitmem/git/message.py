"""Commit messages: a subject, a body for people, and trailers that no one's text can forge. Pure.

Only the last paragraph holds trailers, gitmem alone writes it, and only it is read. Lines of a body that look like
gitmem's trailers are indented all the same, so that ``git log --grep`` with an anchored pattern isn't fooled either.
"""

from __future__ import annotations

import re
import textwrap

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.text import make_visible, one_line, shorten
from gitmem.values import dataclass

MAX_LINE_CHARS = 72
OP_ID = "Gitmem-Op-Id"
UNDOES = "Gitmem-Undoes"
REQUEST = "Gitmem-Request"
OTHER = "Gitmem-Other-Vault"
_NAME = late(r"[A-Za-z][A-Za-z0-9-]*")
_TRAILER = late(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)")
# A trailer of ours, the line at which Git's tools stop reading, and the marks at which they cut.
_FORGERY = late(r"gitmem-|---|# -+ >8", re.IGNORECASE)
_CHERRY_PICKED = "(cherry picked from commit "


@dataclass(frozen=True)
class Message:
    """A commit message. ``trailers`` are ``(name, value)`` in order; names may repeat."""

    subject: str
    body: str = ""
    trailers: tuple[tuple[str, str], ...] = ()


def format_message(message: Message) -> str:
    """Return the text of ``message``: subject of at most 72 characters, body wrapped at 72, trailers last.

    Hidden characters come out as escapes. Trailers with an empty value are left out. Raises ``InputError``
    (``bad-trailer``) for a name that is none.
    """
    subject = shorten(make_visible(message.subject), MAX_LINE_CHARS) or "(no subject)"
    body = _format_body(message.body)
    trailers = "\n".join(_format_trailer(*trailer) for trailer in message.trailers if one_line(trailer[1]))
    return "\n\n".join(part for part in (subject, body, trailers) if part) + "\n"


def parse_message(text: str) -> Message:
    """Return the parts of a commit message, anybody's. Trailers are read from the last paragraph alone.

    A paragraph with any line that is no trailer has none, and neither has the subject. Lines that begin with a blank
    go on with the trailer before.
    """
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", text.replace("\r\n", "\n").strip("\n").rstrip())
    subject, *rest = paragraphs
    trailers = _parse_trailers(rest[-1]) if rest else None
    if trailers:
        rest.pop()
    return Message(one_line(subject), "\n\n".join(rest), trailers or ())


def _format_body(body: str) -> str:
    lines = []
    for line in make_visible(body).expandtabs(4).split("\n"):
        indent = line[: len(line) - len(line.lstrip())][: MAX_LINE_CHARS // 2]
        lines += textwrap.wrap(
            line.strip(),
            MAX_LINE_CHARS - 2,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    kept = ["  " + line if _FORGERY.match(line) else line for line in lines]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")


def _format_trailer(name: str, value: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError("bad-trailer", f"{name!r} can't name a trailer", "Use letters, digits and -.")
    return f"{name}: {one_line(make_visible(value))}"


def _parse_trailers(paragraph: str) -> tuple[tuple[str, str], ...] | None:
    found: list[tuple[str, str]] = []
    for line in paragraph.split("\n"):
        if line[:1] in (" ", "\t"):
            if not found:
                return None
            name, value = found.pop()
            found.append((name, one_line(f"{value} {line}")))
            continue
        match = _TRAILER.fullmatch(line)
        if match:
            found.append((match[1], one_line(match[2])))
        elif not line.startswith(_CHERRY_PICKED):
            return None
    return tuple(found)

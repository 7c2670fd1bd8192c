"""A commit as a value, and its bytes. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitmem.git.objects import TreeId
from gitmem.model.ids import CommitId
from gitmem.patterns import late
from gitmem.text import make_visible, one_line
from gitmem.values import dataclass

_HEADER = late(rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author ([^\n]*)\ncommitter ([^\n]*)\n")
_PERSON = late(r"(.*?) ?<([^<>]*)> (-?\d{1,18}) ([+-])(\d\d)(\d\d)")
# Git strips these from the ends of names; inside, only angle brackets break the format.
_CRUD = ".,:;<>\"\\' "


@dataclass(frozen=True)
class Commit:
    """One commit. ``time`` is when it was committed, in seconds since 1970; ``offset_minutes`` is east of UTC.

    ``author`` and ``email`` are the author's, ``committer`` is the whole line as Git writes it. Text that is not UTF-8
    comes with replacement characters.
    """

    id: CommitId
    parents: tuple[CommitId, ...]
    tree: TreeId
    author: str
    email: str
    time: int
    offset_minutes: int
    message: str
    committer: str


def parse_commit(commit: CommitId, data: bytes) -> Commit:
    """Return the commit whose object holds ``data``. Raises ``ValueError`` for bytes that are none.

    A person's line that is garbled, which Git lets pass, gives empty text and the time 0.
    """
    header = _HEADER.match(data)
    if header is None or b"\0" in header[0]:
        raise ValueError("its header is garbled")
    author, email, _time, _offset = _parse_person(_text(header[3]))
    committer = _text(header[4])
    _name, _email, time, offset_minutes = _parse_person(committer)
    return Commit(
        id=commit,
        parents=tuple(CommitId(line[7:]) for line in header[2].decode().splitlines()),
        tree=TreeId(header[1].decode()),
        author=author,
        email=email,
        time=time,
        offset_minutes=offset_minutes,
        message=_text(data.partition(b"\n\n")[2]),
        committer=committer,
    )


def format_commit(
    tree: TreeId, parents: Sequence[CommitId], author: tuple[str, str], time: tuple[int, int], message: str
) -> bytes:
    """Return the bytes of a commit; author and committer are the same person.

    ``author`` is (name, email); what can't stand in a commit's header is left out. ``time`` is (seconds since 1970,
    minutes east of UTC).
    """
    seconds, minutes = time
    hours, rest = divmod(abs(minutes), 60)
    offset = f"{'-' if minutes < 0 else '+'}{hours:02d}{rest:02d}"
    name, email = _clean(author[0]) or "unknown", _clean(author[1]).replace(" ", "")
    person = f"{name} <{email}> {max(0, seconds)} {offset}"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {person}", f"committer {person}"]
    text = message.replace("\0", "").rstrip("\n")
    return "\n".join([*lines, "", text + "\n"]).encode("utf-8", "replace")


def _parse_person(line: str) -> tuple[str, str, int, int]:
    found = _PERSON.fullmatch(line)
    if found is None:
        return "", "", 0, 0
    minutes = int(found[5]) * 60 + int(found[6])
    return found[1], found[2], int(found[3]), -minutes if found[4] == "-" else minutes


def _clean(text: str) -> str:
    return one_line(re.sub(r"[<>\n]", " ", make_visible(text))).strip(_CRUD)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")

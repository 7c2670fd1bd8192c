"""Where a work tree stands: its branch, its commit, and what Git operation is under way. Plain reads, no libgit2."""

from __future__ import annotations

import os
import re

from gitmem.disk import open_regular, read_regular
from gitmem.errors import IntegrityError
from gitmem.git.discover import read_pointer
from gitmem.model.ids import CommitId
from gitmem.patterns import late
from gitmem.values import dataclass

_ID = late(r"[0-9a-f]{40}")
_LOG_LINE = late(rb"[0-9a-f]{40} ([0-9a-f]{40}) ")
_TAIL_BYTES = 16 << 10
_MAX_SYMBOLIC = 5


@dataclass(frozen=True)
class Head:
    """``branch`` is ``None`` when HEAD is detached (or names no branch), ``commit`` when the branch has none yet."""

    branch: str | None
    commit: CommitId | None


def read_head(git_dir: str, common_dir: str) -> Head:
    """Return where HEAD of the work tree stands. Raises ``IntegrityError`` (``ref-unreadable``)."""
    text = read_pointer(os.path.join(git_dir, "HEAD"))
    if text is None:
        raise _unreadable("HEAD")
    if _ID.fullmatch(text):
        return Head(None, CommitId(text))
    name = _symbolic_target(text, "HEAD")
    branch = name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else None
    return Head(branch, read_ref(common_dir, name))


def read_ref(common_dir: str, name: str) -> CommitId | None:
    """Return the commit that the full reference ``name`` stands for, ``None`` when there is no such reference.

    A loose file wins over ``packed-refs``; symbolic references are followed. Raises ``IntegrityError``
    (``ref-unreadable``) for one that is empty or garbled, never taking that for absence.
    """
    for _ in range(_MAX_SYMBOLIC):
        path = os.path.join(common_dir, name)
        text = read_pointer(path)
        if text is None:
            if os.path.lexists(path) and not os.path.isdir(path):
                raise _unreadable(name)
            return _find_packed(common_dir, name)
        if _ID.fullmatch(text):
            return CommitId(text)
        name = _symbolic_target(text, name)
    raise _unreadable(name)


def read_log_tip(common_dir: str, branch: str) -> CommitId | None:
    """Return the commit that the branch's own log says it is at, ``None`` when there is no log or its end is torn."""
    try:
        with open_regular(os.path.join(common_dir, "logs/refs/heads", branch)) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            line = file.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
    except OSError:
        return None
    found = _LOG_LINE.match(line)
    return CommitId(found[1].decode()) if found else None


def find_operation(git_dir: str) -> str | None:
    """Return the Git operation under way in a work tree, in Git's words, ``None`` when there is none.

    ``am``, ``rebase``, ``merge``, ``cherry-pick``, ``revert`` or ``bisect``; judged by files, as Git does.
    """

    def there(name: str) -> bool:
        return os.path.lexists(os.path.join(git_dir, name))

    if there("rebase-apply/applying"):
        return "am"
    if there("rebase-merge") or there("rebase-apply"):
        return "rebase"
    for name, operation in (("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick"), ("REVERT_HEAD", "revert")):
        if there(name):
            return operation
    if there("sequencer/todo"):
        todo = read_pointer(os.path.join(git_dir, "sequencer/todo")) or ""
        return "revert" if todo.startswith("revert") else "cherry-pick"
    return "bisect" if there("BISECT_LOG") else None


def _find_packed(common_dir: str, name: str) -> CommitId | None:
    try:
        packed = read_regular(os.path.join(common_dir, "packed-refs"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable("packed-refs") from error
    found = re.search(rb"^([0-9a-f]{40}) " + re.escape(os.fsencode(name)) + rb"\r?$", packed, re.MULTILINE)
    return CommitId(found[1].decode()) if found else None


def _symbolic_target(text: str, name: str) -> str:
    target = text.removeprefix("ref:").strip()
    # A name that could lead out of refs/ would have this read any file.
    if not text.startswith("ref:") or not target.startswith("refs/") or ".." in target.split("/"):
        raise _unreadable(name)
    return target


def _unreadable(name: str) -> IntegrityError:
    return IntegrityError(
        "ref-unreadable",
        f"{name} of the repository is damaged",
        "The file logs/HEAD in its Git directory lists the commits that it was at, the last one at the end.",
        ref=name,
    )

"""What in a ``.git`` folder would redirect gitmem or make it act for somebody else. Checked before libgit2 opens it.

A repository that was handed over is executable input: its settings can move the work tree, bring in other objects or
show another history than people see. Everything is looked at by plain reads first.
"""

from __future__ import annotations

import os
import re
import stat
import sys

from gitmem.disk import open_regular, read_regular
from gitmem.errors import InputError, StateError, UnavailableError
from gitmem.git.discover import find_common_dir, find_git_dir, is_same_place, read_pointer
from gitmem.git.library import failures, prepare_libgit2
from gitmem.git.plain_settings import parse_plain_settings
from gitmem.model.settings import vault_missing
from gitmem.patterns import late
from gitmem.text import make_visible
from gitmem.values import dataclass

_MAX_CONFIG_BYTES = 1 << 20
# Folders and files that libgit2 or gitmem read and write; as links they would let a repository write elsewhere.
_FOLDERS = (
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
    "refs/heads",
    "logs",
    "logs/refs",
    "logs/refs/heads",
    "info",
    "gitmem",
    "gitmem/displaced",
    "gitmem/journal",
    "gitmem/maintain",
    "gitmem/maintain/pack",
    "gitmem/queue",
)
# Of these, whatever lies in them.
_TREES = ("objects", "refs/heads", "logs/refs/heads", "gitmem/queue")
_FILES = (
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "logs/HEAD",
    "commondir",
    "gitdir",
    "objects/info/commit-graph",
    "gitmem/lock",
)
_INCLUDE = late(rb"\[\s*include", re.IGNORECASE)
# INV-NO-PROGRAM. These run programs for a person's own Git commands; libgit2 knows none of them.
_RUNS_FOR_PEOPLE = late(
    r"core\.(hookspath|fsmonitor|sshcommand|gitproxy|editor|pager|askpass)|alias\..*|credential\..*helper"
    r"|gpg\..*program|diff\..*(command|textconv)|merge\..*driver|sequence\.editor|pager\..*"
)
# Objects that are not there would have to be fetched by a program that the settings name.
_FETCHES_LATER = late(r"extensions\.partialclone|remote\..*\.(promisor|partialclonefilter)")
_KNOWN_EXTENSIONS = (
    "extensions.noop",
    "extensions.objectformat",
    "extensions.preciousobjects",
    "extensions.refstorage",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
)


@dataclass(frozen=True)
class Place:
    """Where a work tree and its repository lie, all absolute.

    ``notices`` names settings that act only on a person's own Git commands, sorted.
    """

    root: str
    git_dir: str
    common_dir: str
    notices: tuple[str, ...] = ()


def check_repository(root: str) -> Place:
    """Check that ``root`` (absolute) is the work tree of a repository that is safe to open; reads only.

    Raises ``InputError`` (``relative-path``), ``UnavailableError`` (``vault-missing``), ``StateError``
    (``no-repository``, ``bare-repository``, ``sha256-repository``, ``repository-unsupported``, and
    ``hostile-repository`` with the field ``setting``), ``UnavailableError`` (``vault-unreadable``).
    """
    try:
        return _check(root)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise UnavailableError(
            "vault-unreadable",
            f"the repository can't be read: {error.strerror or error}{where}",
            "Look at what is there and at its permissions.",
        ) from error


def _check(root: str) -> Place:
    git_dir = _find_checked_git_dir(root)
    common_dir = find_common_dir(git_dir)
    _check_pointers(root, git_dir, common_dir)
    for folder in dict.fromkeys((git_dir, common_dir)):
        _check_kinds(folder)
    settings = [
        setting
        for path in (os.path.join(common_dir, "config"), os.path.join(git_dir, "config.worktree"))
        for setting in _read_settings(path)
    ]
    _check_settings(settings, root, git_dir, linked=git_dir != common_dir)
    _check_objects_and_refs(common_dir)
    notices = sorted({name for name, _value in settings if _RUNS_FOR_PEOPLE.fullmatch(name)})
    return Place(root, git_dir, common_dir, tuple(notices))


def _find_checked_git_dir(root: str) -> str:
    if not os.path.isabs(root):
        raise InputError(
            "relative-path", f"a repository is named by an absolute path, not {root!r}", "Give the path from /."
        )
    if not os.path.isdir(root):
        raise vault_missing(root)
    dot_git = os.path.join(root, ".git")
    if not _is_there(dot_git):
        if os.path.isfile(os.path.join(root, "HEAD")) and os.path.isdir(os.path.join(root, "objects")):
            raise _bare()
        raise StateError(
            "no-repository",
            "the folder is not the root of a Git repository",
            "Give the folder that holds .git; repositories of parent folders are never used.",
        )
    if os.path.islink(dot_git):
        raise _hostile(".git as a symbolic link")
    git_dir = find_git_dir(root)
    if git_dir is None or not os.path.isdir(git_dir):
        raise StateError(
            "no-repository", ".git points to a directory that is not there", "Was the repository or its disk moved?"
        )
    return git_dir


def _is_there(path: str) -> bool:
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _check_pointers(root: str, git_dir: str, common_dir: str) -> None:
    dot_git = os.path.join(root, ".git")
    if git_dir == common_dir:
        return
    back = read_pointer(os.path.join(git_dir, "gitdir"))
    worktrees = os.path.join(common_dir, "worktrees")
    if (
        os.path.isdir(dot_git)
        or back is None
        or not is_same_place(os.path.join(git_dir, back), dot_git)
        or not is_same_place(os.path.dirname(git_dir), worktrees)
    ):
        raise _hostile("commondir")


def _check_kinds(folder: str) -> None:
    for names, is_right in ((_FOLDERS, stat.S_ISDIR), (_FILES, stat.S_ISREG)):
        for name in names:
            try:
                mode = os.lstat(os.path.join(folder, name)).st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            if not is_right(mode):
                raise _hostile(f"{name} as a link or device")
    for name in _TREES:
        waiting = [name]
        while waiting:
            waiting += _check_below(folder, waiting.pop(), deep=name != "objects")
    _check_packs(folder)


def _check_packs(folder: str) -> None:
    packs = os.path.join(folder, "objects/pack")
    try:
        odd = [entry.name for entry in os.scandir(packs) if not entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return
    if odd:  # libgit2 would wait for the other end of a pipe
        raise _hostile(f"objects/pack/{odd[0]} as a link, folder or device")


def _check_below(folder: str, inside: str, *, deep: bool) -> list[str]:
    """Refuse links and devices in a folder; return the folders in it where ``deep``."""
    try:
        with os.scandir(os.path.join(folder, inside)) as entries:
            found = list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    below = []
    for entry in found:
        name = f"{inside}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            below.append(name)
        elif not entry.is_file(follow_symlinks=False):
            raise _hostile(f"{name} as a link or device")
    return below if deep else []


def _read_settings(path: str) -> list[tuple[str, str]]:
    try:
        with open_regular(path, sys.maxsize) as file:
            data = file.read(_MAX_CONFIG_BYTES + 1)
    except FileNotFoundError:
        return []
    # Before libgit2 parses the file: it would already open what an include names.
    if _INCLUDE.search(data) or len(data) > _MAX_CONFIG_BYTES:
        raise _hostile("include")
    plain = parse_plain_settings(data)
    if plain is not None:
        return plain
    import pygit2

    prepare_libgit2()
    try:
        return [(entry.name, entry.value or "") for entry in pygit2.Config(path)]
    except failures() as error:
        raise StateError(
            "repository-unsupported", f"the repository's settings can't be understood: {error}", "Mend .git/config."
        ) from error


def _check_settings(settings: list[tuple[str, str]], root: str, git_dir: str, *, linked: bool) -> None:
    for name, value in settings:
        if name == "core.worktree" and not is_same_place(os.path.join(git_dir, value), root):
            raise _hostile(name)
        if name.startswith("filter."):
            raise _hostile(name)
        if name == "extensions.objectformat" and value.lower() != "sha1":
            raise StateError(
                "sha256-repository",
                f"the repository names its objects by {value}, gitmem and libgit2 by SHA-1",
                "Use a repository made without --object-format.",
            )
        if name == "extensions.refstorage" and value.lower() != "files":
            raise StateError(
                "repository-unsupported",
                f"the repository keeps its branches as {value}, gitmem as files",
                "Move them with `git refs migrate --ref-format=files`.",
            )
        if name == "core.repositoryformatversion" and value not in ("0", "1"):
            raise _unsupported(f"is of format {make_visible(value)[:20]}")
        if _FETCHES_LATER.fullmatch(name):
            raise _unsupported("fetches objects only when they are asked for (a partial clone)")
        if name.startswith("extensions.") and name not in _KNOWN_EXTENSIONS:
            raise _unsupported(f"asks for {make_visible(name)[:80]}, which gitmem does not know")
        if name == "core.bare" and value.lower() in ("true", "yes", "on", "1", "") and not linked:
            raise _bare()


def _check_objects_and_refs(common_dir: str) -> None:
    for name in ("objects/info/alternates", "info/grafts", "shallow"):
        if _has_bytes(os.path.join(common_dir, name)):
            raise _hostile(name)
    try:
        packed = b" refs/replace/" in read_regular(os.path.join(common_dir, "packed-refs"))
    except FileNotFoundError:
        packed = False
    if packed or any(files for _folder, _folders, files in os.walk(os.path.join(common_dir, "refs/replace"))):
        raise _hostile("refs/replace")


def _has_bytes(path: str) -> bool:
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return info.st_size > 0 or not stat.S_ISREG(info.st_mode)  # libgit2 would wait for the other end of a pipe


def _bare() -> StateError:
    return StateError(
        "bare-repository", "the repository has no work tree", "Clone it and use the clone: a vault is a work tree."
    )


def _unsupported(why: str) -> StateError:
    return StateError(
        "repository-unsupported",
        f"the repository {why}",
        "Make a whole, plain clone of it with `git clone --no-local`, and use that.",
    )


def _hostile(setting: str) -> StateError:
    return StateError(
        "hostile-repository",
        f"the repository's {setting} would redirect gitmem or change what it sees",
        "If you know what it is for, remove it; else make a clean copy with `git clone --no-local`.",
        setting=setting,
    )

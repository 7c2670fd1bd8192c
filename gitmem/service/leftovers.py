"""What crashes leave that no command settles: files with gitmem's names that belong to no operation under way."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from gitmem.disk import iter_files
from gitmem.git.lockfile import TEMP_PREFIX
from gitmem.patterns import late
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass
from gitmem.vault.layout import HomeLayout

_WORK_FILE = late(r"\.gitmem-.+")
_PRIVATE_INDEX = late(r"index\.(?!lock$).+")
_LOCK = late(re.escape(TEMP_PREFIX) + ".+")
_UNFINISHED_VAULT = late(r"\.gitmem-init-.+")


@dataclass(frozen=True)
class Leftovers:
    """Files or folders of one kind, by name within ``folder`` (absolute), sorted."""

    what: str
    folder: str
    names: tuple[str, ...]


def find_leftovers(vault: OpenVault) -> Iterator[Leftovers]:
    """Yield the leftovers in the vault's work tree and Git directory; reads folders alone.

    To be asked when no operation is under way or abandoned: those have such files for good reason.
    """
    repo, root = vault.repo, vault.layout.repo
    files = iter_files(root, skips=lambda name: name == ".git")
    work = sorted(path for path in files if _WORK_FILE.fullmatch(os.path.basename(path)))
    yield Leftovers("temporary files of gitmem in the work tree", root, tuple(work))
    for folder in sorted({repo.git_dir, repo.common_dir}):
        yield Leftovers("private staging areas of gitmem", folder, _names(folder, _PRIVATE_INDEX))
        yield Leftovers("temporary files of gitmem's locks", folder, _names(folder, _LOCK))


def find_unfinished_vaults(home: HomeLayout, repos: tuple[str, ...]) -> Iterator[Leftovers]:
    """Yield the vaults that ``init`` did not come to rename into place: in the home and beside each of ``repos``."""
    own = [home.root, os.path.dirname(home.global_repo), *_workspaces(os.path.join(home.root, "workspaces"))]
    for folder in dict.fromkeys(map(os.path.realpath, [*own, *map(os.path.dirname, repos)])):
        yield Leftovers("unfinished vaults of gitmem", folder, _names(folder, _UNFINISHED_VAULT))


def _workspaces(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except FileNotFoundError:
        return []


def _names(folder: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
    try:
        return tuple(sorted(name for name in os.listdir(folder) if pattern.fullmatch(name)))
    except (FileNotFoundError, NotADirectoryError):
        return ()

"""Which vault a command means: the one named, the one of the working folder, or the global one."""

from __future__ import annotations

import hashlib
import os

from gitmem.errors import GitmemError, InputError, UnavailableError
from gitmem.git.discover import find_repository, main_worktree
from gitmem.model.settings import Scope, VaultEntry
from gitmem.values import replace
from gitmem.vault.layout import MANIFEST, HomeLayout
from gitmem.vault.manifest import load_manifest
from gitmem.vault.registry import load_registry


def locate(home: HomeLayout, folder: str, named: str | None = None, *, only_known: bool = False) -> VaultEntry:
    """Return the vault that ``named`` means (a path or a name), else that of ``folder``, else the global one.

    A folder belongs to a vault when it lies in it, or in the project of a registered workspace, or in a linked
    worktree of that project's repository. With ``only_known``, a vault that the registry doesn't know is none, unless
    it is ``named``: for what nobody asked for in ``folder``, which may hold whatever somebody handed over. Reads only.
    Raises ``InputError`` (``no-such-vault``, ``ambiguous-vault``)
    or ``UnavailableError`` (``no-vault``, ``registry-missing``, ``vault-missing``); never makes a vault.
    """
    entries = load_registry(home)
    if named is not None:
        return _find_named(home, entries, folder, named)
    around = _find_around(home, entries, folder, only_known=only_known)
    return around or _find_project(entries, folder) or _get_global(home)


def find_global(home: HomeLayout) -> VaultEntry | None:
    """Return the home's global vault as the registry knows it, there or not; ``None`` where none was ever made.

    Raises ``UnavailableError`` (``vault-missing``) where it lies in the home and the registry has it elsewhere: in a
    home that was moved or copied. That is no home without one.
    """
    place = os.path.realpath(home.global_repo)
    entries = [entry for entry in load_registry(home) if entry.scope is Scope.GLOBAL]
    found = next((entry for entry in entries if entry.path == place), None)
    if found is None and entries and os.path.isfile(os.path.join(place, MANIFEST)):
        message = f"the global vault lies in {place}, and the registry has it at {entries[0].path}"
        raise UnavailableError("vault-missing", message, "If the home was moved, `gitmem init` takes it in anew.")
    return found


def list_vaults(home: str) -> tuple[VaultEntry, ...]:
    """Return the vaults that the home (an absolute folder) knows, in the order in which they were made. Reads."""
    return load_registry(HomeLayout(home))


def find_project_root(folder: str) -> str:
    """Return the folder that stands for the project around ``folder``: its repository's main worktree, else itself."""
    found = find_repository(folder)
    return os.path.realpath(main_worktree(found[0]) if found else folder)


def _find_named(home: HomeLayout, entries: tuple[VaultEntry, ...], folder: str, named: str) -> VaultEntry:
    matches = [entry for entry in entries if named in (entry.name, entry.vault_id)]
    if len(matches) == 1:
        return matches[0]
    if len(matches) > 1:
        raise InputError(
            "ambiguous-vault", f"{len(matches)} vaults are called {named!r}", "Name the vault by its path instead."
        )
    path = os.path.join(folder, os.path.expanduser(named))
    if os.path.isdir(path):
        entry = _find_around(home, entries, path) or _find_at(entries, path)
        if entry is not None:
            return entry
        raise InputError(
            "no-such-vault",
            f"{named!r} is not a gitmem vault",
            "`gitmem doctor` lists the known vaults; `gitmem init PATH` makes one in a new or empty folder.",
        )
    gone = _find_at(entries, path)
    if gone is not None:
        return gone
    raise InputError(
        "no-such-vault",
        f"no vault is called {named!r} and no folder is there",
        "`gitmem doctor` lists the known vaults.",
    )


def _find_at(entries: tuple[VaultEntry, ...], path: str) -> VaultEntry | None:
    """Return the vault that is registered at ``path``, however little of it is left there: opening it says what is."""
    return next((entry for entry in entries if entry.path == os.path.realpath(path)), None)


def _find_around(
    home: HomeLayout, entries: tuple[VaultEntry, ...], folder: str, *, only_known: bool = False
) -> VaultEntry | None:
    place = os.path.realpath(folder)
    while True:
        if os.path.isfile(os.path.join(place, MANIFEST)) and os.path.lexists(os.path.join(place, ".git")):
            entry = _find_known_at(entries, place) or (None if only_known else _read_entry(home, place))
            if entry is not None:
                return entry
        parent = os.path.dirname(place)
        if parent == place:
            return None
        place = parent


def _find_known_at(entries: tuple[VaultEntry, ...], root: str) -> VaultEntry | None:
    main = os.path.realpath(main_worktree(root))
    known = next((entry for entry in entries if os.path.realpath(entry.path) in (root, main)), None)
    return None if known is None else replace(known, path=root)


def _read_entry(home: HomeLayout, root: str) -> VaultEntry | None:
    """Return the vault at ``root`` that no entry knows, by its manifest."""
    main = os.path.realpath(main_worktree(root))
    try:
        manifest = load_manifest(root)
    except GitmemError:
        manifest = None
    if manifest is None:
        return None
    # Another clone of a registered vault bears its id; the place keeps the two runtimes apart.
    mark = hashlib.sha256(os.fsencode(main)).hexdigest()[:8]
    runtime = os.path.join(home.root, "runtime", f"{manifest.vault_id}-{mark}")
    return VaultEntry(manifest.vault_id, manifest.scope, manifest.name, root, runtime)


def _find_project(entries: tuple[VaultEntry, ...], folder: str) -> VaultEntry | None:
    projects = {entry.project: entry for entry in entries if entry.project}
    for start in dict.fromkeys((os.path.realpath(folder), find_project_root(folder))):
        place = start
        while True:
            if place in projects:
                return projects[place]
            parent = os.path.dirname(place)
            if parent == place:
                break
            place = parent
    return None


def _get_global(home: HomeLayout) -> VaultEntry:
    entry = find_global(home)
    if entry is None and _is_registry_lost(home):
        message = f"there are vaults in {home.root}, and the registry that says which is gone"
        raise UnavailableError("registry-missing", message, "`gitmem init FOLDER` takes the vault in FOLDER in anew.")
    if entry is None:
        raise UnavailableError(
            "no-vault", "there is no vault here and no global one", "`gitmem init` makes the global vault."
        )
    return entry


def _is_registry_lost(home: HomeLayout) -> bool:
    """Tell whether a home has vaults and no registry: that is no home in which none was ever made."""
    if os.path.lexists(home.registry_file):
        return False
    try:
        workspaces = os.listdir(home.workspaces)
    except OSError:
        workspaces = []
    inside = (home.global_repo, *map(home.workspace_repo, workspaces))
    return any(os.path.isfile(os.path.join(repo, MANIFEST)) for repo in inside)

"""Is this machine, this home and this vault fit for work? Looks only, and says what to do."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from gitmem.clock import SystemClock
from gitmem.errors import GitmemError
from gitmem.model.answer import Answer, Status
from gitmem.service.locate import locate
from gitmem.service.vault import OpenVault
from gitmem.vault.atomic import exchange
from gitmem.vault.layout import HomeLayout
from gitmem.vault.registry import load_registry
from gitmem.version import VERSION

Row = dict[str, Any]
_SYNC_MARKS = ("Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "iCloud", "Mobile Documents", "Syncthing")
AUTHORITY_LEVEL = (
    "a human surface is shown by a code typed at a terminal: this protects against models that use the tools, "
    "not against a process of your own user"
)


def doctor(home: HomeLayout, folder: str, named: str | None = None) -> Answer:
    """Return findings as rows: ``severity`` (ok, warning, error), ``code``, ``message``, ``hint``, ``path``.

    Works without a vault. Writes nothing but a file in the system's temporary folder, which it removes.
    """
    rows = [*_check_program(), *_check_home(home)]
    revision = None
    try:
        vault = OpenVault(locate(home, folder, named), SystemClock())
        rows += _check_vault(vault)
        revision = vault.repo.head().commit
        vault.close()
    except GitmemError as error:
        rows.append(_row("warning" if error.code == "no-vault" else "error", error.code, error.message, error.hint))
    return Answer(Status.OK, revision, rows=tuple(rows))


def _check_program() -> Iterator[Row]:
    from gitmem.catalog.database import sqlite_version
    from gitmem.git.library import library_version

    python = ".".join(map(str, sys.version_info[:3]))
    yield _row(
        "ok",
        "versions",
        f"gitmem {VERSION}, Python {python}, libgit2 {library_version()}, SQLite {sqlite_version()}, "
        f"{platform.system()}",
    )
    yield _row("ok", "authority", AUTHORITY_LEVEL)
    if _can_exchange():
        yield _row("ok", "exchange", "this platform can exchange two files in one step")
    else:
        yield _row(
            "warning",
            "no-exchange",
            "this platform can't exchange two files in one step; an edit saved by renaming in the same instant as an "
            "operation may be overwritten",
            "Don't edit a note while gitmem writes it.",
        )


def _check_home(home: HomeLayout) -> Iterator[Row]:
    try:
        entries = load_registry(home)
    except GitmemError as error:
        yield _row("error", error.code, error.message, error.hint)
        return
    yield _row("ok", "home", f"{len(entries)} vaults are registered", path=home.root)
    for entry in entries:
        if not os.path.isdir(entry.path):
            hint = "Put the folder back, or take the entry out of registry.json."
            yield _row("error", "vault-missing", f"the vault {entry.name!r} is not where it was", hint, entry.path)
        else:
            yield _row("ok", "vault", f"{entry.scope.value} vault {entry.name!r} ({entry.vault_id})", path=entry.path)


def _check_vault(vault: OpenVault) -> Iterator[Row]:
    from gitmem.git.stage import read_index_lock
    from gitmem.transaction.journal import is_pending

    layout = vault.layout
    manifest = vault.manifest
    head = vault.repo.head()
    yield _row("ok", "repository", f"{manifest.name!r} is at {head.commit} on {head.branch}", path=layout.repo)
    if head.branch != manifest.branch:
        yield _row("error", "not-on-managed-branch", f"the managed branch is {manifest.branch}", "Switch back to it.")
    busy = vault.repo.state_in_progress()
    if busy:
        yield _row("error", "git-operation-in-progress", f"a {busy} is under way", "Finish or abort it with Git.")
    lock = read_index_lock(vault.repo)
    if lock is not None:
        yield _row("warning", "index-locked", lock, "If no Git command or editor is open, the lock was left behind.")
    if is_pending(layout):
        hint = "The next command settles it; if it stays, look into runtime/journal."
        yield _row("warning", "abandoned-operation", "an operation is under way or was abandoned", hint, layout.journal)
    if any(mark in layout.repo for mark in _SYNC_MARKS):
        hint = "Move the vault out of it, or keep its .git folder elsewhere (a separate git directory)."
        yield _row("warning", "sync-folder", "the vault lies in a synchronised folder", hint, layout.repo)
    for place in (layout.repo, layout.runtime):
        if os.path.isdir(place) and not os.access(place, os.W_OK):
            yield _row("error", "not-writable", "the folder can't be written", "Give yourself permission.", place)
    if os.name != "nt" and os.path.isdir(layout.runtime) and os.stat(layout.runtime).st_mode & 0o077:
        yield _row("warning", "runtime-open", "others can read the runtime folder", "Make it 0700.", layout.runtime)


def _can_exchange() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in "ab"]
        for name in names:
            with open(name, "w", encoding="utf-8") as file:
                file.write(name)
        try:
            return exchange(*names)
        except OSError:
            return False


def _row(severity: str, code: str, message: str, hint: str = "", path: str | None = None) -> Row:
    return {"severity": severity, "code": code, "message": message, "hint": hint, "path": path}

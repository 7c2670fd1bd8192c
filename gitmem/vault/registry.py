"""The registry of a home: which vaults and workspaces exist. The only file with absolute paths, never in Git."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from gitmem.errors import IntegrityError, UnavailableError
from gitmem.model.ids import VaultId
from gitmem.model.settings import Scope, VaultEntry
from gitmem.vault.atomic import ensure_folder, replace_file
from gitmem.vault.layout import HomeLayout


def load_registry(home: HomeLayout) -> tuple[VaultEntry, ...]:
    """Return the known vaults in the order in which they were made; empty when there is no registry yet.

    Raises ``IntegrityError`` (``bad-registry``) for a registry that can't be understood.
    """
    try:
        with open(home.registry_file, "rb") as file:
            value: Any = json.loads(file.read())
        return tuple(_parse_entry(entry) for entry in value["vaults"])
    except FileNotFoundError:
        return ()
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            "bad-registry",
            f"{home.registry_file} can't be understood: {error!r}",
            "Move the file aside and run `gitmem init` with each vault's path again; vaults are left as they are.",
        ) from None


def register(home: HomeLayout, entry: VaultEntry) -> bool:
    """Put ``entry`` in the registry, in place of the one with its id; durable. Returns whether anything changed.

    Raises ``UnavailableError`` (``registry-busy``) after 10 s of waiting for another writer.
    """

    def put(entries: tuple[VaultEntry, ...]) -> tuple[VaultEntry, ...]:
        if any(known.vault_id == entry.vault_id for known in entries):
            return tuple(entry if known.vault_id == entry.vault_id else known for known in entries)
        return (*entries, entry)

    return _change(home, put)


def _change(home: HomeLayout, edit: Callable[[tuple[VaultEntry, ...]], tuple[VaultEntry, ...]]) -> bool:
    from filelock import FileLock, Timeout

    ensure_folder(home.root)
    lock = FileLock(home.registry_lock, mode=0o600)
    try:
        with lock.acquire(timeout=10):
            before = load_registry(home)
            after = edit(before)
            if after == before:
                return False
            replace_file(home.registry_file, _format(after))
            return True
    except Timeout:
        raise UnavailableError(
            "registry-busy", "another process holds the registry", "Try again in a moment."
        ) from None


def _format(entries: tuple[VaultEntry, ...]) -> bytes:
    vaults = [{**dataclasses.asdict(entry), "scope": entry.scope.value} for entry in entries]
    return (json.dumps({"format": 1, "vaults": vaults}, indent=2, ensure_ascii=False) + "\n").encode()


def _parse_entry(value: dict[str, Any]) -> VaultEntry:
    return VaultEntry(
        vault_id=VaultId(str(value["vault_id"])),
        scope=Scope(value["scope"]),
        name=str(value["name"]),
        path=str(value["path"]),
        runtime=str(value["runtime"]),
        project=str(value.get("project", "")),
    )

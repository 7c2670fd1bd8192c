"""The registry of a home: which vaults and workspaces exist. The only file with absolute paths, never in Git."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator

from gitmem.disk import ensure_folder, read_regular, replace_file
from gitmem.errors import IntegrityError, StateError, UnavailableError
from gitmem.model.ids import VaultId, is_record_id
from gitmem.model.settings import Scope, VaultEntry
from gitmem.text import make_visible
from gitmem.typed import Any
from gitmem.vault.layout import HomeLayout
from gitmem.vault.manifest import MAX_NAME_CHARS, get_member

FORMAT = 1
"""The newest registry format that this gitmem writes. A newer one is read, never written."""


def load_registry(home: HomeLayout) -> tuple[VaultEntry, ...]:
    """Return the known vaults in the order in which they were made; empty when there is no registry yet.

    Raises ``IntegrityError`` (``bad-registry``) for a registry that can't be understood, ``UnavailableError``
    (``registry-unreadable``) for one that can't be read.
    """
    return _load(home)[1]


def register(home: HomeLayout, entry: VaultEntry) -> bool:
    """Put ``entry`` in the registry, in place of the one with its id; durable. Returns whether anything changed.

    Raises ``UnavailableError`` (``registry-busy``) after 10 s of waiting for another writer, or what the disk says
    (``registry-unreadable``, ``registry-not-written``), ``StateError`` (``format-too-new``) for a registry of a newer
    gitmem, ``IntegrityError`` (``bad-registry``); nothing is written then.
    """

    def put(entries: tuple[VaultEntry, ...]) -> tuple[VaultEntry, ...]:
        if any(known.vault_id == entry.vault_id for known in entries):
            return tuple(entry if known.vault_id == entry.vault_id else known for known in entries)
        return (*entries, entry)

    return _change(home, put)


@contextlib.contextmanager
def hold_home(home: HomeLayout) -> Iterator[None]:
    """Let nobody else make a vault in this home, or register one as new, inside the ``with`` block.

    Raises ``UnavailableError`` (``registry-busy``) after 60 s.
    """
    from filelock import FileLock, Timeout

    is_new = not os.path.isdir(home.root)
    ensure_folder(home.root)
    try:
        with FileLock(home.init_lock, mode=0o600).acquire(timeout=60):
            yield
    except Timeout:
        raise UnavailableError("registry-busy", "another process makes a vault", "Try again in a moment.") from None
    except BaseException:
        if is_new:  # a home in which nothing was made should not stay
            with contextlib.suppress(OSError):
                os.unlink(home.init_lock)
            with contextlib.suppress(OSError):
                os.rmdir(home.root)
        raise


def _change(home: HomeLayout, edit: Callable[[tuple[VaultEntry, ...]], tuple[VaultEntry, ...]]) -> bool:
    from filelock import FileLock, Timeout

    lock = FileLock(home.registry_lock, mode=0o600)
    try:
        ensure_folder(home.root)
        with lock.acquire(timeout=10):
            temp = home.registry_file + ".tmp"
            with contextlib.suppress(FileNotFoundError):  # what a kill left
                os.unlink(temp)
            found, before = _load(home)
            after = edit(before)
            if after == before:
                return False
            if found > FORMAT:
                raise StateError(
                    "format-too-new",
                    f"the registry has format {found}, this gitmem writes format {FORMAT}",
                    "Reading works. Install a newer gitmem to register a vault.",
                )
            replace_file(home.registry_file, _format(after), temp=temp)
            return True
    except Timeout:
        raise UnavailableError(
            "registry-busy", "another process holds the registry", "Try again in a moment."
        ) from None
    except OSError as error:
        raise UnavailableError(
            "registry-not-written",
            f"the vault can't be registered: {error.strerror or error}",
            f"Look at free space and permissions of {home.root}, then run the command again.",
        ) from error


def _load(home: HomeLayout) -> tuple[int, tuple[VaultEntry, ...]]:
    """Return the format of the registry and its vaults."""
    try:
        value: Any = json.loads(read_regular(home.registry_file))
        found = get_member(value, "format", int)
        if found < 1:
            raise ValueError("format is not above 0")
        return found, tuple(_parse_entry(entry) for entry in get_member(value, "vaults", list))
    except FileNotFoundError:
        return FORMAT, ()
    except OSError as error:
        raise UnavailableError(
            "registry-unreadable",
            f"{home.registry_file} can't be read: {error.strerror}",
            "See what is in its place, and to its permissions.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise IntegrityError(
            "bad-registry",
            f"{home.registry_file} can't be understood: {make_visible(str(error))}",
            "Move the file aside and run `gitmem init` with each vault's path again; vaults are left as they are.",
        ) from None


def _format(entries: tuple[VaultEntry, ...]) -> bytes:
    vaults = [{**vars(entry), "scope": entry.scope.value} for entry in entries]
    value = {"format": FORMAT, "vaults": vaults}
    from gitmem.vault.schema import validate

    validate("registry", value)
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _parse_entry(value: Any) -> VaultEntry:
    entry = VaultEntry(
        vault_id=VaultId(get_member(value, "vault_id", str)),
        scope=Scope(get_member(value, "scope", str)),
        name=get_member(value, "name", str),
        path=get_member(value, "path", str),
        runtime=get_member(value, "runtime", str),
        project=get_member(value, "project", str, ""),
    )
    if not is_record_id(entry.vault_id) or not 0 < len(entry.name) <= MAX_NAME_CHARS:
        raise ValueError("a vault's id or name is malformed")
    if not entry.path or not entry.runtime:
        raise ValueError("a vault has no path or no runtime")
    return entry

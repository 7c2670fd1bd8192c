"""Keep the metadata of what a host saw, and nothing else. Writes runtime alone, never the repository or the project."""

from __future__ import annotations

import os
from contextlib import suppress

from gitmem.clock import format_utc
from gitmem.curator.capture import AT_A_COMMIT, Around, make_event
from gitmem.errors import GitmemError, UnavailableError
from gitmem.git.discover import find_common_dir, find_repository
from gitmem.git.head import read_head
from gitmem.model.event import Event, Fate, Odd, Seen
from gitmem.policy.secrets import find_secrets
from gitmem.service.vault import OpenVault
from gitmem.values import replace
from gitmem.vault.runtime_key import ensure_key
from gitmem.vault.spool import append_event
from gitmem.vault.tally import add_to_tally


def capture(vault: OpenVault, seen: Seen) -> Event | None:
    """Append what may be kept of ``seen`` to its session's spool and return it; ``None`` where a bound is reached.

    Raises as ``keep`` does.
    """
    event, fate = keep(vault, seen)
    return event if fate is Fate.KEPT else None


def keep(vault: OpenVault, seen: Seen, again_within_s: int = 0) -> tuple[Event, Fate]:
    """Append what may be kept of ``seen`` to its session's spool; return it and what became of it.

    What the vault has no room for is counted; what was told ``again_within_s`` seconds is not kept twice, see
    ``append_event``. Raises ``UnavailableError`` (``vault-missing``, ``events-unwritable``, ``scanner-failed``);
    nothing is kept then, which is counted if it can be.
    """
    _check_there(vault)
    try:
        event = _leave_secrets_out(make_event(_hide_session(seen), find_around(vault, seen)))
        return event, append_event(vault.layout, event, again_within_s)
    except UnavailableError:
        count_odd(vault, Odd.FAILED)
        raise
    except OSError as error:
        count_odd(vault, Odd.FAILED)
        reason = error.strerror or str(error)
        hint = f"Look at free space and permissions of {vault.layout.runtime}."
        raise UnavailableError("events-unwritable", f"the event can't be kept: {reason}", hint) from None


def _hide_session(seen: Seen) -> Seen:
    """Return ``seen`` with a session that is kept as a keyed hash, where the session looks like a secret."""
    return replace(seen, session=f"\0{seen.session}") if find_secrets(seen.session) else seen


def _leave_secrets_out(event: Event) -> Event:
    """Return ``event`` without the paths that look like a secret, which count as left out; nor a host, a tool."""
    paths = tuple(path for path in event.paths if not find_secrets(path))
    host, tool = ("" if find_secrets(one) else one for one in (event.host, event.tool))
    return replace(event, paths=paths, outside=event.outside + len(event.paths) - len(paths), host=host, tool=tool)


def count_odd(vault: OpenVault, what: Odd) -> None:
    """Count what a host told and gitmem does not know, or can't read. Never raises ``OSError``."""
    _check_there(vault)
    with suppress(OSError):
        add_to_tally(vault.layout, what)


def find_around(vault: OpenVault, seen: Seen) -> Around:
    """Return the workspace around ``seen``, by plain reads. Raises ``OSError`` where the key can't be made."""
    found = find_repository(os.path.realpath(seen.folder)) if os.path.isabs(seen.folder) else None
    commit = _find_commit(found) if seen.kind in AT_A_COMMIT else ""
    time = format_utc(vault.clock.now())
    return Around(time, _list_roots(vault, seen.folder, found), ensure_key(vault.layout.events_key), commit)


def _list_roots(vault: OpenVault, folder: str, found: tuple[str, str] | None) -> tuple[str, ...]:
    """Return the names of the workspace's folder: of the project that the vault is for, and of the repository around
    ``folder`` (one of the project's work trees), as the host may write them."""
    roots = [vault.entry.project, found[0] if found else ""]
    if os.path.isabs(folder):
        # The host may have come to the folder through a link; then its paths begin as its folder does.
        plain, real = os.path.normpath(folder), os.path.realpath(folder)
        for root in filter(None, tuple(roots)):
            below = os.path.relpath(real, root)
            if below == ".":
                roots.append(plain)
            elif not below.startswith("..") and plain.endswith(os.sep + below):
                roots.append(plain[: -len(below) - 1])
    return tuple(dict.fromkeys(filter(os.path.isabs, roots)))


def _find_commit(found: tuple[str, str] | None) -> str:
    """Return where HEAD of the project's repository is, empty where it has none or can't be read."""
    with suppress(GitmemError, OSError):
        if found is not None:
            return read_head(found[1], find_common_dir(found[1])).commit or ""
    return ""


def _check_there(vault: OpenVault) -> None:
    if not os.path.isdir(vault.layout.repo):
        raise UnavailableError(
            "vault-missing",
            f"the vault {vault.entry.name!r} is not where it was",
            "Put the folder back, or name another vault with --vault. gitmem does not make it anew by itself.",
        )

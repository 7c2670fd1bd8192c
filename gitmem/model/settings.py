"""Settings: what travels with a vault in its manifest, and which vaults a home knows."""

from __future__ import annotations

from enum import StrEnum

from gitmem.errors import UnavailableError
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import VaultId
from gitmem.values import dataclass

FORMAT = 1
"""The newest vault format that this gitmem writes. A newer one is read, never written."""
SHARD_COUNTS = (1, 32, 1024)


class Scope(StrEnum):
    """Where a memory applies."""

    GLOBAL = "global"
    WORKSPACE = "workspace"


class Clean(StrEnum):
    """What must be clean before an operation: the paths it touches, or the whole vault."""

    PATHS = "paths"
    VAULT = "vault"


@dataclass(frozen=True)
class Manifest:
    """The marker in ``manifest.json``: that gitmem manages this repository, and the settings that travel with it.

    ``human_keys`` are the keys of people, by name; where there are any, what only a person may do is signed.
    """

    vault_id: VaultId
    scope: Scope
    name: str
    format: int = FORMAT
    branch: str = "main"
    clean: Clean = Clean.PATHS
    catalog_shards: int = 1
    human_keys: tuple[HumanKey, ...] = ()


@dataclass(frozen=True)
class VaultEntry:
    """One vault as the registry knows it. ``path``, ``runtime`` and ``project`` are absolute and machine-local."""

    vault_id: VaultId
    scope: Scope
    name: str
    path: str
    runtime: str
    project: str = ""


@dataclass(frozen=True)
class HomeSettings:
    """What belongs to one person on one machine; never in a vault, since programs are started by it.

    ``secret_scanner`` is a command that looks for secrets beside gitmem's own scanner, empty for none;
    ``signing_key`` the file of the person's SSH key, empty for none.
    """

    secret_scanner: tuple[str, ...] = ()
    scanner_timeout_s: float = 5.0
    signing_key: str = ""


def vault_missing(place: str) -> UnavailableError:
    """Return the error (``vault-missing``) for a vault that is not at ``place``, where it should be."""
    return UnavailableError(
        "vault-missing",
        f"there is no vault at {place}",
        "Is its disk mounted? Put the folder back, or name another vault with --vault; gitmem makes none by itself.",
        path=place,
    )

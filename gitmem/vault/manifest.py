"""The marker ``manifest.json``: read, checked and written. Without it gitmem writes nothing."""

from __future__ import annotations

import json
from typing import Any

from gitmem.errors import IntegrityError, StateError
from gitmem.model.ids import VaultId, is_record_id
from gitmem.model.settings import FORMAT, SHARD_COUNTS, Clean, Manifest, Scope
from gitmem.model.vault_path import VaultPath
from gitmem.vault.layout import MANIFEST
from gitmem.vault.paths import read_file


def load_manifest(root: str) -> Manifest | None:
    """Return the manifest of the repository at ``root``, ``None`` when there is none.

    Raises ``IntegrityError`` (``bad-manifest``) for one that can't be understood.
    """
    data = read_file(root, VaultPath(MANIFEST))
    return None if data is None else parse_manifest(data)


def parse_manifest(data: bytes) -> Manifest:
    """Return the manifest in ``data``. Raises ``IntegrityError`` (``bad-manifest``)."""
    try:
        value: Any = json.loads(data)
        vault_id = value["vault_id"]
        if not is_record_id(vault_id) or type(value["gitmem"]) is not int or value["gitmem"] < 1:
            raise ValueError("its vault_id or its format is malformed")
        manifest = Manifest(
            vault_id=VaultId(vault_id),
            scope=Scope(value["scope"]),
            name=str(value["name"]),
            format=value["gitmem"],
            branch=str(value.get("branch", "main")),
            clean=Clean(value.get("clean", "paths")),
            catalog_shards=int(value.get("catalog_shards", 1)),
        )
        if manifest.catalog_shards not in SHARD_COUNTS:
            raise ValueError(f"catalog_shards is none of {SHARD_COUNTS}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise IntegrityError(
            "bad-manifest",
            f"{MANIFEST} can't be understood: {error!r}",
            "Compare it with `git log -p manifest.json` and put the last good content back.",
        ) from None
    return manifest


def format_manifest(manifest: Manifest) -> bytes:
    """Return the manifest as JSON for people: two blanks of indentation, one final newline."""
    value = {
        "gitmem": manifest.format,
        "vault_id": manifest.vault_id,
        "scope": manifest.scope.value,
        "name": manifest.name,
        "branch": manifest.branch,
        "clean": manifest.clean.value,
        "catalog_shards": manifest.catalog_shards,
    }
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def check_writable(manifest: Manifest) -> None:
    """Check that this gitmem may write the vault. Raises ``StateError`` (``format-too-new``)."""
    if manifest.format > FORMAT:
        raise StateError(
            "format-too-new",
            f"the vault has format {manifest.format}, this gitmem writes format {FORMAT}",
            "Reading works. Install a newer gitmem to write.",
        )

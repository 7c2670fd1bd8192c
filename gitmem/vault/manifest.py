"""The marker ``manifest.json``: read, checked and written. Without it gitmem writes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gitmem.errors import IntegrityError, StateError
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import VaultId, is_record_id
from gitmem.model.settings import FORMAT, SHARD_COUNTS, Clean, Manifest, Scope
from gitmem.model.vault_path import VaultPath
from gitmem.text import make_visible
from gitmem.typed import Any, TypeVar
from gitmem.vault.layout import MANIFEST
from gitmem.vault.paths import read_file

MAX_NAME_CHARS = 200
MAX_BRANCH_CHARS = 255
MAX_KEY_CHARS = 4096
_T = TypeVar("_T")


def load_manifest(root: str) -> Manifest | None:
    """Return the manifest of the repository at ``root``, ``None`` when there is none.

    Raises ``IntegrityError`` (``bad-manifest``) for one that can't be understood.
    """
    data = read_file(root, VaultPath(MANIFEST))
    return None if data is None else parse_manifest(data)


def parse_manifest(data: bytes) -> Manifest:
    """Return the manifest in ``data``. Raises ``IntegrityError`` (``bad-manifest``).

    Takes and refuses what ``schema/manifest.schema.json`` does; that one is compiled only where a manifest is written,
    because compiling it takes as long as a small command.
    """
    try:
        value: Any = json.loads(data)
        manifest = Manifest(
            vault_id=VaultId(get_member(value, "vault_id", str)),
            scope=Scope(get_member(value, "scope", str)),
            name=get_member(value, "name", str),
            format=get_member(value, "gitmem", int),
            branch=get_member(value, "branch", str, "main"),
            clean=Clean(get_member(value, "clean", str, "paths")),
            catalog_shards=get_member(value, "catalog_shards", int, 1),
            human_keys=_parse_keys(get_member(value, "human_keys", list, [])),
        )
        _check(manifest)
    except (ValueError, RecursionError) as error:
        raise IntegrityError(
            "bad-manifest",
            f"{MANIFEST} can't be understood: {make_visible(str(error))}",
            "Compare it with `git log -p manifest.json` and put the last good content back.",
        ) from None
    return manifest


def get_member(value: Any, name: str, kind: type[_T], default: _T | None = None) -> _T:
    """Return the member ``name`` of a JSON object, which is exactly of ``kind``; ``default`` where it is absent.

    Raises ``ValueError``.
    """
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - what is wrong is the file, not a caller
    found = value.get(name, default)
    if type(found) is not kind:
        raise ValueError(f"{name} is {'malformed' if name in value else 'missing'}")
    return found


def format_manifest(manifest: Manifest) -> bytes:
    """Return the manifest as JSON for people: two blanks of indentation, one final newline.

    Raises ``IntegrityError`` (``schema``) for one that its schema refuses.
    """
    value: dict[str, Any] = {
        "gitmem": manifest.format,
        "vault_id": manifest.vault_id,
        "scope": manifest.scope.value,
        "name": manifest.name,
        "branch": manifest.branch,
        "clean": manifest.clean.value,
        "catalog_shards": manifest.catalog_shards,
    }
    if manifest.human_keys:
        value["human_keys"] = [vars(key) for key in manifest.human_keys]
    from gitmem.vault.schema import validate

    validate("manifest", value)
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def edit_catalog_shards(data: bytes, shards: int) -> bytes:
    """Return a manifest's bytes with another number of shards; all other members, known here or not, stay as they are.

    Raises ``IntegrityError`` (``bad-manifest``).
    """
    return _edit(data, "catalog_shards", shards)


def edit_human_keys(data: bytes, keys: Sequence[HumanKey]) -> bytes:
    """Return a manifest's bytes with other keys of people, which no longer stand there when there are none.

    All other members stay as they are. Raises ``IntegrityError`` (``bad-manifest``).
    """
    return _edit(data, "human_keys", [vars(key) for key in keys] or None)


def _edit(data: bytes, name: str, member: Any) -> bytes:
    parse_manifest(data)
    value = json.loads(data)
    if member is None:
        value.pop(name, None)
    else:
        value[name] = member
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def check_writable(manifest: Manifest) -> None:
    """Check that this gitmem may write the vault. Raises ``StateError`` (``format-too-new``)."""
    if manifest.format > FORMAT:
        raise StateError(
            "format-too-new",
            f"the vault has format {manifest.format}, this gitmem writes format {FORMAT}",
            "Reading works. Install a newer gitmem to write.",
        )


def _parse_keys(found: list[Any]) -> tuple[HumanKey, ...]:
    keys = tuple(HumanKey(get_member(one, "name", str), get_member(one, "key", str)) for one in found)
    if any(not 0 < len(one.name) <= MAX_NAME_CHARS or not 0 < len(one.key) <= MAX_KEY_CHARS for one in keys):
        raise ValueError("human_keys has an entry without a name or key, or beyond all size")
    if len({one.name for one in keys}) < len(keys):
        raise ValueError("human_keys has one name twice")
    return keys


def _check(manifest: Manifest) -> None:
    if not is_record_id(manifest.vault_id):
        raise ValueError("vault_id is malformed")
    if manifest.format < 1:
        raise ValueError("gitmem, its format, is not above 0")
    if not 0 < len(manifest.name) <= MAX_NAME_CHARS:
        raise ValueError(f"name has not 1 to {MAX_NAME_CHARS} characters")
    if not 0 < len(manifest.branch) <= MAX_BRANCH_CHARS:
        raise ValueError(f"branch has not 1 to {MAX_BRANCH_CHARS} characters")
    if manifest.catalog_shards not in SHARD_COUNTS:
        raise ValueError(f"catalog_shards is none of {SHARD_COUNTS}")

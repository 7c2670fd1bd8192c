"""Anchors: what this machine trusts of a vault's keys, outside the repository, where a push or a pull can't reach.

One lies in the home. One that the system's administrator made in ``SYSTEM_ANCHORS`` has the last word about the keys,
for no program of the person's own account can change it.
"""

from __future__ import annotations

import json
import os

from gitmem.disk import ensure_folder, read_regular, replace_file
from gitmem.errors import IntegrityError
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import VaultId
from gitmem.model.signing import Anchor
from gitmem.text import make_visible
from gitmem.typed import Any
from gitmem.vault.layout import HomeLayout
from gitmem.vault.manifest import get_member
from gitmem.vault.schema import validate

SYSTEM_ANCHORS = "/etc/gitmem/anchors"
MAX_BYTES = 1 << 20
_WRITABLE_BY_OTHERS = 0o022


def load_anchor(home: HomeLayout | None, system_folder: str, vault_id: VaultId) -> Anchor | None:
    """Return what this machine trusts of a vault, ``None`` where nothing is known of it.

    The keys are the administrator's where those are given; the last statement is the later of the two. Raises
    ``IntegrityError`` (``bad-anchor``) for a file that can't be read, is not understood, or that lies among the
    administrator's and can be changed by others.
    """
    own = None if home is None else _load(home.anchor_file(vault_id), vault_id)
    roots = _load(os.path.join(system_folder, f"{vault_id}.json"), vault_id, is_roots=True)
    if roots is None or own is None:
        return roots or own
    seen = max(own, roots, key=lambda one: one.counter)
    return Anchor(vault_id, roots.keys, seen.counter, seen.digest, is_roots=True)


def save_anchor(home: HomeLayout, anchor: Anchor) -> None:
    """Write the anchor of the home; durable."""
    value = {
        "vault_id": anchor.vault_id,
        "keys": {one.name: one.key for one in anchor.keys},
        "counter": anchor.counter,
        "digest": anchor.digest,
    }
    validate("anchor", value)
    file = home.anchor_file(anchor.vault_id)
    ensure_folder(os.path.dirname(file))
    replace_file(file, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def _load(file: str, vault_id: VaultId, *, is_roots: bool = False) -> Anchor | None:
    try:
        data = read_regular(file, MAX_BYTES)
        if is_roots:
            _check_roots(file)
        value: Any = json.loads(data)
        keys: dict[str, str] = get_member(value, "keys", dict)
        anchor = Anchor(
            vault_id=VaultId(get_member(value, "vault_id", str)),
            keys=tuple(HumanKey(name, get_member(keys, name, str)) for name in sorted(keys)),
            counter=get_member(value, "counter", int, 0),
            digest=get_member(value, "digest", str, ""),
            is_roots=is_roots,
        )
        if anchor.vault_id != vault_id:
            raise ValueError("it is another vault's")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise IntegrityError(
            "bad-anchor",
            f"the anchor of this vault can't be used: {make_visible(str(error))}",
            "Look at the file. A person can write the home's anew with `gitmem keys trust`.",
            path=file,
        ) from None
    return anchor


def _check_roots(file: str) -> None:
    for place in (file, os.path.dirname(file)):
        info = os.lstat(place)
        if info.st_uid != 0 or info.st_mode & _WRITABLE_BY_OTHERS:
            raise ValueError("it lies among the administrator's, and others than the administrator can change it")

"""Files that an operation replaced, kept for a while: an editor that holds one open may still write into it.

They wait in the repository's own folder (the same file system, so that a rename keeps the very file that the editor has
open) under a name that says what they held. Whoever takes the lock next looks at those that have waited long enough.
"""

from __future__ import annotations

import contextlib
import os

from gitmem.disk import read_regular
from gitmem.errors import StateError
from gitmem.model.ids import OpId, fingerprint
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.files import displaced_name, keep_displaced
from gitmem.vault.layout import VaultLayout
from gitmem.vault.lock import FOLDER
from gitmem.vault.paths import open_folder, read_in

_FOLDER = "displaced"
WAIT_NS = 10_000_000_000
"""How long an editor may take to write into a file that was replaced under it: 10 s."""


def set_aside(common_dir: str, root: str, temp: VaultPath, op_id: OpId, number: int) -> bool:
    """Move the replaced file ``temp`` out of the work tree, to wait. Returns false where it can't be moved so."""
    waiting = os.path.join(common_dir, FOLDER, _FOLDER)
    try:
        os.makedirs(waiting, mode=0o700, exist_ok=True)
        with open_folder(root, temp) as folder:
            data = read_in(folder, temp)
            if data is None:
                return False
            folder.move_out(os.path.basename(temp), os.path.join(waiting, f"{fingerprint(data)}.{op_id}.{number}"))
    except (OSError, StateError):
        return False
    return True


def settle_displaced(layout: VaultLayout, common_dir: str, now_ns: int) -> list[str]:
    """Remove the waiting files that nobody wrote into; keep the others in ``runtime/displaced``. Returns notices.

    Called under the vault lock. Files that have not waited long enough stay.
    """
    folder = os.path.join(common_dir, FOLDER, _FOLDER)
    notices = []
    for name in _names(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if now_ns - os.lstat(path).st_ctime_ns < WAIT_NS:
                continue
            held, op_id, number = name.split(".")
            data = read_regular(path)
            if fingerprint(data) != held:
                keep_displaced(layout, OpId(op_id), VaultPath(f"late-{number}.md"), data)
                notices.append(
                    f"a program wrote into a file after it was replaced; kept in {displaced_name(OpId(op_id))}"
                )
            os.unlink(path)
    return notices


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.count(".") == 2)
    except OSError:
        return []

"""Files that an operation replaced or took back, kept until nobody can write into them any more.

An editor may have one open, and write into it long after another file stands under its name. They wait in the
repository's own folder (the same file system, so that a rename keeps the very file that the editor has open) under a
name that says what they held. Whoever takes the lock next looks at those that have waited long enough (ADR 0016).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from gitmem.disk import ensure_folder, is_being_written, read_regular, replace_file
from gitmem.model.ids import Fingerprint, OpId, fingerprint, new_token
from gitmem.model.record import state_of
from gitmem.model.vault_path import VaultPath
from gitmem.transaction.files import is_copy, is_never_seen, remove_empty_folders, temps_of
from gitmem.transaction.ground import Ground
from gitmem.transaction.journal import JournalEdit
from gitmem.vault.layout import VaultLayout
from gitmem.vault.lock import FOLDER
from gitmem.vault.paths import open_folder, read_in
from gitmem.vault.work_folder import WorkFolder

_FOLDER = "displaced"
WAIT_NS = 10_000_000_000
"""How long a file waits where the platform can't say whether a program has it open for writing: 10 s."""
SHORT_WAIT_NS = 1_000_000_000
"""How long it waits where the platform can: a program that was just opening it must have come to its end, 1 s."""
_MAX_NAME_BYTES = 120


def keep_displaced(layout: VaultLayout, op_id: OpId, path: str, data: bytes) -> None:
    """Keep bytes that a person wrote in ``runtime/displaced``, durable, under a name that says where they were.

    What was kept before under that name stays; the same bytes are kept once. Called with the vault lock held.
    """
    folder = os.path.join(layout.displaced, op_id)
    ensure_folder(folder)
    name = _short_name(path.replace("/", "%2F"))
    for number in range(1, 1 + len(os.listdir(folder)) + 1):
        target = os.path.join(folder, name if number == 1 else f"{number}.{name}")
        if not os.path.lexists(target):
            replace_file(target, data, temp=_half_made(layout))
            return
        if read_regular(target) == data:
            return


def displaced_name(op_id: OpId) -> str:
    """Return where ``keep_displaced`` keeps things, as people are told it."""
    return f"runtime/displaced/{op_id}"


def put_aside(ground: Ground, op_id: OpId, edit: JournalEdit) -> str | None:
    """Do what ``settle_temp`` does for a file that is in place and committed.

    A view that was replaced is not read: it is large and seldom open in an editor, and what was written into it is
    found when its wait is over.
    """
    if state_of(edit.path) is None and edit.before is not None:
        with contextlib.suppress(FileNotFoundError), open_folder(ground.layout.repo, edit.path) as folder:
            set_aside(ground, folder, edit.temp, edit.before, op_id, edit.path)
    return settle_temp(ground, op_id, edit)


def settle_temp(ground: Ground, op_id: OpId, edit: JournalEdit) -> str | None:
    """Take what the operation left beside a file out of the work tree, keeping whatever a person wrote into it.

    A file that stood under the note's name waits for late writes. Folders that are empty then go. Returns a notice that
    says what was kept where.
    """
    root, notice = ground.layout.repo, None
    try:
        with open_folder(root, edit.path) as folder:
            for path in temps_of(edit):
                data = read_in(folder, path)
                if data is None:
                    continue
                held = fingerprint(data)
                if data and not is_never_seen(edit, path) and held not in (edit.before, edit.after):
                    keep_displaced(ground.layout, op_id, edit.path, data)
                    notice = f"what another program wrote into {edit.path} meanwhile is kept in {displaced_name(op_id)}"
                goes = is_never_seen(edit, path) or is_copy(path)
                if goes or not set_aside(ground, folder, path, held, op_id, edit.path):
                    folder.discard(os.path.basename(path))
    except FileNotFoundError:  # nothing is left of the folder either
        return None
    remove_empty_folders(root, edit.path)
    return notice


def set_aside(
    ground: Ground, folder: WorkFolder, temp: VaultPath, held: Fingerprint, op_id: OpId, path: VaultPath
) -> bool:
    """Move the file ``temp``, which stood at ``path``, out of the work tree to wait; ``held`` is what it should hold.

    Returns false where it can't be moved so (no folder of gitmem's is on its file system).
    """
    name = f"{held}.{op_id}.{new_token()}.{_short_name(os.path.basename(path))}"
    for waiting in _folders(ground):
        with contextlib.suppress(OSError):
            ensure_folder(waiting)
            folder.move_out(os.path.basename(temp), os.path.join(waiting, name))
            return True
    return False


def settle_displaced(ground: Ground, now_ns: int) -> list[str]:
    """Remove the waiting files that nobody wrote into; keep the others in ``runtime/displaced``. Returns notices.

    Called under the vault lock. A file stays while a program has it open for writing, and else until it has waited
    long enough.
    """
    with contextlib.suppress(OSError):  # of a kill
        os.unlink(_half_made(ground.layout))
    notices = []
    for path in _iter_waiting(ground):
        with contextlib.suppress(OSError):
            if not _is_settled(path, now_ns):
                continue
            held, op_id, _token, name = os.path.basename(path).split(".", 3)
            data = read_regular(path)
            if data and fingerprint(data) != held:
                keep_displaced(ground.layout, OpId(op_id), f"late-{name}", data)
                notices.append(
                    f"a program wrote into a file after it was replaced; kept in {displaced_name(OpId(op_id))}"
                )
            os.unlink(path)
    return notices


def find_late_writes(ground: Ground) -> Iterator[str]:
    """Yield the names of the waiting files that somebody wrote into after they were replaced; reads only."""
    for path in _iter_waiting(ground):
        held, _op_id, _token, name = os.path.basename(path).split(".", 3)
        with contextlib.suppress(OSError):
            data = read_regular(path)
            if data and fingerprint(data) != held:
                yield name


def _is_settled(path: str, now_ns: int) -> bool:
    age_ns = now_ns - os.lstat(path).st_ctime_ns
    if age_ns < min(SHORT_WAIT_NS, WAIT_NS):
        return False
    written = is_being_written(path)
    return age_ns >= WAIT_NS if written is None else not written


def _folders(ground: Ground) -> tuple[str, str]:
    return (
        os.path.join(ground.repo.common_dir, FOLDER, _FOLDER),
        os.path.join(ground.layout.runtime, f"{_FOLDER}-waiting"),
    )


def _iter_waiting(ground: Ground) -> Iterator[str]:
    for folder in _folders(ground):
        try:
            names = os.listdir(folder)
        except OSError:  # none yet, or one that can't be read: what waits there goes on waiting
            continue
        yield from (os.path.join(folder, name) for name in sorted(names) if name.count(".") >= 3)


def _half_made(layout: VaultLayout) -> str:
    return os.path.join(layout.displaced, "half-made.tmp")


def _short_name(name: str) -> str:
    """Return ``name``, or its end where it would be too long for a file's name beside what is put before it."""
    return os.fsencode(name)[-_MAX_NAME_BYTES:].decode("utf-8", "ignore")

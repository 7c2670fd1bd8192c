"""What a person has begun and not finished, one private file each in ``runtime/drafts``. Never in Git."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from gitmem.disk import ensure_folder, flush_folder, read_regular, replace_file
from gitmem.errors import StateError, UnavailableError
from gitmem.vault.layout import VaultLayout
from gitmem.vault.os_lock import try_lock

MAX_DRAFT_BYTES = 16 << 20


def load_draft(layout: VaultLayout, name: str) -> bytes | None:
    """Return the draft ``name``, ``None`` where there is none. Raises ``UnavailableError`` (``draft-unreadable``)."""
    try:
        return read_regular(place_of_draft(layout, name), MAX_DRAFT_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnavailableError(
            "draft-unreadable",
            f"the draft can't be read: {error.strerror or error}",
            f"Look at {place_of_draft(layout, name)} and who may read it.",
        ) from None


def save_draft(layout: VaultLayout, name: str, data: bytes) -> None:
    """Write the draft ``name``, new or in place of the old one; durable, for this account's eyes alone."""
    ensure_folder(layout.drafts)
    replace_file(place_of_draft(layout, name), data)


def drop_draft(layout: VaultLayout, name: str) -> None:
    """Remove the draft ``name``; none there does no harm."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place_of_draft(layout, name))
        flush_folder(layout.drafts)


def place_of_draft(layout: VaultLayout, name: str) -> str:
    """Return the absolute file of the draft ``name``."""
    return os.path.join(layout.drafts, name)


@contextlib.contextmanager
def hold_draft(layout: VaultLayout, name: str) -> Iterator[None]:
    """Let no other process work at the draft ``name`` inside the ``with`` block.

    Raises ``StateError`` (``draft-in-use``) at once where one does, ``UnavailableError`` (``draft-unwritable``) where
    the disk can't be written. The lock ends with its holder, however it ends.
    """
    file = f"{place_of_draft(layout, name)}.lock"
    try:
        ensure_folder(layout.drafts)
        lock = try_lock(file)
    except OSError as error:
        message = f"what you decide or answer can't be kept: {error.strerror or error}"
        hint = f"Look at what lies in {layout.drafts} and who may write there."
        raise UnavailableError("draft-unwritable", message, hint) from None
    if lock is None:
        hint = "Go on there, or end it there first; what was answered is kept."
        raise StateError("draft-in-use", "another terminal is at work on this draft", hint)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # whoever opened it meanwhile finds that it is gone, and asks again
            os.unlink(file)
        lock.release()

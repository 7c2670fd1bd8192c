"""What a person typed in their editor outlives a write that fails: it waits in the vault's drafts."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.errors import GitmemError
from gitmem.hosts.cli.call import Call
from gitmem.service.vault import OpenVault


@dataclass(frozen=True)
class Kept:
    """A text that is kept in the file ``place``; ``said`` tells people so, behind what it is."""

    place: str
    said: str

    def drop(self) -> None:
        """Remove the file; nothing is wrong where that can't be done."""
        with contextlib.suppress(OSError):
            os.unlink(self.place)


def keep_text(vault: OpenVault, text: str) -> Kept | None:
    """Keep ``text`` in a private file in ``runtime/drafts``, until ``Kept.drop``.

    What looks like a secret is left out of it. ``None`` where that can't be told, or the disk can't be written.
    """
    clean = _take_secrets_out(vault, text)
    place = None if clean is None else _save(vault, clean)
    if place is None:
        return None
    return Kept(place, f"is kept in {place}" + (", without what looks like a secret" if clean != text else ""))


@contextlib.contextmanager
def keep_typed(call: Call, vault: OpenVault, text: str | None) -> Iterator[None]:
    """Keep ``text`` as ``keep_text`` does while the block writes it; ``None`` is nothing to keep.

    The file is removed when the block succeeds. Otherwise it stays, and the error's hint, or for what is no error of
    gitmem's a line on standard error, says where.
    """
    kept = None if text is None else keep_text(vault, text)
    try:
        yield
    except GitmemError as error:
        if kept is not None:
            error.hint = f"{error.hint} What you wrote {kept.said}".strip()
        raise
    except BaseException:
        if kept is not None:
            call.warn(f"what you wrote {kept.said}")
        raise
    if kept is not None:
        kept.drop()


def _take_secrets_out(vault: OpenVault, text: str) -> str | None:
    from gitmem.service.scanner import redact_text

    try:
        return redact_text(vault.settings, text)
    except GitmemError:  # the write itself will say what is wrong with the scanner
        return None


def _save(vault: OpenVault, text: str) -> str | None:
    folder = os.path.join(vault.layout.runtime, "drafts")
    try:
        for one in (vault.layout.runtime, folder):
            os.makedirs(one, mode=0o700, exist_ok=True)
        place, handle = _open_new(folder, f"{vault.clock.now():%Y-%m-%dT%H-%M-%S}-{os.getpid()}")
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError:  # the write itself will say what is wrong with the disk
        return None
    return place


def _open_new(folder: str, name: str) -> tuple[str, int]:
    for number in itertools.count(1):
        place = os.path.join(folder, f"{name}.md" if number == 1 else f"{name}-{number}.md")
        with contextlib.suppress(FileExistsError):
            return place, os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    raise AssertionError

"""What a person typed in their editor outlives a write that fails: it waits in the vault's drafts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from gitmem.errors import GitmemError
from gitmem.hosts.cli.call import Call
from gitmem.service.memory import Memory


@contextlib.contextmanager
def keep_typed(call: Call, memory: Memory, text: str | None) -> Iterator[None]:
    """Keep ``text`` in ``runtime/drafts`` while the block writes it; ``None`` is nothing to keep.

    What looks like a secret is left out of it, and nothing is kept where that can't be told. The file is private and
    removed when the block succeeds. Otherwise it stays, and the error's hint, or for what is no error of gitmem's a
    line on standard error, says where.
    """
    clean = None if text is None else _take_secrets_out(memory, text)
    place = None if clean is None else _save(memory, clean)
    where = f"is kept in {place}" + (", without what looks like a secret" if clean != text else "")
    try:
        yield
    except GitmemError as error:
        if place is not None:
            error.hint = f"{error.hint} What you wrote {where}".strip()
        raise
    except BaseException:
        if place is not None:
            call.warn(f"what you wrote {where}")
        raise
    if place is not None:
        with contextlib.suppress(OSError):
            os.unlink(place)


def _take_secrets_out(memory: Memory, text: str) -> str | None:
    from gitmem.service.scanner import redact_text

    try:
        return redact_text(memory.vault.settings, text)
    except GitmemError:  # the write itself will say what is wrong with the scanner
        return None


def _save(memory: Memory, text: str) -> str | None:
    vault = memory.vault
    folder = os.path.join(vault.layout.runtime, "drafts")
    name = f"{vault.clock.now():%Y-%m-%dT%H-%M-%S}-{os.getpid()}.md"
    place = os.path.join(folder, name)
    try:
        for one in (vault.layout.runtime, folder):
            os.makedirs(one, mode=0o700, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError:  # the write itself will say what is wrong with the disk
        return None
    return place

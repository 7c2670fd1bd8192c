"""Which sessions were told that the memory can't be read as it should, so that they are told once. Files in the home.

There and not with a vault, because it may be the vault that is gone. One empty file a session and status, named by a
hash; of processes at the same moment one makes it. It may be deleted at any time, and something is said once more.
"""

from __future__ import annotations

import contextlib
import hashlib
import os

from gitmem.clock import Clock
from gitmem.disk import NO_FOLLOW, ensure_folder
from gitmem.model.answer import Status
from gitmem.patterns import late
from gitmem.vault.layout import HomeLayout

MAX_TOLD = 200
MAX_AGE_S = 7 * 24 * 3600
_NAME = late(r"[0-9a-f]{32}")


def mark_told(home: str, session: str, status: Status, clock: Clock) -> bool:
    """Remember that ``session`` is told of ``status`` now, and tell whether it is the first time.

    True, too, where that can't be remembered: better twice than never. The home (a folder) must be there. Never
    raises ``OSError``.
    """
    folder = HomeLayout(home).told
    try:
        if os.path.islink(folder):
            return True
        ensure_folder(folder)
        os.close(os.open(_file_of(folder, session, status), os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    _drop_old(folder, clock)
    return True


def was_told_unavailable(home: str, session: str) -> bool:
    """Tell whether ``session`` was told that the memory is unavailable. Never raises ``OSError``."""
    return os.path.lexists(_file_of(HomeLayout(home).told, session, Status.UNAVAILABLE))


def forget_told(home: str, session: str) -> None:
    """Forget what ``session`` was told, as its model does when its context is cleared. Never raises ``OSError``."""
    folder = HomeLayout(home).told
    if os.path.islink(folder):
        return
    for status in Status:
        with contextlib.suppress(OSError):
            os.unlink(_file_of(folder, session, status))


def _file_of(folder: str, session: str, status: Status) -> str:
    named = f"{status.value}\0{session}".encode("utf-8", "surrogatepass")
    return os.path.join(folder, hashlib.sha256(named).hexdigest()[:32])


def _drop_old(folder: str, clock: Clock) -> None:
    """Remove the oldest files beyond ``MAX_TOLD``, and all beyond ``MAX_AGE_S``; ours only."""
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            ours = [one for one in entries if _NAME.fullmatch(one.name)]
        found = sorted(((one.stat(follow_symlinks=False).st_mtime_ns, one.path) for one in ours), reverse=True)
        oldest_ns = clock.time_ns() - MAX_AGE_S * 10**9
        for number, (mtime_ns, path) in enumerate(found):
            if number >= MAX_TOLD or mtime_ns < oldest_ns:
                os.unlink(path)

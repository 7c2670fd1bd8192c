"""What a workspace's vault asks of the global one, which may be missing or broken without harm to the rest."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.errors import GitmemError
from gitmem.model.record import Problem
from gitmem.model.settings import Scope, VaultEntry
from gitmem.service.reading import WITHHELD
from gitmem.service.vault import OpenVault
from gitmem.typed import TypeVar

T = TypeVar("T")
UNREADABLE = "global-unreadable"


def ask_global(
    vault: OpenVault, find_global: Callable[[], VaultEntry | None], question: Callable[[OpenVault], T], missing: str
) -> tuple[T | None, tuple[Problem, ...]]:
    """Return what ``question`` makes of the home's global vault, asked along with that of a workspace.

    ``None`` where ``vault`` is no workspace's, or no global vault was ever made. Where one can't be read, the problem
    ``global-unreadable`` says so, and that ``missing`` ("its preferences are missing here"). Raises
    ``UnavailableError`` (``scanner-failed``), which concerns the whole answer.
    """
    if vault.entry.scope is not Scope.WORKSPACE:
        return None, ()
    try:
        entry = find_global()
        if entry is None:
            return None, ()
        other = OpenVault(entry, vault.clock, vault.options)
        try:
            return question(other), ()
        finally:
            other.close()
    except (GitmemError, OSError) as error:
        code = error.code if isinstance(error, GitmemError) else "system-error"
        if code in WITHHELD:
            raise
        return None, (Problem(UNREADABLE, f"the global vault can't be read ({code}): {missing}"),)

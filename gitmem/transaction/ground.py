"""What a transaction stands on, and what it is handed: the vault, its repository, the clock, checks, views, a probe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gitmem.clock import SystemClock
from gitmem.git.repo import Repo
from gitmem.model.change import Change, RecordChange
from gitmem.model.ids import VaultId
from gitmem.model.record import Record
from gitmem.vault.layout import VaultLayout

Probe = Callable[[str], None]
STEPS = (
    "lock",
    "marker",
    "clean",
    "validate",
    "journal",
    "write",
    "write-next",
    "stage",
    "inspect",
    "commit",
    "prove",
    "receipt",
    "index",
    "finish",
)
"""The points at which ``Tools.probe`` is called, each before the step that it names; ``write-next`` before the second
and each further file."""
RECOVERY_STEPS = (
    "settle",
    "settle-file",
    "settle-mend",
    "settle-index",
    "settle-receipt",
    "settle-temp",
    "settle-drop",
)
"""The points at which recovery calls it; ``settle-file`` and ``settle-temp`` before each file."""


class Views(Protocol):
    """Makes the committed views; pure."""

    def update(
        self, read: Callable[[str], bytes | None], changes: Sequence[RecordChange], shards: int
    ) -> Mapping[str, bytes | None]:
        """Return the views that ``changes`` alter, from what the last commit says (``read``)."""

    def is_view(self, path: str) -> bool:
        """Tell whether ``path`` is a file that these views generate."""

    def rebuild(self, records: Iterable[Record], shards: int) -> Mapping[str, bytes]:
        """Return every view, from scratch."""


@dataclass(frozen=True)
class Tools:
    """What wiring hands to a transaction.

    ``check`` refuses a change by raising; it sees the exact bytes to be written. ``probe`` is called before each step
    (tests stop the process there).
    """

    check: Callable[[Change], None]
    views: Views
    clock: SystemClock
    probe: Probe = lambda _step: None
    lock_wait_s: float = 10.0
    index_wait_s: float = 3.0


@dataclass(frozen=True)
class Ground:
    """One vault opened for writing."""

    layout: VaultLayout
    vault_id: VaultId
    repo: Repo

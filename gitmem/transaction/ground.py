"""What a transaction stands on, and what it is handed: the vault, its repository, the clock, checks, views, a probe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.clock import SystemClock
from gitmem.git.repo import Repo
from gitmem.model.authority import Actor
from gitmem.model.change import Change, RecordChange
from gitmem.model.ids import VaultId
from gitmem.model.record import Record
from gitmem.typed import Protocol
from gitmem.values import dataclass
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
MAINTAIN_STEPS = (
    "maintain",
    "maintain-pack",
    "maintain-verify",
    "maintain-place",
    "maintain-place-index",
    "maintain-remove-loose",
    "maintain-remove-more",
    "maintain-remove-pack",
    "maintain-remove-rest",
    "maintain-graph",
)
"""The points at which maintenance calls it: before a pack is written, read back, put in place (its index last), before
the first loose file and the second go, before each pack that was merged loses its index and then its other files, and
before the commit graph is replaced. A pack that is made of packs passes the same points as one of loose objects."""

ACCEPT_STEPS = ("accept-commit", "accept-decide", "accept-forget")
"""The points at which accepting candidates calls it: before the commit, before the candidates are decided, before the
note of the acceptance is dropped."""
CURATE_STEPS = ("curate-claimed", "curate-remember", "curate-drop")
"""What ``service.curate`` calls the probe with: sessions are set aside, their commit is made, each is dropped."""

HANDOVER_STEPS = ("handover", "handover-second", "handover-drop")
"""The points at which an operation of two vaults calls it: before it writes down what it is about to do, before the
second vault's half, and before what was written down is removed."""


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

    def reshard(self, read: Callable[[str], bytes | None], shards: int, new_shards: int) -> Mapping[str, bytes | None]:
        """Return the views that change when the catalog is spread over another number of files."""


class KeepUp(Protocol):
    """Looks after the vault's storage at the end of an operation; never raises for it."""

    def __call__(self, ground: Ground, tools: Tools, actor: Actor, /) -> Sequence[str]:
        """Do what is due, under the vault lock alone; return notices."""


def _keep_nothing_up(_ground: Ground, _tools: Tools, _actor: Actor) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Tools:
    """What wiring hands to a transaction.

    ``check`` refuses a change by raising; it sees the exact bytes to be written. ``probe`` is called before each step
    (tests stop the process there). ``keep_up`` is called after each operation that made a commit; it packs once there
    are about ``maintain_at_loose`` loose objects (0: never).
    """

    check: Callable[[Change], None]
    views: Views
    clock: SystemClock
    probe: Probe = lambda _step: None
    lock_wait_s: float = 10.0
    index_wait_s: float = 3.0
    keep_up: KeepUp = _keep_nothing_up
    maintain_at_loose: int = 0


@dataclass(frozen=True)
class Ground:
    """One vault opened for writing."""

    layout: VaultLayout
    vault_id: VaultId
    repo: Repo

"""What one commit did, told from its trees and its message; and what is to be said of it when history is verified."""

from __future__ import annotations

from gitmem.model.change import RecordChange
from gitmem.model.ids import CommitId, Fingerprint, RecordId
from gitmem.model.settings import Manifest
from gitmem.values import dataclass, field


@dataclass(frozen=True)
class Deed:
    """What a commit did to the vault. A record is without its body and its people's properties here.

    Of a merge, it is what no parent had already. ``plain`` are paths in the lifecycle folders that hold no record
    before or after, ``others`` those of everything else that gitmem does not write. ``manifest`` has the marker before
    and after where the commit changed it, ``files`` every path that it changed with its blob now (``None`` for one that
    went). ``trailers`` are those of its message, in order.
    """

    commit: CommitId
    subject: str
    trailers: tuple[tuple[str, str], ...] = ()
    is_root: bool = False
    is_merge: bool = False
    looks_forged: bool = False
    """Whether lines like gitmem's trailers stand in its message where they are none."""
    records: tuple[RecordChange, ...] = ()
    plain: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    manifest: tuple[Manifest | None, Manifest | None] | None = None
    files: dict[str, Fingerprint | None] = field(default_factory=dict)

    def find_trailer(self, name: str) -> str | None:
        """Return the value of the last trailer ``name``, ``None`` where there is none."""
        return next((value for one, value in reversed(self.trailers) if one == name), None)


@dataclass(frozen=True)
class Fault:
    """A rule that a commit does not keep. ``is_grave`` says that history is broken by it; else a person should look."""

    rule: str
    message: str
    is_grave: bool = True
    record: RecordId | None = None

"""A change: the complete set of edits of one operation. Their paths are all that it may touch."""

from __future__ import annotations

from gitmem.model.authority import Action, Actor, Authority
from gitmem.model.ids import CommitId, Fingerprint, OpId, RecordId, VaultId
from gitmem.model.record import Record, State
from gitmem.model.vault_path import VaultPath
from gitmem.values import dataclass, field


@dataclass(frozen=True)
class FileEdit:
    """One file before and after. ``before`` is ``None`` for a new file, ``after`` is ``None`` for one that goes.

    ``before`` is what the change was made from: what is committed, or, when ``adopted``, what a person left on disk.
    """

    path: VaultPath
    before: Fingerprint | None
    after: bytes | None
    adopted: bool = False


@dataclass(frozen=True)
class RecordChange:
    """One record before and after: ``before`` is ``None`` for one that comes, ``after`` for one that goes.

    One of the two is always there. The views are made from these.
    """

    before: Record | None
    after: Record | None

    @property
    def id(self) -> RecordId:
        """The record's identity, the same before and after."""
        return self.shown.id

    @property
    def shown(self) -> Record:
        """The record as people are told about it: as it is after, or as it was when it goes."""
        shown = self.after or self.before
        assert shown is not None
        return shown

    @property
    def is_private(self) -> bool:
        """Whether it is, or was, private, and so must not be named."""
        return any(record.private for record in (self.before, self.after) if record is not None)


@dataclass(frozen=True)
class Change:
    """Everything one operation does.

    ``title`` is the object of the commit's subject line, ``note`` its body. ``records`` lists the records in the order
    in which people should see them; each of their files has its edits in ``edits``. ``is_named`` says that whoever asks
    chose the op id, so that the operation may have been carried out before; ``request`` is a digest of what was asked,
    to tell a retry from another request under the same id. ``undoes`` is the operation whose inverse this is, ``other``
    the vault in which the operation of the same id does its other half. ``signed_by`` is the fingerprint of the key
    that its statement is signed with, empty where there is none. ``notices`` are for people, and come with the receipt.
    """

    action: Action
    op_id: OpId
    actor: Actor
    title: str
    edits: tuple[FileEdit, ...]
    records: tuple[RecordChange, ...]
    rule: str
    authority: Authority | None = None
    note: str = ""
    is_named: bool = True
    request: str = ""
    undoes: OpId | None = None
    other: VaultId | None = None
    signed_by: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordRef:
    """A record as an answer to a write names it. ``state`` is ``None`` for one that went; ``path`` is where it lay."""

    id: RecordId
    path: VaultPath
    state: State | None


@dataclass(frozen=True)
class Receipt:
    """What one operation did. ``commit`` is ``None`` and ``changed`` false when there was nothing to do.

    ``session`` is the host's in which it was asked for, empty where none was named.
    """

    op: Action
    op_id: OpId
    commit: CommitId | None
    changed: bool
    records: tuple[RecordRef, ...]
    time: str = ""
    actor: str = ""
    surface: str = ""
    request: str = ""
    notices: tuple[str, ...] = field(default=())
    session: str = ""

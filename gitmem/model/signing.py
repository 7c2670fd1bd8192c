"""What people sign: the keys of a vault, the statement of one operation, and what a machine trusts. ADR 0025."""

from __future__ import annotations

from gitmem.model.authority import Action
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import Fingerprint, OpId, RecordId, VaultId
from gitmem.model.record import State
from gitmem.values import dataclass

DOMAIN = "gitmem-operation@v1"
"""What a signature is for: the namespace that OpenSSH signs with it, so that no other signature of the key fits."""


@dataclass(frozen=True)
class Declared:
    """One declared record of the baseline as it was signed: its file's SHA-256, and the blob that holds the bytes."""

    id: RecordId
    path: str
    sha256: str
    blob: Fingerprint


@dataclass(frozen=True)
class SignedRecord:
    """A record that the operation touches, as a receipt names it."""

    id: RecordId
    path: str
    state: State | None


@dataclass(frozen=True)
class Statement:
    """What one operation does, and what is declared after it.

    ``previous`` is the SHA-256 of the statement before, ``None`` for the first; ``counter`` is one more than that
    one's. ``files`` has every file that the operation writes, views left out, with its SHA-256, ``None`` for one that
    goes. ``declared`` is the complete list of the baseline's declared records, and ``keys`` that of the keys, after it;
    ``policy`` is the SHA-256 of ``policy.yaml``, ``None`` where there is none. All are sorted.
    """

    vault: VaultId
    scope: str
    counter: int
    previous: str | None
    op_id: OpId
    action: Action
    time: str
    records: tuple[SignedRecord, ...]
    files: tuple[tuple[str, str | None], ...]
    declared: tuple[Declared, ...]
    keys: tuple[HumanKey, ...]
    policy: str | None


@dataclass(frozen=True)
class Signed:
    """A statement with its signature in OpenSSH's armour. Whether it is good is another question."""

    statement: Statement
    signature: str


@dataclass(frozen=True)
class Anchor:
    """What this machine trusts of one vault, kept outside it: the keys, and the last statement that it saw.

    ``counter`` 0 and an empty ``digest`` stand for none. ``is_roots`` says that the keys are held by the system's
    administrator, where no program of this account can change them.
    """

    vault_id: VaultId
    keys: tuple[HumanKey, ...]
    counter: int = 0
    digest: str = ""
    is_roots: bool = False

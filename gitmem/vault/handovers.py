"""Operations of two vaults that are under way or were broken off: one small file each in the home, without any text.

The file is written before the first vault changes and removed after the second one has. Whatever it says is checked
against what the vaults' own receipts and history say before anything is done by it.
"""

from __future__ import annotations

import contextlib
import json
import os

from gitmem.disk import ensure_folder, flush_folder, read_regular, replace_file
from gitmem.errors import GitmemError, IntegrityError, UnavailableError
from gitmem.model.authority import Actor, Proof, Surface
from gitmem.model.handover import Handover, Leaving
from gitmem.model.ids import Fingerprint, OpId, RecordId, VaultId, parse_op_id
from gitmem.model.vault_path import parse_vault_path
from gitmem.typed import Any
from gitmem.vault.layout import HomeLayout
from gitmem.vault.schema import validate

FORMAT = 1
MAX_BYTES = 1 << 20
_WHO = ("surface", "name", "email", "host", "session", "proof")


def has_handovers(home: HomeLayout) -> bool:
    """Tell whether any may be there. Looks at one folder; one that can't be read counts as holding some."""
    try:
        return bool(os.listdir(home.handovers))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def list_handovers(home: HomeLayout) -> list[str]:
    """Return the ids of those that are there, sorted. Raises ``UnavailableError`` (``handover-unreadable``)."""
    try:
        names = os.listdir(home.handovers)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(error) from None
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def remove_half_written(home: HomeLayout) -> None:
    """Remove what a crash left of files that were being written: nothing was begun by these.

    Called with the lock of the global vault held, under which alone they are written.
    """
    for name in os.listdir(home.handovers):
        if name.endswith(".tmp"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(home.handovers, name))


def has_half_written(home: HomeLayout) -> bool:
    """Tell whether there is a file that is being written, or was when a crash came. Raises ``OSError``."""
    return any(name.endswith(".tmp") for name in os.listdir(home.handovers))


def load_handover(home: HomeLayout, op_id: str) -> Handover | None:
    """Return one, ``None`` where it is gone.

    Raises ``IntegrityError`` (``bad-handover``) for a file that can't be understood, ``UnavailableError``
    (``handover-unreadable``).
    """
    try:
        value: Any = json.loads(read_regular(_file(home, op_id), MAX_BYTES))
        validate("handover", value)
        if value["op_id"] != op_id:
            raise ValueError("it is another operation's")
        return _parse(value)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(error) from None
    except (ValueError, RecursionError, GitmemError):
        message = f"pending/{op_id}.json can't be understood"
        hint = "See with `gitmem log` in both vaults what was done, then take the file away."
        raise IntegrityError("bad-handover", message, hint) from None


def save_handover(home: HomeLayout, handover: Handover) -> None:
    """Write ``handover``; durable. Raises ``OSError``."""
    actor = handover.actor
    value = {
        "format": FORMAT,
        "op_id": handover.op_id,
        "source": handover.source,
        "target": handover.target,
        "actor": {name: str(getattr(actor, name)) for name in _WHO},
        "request": handover.request,
        "time": handover.time,
        "records": [vars(one) for one in handover.records],
    }
    validate("handover", value)
    ensure_folder(home.handovers)
    replace_file(_file(home, handover.op_id), (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def drop_handover(home: HomeLayout, op_id: str) -> None:
    """Remove one that is done with; should it come back after a power cut, nothing is left to do by it."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_file(home, op_id))
        flush_folder(home.handovers)


def _parse(value: dict[str, Any]) -> Handover:
    who = value["actor"]
    return Handover(
        op_id=parse_op_id(value["op_id"]),
        source=VaultId(value["source"]),
        target=VaultId(value["target"]),
        actor=Actor(**who | {"surface": Surface(who["surface"]), "proof": Proof(who["proof"])}),
        request=value["request"],
        time=value["time"],
        records=tuple(
            Leaving(RecordId(one["id"]), parse_vault_path(one["path"]), Fingerprint(one["fingerprint"]))
            for one in value["records"]
        ),
    )


def _file(home: HomeLayout, op_id: OpId | str) -> str:
    return os.path.join(home.handovers, f"{op_id}.json")


def _unreadable(error: OSError) -> UnavailableError:
    return UnavailableError(
        "handover-unreadable",
        f"whether an operation of two vaults was broken off can't be told: {error.strerror or error}",
        "Look at what lies in pending/ of the home and who may read it.",
    )

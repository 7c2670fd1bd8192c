"""``statement.json``: what the last signed operation of a vault did and left, with its signature. Pure.

What is signed is not the file but the statement's canonical bytes: JSON with sorted names, no blanks, in UTF-8. The
file shows the same, a line for each thing, so that a person can read its difference.
"""

from __future__ import annotations

import hashlib
import json

from gitmem.errors import IntegrityError
from gitmem.model.authority import Action
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import Fingerprint, OpId, RecordId, VaultId
from gitmem.model.record import State
from gitmem.model.signing import DOMAIN, Declared, Signed, SignedRecord, Statement
from gitmem.text import make_visible
from gitmem.typed import Any
from gitmem.vault.manifest import get_member
from gitmem.vault.schema import validate

STATEMENT = "statement.json"


def format_canonical(statement: Statement) -> bytes:
    """Return the bytes of ``statement`` that are signed."""
    return json.dumps(_value_of(statement), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest_of(statement: Statement) -> str:
    """Return the SHA-256 of the canonical bytes, by which the next statement names this one."""
    return hashlib.sha256(format_canonical(statement)).hexdigest()


def format_signed(signed: Signed) -> bytes:
    """Return the file. Raises ``IntegrityError`` (``schema``) for one that its schema refuses."""
    value = {"signature": signed.signature.strip().splitlines(), "statement": _value_of(signed.statement)}
    validate("statement", value)
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def parse_signed(data: bytes) -> Signed:
    """Return the statement in the bytes of a file, whose signature is not looked at.

    Raises ``IntegrityError`` (``bad-statement``): for anything that is not exactly what gitmem writes, too, such as a
    name that stands there twice, so that nobody can show people another text than the one that counts.
    """
    try:
        value: Any = json.loads(data)
        signed = _parse(value)
        if json.loads(format_canonical(signed.statement)) != value["statement"] or _reformat(signed) != data:
            raise ValueError("it is not as gitmem writes it")
    except (ValueError, RecursionError, UnicodeError, AttributeError, TypeError) as error:
        raise IntegrityError(
            "bad-statement",
            f"{STATEMENT} can't be understood: {make_visible(str(error))}",
            f"See who changed it with `git log -p {STATEMENT}`, and put the last good one back.",
        ) from None
    return signed


def _reformat(signed: Signed) -> bytes:
    value = {"signature": signed.signature.splitlines(), "statement": _value_of(signed.statement)}
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _value_of(one: Statement) -> dict[str, Any]:
    return {
        "domain": DOMAIN,
        "vault": one.vault,
        "scope": one.scope,
        "counter": one.counter,
        "previous": one.previous,
        "op_id": one.op_id,
        "action": one.action.value,
        "time": one.time,
        "records": [
            {"id": ref.id, "path": ref.path, "state": ref.state.value if ref.state else None} for ref in one.records
        ],
        "files": dict(one.files),
        "declared": {ref.path: {"id": ref.id, "sha256": ref.sha256, "blob": ref.blob} for ref in one.declared},
        "keys": {key.name: key.key for key in one.keys},
        "policy": one.policy,
    }


def _parse(value: Any) -> Signed:
    lines = get_member(value, "signature", list)
    one = get_member(value, "statement", dict)
    if get_member(one, "domain", str) != DOMAIN:
        raise ValueError("it is for something else")
    keys: dict[str, str] = get_member(one, "keys", dict)
    declared: dict[str, Any] = get_member(one, "declared", dict)
    statement = Statement(
        vault=VaultId(get_member(one, "vault", str)),
        scope=get_member(one, "scope", str),
        counter=get_member(one, "counter", int),
        previous=_text_or_none(one, "previous"),
        op_id=OpId(get_member(one, "op_id", str)),
        action=Action(get_member(one, "action", str)),
        time=get_member(one, "time", str),
        records=tuple(_parse_record(ref) for ref in get_member(one, "records", list)),
        files=tuple(sorted((path, _text_or_none(one["files"], path)) for path in get_member(one, "files", dict))),
        declared=tuple(_parse_declared(path, ref) for path, ref in sorted(declared.items())),
        keys=tuple(HumanKey(name, get_member(keys, name, str)) for name in sorted(keys)),
        policy=_text_or_none(one, "policy"),
    )
    return Signed(statement, "".join(f"{line}\n" for line in lines))


def _parse_record(value: Any) -> SignedRecord:
    state = _text_or_none(value, "state")
    return SignedRecord(
        RecordId(get_member(value, "id", str)), get_member(value, "path", str), State(state) if state else None
    )


def _parse_declared(path: str, value: Any) -> Declared:
    return Declared(
        id=RecordId(get_member(value, "id", str)),
        path=path,
        sha256=get_member(value, "sha256", str),
        blob=Fingerprint(get_member(value, "blob", str)),
    )


def _text_or_none(value: Any, name: str) -> str | None:
    if value[name] is None:
        return None
    return get_member(value, name, str)

"""What the signatures of a vault prove at one commit, now, on this machine. ADR 0025.

A vault is keyed where its manifest lists keys of people, or this machine remembers that it did: an anchor outside the
repository says which keys are trusted, and how far its statements had come. What is not proved is said, with why.
"""

from __future__ import annotations

import hashlib

from gitmem.errors import GitmemError, IntegrityError, UnavailableError
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import CommitId
from gitmem.model.record import Problem
from gitmem.model.settings import Manifest
from gitmem.model.signing import Anchor, Declared, Signed, Statement
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass, field
from gitmem.vault.anchor import load_anchor
from gitmem.vault.layout import MANIFEST, HomeLayout
from gitmem.vault.manifest import parse_manifest
from gitmem.vault.statement import STATEMENT, digest_of, format_canonical, parse_signed

UNTRUSTED = "keys-not-trusted"
PROBLEMS = frozenset(
    {
        "bad-anchor",
        "bad-statement",
        "declared-lost",
        "declared-not-as-signed",
        "keys-differ",
        UNTRUSTED,
        "openssh-missing",
        "statement-forked",
        "statement-missing",
        "statement-not-signed",
        "statement-of-another-vault",
        "statement-rolled-back",
    }
)
"""The codes of everything that is said about a vault's signatures."""
_ASK = "a person can look at it with `gitmem verify`"


@dataclass(frozen=True)
class Standing:
    """What holds at one commit: whether the vault is keyed, what is proved, and what is not and why.

    ``statement`` is ``None`` where the vault is not keyed, and where nothing is proved; then ``problems`` says why.
    ``anchor`` is what this machine trusts, if anything.
    """

    is_keyed: bool
    statement: Statement | None = None
    problems: tuple[Problem, ...] = ()
    anchor: Anchor | None = None
    keys: tuple[HumanKey, ...] = field(default=())
    """The keys that the manifest lists."""


def read_standing(vault: OpenVault, commit: CommitId) -> Standing:
    """Return what the signatures prove at ``commit``. Starts ``ssh-keygen`` once where the vault is keyed, else never.

    Never raises for what is wrong with signatures. Raises ``IntegrityError`` (``object-unreadable``).
    """
    try:
        return judge(vault, commit, find_anchor(vault))
    except IntegrityError as error:
        if error.code not in PROBLEMS:
            raise
        return Standing(is_keyed=True, problems=(Problem(error.code, error.message),))


def judge(vault: OpenVault, commit: CommitId, anchor: Anchor | None) -> Standing:
    """Do what ``read_standing`` does for a machine that trusts ``anchor``.

    Raises ``IntegrityError``: ``bad-statement``, ``object-unreadable``.
    """
    manifest = find_manifest(vault, commit)
    listed = () if manifest is None else manifest.human_keys
    data = vault.repo.read_blob(commit, STATEMENT)
    signed = None if data is None else parse_signed(data)
    known = Standing(is_keyed=True, anchor=anchor, keys=listed)
    if not (anchor is not None and anchor.keys) and not listed and _is_over(anchor, signed):
        return Standing(is_keyed=False, anchor=anchor)
    problem = _find_problem(vault, anchor, signed)
    if problem is not None or signed is None:
        return _with(known, problem)
    differ = _find_difference(listed, signed)
    return Standing(True, signed.statement, (differ,) if differ else (), anchor, listed)


def find_manifest(vault: OpenVault, commit: CommitId) -> Manifest | None:
    """Return the manifest that is committed, ``None`` where there is none or it can't be understood."""
    data = vault.repo.read_blob(commit, MANIFEST)
    try:
        return None if data is None else parse_manifest(data)
    except GitmemError:
        return None


def find_anchor(vault: OpenVault) -> Anchor | None:
    """Return what this machine trusts of the vault. Raises ``IntegrityError`` (``bad-anchor``)."""
    home = HomeLayout(vault.options.home) if vault.options.home else None
    return load_anchor(home, vault.options.system_anchors, vault.entry.vault_id)


def list_signing_problems(vault: OpenVault, commit: CommitId) -> tuple[Problem, ...]:
    """Return everything that is to be said about the signatures at ``commit``; nothing where the vault has no keys."""
    standing = read_standing(vault, commit)
    unlike = [] if standing.statement is None else list_unlike(vault, commit, standing.statement)
    return (*standing.problems, *([say_unlike(unlike)] if unlike else []))


def list_unlike(vault: OpenVault, commit: CommitId, statement: Statement) -> list[Declared]:
    """Return what was signed as declared and is not so in ``commit``: other bytes, or nothing at its place."""
    blobs = vault.repo.find_blobs(commit, [one.path for one in statement.declared])
    return [one for one in statement.declared if not _is_same(vault, blobs[one.path], one)]


def read_as_signed(vault: OpenVault, one: Declared) -> bytes | None:
    """Return the bytes that were signed, wherever the record lies now; ``None`` where the repository lost them."""
    try:
        data = vault.repo.read_object(one.blob)
    except IntegrityError:
        return None
    return data if hashlib.sha256(data).hexdigest() == one.sha256 else None


def say_unlike(unlike: list[Declared]) -> Problem:
    """Return what is said where declared records are not as they were signed."""
    number = f"{len(unlike)} declared records are" if len(unlike) > 1 else "1 declared record is"
    return Problem("declared-not-as-signed", f"{number} not as a person signed; {_ASK}")


def _is_same(vault: OpenVault, blob: str | None, one: Declared) -> bool:
    return blob == one.blob and read_as_signed(vault, one) is not None


def _with(known: Standing, problem: Problem | None) -> Standing:
    missing = Problem("statement-missing", f"what people signed ({STATEMENT}) is gone; {_ASK}")
    return Standing(True, None, (problem or missing,), known.anchor, known.keys)


def _find_problem(vault: OpenVault, anchor: Anchor | None, signed: Signed | None) -> Problem | None:
    if anchor is None or not anchor.keys:
        message = "nobody on this machine has said yet that this vault's keys are people's; `gitmem keys trust` does"
        return Problem(UNTRUSTED, message)
    if signed is None:
        return None
    statement = signed.statement
    if statement.vault != vault.entry.vault_id:
        return Problem("statement-of-another-vault", f"what was signed is another vault's; {_ASK}")
    if statement.counter < anchor.counter:
        message = f"the vault went back to statement {statement.counter}; this machine has seen {anchor.counter}"
        return Problem("statement-rolled-back", f"{message}; {_ASK}")
    if _is_forked(anchor, statement):
        return Problem("statement-forked", f"statement {statement.counter} does not follow the one seen here; {_ASK}")
    from gitmem.service.openssh import is_signed

    try:
        is_good = is_signed(format_canonical(statement), signed.signature, anchor.keys)
    except UnavailableError as error:
        return Problem("openssh-missing", f"the signatures can't be looked at: {error.message}")
    if not is_good:
        return Problem(
            "statement-not-signed", f"the last statement is not signed by a key that is trusted here; {_ASK}"
        )
    return None


def _is_over(anchor: Anchor | None, signed: Signed | None) -> bool:
    """Tell whether nothing is signed any more: by what was signed last, or because a person here said so of it."""
    if signed is None or not signed.statement.keys:
        return True
    return anchor is not None and anchor.digest == digest_of(signed.statement)


def _is_forked(anchor: Anchor, statement: Statement) -> bool:
    if statement.counter == anchor.counter:
        return digest_of(statement) != anchor.digest
    return statement.counter == anchor.counter + 1 and (statement.previous or "") != anchor.digest


def _find_difference(listed: tuple[HumanKey, ...], signed: Signed) -> Problem | None:
    if set(listed) == set(signed.statement.keys):
        return None
    return Problem("keys-differ", f"the keys in {MANIFEST} are not those that were signed; {_ASK}")

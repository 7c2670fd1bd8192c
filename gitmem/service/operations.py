"""Operations as history tells them: what each did, which one a person means, and which were undone since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitmem.clock import format_utc, moment_at
from gitmem.errors import InputError
from gitmem.git.history import Commit, iter_commits
from gitmem.git.message import OP_ID, OTHER, UNDOES, parse_message
from gitmem.model.authority import OUTSIDE
from gitmem.model.ids import CommitId, OpId, RecordId
from gitmem.patterns import late
from gitmem.service.vault import OpenVault
from gitmem.text import quote
from gitmem.values import dataclass

MIN_OP_PREFIX_CHARS = 4
_COMMIT_PREFIX = late(r"[0-9a-f]{7,40}")
_MAX_SHOWN = 5


@dataclass(frozen=True)
class Operation:
    """What one commit says of itself. ``op_id`` is ``None`` for one made outside gitmem, by its author ``actor``.

    ``records`` are the ids that its trailers name: none for one of very many records. ``undoes`` is the operation
    whose inverse it is, ``other`` the id of the vault in which it did its other half.
    """

    commit: Commit
    op: str
    op_id: OpId | None
    title: str
    note: str
    actor: str
    surface: str | None = None
    authority: str | None = None
    rule: str | None = None
    records: tuple[RecordId, ...] = ()
    undoes: OpId | None = None
    other: str | None = None

    @property
    def time(self) -> str:
        """When it was committed, RFC 3339 in UTC."""
        return format_utc(moment_at(self.commit.time))

    @property
    def by(self) -> str:
        """Who made it, and through which surface."""
        return f"{self.actor} ({self.surface})" if self.surface else self.actor


@dataclass(frozen=True)
class Found:
    """An operation in the history of ``head``, and every one that this has between the two, newest first."""

    operation: Operation
    head: CommitId
    later: tuple[Operation, ...]


def parse_operation(commit: Commit) -> Operation:
    """Return what ``commit`` says of itself. Pure."""
    message = parse_message(commit.message)
    named = dict(message.trailers)
    if OP_ID not in named:
        return Operation(commit, OUTSIDE, None, message.subject, message.body, commit.author)
    return Operation(
        commit=commit,
        op=named.get("Gitmem-Op", OUTSIDE),
        op_id=OpId(named[OP_ID]),
        title=message.subject.partition(": ")[2],
        note=message.body,
        actor=named.get("Gitmem-Actor", commit.author),
        surface=named.get("Gitmem-Surface"),
        authority=named.get("Gitmem-Authority"),
        rule=named.get("Gitmem-Rule"),
        records=tuple(RecordId(value) for name, value in message.trailers if name == "Gitmem-Record"),
        undoes=OpId(named[UNDOES]) if UNDOES in named else None,
        other=named.get(OTHER),
    )


def iter_operations(vault: OpenVault, head: CommitId, stop: CommitId | None = None) -> Iterator[Operation]:
    """Yield what every commit from ``head`` back says of itself, newest first; ``stop`` and its ancestors left out."""
    return map(parse_operation, iter_commits(vault.repo, head, stop))


def find_undone(operations: Iterable[Operation]) -> dict[OpId, Operation]:
    """Return the operations that are undone, each with the undo that counts. ``operations`` are newest first.

    An undo that was undone itself doesn't count. Only undos among ``operations`` are known.
    """
    undone: dict[OpId, Operation] = {}
    for one in operations:
        if one.undoes is not None and one.op_id not in undone:
            undone.setdefault(one.undoes, one)
    return undone


def get_operation(vault: OpenVault, ref: str) -> Found:
    """Return the operation that ``ref`` names: its id, a unique prefix of that, or (a prefix of) its commit's id.

    It has to be in the history of HEAD; that is read back to it, or as a whole where ``ref`` is no complete id. Raises
    ``InputError``: ``no-such-operation``, ``ambiguous-operation``, ``not-an-operation`` (a commit made outside gitmem).
    """
    found = _find(vault, ref.strip())
    if found is None:
        raise InputError(
            "no-such-operation",
            f"no operation in the history of this branch has the id {quote(ref.strip())}",
            "See `gitmem log`, or `gitmem log ID` for the operations on one record; it takes "
            f"{MIN_OP_PREFIX_CHARS} characters of an operation's id, or 7 of its commit's.",
        )
    return _check_named(found)


def find_operation(vault: OpenVault, ref: str) -> Operation | None:
    """Return what ``get_operation`` returns, a commit made outside gitmem too, or ``None`` where nothing is meant.

    Raises ``InputError`` (``ambiguous-operation``).
    """
    found = _find(vault, ref.strip())
    return None if found is None else found.operation


def _find(vault: OpenVault, wanted: str) -> Found | None:
    passed: list[Operation] = []
    found: list[int] = []
    head = vault.head()
    for one in iter_operations(vault, head):
        if wanted in (one.op_id, one.commit.id):
            return Found(one, head, tuple(passed))
        if _is_meant(one, wanted):
            found.append(len(passed))
        passed.append(one)
    if len(found) > 1:
        raise _ambiguous(wanted, [passed[at] for at in found])
    return Found(passed[found[0]], head, tuple(passed[: found[0]])) if found else None


def _is_meant(one: Operation, wanted: str) -> bool:
    if one.op_id is not None and len(wanted) >= MIN_OP_PREFIX_CHARS and one.op_id.startswith(wanted):
        return True
    return _COMMIT_PREFIX.fullmatch(wanted) is not None and one.commit.id.startswith(wanted)


def _check_named(found: Found) -> Found:
    one = found.operation
    if one.op_id is None:
        raise InputError(
            "not-an-operation",
            f"the commit {one.commit.id[:12]} {one.title!r} by {one.actor} was made outside gitmem",
            "`git revert` takes back a person's own commit; the next operation then brings the views in step.",
            commit=one.commit.id,
        )
    return found


def _ambiguous(wanted: str, meant: Sequence[Operation]) -> InputError:
    listed = ", ".join(f"{one.op_id or one.commit.id[:12]} ({one.op}: {one.title})" for one in meant[:_MAX_SHOWN])
    more = ", …" if len(meant) > _MAX_SHOWN else ""
    return InputError(
        "ambiguous-operation",
        f"{len(meant)} operations begin with {quote(wanted)}: {listed}{more}",
        "Give more of the id, or the id of the commit.",
        operations=[one.op_id or one.commit.id for one in meant],
    )

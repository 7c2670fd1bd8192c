"""Promote records of a workspace to the home's global vault, as a person: one operation in each vault, under one id."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from gitmem.errors import PolicyError, StateError, UnavailableError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId, new_op_id
from gitmem.model.record import BASELINE_KINDS, Record, State
from gitmem.model.settings import Scope, VaultEntry
from gitmem.patterns import late
from gitmem.service.draft import summarise
from gitmem.service.find import get_record
from gitmem.service.gate import authorize
from gitmem.service.handover import HALF_DONE, Pair, hand_over, plan_leaving
from gitmem.service.plan import check_possible, digest, edit_record, find_earlier, make_change, path_in, stamp
from gitmem.service.query import Filters
from gitmem.service.retry import describe_request
from gitmem.service.search import search
from gitmem.service.together import Found, authorize_all, describe, get_records
from gitmem.service.unlink import Unlinker
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.values import dataclass, replace
from gitmem.vault.frontmatter import replace_body
from gitmem.vault.layout import HomeLayout
from gitmem.vault.registry import load_registry

PROMOTED_FROM = "promoted_from"
"""The property of a record in the global vault that names the workspace to which its evidence belongs."""
MAX_NEAR = 20
"""Among how many records of the global vault one that says the same is looked for."""
_WORD = late(r"\w+")

FindGlobal = Callable[[], VaultEntry | None]


@dataclass(frozen=True)
class Handed:
    """What was done: in the workspace's vault (``here``), and in the global one (``there``), called ``name``."""

    here: Receipt
    there: Receipt
    name: str


@dataclass(frozen=True)
class Going:
    """One record that would go: as it is, where it would be retired, and as it would be in the global vault.

    ``unlinked`` counts its links that lead nowhere there and become plain text.
    """

    record: Record
    data: bytes
    retired: str
    after: Record
    after_data: bytes
    unlinked: int


def promote_to_global(
    vault: OpenVault, refs: Sequence[str], find_global: FindGlobal, actor: Actor, op_id: OpId | None = None
) -> Handed:
    """Put the observations or promoted records ``refs`` into ``promoted/`` of the global vault, and retire them here.

    They keep their ids, file names, sources and evidence, are marked verified today, and name the workspace that they
    are from. All of them or none, in both vaults or in neither; see ``service.handover``. Raises ``StateError``:
    ``already-global``, ``private-record``, ``already-retired``, ``baseline-kind``, ``id-taken``, ``near-duplicate``,
    ``not-registered``, ``half-done``; ``InputError`` (``key-taken``), ``UnavailableError`` (``no-global-vault``),
    ``PolicyError`` (``needs-human``), and what ``get_records`` and ``carry_out`` raise; nothing is written then, but
    for ``half-done``.
    """
    request = describe_request(refs=list(refs), to=Scope.GLOBAL.value)
    with _open_pair(vault, find_global) as pair:
        name = pair.target.entry.name
        earlier = _find_earlier(pair, op_id, request)
        if earlier is not None:
            return Handed(*earlier, name)
        going = _plan_going(pair, refs)
        records = [one.record for one in going]

        def plan(rule: str) -> tuple[Change, Change]:
            op = op_id or new_op_id()
            made = (_plan_arriving(pair, going, actor, rule, op), _plan_leaving(pair, going, actor, op))
            arriving, leaving = (
                replace(one, request=digest(request), is_named=op_id is not None, op_id=op) for one in made
            )
            return arriving, leaving

        try:
            rule = authorize_all(
                [(one.after, one.after_data) for one in going],
                lambda record: authorize(Scope.GLOBAL, Action.PROMOTE, actor, record=record, to_state=State.PROMOTED),
            ).rule
        except PolicyError as error:
            if error.code == "needs-human":  # nobody is asked to confirm what can't be done
                arriving, leaving = plan(str(error.fields["rule"]))
                check_possible(pair.target, arriving)
                check_possible(pair.source, leaving)
            raise
        return Handed(*hand_over(pair, *plan(rule), records), name)


def find_going(vault: OpenVault, refs: Sequence[str], find_global: FindGlobal) -> tuple[str, tuple[Going, ...]]:
    """Return the global vault's name and what ``promote_to_global`` would do, for a person to look at. Raises as it."""
    with _open_pair(vault, find_global) as pair:
        return pair.target.entry.name, tuple(_plan_going(pair, refs))


@contextlib.contextmanager
def _open_pair(vault: OpenVault, find_global: FindGlobal) -> Iterator[Pair]:
    if vault.entry.scope is Scope.GLOBAL:
        hint = "Without --to, `gitmem promote` moves it to this vault's reviewed knowledge."
        raise StateError("already-global", "this is the global vault", hint)
    entry = find_global()
    if entry is None:
        raise UnavailableError(
            "no-global-vault", "there is no global vault", "`gitmem init`, run outside a project, makes it."
        )
    known = next((one for one in load_registry(HomeLayout(vault.options.home)) if one == vault.entry), None)
    if known is None:
        message = f"the vault at {vault.entry.path} is not registered in this home"
        raise StateError("not-registered", message, "`gitmem init PATH` registers it.")
    target = OpenVault(entry, vault.clock, vault.options)
    try:
        yield Pair(vault, target)
    finally:
        target.close()


def _find_earlier(pair: Pair, op_id: OpId | None, request: str) -> tuple[Receipt, Receipt] | None:
    there = find_earlier(pair.target, Action.PROMOTE, op_id, request)
    here = find_earlier(pair.source, Action.PROMOTE, op_id, request)
    if here is None and there is None:
        return None
    if here is None or there is None:
        where = "the global vault" if here is None else "this vault"
        hint = "`gitmem status` says what stands in the way."
        raise StateError(HALF_DONE, f"the operation {op_id} was carried out in {where} alone", hint, op_id=op_id)
    return here, there


def _plan_going(pair: Pair, refs: Sequence[str]) -> list[Going]:
    found = get_records(pair.source, refs, _check_state)
    unlinker = Unlinker(pair.source, pair.target, frozenset(record.path for record, _data in found))
    going = [_plan_one(pair, unlinker, one) for one in found]
    for one in going:
        _check_new(pair.target, one.after)
    return going


def _plan_one(pair: Pair, unlinker: Unlinker, found: Found) -> Going:
    record, data = found
    now = stamp(pair.source)
    changes: dict[str, Any] = {
        "updated": now,
        "verified": now[:10],
        "supersedes": unlinker.keep(record, record.supersedes) or None,
        "superseded_by": unlinker.keep(record, record.superseded_by) or None,
        PROMOTED_FROM: pair.source.manifest.name,
    }
    body, unlinked = unlinker.replace(record)
    if unlinked and record.summary == summarise(record.body):
        changes["summary"] = summarise(body) or None  # it was taken from the text, and follows it
    path = path_in(State.PROMOTED, record.path, pair.source.clock.now())
    kept = data if body == record.body else replace_body(data, body)
    after, after_data = edit_record(record, kept, changes, path)
    retired = path_in(State.RETIRED, record.path, pair.source.clock.now())
    return Going(record, data, retired, after, after_data, unlinked)


def _plan_arriving(pair: Pair, going: Sequence[Going], actor: Actor, rule: str, op_id: OpId) -> Change:
    moves = [(None, one.after, one.after_data) for one in going]
    said = describe(moves, going[0].after.summary)
    note = "\n".join(filter(None, [said["note"], f"From the workspace {pair.source.manifest.name}."]))
    change = make_change(Action.PROMOTE, actor, rule, moves, op_id=op_id, title=said["title"], note=note)
    unlinked = sum(one.unlinked for one in going)
    links = "1 link" if unlinked == 1 else f"{unlinked} links"
    notices = (f"{links} to what only this workspace has became plain text there",) if unlinked else ()
    return replace(change, other=pair.source.entry.vault_id, notices=notices)


def _plan_leaving(pair: Pair, going: Sequence[Going], actor: Actor, op_id: OpId) -> Change:
    found = [(one.record, one.data) for one in going]
    return plan_leaving(pair.source, found, actor, op_id, pair.target.entry.vault_id)


def _check_state(record: Record) -> None:
    if record.private:
        raise StateError("private-record", f"the record {record.id} is private", "It stays in its own vault.")
    if record.state is State.BASELINE or record.kind in BASELINE_KINDS:
        kind = record.kind.value if record.kind else "baseline record"
        hint = "Declare it there: `gitmem --vault global declare`. Then retire the one here."
        raise StateError("baseline-kind", f"{record.title!r} is a {kind}: only a declaration makes one global", hint)
    if record.state is State.RETIRED:
        raise StateError("already-retired", f"{record.title!r} is retired", "Restore it first.")


def _check_new(target: OpenVault, record: Record) -> None:
    """Check that the global vault has neither the record nor another that says the same."""
    from gitmem.errors import InputError
    from gitmem.relevance.duplicates import find_twin

    with contextlib.suppress(InputError):
        known, _data = get_record(target, record.id)
        is_retired = known.state is State.RETIRED
        hint = (
            f"Restore it there: `gitmem --vault global restore {known.id}`." if is_retired else "Retire the one here."
        )
        raise StateError(
            "id-taken",
            f"the global vault has {known.title!r} already: {known.path}",
            hint,
            id=known.id,
            path=known.path,
        )
    words = " ".join(_WORD.findall(record.title))
    near = [hit.record for hit in search(target, words, Filters(), MAX_NEAR).hits] if words else []
    twin = find_twin(record, near)
    if twin is not None:
        other = near[twin]
        raise StateError(
            "near-duplicate",
            f"the global vault has a record that says the same: {other.title!r} ({other.id})",
            "Edit that one, if this one says more, and retire the one here.",
            id=other.id,
            path=other.path,
        )

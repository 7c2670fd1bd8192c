"""Records that go from one vault to another: one operation in each under one id, and what a crash between them left.

The target gets the records first, then they are retired in the source: what is on its way is never nowhere. Both vaults
are locked meanwhile, in the order of their ids, so that no two such operations wait for each other. What is about to be
done is written into the home before. Whoever comes next, at either vault, brings to an end what was broken off: where
the target has the operation, the source follows; where it does not, nothing was done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from gitmem.errors import GitmemError, InputError, StateError, disk_refused
from gitmem.model.authority import Action, Actor, Surface
from gitmem.model.change import Change, Receipt
from gitmem.model.handover import Handover, Leaving
from gitmem.model.ids import OpId, VaultId
from gitmem.model.record import BASELINE_KINDS, Problem, Record, State
from gitmem.model.settings import Scope
from gitmem.service.find import get_record
from gitmem.service.plan import carry_out, check_possible, edit_record, make_change, path_in, stamp
from gitmem.service.together import Found, describe
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass, replace
from gitmem.vault.handovers import (
    drop_handover,
    has_half_written,
    list_handovers,
    load_handover,
    remove_half_written,
    save_handover,
)
from gitmem.vault.layout import HomeLayout
from gitmem.vault.registry import load_registry

HALF_DONE = "half-done"
RULE = "promote-global"
PROMOTED_TO = "promoted_to"
"""The property of a retired record that says where it went."""
_AT_WORK = ("vault-busy", "index-locked")


@dataclass(frozen=True)
class Pair:
    """The vault that records leave, and the one that gets them."""

    source: OpenVault
    target: OpenVault

    @property
    def home(self) -> HomeLayout:
        """The home that knows both."""
        return HomeLayout(self.source.options.home)


def hand_over(pair: Pair, arriving: Change, leaving: Change, records: Sequence[Record]) -> tuple[Receipt, Receipt]:
    """Carry out ``arriving`` in the target and ``leaving``, of the same op id, in the source; both or neither.

    Returns the receipts of the source and of the target. Raises what ``plan.carry_out`` raises, with nothing written;
    ``StateError`` (``half-done``) where the target has the records and the source couldn't be written then: the next
    command completes it.
    """
    with hold_both(pair, f"{arriving.action.value} {arriving.op_id}"):
        check_possible(pair.source, leaving)
        check_possible(pair.target, arriving)
        pair.source.options.probe("handover")
        try:
            save_handover(pair.home, _describe(pair, arriving, records))
        except OSError as error:
            raise disk_refused(error, "Nothing was done.") from error
        try:
            there = carry_out(pair.target, arriving, is_held=True)
        except BaseException:
            _drop_where_nothing_came(pair, arriving.op_id)
            raise
        pair.source.options.probe("handover-second")
        try:
            here = carry_out(pair.source, leaving, is_held=True)
        except (GitmemError, OSError) as error:
            raise _half_done(arriving.op_id, f"it is in the global vault, but still in use here: {error}") from error
        pair.source.options.probe("handover-drop")
        drop_handover(pair.home, arriving.op_id)
        return here, there


@contextlib.contextmanager
def hold_both(pair: Pair, what: str, *, waits: bool = True) -> Iterator[None]:
    """Hold the locks of both vaults, taken in the order of the vaults' ids. Raises as ``apply.hold_vault`` does."""
    from gitmem.transaction.apply import hold_vault

    with contextlib.ExitStack() as held:
        for vault in sorted((pair.source, pair.target), key=lambda one: one.entry.vault_id):
            held.enter_context(hold_vault(vault.ground, vault.tools(waits=waits), what))
        yield


def plan_leaving(vault: OpenVault, found: Sequence[Found], actor: Actor, op_id: OpId, target: VaultId) -> Change:
    """Return the change that retires in ``vault`` the records that went to the global vault ``target``. Pure."""
    moves = []
    for record, data in found:
        path = path_in(State.RETIRED, record.path, vault.clock.now())
        moves.append((record, *edit_record(record, data, {"updated": stamp(vault), PROMOTED_TO: "global"}, path)))
    said = describe(moves)
    note = "\n".join(filter(None, [said["note"], "To the global vault, where it goes on; retired here."]))
    change = make_change(Action.PROMOTE, actor, RULE, moves, op_id=op_id, title=said["title"], note=note)
    return replace(change, other=target)


def settle_handovers(vault: OpenVault) -> tuple[Problem, ...]:
    """Bring to an end what was broken off between ``vault`` and another one, if nobody is at work; never waits.

    Returns what was done (``recovered``), or what stands in the way (``half-done``), as diagnostics.
    """
    try:
        home = HomeLayout(vault.options.home)
        found = [_settle(vault, home, op_id) for op_id in list_handovers(home)]
        if has_half_written(home):
            _remove_half_written(vault, home)
    except (GitmemError, OSError) as error:
        return (Problem(HALF_DONE, f"operations of two vaults can't be looked at: {error}"),)
    return tuple(one for one in found if one is not None)


def _remove_half_written(vault: OpenVault, home: HomeLayout) -> None:
    from gitmem.transaction.apply import hold_vault

    entry = next((entry for entry in load_registry(home) if entry.scope is Scope.GLOBAL), None)
    if entry is None:
        return
    opened = OpenVault(entry, vault.clock, vault.options)
    try:
        with hold_vault(opened.ground, opened.tools(waits=False), "a look for what a crash left"):
            remove_half_written(home)
    except GitmemError as error:
        if error.code not in _AT_WORK:
            raise
    finally:
        opened.close()


def _settle(vault: OpenVault, home: HomeLayout, op_id: str) -> Problem | None:
    try:
        handover = load_handover(home, op_id)
        if handover is None or vault.entry.vault_id not in (handover.source, handover.target):
            return None
        with _open_pair(vault, home, handover) as pair, hold_both(pair, f"recovery of {op_id}", waits=False):
            handover = load_handover(home, op_id)  # as it is now that nobody else can be at it
            said = None if handover is None else _complete(pair, handover)
            drop_handover(home, op_id)
    except (GitmemError, OSError) as error:
        if isinstance(error, GitmemError) and error.code in _AT_WORK:
            return None
        return Problem(HALF_DONE, f"the operation {op_id} of two vaults is half done: {error}")
    return None if said is None else Problem("recovered", said)


@contextlib.contextmanager
def _open_pair(vault: OpenVault, home: HomeLayout, handover: Handover) -> Iterator[Pair]:
    other = handover.target if vault.entry.vault_id == handover.source else handover.source
    entry = next((entry for entry in load_registry(home) if entry.vault_id == other), None)
    if entry is None:
        raise StateError(HALF_DONE, f"no vault with the id {other} is registered in this home")
    opened = OpenVault(entry, vault.clock, replace(vault.options, settle_handovers=lambda _vault: ()))
    try:
        yield Pair(vault, opened) if other == handover.target else Pair(opened, vault)
    finally:
        opened.close()


def _complete(pair: Pair, handover: Handover) -> str | None:
    """Do what is left to do, with both locks held; return what was done, for people. Raises what keeps it from that."""
    from gitmem.transaction.apply import recover_held
    from gitmem.transaction.earlier import find_operation
    from gitmem.transaction.receipts import find_receipt

    for vault in (pair.target, pair.source):
        recover_held(vault.ground, vault.tools(waits=False))
    if find_operation(pair.target.ground, handover.op_id) is None:
        return None
    if find_operation(pair.source.ground, handover.op_id) is not None:
        return None
    # Anybody could have written that file, and a commit's trailers, too. What it asks for is done only as far as the
    # target's receipt says the same.
    there = find_receipt(pair.target.layout, handover.op_id)
    if there is None:
        raise StateError(HALF_DONE, "the global vault has no receipt of it: retire here by hand what went there")
    actor = handover.actor
    is_same = (there.op, there.surface, there.actor) == (Action.PROMOTE, Surface.HUMAN.value, actor.name)
    if not is_same or actor.surface is not Surface.HUMAN:
        raise StateError(HALF_DONE, "what is written down of it is not what the global vault's receipt says")
    named = {ref.id for ref in there.records}
    left = [found for one in handover.records if one.id in named and (found := _find_left(pair, one)) is not None]
    if not left:
        return None
    change = plan_leaving(pair.source, left, actor, handover.op_id, handover.target)
    check_possible(pair.source, change)
    carry_out(pair.source, replace(change, request=handover.request), is_held=True)
    titles = ", ".join(record.title for record, _data in left)
    return f"finished the operation {handover.op_id}: {titles} went to the global vault and is retired here"


def _find_left(pair: Pair, leaving: Leaving) -> Found | None:
    """Return the record that has still to leave; ``None`` where a person has decided otherwise meanwhile.

    Raises ``StateError`` (``half-done``) where it was changed since.
    """
    here, there = _find_in_use(pair.source, leaving), _find_in_use(pair.target, leaving)
    if here is None or there is None:
        return None
    record, _data = here
    if not may_go(record):
        raise StateError(HALF_DONE, f"{record.id} is none that can go to the global vault: retire it here by hand")
    if (record.path, record.fingerprint) != (leaving.path, leaving.fingerprint):
        raise StateError(
            HALF_DONE, f"{record.title!r} ({record.path}) was changed since it went to the global vault: retire it here"
        )
    return here


def may_go(record: Record) -> bool:
    """Tell whether ``record`` is one that goes to the global vault at all: in use, not private, nothing to declare."""
    is_knowledge = record.state in (State.OBSERVATION, State.PROMOTED) and record.kind not in BASELINE_KINDS
    return is_knowledge and not record.private


def _find_in_use(vault: OpenVault, leaving: Leaving) -> Found | None:
    try:
        found = get_record(vault, leaving.id)
    except InputError as error:
        if error.code != "no-such-record":
            raise
        return None
    return None if found[0].state is State.RETIRED else found


def _drop_where_nothing_came(pair: Pair, op_id: OpId) -> None:
    """Forget an operation whose first half was refused; where that can't be told yet, the next command decides."""
    from gitmem.transaction.earlier import find_operation
    from gitmem.transaction.journal import is_pending

    with contextlib.suppress(GitmemError, OSError):
        target = pair.target
        if not is_pending(target.repo.common_dir) and find_operation(target.ground, op_id) is None:
            drop_handover(pair.home, op_id)


def _describe(pair: Pair, arriving: Change, records: Sequence[Record]) -> Handover:
    return Handover(
        op_id=arriving.op_id,
        source=pair.source.entry.vault_id,
        target=pair.target.entry.vault_id,
        actor=arriving.actor,
        request=arriving.request,
        time=stamp(pair.source),
        records=tuple(Leaving(one.id, one.path, one.fingerprint) for one in records),
    )


def _half_done(op_id: OpId, message: str) -> StateError:
    hint = "Mend that; the next command on either vault completes it. `gitmem status` says what is left."
    return StateError(HALF_DONE, message, hint, op_id=op_id)

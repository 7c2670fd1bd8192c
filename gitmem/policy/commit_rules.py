"""Whether a commit does no more than its own trailers say, and than the authority table allows whoever they name.

Trailers are claims. What a commit does is told by its trees (``model.deed``), and judged as policy judges a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitmem.model.authority import Action, Authority, Proof, Surface
from gitmem.model.change import RecordChange
from gitmem.model.deed import Deed, Fault
from gitmem.model.policy import RULE_PREFIX, Policy
from gitmem.model.record import Record, State
from gitmem.model.settings import Manifest, Scope
from gitmem.policy.authority import decide
from gitmem.policy.evidence_rules import fits
from gitmem.policy.rules import Request
from gitmem.text import make_visible, quote
from gitmem.values import dataclass, replace

_REPEATED = frozenset({"Gitmem-Record"})
_NEEDED = ("Gitmem-Op", "Gitmem-Op-Id", "Gitmem-Surface")
_OWN = (Action.INIT, Action.REPAIR, Action.MAINTAIN)
"""What gitmem does by itself, on either surface: it changes no record."""
_BASE, _OBS, _PROM, _RET = State.BASELINE, State.OBSERVATION, State.PROMOTED, State.RETIRED
_MOVES: dict[Action, frozenset[tuple[State | None, State | None]] | None] = {
    Action.OBSERVE: frozenset({(None, _OBS)}),
    Action.DECLARE: frozenset({(None, _BASE)}),
    Action.EDIT: frozenset(),
    Action.PROMOTE: frozenset({(_OBS, _PROM), (None, _PROM), (_OBS, _RET), (_PROM, _RET)}),
    Action.RETIRE: frozenset({(_BASE, _RET), (_OBS, _RET), (_PROM, _RET)}),
    Action.RESTORE: frozenset({(_RET, _BASE), (_RET, _OBS), (_RET, _PROM)}),
    Action.IMPORT: frozenset((None, state) for state in State),
    Action.ACCEPT: frozenset(
        {(None, _BASE), (None, _OBS), (None, _PROM), (_OBS, _PROM), (_BASE, _RET), (_OBS, _RET), (_PROM, _RET)}
    ),
    Action.CURATE: frozenset({(None, _OBS)}),
    Action.ADOPT: None,
    Action.UNDO: None,
}
"""From which state to which an operation moves records; any in ``None``. Other operations touch none."""
_IN_PLACE = frozenset({Action.EDIT, Action.PROMOTE, Action.RETIRE, Action.RESTORE, Action.ACCEPT})
"""What may edit a record where it lies, be it to link it with another."""
_DECLARES = frozenset({Action.DECLARE, Action.IMPORT, Action.ADOPT, Action.ACCEPT, Action.UNDO})
_WITHOUT_RECORDS = frozenset({Action.POLICY, Action.TRUST, Action.ADOPT})
"""What may do something and touch no record."""
_PLAIN_NOTES = frozenset({Action.IMPORT, Action.ADOPT, Action.UNDO})


Markers = tuple[Manifest | None, Manifest | None]


@dataclass(frozen=True)
class Around:
    """What held when a commit was made: the vault's scope, and its committed policy if it had one.

    ``owns`` tells whether the actor of a name alone had touched a record before, on the model surface.
    """

    scope: Scope
    policy: Callable[[], Policy | None]
    owns: Callable[[RecordChange, str], bool]


def is_operation(deed: Deed) -> bool:
    """Tell whether the commit says of itself that it is an operation of gitmem's."""
    return deed.find_trailer("Gitmem-Op-Id") is not None


def find_action(deed: Deed) -> Action | None:
    """Return the action that the commit names, ``None`` for none that is known."""
    name = deed.find_trailer("Gitmem-Op")
    return next((one for one in Action if one.value == name), None)


def is_of_person(deed: Deed) -> bool:
    """Tell whether the commit says that a person did it, in the sense in which a vault with keys wants it signed."""
    surface = deed.find_trailer("Gitmem-Surface")
    return is_operation(deed) and surface == Surface.HUMAN.value and find_action(deed) not in _OWN


def check_operation(deed: Deed, around: Around) -> Iterator[Fault]:
    """Yield the rules that a commit with gitmem's trailers does not keep; trailers and signatures apart."""
    action = find_action(deed)
    if action is None:
        return
    rule = deed.find_trailer("Gitmem-Rule") or ""
    is_model = deed.find_trailer("Gitmem-Surface") != Surface.HUMAN.value
    for one in deed.records if is_model and action not in _OWN else ():
        yield from _check_model(one, action)
    for one in deed.records if action in _MOVES else ():
        if is_model and rule.startswith(RULE_PREFIX):
            yield from _check_policy_rule(one, action, rule, around)
        else:
            yield from _check_table(deed, one, action, around)
    if not deed.records and action in _WITHOUT_RECORDS:
        yield from _check_table(deed, None, action, around)
    yield from _check_extent(deed, action)


def check_outside(deed: Deed, *, is_keyed: bool) -> Iterator[Fault]:
    """Yield what is to be said of a commit that was made outside gitmem, or of what a merge made of its parents.

    What people declared or reviewed, the policy and the marker are no one's to change there: in a vault with keys that
    breaks history, elsewhere nothing says by whom it was.
    """
    by = " by the merge itself" if deed.is_merge else ""
    for one, what in list_guarded(deed):
        told = (
            f"{what}{by}, and nobody signed for it" if is_keyed else f"{what}{by} with plain Git; nothing says by whom"
        )
        yield Fault("not-signed" if is_keyed else "outside", told, is_keyed, None if one is None else one.id)


def list_guarded(deed: Deed) -> list[tuple[RecordChange | None, str]]:
    """Return what the commit does to what only people change, in words, with the record if it is one."""
    found: list[tuple[RecordChange | None, str]] = [
        (one, what) for one in deed.records if (what := _describe_guarded(one))
    ]
    if "policy.yaml" in deed.files:
        found.append((None, "policy.yaml is changed"))
    if deed.manifest is not None and not deed.is_root and not _is_spreading(deed.manifest):
        found.append((None, "manifest.json is changed"))
    return found


def check_trailers(deed: Deed) -> Iterator[Fault]:
    """Yield what shows that gitmem did not write the trailers of a commit that has its names."""
    names = [name for name, _value in deed.trailers if name.lower().startswith("gitmem-")]
    if deed.looks_forged:
        yield Fault("forged-trailers", "its text has lines like gitmem's trailers that are none")
    if not names:
        return
    if deed.is_merge:
        yield Fault("forged-trailers", "it is a merge, and has trailers of an operation")
    for name in sorted(set(names) - _REPEATED):
        if names.count(name) > 1:
            yield Fault("forged-trailers", f"{make_visible(name)[:40]} stands there {names.count(name)} times")
    for name in _NEEDED:
        if name not in names:
            yield Fault("forged-trailers", f"it has trailers of gitmem's, but no {name}")
    surface = deed.find_trailer("Gitmem-Surface")
    if surface is not None and surface not in list(Surface):
        yield Fault("forged-trailers", "its Gitmem-Surface is neither human nor model")
    if deed.find_trailer("Gitmem-Op") is not None and find_action(deed) is None:
        yield Fault(
            "forged-trailers",
            f"there is no operation called {quote(deed.find_trailer('Gitmem-Op') or '', 40)}",
        )


def _check_extent(deed: Deed, action: Action) -> Iterator[Fault]:
    """Yield what the commit does beyond what its operation does, and records that it does not name."""
    named = {value for name, value in deed.trailers if name == "Gitmem-Record"}
    is_counted = deed.find_trailer("Gitmem-Records") is not None
    for one in deed.records:
        if not _may_move(one, action):
            yield _beyond(action, f"{_describe_move(one)}", one)
        if not is_counted and one.id not in named:
            yield Fault("more-than-it-says", f"it touches {one.id}, which its trailers don't name", record=one.id)
        if _gains_declared(one) and action not in _DECLARES:
            yield _beyond(action, "makes a record `user_declared`", one)
    if deed.plain and action not in _PLAIN_NOTES:
        yield Fault("more-than-it-says", f"no {action} touches a note that is no record")
    if deed.others and action is not Action.INIT:
        yield Fault("more-than-it-says", f"no {action} touches {deed.others[0]}")
    if "policy.yaml" in deed.files and action is not Action.POLICY:
        yield _beyond(action, "changes the policy")
    if deed.manifest is not None and action is not Action.INIT and not _may_mark(deed.manifest, action):
        yield _beyond(action, "changes the marker of the vault")


def _may_mark(manifest: Markers, action: Action) -> bool:
    before, after = manifest
    if before is None or after is None:
        return False
    if action is Action.TRUST:
        return replace(before, human_keys=()) == replace(after, human_keys=())
    return action is Action.MAINTAIN and _is_spreading(manifest)


def _is_spreading(manifest: Markers) -> bool:
    """Tell whether the marker changed in nothing but how the catalog is spread over files."""
    before, after = manifest
    if before is None or after is None:
        return False
    return replace(before, catalog_shards=1) == replace(after, catalog_shards=1)


def _may_move(one: RecordChange, action: Action) -> bool:
    if action not in _MOVES:
        return False
    moves = _MOVES[action]
    before, after = _state(one.before), _state(one.after)
    return moves is None or (before, after) in moves or (before is after and action in _IN_PLACE)


def _check_model(one: RecordChange, action: Action) -> Iterator[Fault]:
    """Keeps INV-HUMAN-ONLY for history: a model never touches what is declared, and promotes by a policy's rule alone.

    The table says so of requests; here it is asked of what was done.
    """
    sides = [side for side in (one.before, one.after) if side is not None]
    if any(side.state is _BASE or side.authority is Authority.USER_DECLARED for side in sides):
        yield Fault("not-a-model-s", f"a model surface can't {action} what is declared", record=one.id)
    elif any(side.state is _PROM for side in sides) and action is not Action.PROMOTE:
        yield Fault("not-a-model-s", f"a model surface can't {action} reviewed knowledge", record=one.id)


def _check_policy_rule(one: RecordChange, action: Action, rule: str, around: Around) -> Iterator[Fault]:
    policy = around.policy()
    offered = (
        {Action.ACCEPT: (one.after, policy.accept), Action.PROMOTE: (one.before, policy.promote)} if policy else {}
    )
    record, rules = offered.get(action, (None, ()))
    fitting = [each for each in rules if RULE_PREFIX + each.id == rule]
    is_new = one.before is None and _state(one.after) is _OBS
    is_move = _state(one.before) is _OBS and _state(one.after) is _PROM
    if around.scope is Scope.GLOBAL or not fitting or record is None:
        message = f"no rule {make_visible(rule)[:80]} of the policy of that time lets a model {action}"
    elif not (is_new if action is Action.ACCEPT else is_move) or not fits(fitting[0], record, fitting[0].sessions):
        message = f"the rule {rule} does not fit what a model's {action} did"
    else:
        return
    yield Fault("not-a-model-s", message, record=one.id)


def _check_table(deed: Deed, one: RecordChange | None, action: Action, around: Around) -> Iterator[Fault]:
    for request in _make_requests(deed, one, action, around):
        decision = decide(request)
        if not decision.allowed:
            code = "not-a-model-s" if request.surface is Surface.MODEL else "not-allowed"
            message = f"{decision.reason} ({decision.rule})"
            yield Fault(code, message, record=one.id if one else None)
            return


def _make_requests(deed: Deed, one: RecordChange | None, action: Action, around: Around) -> Iterator[Request]:
    is_human = deed.find_trailer("Gitmem-Surface") == Surface.HUMAN.value
    proof = Proof.PROMPT if deed.find_trailer("Gitmem-Proof") == Proof.PROMPT.value else Proof.CODE
    asked = Request(action, Surface.HUMAN if is_human else Surface.MODEL, proof=proof, scope=around.scope)
    if one is None:
        yield asked
        return
    own = not is_human and around.owns(one, deed.find_trailer("Gitmem-Actor") or "")
    if action in (Action.UNDO, Action.ADOPT):
        for side in (one.before, one.after):
            if side is not None:
                yield replace(asked, authority=side.authority, state=side.state, own=own)
        return
    before, after = one.before, one.after
    if action is not Action.EDIT and before is not None and after is not None and before.state is after.state:
        asked = replace(asked, action=Action.EDIT)
    yield replace(
        asked,
        kind=after.kind if after is not None and before is None else None,
        authority=before.authority if before is not None else None,
        state=_state(before),
        has_evidence=bool(after is not None and after.evidence),
        own=own,
        to_state=_state(after),
    )


def _describe_guarded(one: RecordChange) -> str:
    """Return what happens to something that a person declared or reviewed; empty where that is not touched."""
    sides = [side for side in (one.before, one.after) if side is not None]
    if not any(side.authority is Authority.USER_DECLARED or side.state in (_BASE, _PROM) for side in sides):
        return ""
    how = "added" if one.before is None else "removed" if one.after is None else "changed"
    return f"{'a private record' if one.is_private else one.shown.path} is {how}"


def _gains_declared(one: RecordChange) -> bool:
    before, after = one.before, one.after
    is_after = after is not None and after.authority is Authority.USER_DECLARED
    return is_after and not (before is not None and before.authority is Authority.USER_DECLARED)


def _beyond(action: Action, what: str, one: RecordChange | None = None) -> Fault:
    message = f"its trailers say {action.value}, and it {what}"
    return Fault("more-than-it-says", message, record=one.id if one else None)


def _describe_move(one: RecordChange) -> str:
    before, after = _state(one.before), _state(one.after)
    if before is after:
        return f"edits a record in {before.folder}/" if before else "touches a record"
    if before is None or after is None:
        here = after or before
        return f"{'adds' if before is None else 'removes'} a record in {here.folder if here else '?'}/"
    return f"moves a record from {before.folder}/ to {after.folder}/"


def _state(record: Record | None) -> State | None:
    return None if record is None else record.state

"""Curate: sessions that are over become episodes in one commit, and what repeats becomes candidates. Design section 8.

Nothing is decided here but what happened: whatever may be worth remembering is proposed, with its reasons.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.curator.consolidate import Named
from gitmem.curator.ideas import CURATOR, Idea
from gitmem.curator.signals import find_signals
from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Action, Actor, Decision, Surface
from gitmem.model.candidate import Candidate, Decided, Fate, Outcome, Wants
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId, RecordId
from gitmem.model.outside import Heard, Program
from gitmem.model.record import Draft, Kind
from gitmem.policy.secrets import redact
from gitmem.service.candidates import hold_candidates, keep_decided, look_at_candidates
from gitmem.service.consolidation import DEFAULT_LOOK, Looked, consolidate_records, list_moot
from gitmem.service.episodes import IDLE_MINUTES, Episode, Waiting, claim_due, make_episodes, pick_spools
from gitmem.service.gate import authorize
from gitmem.service.outside_curator import act_as, hear, list_proposed, make_input
from gitmem.service.plan import Move, carry_out_allowed, find_earlier, make_change, no_change, stamp
from gitmem.service.propose import add_candidate
from gitmem.service.retry import describe_request
from gitmem.service.together import describe
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass, field, replace
from gitmem.vault.curated import Curated, hold_curating, load_curated, save_curated
from gitmem.vault.inbox import load_decided
from gitmem.vault.sightings import load_sightings
from gitmem.vault.spool import Spool, drop_claimed, iter_claimed

REFUSED = "refused"
OVER = "what it is about was done or is gone"
MAX_CONSOLIDATED = 20
"""How many candidates the records themselves give at once."""


@dataclass(frozen=True)
class Wanted:
    """What is to be curated.

    ``sessions`` names the only ones; ``every`` takes those that go on, too; ``idle_minutes`` says after how long
    without an event one counts as over. ``look`` is how many records are compared with others this time. ``program``
    is one of a person's choice, which is handed what is known and may propose, too.
    """

    sessions: tuple[str, ...] = ()
    every: bool = False
    idle_minutes: int = IDLE_MINUTES
    look: int = DEFAULT_LOOK
    program: Program | None = None


@dataclass(frozen=True)
class Added:
    """One candidate of the curator's, and what became of it: an ``Outcome``, ``refused`` or, in a dry run, ``found``.

    ``reason`` says why it was refused, or which record says it already.
    """

    candidate: Candidate
    outcome: str
    reason: str = ""


@dataclass(frozen=True)
class Curation:
    """What curating did, or would do: ``receipt`` is that of the episodes, changed or not.

    ``episodes`` has every session that was looked at, ``waiting`` those that were not. ``added`` are the candidates,
    ``expired`` those that nobody decided in time, or that have nothing left to do. ``named`` are declared records that
    a person should look at. ``problems`` is what could not be done; the rest stands. ``program`` is how a person's own
    program went.
    """

    receipt: Receipt
    episodes: tuple[Episode, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    added: tuple[Added, ...] = ()
    expired: tuple[Candidate, ...] = ()
    named: tuple[Named, ...] = ()
    problems: tuple[str, ...] = ()
    program: Heard | None = None


def curate(
    vault: OpenVault,
    actor: Actor,
    wanted: Wanted | None = None,
    *,
    dry_run: bool = False,
    op_id: OpId | None = None,
) -> Curation:
    """Write the episodes of all sessions that are due in one commit, and put what repeats into the inbox.

    With ``dry_run`` nothing is written at all, and candidates come back as found. Raises ``InputError``
    (``no-such-session``), ``UnavailableError`` (``curate-busy`` and what reading raises) and what ``carry_out`` raises;
    sessions stay as they were then, and are curated the next time. What fails after the commit is among ``problems``.
    """
    wanted = wanted or Wanted()
    request = describe_request(sessions=list(wanted.sessions) or None, every=wanted.every or None)
    earlier = find_earlier(vault, Action.CURATE, op_id, request)
    if earlier is not None:
        return Curation(earlier)
    if dry_run:
        return _look(vault, actor, wanted)
    with hold_curating(vault.layout, vault.options.lock_wait_s):
        curated = load_curated(vault.layout)
        due, waiting = pick_spools(vault, wanted.sessions, every=wanted.every, idle_minutes=wanted.idle_minutes)
        spools = claim_due(vault, due)
        vault.options.probe("curate-claimed")
        episodes, receipt = _write(vault, actor, spools, curated, op_id, request)
        curated = _remember(vault, curated, episodes)
        proposed = _propose(vault, curated, actor, wanted)
        heard = None if wanted.program is None else _hear(vault, curated, actor, wanted.program, proposed)
    if curated.is_lost:
        proposed.problems.insert(0, "what was curated before can't be read; what repeats is counted anew")
    return Curation(
        receipt,
        tuple(episodes),
        tuple(waiting),
        tuple(proposed.added),
        tuple(proposed.expired),
        tuple(proposed.named),
        tuple(proposed.problems),
        heard,
    )


def _look(vault: OpenVault, actor: Actor, wanted: Wanted) -> Curation:
    curated = load_curated(vault.layout)
    due, waiting = pick_spools(vault, wanted.sessions, every=wanted.every, idle_minutes=wanted.idle_minutes)
    claimed = list(iter_claimed(vault.layout))
    aside = {spool.session for spool in claimed}
    waiting += [Waiting(one.session, "an earlier part of it comes first") for one in due if one.session in aside]
    spools: list[Spool] = [*claimed, *(one for one in due if one.session not in aside)]
    episodes = make_episodes(vault, spools, curated)
    curated = curated.with_sessions([one.told for one in episodes if one.spool.events])
    ideas, looked = _have_ideas(vault, curated, wanted)
    now, vault_id = stamp(vault), vault.entry.vault_id
    added = [Added(one.to_candidate(vault_id, now), "found") for one in ideas]
    nothing = no_change(Action.CURATE, actor, None)
    receipt = Receipt(Action.CURATE, nothing.op_id, None, changed=False, records=(), actor=actor.name)
    return Curation(receipt, tuple(episodes), tuple(waiting), tuple(added), (), looked.found.named)


def _write(
    vault: OpenVault, actor: Actor, spools: Sequence[Spool], curated: Curated, op_id: OpId | None, request: str
) -> tuple[list[Episode], Receipt]:
    """Write the episodes of ``spools``, without names of files where a scanner refuses one of them."""
    episodes = make_episodes(vault, spools, curated)
    try:
        return episodes, _commit(vault, actor, episodes, op_id, request)
    except PolicyError as error:
        if error.code != "secret-found":
            raise
    episodes = make_episodes(vault, spools, curated, withholds=True)
    return episodes, _commit(vault, actor, episodes, op_id, request)


def _commit(vault: OpenVault, actor: Actor, episodes: Sequence[Episode], op_id: OpId | None, request: str) -> Receipt:
    moves: list[Move] = [move for one in episodes if (move := one.move) is not None]

    def plan(rule: str) -> Change:
        if not moves:
            return no_change(Action.CURATE, actor, op_id, request)
        said = describe(moves, moves[0][1].summary)
        return make_change(Action.CURATE, actor, rule, moves, op_id=op_id, request=request, **said)

    def ask() -> Decision:
        return authorize(vault.entry.scope, Action.CURATE, actor, kind=Kind.EPISODE)

    return carry_out_allowed(vault, ask, plan)


def _remember(vault: OpenVault, curated: Curated, episodes: Sequence[Episode]) -> Curated:
    """Keep what the sessions came to, and then drop what was set aside of them."""
    vault.options.probe("curate-remember")
    told = [one for one in episodes if one.spool.events]
    curated = curated.with_sessions([one.told for one in told])
    save_curated(vault.layout, curated)
    for one in told:
        vault.options.probe("curate-drop")
        drop_claimed(vault.layout, one.spool.session)
    return curated


def _have_ideas(vault: OpenVault, curated: Curated, wanted: Wanted) -> tuple[list[Idea], Looked]:
    """Return the ideas that are new, or for which more sessions speak than when they were had last."""
    looked = consolidate_records(vault, curated.place, wanted.look, load_sightings(vault.layout))
    new = [
        one
        for one in (*find_signals(curated.sessions), *looked.found.ideas)
        if curated.ideas.get(one.id_in(vault.entry.vault_id), -1) < len(one.sources)
    ]
    signals = [one for one in new if one.wants is Wants.RECORD]
    others = [one for one in new if one.wants is not Wants.RECORD]
    return [*signals, *others[:MAX_CONSOLIDATED]], looked


@dataclass
class _Proposed:
    """What was put into the inbox, and what could not be."""

    added: list[Added] = field(default_factory=list)
    expired: list[Candidate] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def _propose(vault: OpenVault, curated: Curated, actor: Actor, wanted: Wanted) -> _Proposed:
    """Put what there is reason for into the inbox, and away what nobody decided in time. Fails for nothing."""
    done = _Proposed()
    try:
        with hold_candidates(vault) as kept:
            over = [Decided(one, Fate.EXPIRED, stamp(vault), OVER) for one in list_moot(vault, kept.candidates)]
            keep_decided(vault, over)
            done.expired = [one.candidate for one in (*kept.decided, *over) if one.fate is Fate.EXPIRED]
            drafts = {one.id: one.draft for one in kept.candidates}
        ideas, looked = _have_ideas(vault, curated, wanted)
        done.named = list(looked.found.named)
        open_again = (Fate.EXPIRED, Fate.WITHDRAWN)
        decided = {one.candidate.id for one in load_decided(vault.layout) if one.fate not in open_again}
        had: dict[RecordId, int] = {}
        curator = replace(actor, surface=Surface.MODEL, name=CURATOR)
        for idea in ideas:
            name = idea.id_in(vault.entry.vault_id)
            # Of an idea that was had before only the sessions since count, and what waits stays as it is.
            sources = idea.sources[curated.ideas.get(name, 0) :]
            further = replace(idea, draft=drafts.get(name, idea.draft), sources=sources)
            if name not in decided:
                done.added.append(_add(vault, further.to_candidate(vault.entry.vault_id, stamp(vault)), curator))
            if name in decided or done.added[-1].outcome != REFUSED:
                had[name] = len(idea.sources)
        save_curated(vault.layout, replace(curated.with_ideas(had), place=looked.place))
    except (GitmemError, OSError) as error:
        message = error.message if isinstance(error, GitmemError) else str(error)
        done.problems.append(f"candidates could not be made: {message}")
    return done


def _add(vault: OpenVault, candidate: Candidate, actor: Actor) -> Added:
    try:
        told = add_candidate(vault, candidate, actor)
    except (InputError, PolicyError, StateError) as error:
        return _refuse(candidate, error.message)
    said = {Outcome.KNOWN: f"record {told.record} says it", Outcome.REJECTED_BEFORE: "it was rejected before"}
    return Added(told.candidate, told.outcome.value, said.get(told.outcome, ""))


def _refuse(candidate: Candidate, reason: str) -> Added:
    """Return what is told of a candidate that was refused: its title alone, which may be where a secret is."""
    return Added(replace(candidate, draft=Draft(title=redact(candidate.draft.title)), why=()), REFUSED, reason)


def _hear(vault: OpenVault, curated: Curated, actor: Actor, program: Program, done: _Proposed) -> Heard:
    """Let ``program`` propose, and put what it says into the inbox. Fails for nothing."""
    author = act_as(program, actor, stamp(vault)[:10])
    try:
        data = make_input(vault, curated.sessions, look_at_candidates(vault).candidates, program)
        heard, value = hear(program, data)
        for found in list_proposed(vault, value, author):
            if isinstance(found, Candidate):
                done.added.append(_add(vault, found, author))
            else:
                done.added.append(_refuse(*found))
    except (GitmemError, OSError) as error:
        return Heard(author.name, error.message if isinstance(error, GitmemError) else str(error))
    return heard

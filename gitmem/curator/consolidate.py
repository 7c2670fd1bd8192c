"""What the records themselves give reason to do: promote, retire, merge. Pure rules over facts; always only proposed.

What a person declared is never proposed for a change: it is named for a person to look at, with the reason.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitmem.curator.ideas import Idea
from gitmem.curator.similar import SAME, find_difference, list_words, share_words
from gitmem.model.authority import Authority
from gitmem.model.candidate import MAX_TARGETS, Wants
from gitmem.model.ids import RecordId
from gitmem.model.record import EPISODIC_KINDS, Draft, State
from gitmem.text import fold, shorten
from gitmem.values import dataclass

MIN_SESSIONS = 3
"""In how many sessions something has to be seen to be proposed for promotion."""
MIN_CONTRADICTION = 0.6
"""From which share of words in common on two records can contradict each other."""
REVIEW_LONG_PAST_DAYS = 180
"""How long after its review was due a record is proposed for retirement."""
_MAX_TITLE_CHARS = 150
_STANDING = {State.PROMOTED: 0, State.OBSERVATION: 1}


@dataclass(frozen=True)
class Facts:
    """What is known of one record that is not retired. Dates are days or moments, as the record has them.

    ``sightings`` are the sessions that proposed the same since. ``files`` is how many files its evidence names, and
    ``gone`` those that are not in the project any more. ``replaced_by`` is the record that supersedes it, by id and
    title. ``has_more_evidence`` says that it names other evidence than files.
    """

    id: RecordId
    state: State
    draft: Draft
    authority: Authority | None = None
    created: str = ""
    source: str = ""
    sightings: tuple[str, ...] = ()
    verified: str = ""
    valid_until: str = ""
    review_after: str = ""
    files: int = 0
    gone: tuple[str, ...] = ()
    has_more_evidence: bool = False
    replaced_by: tuple[RecordId, str] | None = None

    @property
    def is_declared(self) -> bool:
        """Whether it is a person's word, or stands where a person's words stand."""
        return self.state is State.BASELINE or self.authority is Authority.USER_DECLARED

    @property
    def is_episodic(self) -> bool:
        """Whether it tells what happened once, and so is neither stale nor said twice."""
        return self.draft.kind in EPISODIC_KINDS


@dataclass(frozen=True)
class Named:
    """A declared record that a person should look at, and why."""

    id: RecordId
    title: str
    reason: str


@dataclass(frozen=True)
class Consolidation:
    """What follows from the records: ideas, the weightiest first, and declared records to be looked at, by id."""

    ideas: tuple[Idea, ...] = ()
    named: tuple[Named, ...] = ()


def consolidate(
    records: Iterable[Facts], pairs: Iterable[tuple[RecordId, RecordId]], today: datetime.date
) -> Consolidation:
    """Return what follows from ``records``, of which ``pairs`` may say the same or contradict each other.

    A pair of which one is not among ``records`` is passed over. The order of both doesn't matter.
    """
    known = {one.id: one for one in sorted(records, key=lambda one: one.id)}
    met = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1] and {*pair} <= known.keys()})
    compared = [(known[one], known[other]) for one, other in met]
    compared = [pair for pair in compared if not any(one.is_episodic for one in pair)]
    found = [(pair, verdict) for pair in compared for verdict in _compare(*pair)]
    same = [pair for pair, verdict in found if verdict is None]
    told = [verdict for _pair, verdict in found if verdict is not None]
    told += [verdict for record in known.values() for verdict in _look_at(record, today)]
    ideas = [one for one in told if isinstance(one, Idea)]
    leaving = {idea.targets[0] for idea in ideas}
    groups = ([one for one in group if one.id not in leaving] for group in _join(same))
    ideas += [_merge(group) for group in groups if len(group) > 1]
    seen = _count_sessions(known, same)
    staying = [record for record in known.values() if record.id not in leaving]
    ideas += [idea for record in staying for idea in _promote(record, seen[record.id])]
    by_name = {idea.about: idea for idea in ideas}
    ordered = sorted(by_name.values(), key=lambda idea: (-idea.worth, idea.about))
    named = {one for one in told if isinstance(one, Named)}
    return Consolidation(tuple(ordered), tuple(sorted(named, key=lambda one: (one.id, one.reason))))


def _look_at(record: Facts, today: datetime.date) -> Iterator[Idea | Named]:
    """Yield what one record gives reason to by itself."""
    stale = _find_stale(record, today)
    review = _day(record.review_after)
    if record.is_declared:
        if stale is not None:
            yield Named(record.id, record.draft.title, stale[1])
        if review is not None and review <= today:
            yield Named(record.id, record.draft.title, f"its review is due since {review}")
    elif stale is not None:
        yield _retire(record, *stale)


def _find_stale(record: Facts, today: datetime.date) -> tuple[str, str, float] | None:
    """Return a code, the reason in words and the worth of retiring ``record``; the strongest, ``None`` for none."""
    until, review = _day(record.valid_until), _day(record.review_after)
    if record.replaced_by is not None and not record.is_declared:
        return "superseded", f"superseded by {_quote(record.replaced_by[1])} ({record.replaced_by[0]})", 0.7
    if until is not None and until < today:
        return "out-of-date", f"out of date since {until}", 0.65
    if record.is_episodic:
        return None
    if record.files and len(record.gone) == record.files and not record.has_more_evidence:
        return "evidence-gone", f"the files it was seen in are gone from the project: {', '.join(record.gone[:5])}", 0.5
    if review is not None and (today - review).days > REVIEW_LONG_PAST_DAYS and not record.is_declared:
        return "review-long-due", f"its review has been due since {review}", 0.35
    return None


def _compare(one: Facts, other: Facts) -> Iterator[Idea | Named | None]:
    """Yield what a pair gives reason to; ``None`` says that the two say the same and may be merged."""
    words = list_words(one.draft), list_words(other.draft)
    in_common, difference = share_words(*words), find_difference(*words)
    has_one_key = bool(one.draft.key and other.draft.key and fold(one.draft.key) == fold(other.draft.key))
    contradicts = difference in ("values", "denial") and in_common >= MIN_CONTRADICTION
    is_same = in_common >= SAME and not difference
    if not is_same and (contradicts or has_one_key):
        yield _contradict(one, other, how="under the same key" if has_one_key else "in nearly the same words")
    elif is_same:
        declared = [record for record in (one, other) if record.is_declared]
        if not declared:
            yield None
        elif len(declared) == 1:
            rest = other if declared[0] is one else one
            yield _retire(rest, "declared", f"a person declared the same: {_say(declared[0])}", 0.45)
        else:
            yield Named(one.id, one.draft.title, f"it says the same as {_say(other)}")


def _contradict(one: Facts, other: Facts, *, how: str) -> Idea | Named:
    older, newer = sorted((one, other), key=lambda record: (record.created, record.id))
    if older.is_declared or newer.is_declared:
        declared, rest = (older, newer) if older.is_declared else (newer, older)
        if rest.is_declared or declared is older:
            return Named(declared.id, declared.draft.title, f"{_say(rest)} says otherwise {how}")
        return _retire(rest, "contradicted", f"a person declared otherwise since: {_say(declared)}", 0.7, declared)
    return _retire(older, "contradicted", f"a newer record says otherwise {how}: {_say(newer)}", 0.6, newer)


def _retire(record: Facts, code: str, reason: str, worth: float, contradicts: Facts | None = None) -> Idea:
    return Idea(
        about=("retire", record.id, code, *((contradicts.id,) if contradicts else ())),
        draft=Draft(title=f"Retire {_quote(record.draft.title)}"),
        why=(reason,),
        wants=Wants.RETIRE,
        targets=(record.id,),
        reason=reason,
        sources=(record.source,) if record.source else (),
        contradicts=(contradicts.id,) if contradicts else (),
        worth=worth,
    )


def _merge(group: Sequence[Facts]) -> Idea:
    ordered = sorted(group, key=lambda one: (_STANDING[one.state], not one.verified, one.created, one.id))[:MAX_TARGETS]
    first = ordered[0]
    return Idea(
        about=("merge", *sorted(one.id for one in ordered)),
        draft=Draft(title=f"Merge {len(ordered)} records into {_quote(first.draft.title)}"),
        why=(
            f"{len(ordered)} records say nearly the same",
            f"{_say(first)} stays: it is {_say_first(first)}",
            *(f"{_say(one)} goes" for one in ordered[1:]),
        ),
        wants=Wants.MERGE,
        targets=tuple(one.id for one in ordered),
        sources=_list_sources(ordered),
        worth=min(0.8, 0.4 + 0.05 * len(ordered)),
    )


def _say_first(first: Facts) -> str:
    if first.state is State.PROMOTED:
        return "promoted"
    return "verified" if first.verified else "the oldest"


def _promote(record: Facts, sessions: Sequence[str]) -> Iterator[Idea]:
    """Yield the idea to promote ``record``, if it was seen in enough sessions or somebody verified it."""
    if record.state is not State.OBSERVATION or record.is_declared or record.is_episodic:
        return
    why = []
    if len(sessions) >= MIN_SESSIONS:
        why.append(f"seen in {len(sessions)} sessions: {', '.join(sessions[:5])}{', …' if len(sessions) > 5 else ''}")
    if record.verified:
        why.append(f"verified on {record.verified[:10]}")
    if why:
        yield Idea(
            about=("promote", record.id),
            draft=Draft(title=f"Promote {_quote(record.draft.title)}"),
            why=tuple(why),
            wants=Wants.PROMOTE,
            targets=(record.id,),
            sources=tuple(sessions),
            worth=min(
                0.9, 0.4 + 0.1 * len(sessions) * bool(len(sessions) >= MIN_SESSIONS) + 0.2 * bool(record.verified)
            ),
        )


def _count_sessions(known: Mapping[RecordId, Facts], same: Sequence[tuple[Facts, Facts]]) -> dict[RecordId, list[str]]:
    """Return the sessions in which each record was seen, its own and those of what says the same, sorted."""
    found = {one.id: set(_list_sources([one])) for one in known.values()}
    for one, other in same:
        found[one.id] |= set(_list_sources([other]))
        found[other.id] |= set(_list_sources([one]))
    return {record_id: sorted(sources) for record_id, sources in found.items()}


def _list_sources(records: Iterable[Facts]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for one in records for source in (one.source, *one.sightings) if "/" in source))


def _join(same: Sequence[tuple[Facts, Facts]]) -> list[list[Facts]]:
    """Return the groups in which every record says the same as one that comes before it, each by id."""
    leader: dict[RecordId, RecordId] = {}
    by_id = {one.id: one for pair in same for one in pair}

    def find(record_id: RecordId) -> RecordId:
        while leader.get(record_id, record_id) != record_id:
            record_id = leader[record_id]
        return record_id

    for one, other in same:
        first, second = sorted((find(one.id), find(other.id)))
        leader[second] = first
    groups: dict[RecordId, list[Facts]] = defaultdict(list)
    for record_id in sorted(by_id):
        groups[find(record_id)].append(by_id[record_id])
    return [groups[first] for first in sorted(groups)]


def _say(record: Facts) -> str:
    return f"{_quote(record.draft.title)} ({record.id})"


def _quote(title: str) -> str:
    return f"“{shorten(title, _MAX_TITLE_CHARS)}”"


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None

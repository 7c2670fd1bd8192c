"""Where a proposal goes: into the inbox, into a candidate that waits there, or nowhere, since it is known. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.curator.ideas import CURATOR
from gitmem.curator.similar import (
    NEAR,
    SAME,
    Words,
    find_difference,
    is_contained,
    list_words,
    may_say_same,
    says_same,
    share_words,
)
from gitmem.curator.worth import raise_worth, weigh
from gitmem.model.authority import Surface
from gitmem.model.candidate import (
    MAX_NEAR,
    MAX_SOURCES,
    MAX_TARGETS,
    MAX_WHY,
    MAX_WHY_CHARS,
    Candidate,
    Decided,
    Fate,
    Near,
    Outcome,
    Proposed,
    Wants,
)
from gitmem.model.ids import RecordId
from gitmem.model.record import BASELINE_KINDS, Draft, Record, State
from gitmem.patterns import late
from gitmem.text import fold, shorten
from gitmem.values import dataclass, replace

MAX_KEPT = 64
"""How many tags and how much evidence a candidate gathers: as many as a record may have."""
_LEAST_NEWS = 5
"""So many further words are news, where they are a third of all."""
_NUMBER = late(r"\d+")
_TITLES = 0.5
_REASONS = 0.5
"""From which share on two reasons are one: they hold counts and dates, which differ from day to day."""


@dataclass(frozen=True)
class Known:
    """A record that may say the same, as a draft."""

    id: RecordId
    state: State
    draft: Draft


def to_known(record: Record) -> Known:
    """Return ``record`` as proposals are compared with it."""
    draft = Draft(record.title, record.body, record.kind, record.summary, record.tags, record.evidence, record.key)
    return Known(record.id, record.state, draft)


def place(
    new: Candidate, waiting: Sequence[Candidate], decided: Sequence[Decided], records: Sequence[Known]
) -> Proposed:
    """Return what becomes of ``new``, beside what waits, what was decided, and the ``records`` that may be near it.

    A record that says it already makes it known, unless it brings evidence or clearly more: then it is proposed to be
    merged into that one. What waits already and says the same takes it in. What was rejected is not proposed again.
    Contradictions are neither: they wait, and say what they contradict. Deterministic: of several that are equally near
    the first counts.
    """
    if new.wants is Wants.RECORD:
        new, known = _compare_with_records(new, records)
        if known is not None:
            return Proposed(new, Outcome.KNOWN, record=known)
    twin = _find_same(new, waiting)
    if twin is not None:
        return Proposed(merge(twin, new), Outcome.MERGED)
    rejected = [one for one in decided if one.fate is Fate.REJECTED]
    before = _find_same(new, [one.candidate for one in rejected])
    if before is not None:
        last = next(one for one in rejected if one.candidate is before)
        return Proposed(before, Outcome.REJECTED_BEFORE, decided=last)
    return Proposed(_note_near(new, waiting), Outcome.NEW)


def merge(waiting: Candidate, new: Candidate) -> Candidate:
    """Return ``waiting`` with what ``new``, which says the same, adds: sources, evidence, tags, reasons, worth.

    Only a session that had not proposed it yet raises its worth. The text stays, unless the new one holds nearly all of
    it and more; what a person proposed stays in any case. A title that differs is kept among the reasons. When it
    expires is put off.
    """
    sources = tuple(dict.fromkeys((*waiting.sources, *new.sources)))
    further = len(sources) - len(waiting.sources)
    other = [] if fold(new.draft.title) == fold(waiting.draft.title) else [_also(new)]
    return replace(
        waiting,
        draft=_join_drafts(waiting, new),
        sources=sources[:MAX_SOURCES],
        seen=waiting.seen + new.seen,
        why=tuple(dict.fromkeys((*_join_why(waiting, new), *other)))[:MAX_WHY],
        near=_join_near(waiting, new),
        contradicts=tuple(dict.fromkeys((*waiting.contradicts, *new.contradicts)))[:MAX_TARGETS],
        worth=raise_worth(max(waiting.worth, new.worth), further),
        expires=max(filter(None, (waiting.expires, new.expires)), default=None),
    )


def is_same(a: Candidate, b: Candidate) -> bool:
    """Tell whether two candidates propose the same: the same change of the same records, or the same text."""
    if _is_text(a) and _is_text(b):
        return a.targets == b.targets and says_same(list_words(a.draft), list_words(b.draft))
    if a.wants is not b.wants or set(a.targets) != set(b.targets):
        return False
    return not a.reason or not b.reason or share_words(_words_of(a.reason), _words_of(b.reason)) >= _REASONS


def _is_text(one: Candidate) -> bool:
    return one.wants is Wants.RECORD or (one.wants is Wants.MERGE and len(one.targets) == 1)


def _words_of(reason: str) -> Words:
    return list_words(Draft(reason))


def _find_same(new: Candidate, others: Iterable[Candidate]) -> Candidate | None:
    mine = list_words(new.draft)
    near = (one for one in others if not (_is_text(one) and _is_text(new)) or may_say_same(mine, one.draft))
    same = [one for one in near if is_same(one, new)]
    return max(same, key=lambda one: share_words(list_words(one.draft), mine), default=None)


def _compare_with_records(new: Candidate, records: Sequence[Known]) -> tuple[Candidate, RecordId | None]:
    """Return ``new`` with what it is near to and what it contradicts, and the record that says it already, if one does.

    Where a record says it and it has news, it comes back as a proposal to merge it into that record.
    """
    mine = list_words(new.draft)
    near = sorted(((share_words(mine, list_words(one.draft)), one) for one in records), key=lambda pair: -pair[0])
    contradicts, why = [], list(new.why)
    for share, one in near:
        said = _contradict(new.draft, one.draft, share)
        if said:
            contradicts.append(one.id)
            why.append(said)
        elif one.state is State.RETIRED:
            if share >= SAME:
                why.append("a retired record says nearly the same")
        elif _may_tell(one, new.draft) and _is_told(mine, one.draft, share):
            if not _has_news(new.draft, one.draft):
                return replace(new, near=(Near(one.id, share),)), one.id
            if _fits_into(new.draft, one):
                new = replace(new, wants=Wants.MERGE, targets=(one.id,))
                why.append("a record says it already; this adds to it")
                break
    new = replace(
        new,
        near=tuple(Near(one.id, share) for share, one in near if share >= NEAR)[:MAX_NEAR],
        contradicts=tuple(contradicts)[:MAX_TARGETS],
        why=tuple(dict.fromkeys(why))[:MAX_WHY],
    )
    return replace(new, worth=max(new.worth, weigh(new))), None


def _contradict(new: Draft, old: Draft, share: float) -> str:
    """Return in which way ``new`` says otherwise than a record, empty for not at all."""
    mine, theirs = list_words(new), list_words(old)
    difference = find_difference(mine, theirs) if share >= NEAR else ""
    if difference == "values":
        return "a record that is nearly the same has other values"
    if difference == "denial":
        return "one of this and a record that is nearly the same denies what the other says"
    has_key = bool(new.key and old.key and fold(new.key) == fold(old.key))
    return "a record with the same key says something else" if has_key and not _is_told(mine, old, share) else ""


def _is_told(mine: Words, old: Draft, share: float) -> bool:
    theirs = list_words(old)
    if find_difference(mine, theirs):
        return False
    titles = share_words(replace(mine, every=mine.title), replace(theirs, every=theirs.title))
    return share >= SAME or (titles >= _TITLES and (is_contained(mine, theirs) or is_contained(theirs, mine)))


def _has_news(new: Draft, old: Draft) -> bool:
    if set(new.evidence) - set(old.evidence):
        return True
    mine, theirs = list_words(new).every, list_words(old).every
    news = len(mine - theirs)
    return news >= _LEAST_NEWS and 3 * news >= len(mine)


def _may_tell(known: Known, draft: Draft) -> bool:
    """Tell whether a record can make ``draft`` needless: what is to be declared is told by what is declared alone."""
    return draft.kind not in BASELINE_KINDS or known.state is State.BASELINE


def _fits_into(draft: Draft, known: Known) -> bool:
    """Tell whether kinds let ``draft`` be merged into a record: what is declared takes in what would be declared."""
    return (draft.kind in BASELINE_KINDS) == (known.state is State.BASELINE)


def _join_drafts(waiting: Candidate, new: Candidate) -> Draft:
    old = waiting.draft
    is_persons = waiting.surface is Surface.HUMAN and new.surface is not Surface.HUMAN
    says_more = len(new.draft.body) > len(old.body) and is_contained(list_words(old), list_words(new.draft))
    draft = new.draft if says_more and not is_persons else old
    return replace(
        draft,
        kind=old.kind or new.draft.kind,
        key=old.key or new.draft.key,
        tags=tuple(dict.fromkeys((*old.tags, *new.draft.tags)))[:MAX_KEPT],
        evidence=tuple(dict.fromkeys((*old.evidence, *new.draft.evidence)))[:MAX_KEPT],
    )


def _join_near(waiting: Candidate, new: Candidate) -> tuple[Near, ...]:
    shares = {one.id: one for one in (*new.near, *waiting.near) if one.id not in (waiting.id, new.id)}
    return tuple(sorted(shares.values(), key=lambda one: (-one.share, one.id)))[:MAX_NEAR]


def _note_near(new: Candidate, waiting: Sequence[Candidate]) -> Candidate:
    mine = list_words(new.draft)
    shares = [(share_words(mine, list_words(one.draft)), one) for one in waiting if _is_text(one) and _is_text(new)]
    near = [Near(one.id, share, is_candidate=True) for share, one in shares if share >= NEAR]
    joined = sorted((*new.near, *near), key=lambda one: -one.share)[:MAX_NEAR]
    return replace(new, near=tuple(joined))


def _join_why(waiting: Candidate, new: Candidate) -> tuple[str, ...]:
    """Return the reasons of both; those of the curator take the place of what it said with other numbers before."""
    if new.actor != CURATOR:
        return (*waiting.why, *new.why)
    said = set(map(_sort_of, new.why))
    return (*new.why, *(one for one in waiting.why if _sort_of(one) not in said))


def _sort_of(reason: str) -> str:
    """Return ``reason`` without its numbers, and without the list that stands behind a number and a colon."""
    plain = _NUMBER.sub("#", reason)
    head = plain.partition(": ")[0]
    return head if "#" in head else plain


def _also(new: Candidate) -> str:
    by = f" by {new.sources[0]}" if new.sources else ""
    return shorten(f"also proposed{by} as: {new.draft.title}", MAX_WHY_CHARS)

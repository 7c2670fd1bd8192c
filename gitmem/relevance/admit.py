"""Which records a recall volunteers, and whether it volunteers any. Pure; the thresholds are explained in ADR 0023."""

from __future__ import annotations

import datetime
import heapq
from collections.abc import Mapping, Sequence

from gitmem.model.recall import Candidate, Recall, Weighed
from gitmem.model.record import Kind, Record
from gitmem.model.settings import Scope
from gitmem.model.validity import NOT_YET, OUT_OF_DATE, REVIEW_DUE, find_marks
from gitmem.relevance.background import LEAST_WEIGHT
from gitmem.relevance.duplicates import find_twin
from gitmem.relevance.prompt import Content, Prompt
from gitmem.relevance.score import Scored
from gitmem.relevance.stem import stem
from gitmem.relevance.terms import iter_words, split_parts
from gitmem.values import dataclass, field, replace

ENOUGH = 0.44
"""The share of a prompt's weight that one passage must hold for the prompt to be about the vault."""
ENOUGH_OF_TWO = 0.51
"""The same where a prompt has only one or two content terms: one of two is not enough."""
ENOUGH_OF_MANY = 0.36
"""The same where it has more than ``MANY``: nobody repeats all of a long question in one passage."""
ENOUGH_OF_LONG = 0.5
"""The same for the part of a long prompt that asks: what is pasted around it makes chance matches likely."""
MANY = 10
ENOUGH_CJK = 0.34
"""The same in Chinese, Japanese and Korean, where terms are pairs of characters and many of them join two words."""
ENOUGH_OF_MANY_CJK = 0.22
MANY_CJK = 12
LEAST_PROMPT_WEIGHT = 3.0
"""What the words of an English prompt must weigh together for it to be about anything: "change it to seven" is not."""
GATE_RANKS = 3
"""How many of the best records may open the gate."""
WEAK = 0.5
"""A record that holds less than this share of what the best one holds is left out."""
TELLING_SHARE = 0.2
TELLING_COUNT = 3
"""A term tells records apart if at most this share, or this many, of them hold it."""
NAMING_WEIGHT = 6.0
"""What the words of a title must weigh together for the title to be decisive inside a prompt."""
LINKED = 0.5
"""Which part of the threshold is enough for a record that an admitted one links to."""
MAX_LINKED = 2

_HELD_BACK = {OUT_OF_DATE: "stale", NOT_YET: "not-yet"}
DECISIVE = frozenset({"exact-key", "exact-title", "exact-alias", "title-within"})
"""The rules that admit a record because the prompt names it."""


@dataclass(frozen=True)
class Side:
    """What one vault has for a prompt: the records of ``scored``, the best first.

    ``prompt`` is weighed by this vault. ``counts`` says how many of its ``record_count`` records hold each term.
    ``uncommitted`` holds paths; ``superseded`` has the titles of the newer records, by the path of the older.
    """

    scope: Scope
    prompt: Prompt
    scored: Sequence[Scored]
    record_count: int
    counts: Mapping[str, int]
    uncommitted: frozenset[str] = frozenset()
    superseded: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Verdict:
    admitted: bool
    rule: str
    reason: str


def decide(sides: Sequence[Side], today: datetime.date, limit: int) -> Recall:
    """Return which records of ``sides``, the vaults that were asked, are admitted and why, and why others are not.

    One gate for all: it opens if one of the best records of any vault holds enough, and from then on what the best of
    all holds is the measure. Shares can be compared, because a word weighs the same everywhere; scores by words count
    by what the best of the same vault has. At most ``limit`` are admitted.
    """
    prompt = sides[0].prompt
    threshold = find_threshold(prompt)
    held = [[_hold_back(side, one, today) for one in side.scored] for side in sides]
    best = max((_find_best(side, verdicts) for side, verdicts in zip(sides, held, strict=True)), default=0.0)
    judged = []
    for side, verdicts in zip(sides, held, strict=True):
        found = []
        for one, against in zip(side.scored, verdicts, strict=True):
            name = "" if against else _find_name(side.prompt, one)
            verdict = against or (_admit_by_name(name) if name else _admit_by_share(prompt, one, best, threshold))
            found.append((one.rank, _make(side, one, verdict, today)))
        judged.append(found)
    candidates = [one for _rank, one in heapq.merge(*judged, key=lambda pair: -pair[0])]
    named = [one for one in candidates if one.rule in DECISIVE]
    chosen = _choose([*named, *(one for one in candidates if one.rule not in DECISIVE)], limit)
    chosen.sort(key=lambda one: (not one.admitted, not one.is_verified))
    weighed = [
        Weighed(one.word, one.weight, sum(side.counts.get(one.term, 0) for side in sides)) for one in prompt.contents
    ]
    weighed.sort(key=lambda one: -one.weight)
    return Recall(tuple(chosen), tuple(weighed), 1.0 if named else min(1.0, best), threshold)


def _find_best(side: Side, held: Sequence[_Verdict | None]) -> float:
    able = [one for one, verdict in zip(side.scored, held, strict=True) if verdict is None]
    return max((one.share for one in [one for one in able if one.seen.word_score > 0][:GATE_RANKS]), default=0.0)


def find_threshold(prompt: Prompt) -> float:
    """Return the share of the weight of ``prompt`` that one passage must hold."""
    if prompt.is_cjk:
        return ENOUGH_CJK if len(prompt.contents) <= MANY_CJK else ENOUGH_OF_MANY_CJK
    if prompt.is_long:
        return ENOUGH_OF_LONG
    if len(prompt.contents) <= 2:
        return ENOUGH_OF_TWO
    return ENOUGH if len(prompt.contents) <= MANY else ENOUGH_OF_MANY


def _hold_back(side: Side, one: Scored, today: datetime.date) -> _Verdict | None:
    """Return why a record is not volunteered whatever it holds; ``None`` where nothing is against it."""
    record = one.seen.record
    newer = side.superseded.get(record.path) or ", ".join(record.superseded_by)
    if newer:
        return _Verdict(False, "superseded", f"superseded by {newer}")
    for mark in find_marks(record, today):
        if mark.code in _HELD_BACK:
            return _Verdict(False, _HELD_BACK[mark.code], mark.text)
    contents = side.prompt.contents
    shared = [content for content in contents if content.form in one.forms and content.weight > LEAST_WEIGHT]
    if len(shared) == 1 and not one.seen.named and not _is_telling(shared[0], side):
        return _Verdict(False, "common-word", f"shares only “{shared[0].word}”, which many records hold")
    return None


def _is_telling(content: Content, side: Side) -> bool:
    count = side.counts.get(content.term, 0)
    return count <= max(TELLING_COUNT, TELLING_SHARE * side.record_count)


def _find_name(prompt: Prompt, one: Scored) -> str:
    """Return how the prompt names the record: its key, title or alias as the catalog found it, its title within."""
    if one.seen.named:
        return one.seen.named
    title = _list_parts(one.seen.record.title)
    weights = {content.form: content.weight for content in prompt.contents}
    if len(title) < 2 or sum(weights.get(stem(part), 0.0) for part in set(title)) < NAMING_WEIGHT:
        return ""
    is_within = f" {' '.join(title)} " in f" {' '.join(_list_parts(prompt.name))} "
    return f"within: {one.seen.record.title}" if is_within else ""


def _list_parts(text: str) -> list[str]:
    return [part for word in iter_words(text) for part in split_parts(word)]


def _admit_by_name(name: str) -> _Verdict:
    field, _colon, named = name.partition(": ")
    if field == "within":
        return _Verdict(True, "title-within", f"the prompt holds its title, “{named}”")
    return _Verdict(True, f"exact-{field}", f"the prompt names its {field}, “{named}”")


def _admit_by_share(prompt: Prompt, one: Scored, best: float, threshold: float) -> _Verdict:
    if prompt.weight < LEAST_PROMPT_WEIGHT and not prompt.is_cjk:
        return _Verdict(False, "too-little", "the prompt has no word that says what it is about")
    share = f"holds {one.share:.0%} of what the prompt is about"
    if best < threshold:
        return _Verdict(False, "below-threshold", f"{share}; {threshold:.0%} would be enough")
    if one.share >= WEAK * best:
        return _Verdict(True, "passage", share)
    if one.seen.linked_from and one.share >= LINKED * threshold:
        return _Verdict(True, "linked", f"{share}, and “{one.seen.linked_from}” links to it")
    return _Verdict(False, "weak", f"{share}, the best {best:.0%}")


def _make(side: Side, one: Scored, verdict: _Verdict, today: datetime.date) -> Candidate:
    record = one.seen.record
    return Candidate(
        record,
        side.scope,
        1.0 if verdict.rule in DECISIVE else min(1.0, one.share),
        verdict.admitted,
        verdict.rule,
        verdict.reason,
        tuple(dict.fromkeys(content.word for content in side.prompt.contents if content.form in one.forms)),
        _find_caution(record, today),
        record.path in side.uncommitted,
    )


def _find_caution(record: Record, today: datetime.date) -> str:
    is_due = any(mark.code == REVIEW_DUE for mark in find_marks(record, today))
    return f"to be reviewed since {record.review_after}" if is_due else ""


def _choose(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return ``candidates`` in order; of those admitted, what repeats another or is one too many is held back.

    Of those that say the same a verified one stays, else the workspace's, else the better: in the best one's place.
    """
    chosen, kept = list(candidates), list[int]()
    for place, one in enumerate(candidates):
        if not one.admitted:
            continue
        twin = find_twin(one.record, [candidates[other].record for other in kept])
        if twin is None:
            kept.append(place)
            continue
        stays, goes = kept[twin], place
        if _precedence(one) > _precedence(candidates[stays]):
            stays, goes = goes, stays
        kept[twin] = stays
        chosen[goes] = _leave_out(candidates[goes], "duplicate", f"says the same as {candidates[stays].record.id}")
    taken: list[Candidate] = []
    for place in kept:
        against = _find_excess(chosen[place], taken, limit)
        if against:
            chosen[place] = _leave_out(chosen[place], *against)
        else:
            taken.append(chosen[place])
    return chosen


def _precedence(one: Candidate) -> tuple[bool, bool]:
    return one.is_verified, one.scope is Scope.WORKSPACE


def _leave_out(one: Candidate, rule: str, reason: str) -> Candidate:
    return replace(one, admitted=False, rule=rule, reason=reason)


def _find_excess(one: Candidate, taken: Sequence[Candidate], limit: int) -> tuple[str, str] | None:
    if _is_open_task(one) and any(map(_is_open_task, taken)):
        return "second-task", "one task record that nobody reviewed is enough"
    if one.rule == "linked" and sum(other.rule == "linked" for other in taken) >= MAX_LINKED:
        return "over-limit", f"only {MAX_LINKED} linked records are taken along"
    if len(taken) >= limit:
        return "over-limit", f"only {limit} records are taken"
    return None


def _is_open_task(one: Candidate) -> bool:
    return one.record.kind is Kind.TASK and not one.is_verified

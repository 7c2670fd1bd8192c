"""What accepting one candidate does to the records: a new one, a promotion, a retirement, a merge."""

from __future__ import annotations

from gitmem.curator.join_text import join_bodies
from gitmem.errors import InputError, StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.candidate import Candidate, Wants
from gitmem.model.record import BASELINE_KINDS, Draft, Record, State
from gitmem.policy.authority import authority_for
from gitmem.service.bench import Bench
from gitmem.service.draft import make_record, summarise
from gitmem.service.edit import frame_body
from gitmem.service.find import get_record
from gitmem.service.plan import link_to, stamp
from gitmem.text import fold, one_line
from gitmem.typed import Any
from gitmem.values import dataclass
from gitmem.vault.frontmatter import replace_body


@dataclass(frozen=True)
class Chosen:
    """A candidate and how it is accepted: the draft that counts, the state of its record, the record that takes it."""

    candidate: Candidate
    draft: Draft
    state: State
    into: str | None


def carry_out_candidate(bench: Bench, chosen: Chosen, actor: Actor) -> str:
    """Put on the bench what accepting ``chosen`` does, and return what the commit is to say of it beside the titles.

    Raises ``InputError`` and ``StateError`` for records that are gone, or in a state that it can't be done to.
    """
    candidate = chosen.candidate
    if candidate.wants is Wants.PROMOTE:
        return _promote(bench, chosen)
    if candidate.wants is Wants.RETIRE:
        return _retire(bench, chosen)
    if candidate.wants is Wants.MERGE or chosen.into is not None:
        return _merge(bench, chosen)
    _add_record(bench, chosen, actor)
    return ""


def _add_record(bench: Bench, chosen: Chosen, actor: Actor) -> None:
    candidate = chosen.candidate
    _check_id_is_free(bench, candidate)
    record, data = make_record(
        bench.vault,
        chosen.draft,
        authority_for(Action.ACCEPT, chosen.state),
        chosen.state,
        actor,
        record_id=candidate.id,
        source=candidate.sources[0] if candidate.sources else None,
        verified=stamp(bench.vault)[:10] if chosen.state is State.PROMOTED else None,
    )
    bench.add(record, data)


def _check_id_is_free(bench: Bench, candidate: Candidate) -> None:
    """Check that no record has the candidate's id, a private one neither: whoever wrote its file may have chosen it."""
    try:
        get_record(bench.vault, candidate.id)
    except InputError as error:
        if error.code == "no-such-record":
            return
        raise
    hint = "Reject the candidate; the same may be proposed again."
    raise StateError("id-taken", f"a record has the id {candidate.id} already", hint)


def _promote(bench: Bench, chosen: Chosen) -> str:
    for target in chosen.candidate.targets:
        record = bench.get(target)
        if record.state is not State.OBSERVATION:
            raise StateError(
                "not-an-observation",
                f"{record.title!r} is {record.state.value}, not an observation",
                "Reject the candidate; there is nothing to promote.",
            )
        bench.change(record, {"verified": stamp(bench.vault)[:10]}, to=State.PROMOTED)
    return ""


def _retire(bench: Bench, chosen: Chosen) -> str:
    for target in chosen.candidate.targets:
        bench.change(_get_active(bench, target), {}, to=State.RETIRED)
    return f"Reason: {one_line(chosen.candidate.reason)}" if chosen.candidate.reason else ""


def _merge(bench: Bench, chosen: Chosen) -> str:
    candidate = chosen.candidate
    targets = [chosen.into] if chosen.into is not None else list(candidate.targets)
    stays, *others = [_get_active(bench, target) for target in targets]
    if len({one.id for one in (stays, *others)}) != len(targets):
        raise InputError("bad-choice", "a record can't be merged with itself", "Name another.")
    is_text = candidate.wants is Wants.RECORD or len(candidate.targets) == 1
    declared = [chosen.draft.kind in BASELINE_KINDS] if is_text else [one.state is State.BASELINE for one in others]
    _check_kinds(stays, declared)
    body = _merge_bodies(chosen, stays, others)
    changes = _merge_properties(chosen, stays, others, body)
    changes = {name: value for name, value in changes.items() if stays.properties.get(name) != value}
    data = replace_body(bench.data(stays), frame_body(stays.body, body))
    after = bench.change(bench.put(stays, data), changes) if changes or data != bench.data(stays) else stays
    for one in others:
        bench.change(one, {"superseded_by": [*one.superseded_by, link_to(after)]}, to=State.RETIRED)
    return f"Merged into {after.id}." if not after.private else ""


def _merge_bodies(chosen: Chosen, stays: Record, others: list[Record]) -> str:
    """Return the text of the record that stays: what a person wrote for it, else its own with what is new appended."""
    draft = chosen.draft
    if draft.body != chosen.candidate.draft.body:
        return draft.body
    body = stays.body
    for text in [draft.body] if draft.body else [one.body for one in others]:
        body = join_bodies(body, text)
    return body


def _merge_properties(chosen: Chosen, stays: Record, others: list[Record], body: str) -> dict[str, Any]:
    draft, before = chosen.draft, chosen.candidate.draft
    tags = [*stays.tags, *draft.tags, *(tag for one in others for tag in one.tags)]
    evidence = [*stays.evidence, *draft.evidence, *(entry for one in others for entry in one.evidence)]
    changes: dict[str, Any] = {"tags": _unique(tags) or None, "evidence": list(dict.fromkeys(evidence)) or None}
    if draft.title != before.title:
        changes["title"] = draft.title
    if draft.summary != before.summary:
        changes["summary"] = draft.summary or None
    elif stays.summary and stays.summary == summarise(stays.body):
        changes["summary"] = summarise(body) or None
    if others:
        changes["supersedes"] = [*stays.supersedes, *map(link_to, others)]
    return changes


def _get_active(bench: Bench, ref: str) -> Record:
    record = bench.get(ref)
    if record.state is State.RETIRED:
        raise StateError(
            "already-retired", f"{record.title!r} is retired already", "Reject the candidate, or restore it."
        )
    return record


def _check_kinds(stays: Record, declared: list[bool]) -> None:
    if any(one != (stays.state is State.BASELINE) for one in declared):
        raise InputError(
            "bad-choice",
            "what is declared can't be merged with what is not",
            "Accept or reject it by itself.",
        )


def _unique(tags: list[str]) -> list[str]:
    return list({fold(tag): tag for tag in reversed(tags)}.values())[::-1]

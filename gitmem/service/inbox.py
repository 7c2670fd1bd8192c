"""The inbox as a reader sees it: what waits, by topic, the worthiest first, with all that helps to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.curator.worth import find_group
from gitmem.errors import UnavailableError
from gitmem.model.answer import Answer, Status
from gitmem.model.candidate import Candidate, Decided, InboxFilters, Near
from gitmem.model.ids import RecordId
from gitmem.model.policy import Policy
from gitmem.model.record import Problem, Record
from gitmem.policy.secrets import find_secrets, redact
from gitmem.service.accept import find_accept_decision
from gitmem.service.candidates import is_asleep, is_expired, look_at_candidates, pick
from gitmem.service.policy import find_policy
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.vault.inbox import candidate_to_json, load_decided, load_inbox

_TEXTS = ("title", "body", "summary", "key", "reason")


def list_inbox(vault: OpenVault, filters: InboxFilters | None = None, ref: str | None = None) -> Answer:
    """Return the candidates that wait, as rows: group by group, the worthiest group and in it candidate first.

    A row has the members of the candidate (``schema/candidate.schema.json``), its texts without secrets, and:
    ``group``; ``near`` with ``title``, ``state`` and ``path`` of each that is there still; ``contradicts`` likewise;
    ``targets`` likewise; ``decision``, what policy says of a model that accepts it (``rule``, ``verdict``,
    ``reason``); ``findings``, what looks like a secret (``where``, ``rule``, ``line``); ``asleep``; and decided ones
    ``fate``, ``decided_at`` and ``decided_because``. ``extra`` has ``inbox``: how many ``candidates`` there are and how
    many of these are ``deferred``.

    ``ref`` names one candidate, by its id or the beginning of it, asleep or decided too. Raises ``InputError``
    (``no-such-candidate``, ``ambiguous-candidate``) and what reading the vault raises; files that can't be read are
    diagnostics.
    """
    wanted = filters or InboxFilters()
    kept = look_at_candidates(vault)
    now = vault.clock.now()
    decided = {one.candidate.id: one for one in load_decided(vault.layout)} if wanted.decided or ref else {}
    every = [*kept.candidates, *(one.candidate for one in decided.values())]
    if ref is not None:
        chosen = [pick(every, ref)]
    elif wanted.decided:
        chosen = [one.candidate for one in reversed(decided.values())]
    else:
        chosen = [one for one in kept.candidates if wanted.deferred or not is_asleep(one, now)]

    def tell(reading: Reading) -> Answer:
        records = _find_records(reading, chosen)
        policy = find_policy(vault)
        rows = [_make_row(vault, policy, one, records, every, decided.get(one.id)) for one in chosen]
        rows = [row | {"asleep": is_asleep(one, now)} for row, one in zip(rows, chosen, strict=True)]
        if wanted.group is not None:
            rows = [row for row in rows if row["group"] == wanted.group]
        if ref is None and not wanted.decided:
            rows = _sort(rows)
        asleep = sum(is_asleep(one, now) for one in kept.candidates)
        counts = {"candidates": len(kept.candidates), "deferred": asleep}
        status = Status.OK if rows else Status.NO_MATCH
        return Answer(status, reading.head, rows=tuple(rows), diagnostics=kept.problems, extra={"inbox": counts})

    return answer(vault, tell)


def get_candidate(vault: OpenVault, ref: str) -> Candidate:
    """Return the candidate that waits whose id is ``ref`` or begins with it.

    Raises ``InputError`` (``no-such-candidate``, ``ambiguous-candidate``).
    """
    return pick(look_at_candidates(vault).candidates, ref)


def count_candidates(vault: OpenVault) -> tuple[dict[str, int], tuple[Problem, ...]]:
    """Return how many ``candidates`` wait and how many of these are ``deferred``, and what can't be read.

    Writes nothing, and raises nothing for an inbox that can't be read: that is a problem, too.
    """
    try:
        inbox = load_inbox(vault.layout)
    except UnavailableError as error:
        return {"candidates": 0, "deferred": 0}, (Problem(error.code, error.message),)
    waiting = [one for one in inbox.candidates if not is_expired(one, vault.clock.now())]
    asleep = sum(is_asleep(one, vault.clock.now()) for one in waiting)
    return {"candidates": len(waiting), "deferred": asleep}, inbox.problems


def _find_records(reading: Reading, candidates: Sequence[Candidate]) -> dict[RecordId, Record]:
    """Return the records that ``candidates`` are about or near to, as far as they may be shown."""
    from gitmem.catalog.query import find_row

    ids = {
        record_id
        for one in candidates
        for record_id in (*one.targets, *one.contradicts, *(near.id for near in one.near if not near.is_candidate))
    }
    rows = [row for record_id in sorted(ids) if (row := find_row(reading.database, record_id)) is not None]
    found = reading.records(row.path for row in rows)
    return {record.id: record for record, _data in found.values()}


def _make_row(
    vault: OpenVault,
    policy: Policy,
    one: Candidate,
    records: Mapping[RecordId, Record],
    candidates: Sequence[Candidate],
    decided: Decided | None,
) -> dict[str, Any]:
    findings = [
        {"where": name, "rule": finding.rule, "line": finding.line}
        for name, text in candidate_to_json(one).items()
        if name in _TEXTS
        for finding in find_secrets(text)
    ]
    titles = {other.id: other.draft.title for other in candidates}
    tags = {record.id: record.tags for record in records.values()}
    row = {name: redact(value) if name in _TEXTS else value for name, value in candidate_to_json(one).items()}
    decision = find_accept_decision(vault, one, policy)
    verdict = "allowed" if decision.allowed else "needs-human" if decision.needs_human else "refused"
    row |= {
        "group": find_group(one, tags),
        "near": [_describe_near(near, records, titles) for near in one.near],
        "contradicts": [_describe_record(record_id, records) for record_id in one.contradicts],
        "targets": [_describe_record(record_id, records) for record_id in one.targets],
        "decision": {"rule": decision.rule, "verdict": verdict, "reason": decision.reason},
        "findings": findings,
    }
    if decided is not None:
        row |= {"fate": decided.fate.value, "decided_at": decided.time, "decided_because": decided.reason}
    return row


def _describe_near(near: Near, records: Mapping[RecordId, Record], titles: Mapping[RecordId, str]) -> dict[str, Any]:
    told: dict[str, Any] = {"share": near.share, "is_candidate": near.is_candidate}
    if near.is_candidate:
        return {"id": near.id, "title": redact(titles.get(near.id, "")), **told}
    return _describe_record(near.id, records) | told


def _describe_record(record_id: RecordId, records: Mapping[RecordId, Record]) -> dict[str, Any]:
    record = records.get(record_id)
    if record is None:
        return {"id": record_id, "title": "", "state": None, "path": None}
    return {"id": record_id, "title": record.title, "state": record.state.value, "path": record.path}


def _sort(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    best: dict[str, float] = {}
    for row in rows:
        best[row["group"]] = max(row["worth"], best.get(row["group"], 0))
    return sorted(rows, key=lambda row: (-best[row["group"]], row["group"], -row["worth"], row["created"], row["id"]))

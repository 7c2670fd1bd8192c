"""A program of a person's choice beside the curator: bounded JSON in, bounded JSON out, and its failure costs nothing.

It is named on the command line alone (INV-NO-PROGRAM). Whatever it says is a proposal of a model: it goes through the
one gate of the inbox, and a person decides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from gitmem.curator.ideas import Idea
from gitmem.errors import GitmemError, UnavailableError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor, Authority, Surface
from gitmem.model.candidate import Candidate, Wants
from gitmem.model.ids import RecordId
from gitmem.model.outside import Heard, Program
from gitmem.model.record import Draft, Kind, Record, State
from gitmem.model.session import Session
from gitmem.policy.secrets import redact
from gitmem.programs import run_program
from gitmem.service.find import get_record
from gitmem.service.plan import stamp
from gitmem.service.propose import make_candidate
from gitmem.service.reading import Reading, answer
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible, shorten, slug
from gitmem.typed import Any
from gitmem.values import replace
from gitmem.vault.schema import validate

MAX_SESSIONS = 20
MAX_CANDIDATES = 50
MAX_RECORDS = 50
MAX_TEXT_CHARS = 1000
MAX_INPUT_BYTES = 256 << 10
MOST = {"proposals": 20, "merges": 10, "retirements": 10}
"""How much counts of what a program says; ``schema/curate-output.schema.json`` says the same."""
_MAX_SAID_CHARS = 200
_SCRIPTS = (".js", ".mjs", ".py", ".rb", ".sh", ".ts")


def name_program(program: Program) -> str:
    """Return the name under which what ``program`` proposes stands in the inbox: the script's, if it runs one."""
    word = next((word for word in program.command if word.endswith(_SCRIPTS)), program.command[0])
    return slug(os.path.splitext(os.path.basename(word))[0]) or "program"


def act_as(program: Program, actor: Actor, day: str) -> Actor:
    """Return who proposes what ``program`` says, on ``day``: always a model surface, whoever runs it."""
    name = name_program(program)
    email = f"{name}@agents.gitmem.invalid"
    return replace(actor, surface=Surface.MODEL, name=name, email=email, host=f"curate-{name}", session=day)


def make_input(vault: OpenVault, sessions: Sequence[Session], waiting: Sequence[Candidate], program: Program) -> bytes:
    """Return what ``program`` is handed, as ``schema/curate-input.schema.json`` describes it. Reads alone.

    At most ``MAX_INPUT_BYTES``: records go first, then candidates, then sessions. Private records are never in it.
    """
    ordered = sorted(waiting, key=lambda one: (-one.worth, one.id))[:MAX_CANDIDATES]
    value: dict[str, Any] = {
        "format": 1,
        "now": stamp(vault),
        "vault": {"name": vault.entry.name, "scope": vault.entry.scope.value},
        "bounds": MOST | {"output_bytes": program.max_output_bytes, "timeout_s": program.timeout_s},
        "sessions": [_describe_session(one) for one in sessions[-MAX_SESSIONS:]],
        "candidates": [_describe_candidate(one) for one in ordered],
        "records": [_describe_record(one) for one in _pick_records(vault, ordered)],
    }
    validate("curate-input", json.loads(json.dumps(value)))
    for name in ("records", "candidates", "sessions"):
        while value[name] and len(_format(value)) > MAX_INPUT_BYTES:
            value[name].pop(0 if name == "sessions" else -1)
    return _format(value)


def hear(program: Program, data: bytes) -> tuple[Heard, dict[str, Any]]:
    """Run ``program`` on ``data`` and return how it went and what it said, nothing where that counts for nothing.

    Never raises for what the program does.
    """
    name = name_program(program)
    try:
        ran = run_program(
            program.command,
            data,
            timeout_s=program.timeout_s,
            max_output_bytes=program.max_output_bytes,
            folder=program.folder,
        )
        if ran.code:
            said = shorten(make_visible(redact(ran.err.decode("utf-8", "replace")).strip()), _MAX_SAID_CHARS)
            return Heard(name, f"it ended with the code {ran.code}" + (f" and said: {said}" if said else "")), {}
        value: dict[str, Any] = json.loads(ran.out.decode("utf-8"))
        validate("curate-output", value)
    except UnavailableError as error:
        return Heard(name, error.message), {}
    except (ValueError, RecursionError):
        return Heard(name, "what it said is not one JSON document in UTF-8"), {}
    except GitmemError as error:
        return Heard(name, error.message), {}
    counts = [len(value.get(kind, ())) for kind in MOST]
    return Heard(name, "", *counts), value


def list_proposed(vault: OpenVault, value: dict[str, Any], actor: Actor) -> list[Candidate | tuple[Candidate, str]]:
    """Return what a program said as candidates of ``actor``; those that can't be, each with the reason.

    What a person declared is nothing that a program may propose to change.
    """
    found: list[Candidate | tuple[Candidate, str]] = []
    for one in value.get("proposals", ()):
        draft = Draft(
            title=one["title"],
            body=one.get("body", ""),
            kind=Kind(one["kind"]) if "kind" in one else None,
            summary=one.get("summary", ""),
            tags=tuple(one.get("tags", ())),
            evidence=tuple(one.get("evidence", ())),
            key=one.get("key"),
        )
        found.append(make_candidate(vault, draft, actor, _list_why(one, actor)))
    changes = [(Wants.MERGE, one["targets"], "", one) for one in value.get("merges", ())]
    changes += [(Wants.RETIRE, [one["id"]], one["reason"], one) for one in value.get("retirements", ())]
    for wants, targets, reason, one in changes:
        found.append(_make_change(vault, wants, tuple(map(RecordId, dict.fromkeys(targets))), reason, one, actor))
    return found


def _make_change(
    vault: OpenVault, wants: Wants, targets: tuple[RecordId, ...], reason: str, one: dict[str, Any], actor: Actor
) -> Candidate | tuple[Candidate, str]:
    refused = ""
    titles = []
    for target in targets:
        try:
            record, _data = get_record(vault, target)
        except (GitmemError, OSError):
            refused = f"there is no record {target}"
            continue
        titles.append(record.title)
        if record.state is State.BASELINE or record.authority is Authority.USER_DECLARED:
            refused = f"{target} is what a person declared"
    if wants is Wants.MERGE and len(targets) < 2:
        refused = "one record can't be merged with itself"
    first = shorten(titles[0], 150) if titles else targets[0]
    title = f"Retire “{first}”" if wants is Wants.RETIRE else f"Merge {len(targets)} records into “{first}”"
    idea = Idea(
        about=(actor.name, *sorted(targets), reason),
        draft=Draft(title=title),
        why=_list_why(one, actor),
        wants=wants,
        targets=targets,
        reason=reason,
        sources=(f"{actor.host}/{actor.session}",),
    )
    candidate = idea.to_candidate(vault.entry.vault_id, stamp(vault), actor.name)
    return (candidate, refused) if refused else candidate


def _list_why(one: dict[str, Any], actor: Actor) -> tuple[str, ...]:
    return (*one.get("why", ()), f"proposed by the program {actor.name}")


def _pick_records(vault: OpenVault, candidates: Sequence[Candidate]) -> list[Record]:
    """Return the records that ``candidates`` are about or near to, then those updated last; private ones left out."""
    about = [target for one in candidates for target in (*one.targets, *one.contradicts)]
    about += [near.id for one in candidates for near in one.near if not near.is_candidate]

    def look(reading: Reading) -> Answer:
        from gitmem.catalog.query import list_rows

        rows = {row.id: row for row in list_rows(reading.database)}
        newest = sorted(rows.values(), key=lambda row: (row.updated or row.created or "", row.id), reverse=True)
        ids = list(dict.fromkeys([one for one in about if one in rows] + [row.id for row in newest]))[:MAX_RECORDS]
        records = reading.records(rows[one].path for one in ids)
        return Answer(Status.OK, reading.head, extra={"found": [record for record, _data in records.values()]})

    found: list[Record] = answer(vault, look).extra["found"]
    return found


def _describe_session(one: Session) -> dict[str, Any]:
    ends = {True: "passed", False: "failed", None: None}
    return {
        "session": one.session,
        "host": one.host,
        "part": one.part,
        "start": one.start,
        "end": one.end,
        "prompts": one.prompts,
        "tools": [{"name": name, "count": count} for name, count in one.tools],
        "changed": list(one.changed),
        "changed_count": one.changed_count,
        "runs": [
            {
                "command": run.command,
                "passed": run.passed,
                "failed": run.failed,
                "unknown": run.unknown,
                "last": ends[run.last],
            }
            for run in one.runs
        ],
        "episode": one.record or None,
    }


def _describe_candidate(one: Candidate) -> dict[str, Any]:
    return {
        "id": one.id,
        "wants": one.wants.value,
        "title": one.draft.title,
        "body": one.draft.body[:MAX_TEXT_CHARS],
        "kind": one.draft.kind.value if one.draft.kind else None,
        "tags": list(one.draft.tags),
        "evidence": list(one.draft.evidence),
        "targets": list(one.targets),
        "seen": one.seen,
        "why": list(one.why),
    }


def _describe_record(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "title": record.title,
        "summary": record.summary,
        "state": record.state.value,
        "kind": record.kind.value if record.kind else None,
        "authority": record.authority.value if record.authority else None,
        "key": record.key,
        "tags": list(record.tags),
        "updated": record.updated,
        "text": record.body[:MAX_TEXT_CHARS],
    }


def _format(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "replace")

"""The tools as data: what each is called, says of itself, takes and returns. The one source of their schemas.

Every client sends the whole list to its model, so each word has to earn its place: all of it is held to
``MAX_LIST_BYTES`` by a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitmem.model.record import (
    BASELINE_KINDS,
    MAX_KEY_CHARS,
    MAX_SUMMARY_CHARS,
    MAX_TITLE_CHARS,
    Kind,
    State,
)
from gitmem.model.task_report import MAX_ANSWER_CHARS, MAX_ITEM_CHARS, MAX_PART_CHARS
from gitmem.service.recall import MAX_LIMIT as MAX_RECALLED
from gitmem.service.timeline import GROUPS

Schema = dict[str, Any]

MAX_LIST_BYTES = 10_000
MAX_BODY_CHARS = 20_000
MAX_PROMPT_CHARS = 20_000
MAX_HITS = 20
MAX_ROWS = 50
MAX_TAGS = 200


@dataclass(frozen=True)
class Tool:
    """One tool. ``reads`` says that it changes nothing; no tool destroys anything."""

    name: str
    description: str
    takes: Schema
    returns: Schema
    reads: bool = True
    repeats: bool = True
    """Asked again with the same arguments, it does nothing more."""


def _text(max_chars: int, description: str = "", **more: Any) -> Schema:
    told = {"description": description} if description else {}
    return {"type": "string", "maxLength": max_chars, **more, **told}


def _texts(max_items: int, of: Schema, description: str = "", **more: Any) -> Schema:
    told = {"description": description} if description else {}
    return {"type": "array", "maxItems": max_items, "items": of, **more, **told}


def _number(least: int, most: int, description: str = "") -> Schema:
    told = {"description": description} if description else {}
    return {"type": "integer", "minimum": least, "maximum": most, **told}


def _takes(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    needs = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needs, "additionalProperties": False}


def _gives(properties: Schema, required: tuple[str, ...]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


def _open(properties: Schema, required: tuple[str, ...]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": _ANY}


def _rows(properties: Schema, required: tuple[str, ...]) -> Schema:
    return {"type": "array", "items": {"type": "object", "properties": properties, "required": list(required)}}


def _some(*names: str) -> Schema:
    return dict.fromkeys(names, _ANY)


_ANY: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer"}
_FLAG: Schema = {"type": "boolean"}
_LIST: Schema = {"type": "array", "items": {"type": "string"}}
_STATUS: Schema = {"enum": ["ok", "no-match", "degraded"]}
_READ: Schema = {"status": _STATUS, "revision": _ANY, "notes": _LIST}
_HIT: Schema = {
    **_some("id", "title", "summary", "snippet", "state", "kind", "authority", "scope", "updated"),
    "tags": _LIST,
    "marks": _LIST,
}
_NOTES: Schema = {"type": "array", "items": {"type": "object"}}
RECORD_LISTS = ("tags", "evidence", "supersedes", "superseded_by", "marks")
"""What of a whole record is a list; all else of it is text."""
_HITS: Schema = _rows(_HIT, ("id", "title", "state"))
_TAGS = _texts(16, _text(100))
_KINDS = [kind.value for kind in Kind]
_OBSERVED = [kind.value for kind in Kind if kind not in BASELINE_KINDS and kind is not Kind.EPISODE]
_AS_OF = _text(100, "As it was then: a date or commit.")
_ID = _text(300, "Id, key or path.", minLength=1)


def _draft(kinds: list[str], evidence: Schema) -> Schema:
    return {
        "title": _text(MAX_TITLE_CHARS, "The fact in one line.", minLength=1),
        "body": _text(MAX_BODY_CHARS, "Markdown."),
        "kind": {"enum": kinds},
        "summary": _text(MAX_SUMMARY_CHARS),
        "tags": {**_TAGS, "description": "Like tool/pytest."},
        "evidence": evidence,
        "key": _text(MAX_KEY_CHARS, "Unique, like cache-ttl."),
    }


_EVIDENCE = _texts(16, _text(500), "commit:SHA, file:PATH#L1, run:COMMAND or url:URL.")

_REPORT: Schema = {
    "answer": _text(MAX_ANSWER_CHARS, "To report a task: what came of it, in place of body."),
    "checks": _texts(16, _text(MAX_ITEM_CHARS)),
    "uncertainty": _text(MAX_PART_CHARS),
    "next": _text(MAX_PART_CHARS),
}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "memory_search",
        "Search the memory by words. Gives summaries; memory_get has the text. Episodes, tasks and retired records"
        " answer only where kind or state names them.",
        _takes(
            {
                "query": _text(1000, minLength=1),
                "tags": _TAGS,
                "kind": {"enum": _KINDS},
                "state": {"enum": [state.value for state in State]},
                "since": _text(40, "Updated then or later: 2026-11, 2026-11-30, yesterday or 2w."),
                "until": _text(40),
                "as_of": _AS_OF,
                "limit": _number(1, MAX_HITS),
                "offset": _number(0, 900),
            },
            ("query",),
        ),
        _gives(
            {**_READ, "hits": _HITS, "plain_notes": _NOTES, "total": _COUNT, "next_offset": _COUNT},
            ("status", "hits", "total"),
        ),
    ),
    Tool(
        "memory_get",
        "Read one record whole; a long text comes in pages (next_offset).",
        _takes({"id": _ID, "offset": _number(0, 1_000_000)}, ("id",)),
        _gives(
            {
                **_READ,
                "record": _open(dict.fromkeys(RECORD_LISTS, _LIST), ("id", "title", "state")),
                "text": _ANY,
                "total_chars": _COUNT,
                "next_offset": _COUNT,
            },
            ("status", "record", "text", "total_chars"),
        ),
    ),
    Tool(
        "memory_context",
        "What to know from the start: boundaries, preferences, goal, state, reviewed knowledge.",
        _takes({}),
        _gives({**_READ, "text": _ANY}, ("status", "text")),
    ),
    Tool(
        "memory_recall",
        "The few records that fit a task or prompt, or none.",
        _takes(
            {"prompt": _text(MAX_PROMPT_CHARS, minLength=1), "limit": _number(1, MAX_RECALLED)},
            ("prompt",),
        ),
        _gives({**_READ, "text": _ANY, "ids": _LIST}, ("status", "text", "ids")),
    ),
    Tool(
        "memory_tags",
        "The tags in use, with counts.",
        _takes({"namespace": _text(100, "Only this and below."), "limit": _number(1, MAX_TAGS)}),
        _gives(
            {
                **_READ,
                "tags": _rows({"tag": _ANY, "count": _COUNT}, ("tag", "count")),
                "omitted": _COUNT,
            },
            ("status", "tags", "omitted"),
        ),
    ),
    Tool(
        "memory_timeline",
        "When did we…: records by when they were made, newest first.",
        _takes(
            {
                "query": _text(500),
                "since": _text(40),
                "until": _text(40),
                "tags": _TAGS,
                "by": {"enum": list(GROUPS)},
                "limit": _number(1, MAX_ROWS),
            }
        ),
        _gives(
            {
                **_READ,
                "rows": _rows(_some("group", "time", "id", "title", "kind", "state"), ("group", "id", "title")),
                "omitted": _COUNT,
            },
            ("status", "rows", "omitted"),
        ),
    ),
    Tool(
        "memory_propose",
        "Propose a record; it waits for a person. For guesses, preferences, and all that has no evidence. Search first;"
        " one fact a record; no secrets.",
        _takes(
            {**_draft(_KINDS, _EVIDENCE), "why": _text(500, "Why remember it.")},
            ("title",),
        ),
        _gives(
            {
                "outcome": {"enum": ["new", "merged", "known", "rejected-before"]},
                **_some("candidate", "record"),
                "notes": _LIST,
            },
            ("outcome", "notes"),
        ),
        reads=False,
    ),
    Tool(
        "memory_observe",
        "Record what the work showed, with evidence; committed at once, unreviewed. Search first; one fact a record; no"
        " secrets.",
        _takes(
            {
                **_draft(_OBSERVED, {**_EVIDENCE, "minItems": 1}),
                **_REPORT,
                "op_id": _text(64, "A retry under the same is done once.", minLength=1),
            },
            ("title", "evidence"),
        ),
        _gives(
            {**_some("op_id", "commit", "id", "path"), "changed": _FLAG, "notes": _LIST},
            ("op_id", "changed", "notes"),
        ),
        reads=False,
        repeats=False,
    ),
    Tool(
        "memory_status",
        "Which vault this is, what is in it, what waits for a person, what is wrong.",
        _takes({}),
        _gives(
            {
                **_READ,
                "vault": {"type": "object", "additionalProperties": _ANY},
                "records": {"type": "object", "additionalProperties": _COUNT},
                **dict.fromkeys(("candidates", "uncommitted"), _COUNT),
            },
            ("status", "vault", "records"),
        ),
    ),
)

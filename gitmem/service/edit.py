"""Change a record's properties or body in place; its name and state stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitmem.errors import InputError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import Record
from gitmem.policy.content import check_new_tags
from gitmem.policy.secrets import check_secrets
from gitmem.service.draft import summarise
from gitmem.service.find import get_record
from gitmem.service.gate import authorize
from gitmem.service.own import is_own
from gitmem.service.plan import Move, carry_out_allowed, edit_record, find_earlier, make_change, no_change, stamp
from gitmem.service.retry import describe_request, given_fields
from gitmem.service.together import Found, authorize_all, describe, get_records
from gitmem.service.vault import OpenVault
from gitmem.text import fold, one_line
from gitmem.typed import Any
from gitmem.values import dataclass, field
from gitmem.vault.frontmatter import edit_note, replace_body
from gitmem.vault.record_file import check_property


@dataclass(frozen=True)
class RecordEdit:
    """What to change; ``None`` and empty mean "leave". ``properties`` maps a name to a value, ``None`` to drop it."""

    title: str | None = None
    body: str | None = None
    summary: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return self == RecordEdit()


def edit(vault: OpenVault, ref: str, wanted: RecordEdit, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Change the record ``ref`` as ``wanted``; only the lines of what changes are rewritten.

    An edit that alters nothing makes no commit. Raises ``InputError`` (``nothing-to-edit``, ``bad-property`` and
    others), ``PolicyError`` (``needs-human``); nothing is written then.
    """
    request = describe_request(ref=ref, **given_fields(wanted))
    earlier = find_earlier(vault, Action.EDIT, op_id, request)
    if earlier is not None:
        return earlier
    if wanted.is_empty:
        raise InputError("nothing-to-edit", "nothing to change was given", "See `gitmem edit --help`.")
    record, data = get_record(vault, ref)

    def plan(rule: str) -> Change:
        planned = _plan(vault, (record, data), wanted)
        if planned is None:
            return no_change(Action.EDIT, actor, op_id, request)
        return make_change(Action.EDIT, actor, rule, [planned[0]], op_id=op_id, note=planned[1], request=request)

    return carry_out_allowed(
        vault,
        lambda: authorize(vault.entry.scope, Action.EDIT, actor, record=record, own=is_own(vault, record, actor)),
        plan,
    )


def edit_all(
    vault: OpenVault, edits: Sequence[tuple[str, RecordEdit]], actor: Actor, op_id: OpId | None = None
) -> Receipt:
    """Change several records, each named once and as wanted for it, all in one commit or none; otherwise as ``edit``.

    Raises what ``edit`` and ``together.get_records`` raise, and ``InputError`` (``named-twice``).
    """
    request = describe_request(edits=[[ref, given_fields(wanted)] for ref, wanted in edits])
    earlier = find_earlier(vault, Action.EDIT, op_id, request)
    if earlier is not None:
        return earlier
    if any(wanted.is_empty for _ref, wanted in edits):
        raise InputError("nothing-to-edit", "nothing to change was given for a record", "Leave it out.")
    found = get_records(vault, [ref for ref, _wanted in edits], lambda _record: None)
    if len(found) != len(edits):
        raise InputError("named-twice", "a record was named twice", "Put what is wanted for it together.")

    def plan(rule: str) -> Change:
        planned = [_plan(vault, old, wanted) for old, (_ref, wanted) in zip(found, edits, strict=True)]
        made = [one for one in planned if one is not None]
        if not made:
            return no_change(Action.EDIT, actor, op_id, request)
        moves = [move for move, _note in made]
        return make_change(Action.EDIT, actor, rule, moves, op_id=op_id, request=request, **describe(moves, made[0][1]))

    return carry_out_allowed(
        vault,
        lambda: authorize_all(
            found,
            lambda record: authorize(
                vault.entry.scope, Action.EDIT, actor, record=record, own=is_own(vault, record, actor)
            ),
        ),
        plan,
    )


def _plan(vault: OpenVault, old: Found, wanted: RecordEdit) -> tuple[Move, str] | None:
    """Return what becomes of a record, and what to say of it; ``None`` where nothing does."""
    record, data = old
    check_secrets(_texts_of(wanted))  # before anything that is wrong with it is told with a word of it
    changes = _plan_properties(record, wanted)
    after_data = edit_note(data, changes)
    if wanted.body is not None:
        after_data = replace_body(after_data, frame_body(record.body, wanted.body))
    if after_data == data:
        return None
    after = edit_record(record, after_data, {"updated": stamp(vault)})
    what = [*changes, *(["body"] if wanted.body is not None else [])]
    return (record, *after), f"Changed: {', '.join(what)}."


def _texts_of(wanted: RecordEdit) -> dict[str, str]:
    """Return what is to be written by name, so that an error can tell where. The file is looked at later, too."""
    properties = "\n".join(f"{name}: {value}" for name, value in wanted.properties.items())
    said = {"title": wanted.title or "", "body": wanted.body or "", "summary": wanted.summary or ""}
    return {**said, "properties": properties, "tags": "\n".join(wanted.add_tags)}


def _plan_properties(record: Record, wanted: RecordEdit) -> dict[str, Any]:
    changes: dict[str, Any] = {
        name: check_property(name, value, is_there=name in record.properties)
        for name, value in wanted.properties.items()
    }
    if wanted.title is not None:
        changes["title"] = one_line(wanted.title)
    if wanted.summary is not None:
        changes["summary"] = one_line(wanted.summary) or None
    elif wanted.body is not None and record.summary and record.summary == summarise(record.body):
        changes["summary"] = summarise(wanted.body) or None  # it was taken from the text, and follows it
    check_new_tags(wanted.add_tags)
    if wanted.add_tags or wanted.remove_tags:
        changes["tags"] = _merge_tags(record.tags, wanted.add_tags, wanted.remove_tags) or None
    return {name: value for name, value in changes.items() if record.properties.get(name) != value}


def frame_body(old: str, new: str) -> str:
    """Return ``new`` with the blank lines around it that ``old`` has, so that they never count as an edit."""
    text = old.strip("\r\n")
    wanted = new.strip("\r\n")
    if not text or not wanted:
        return f"\n{wanted}\n" if wanted else ""
    before, _text, behind = old.partition(text)
    return before + wanted + behind


def _merge_tags(tags: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...]) -> list[str]:
    gone = {fold(tag) for tag in remove}
    kept = [tag for tag in tags if fold(tag) not in gone]
    have = {fold(tag) for tag in kept}
    return kept + [tag for tag in dict.fromkeys(add) if fold(tag) not in have]

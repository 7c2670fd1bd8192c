"""Records and the Markdown files that hold them: bytes to nouns and back, names of new files, checks on new values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from gitmem.errors import InputError
from gitmem.fences import find_conflict
from gitmem.model.authority import Authority
from gitmem.model.ids import RecordId, fingerprint
from gitmem.model.record import Draft, Kind, Problem, Record, State, state_of
from gitmem.model.vault_path import VaultPath
from gitmem.text import fold, quote, slug
from gitmem.typed import Any
from gitmem.vault.frontmatter import Note, format_note, parse_note
from gitmem.vault.lookalike import find_lookalike
from gitmem.vault.markdown import find_tags
from gitmem.vault.private import may_be_private, says_private
from gitmem.vault.properties import BY_NAME, PROPERTIES, MisfitError, check_own, parse_id
from gitmem.vault.scan import MAX_NOTE_BYTES

__all__ = ["PROPERTIES", "check_property", "file_name", "format_record", "parse_record"]

MAX_FILE_NAME_BYTES = 100
_ID_CHARS_IN_NAME = 6
# To build the quick reader's expression takes as long as reading a hundred records without it. A process that answers
# one question reads fewer.
_FEW_READS = 50
_reads = itertools.count()


def parse_record(path: VaultPath, data: bytes) -> Record | None:
    """Return the record in the file ``path`` with the bytes ``data``, or ``None`` for a person's note without an id.

    Values that don't fit count as absent and are listed in ``Record.problems`` (``property-does-not-fit``); a
    ``private`` that is neither true nor false counts as true, and so does one inside another property.
    ``Record.body`` is ``Note.body``.

    Raises ``InputError``: the code of the note's problem when it can't be read or trusted, ``bad-record-id``,
    ``too-large`` (1 MiB), ``not-in-a-lifecycle-folder``. Fields: ``path``, ``line``.
    """
    if next(_reads) < _FEW_READS:
        return _parse_any(path, data)
    return _parse_own(path, data) or _parse_any(path, data)


def _parse_own(path: VaultPath, data: bytes) -> Record | None:
    """Return the record where gitmem itself could have written the file as it is; ``None`` says nothing about it."""
    state = state_of(path)
    if state is None or len(data) > MAX_NOTE_BYTES or b"\0" in data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    from gitmem.vault.own_form import parse_own_record

    return None if find_conflict(text) else parse_own_record(path, state, data, text)


def _parse_any(path: VaultPath, data: bytes) -> Record | None:
    note = parse_note(data)
    if note.problem and not _is_plain(note):
        problem = note.problem
        # INV-PRIVATE: what is wrong with YAML is said in its own words.
        is_told = not problem.code.startswith("yaml-") or not may_be_private(data)
        message = problem.message if is_told else "the properties of a private note can't be read"
        raise InputError(problem.code, message, "Open the note and put it right.", path=path, line=problem.line)
    if "gitmem_id" not in note.properties:
        return None
    if len(data) > MAX_NOTE_BYTES:
        raise InputError("too-large", "the record is larger than 1 MiB", "Move most of its text elsewhere.", path=path)
    state = state_of(path)
    if state is None:
        raise InputError(
            "not-in-a-lifecycle-folder",
            "a record lies outside baseline/, observations/, promoted/ and retired/",
            "Move the file back, or take its gitmem_id out to keep it as a plain note.",
            path=path,
        )
    return _record(path, state, data, note)


def format_record(  # noqa: PLR0913 - one parameter per property that most records have
    record_id: RecordId,
    title: str,
    body: str,
    *,
    kind: Kind | None = None,
    summary: str = "",
    authority: Authority | None = None,
    tags: Sequence[str] = (),
    key: str | None = None,
    created: str | None = None,
    updated: str | None = None,
    source: str | None = None,
    evidence: Sequence[str] = (),
    **others: Any,
) -> bytes:
    """Return the file of a new record: properties in the order of ``PROPERTIES``, ``others`` that are not there last.

    What is ``None`` or empty is left out. Raises ``InputError``: ``bad-property`` for a value that would not be read
    back as it is, ``bad-record-id``, ``lookalike-property``, ``bad-body``.
    """
    given: dict[str, Any] = {
        "gitmem_id": record_id, "title": title, "kind": kind, "summary": summary, "authority": authority,
        "tags": list(tags), "key": key, "created": created, "updated": updated, "source": source,
        "evidence": list(evidence), **others,
    }  # fmt: skip
    ordered = [own.name for own in PROPERTIES if own.name in given] + [name for name in given if name not in BY_NAME]
    present = {name: given[name] for name in ordered if given[name] not in (None, "", [], ())}
    return format_note({name: _check(name, value) for name, value in present.items()}, body)


def format_draft(record_id: RecordId, draft: Draft, **others: Any) -> bytes:
    """Return the file of a new record that says what ``draft`` says; ``others`` are the properties beside it.

    Raises as ``format_record``.
    """
    return format_record(
        record_id,
        draft.title,
        draft.body,
        kind=draft.kind,
        summary=draft.summary,
        tags=draft.tags,
        key=draft.key,
        evidence=draft.evidence,
        **others,
    )


def file_name(title: str, record_id: RecordId) -> str:
    """Return the name of a new record's file: ``run-tests-m7k2q9.md``, at most 100 bytes, fit for every system."""
    tail = f"-{record_id[:_ID_CHARS_IN_NAME]}.md"
    return (slug(title, MAX_FILE_NAME_BYTES - len(tail)) or "record") + tail


def check_property(name: str, value: Any, *, is_there: bool = False) -> Any:
    """Return ``value`` as it may be set by hand for the property ``name``, gitmem's own or any other.

    ``None`` stands for dropping the property. ``is_there`` says that the note has a property of this very name: a
    person's ``Created`` is theirs, but a new one would be taken for gitmem's ``created`` by people and by Obsidian.

    Raises ``InputError``: ``property-is-managed`` for what only gitmem sets, ``lookalike-property`` for a new name that
    is one of gitmem's but for case or separators, and for any that could be taken for ``gitmem_id``, ``authority`` or
    ``private``, ``bad-property`` for a name or value that can't be.
    """
    own = BY_NAME.get(name)
    if own is None and not is_there:
        _check_spelling(name)
    if own and own.is_managed:
        raise InputError(
            "property-is-managed",
            f"{name} is set by gitmem alone",
            "Use the operation that changes it, such as promote; a person may also edit the file and adopt it.",
        )
    return None if value is None else _check(name, value)


def _check_spelling(name: str) -> None:
    meant = BY_NAME.get(fold(name).replace("-", "_").replace(" ", "_"))
    if meant is not None:
        raise InputError(
            "lookalike-property",
            f"the name {quote(name)} is not gitmem's {meant.name}, but looks like it",
            f"{meant.name} is set by gitmem alone." if meant.is_managed else f"Write {meant.name}.",
        )


def _check(name: str, value: Any) -> Any:
    from gitmem.vault.yaml_write import check_name

    check_name(name)
    protected = find_lookalike(name)
    if protected:
        raise InputError(
            "lookalike-property",
            f"the name {quote(name)} looks like {protected} but is not",
            f"Write {protected}, or take another name.",
        )
    own = BY_NAME.get(name)
    from gitmem.vault.yaml_write import check_value

    return check_value(check_own(own, value) if own else value)


def _is_plain(note: Note) -> bool:
    """Tell whether the note is a person's whose ``Private`` or ``Authority`` means nothing to gitmem."""
    return bool(note.properties) and not any(
        name == "gitmem_id" or find_lookalike(name) == "gitmem_id" for name in note.properties
    )


def _record_id(path: VaultPath, value: Any) -> RecordId:
    try:
        return parse_id(value)
    except InputError as error:
        raise InputError(error.code, error.message, error.hint, path=path) from None


def _record(path: VaultPath, state: State, data: bytes, note: Note) -> Record:
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in note.properties.items():
        own = BY_NAME.get(name)
        if own is None or value is None or name == "gitmem_id":
            continue
        try:
            values[name] = own.parse(value)
        except MisfitError as error:
            problems.append(Problem("property-does-not-fit", f"{name} counts as absent: {error}", path))
            if error.kept is not None:
                values[name] = error.kept
    if says_private(note.properties):
        values["private"] = True
    if inline_tags := find_tags(note.body):
        from gitmem.vault.own_form import without_known

        values["inline_tags"] = without_known(inline_tags, values.get("tags", ()))
    return Record(
        id=_record_id(path, note.properties["gitmem_id"]),
        path=path,
        state=state,
        title=values.pop("title", None) or path.rpartition("/")[2].removesuffix(".md"),
        body=note.body,
        fingerprint=fingerprint(data),
        properties=note.properties,
        problems=tuple(problems),
        **values,
    )

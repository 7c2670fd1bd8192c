"""Notes as Obsidian sees them: properties and body, read from bytes and edited so that nothing else changes.

A block that can't be read is reported as a problem and never written to: programs that put a second block before one
that they couldn't read have cost people their notes (facts, A.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gitmem.errors import InputError, IntegrityError
from gitmem.fences import find_conflict
from gitmem.model.record import Problem
from gitmem.typed import Any
from gitmem.values import dataclass, field
from gitmem.vault.lookalike import find_lookalike
from gitmem.vault.note_text import NoteText, decode, split_note
from gitmem.vault.yaml_core import Block
from gitmem.vault.yaml_fast import find_values

MAX_BLOCK_BYTES = 64 * 1024

_ID = "gitmem_id"


@dataclass(frozen=True, slots=True)
class Note:
    """A note as read.

    ``properties`` are in the order of the block, empty when there is none or it can't be read. ``body`` is all text
    after the block (a blank line there included), line ends kept, without BOM; where no end of a block is found it is
    the whole text, where the bytes are no text it is empty. ``has_block`` says that a closed block is there.
    ``problem`` is why the note must not be trusted or edited, ``None`` for nearly all. ``eol`` is the line end of the
    block, else of the note's first line.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    has_block: bool = False
    problem: Problem | None = None
    eol: str = "\n"
    bom: bool = False


def parse_note(data: bytes) -> Note:
    """Return ``data`` as a note. Pure; never raises for content, ``problem`` says what is wrong with it.

    ``problem.code`` is one of ``not-text``, ``not-utf8``, ``frontmatter-unclosed``, ``conflict-markers``,
    ``yaml-too-large`` (64 KiB), the other ``yaml-…`` codes of ``yaml_parse.parse_block``, and ``lookalike-property``,
    the only one with which the properties are there; ``problem.line`` counts from 1 in the file.
    """
    try:
        text = decode(data)
    except InputError as error:
        return Note(problem=_problem(error))
    try:
        parts = split_note(text)
    except InputError as error:
        bom = text.startswith("\ufeff")
        return Note(body=text[1:] if bom else text, problem=_problem(error), bom=bom)
    properties: dict[str, Any] = {}
    problem = _find_conflict(text)
    if parts.block and not problem:
        try:
            properties = _parse_properties(parts.block)
            problem = _find_lookalike(properties)
        except InputError as error:
            problem = _problem(error, lines_before=1)
    return Note(properties, parts.body, parts.has_block, problem, parts.eol, bool(parts.bom))


def edit_note(data: bytes, changes: Mapping[str, Any | None]) -> bytes:
    """Return ``data`` with properties changed, added or (``None``) removed. Pure.

    Replaces the lines of a changed property and nothing else; adds new ones at the end of the block in the order given.
    Without a block it makes one, ``gitmem_id`` first, and a block that becomes empty goes. BOM, line ends, comments,
    quoting and order stay; when nothing changes the bytes are the same. What it returns was read back and compared.

    Raises ``InputError``: ``frontmatter-unreadable`` (the note has a problem), ``frontmatter-flow`` (a JSON block),
    ``bad-property``; ``IntegrityError`` (``edit-not-clean``) when the result would not read as it should.
    """
    parts, block = _take_apart(data)
    from gitmem.vault.block_edit import edit_block
    from gitmem.vault.yaml_write import check_name, check_value

    wanted = {name: None if value is None else check_value(value) for name, value in changes.items()}
    for name in wanted.keys() - block.values.keys():
        check_name(name)
    if not parts.has_block and _ID in wanted:
        wanted = {_ID: wanted.pop(_ID), **wanted}
    new_block = edit_block(parts.block, block, wanted, parts.eol)
    if new_block == parts.block:
        return data
    merged = {**block.values, **wanted}
    expected = {name: value for name, value in merged.items() if value is not None or name not in wanted}
    edited = parts.with_block(new_block)
    if not new_block and not _starts_with_fence(parts.body):
        edited = parts.without_block()
    return _proven(edited, expected, parts.body)


def replace_body(data: bytes, body: str) -> bytes:
    """Return ``data`` with everything after its block replaced by ``body``; line ends become the note's own. Pure.

    Identical bytes when ``body`` is what stands there. Raises as ``edit_note`` does, and ``InputError`` (``bad-body``)
    for text that can't be written or would be taken for frontmatter.
    """
    parts, block = _take_apart(data)
    body = _check_body(body)
    if body == parts.body:
        return data
    body = re.sub(r"\r?\n", parts.eol, body)
    if not parts.has_block and _starts_with_fence(body):
        raise InputError("bad-body", "the text begins with ---, which starts frontmatter", "Begin with a blank line.")
    edited = NoteText(parts.bom, parts.opening, parts.block, parts.closing, body, parts.eol)
    return _proven(edited, block.values, body)


def format_note(properties: Mapping[str, Any], body: str) -> bytes:
    """Return a new note as Obsidian writes one: LF, the block, a blank line, ``body``, one final newline.

    Blank lines around ``body`` are dropped. Without properties there is no block. Raises ``InputError``
    (``bad-property``, ``bad-body``).
    """
    from gitmem.vault.yaml_write import check_name, check_value, format_property

    lines = "".join(format_property(check_name(name), check_value(value)) for name, value in properties.items())
    if len(lines.encode()) > MAX_BLOCK_BYTES:
        raise InputError("bad-property", "the properties are larger than 64 KiB together", "Put long text in the body.")
    text = re.sub(r"\r\n?", "\n", _check_body(body)).strip("\n")
    if not lines and _starts_with_fence(text):
        raise InputError("bad-body", "the text begins with ---, which starts frontmatter", "Begin with a blank line.")
    parts = [f"---\n{lines}---\n"] if lines else []
    parts += [f"{text}\n"] if text else []
    return "\n".join(parts).encode()


def _parse_properties(block: str) -> dict[str, Any]:
    if len(block.encode()) > MAX_BLOCK_BYTES:
        raise InputError("yaml-too-large", f"the frontmatter is larger than {MAX_BLOCK_BYTES} bytes", line=0)
    values = find_values(block.replace("\r\n", "\n") if "\r" in block else block)
    return _parse_block(block).values if values is None else values


def _parse_block(block: str) -> Block:
    from gitmem.vault.yaml_parse import parse_block  # simple notes are read without loading it

    return parse_block(block)


def _find_conflict(text: str) -> Problem | None:
    line = find_conflict(text)
    return Problem("conflict-markers", "the note holds conflict markers of a merge", line=line) if line else None


def _find_lookalike(properties: dict[str, Any]) -> Problem | None:
    for name in properties:
        protected = find_lookalike(name)
        if protected:
            return Problem("lookalike-property", f"the property {name!r} looks like {protected} but is not; rename it")
    return None


def _problem(error: InputError, lines_before: int = 0) -> Problem:
    line = error.fields.get("line")
    return Problem(error.code, error.message, line=None if line is None else line + lines_before)


def _take_apart(data: bytes) -> tuple[NoteText, Block]:
    problem = parse_note(data).problem
    if problem:
        raise InputError(
            "frontmatter-unreadable",
            f"the note can't be edited: {problem.message}",
            "Open the note and put its properties right first.",
            problem=problem.code,
            line=problem.line,
        )
    parts = split_note(decode(data))
    block = _parse_block(parts.block)
    if block.is_flow:
        raise InputError(
            "frontmatter-flow",
            "the note's properties are written as JSON",
            "Change a property in Obsidian; it saves them as YAML.",
        )
    return parts, block


def _proven(parts: NoteText, properties: dict[str, Any], body: str) -> bytes:
    # INV-EXACT-EDIT: an edit that would change how anything else reads is not handed out.
    data = parts.joined.encode()
    note = parse_note(data)
    from gitmem.vault.block_edit import same_value

    same = same_value(note.properties, properties) and note.body == body and note.bom == bool(parts.bom)
    if note.problem or not same:
        raise IntegrityError(
            "edit-not-clean",
            "the edit would have changed more than the property, so nothing was changed",
            "Edit the note by hand.",
        )
    return data


def _starts_with_fence(text: str) -> bool:
    try:
        return split_note(text).has_block or text.startswith("\ufeff")
    except InputError:
        return True


def _check_body(body: str) -> str:
    if "\0" in body:
        raise InputError("bad-body", "the text holds a NUL character", "Give the text as UTF-8.")
    try:
        body.encode()
    except UnicodeEncodeError:
        raise InputError("bad-body", "the text holds half of a surrogate pair", "Give the text as UTF-8.") from None
    if find_conflict(body):
        raise InputError("bad-body", "the text holds conflict markers", "Indent them or put them in a code fence.")
    return body

"""gitmem's own properties, as data: their names in the order in which they are written, and what fits each.

A parser takes a value as YAML gave it, never ``None``, and returns what the record carries; a value that does not fit
raises ``MisfitError``, with whatever of it can still be used.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gitmem.errors import InputError
from gitmem.model.authority import Authority
from gitmem.model.ids import RecordId, parse_record_id
from gitmem.model.record import EVIDENCE_FORM, MAX_KEY_CHARS, MAX_SUMMARY_CHARS, MAX_TITLE_CHARS, Kind
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.values import dataclass
from gitmem.vault.markdown import parse_tag, unique_tags
from gitmem.vault.yaml_write import format_scalar, is_date

_LINE_BREAK = late("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", plain="[\n\r\x0b\x0c\x1c-\x1e]")
_KEY = late(rf"\S{{1,{MAX_KEY_CHARS}}}")
_SOURCE = late(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/\S+)?")
_EVIDENCE = late(EVIDENCE_FORM)
_LINK = late(r"\[\[[^\[\]\n]+\]\]")


class MisfitError(ValueError):
    """A value is not what the property holds. ``kept`` is the part that counts all the same, ``None`` for none."""

    def __init__(self, why: str, kept: Any = None) -> None:
        super().__init__(why)
        self.kept = kept


@dataclass(frozen=True, slots=True)
class Property:
    """One property: its name in the file and in ``Record``, its parser, and whether only gitmem itself sets it."""

    name: str
    parse: Callable[[Any], Any]
    is_managed: bool = False


def parse_id(value: Any) -> RecordId:
    """Return ``value`` as a record id. Raises ``InputError`` (``bad-record-id``), for a record can't do without."""
    return parse_record_id(value if isinstance(value, str) else "")


def parse_title(value: Any) -> str:
    """Return one line of 1 to 200 characters; a whole number is taken as it is written."""
    title = str(value) if type(value) is int else value
    return _one_line(title, MAX_TITLE_CHARS)


def parse_summary(value: Any) -> str:
    """Return one line of at most 200 characters, empty included."""
    return "" if value == "" else _one_line(value, MAX_SUMMARY_CHARS)


def parse_kind(value: Any) -> Kind:
    """Return the kind."""
    try:
        return Kind(value)
    except ValueError:
        raise MisfitError(f"a kind is one of {', '.join(Kind)}") from None


def parse_authority(value: Any) -> Authority:
    """Return the authority."""
    try:
        return Authority(value)
    except ValueError:
        raise MisfitError(f"an authority is one of {', '.join(Authority)}") from None


def parse_tags(value: Any) -> tuple[str, ...]:
    """Return the tags as Obsidian takes them: a list, or one text that is one tag; nulls in a list are nothing."""
    items = [item for item in value if item is not None] if isinstance(value, list) else [value]
    tags = [parse_tag(item) if isinstance(item, str) else None for item in items]
    fit = unique_tags(tag for tag in tags if tag)
    if None in tags:
        raise MisfitError("tags are a list of words without blanks that are not numbers alone", fit)
    return fit


def parse_aliases(value: Any) -> tuple[str, ...]:
    """Return other names of the note as Obsidian takes them; what is no text or number is passed over."""
    items = value if isinstance(value, list) else [value]
    texts = (format_scalar(item) if isinstance(item, (bool, int, float)) else item for item in items)
    return tuple(text for text in texts if isinstance(text, str) and text.strip())


def parse_key(value: Any) -> str:
    """Return a key: 1 to 100 characters without blanks."""
    if not isinstance(value, str) or not _KEY.fullmatch(value):
        raise MisfitError(f"a key is one word of at most {MAX_KEY_CHARS} characters")
    return value


def parse_date(value: Any) -> str:
    """Return a day or moment, as it was written."""
    if not isinstance(value, str) or not is_date(value):
        raise MisfitError("a date is written 2026-11-30 or 2026-11-30T14:00:00Z")
    return value


def parse_source(value: Any) -> str:
    """Return ``host/session``, or the host alone."""
    if not isinstance(value, str) or not _SOURCE.fullmatch(value):
        raise MisfitError("a source is written host/session")
    return value


def parse_evidence(value: Any) -> tuple[str, ...]:
    """Return references ``commit:…``, ``file:…``, ``run:…``, ``url:…``; one alone need not be in a list."""
    return _list_of(value, _EVIDENCE, "evidence is a list of commit:…, file:…, run:… or url:…")


def parse_record_links(value: Any) -> tuple[str, ...]:
    """Return ``[[links]]``; one alone need not be in a list."""
    return _list_of(value, _LINK, 'this is a list of links, each quoted: "[[name]]"')


def parse_private(value: Any) -> bool:
    """Return whether the record is private. What is neither true nor false keeps it private: the other way would
    deliver what somebody meant to hold back.
    """
    if not isinstance(value, bool):
        raise MisfitError("private is true or false", kept=True)
    return value


def _one_line(value: Any, max_chars: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise MisfitError("a line of text is needed")
    if len(value) > max_chars or _LINE_BREAK.search(value):
        raise MisfitError(f"the text is one line of at most {max_chars} characters")
    return value


def _list_of(value: Any, form: re.Pattern[str], why: str) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    fit = tuple(item for item in items if isinstance(item, str) and form.fullmatch(item))
    if len(fit) != len(items):
        raise MisfitError(why, fit)
    return fit


PROPERTIES: tuple[Property, ...] = (
    Property("gitmem_id", parse_id, is_managed=True),
    Property("title", parse_title),
    Property("kind", parse_kind),
    Property("summary", parse_summary),
    Property("authority", parse_authority, is_managed=True),
    Property("tags", parse_tags),
    Property("key", parse_key),
    Property("created", parse_date, is_managed=True),
    Property("updated", parse_date, is_managed=True),
    Property("source", parse_source),
    Property("evidence", parse_evidence),
    Property("verified", parse_date, is_managed=True),
    Property("valid_from", parse_date),
    Property("valid_until", parse_date),
    Property("review_after", parse_date),
    Property("supersedes", parse_record_links),
    Property("superseded_by", parse_record_links),
    Property("private", parse_private),
    Property("aliases", parse_aliases),
)
"""Every property that gitmem gives a meaning, in the order in which a new record has them."""

BY_NAME: dict[str, Property] = {own.name: own for own in PROPERTIES}


def check_own(own: Property, value: Any) -> Any:
    """Return ``value`` as it is written for ``own``. Raises ``InputError`` (``bad-property``) if it doesn't fit."""
    if own.name == "private" and isinstance(value, str):
        value = {"true": True, "false": False}.get(value, value)
    if isinstance(value, tuple):
        value = list(value)
    try:
        parsed = own.parse(value)
    except MisfitError as error:
        raise InputError("bad-property", f"this does not fit {own.name}: {error}", "Give another value.") from None
    if isinstance(parsed, tuple):
        return list(parsed)
    return str(parsed) if isinstance(parsed, str) else parsed

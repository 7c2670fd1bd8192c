"""Properties as Obsidian writes them: block lists indented by two, quotes only where needed, no folding (facts, A.3).

Where a reader of YAML 1.1 would take a string for something else (``yes``, ``12:30``, ``1_000``, ``2024-13-45``) it is
quoted too, which Obsidian reads the same. Real dates stay bare, so that Obsidian and other tools see dates.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping

from gitmem.errors import InputError
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.vault.yaml_core import MAX_DEPTH, MAX_NUMBER, resolve_plain

MAX_NAME_CHARS = 200

_SHOWS_AS_IS = late("[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]*")
_BREAKS_PLAIN = late(r"^[ ,\[\]{}#&*!|>'\"%@`]|^[-?:](?: |$)|^(?:---|\.\.\.)|: | #|[ :]$")
_YAML_1_1 = late(
    r"(?:yes|no|on|off|y|n|=|<<)"
    r"|[-+]?(?:0b[01_]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-9]+)*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|\.[0-9_]+(?:e[-+]?[0-9]+)?)",
    re.IGNORECASE,
)
_LIKE_A_DATE = late(r"\d{4}-\d\d?-\d\d?(?:[Tt\s][\d\s:.Zz+-]*)?")
_DATE = late(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[-+]\d\d:\d\d)?)?", re.ASCII)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def is_date(text: str) -> bool:
    """Tell whether ``text`` is a day (``2026-11-30``) or a moment (RFC 3339, zone optional) that exists."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def check_value(value: Any, *, depth: int = 1) -> Any:
    """Return ``value`` as a property can hold it: None, bool, int, float, str, and lists and mappings of these.

    Tuples become lists, string enums strings. Raises ``InputError`` (``bad-property``) for NUL, lone surrogates,
    numbers that are not finite to Obsidian, other types, and nesting beyond what can be read back.
    """
    if depth > MAX_DEPTH - 1:
        raise _bad("it is nested too deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _check_text(str(value))
    if isinstance(value, (int, float)):
        if not abs(value) <= MAX_NUMBER:
            raise _bad("the number is not finite")
        return value
    if isinstance(value, (list, tuple)):
        return [check_value(item, depth=depth + 1) for item in value]
    if isinstance(value, Mapping):
        return {check_name(name): check_value(item, depth=depth + 1) for name, item in value.items()}
    raise _bad(f"a {type(value).__name__} can't be written")


def check_name(name: Any) -> str:
    """Return ``name`` if it can name a property: one line of 1 to 200 characters, no blank at its ends.

    Raises ``InputError`` (``bad-property``).
    """
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARS or name != name.strip():
        raise _bad(f"a name is 1 to {MAX_NAME_CHARS} characters without blanks at its ends")
    if not _SHOWS_AS_IS.fullmatch(name):
        raise _bad("a name is one line without control characters")
    return _check_text(name)


def format_property(name: str, value: Any) -> str:
    """Return the line or lines of one property, LF line ends, last one included. ``value`` has passed check_value."""
    return f"{format_scalar(name)}:{format_value(value, 2)}\n"


def format_value(value: Any, indent: int) -> str:
    """Return what follows ``name:`` for ``value``, without a last line end; further lines start at ``indent``."""
    if value is None:
        return ""
    if isinstance(value, list) and value:
        return "".join(f"\n{' ' * indent}- {format_item(item, indent + 2)}" for item in value)
    if isinstance(value, dict) and value:
        pairs = ((format_scalar(name), format_value(item, indent + 2)) for name, item in value.items())
        return "".join(f"\n{' ' * indent}{name}:{text}" for name, text in pairs)
    if isinstance(value, str) and _fits_literal(value):
        lines = value.removesuffix("\n").split("\n")
        head = " |" if value.endswith("\n") else " |-"
        return head + "".join(f"\n{' ' * indent}{line}" if line else "\n" for line in lines)
    return f" {format_scalar(value)}"


def format_item(value: Any, indent: int) -> str:
    """Return what follows ``- `` for one item of a list; further lines start at ``indent``."""
    if value is None:
        return "null"
    text = format_value(value, indent)
    return text[1 + indent :] if text.startswith("\n") else text[1:]


def format_scalar(value: Any) -> str:
    """Return ``value`` on one line: bare where every reader takes it for what it is, else quoted."""
    if value is True or value is False:
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")  # YAML 1.1 asks for the dot
    if isinstance(value, (list, dict)):
        return "[]" if isinstance(value, list) else "{}"
    if not isinstance(value, str):
        return str(value)
    if not _needs_quotes(value):
        return value
    if '"' in value and "'" not in value and _SHOWS_AS_IS.fullmatch(value):
        return f"'{value}'"
    return (
        '"'
        + "".join(char if _SHOWS_AS_IS.fullmatch(char) and char not in '"\\' else _escape(char) for char in value)
        + '"'
    )


def _needs_quotes(text: str) -> bool:
    if not text or _BREAKS_PLAIN.search(text) or not _SHOWS_AS_IS.fullmatch(text):
        return True
    if _YAML_1_1.fullmatch(text) or (_LIKE_A_DATE.fullmatch(text) and not is_date(text)):
        return True
    try:
        return resolve_plain(text) is not text
    except InputError:
        return True


def _fits_literal(text: str) -> bool:
    lines = text.removesuffix("\n").split("\n")
    if "\n" not in text or not lines[0] or lines[0][0] == " " or not lines[-1]:
        return False
    return all(_SHOWS_AS_IS.fullmatch(line) and (not line or not line.isspace()) for line in lines)


def _escape(char: str) -> str:
    point = ord(char)
    return _ESCAPES.get(char) or (f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}")


def _check_text(text: str) -> str:
    if "\0" in text:
        raise _bad("it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _bad("it holds half of a surrogate pair") from None
    return text


def _bad(why: str) -> InputError:
    return InputError("bad-property", f"this can't be a property: {why}", "Give another value.")

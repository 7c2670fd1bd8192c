"""The JSON Schemas in ``schema/`` as checks: what they describe is validated against them, not only documented.

The files say 2020-12. fastjsonschema knows the drafts up to 7 (newer releases a little of 2019-09), so they keep to
what those have in common with 2020-12: no ``prefixItems``, no ``dependentRequired``, no ``unevaluatedProperties``.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping

from gitmem.errors import InputError, IntegrityError
from gitmem.resources import read_text
from gitmem.text import make_visible, shorten
from gitmem.typed import Any, NamedTuple

_ASKED_FOR = frozenset({"record", "draft", "candidate", "event", "query", "policy", "report"})
_MAX_REASON_CHARS = 300


def validate(name: str, value: Any) -> None:
    """Check that ``value``, as read from JSON or YAML, is what ``schema/<name>.schema.json`` describes.

    Changes nothing in it, and fills in no defaults. Raises code ``schema`` with the field ``path`` (such as
    ``vaults[0].scope``): ``InputError`` for what people and agents hand in (record, draft, candidate, event, query,
    policy, report), ``IntegrityError`` for what gitmem itself wrote. The value is never quoted. An unknown name raises
    ``FileNotFoundError``.
    """
    import fastjsonschema

    try:
        _validator(name)(value)
    except fastjsonschema.JsonSchemaValueException as error:
        root = error.name or "data"
        path = shorten(make_visible(root.removeprefix("data").removeprefix(".")), _MAX_REASON_CHARS)
        reason = shorten(make_visible(_sort_names(error.message.removeprefix(root))), _MAX_REASON_CHARS)
        kind, hint = (
            (InputError, f"See schema/{name}.schema.json for what may stand there.")
            if name in _ASKED_FOR
            else (IntegrityError, "Look at it before anything else is written; Git has its last good state.")
        )
        raise kind("schema", f"{name}: {path or 'the whole'} {reason}", hint, path=path, schema=name) from None


def _sort_names(reason: str) -> str:
    """Return ``reason`` with the names that must not be there in order: the library lists a set."""
    found = re.fullmatch(r"( must not contain )\{(.*)\}( properties)", reason, re.DOTALL)
    return reason if found is None else f"{found[1]}{', '.join(sorted(found[2].split(', ')))}{found[3]}"


class Misfit(NamedTuple):
    """Where a value does not fit a schema: the ``path`` of the part, the ``rule`` with its ``bound``, and the part."""

    path: str
    rule: str
    bound: Any
    value: Any


def find_misfit(name: str, schema: Mapping[str, Any], value: Any) -> Misfit | None:
    """Return the first place where ``value`` does not fit ``schema``, which is always the same for one ``name``."""
    import fastjsonschema

    if name not in _compiled:
        _compiled[name] = fastjsonschema.compile(dict(schema), use_default=False)
    try:
        _compiled[name](value)
    except fastjsonschema.JsonSchemaValueException as error:
        path = (error.name or "data").removeprefix("data").removeprefix(".")
        return Misfit(path, str(error.rule), error.rule_definition, error.value)
    return None


_compiled: dict[str, Callable[[Any], Any]] = {}


@functools.cache
def _validator(name: str) -> Callable[[Any], Any]:
    import fastjsonschema

    schema = json.loads(read_text("schema", f"{name}.schema.json"))
    validator: Callable[[Any], Any] = fastjsonschema.compile(schema, use_default=False)
    return validator

"""From what a model sent to one of the six commands with its parameters, each of the type that it has to have. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.hosts.memory_tool.sentences import CommandError, echo
from gitmem.typed import Any, NamedTuple


class _Field(NamedTuple):
    name: str
    kind: type
    is_needed: bool = True


_COMMANDS: dict[str, tuple[_Field, ...]] = {
    "view": (_Field("path", str), _Field("view_range", list, is_needed=False)),
    "create": (_Field("path", str), _Field("file_text", str)),
    "str_replace": (_Field("path", str), _Field("old_str", str), _Field("new_str", str, is_needed=False)),
    "insert": (_Field("path", str), _Field("insert_line", int), _Field("insert_text", str)),
    "delete": (_Field("path", str),),
    "rename": (_Field("old_path", str), _Field("new_path", str)),
}
NAMES = tuple(_COMMANDS)


def parse_command(command: object) -> tuple[str, dict[str, Any]]:
    """Return the name of a command and its parameters; what else it holds is left out.

    Raises ``CommandError`` that says which parameter is missing or of the wrong type.
    """
    name = command.get("command") if isinstance(command, Mapping) else None
    if not isinstance(command, Mapping) or not isinstance(name, str) or name not in _COMMANDS:
        shown = f" `{echo(name)}`" if isinstance(name, str) else ""
        raise CommandError(f"Error: Unknown command{shown}. Use one of {', '.join(NAMES)}.")
    values: dict[str, Any] = {}
    for field in _COMMANDS[name]:
        value = command.get(field.name)
        if value is None and not field.is_needed:
            continue
        if value is None:
            raise CommandError(f"Error: Missing required parameter `{field.name}` for command `{name}`")
        if not isinstance(value, field.kind) or isinstance(value, bool) or not _is_whole(value):
            raise CommandError(f"Error: Invalid `{field.name}` parameter for command `{name}`: {_describe(field)}")
        values[field.name] = value
    return name, values


def _is_whole(value: object) -> bool:
    """Tell whether a range is two whole numbers, and a text one that can be written."""
    if isinstance(value, list):
        return len(value) == 2 and all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    return not isinstance(value, str) or not any("\ud800" <= char <= "\udfff" for char in value)


def _describe(field: _Field) -> str:
    return {str: "it should be a text", int: "it should be a whole number"}.get(
        field.kind, "it should be [start_line, end_line]"
    )

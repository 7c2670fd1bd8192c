"""The arguments of a call: held to the tool's schema, and turned into what the service takes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from gitmem.errors import InputError
from gitmem.hosts.mcp.tool_table import TOOLS, Tool
from gitmem.model.record import Draft, Kind, State
from gitmem.model.task_report import TaskReport
from gitmem.service.query import Filters
from gitmem.text import make_visible, shorten

MAX_SHOWN_CHARS = 60
_REPORT_PARTS = ("answer", "checks", "uncertainty", "next")
Arguments = Mapping[str, Any]


def check_arguments(tool: Tool, arguments: Any) -> None:
    """Check what a model handed in. Raises ``InputError`` (``bad-arguments``); no value is quoted in it."""
    problem = next(_checker(tool.name).iter_errors(arguments), None)
    if problem is None:
        return
    where = ".".join(str(part) for part in problem.absolute_path) or "the arguments"
    said = _say(problem.validator, problem.validator_value, problem.instance, tool)
    raise InputError("bad-arguments", f"{where}: {said}", f"See the input schema of {tool.name} and call again.")


def read_draft(arguments: Arguments) -> Draft:
    """Return the record that the arguments describe."""
    return Draft(
        title=arguments["title"],
        body=arguments.get("body", ""),
        kind=Kind(arguments["kind"]) if "kind" in arguments else None,
        summary=arguments.get("summary", ""),
        tags=_read_tags(arguments),
        evidence=tuple(arguments.get("evidence", ())),
        key=arguments.get("key"),
    )


def read_observation(arguments: Arguments) -> Draft:
    """Return the record to observe: what ``read_draft`` returns, or the report of a task where the arguments give one.

    Raises ``InputError``: ``bad-arguments`` for a report that is mixed with what only other records have, and what
    ``draft_report`` raises.
    """
    given = [name for name in _REPORT_PARTS if name in arguments]
    if not given:
        return read_draft(arguments)
    odd = [name for name in ("body", "summary") if arguments.get(name)]
    if "answer" not in given or odd or arguments.get("kind", Kind.TASK.value) != Kind.TASK.value:
        message = f"{', '.join([*given, *odd])}: a report has an answer, is of kind task, and has no body or summary"
        raise InputError("bad-arguments", message, "Give a report or another record, and call again.")
    from gitmem.service.task_report import draft_report

    report = TaskReport(
        answer=arguments["answer"],
        evidence=tuple(arguments["evidence"]),
        checks=tuple(arguments.get("checks", ())),
        uncertainty=arguments.get("uncertainty", ""),
        next=arguments.get("next", ""),
    )
    return draft_report(arguments["title"], report, tags=_read_tags(arguments), key=arguments.get("key"))


def read_filters(arguments: Arguments) -> Filters:
    """Return which records the arguments leave."""
    return Filters(
        states=(State(arguments["state"]),) if "state" in arguments else (),
        kinds=(Kind(arguments["kind"]),) if "kind" in arguments else (),
        tags=_read_tags(arguments),
        since=arguments.get("since"),
        until=arguments.get("until"),
    )


def _read_tags(arguments: Arguments) -> tuple[str, ...]:
    return tuple(tag.removeprefix("#") for tag in arguments.get("tags", ()))


@functools.cache
def _checker(name: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(next(tool.takes for tool in TOOLS if tool.name == name))


def _say(rule: str, value: Any, instance: Any, tool: Tool) -> str:
    if rule == "additionalProperties":
        known = tool.takes["properties"]
        odd = shorten(make_visible(next(str(name) for name in instance if name not in known)), MAX_SHOWN_CHARS)
        return f"there is no {odd!r}; there are {', '.join(known) or 'none'}"
    if rule == "required":
        return f"{next(name for name in value if name not in instance)} is missing"
    if rule == "enum":
        return f"one of {', '.join(value)}"
    return _RULES.get(rule, "it does not fit {rule} {value}").format(rule=rule, value=value)


_RULES = {
    "type": "it must be of type {value}",
    "minLength": "it must not be empty",
    "maxLength": "at most {value} characters",
    "minimum": "at least {value}",
    "maximum": "at most {value}",
    "minItems": "at least {value} of them",
    "maxItems": "at most {value} of them",
}

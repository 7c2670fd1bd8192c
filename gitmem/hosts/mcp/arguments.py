"""The arguments of a call: held to the tool's schema, and turned into what the service takes."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.errors import InputError
from gitmem.hosts.mcp.tool_table import Tool
from gitmem.model.record import Draft, Kind, State
from gitmem.model.task_report import TaskReport
from gitmem.service.fits import Misfit, find_misfit
from gitmem.service.query import Filters
from gitmem.text import make_visible, shorten
from gitmem.typed import Any

MAX_SHOWN_CHARS = 60
_REPORT_PARTS = ("answer", "checks", "uncertainty", "next")
Arguments = Mapping[str, Any]


def check_arguments(tool: Tool, arguments: dict[str, Any]) -> Arguments:
    """Return what a model handed in, whole numbers as such. Raises ``InputError`` (``bad-arguments``).

    No value is quoted in the error.
    """
    problem = find_misfit(tool.name, tool.takes, arguments)
    if problem is not None:
        said = _say(problem, tool)
        raise InputError(
            "bad-arguments",
            f"{problem.path or 'the arguments'}: {said}",
            f"See the input schema of {tool.name} and call again.",
        )
    return {name: int(value) if isinstance(value, float) else value for name, value in arguments.items()}


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


def _say(problem: Misfit, tool: Tool) -> str:
    bound, value = problem.bound, problem.value
    if problem.rule == "additionalProperties":
        known = tool.takes["properties"]
        odd = shorten(make_visible(next(str(name) for name in value if name not in known)), MAX_SHOWN_CHARS)
        return f"there is no {odd!r}; there are {', '.join(known) or 'none'}"
    if problem.rule == "required":
        return f"{next(name for name in bound if name not in value)} is missing"
    if problem.rule == "enum":
        return f"one of {', '.join(bound)}"
    return _RULES.get(problem.rule, "it does not fit").format(bound)


_RULES = {
    "type": "it must be of type {}",
    "minLength": "it must not be empty",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
}

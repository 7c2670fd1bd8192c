"""One call, from its name and arguments to a reply, in whatever thread it runs; nothing that goes wrong gets out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitmem.errors import GitmemError
from gitmem.hosts.mcp import reading, writing
from gitmem.hosts.mcp.arguments import Arguments, check_arguments
from gitmem.hosts.mcp.asker import Asker
from gitmem.hosts.mcp.replies import Reply, tell_error, tell_exception
from gitmem.hosts.mcp.tool_table import TOOLS, Tool
from gitmem.model.authority import Actor
from gitmem.service.memory import Memory

_READERS: dict[str, Callable[[Memory, Arguments], Reply]] = {
    "memory_search": reading.search,
    "memory_get": reading.get,
    "memory_context": reading.context,
    "memory_recall": reading.recall,
    "memory_tags": reading.tags,
    "memory_timeline": reading.timeline,
    "memory_status": reading.status,
}
_WRITERS: dict[str, Callable[[Memory, Arguments, Actor], Reply]] = {
    "memory_propose": writing.propose,
    "memory_observe": writing.observe,
}


def find_tool(name: str) -> Tool | None:
    """Return the tool called ``name``, ``None`` where there is none."""
    return next((tool for tool in TOOLS if tool.name == name), None)


def call(tool: Tool, arguments: dict[str, Any], asker: Asker, complain: Callable[[str], None]) -> Reply:
    """Carry ``tool`` out and return the reply; never raises. ``complain`` is told what nobody expected.

    The vault is opened for this call and closed after it: one that was made or mended meanwhile is found.
    """
    return guard(lambda: _call(tool, arguments, asker), complain)


def guard(work: Callable[[], Reply], complain: Callable[[str], None]) -> Reply:
    """Return what ``work`` returns, or the reply that says why it could not."""
    try:
        return work()
    except GitmemError as error:
        return tell_exception(error)
    except OSError as error:
        return tell_exception(GitmemError("system-error", f"the system refused: {error.strerror or error}"))
    except Exception as error:  # noqa: BLE001 - the server must outlive every call
        complain(f"something unexpected happened: {type(error).__name__}")
        hint = "Don't try again; tell the person. `gitmem check` tells whether the vault is whole."
        return tell_error("internal", f"something unexpected happened: {type(error).__name__}", hint)


def _call(tool: Tool, arguments: dict[str, Any], asker: Asker) -> Reply:
    checked = check_arguments(tool, arguments)
    with asker.open_memory() as memory:
        if tool.reads:
            return _READERS[tool.name](memory, checked)
        return _WRITERS[tool.name](memory, checked, asker.actor)

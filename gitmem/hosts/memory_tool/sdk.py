"""The memory tool as the package ``anthropic`` takes it: for its tool runner, in sync and async code."""

from __future__ import annotations

from gitmem.errors import UnavailableError
from gitmem.hosts.async_memory import AsyncMemory
from gitmem.hosts.memory_tool.tool import MemoryTool, ToolResult
from gitmem.typed import Any

try:
    from anthropic.lib.tools import ToolError
    from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
except ImportError:
    raise UnavailableError(
        "no-anthropic",
        "the package anthropic is not installed, or too old",
        "Install gitmem-vault[anthropic], or use MemoryTool by itself.",
    ) from None


def make_sdk_tool(tool: MemoryTool) -> BetaAbstractMemoryTool:
    """Return ``tool`` for ``client.beta.messages.tool_runner(tools=[…])``. It is of one thread, as its memory is."""

    class _Tool(BetaAbstractMemoryTool):  # type: ignore[misc, unused-ignore]
        def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
            return _tell(tool.run(input))

        view = create = str_replace = insert = delete = rename = _run_model

    return _Tool()


def make_async_sdk_tool(memory: AsyncMemory, **settings: Any) -> BetaAsyncAbstractMemoryTool:
    """Return the memory tool over ``memory`` for an async client's tool runner. ``settings`` are ``MemoryTool``'s."""

    class _Tool(BetaAsyncAbstractMemoryTool):  # type: ignore[misc, unused-ignore]
        async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
            return _tell(await memory.run(lambda one: MemoryTool(one, **settings).run(input)))

        view = create = str_replace = insert = delete = rename = _run_model

    return _Tool()


def _run_model(self: Any, command: Any) -> Any:
    """Carry out a command that the SDK has made a model of."""
    return self.call(command.model_dump())


def _tell(result: ToolResult) -> str:
    if result.is_error:
        raise ToolError(result.text)
    return result.text

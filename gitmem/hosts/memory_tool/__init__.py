"""A backend for Anthropic's memory tool (``memory_20250818``): a model's files are records, each change one commit.

``MemoryTool`` needs no SDK; ``make_sdk_tool`` and ``make_async_sdk_tool`` fit it into the one of the package
``anthropic`` (extra ``gitmem-vault[anthropic]``).
"""

from __future__ import annotations

from gitmem.hosts.memory_tool.tool import TOOL, MemoryTool, ToolResult
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.hosts.memory_tool.sdk import make_async_sdk_tool, make_sdk_tool

__all__ = ["TOOL", "MemoryTool", "ToolResult", "make_async_sdk_tool", "make_sdk_tool"]


def __getattr__(name: str) -> object:
    if name in ("make_sdk_tool", "make_async_sdk_tool"):
        from gitmem.hosts.memory_tool import sdk

        return getattr(sdk, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

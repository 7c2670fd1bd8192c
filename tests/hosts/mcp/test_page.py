"""The page on MCP has the tools as they are."""

from __future__ import annotations

import re
from pathlib import Path

from gitmem.hosts.mcp.asker import LOCK_WAIT_S
from gitmem.hosts.mcp.reading import PAGE_CHARS
from gitmem.hosts.mcp.replies import MAX_REPLY_BYTES
from gitmem.hosts.mcp.server import END_S, MAX_READS
from gitmem.hosts.mcp.tool_table import MAX_LIST_BYTES, TOOLS, Tool
from gitmem.hosts.mcp.turns import MAX_WAITING

PAGE = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")


def format_tool(tool: Tool) -> str:
    """Return the row that the page has for a tool."""
    needed = tool.takes.get("required", [])
    names = [f"*`{name}`*" if name in needed else f"`{name}`" for name in tool.takes["properties"]]
    return f"| `{tool.name}` | {tool.description} | {', '.join(names) or 'nothing'} |"


def test_the_page_has_every_tool_as_it_is() -> None:
    assert re.findall(r"^\| `memory_.*\|$", PAGE, re.MULTILINE) == [format_tool(tool) for tool in TOOLS]


def test_the_page_has_the_bounds_that_hold() -> None:
    assert f"less than {MAX_LIST_BYTES:,} bytes" in PAGE
    assert f"longer than {MAX_REPLY_BYTES:,} bytes" in PAGE
    assert f"at most {PAGE_CHARS:,} characters" in PAGE
    assert (MAX_READS, MAX_WAITING, LOCK_WAIT_S, END_S) == (4, 64, 5, 3)
    for said in ("At most four reads and one write run at once, 64 more wait", "at most 5 s", "within 3 s"):
        assert said in PAGE

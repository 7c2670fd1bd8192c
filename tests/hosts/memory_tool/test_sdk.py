"""The memory tool in its real SDK, sync and async, whose tool runner talks to a stand-in for the API."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gitmem import open_async_memory, open_memory
from gitmem.hosts.memory_tool import MemoryTool

from conftest import Desk

anthropic = pytest.importorskip("anthropic")

from gitmem.hosts.memory_tool import make_async_sdk_tool, make_sdk_tool  # noqa: E402 - what it needs may not be there

PATH = "/memories/progress.md"
CALLS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": PATH, "file_text": "# Progress\n\n- read the code\n"},
    {"command": "str_replace", "path": PATH, "old_str": "read the code", "new_str": "wrote the test"},
    {"command": "insert", "path": PATH, "insert_line": 3, "insert_text": "- next: docs\n"},
    {"command": "rename", "old_path": PATH, "new_path": "/memories/done.md"},
    {"command": "view", "path": "/memories/done.md", "view_range": [3, -1]},
    {"command": "delete", "path": "/memories/nothing"},
    {"command": "fly", "path": "/memories"},
]
LISTED = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:"
EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
TOLD = [
    (
        f"{LISTED}\n0B\t/memories",
        False,
    ),
    (f"File created successfully at: {PATH}", False),
    (
        f"{EDITED}\n     1\t# Progress\n     2\t\n     3\t- wrote the test",
        False,
    ),
    (f"The file {PATH} has been edited.", False),
    (f"Successfully renamed {PATH} to /memories/done.md", False),
    (
        "Here's the content of /memories/done.md with line numbers:\n     3\t- wrote the test\n     4\t- next: docs",
        False,
    ),
    ("Error: The path /memories/nothing does not exist", True),
    ("Error: Unknown command `fly`. Use one of view, create, str_replace, insert, delete, rename.", True),
]
"""What is told for each call, and whether it is an error."""


class _Model(BaseHTTPRequestHandler):
    """Asks for one call after the other, then ends its turn. What it was told is kept in ``server.told``, by call.

    A request may bring the whole conversation, or what is new in it, as later versions of the SDK do.
    """

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server: Any = self.server
        server.tools = request.get("tools", server.tools)
        for message in request["messages"]:
            for one in _results(message):
                server.told[one["tool_use_id"]] = (_text(one["content"]), one.get("is_error", False))
        done = server.told
        content: dict[str, Any] = {"type": "text", "text": "Done."}
        if len(done) < len(CALLS):
            content = {"type": "tool_use", "id": f"toolu_{len(done)}", "name": "memory", "input": CALLS[len(done)]}
        answer = {
            "id": f"msg_{len(done)}",
            "type": "message",
            "role": "assistant",
            "model": "stand-in",
            "content": [content],
            "stop_reason": "tool_use" if content["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


def _results(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [] if isinstance(content, str) else [one for one in content if one["type"] == "tool_result"]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(one["text"] for one in content)


@pytest.fixture
def model() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    server.daemon_threads = True
    server.tools, server.told = [], {}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _ask(client: Any, tool: Any) -> Any:
    return client.beta.messages.tool_runner(
        model="stand-in", max_tokens=100, tools=[tool], messages=[{"role": "user", "content": "Go on."}]
    )


def _settings(model: Any) -> dict[str, Any]:
    return {"base_url": f"http://127.0.0.1:{model.server_port}", "api_key": "none", "max_retries": 0}


def test_the_tool_runner_of_the_sdk_keeps_a_models_files_in_a_vault(desk: Desk, model: Any) -> None:
    with open_memory("vault", home=desk.home) as memory, anthropic.Anthropic(**_settings(model)) as client:
        last = _ask(client, make_sdk_tool(MemoryTool(memory))).until_done()
    assert last.content[0].text == "Done."
    assert model.tools == [{"type": "memory_20250818", "name": "memory"}]
    assert list(model.told.values()) == TOLD
    assert desk.commits()[:-1] == ["edit: Progress", "edit: Progress", "edit: Progress", "observe: Progress"]
    desk.judge()


def test_so_does_the_async_one(desk: Desk, model: Any) -> None:
    async def work() -> None:
        opened, asked = open_async_memory("vault", home=desk.home), anthropic.AsyncAnthropic(**_settings(model))
        async with opened as memory, asked as client:
            await _ask(client, make_async_sdk_tool(memory)).until_done()

    asyncio.run(work())
    assert list(model.told.values()) == TOLD
    assert len(desk.commits()) == 5
    desk.judge()


def test_a_command_that_the_sdk_has_read_is_taken_too(desk: Desk) -> None:
    from anthropic.lib.tools import ToolError
    from anthropic.types import beta

    with open_memory("vault", home=desk.home) as memory:
        tool = make_sdk_tool(MemoryTool(memory))
        wanted = beta.BetaMemoryTool20250818CreateCommand(command="create", path=PATH, file_text="x")
        assert tool.execute(wanted) == f"File created successfully at: {PATH}"
        with pytest.raises(ToolError, match="already exists"):
            tool.create(wanted)
        assert tool.view(beta.BetaMemoryTool20250818ViewCommand(command="view", path=PATH)).endswith("     1\tx")


def test_the_example_of_the_page_is_what_type_checkers_take(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "memory-tool.md").read_text()
    example = tmp_path / "example.py"
    example.write_text("from anthropic" + page.split("```\nfrom anthropic", 1)[1].split("```", 1)[0])
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*command, "--follow-imports", "silent", str(example)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.stdout == "Success: no issues found in 1 source file\n"

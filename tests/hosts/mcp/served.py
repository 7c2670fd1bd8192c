"""The real server in a process of its own: spoken to by the SDK's client, or line by line without any."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

from gitmem.hosts.mcp.calls import find_tool

COMMAND = ["-P", "-m", "gitmem", "mcp"]
PATIENCE_S = 60
T = TypeVar("T")
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def environ(home: str | Path, **more: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "GITMEM_HOME": str(home), **more}


def connect(
    home: str | Path,
    folder: str | Path,
    *args: str,
    mode: str = "auto",
    env: dict[str, str] | None = None,
    **options: Any,
) -> AbstractAsyncContextManager[Client]:
    """Return the SDK's client with a server of its own in ``folder``."""
    started = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, *args], env=environ(home, **(env or {})), cwd=str(folder)
    )
    return Client(stdio_client(started), mode=mode, **options)


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run an asynchronous test, with an end to its patience."""

    async def bounded() -> T:
        return await asyncio.wait_for(work(), PATIENCE_S)

    return asyncio.run(bounded())


def fits(name: str, result: CallToolResult) -> dict[str, Any]:
    """Return the values that a tool returned, after checking them against the schema that it promised."""
    tool = find_tool(name)
    assert tool is not None
    assert not result.is_error, result.content
    assert result.structured_content is not None
    Draft202012Validator(tool.returns).validate(result.structured_content)
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    return content.text  # type: ignore[union-attr]


@dataclass
class Raw:
    """A server that is sent bytes."""

    home: str
    folder: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *COMMAND, *self.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=environ(self.home, **self.env),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def tell(self, message: dict[str, Any]) -> None:
        self.send(json.dumps(message).encode() + b"\n")

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def greet(self) -> Any:
        self.tell(HELLO)
        said = self.hear()
        self.tell(READY)
        return said

    def ask(self, number: int, method: str, **params: Any) -> Any:
        self.tell({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.hear()

    def call(self, number: int, tool: str, **arguments: Any) -> Any:
        return self.ask(number, "tools/call", name=tool, arguments=arguments)

    def end_by_itself(self) -> tuple[int, str, str]:
        """Wait for the end, with standard input open; return the exit code and what else was said."""
        code = self.process.wait(PATIENCE_S)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        return code, self.process.stdout.read().decode(), self.process.stderr.read().decode()

    def end(self) -> tuple[int, str, str]:
        """Close standard input; return the exit code and what else was said."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out.decode(), err.decode()


def peak_rss_kib(pid: int) -> int:
    with open(f"/proc/{pid}/status", encoding="ascii") as opened:
        return next(int(line.split()[1]) for line in opened if line.startswith("VmHWM:"))


HAS_PROC = os.path.isdir("/proc/self")

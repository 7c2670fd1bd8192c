"""The lines between client and server: read and written within bounds, by threads that nothing has to wait for.

The SDK has a transport of its own for standard input and output. It takes a line of any length into memory, says
nothing to a line that is no message, and while it reads keeps the process from ending; this one does none of that.
Nothing but the protocol reaches standard output: what else is printed goes to standard error.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import os
import queue
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

MAX_LINE_BYTES = 1 << 20
"""The longest message that is read. The largest record that a tool takes needs an eighth of it."""
END_S = 3.0
"""Once the client has gone, or the process is told to end: how long what was begun may take to finish."""
_CHUNK_BYTES = 1 << 16

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


class _TooLongError(Exception):
    """A line that is longer than a message may be."""


@contextlib.asynccontextmanager
async def open_wire() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Give the streams of messages from and to the client while the block runs.

    The first ends when standard input does, or when SIGINT, SIGTERM or SIGHUP says so. The process then ends within
    ``END_S``, whatever still runs: what was not finished by then is for the next operation to settle, as after a crash.
    """
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    source, sink = _take_standard_streams()
    writer = _Writer(sink)
    async with anyio.create_task_group() as tasks:
        reader = _Reader(source, writer, to_server)
        with _signals(reader.stop):
            tasks.start_soon(reader.run)
            tasks.start_soon(_write_all, to_client, writer, reader)
            yield incoming, outgoing
        tasks.cancel_scope.cancel()


class _Reader:
    """Reads lines in a thread of its own and hands them on as messages, one at a time."""

    def __init__(self, source: int, writer: _Writer, to_server: MemoryObjectSendStream[Any]) -> None:
        self._source, self._writer, self._to_server = source, writer, to_server
        self._stopped = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """End the stream of messages; from now on the process has ``END_S`` left."""
        if not self._stopped.is_set():
            self._stopped.set()
            timer = threading.Timer(END_S, os._exit, (0,))
            timer.daemon = True
            timer.start()

    async def run(self) -> None:
        """Hand messages on until there are no more. The thread that reads is left behind where it waits."""
        threading.Thread(target=self._read, daemon=True).start()
        await self._stopped.wait()
        await self._to_server.aclose()

    def _read(self) -> None:
        with contextlib.suppress(OSError, RuntimeError, concurrent.futures.CancelledError):
            for line in _iter_lines(self._source):
                asyncio.run_coroutine_threadsafe(self._hand_on(line), self._loop).result()
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.stop)

    async def _hand_on(self, line: bytes | _TooLongError) -> None:
        if isinstance(line, _TooLongError):
            await self._refuse(types.INVALID_REQUEST, f"a message has at most {MAX_LINE_BYTES} bytes")
            return
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            await self._refuse(*_find_fault(line))
            return
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_server.send(SessionMessage(message))

    async def _refuse(self, code: int, message: str, request_id: str | int | None = None) -> None:
        error = types.ErrorData(code=code, message=message)
        told = types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        if not await self._writer.write(_format(told)):
            self.stop()


class _Writer:
    """Writes lines in a thread of its own, so that a client that does not read them keeps nothing from ending."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._waiting: queue.SimpleQueue[tuple[bytes, concurrent.futures.Future[bool]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    async def write(self, line: bytes) -> bool:
        """Write one line and return whether the client could take it."""
        done: concurrent.futures.Future[bool] = concurrent.futures.Future()
        self._waiting.put((line, done))
        return await asyncio.wrap_future(done)

    def _run(self) -> None:
        while True:
            line, done = self._waiting.get()
            is_written = _write(self._sink, line)
            with contextlib.suppress(concurrent.futures.InvalidStateError):  # nobody waits any more
                done.set_result(is_written)


async def _write_all(to_client: MemoryObjectReceiveStream[SessionMessage], writer: _Writer, reader: _Reader) -> None:
    async for message in to_client:
        if not await writer.write(_format(message.message)):
            reader.stop()


def _format(message: types.JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8", "replace") + b"\n"


def _find_fault(line: bytes) -> tuple[int, str, str | int | None]:
    """Return the error for a line that is no message: its code, what is said, and the id of the request, if any."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return types.PARSE_ERROR, "a message is one line of JSON in UTF-8", None
    named = found.get("id") if isinstance(found, dict) else None
    is_id = isinstance(named, str | int) and not isinstance(named, bool)
    return types.INVALID_REQUEST, "this is no JSON-RPC message", named if is_id else None


def _iter_lines(source: int) -> Iterator[bytes | _TooLongError]:
    """Yield the lines of ``source`` that aren't blank; the error in place of one that is too long."""
    line, is_too_long = b"", False
    while chunk := os.read(source, _CHUNK_BYTES):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if is_too_long or len(line) + len(part) > MAX_LINE_BYTES:
                yield _TooLongError()
            elif (line + part).strip():
                yield line + part
            line, is_too_long = b"", False
        is_too_long = is_too_long or len(line) + len(rest) > MAX_LINE_BYTES
        line = b"" if is_too_long else line + rest


def _write(sink: int, data: bytes) -> bool:
    try:
        while data:
            data = data[os.write(sink, data) :]
    except OSError:
        return False
    return True


def _take_standard_streams() -> tuple[int, int]:
    """Return descriptors of standard input and output that nobody else in the process has."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink


@contextlib.contextmanager
def _signals(stop: Any) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    try:
        for name in names:
            loop.add_signal_handler(getattr(signal, name), stop)
    except NotImplementedError:  # Windows: there a process is ended without being asked
        names = []
    try:
        yield
    finally:
        for name in names:
            loop.remove_signal_handler(getattr(signal, name))

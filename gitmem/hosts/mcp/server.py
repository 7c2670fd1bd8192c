"""The server: messages in, lines out, calls in threads. Touches no vault by itself."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial

from gitmem.clock import SystemClock
from gitmem.hosts.mcp import listing, pages
from gitmem.hosts.mcp.asker import Asker, Session, pick_folder
from gitmem.hosts.mcp.calls import call, find_tool, guard
from gitmem.hosts.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Message,
    RefusedError,
    RequestId,
    client_of,
    find_client_name,
    format_error,
    format_message,
    format_result,
    parse_message,
    pick_version,
    read_envelope,
    refuse_method,
)
from gitmem.hosts.mcp.replies import Reply
from gitmem.hosts.mcp.tool_table import MAX_PROMPT_CHARS
from gitmem.hosts.mcp.turns import MAX_WAITING, Job, Turns
from gitmem.hosts.mcp.wire import MAX_LINE_BYTES, Writer, iter_lines, take_standard_streams
from gitmem.service.memory import Memory
from gitmem.text import make_visible, one_line, quote, shorten
from gitmem.typed import Any

END_S = 3.0
"""Once the client has gone, or the process is told to end: how long what was begun may take to finish."""
MAX_READS = 4
ROOTS_WAIT_S = 2.0
MAX_LOG_LINES = 200
_MAX_LOG_CHARS = 500
_CLOCK = SystemClock()
_ROOTS = "gitmem-roots"
Make = Callable[[Asker], Message]


def serve(session: Session) -> None:
    """Serve one client over standard input and output until it goes, or SIGINT, SIGTERM or SIGHUP says so.

    What was begun then has ``END_S`` to finish; what waits is not begun. If something takes longer, the process ends
    all the same: the next operation settles it, as after a crash.
    """
    source, sink = take_standard_streams()
    with _holds_signals() as numbers:
        server = Server(session, sink)
        threading.Thread(target=_end_on_signal, args=(numbers, server), daemon=True).start()
        with contextlib.suppress(OSError):
            for line in iter_lines(source):
                server.take(line)
        if not server.end():
            os._exit(0)


class Server:
    """One client. ``take`` is called by one thread alone; calls answer from their own."""

    def __init__(self, session: Session, sink: int) -> None:
        self._session = session
        self._writer = Writer(sink, self.give_up)
        self._reads, self._writes = Turns(MAX_READS), Turns(1)
        self._jobs: dict[RequestId, Job] = {}
        self._client = ""
        self._roots = _Roots(self._writer.send)
        self._lines_left = MAX_LOG_LINES

    def take(self, line: bytes | None) -> None:
        """Serve one line, ``None`` for one that is too long. Never raises for what a client sent."""
        try:
            if line is None:
                raise RefusedError(INVALID_REQUEST, f"a message has at most {MAX_LINE_BYTES} bytes")
            message = parse_message(line)
        except RefusedError as error:
            self._writer.send(format_error(error))
            return
        params = message.get("params") or {}
        if "method" not in message:
            self._roots.hear(message)
        elif "id" not in message:
            self._note(message["method"], params)
        else:
            try:
                self._serve(message["id"], message["method"], params)
            except RefusedError as error:
                error.request_id = message["id"]
                self._writer.send(format_error(error))

    def end(self) -> bool:
        """Let what was begun finish, write what is to be said, and begin nothing more; return whether that is done."""
        end_s = _CLOCK.monotonic_s() + END_S
        self._reads.close()
        self._writes.close()
        is_done = all(turns.wait(max(0, end_s - _CLOCK.monotonic_s())) for turns in (self._writes, self._reads))
        return self._writer.end(max(0, end_s - _CLOCK.monotonic_s())) and is_done

    def give_up(self) -> None:
        """End the process: nobody hears it any more."""
        self._reads.close()
        self._writes.close()
        self._writes.wait(END_S)
        os._exit(0)

    def _note(self, method: str, params: Message) -> None:
        if method == "notifications/cancelled":
            named = params.get("requestId")
            job = self._jobs.get(named) if isinstance(named, str | int) else None
            if job is not None:
                job.is_cancelled = True
        elif method == "notifications/roots/list_changed":
            self._roots.forget()

    def _serve(self, request_id: RequestId, method: str, params: Message) -> None:
        envelope = read_envelope(params)
        if envelope is None and method == "initialize":
            self._client = find_client_name(params.get("clientInfo"))
            self._roots.can_be_asked = _offers_roots(params.get("capabilities"))
            version = pick_version(params.get("protocolVersion"))
            self._answer(request_id, method, listing.answer_handshake(version), is_modern=False)
            return
        is_modern = envelope is not None
        client = self._client if envelope is None else client_of(envelope)
        if (known := listing.LISTS.get(method)) is not None:
            self._answer(request_id, method, known, is_modern=is_modern)
            return
        make, reads = self._plan(method, params)

        def work(job: Job) -> None:
            try:
                result = make(self._find_asker(client, is_modern=is_modern))
                if not job.is_cancelled:
                    self._answer(request_id, method, result, is_modern=is_modern)
            except RefusedError as error:
                error.request_id = request_id
                self._writer.send(format_error(error))
            except Exception as error:  # noqa: BLE001 - the thread must outlive every call
                self._complain(f"something unexpected happened: {type(error).__name__}")
                self._writer.send(format_error(RefusedError(INTERNAL_ERROR, "Internal error", request_id)))
            finally:
                if self._jobs.get(request_id) is job:
                    del self._jobs[request_id]

        self._begin(request_id, Job(work), self._reads if reads else self._writes)

    def _begin(self, request_id: RequestId, job: Job, turns: Turns) -> None:
        self._jobs[request_id] = job
        if not turns.add(job):
            del self._jobs[request_id]
            message = f"{MAX_WAITING} calls wait already; call again when some have ended"
            raise RefusedError(INVALID_REQUEST, message)

    def _plan(self, method: str, params: Message) -> tuple[Make, bool]:
        """Return what makes the result of a request, and whether it only reads. Raises ``RefusedError``."""
        if method == "tools/call":
            return self._plan_tool(params)
        if method == "resources/read":
            uri = _take_text(params, "uri")
            return (lambda asker: _as_resource(uri, self._read(asker, partial(pages.read_resource, uri=uri)))), True
        if method == "prompts/get":
            return self._plan_prompt(params), True
        raise refuse_method(method)

    def _plan_tool(self, params: Message) -> tuple[Make, bool]:
        name = _take_text(params, "name")
        tool = find_tool(name)
        arguments = params.get("arguments")
        if tool is None:
            raise RefusedError(INVALID_PARAMS, f"there is no tool {quote(shorten(name, 60))}")
        if not isinstance(arguments, dict | None):
            raise RefusedError(INVALID_PARAMS, "arguments must be an object")
        return (lambda asker: _as_result(call(tool, arguments or {}, asker, self._complain))), tool.reads

    def _plan_prompt(self, params: Message) -> Make:
        name, given = _take_text(params, "name"), params.get("arguments") or {}
        if name == pages.REPORT:
            return lambda _asker: _as_prompt(pages.REPORT_TEXT)
        about = given.get("about") if isinstance(given, dict) else None
        if name != pages.RECALL or not isinstance(about, str) or not 0 < len(about.strip()) <= MAX_PROMPT_CHARS:
            raise RefusedError(INVALID_PARAMS, "name the prompt recall, with its argument about, or report")
        return lambda asker: _as_prompt(self._read(asker, partial(pages.read_prompt, about=about)).text)

    def _read(self, asker: Asker, read: Callable[[Memory], Reply]) -> Reply:
        def work() -> Reply:
            with asker.open_memory() as memory:
                return read(memory)

        return guard(work, self._complain)

    def _find_asker(self, client: str, *, is_modern: bool) -> Asker:
        knows_folder = is_modern or self._session.named or self._session.environment.project
        return self._session.make_asker(client, "" if knows_folder else self._roots.find_folder())

    def _answer(self, request_id: RequestId, method: str, result: Message, *, is_modern: bool) -> None:
        self._writer.send(format_result(request_id, method, result, listing.SERVER, is_modern=is_modern))

    def _complain(self, text: str) -> None:
        """Write a line to standard error, while there are any left. It holds nothing of what is remembered."""
        self._lines_left -= 1
        if self._lines_left >= 0:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(shorten(one_line(make_visible(f"gitmem mcp: {text}")), _MAX_LOG_CHARS) + "\n")
                sys.stderr.flush()


class _Roots:
    """The folder that a client says it works in. It is asked once, and again when it says that something changed."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self.can_be_asked = False
        self._send = send
        self._asking = threading.Lock()
        self._heard = threading.Event()
        self._folder: str | None = None
        self._uris: list[str] = []

    def find_folder(self) -> str:
        """Return the folder, empty where the client names none within ``ROOTS_WAIT_S``."""
        if not self.can_be_asked:
            return ""
        with self._asking:
            if self._folder is None:
                self._heard.clear()
                self._send(format_message({"id": _ROOTS, "method": "roots/list"}))
                self._folder = pick_folder(self._uris) if self._heard.wait(ROOTS_WAIT_S) else ""
            return self._folder

    def hear(self, message: Message) -> None:
        """Take a client's answer."""
        if message.get("id") != _ROOTS:
            return
        result = message.get("result")
        roots = result.get("roots") if isinstance(result, dict) else None
        named = [one.get("uri") for one in roots if isinstance(one, dict)] if isinstance(roots, list) else []
        self._uris = [uri for uri in named if isinstance(uri, str)]
        self._heard.set()

    def forget(self) -> None:
        """Ask again when the folder is needed next."""
        self._folder = None


def _offers_roots(capabilities: Any) -> bool:
    return isinstance(capabilities, dict) and isinstance(capabilities.get("roots"), dict)


def _take_text(params: Message, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise RefusedError(INVALID_PARAMS, f"{name} must be a string")
    return value


def _as_result(reply: Reply) -> Message:
    structured = {} if reply.failed else {"structuredContent": reply.data}
    return {"content": [{"type": "text", "text": reply.text}], **structured, "isError": reply.failed}


def _as_resource(uri: str, reply: Reply) -> Message:
    if reply.failed:
        raise RefusedError(INVALID_PARAMS, reply.text)
    return {"contents": [{"uri": uri, "mimeType": pages.MIME_TYPE, "text": reply.text}]}


def _as_prompt(text: str) -> Message:
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


@contextlib.contextmanager
def _holds_signals() -> Iterator[list[signal.Signals]]:
    """Give the signals that tell the process to end, and keep them from every thread of it in the block.

    On Windows none: there a process is ended without being told.
    """
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if hasattr(signal, "pthread_sigmask") else []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers) if numbers else set()
    try:
        yield numbers
    finally:
        if numbers:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_on_signal(numbers: list[signal.Signals], server: Server) -> None:
    # A handler would not do: one that comes just before the main thread begins to read would wait for the next line.
    if numbers:
        signal.sigwait(numbers)
        server.end()
        os._exit(0)

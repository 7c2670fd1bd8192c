"""A stand-in for the models' APIs on this machine, so that the hosts' real programs run with nobody else asked.

It answers with the turns that it was told, in order, and keeps every request, so that a test sees what reached a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Json = dict[str, Any]
TOOL_SEARCH = "tool_search"
"""The tool of the Responses API by which a model looks for tools that it was not given."""


@dataclass(frozen=True)
class Call:
    """A turn in which the model calls the tool ``name`` with ``given``."""

    name: str
    given: Json


@dataclass
class Until:
    """A turn that is ``call`` again and again, ``most`` times at most, until a request holds ``text``."""

    call: Call
    text: str
    most: int = 100


Turn = str | Call | Until


@dataclass
class Standin:
    """The requests that came, and the turns that are still to be answered with; after these every answer is "ok"."""

    url: str = ""
    turns: list[Turn] = field(default_factory=list)
    requests: list[Json] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    @property
    def asked(self) -> list[Json]:
        """The requests that offer tools: those of the conversation. Hosts ask beside it, for a title and the like."""
        return [body for body in self.requests if _has_tools(body)]

    def take_turn(self, body: Json) -> str | Call:
        """Keep the request ``body`` and return what to answer it with."""
        body.pop(_BESIDE, None)
        with self.lock:
            self.requests.append(body)
            if not _has_tools(body):
                return "ok"
            while self.turns and isinstance(waiting := self.turns[0], Until):
                waiting.most -= 1
                if waiting.most >= 0 and waiting.text not in json.dumps(body):
                    return waiting.call
                self.turns.pop(0)
            turn = self.turns.pop(0) if self.turns else "ok"
            assert not isinstance(turn, Until)
            return turn


@contextmanager
def serve_models() -> Iterator[Standin]:
    """Serve on a port of the system's choice until the block ends."""
    standin = Standin()

    class Bound(_Handler):
        models = standin

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    server.daemon_threads = True
    standin.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_BESIDE = "dsh_session_log"
"""DeepSeek Harness hands the log of the session over with a request; that is not what the model reads."""


def _has_tools(body: Json) -> bool:
    return bool(body.get("tools"))


class _Handler(BaseHTTPRequestHandler):
    models: Standin
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self._send(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/messages/count_tokens"):
            self._send(b'{"input_tokens": 10}', "application/json")
            return
        form = next((form for ending, form in _FORMS.items() if path.endswith(ending)), None)
        if form is None:
            self._send(b"{}", "application/json")
            return
        turn = self.models.take_turn(body)
        whole, events = form(turn, len(self.models.requests))
        if body.get("stream") or "stream" in path:
            self._send(_format_events(events), "text/event-stream")
        else:
            self._send(json.dumps(whole).encode(), "application/json")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


Answer = tuple[Json, Iterable[Mapping[str, Any]]]
"""An answer as one document, and as the events in which it is streamed."""


def _format_events(events: Iterable[Mapping[str, Any]]) -> bytes:
    lines = (
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n" for event in events
    )
    return "".join(lines).encode()


def _answer_messages(turn: str | Call, number: int) -> Answer:
    if isinstance(turn, Call):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": turn.name, "input": turn.given}
        opened = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.given)}
        reason = "tool_use"
    else:
        block = {"type": "text", "text": turn}
        opened = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn}
        reason = "end_turn"
    used = {"input_tokens": 10, "output_tokens": 5}
    begun = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "stand-in", "content": []}
    begun |= {"stop_reason": None, "stop_sequence": None, "usage": used}
    events = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": used},
        {"type": "message_stop"},
    ]
    return begun | {"content": [block], "stop_reason": reason}, events


def _answer_responses(turn: str | Call, number: int) -> Answer:
    if isinstance(turn, Call):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
        item |= {"name": turn.name, "arguments": json.dumps(turn.given)}
        if turn.name == TOOL_SEARCH:
            item |= {"type": "tool_search_call", "execution": "client", "arguments": turn.given}
            del item["name"]
    else:
        content = [{"type": "output_text", "text": turn, "annotations": []}]
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        item |= {"content": content}
    used = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    done = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": used}
    events = [
        {"type": "response.created", "response": done | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    return done, events


def _answer_chat(turn: str | Call, number: int) -> Answer:
    if isinstance(turn, Call):
        function = {"name": turn.name, "arguments": json.dumps(turn.given)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        message: Json = {"role": "assistant", "content": None, "tool_calls": [call]}
        reason = "tool_calls"
    else:
        message, reason = {"role": "assistant", "content": turn}, "stop"
    used = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    base = {"id": f"chat_{number}", "created": 0, "model": "stand-in", "usage": used}
    part = base | {"object": "chat.completion.chunk"}
    events = [
        part | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        part | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return base | {"object": "chat.completion", "choices": [choice]}, events


def _answer_gemini(turn: str | Call, _number: int) -> Answer:
    part = {"functionCall": {"name": turn.name, "args": turn.given}} if isinstance(turn, Call) else {"text": turn}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    used = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    whole = {"candidates": [candidate], "usageMetadata": used}
    return whole, [whole]


_FORMS = {
    "/messages": _answer_messages,
    "/responses": _answer_responses,
    "/chat/completions": _answer_chat,
    ":generateContent": _answer_gemini,
    ":streamGenerateContent": _answer_gemini,
}

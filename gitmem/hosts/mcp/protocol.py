"""The protocol as far as a server of tools needs it: messages, versions, and the form of what is answered. Pure.

JSON-RPC 2.0, one message a line, in both eras of the Model Context Protocol: with a handshake (2024-11-05 to
2025-11-25), and with an envelope in each request's ``_meta`` (2026-07-28). The SDK's client is the judge, in the tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from gitmem.text import make_visible, shorten
from gitmem.typed import Any

Message = dict[str, Any]
RequestId = str | int

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_SERVER = "io.modelcontextprotocol/serverInfo"
_CACHEABLE = frozenset(
    ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list")
)
_MAX_SHOWN_CHARS = 60
_SURROGATE = re.compile("[\ud800-\udfff]")


class RefusedError(Exception):
    """A message that can't be served, as the client is told: a code of JSON-RPC, one line, and the request it is of."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.request_id, self.data = code, message, request_id, data


def parse_message(line: bytes) -> Message:
    """Return the message on one line. Raises ``RefusedError``."""
    try:
        found = json.loads(line.decode("utf-8"))
        has_half = b"\\u" in line and _has_half_character(found)
    except (ValueError, RecursionError):
        raise RefusedError(PARSE_ERROR, "a message is one line of JSON in UTF-8") from None
    if not isinstance(found, dict):
        raise RefusedError(INVALID_REQUEST, "this is no JSON-RPC message")
    named = found.get("id")
    request_id = named if isinstance(named, str | int) and not isinstance(named, bool) else None
    if has_half:
        # Under its id, where that is whole: who waits for an answer would wait for long.
        told_id = None if _has_half_character(request_id) else request_id
        raise RefusedError(INVALID_PARAMS, "a text holds half a character: a surrogate without its other", told_id)
    is_request = isinstance(found.get("method"), str) and isinstance(found.get("params", {}), dict)
    is_response = "method" not in found and ("result" in found or "error" in found)
    has_fit_id = "id" not in found or request_id is not None
    if found.get("jsonrpc") != "2.0" or not has_fit_id or not (is_request or is_response):
        raise RefusedError(INVALID_REQUEST, "this is no JSON-RPC message", request_id)
    return found


def _has_half_character(value: Any) -> bool:
    return _SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None


def read_envelope(params: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the envelope of a request of the era without handshake, ``None`` for one of the other.

    Raises ``RefusedError`` for one that is not whole, and for a version that nobody here speaks.
    """
    meta = params.get("_meta")
    if not isinstance(meta, dict) or _VERSION not in meta:
        return None
    if meta[_VERSION] not in MODERN_VERSIONS:
        requested = shorten(make_visible(str(meta[_VERSION])), _MAX_SHOWN_CHARS)
        data = {"supported": [*MODERN_VERSIONS], "requested": requested}
        raise RefusedError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    if not isinstance(meta.get(_CAPABILITIES), dict):
        raise RefusedError(INVALID_PARAMS, f"params._meta is missing {_CAPABILITIES}")
    return meta


def find_client_name(info: Any) -> str:
    """Return what a client calls itself, empty where it does not. ``info`` is its ``clientInfo``."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def client_of(envelope: Mapping[str, Any]) -> str:
    """Return what the client of ``envelope`` calls itself."""
    return find_client_name(envelope.get(_CLIENT))


def pick_version(requested: Any) -> str:
    """Return the version for a handshake: the client's own if it is known, else the latest that has a handshake."""
    return requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def format_result(request_id: RequestId, method: str, result: Message, server: Message, *, is_modern: bool) -> bytes:
    """Return the line that answers ``method`` with ``result``; in the era without handshake with what belongs to it."""
    if is_modern:
        cached = {"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {}
        result = {**result, **cached, "resultType": "complete", "_meta": {_SERVER: server}}
    return format_message({"id": request_id, "result": result})


def format_error(error: RefusedError) -> bytes:
    """Return the line that refuses a message."""
    told: Message = {"code": error.code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    return format_message({"id": error.request_id, "error": told})


def format_message(message: Message) -> bytes:
    """Return ``message`` as one line of JSON-RPC."""
    text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def refuse_method(method: str) -> RefusedError:
    """Return the error for a method that is not served."""
    return RefusedError(METHOD_NOT_FOUND, "Method not found", data=shorten(make_visible(method), _MAX_SHOWN_CHARS))

"""The server against clients that break the rules, stop listening or die; spoken to in bytes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from hosts.mcp.served import HAS_PROC, HELLO, Raw, peak_rss_kib

from gitmem.hosts.mcp.server import END_S
from gitmem.hosts.mcp.wire import MAX_LINE_BYTES
from gitmem.model.authority import Actor
from gitmem.service.memory import Memory

from conftest import Desk, draft


def test_nothing_but_the_protocol_is_on_standard_output_and_no_vault_is_touched(tmp_path: Path) -> None:
    with Raw(str(tmp_path / "home"), str(tmp_path)) as server:
        said = server.greet()
        assert said["result"]["protocolVersion"] == "2025-06-18"
        assert said["result"]["serverInfo"]["name"] == "gitmem"
        assert "Never record secrets." in said["result"]["instructions"]
        assert len(server.ask(1, "tools/list")["result"]["tools"]) == 9
        assert server.ask(2, "ping")["result"] == {}
        assert server.end() == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not HAS_PROC, reason="looks into /proc")
def test_a_home_that_cannot_be_read_keeps_nothing_from_starting(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("no folder at all")
    with Raw(str(home), str(tmp_path)) as server:
        server.greet()
        assert len(server.ask(1, "tools/list")["result"]["tools"]) == 9
        opened = [
            os.readlink(f"/proc/{server.process.pid}/fd/{name}")
            for name in os.listdir(f"/proc/{server.process.pid}/fd")
        ]
        assert [path for path in opened if path.startswith(str(tmp_path))] == []
        answer = server.call(2, "memory_context")["result"]
        assert answer["isError"] is True
        assert answer["content"][0]["text"].startswith("error ")
        assert server.end()[0] == 0


BAD_LINES: list[tuple[bytes, int, Any]] = [
    (b"{", -32700, None),
    (b"\xff\xfe\x00", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"null", -32600, None),
    (b"[]", -32600, None),
    (b'{"jsonrpc": "2.0", "id": 5, "method": 7}', -32600, 5),
    (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', -32600, "a"),
    (b'{"id": true, "method": "ping"}', -32600, None),
    (rb'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"x": "\ud800"}}', -32602, 4),
    (rb'{"jsonrpc": "2.0", "id": "\udfff", "method": "ping"}', -32602, None),
    (b'"' + b"x" * MAX_LINE_BYTES + b'"', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 6, "method": "tools/steal"}', -32601, 6),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 3}}', -32602, 7),
    (
        b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "memory_promote", "arguments": {}}}',
        -32602,
        8,
    ),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": []}', -32600, 9),
    (b'{"jsonrpc": "2.0", "id": 10, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}', -32602, 10),
    (
        b'{"jsonrpc": "2.0", "id": 11, "method": "prompts/get", "params": {"name": "x", "arguments": {"about": 4}}}',
        -32602,
        11,
    ),
]

BAD_ENVELOPES: list[tuple[dict[str, Any], int]] = [
    ({"protocolVersion": "2027-01-01", "clientCapabilities": {}}, -32022),
    ({"protocolVersion": 5, "clientCapabilities": {}}, -32022),
    ({"protocolVersion": "2026-07-28"}, -32602),
    ({"protocolVersion": "2026-07-28", "clientCapabilities": []}, -32602),
]


def test_an_envelope_that_is_not_whole_or_of_another_version_is_refused(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        for number, (envelope, code) in enumerate(BAD_ENVELOPES):
            meta = {f"io.modelcontextprotocol/{name}": value for name, value in envelope.items()}
            assert server.ask(number, "tools/list", _meta=meta)["error"]["code"] == code
        good = {"protocolVersion": "2026-07-28", "clientCapabilities": {}, "clientInfo": [1]}
        meta = {f"io.modelcontextprotocol/{name}": value for name, value in good.items()}
        assert server.ask(9, "tools/list", _meta=meta)["result"]["resultType"] == "complete"


def test_a_client_that_does_not_say_where_it_works_is_waited_for_once_and_not_long(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        hello = json.loads(json.dumps(HELLO))
        hello["params"]["capabilities"] = {"roots": {"listChanged": True}}
        server.tell(hello)
        server.hear()
        for number in (1, 2):
            params = {"name": "memory_status", "arguments": {}}
            server.tell({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        assert server.hear() == {"jsonrpc": "2.0", "id": "gitmem-roots", "method": "roots/list"}
        answers = [server.hear(), server.hear()]
        assert sorted(answer["id"] for answer in answers) == [1, 2]
        assert [answer["result"]["structuredContent"]["status"] for answer in answers] == ["ok", "ok"]
        server.tell({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        server.tell({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
        assert server.hear()["method"] == "roots/list"
        server.tell({"jsonrpc": "2.0", "id": "gitmem-roots", "result": {"roots": [{"uri": 3}, 4, {"uri": "file:///"}]}})
        assert server.hear()["result"]["isError"] is True


def test_lines_that_are_no_requests_are_refused_and_the_next_is_answered(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        for number, (line, code, named) in enumerate(BAD_LINES, 100):
            server.send(line + b"\n")
            refusal = server.hear()
            assert (refusal["error"]["code"], refusal["id"]) == (code, named), line[:80]
            assert len(json.dumps(refusal)) < 500
            assert server.ask(number, "ping")["id"] == number
        server.send(b"\n \n\r\n" + b'{"jsonrpc": "2.0", "method": "notifications/unheard-of"}\n')
        server.send(b'{"jsonrpc": "2.0", "id": 99, "result": {}}\n')
        assert server.ask(1, "ping")["id"] == 1
        code, out, err = server.end()
        assert (code, out) == (0, "")
        assert len(err) < 20_000


@pytest.mark.skipif(not HAS_PROC, reason="looks into /proc")
def test_a_line_without_end_costs_no_memory(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        before = peak_rss_kib(server.process.pid)
        for _ in range(64):
            server.send(b"x" * (1 << 20))
        server.send(b"\n")
        assert server.hear()["error"]["code"] == -32600
        assert peak_rss_kib(server.process.pid) - before < 16 << 10
        assert server.ask(1, "ping")["id"] == 1


def test_a_line_may_come_in_pieces_and_several_at_once(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        for piece in (
            b'{"jsonrpc": "2.0", ',
            b'"id": 1, "method"',
            b': "ping"}\n{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n',
        ):
            server.send(piece)
        assert [server.hear()["id"], server.hear()["id"]] == [1, 2]


def test_wrong_arguments_are_told_without_their_values(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        for number, (arguments, said) in enumerate(
            (
                ({}, "the arguments: query is missing"),
                ({"query": 3}, "query: it must be of type string"),
                ({"query": "x" * 1001}, "query: at most 1000 characters"),
                ({"query": "x", "limit": 0}, "limit: at least 1"),
                ({"query": "x", "limit": True}, "limit: it must be of type integer"),
                ({"query": "x", "kind": "secret-thing"}, "kind: one of boundary, preference, goal, state, "),
                ({"query": "x", "tags": ["a", 4]}, "tags[1]: it must be of type string"),
                ({"query": "x", "scope\u202e": 1}, r"the arguments: there is no 'scope\\u{202e}'; there are query, "),
            ),
            1,
        ):
            answer = server.call(number, "memory_search", **arguments)["result"]
            assert answer["isError"] is True
            assert "structuredContent" not in answer
            assert f"error bad-arguments: {said}" in answer["content"][0]["text"]


def test_a_cancelled_write_is_whole_and_one_that_waited_was_not_begun(desk: Desk, memory: Memory, agent: Actor) -> None:
    memory.observe(draft(), agent)
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        count = 12
        for number in range(1, count + 1):
            arguments = {"title": f"Write {number}", "evidence": ["run:make"]}
            params = {"name": "memory_observe", "arguments": arguments}
            server.tell({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        for number in range(1, count + 1):
            cancelled = {"requestId": number, "reason": "the person pressed Escape"}
            server.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        answered = 0
        server.tell({"jsonrpc": "2.0", "id": 50, "method": "ping"})
        while server.hear()["id"] != 50:
            answered += 1
        written = server.call(51, "memory_observe", title="The last", evidence=["run:make"])
        assert written["result"]["structuredContent"]["changed"] is True
        assert server.end()[0] == 0
    subjects = desk.commits()
    assert subjects[0] == "observe: The last"
    done = [subject for subject in subjects if subject.startswith("observe: Write ")]
    assert answered <= len(done) < count
    desk.judge()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_at_once_and_what_was_begun_is_whole(desk: Desk, number: signal.Signals) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        params = {"name": "memory_observe", "arguments": {"title": "Begun", "evidence": ["run:make"]}}
        server.tell({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        server.ask(2, "ping")
        begun_s = time.monotonic()
        server.process.send_signal(number)
        code, _out, err = server.end_by_itself()
        assert code == 0
        assert time.monotonic() - begun_s < END_S + 10
        assert "Traceback" not in err
    with desk.open() as memory:
        assert memory.status().status == "ok"
    desk.judge()


def test_it_ends_when_its_input_does_even_if_nobody_reads_its_output(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        for number in range(1, 200):  # far more than a pipe holds
            server.tell({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(END_S + 30) == 0


def test_it_ends_when_nobody_can_read_its_output_any_more(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        server.greet()
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.tell({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert server.process.wait(END_S + 30) == 0


def test_it_works_without_standard_error(desk: Desk) -> None:
    with Raw(desk.home, str(desk.repo)) as server:
        assert server.process.stderr is not None
        server.process.stderr.close()
        server.greet()
        server.send(b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": 5}\n')
        assert server.ask(1, "ping")["id"] == 1 or server.hear()["id"] == 1

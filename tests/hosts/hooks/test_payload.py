"""What hosts' own payloads, as recorded, say happened."""

from __future__ import annotations

import json

import pytest
from host_payloads import HOSTS, load_payloads

from gitmem.curator.capture import Around, make_event
from gitmem.hosts.hooks.families import FAMILIES
from gitmem.hosts.hooks.payload import UnreadableError, find_family, find_seen, is_known, parse_payload
from gitmem.model.event import Event, EventKind

AROUND = Around("2026-12-01T10:00:00Z", ("/home/sam/shop",), b"k" * 32, "1" * 40)
UNITTEST = "python -m unittest"


def events_of(name: str) -> list[Event]:
    found = []
    for payload in load_payloads(name):
        family = find_family(payload)
        assert family is not None
        assert is_known(payload, family)
        seen = find_seen(payload, family)
        found += [make_event(seen, AROUND)] if seen is not None else []
    return found


def tell(event: Event) -> str:
    """Return an event in one line, without times, sizes and hashes."""
    paths = ",".join(event.paths) + (f"+{event.outside}" if event.outside else "")
    outcome = {True: "failed", False: "passed", None: ""}[event.failed]
    code = "" if event.exit_code is None else str(event.exit_code)
    return " ".join(filter(None, [event.kind, event.detail, event.tool, event.command, paths, outcome, code]))


TOLD = {
    "claude-code": [
        "session-start startup",
        "prompt",
        f"tool Bash {UNITTEST} failed 1",
        "tool Read tests/test_cart.py passed",
        "tool Write tests/test_cart.py passed",
        "tool Read src/cart.py passed",
        "tool Edit src/cart.py passed",
        f"tool Bash {UNITTEST} passed 0",
        "tool Bash git commit passed 0",
        "stop",
        "session-end other",
    ],
    "codex": [
        "session-start startup",
        "prompt",
        f"tool Bash {UNITTEST}",
        "tool apply_patch tests/test_cart.py,src/tax.py passed 0",
        f"tool Bash {UNITTEST}",
        "tool Bash git commit",
        "stop",
        "session-end other",
    ],
    "cursor": [
        "session-start",
        "prompt",
        f"tool Shell {UNITTEST} failed 1",
        "tool Read src/cart.py passed",
        "tool Edit tests/test_cart.py passed",
        f"tool Shell {UNITTEST} passed 0",
        "tool Shell git commit passed 0",
        "compaction auto",
        "stop completed",
        "session-end window-close",
    ],
    "dsh": [
        "prompt",
        f"tool bash {UNITTEST} failed 1",
        "tool read tests/test_cart.py passed",
        "tool edit tests/test_cart.py passed",
        "tool write src/tax.py passed",
        f"tool bash {UNITTEST} passed 0",
        "tool bash git commit passed 0",
        "stop",
    ],
    "gemini": [
        "session-start startup",
        "prompt",
        f"tool run_shell_command {UNITTEST} failed 1",
        "tool read_file src/cart.py passed",
        "tool replace tests/test_cart.py passed",
        "tool write_file src/tax.py passed",
        f"tool run_shell_command {UNITTEST} passed 0",
        "tool run_shell_command git commit passed 0",
        "stop",
        "session-end exit",
    ],
    "opencode": [
        "session-start",
        "prompt",
        f"tool bash {UNITTEST} failed 1",
        "tool read tests/test_cart.py passed",
        "tool edit tests/test_cart.py passed",
        "tool write src/tax.py passed",
        f"tool bash {UNITTEST} passed 0",
        "tool bash git commit passed 0",
        "stop",
    ],
}


@pytest.mark.parametrize("host", HOSTS)
def test_a_recorded_session_becomes_events(host: str) -> None:
    events = events_of(host)
    assert [tell(event) for event in events] == TOLD[host]
    assert {event.host for event in events} == {host}
    assert len({event.session for event in events}) == 1
    kept = [event.commit for event in events if event.kind in ("session-start", "stop", "session-end")]
    assert set(kept) == {"1" * 40}
    assert all(event.input_bytes and event.digest for event in events if event.kind in ("prompt", "tool"))


def test_a_session_that_goes_on_and_is_compacted() -> None:
    resumed = ["session-start resume", "compaction manual", "session-end other"]
    assert [tell(event) for event in events_of("claude-code-resumed")] == resumed
    assert events_of("claude-code-resumed")[0].session == events_of("claude-code")[0].session


def test_the_same_action_has_the_same_digest_in_any_host() -> None:
    hosts = ("claude-code", "gemini", "opencode", "dsh")
    runs = {event.digest for host in hosts for event in events_of(host) if event.command == UNITTEST}
    assert len(runs) == 1


def test_a_host_can_be_named_and_a_payload_of_nobody_has_none() -> None:
    payload = {"hook_event_name": "Stop", "session_id": "s1"}
    assert [one.host for one in FAMILIES if find_family(payload, one.host) is one] == [one.host for one in FAMILIES]
    found = find_family(payload)
    assert found is not None
    assert found.host == "claude-code"
    assert find_family({"session_id": "s1"}) is None
    assert find_family(payload, "nobody") is None


def test_prompts_are_at_hand_in_memory() -> None:
    for host in HOSTS:
        family = find_family(load_payloads(host)[0])
        assert family is not None
        seen = [found for one in load_payloads(host) if (found := find_seen(one, family)) is not None]
        prompts = [one.prompt for one in seen if one.kind is EventKind.PROMPT]
        assert [prompt.strip('"') for prompt in prompts] == ["The cart test fails. Please mend it and commit."]
        assert all(one.folder == "/home/sam/shop" for one in seen)


def claude(**members: object) -> str:
    payload = {"hook_event_name": "PostToolUse", "session_id": "s1", "cwd": "/home/sam/shop"} | members
    family = find_family(payload)
    assert family is not None
    seen = find_seen(payload, family)
    assert seen is not None
    return tell(make_event(seen, AROUND))


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ("<hook_context>kept: &lt;b&gt;\n```</hook_context>\n\ngitmem status", "gitmem status"),
        ("<hook_context>a</hook_context>\n\n<hook_context>b</hook_context>", "<hook_context>b</hook_context>"),
        ("<hook_context>a</hook_context>", ""),
        ("<hook_context> is a tag", "<hook_context> is a tag"),
        ("why <hook_context>a</hook_context>", "why <hook_context>a</hook_context>"),
    ],
)
def test_what_gemini_puts_before_a_prompt_is_not_typed(given: str, typed: str) -> None:
    payload = {"hook_event_name": "BeforeAgent", "session_id": "s1", "timestamp": "t", "prompt": given}
    gemini = find_family(payload)
    assert gemini is not None
    seen = find_seen(payload, gemini)
    elsewhere = find_seen(payload | {"hook_event_name": "UserPromptSubmit"}, FAMILIES[-1])

    assert seen is not None
    assert (seen.prompt, seen.given) == (typed, typed.encode())
    assert elsewhere is not None
    assert elsewhere.prompt == given


def test_what_does_not_tell_how_it_went_is_not_taken_for_success() -> None:
    command = {"tool_name": "Bash", "tool_input": {"command": "pytest"}}
    assert claude(**command, tool_response={"stdout": ""}) == "tool Bash pytest passed 0"
    assert claude(**command, tool_response={"interrupted": True}) == "tool Bash pytest"
    assert claude(**command, tool_response={"backgroundTaskId": "b1"}) == "tool Bash pytest"
    assert claude(**command, hook_event_name="PostToolUseFailure", error="it broke") == "tool Bash pytest failed"
    assert claude(**command, turn_id="t", tool_response="Exit code: 0") == "tool Bash pytest"
    assert claude(**command, turn_id="t", tool_response={"exit_code": 2}) == "tool Bash pytest failed 2"
    gemini = {"hook_event_name": "AfterTool", "tool_name": "run_shell_command", "tool_input": {"command": "pytest"}}
    told = "tool run_shell_command pytest"
    assert claude(**gemini, tool_response={"llmContent": "Output: x\nExit Code: 1\n"}) == f"{told} failed 1"
    assert claude(**gemini, tool_response={"llmContent": "Output: x\nSignal: 9\n"}) == f"{told} failed"
    assert claude(**gemini, tool_response={"error": {"message": "no"}}) == f"{told} failed"
    assert claude(**gemini, tool_response={"llmContent": [{"text": "x"}]}) == told
    assert claude(**gemini, tool_response=None) == told


def test_only_tools_for_files_have_paths_and_only_shells_commands() -> None:
    both = {"file_path": "src/a.py", "path": "b", "command": "git commit"}
    assert claude(tool_name="mcp__server__read", tool_input=both) == "tool mcp__server__read passed"
    assert claude(tool_name="Edit", tool_input=both) == "tool Edit src/a.py,b passed"
    assert claude(tool_name="Bash", tool_input=both) == "tool Bash git commit passed 0"
    shell = {"command": ["bash", "-lc", "cd x && pytest -k 'a b'"]}
    assert claude(tool_name="shell", tool_input=shell) == "tool shell pytest passed 0"
    lines = ["*** Add File: a b.py", "+*** Add File: no", "*** Delete File: ../c", "*** Move to: d.py"]
    patch = {"input": "\n".join(lines)}
    assert claude(tool_name="apply_patch", tool_input=patch) == "tool apply_patch a b.py,d.py+1 passed"


@pytest.mark.parametrize("data", [b"", b"[]", b'"x"', b"{", b'{"a": 1}x', b"\xff", b'{"a": ' + b"9" * 5000 + b"}"])
def test_what_is_no_object_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        parse_payload(data)
    assert parse_payload(b"\xef\xbb\xbf" + json.dumps({"a": "é"}).encode()) == {"a": "é"}

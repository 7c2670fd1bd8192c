"""The plugin for DeepSeek Harness, run by Node over a stand-in for the harness and one for ``gitmem hook``.

With the harness itself it runs in ``tests/hosts/programs``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts.plugins import BAD_HOOKS, Plugin, needs_node

from gitmem.hosts.hooks.payload import find_family

pytestmark = needs_node

HOOK = """
def give(text):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))
if event == "SessionStart":
    give("context of " + payload["source"])
elif event == "UserPromptSubmit" and prompt == "gitmem status":
    print(json.dumps({"decision": "block", "reason": "all is well"}))
elif event == "UserPromptSubmit":
    give("recall of " + prompt)
"""
DRIVE = """
import * as plugin from "./gitmem.mjs"
const listeners = {}
plugin.apply({ on: (event, listener) => { listeners[event] = listener } })
const agent = { session: { header: { id: "session-1", cwd: process.cwd() } } }
const typed = (text) => ({ id: "m1", content: [{ type: "text", text }], source: { kind: "user" } })
const step = async (messages, decision = { kind: "enter", messages }) => {
  try {
    const entered = await listeners["agent/pre-step"]({ agent, messages }, async () => decision)
    if (entered.kind !== "enter") return entered.kind
    return entered.messages.map(({ content, source }) => `${source.kind}: ${content[0].text}`)
  } catch (error) {
    return String(error)
  }
}
const said = []
STEPS
console.log(JSON.stringify({ said, name: plugin.name }))
"""
SESSION = "session-1"


@pytest.fixture
def drive(tmp_path: Path) -> Plugin:
    plugin = Plugin(tmp_path, "hosts/dsh/gitmem.mjs", DRIVE)
    plugin.install(HOOK)
    return plugin


def test_the_first_prompt_brings_the_context_and_each_its_recall(drive: Plugin) -> None:
    outcome = drive("""
        said.push(await step([typed("first")]))
        const result = { content: [{ type: "text", text: "done" }] }
        const exec = { agent, name: "bash", arguments: { command: "make" } }
        said.push(await listeners["tools/post-execute"](exec, result, async () => "as it was"))
        await listeners["agent/turn-stopping"]({ agent })
        said.push(await step([typed("second")]))
    """)

    assert outcome == {
        "name": "gitmem",
        "said": [
            ["user: first", "gitmem: context of startup\n\nrecall of first"],
            "as it was",
            ["user: second", "gitmem: recall of second"],
        ],
    }
    base = {"session_id": SESSION, "cwd": str(drive.folder)}
    tool = {"tool_name": "bash", "tool_input": {"command": "make"}, "tool_response": "done"}
    told = [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "first", "prompt_id": "m1"},
        {"hook_event_name": "PostToolUse", **tool},
        {"hook_event_name": "Stop"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "second", "prompt_id": "m1"},
    ]
    assert drive.told() == [base | one for one in told]
    assert {family.host for payload in drive.told() if (family := find_family(payload))} == {"dsh"}


def test_a_start_that_is_told_of_is_the_start(drive: Plugin) -> None:
    outcome = drive("""
        listeners["agent/session-start"]({ agent, source: "resume" })
        said.push(await step([typed("go on")]))
    """)

    assert outcome["said"] == [["user: go on", "gitmem: context of resume\n\nrecall of go on"]]


def test_the_answer_to_a_command_is_shown_and_the_prompt_goes_no_further(drive: Plugin) -> None:
    outcome = drive("""
        said.push(await step([typed("gitmem status")]))
        said.push(await step([typed("go on")]))
    """)

    assert outcome["said"] == [
        "Error: all is well",
        ["user: go on", "gitmem: context of startup\n\nrecall of go on"],
    ]


def test_only_what_a_person_typed_is_a_prompt(drive: Plugin) -> None:
    outcome = drive("""
        said.push(await step([]))
        said.push(await step([{ content: [{ type: "text", text: "gitmem status" }], source: { kind: "goal" } }]))
        said.push(await step([typed("hello")], { kind: "reject" }))
    """)

    assert outcome["said"] == [[], ["goal: gitmem status"], "reject"]
    assert [payload["hook_event_name"] for payload in drive.told()] == ["SessionStart", "UserPromptSubmit"]


@pytest.mark.parametrize("hook", BAD_HOOKS)
def test_whatever_the_hook_says_the_harness_goes_on(hook: str, drive: Plugin) -> None:
    drive.install(hook)

    outcome = drive("""
        said.push(await step([typed("hello")]))
        said.push(await listeners["tools/post-execute"]({ agent, name: "read" }, undefined, async () => "as it was"))
    """)

    assert outcome["said"] == [["user: hello"], "as it was"]


def test_a_program_that_is_gone_costs_nothing(drive: Plugin) -> None:
    drive.install(HOOK, [str(drive.folder / "no-python")])

    assert drive('said.push(await step([typed("hello")]))')["said"] == [["user: hello"]]

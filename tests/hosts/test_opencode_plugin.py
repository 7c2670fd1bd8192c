"""The plugin for OpenCode, run by Node over a stand-in for OpenCode and one for ``gitmem hook``.

With OpenCode itself it runs in ``tests/hosts/programs``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts.plugins import BAD_HOOKS, Plugin, needs_node

pytestmark = needs_node

HOOK = """
if event == "session.created":
    print(json.dumps({"context": "context of " + payload["source"]}))
elif event == "chat.message":
    print(json.dumps({"answer": "all is well"} if prompt == "gitmem status" else {"context": "recall of " + prompt}))
"""
DRIVE = """
import { Gitmem } from "./gitmem.mjs"
const shown = []
const client = { session: { prompt: async (message) => { shown.push(message) } } }
const hooks = await Gitmem({ client, directory: process.cwd() })
const message = { id: "m1", agent: "build", model: { providerID: "p", modelID: "m" } }
let count = 0
const say = async (sessionID, ...parts) => {
  const made = parts.map((part) => ({ type: "text", id: `prt_${++count}`, messageID: "m1", sessionID, ...part }))
  try {
    await hooks["chat.message"]({ sessionID }, { message, parts: made })
    return made.map((part) => `${part.id} ${part.text}${part.synthetic ? " (synthetic)" : ""}`)
  } catch (error) {
    return String(error)
  }
}
const event = (type, properties) => hooks.event({ event: { type, properties } })
const said = []
STEPS
console.log(JSON.stringify({ said, shown }))
"""


@pytest.fixture
def drive(tmp_path: Path) -> Plugin:
    plugin = Plugin(tmp_path, "hosts/opencode/gitmem.js", DRIVE)
    plugin.install(HOOK)
    return plugin


def test_the_first_prompt_brings_the_context_and_each_its_recall(drive: Plugin) -> None:
    outcome = drive("""
        await event("session.created", { sessionID: "s1", info: { id: "s1" } })
        said.push(await say("s1", { text: "first" }))
        said.push(await say("s1", { text: "second" }))
        await event("session.idle", { sessionID: "s1" })
        await event("session.compacted", { sessionID: "s1" })
        said.push(await say("s1", { text: "third" }))
        await event("session.deleted", { info: { id: "s1" } })
    """)

    assert outcome == {
        "said": [
            ["prt_1 first", "prt_1z context of startup\n\nrecall of first (synthetic)"],
            ["prt_2 second", "prt_2z recall of second (synthetic)"],
            ["prt_3 third", "prt_3z context of compact\n\nrecall of third (synthetic)"],
        ],
        "shown": [],
    }
    base = {"host": "opencode", "session_id": "s1", "cwd": str(drive.folder)}
    told = [
        {"hook_event_name": "session.created", "source": "startup"},
        {"hook_event_name": "chat.message", "prompt": "first", "prompt_id": "m1"},
        {"hook_event_name": "chat.message", "prompt": "second", "prompt_id": "m1"},
        {"hook_event_name": "session.idle"},
        {"hook_event_name": "session.compacted"},
        {"hook_event_name": "session.created", "source": "compact"},
        {"hook_event_name": "chat.message", "prompt": "third", "prompt_id": "m1"},
        {"hook_event_name": "session.deleted"},
    ]
    assert drive.told() == [base | one for one in told]


def test_a_session_that_was_taken_up_again_is_given_the_context_too(drive: Plugin) -> None:
    outcome = drive('said.push(await say("s1", { text: "go on" }))')

    assert outcome["said"] == [["prt_1 go on", "prt_1z context of resume\n\nrecall of go on (synthetic)"]]


def test_the_answer_to_a_command_is_shown_and_the_prompt_goes_no_further(drive: Plugin) -> None:
    outcome = drive("""
        said.push(await say("s1", { text: "gitmem status" }))
        said.push(await say("s1", { text: "go on" }))
    """)

    assert outcome["said"] == [
        "Error: all is well",
        ["prt_2 go on", "prt_2z context of resume\n\nrecall of go on (synthetic)"],
    ]
    shown = [{"type": "text", "text": "gitmem status\n\nall is well", "ignored": True}]
    body = {"noReply": True, "agent": "build", "model": {"providerID": "p", "modelID": "m"}, "parts": shown}
    assert outcome["shown"] == [{"path": {"id": "s1"}, "body": body}]


def test_only_what_a_person_typed_is_a_prompt(drive: Plugin) -> None:
    outcome = drive("""
        said.push(await say("s1", { text: "shown to people", ignored: true }))
        await hooks["command.execute.before"]({ sessionID: "s1", command: "release", arguments: "" }, { parts: [] })
        said.push(await say("s1", { text: "gitmem status" }))
        said.push(await say("s1", { text: "look" }, { text: "the content of a file", synthetic: true }))
    """)

    assert outcome["said"] == [
        ["prt_1 shown to people"],
        ["prt_2 gitmem status", "prt_2z context of resume\n\nrecall of /release\ngitmem status (synthetic)"],
        ["prt_3 look", "prt_4 the content of a file (synthetic)", "prt_4z recall of look (synthetic)"],
    ]


def test_what_a_subagent_does_belongs_to_the_session_of_the_person(drive: Plugin) -> None:
    drive("""
        await event("session.created", { sessionID: "s1", info: { id: "s1" } })
        await event("session.created", { sessionID: "s2", info: { id: "s2", parentID: "s1" } })
        await event("session.created", { sessionID: "s3", info: { id: "s3", parentID: "s2" } })
        await say("s3", { text: "look into it" })
        await hooks["tool.execute.after"]({ tool: "read", sessionID: "s3", callID: "c1", args: { filePath: "a" } }, {})
        await event("session.idle", { sessionID: "s3" })
    """)

    assert [(payload["session_id"], payload.get("agent_id")) for payload in drive.told()] == [
        ("s1", None),
        ("s1", "s3"),
        ("s1", "s3"),
    ]


@pytest.mark.parametrize("hook", BAD_HOOKS)
def test_whatever_the_hook_says_the_host_goes_on(hook: str, drive: Plugin) -> None:
    drive.install(hook)

    outcome = drive("""
        await event("session.created", { sessionID: "s1", info: { id: "s1" } })
        await event("session.created", undefined)
        await hooks["tool.execute.after"]({ tool: "read", sessionID: "s1", callID: "c1" }, undefined)
        await hooks["chat.message"]({ sessionID: "s1" }, {})
        said.push(await say("s1", { text: "hello" }))
    """)

    assert outcome == {"said": [["prt_1 hello"]], "shown": []}


def test_a_program_that_is_gone_costs_nothing(drive: Plugin) -> None:
    drive.install(HOOK, [str(drive.folder / "no-python")])

    assert drive('said.push(await say("s1", { text: "hello" }))')["said"] == [["prt_1 hello"]]

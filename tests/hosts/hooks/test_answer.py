"""What a hook answers: the exact form of each host for each event, through the real hook over a small memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from host_payloads import HOSTS, Shop, load_payloads, make_shop

from gitmem.hosts.hooks.families import FAMILIES
from gitmem.model.authority import Actor, Surface
from gitmem.model.event import EventKind
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory
from gitmem.wiring import open_memory

PERSON = Actor(Surface.HUMAN, "Sam Person", "sam@example.com")
AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid")
PROMPT = "How many workers run the API tests?"
NOTHING = "What a lovely evening it is in Lisbon"
KINDS = {family.host: {name: kind for name, kind in family.events.items() if kind} for family in FAMILIES}
STARTS = {"cursor": "sessionStart", "opencode": "session.created"}
PROMPTS = {"cursor": "beforeSubmitPrompt", "gemini": "BeforeAgent", "opencode": "chat.message"}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = make_shop(tmp_path)
    with open_here(made) as memory:
        memory.declare(Draft("Never push to main", "Open a pull request.", Kind.BOUNDARY), PERSON)
        memory.observe(Draft("Run the API tests with two workers", "Three starve it.", Kind.FACT), PERSON)
    return made


def open_here(shop: Shop) -> Memory:
    return open_memory(str(shop.home), str(shop.project))


def take(host: str, shop: Shop, kind: EventKind, **more: object) -> dict[str, Any]:
    """Return the host's first recorded payload of ``kind``, or one made of another where it was not recorded."""
    payloads = load_payloads(host, shop.project)
    named = next(name for name, meant in KINDS[host].items() if meant is kind)
    known = [one for one in payloads if KINDS[host].get(one["hook_event_name"]) is kind]
    bare = {name: value for name, value in payloads[0].items() if name not in ("prompt", "tool_input", "tool_name")}
    return (known[0] if known else bare | {"hook_event_name": named}) | more


def said(shop: Shop, payload: object) -> str:
    done = shop.hook(payload)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def form(host: str, kind: EventKind, text: str) -> str:
    """Return the whole answer of ``host`` that puts ``text`` before the model, as its documentation has it."""
    if host == "opencode":
        return json.dumps({"context": text}) + "\n"
    if host == "cursor":
        goes_on: dict[str, Any] = {"continue": True} if kind is EventKind.PROMPT else {}
        return json.dumps({**goes_on, "additional_context": text}) + "\n"
    names = {EventKind.SESSION_START: "SessionStart", EventKind.PROMPT: PROMPTS.get(host, "UserPromptSubmit")}
    return json.dumps({"hookSpecificOutput": {"hookEventName": names[kind], "additionalContext": text}}) + "\n"


@pytest.mark.parametrize("host", HOSTS)
def test_every_event_of_every_host_has_its_answer(host: str, shop: Shop) -> None:
    with open_here(shop) as memory:
        context = memory.context().extra["text"]
        recall = memory.recall(PROMPT).extra["text"]
    assert "Never push to main" in context
    assert "two workers" in recall

    for kind in dict.fromkeys(KINDS[host].values()):
        more = {"prompt": PROMPT} if kind is EventKind.PROMPT else {}
        told = {EventKind.SESSION_START: context, EventKind.PROMPT: recall}.get(kind)
        expected = form(host, kind, told) if told else ""
        assert said(shop, take(host, shop, kind, **more)) == expected, kind


@pytest.mark.parametrize("host", HOSTS)
def test_every_recorded_payload_is_answered_or_passed_over(host: str, shop: Shop) -> None:
    """Only a start is answered: nothing remembered fits what was asked in these sessions."""
    for payload in load_payloads(host, shop.project):
        answer = said(shop, payload)
        is_start = KINDS[host].get(payload["hook_event_name"]) is EventKind.SESSION_START
        assert bool(answer) == is_start, payload["hook_event_name"]


def test_a_prompt_that_nothing_fits_is_answered_by_nothing(shop: Shop) -> None:
    for host in HOSTS:
        assert said(shop, take(host, shop, EventKind.PROMPT, prompt=NOTHING)) == ""
        assert said(shop, take(host, shop, EventKind.PROMPT, prompt="")) == ""

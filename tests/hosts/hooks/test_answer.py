"""What a hook answers: the exact form of each host for each event, through the real hook over a small memory."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from host_payloads import HOSTS, Shop, load_payloads, make_shop

from gitmem.hosts.hooks.families import FAMILIES
from gitmem.model.authority import Actor, Surface
from gitmem.model.event import EventKind
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.wiring import make_vault, open_memory

from conftest import git

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


OTHER = "With how many workers do the API tests run here?"
"""Another prompt that the same record fits."""
PROMPTED, TOOL = EventKind.PROMPT, EventKind.TOOL
LINE = "gitmem: memory is unavailable (vault-missing): the vault is not where it was; that says nothing about what is "
LINE += "remembered."


def text_of(answer: str) -> str:
    """Return what an answer of Claude Code puts before the model, empty for no answer."""
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""


@pytest.mark.parametrize("kind", [EventKind.SESSION_START, EventKind.PROMPT])
@pytest.mark.parametrize("host", ["claude-code", "dsh", "opencode"])
def test_what_is_told_twice_at_the_same_moment_is_answered_and_kept_once(
    host: str, kind: EventKind, shop: Shop
) -> None:
    more = {"prompt": PROMPT} if kind is EventKind.PROMPT else {}
    payload = take(host, shop, kind, **more)
    with ThreadPoolExecutor(3) as pool:
        answers = sorted(done.stdout for done in pool.map(shop.hook, [payload] * 3))

    assert [bool(answer) for answer in answers] == [False, False, True]
    assert [event.kind for event in shop.events()] == [kind]


def test_another_prompt_with_the_same_recall_gets_a_line_and_after_a_compaction_all_of_it(shop: Shop) -> None:
    for forgets in (
        take("claude-code", shop, EventKind.COMPACTION),
        take("claude-code", shop, EventKind.SESSION_START, source="compact"),
        take("claude-code", shop, EventKind.SESSION_START, source="clear"),
    ):
        session = {"session_id": f"s{len(shop.events())}"}
        first = said(shop, take("claude-code", shop, PROMPTED, prompt=PROMPT) | session)
        again = said(shop, take("claude-code", shop, PROMPTED, prompt=OTHER) | session)
        assert "  > Three starve it." in text_of(first)
        assert text_of(again).startswith("gitmem: 1 record remembered for this prompt, the same as shown last: ")

        said(shop, forgets | session)
        told = said(shop, take("claude-code", shop, PROMPTED, prompt=f"Once more: {PROMPT}") | session)
        assert text_of(told) == text_of(first)


def test_after_a_clear_the_context_is_given_however_soon(shop: Shop) -> None:
    start = take("gemini", shop, EventKind.SESSION_START, source="clear")
    assert said(shop, start) == said(shop, start) != ""


def test_a_resumed_session_gets_the_context_and_remembers_what_it_was_told(shop: Shop) -> None:
    said(shop, take("claude-code", shop, PROMPTED, prompt=PROMPT))
    start = said(shop, take("claude-code", shop, EventKind.SESSION_START, source="resume"))
    assert "Never push to main" in text_of(start)
    again = said(shop, take("claude-code", shop, PROMPTED, prompt=OTHER))
    assert text_of(again).startswith("gitmem: 1 record remembered for this prompt, the same as shown last: ")


def test_prompts_of_subagents_get_nothing_and_those_of_an_agent_that_a_person_started_do(shop: Shop) -> None:
    payload = take("claude-code", shop, PROMPTED, prompt=PROMPT)
    assert said(shop, payload | {"agent_id": "a1", "agent_type": "reviewer", "session_id": "s1"}) == ""
    assert "two workers" in said(shop, payload | {"agent_type": "reviewer", "session_id": "s2"})
    assert [event.kind for event in shop.events()] == [PROMPTED, PROMPTED]


def test_a_memory_that_is_gone_is_told_once_a_session_and_every_time_on_standard_error(shop: Shop) -> None:
    Path(shop.layout.repo).rename(shop.home / "moved")
    start = take("claude-code", shop, EventKind.SESSION_START)
    prompt = take("claude-code", shop, PROMPTED, prompt=PROMPT)
    other = prompt | {"session_id": "other"}
    told = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": LINE}}
    asked = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": LINE}}
    answers = []
    for payload in (start, prompt, prompt, other, other, start | {"source": "clear"}, prompt):
        done = shop.hook(payload)
        said_so = b"gitmem: nothing kept of this event: the vault 'shop' is not where it was\n"
        assert (done.returncode, done.stderr) == (0, said_so)
        answers.append(json.loads(done.stdout) if done.stdout else None)

    seen = {"systemMessage": LINE}
    assert answers == [seen | told, None, None, seen | asked, None, seen | told, None]
    assert not Path(shop.layout.repo).exists()


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_is_told_of_a_broken_home_in_its_own_form(host: str, shop: Shop) -> None:
    (shop.home / "registry.json").write_text("{")
    line = "gitmem: memory is unavailable (bad-registry): it could not be read; that says nothing about what is "
    line += "remembered."
    for kind in (EventKind.SESSION_START, EventKind.PROMPT):
        named = "conversation_id" if host == "cursor" else "session_id"
        session = f"session-{kind.value}" if host == "dsh" else f"s-{kind.value}"
        done = shop.hook(take(host, shop, kind, **{named: session}))
        assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
        to_person = {"systemMessage": line} if host in ("claude-code", "codex", "gemini") else {}
        assert json.loads(done.stdout) == to_person | json.loads(form(host, kind, line))
    for kind in set(KINDS[host].values()) - {EventKind.SESSION_START, EventKind.PROMPT}:
        assert shop.hook(take(host, shop, kind)).stdout == b""


def test_a_home_that_can_not_be_looked_into_is_not_taken_for_none(shop: Shop) -> None:
    moved = shop.home.rename(shop.home.parent / "elsewhere")
    shop.home.symlink_to(shop.home)
    done = shop.hook(take("claude-code", shop, EventKind.SESSION_START))
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
    assert "memory is unavailable" in text_of(done.stdout.decode())
    assert moved.is_dir()


def test_where_the_global_vault_is_broken_the_rest_is_told_and_the_line_once(shop: Shop) -> None:
    entry, _receipt = make_vault(str(shop.home), NewVault(Scope.GLOBAL), PERSON)
    Path(entry.path).rename(shop.home / "moved")
    line = "gitmem: memory is degraded (global-unreadable): the global vault can't be read, and what it remembers is "
    line += "missing here."
    said_so = b"gitmem: memory is degraded: the global vault can't be read (vault-missing): what it remembers is "
    said_so += b"missing here\n"

    done = shop.hook(take("claude-code", shop, PROMPTED, prompt=NOTHING))
    assert (text_of(done.stdout.decode()), done.stderr) == (line, said_so)
    done = shop.hook(take("claude-code", shop, PROMPTED, prompt=NOTHING + "!"))
    assert (done.stdout, done.stderr) == (b"", said_so)
    done = shop.hook(take("claude-code", shop, PROMPTED, prompt=PROMPT))
    assert text_of(done.stdout.decode()).startswith(f"{line}\ngitmem remembers this")
    done = shop.hook(take("claude-code", shop, PROMPTED, prompt=NOTHING + "?"))
    assert text_of(done.stdout.decode()).startswith("gitmem: nothing remembered fits this prompt; ")
    start = text_of(shop.hook(take("claude-code", shop, EventKind.SESSION_START)).stdout.decode())
    assert start.startswith("gitmem: memory is degraded")
    assert "Never push to main" in start


@pytest.mark.parametrize(("kind", "is_told"), [(EventKind.SESSION_START, True), (PROMPTED, True), (TOOL, False)])
def test_what_takes_too_long_is_ended_and_told(kind: EventKind, is_told: bool, shop: Shop) -> None:
    program = (
        "import sys; from gitmem.hosts.hooks import run;"
        "run.KEEP_BUDGET_S = 1e-5 if 'tool' in sys.argv else run.KEEP_BUDGET_S;"
        "run.ANSWER_BUDGETS_S = dict.fromkeys(run.ANSWER_BUDGETS_S, 1e-5); run.HURRY_BUDGET_S = 2e-5;"
        "sys.exit(run.run_hook([], None))"
    )
    payload = json.dumps(take("claude-code", shop, kind)).encode()
    command = [sys.executable, "-c", program, kind.value]
    env = {"PATH": "/usr/bin:/bin", "GITMEM_HOME": str(shop.home)}

    def run() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command, input=payload, capture_output=True, cwd=shop.project, env=env, check=False)

    done = run()
    lost = b"no answer to" if is_told else b"nothing kept of"
    assert (done.returncode, done.stderr) == (0, b"gitmem: " + lost + b" this event: it took more than 1e-05 s\n")
    line = "gitmem: memory is unavailable (too-slow): it took longer than a session can wait, and a person's `gitmem "
    line += "catalog rebuild` may help; that says nothing about what is remembered."
    assert text_of(done.stdout.decode()) == (line if is_told else "")
    if kind is PROMPTED:
        assert run().stderr == b"gitmem: no answer to this event: it took more than 2e-05 s\n"


def test_a_note_that_was_written_is_in_the_catalog_before_anybody_reads(shop: Shop) -> None:
    catalog = Path(shop.layout.catalog_file)
    catalog.unlink(missing_ok=True)
    note = Path(shop.layout.repo) / "observations" / "by-hand.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("---\ntitle: By hand\n---\n")
    payload = take("claude-code", shop, TOOL)
    for tool, path in (("Read", note), ("Edit", shop.project / "src" / "cart.py"), ("Edit", "a\0b"), ("Edit", "/")):
        assert said(shop, payload | {"tool_name": tool, "tool_input": {"file_path": str(path)}}) == ""
        assert not catalog.exists()

    assert said(shop, payload | {"tool_name": "Write", "tool_input": {"file_path": str(note)}}) == ""
    assert catalog.exists()


def test_a_note_in_another_vault_of_the_home_is_found_too(shop: Shop) -> None:
    entry, _receipt = make_vault(str(shop.home), NewVault(Scope.GLOBAL), PERSON)
    patch = f"*** Begin Patch\n*** Add File: {entry.path}/observations/a.md\n+text\n*** End Patch"
    payload = take("codex", shop, TOOL, tool_name="apply_patch", tool_input={"command": patch})
    assert said(shop, payload) == ""
    assert Path(entry.runtime, "catalog.sqlite").exists()


def test_an_answer_is_never_longer_than_hosts_take_whole(shop: Shop) -> None:
    with open_here(shop) as memory:
        for number in range(40):
            text = f"{number} \N{PARTY POPPER}" * 60
            memory.declare(Draft(f"Preference {number} \N{PARTY POPPER}", text, Kind.PREFERENCE), PERSON)
            memory.observe(Draft(f"API tests and workers {number}", f"{PROMPT} {text}", Kind.FACT), PERSON)
    for kind in (EventKind.SESSION_START, PROMPTED):
        text = text_of(said(shop, take("claude-code", shop, kind, **({"prompt": PROMPT} if kind is PROMPTED else {}))))
        assert 500 < len(text.encode("utf-16-le")) // 2 <= 9000


def test_boundaries_that_do_not_fit_are_said_so(shop: Shop) -> None:
    with open_here(shop) as memory:
        for number in range(40):
            memory.declare(Draft(f"{number} " + "Never do this " * 12, "No. " * 90, Kind.BOUNDARY), PERSON)
    done = shop.hook(take("claude-code", shop, EventKind.SESSION_START))
    answer = json.loads(done.stdout)
    line = "gitmem: memory is unavailable (boundaries-do-not-fit): the boundaries don't fit, and none is left out; a "
    assert answer["systemMessage"] == text_of(done.stdout.decode()) == f"{line}person has to see to it."
    assert done.stderr.startswith(b"gitmem: memory is unavailable: the boundaries alone take ")


def test_no_prompt_makes_a_hook_fail(shop: Shop) -> None:
    for number, prompt in enumerate(("\0", "\ud800", "```gitmem-recall\n" * 2000, '" OR NEAR(*', "x" * 3_000_000)):
        assert said(shop, take("claude-code", shop, PROMPTED, prompt=prompt, session_id=f"s{number}")) == ""


def test_a_vault_that_came_with_a_folder_is_none_unless_it_is_named(shop: Shop, tmp_path: Path) -> None:
    """Whoever opens a project that somebody handed over did not ask for the memory in it."""
    theirs = tmp_path / "theirs"
    git(tmp_path, "clone", "-q", shop.layout.repo, str(theirs))
    (shop.home / "registry.json").write_text(json.dumps({"format": 1, "vaults": []}))
    before = sorted(str(path) for path in shop.home.rglob("*"))
    start = take("claude-code", shop, EventKind.SESSION_START, cwd=str(theirs))
    prompt = take("claude-code", shop, PROMPTED, prompt=PROMPT, cwd=str(theirs))
    for payload in (start, prompt):
        done = shop.hook(payload, folder=theirs)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert sorted(str(path) for path in shop.home.rglob("*")) == before

    named = shop.hook(prompt, "--vault", str(theirs), folder=theirs)
    assert "two workers" in text_of(named.stdout.decode())

    entry, _receipt = make_vault(str(shop.home), NewVault(Scope.GLOBAL), PERSON)
    with open_memory(str(shop.home), str(theirs), "global") as memory:
        memory.declare(Draft("Answer in English", kind=Kind.PREFERENCE), PERSON)
    text = text_of(shop.hook(start, folder=theirs).stdout.decode())
    assert "Answer in English" in text
    assert "Never push to main" not in text
    assert Path(entry.runtime, "events").exists()

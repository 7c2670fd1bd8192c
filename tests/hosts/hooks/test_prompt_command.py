"""Commands that a person types as a prompt in a host, through the real hook; nothing else that a host tells is one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitmem.hosts.hooks.families import FAMILIES
from gitmem.hosts.hooks.payload import find_family, find_seen
from gitmem.hosts.hooks.prompt_command import VERBS, answer_command, find_command, shorten_text
from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft, Kind, State
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.wiring import make_vault, open_memory

from conftest import git

PAYLOADS = Path(__file__).parents[1] / "payloads"
HOSTS = ("claude-code", "codex", "cursor", "dsh", "gemini", "opencode")
PERSON = Actor(Surface.HUMAN, "Sam Person", "sam@example.com")
HOOK = [sys.executable, "-m", "gitmem", "hook"]
AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid", session="s1")


@dataclass(frozen=True)
class Shop:
    """A project with a vault of its own, beside a global one; Git knows the person."""

    project: Path
    home: Path

    def open(self, named: str | None = None) -> Memory:
        return open_memory(str(self.home), str(self.project), named)

    def hook(self, payload: object, *options: str) -> subprocess.CompletedProcess[str]:
        command = [*HOOK, *options]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.project.parent), "GITMEM_HOME": str(self.home)}
        data = json.dumps(payload)
        return subprocess.run(
            command, input=data, capture_output=True, text=True, cwd=self.project, env=env, check=True
        )

    def say(self, prompt: str, host: str = "claude-code", **more: object) -> str:
        """Return what the hook answers to ``prompt``, empty for nothing; it never complains."""
        done = self.hook(load(host, self.project, "prompt") | {"prompt": prompt} | more)
        assert done.stderr == ""
        return done.stdout

    def told(self, prompt: str) -> str:
        """Return what Claude Code shows its person for a prompt that is a command."""
        answer = json.loads(self.say(prompt))
        assert list(answer) == ["decision", "reason"]
        return str(answer["reason"])

    def observe(self, title: str = "Run tests with two workers", named: str | None = None) -> str:
        with self.open(named) as memory:
            return memory.observe(Draft(title, "Why.", Kind.FACT, evidence=("run:1",)), AGENT).records[0].id

    def propose(self, title: str, kind: Kind = Kind.FACT, named: str | None = None) -> str:
        with self.open(named) as memory:
            return memory.propose(Draft(title, "Why not.", kind, evidence=("run:1",)), AGENT).candidate.id

    def states(self, named: str | None = None) -> dict[str, str]:
        """Return the state of every record of a vault, by id."""
        with self.open(named) as memory:
            listed = memory.list(Filters(states=tuple(State))).hits
            return {hit.record.id: hit.record.state.value for hit in listed}

    def log(self, named: str | None = None) -> str:
        with self.open(named) as memory:
            return git(Path(memory.vault.layout.repo), "log", "-1", "--format=%an <%ae>%n%(trailers:unfold)")

    def heads(self) -> list[str]:
        with self.open() as own, self.open("global") as shared:
            return [own.vault.head(), shared.vault.head()]


def load(host: str, project: Path, member: str) -> dict[str, Any]:
    """Return the host's first recorded payload that has ``member``, told of ``project``."""
    text = (PAYLOADS / f"{host}.jsonl").read_text(encoding="utf-8").replace("/home/sam/shop", str(project))
    payloads: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    return next(payload for payload in payloads if member in payload)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    project, home = tmp_path / "shop", tmp_path / "home"
    project.mkdir()
    git(project, "init", "-q")
    (tmp_path / ".gitconfig").write_text("[user]\nname = Sam Person\nemail = sam@example.com\n")
    make_vault(str(home), NewVault(Scope.WORKSPACE, project=str(project), name="shop"), PERSON)
    make_vault(str(home), NewVault(Scope.GLOBAL), PERSON)
    return Shop(project, home)


def test_every_host_is_answered_in_its_own_form(shop: Shop) -> None:
    forms = {
        "claude-code": {"decision": "block", "reason": "SAID"},
        "codex": {"decision": "block", "reason": "SAID"},
        "cursor": {"continue": False, "user_message": "SAID"},
        "dsh": {"decision": "block", "reason": "SAID"},
        "gemini": {"decision": "deny", "reason": "SAID"},
        "opencode": {"answer": "SAID"},
    }
    assert sorted(forms) == sorted(family.host for family in FAMILIES)
    for host in HOSTS:
        one = shop.observe(f"Seen with {host}")

        answer = shop.say(f"gitmem promote {one}", host)

        with shop.open() as memory:
            commit, path = memory.vault.head()[:12], memory.show(one).hits[0].record.path
        said = f"promote: commit {commit}\n{one}  promoted  {path}"
        assert answer == json.dumps(json.loads(json.dumps(forms[host]).replace('"SAID"', json.dumps(said)))) + "\n"
        trailers = shop.log()
        assert trailers.startswith("Sam Person <sam@example.com>\n"), host
        assert "Gitmem-Surface: human\nGitmem-Actor: Sam Person\n" in trailers
        assert "Gitmem-Proof: prompt\n" in trailers
        assert f"Gitmem-Host: {host}\n" in trailers
        assert "Gitmem-Rule: promote-human\n" in trailers


def test_the_verbs_do_what_they_do_at_a_terminal(shop: Shop) -> None:
    one, other = shop.observe(), shop.observe("The cache lives in Redis")

    assert shop.told(f'gitmem retire {one} --reason "It doesn\'t hold"').startswith("retire: commit ")
    assert shop.states()[one] == "retired"
    assert shop.told(f"gitmem restore {one}").startswith("restore: commit ")
    assert shop.states()[one] == "observation"
    with shop.open() as memory:
        op = memory.log().rows[0]["op_id"]
    assert shop.told(f"gitmem undo {op}").startswith("undo: commit ")
    assert shop.states() == {one: "retired", other: "observation"}
    assert shop.told(f"gitmem show {other}\n").startswith(f"The cache lives in Redis\nid         {other}\n")
    assert shop.told('gitmem search "redis cache"').splitlines()[0].startswith(other)
    assert shop.told("gitmem search nowhere").startswith("no record matches")
    assert shop.told("gitmem status").split()[:3] == ["vault", "shop", "(workspace,"]
    assert shop.told("gitmem inbox") == "nothing waits in the inbox"


def test_candidates_are_decided(shop: Shop) -> None:
    first, second, third = (shop.propose(f"{word} is so") for word in ("Apples", "Bread", "Cider"))

    assert shop.told(f"gitmem accept {first} --to promoted").startswith("accept: commit ")
    assert shop.states() == {first: "promoted"}
    assert shop.told(f"gitmem reject {second} --reason 'Not so'").startswith("reject")
    assert shop.told(f"gitmem defer {third} --until 2030-01-01").startswith("defer")
    assert shop.told("gitmem inbox").startswith("nothing waits")


TERMINAL = "hint: Run it at a terminal and type the code that it shows."
NEVER = f"error: a prompt in a host changes nothing that is declared, and nothing in the global vault\n{TERMINAL}"


def test_what_needs_a_code_is_sent_to_a_terminal_and_nothing_is_written(shop: Shop) -> None:
    one = shop.observe()
    boundary = shop.propose("Never push to main", Kind.BOUNDARY)
    with shop.open() as memory:
        goal = memory.declare(Draft("Release 2.0", kind=Kind.GOAL), PERSON)
        retired = memory.declare(Draft("Release 1.0", kind=Kind.GOAL), PERSON).records[0].id
        memory.retire(retired, "released", PERSON)
    before = shop.heads()

    for command in (
        f"gitmem promote {one} --to global",
        f"gitmem promote {one} --to=global",
        f"gitmem retire {goal.records[0].id} --reason over",
        f"gitmem restore {retired}",
        f"gitmem undo {goal.op_id}",
        f"gitmem accept {boundary}",
        f"gitmem accept {boundary} --to baseline",
        f"gitmem reject {boundary} --reason no",
        f"gitmem defer {boundary}",
    ):
        assert shop.told(command) == NEVER, command

    assert shop.heads() == before
    with shop.open() as memory:
        assert [row["id"] for row in memory.inbox().rows] == [boundary]


def test_nothing_changes_in_the_global_vault(shop: Shop) -> None:
    one, candidate = shop.observe(named="global"), shop.propose("Apples are so", named="global")
    before = shop.heads()
    payload = load("claude-code", shop.project.parent, "prompt")  # a folder that belongs to no workspace

    for command in (
        f"promote {one}",
        f"retire {one} --reason no",
        f"accept {candidate}",
        f"reject {candidate} --reason n",
    ):
        for options in ((), ("--vault", "global")):
            done = shop.hook(payload | {"prompt": f"gitmem {command}"}, *options)
            assert (done.stderr, json.loads(done.stdout)["reason"]) == ("", NEVER), command

    assert shop.heads() == before


@pytest.mark.parametrize(
    "prompt",
    [
        "Please run gitmem promote ID",
        " gitmem promote ID",
        "\ngitmem promote ID",
        "gitmem promote ID\nand then mend the test",
        "Look at this:\ngitmem promote ID",
        "`gitmem promote ID`",
        '"gitmem promote ID"',
        "> gitmem promote ID",
        "$ gitmem promote ID",
        "sudo gitmem promote ID",
        "GITMEM promote ID",
        "gitmem\tpromote ID",
        "gitmem  promote 'ID",
        "gitmem promote ID\x1b[2K",
        "gitmem promote \u202eID",
        "gitmem promote\u00a0ID",
        "gitmem --human promote ID",
        "gitmem promote ID --human",
        "gitmem promote ID --vault global",
        "gitmem --vault global promote ID",
        "gitmem promote ID --op-id x",
        "gitmem search is broken",
        "gitmem search redis cache",
        "gitmem promote is failing, why?",
        "gitmem promote works ID",
        "gitmem restore it please",
        "gitmem status is odd",
        "gitmem show me ID",
        "gitmem promote",
        "gitmem retire ID",
        "gitmem retire ID --reason",
        "gitmem retire ID --reason a --reason b",
        "gitmem accept ID --body-file /etc/passwd",
        "gitmem accept ID --edit",
        "gitmem accept --all",
        "gitmem declare 'Obey' --kind boundary",
        "gitmem adopt",
        "gitmem import /tmp",
        "gitmem policy init",
        "gitmem edit ID --title x",
        "gitmem observe x",
        "gitmem hook",
        "gitmem",
        "gitmem promote ID " + "x" * 2000,
    ],
)
def test_everything_else_is_a_prompt_like_any_other(shop: Shop, prompt: str) -> None:
    one = shop.observe()
    before = shop.heads()

    assert shop.say(prompt.replace("ID", one)) == ""
    assert shop.heads() == before


def test_no_text_that_a_model_or_a_tool_made_is_a_command(shop: Shop) -> None:
    one = shop.observe()
    before = shop.heads()
    command = f"gitmem promote {one}"

    for host in HOSTS:
        text = (PAYLOADS / f"{host}.jsonl").read_text(encoding="utf-8").replace("/home/sam/shop", str(shop.project))
        for line in text.splitlines():
            payload = json.loads(line)
            if payload.get("hook_event_name") not in (
                "UserPromptSubmit",
                "BeforeAgent",
                "beforeSubmitPrompt",
                "chat.message",
            ):
                planted = dict.fromkeys((*payload, "prompt", "last_assistant_message", "reason"), command)
                kept = (
                    "session_id",
                    "conversation_id",
                    "hook_event_name",
                    "cwd",
                    "host",
                    "cursor_version",
                    "timestamp",
                )
                planted |= {name: payload[name] for name in kept if name in payload}
                shop.hook(planted | {"tool_name": "Bash", "tool_input": {"command": command, "prompt": command}})
    assert shop.say(command, agent_id="a1", agent_type="reviewer") == ""
    assert shop.say(command, agent_type="reviewer") == ""

    assert shop.heads() == before
    assert shop.states()[one] == "observation"


def test_words_of_a_shell_are_words_and_nothing_more(shop: Shop, tmp_path: Path) -> None:
    one = shop.observe()
    mark = tmp_path / "mark"

    told = shop.told(f"gitmem retire {one} --reason '$(touch {mark}) `touch {mark}` ; touch {mark}'")

    assert told.startswith("retire: commit ")
    assert not mark.exists()
    with shop.open() as memory:
        assert "$(touch" in memory.log().rows[0]["note"]
    assert shop.told("gitmem promote $(id)").startswith("error: ")
    assert shop.told("gitmem promote $(id)/ ~/ */").startswith("error: 3 of 3 records can't be taken")


def test_what_is_shown_hides_nothing_and_is_bounded(shop: Shop) -> None:
    with shop.open() as memory:
        text = "\u202eevil\x1b[2J " + "word " * 5000
        one = memory.observe(Draft("A long record", text, Kind.FACT, evidence=("run:1",)), PERSON).records[0].id

    told = shop.told(f"gitmem show {one}")

    assert not {"\u202e", "\x1b"} & set(told)
    assert len(told) < 10_000
    assert told.endswith("more characters; run it at a terminal to see them")


def test_a_command_where_there_is_no_vault_is_a_prompt(shop: Shop, tmp_path: Path) -> None:
    empty = Shop(shop.project, tmp_path / "nowhere")

    assert empty.say("gitmem status") == ""
    assert not empty.home.exists()


def test_where_the_event_cannot_be_kept_the_command_is_carried_out_all_the_same(shop: Shop) -> None:
    one = shop.observe()
    with shop.open() as memory:
        events = Path(memory.vault.layout.events)
    events.parent.mkdir(exist_ok=True)
    events.write_text("in the way")

    done = shop.hook(load("claude-code", shop.project, "prompt") | {"prompt": f"gitmem promote {one}"})

    assert done.stderr.startswith("gitmem: nothing kept of this event: ")
    assert json.loads(done.stdout)["reason"].startswith("promote: commit ")


def test_it_takes_the_time_that_it_needs(shop: Shop) -> None:
    one = shop.observe()
    with shop.open() as memory:
        from gitmem.transaction.apply import hold_vault

        ground, tools = memory.vault.ground, memory.vault.tools()
        with hold_vault(ground, tools, "a longer operation"):
            payload = load("claude-code", shop.project, "prompt") | {"prompt": f"gitmem promote {one}"}
            env = {"PATH": os.environ["PATH"], "HOME": str(shop.project.parent), "GITMEM_HOME": str(shop.home)}
            running = subprocess.Popen(
                HOOK,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=shop.project,
                env=env,
                text=True,
            )
            assert running.stdin is not None
            running.stdin.write(json.dumps(payload))
            running.stdin.close()
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(2.5)  # longer than a hook has to read its payload
        assert running.stdout is not None
        assert json.loads(running.stdout.read())["reason"].startswith("promote: commit ")
        running.stdout.close()
        running.wait()


def test_several_words_that_name_records_are_a_command(shop: Shop) -> None:
    one, other = shop.observe(), shop.observe("The cache lives in Redis")

    assert shop.told(f"gitmem promote {one} {other[:8]}-x").startswith("error: ")
    assert shop.told(f"gitmem promote {one} {other}").startswith("promote: commit ")
    assert shop.states() == {one: "promoted", other: "promoted"}


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "gemini"])
def test_a_command_that_is_told_twice_is_carried_out_once(host: str, shop: Shop) -> None:
    one = shop.observe()
    payload = load(host, shop.project, "prompt") | {"prompt": f"gitmem promote {one}"}
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(shop.hook, [payload, payload])

    assert (first.stderr, second.stderr) == ("", "")
    assert first.stdout == second.stdout
    assert f"{one}  promoted" in first.stdout
    with shop.open() as memory:
        assert [row["op"] for row in memory.log().rows] == ["promote", "observe", "init"]


def test_options_come_first_and_no_word_is_taken_for_one() -> None:
    assert find_command("gitmem retire m7k2 a-b --reason 'no more' --superseded-by=c\r\n") == [
        *("retire", "--reason=no more", "--superseded-by=c", "--", "m7k2", "a-b"),
    ]
    assert find_command("gitmem retire a --reason --to") == ["retire", "--reason=--to", "--", "a"]
    assert find_command("gitmem search -- x") is None
    assert find_command("gitmem status") == ["status", "--"]
    assert "declare" not in VERBS


def test_a_long_answer_is_cut_at_a_line() -> None:
    assert shorten_text("short", 9) == "short"
    assert shorten_text("one\ntwo\nthree", 9) == ("one\ntwo\n… and 6 more characters; run it at a terminal to see them")


def test_only_a_prompt_event_is_looked_at(shop: Shop) -> None:
    payload = load("claude-code", shop.project, "tool_response") | {"prompt": "gitmem status"}
    family = find_family(payload)
    assert family is not None
    seen = find_seen(payload, family)
    assert seen is not None

    with shop.open() as memory:
        assert answer_command(family, seen, memory, lambda _args, _around: pytest.fail("it ran")) == ""

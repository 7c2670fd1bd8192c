"""``gitmem keys``: what a person is shown and asked, in a real terminal, and what is said of the keys."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.hosts.cli.commands.keys import _Trusting
from gitmem.model.authority import Actor, Surface
from gitmem.wiring import open_memory

from signing_ground import make_key, needs_openssh

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"
pytestmark = needs_openssh


def fingerprint(key: str) -> str:
    line = subprocess.run(["ssh-keygen", "-l", "-f", f"{key}.pub"], check=True, capture_output=True, text=True).stdout
    return line.split()[1]


def test_keys_are_added_shown_and_removed(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    assert gitmem("keys", "list").code == 1
    terminal("declare", "Never push", "--kind", "boundary")
    key = make_key(tmp_path, "pat")
    done = terminal("keys", "add", f"{key}.pub", "--name", "Pat's laptop")
    assert done.code == 0
    assert f"fingerprint  {fingerprint(key)}" in done.out
    assert "declared so far, and signed with it:\n  | Never push\n" in done.out
    listed = gitmem("keys", "list")
    shown = f"Pat's laptop  ssh-ed25519  {fingerprint(key)}  trusted here, signs here"
    assert (listed.code, listed.out) == (0, f"{shown}\n\nstatement 1 signs for 1 declared record\n")
    assert gitmem("keys", "list", "--json").document["results"] == [
        {
            "name": "Pat's laptop",
            "type": "ssh-ed25519",
            "fingerprint": fingerprint(key),
            "listed": True,
            "trusted": True,
            "signs": True,
        }
    ]
    assert terminal("declare", "Never delete", "--kind", "boundary").code == 0
    assert "statement 2 signs for 2 declared records" in gitmem("keys", "list").out
    gone = terminal("keys", "remove", "Pat's laptop")
    assert gone.code == 0
    assert "from then on nothing is signed" in gone.out
    assert gitmem("keys", "list").code == 1


def test_a_model_can_t_list_a_key(gitmem: Gitmem, tmp_path: Path) -> None:
    done = gitmem("keys", "add", make_key(tmp_path, "eve"), "--json")
    assert (done.code, done.document["error"]["code"]) == (5, "needs-human")


def test_a_passphrase_is_asked_for_at_the_terminal(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    key = make_key(tmp_path, "pat", "open sesame")
    assert terminal("keys", "add", key, passphrase="open sesame").code == 0
    before = gitmem.git("rev-parse", "HEAD")
    wrong = terminal("declare", "Never push", "--kind", "boundary", passphrase="close sesame")
    assert (wrong.code, "could not be signed, and nothing was written" in wrong.out) == (6, True)
    assert gitmem.git("rev-parse", "HEAD") == before
    assert terminal("declare", "Never push", "--kind", "boundary", passphrase="open sesame").code == 0
    assert "statement 2 signs for 1 declared record" in gitmem("keys", "list").out


def test_a_clone_is_trusted_by_a_person_who_saw_the_fingerprints(
    gitmem: Gitmem, terminal: Terminal, tmp_path: Path
) -> None:
    terminal("declare", "Never push", "--kind", "boundary")
    key = make_key(tmp_path, "pat")
    terminal("keys", "add", key)
    for anchor in Path(gitmem.environment.home, "anchors").iterdir():
        anchor.unlink()
    told = gitmem("context")
    assert "nobody on this machine has said yet that this vault's keys are people's" in told.out
    assert "Boundaries, declared" not in told.out
    assert gitmem("keys", "trust", "--json").document["error"]["code"] == "needs-human"
    done = terminal("keys", "trust")
    assert done.code == 0
    assert f"pat  {fingerprint(key)}" in done.out
    assert "Boundaries, declared" in gitmem("context").out


def test_status_and_context_say_what_the_signatures_lack(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    terminal("declare", "Never push", "--kind", "boundary")
    terminal("keys", "add", make_key(tmp_path, "pat"))
    note = next(gitmem.repo.glob("baseline/*.md"))
    note.unlink()
    gitmem.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qam", "by hand")
    assert "1 declared record is not as a person signed" in gitmem("status").err
    shown = gitmem("context")
    assert shown.code == 0
    assert "shown as signed): Never push" in shown.out


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "bad-key"), ("ssh-ed25519 AAAA\n", "bad-key"), ("ssh-dss AAAAB3NzaC1kc3M= x\n", "bad-key")],
)
def test_what_is_no_key_is_refused(text: str, code: str, gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "bad.pub").write_text(text)
    done = terminal("keys", "add", str(tmp_path / "bad.pub"), "--json")
    assert f'"{code}"' in done.out
    assert terminal("keys", "add", str(tmp_path / "none"), "--json").out.count('"no-such-key"') == 1


def test_verify_says_what_is_proved_and_what_broke_first(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    terminal("declare", "Never push", "--kind", "boundary")
    none = gitmem("verify")
    assert none.code == 0
    assert none.out.splitlines() == [
        "2 commits, 0 signed, 0 by plain Git, 1 change of what only people may without a signature",
        "consistent, not proven: nothing contradicts itself, and not everything is signed by trusted keys",
    ]
    terminal("keys", "add", make_key(tmp_path, "pat"))
    proved = gitmem("verify")
    assert (proved.code, proved.out.splitlines()[-1]) == (
        0,
        "proven: since the first key, all that only people may change is signed, by keys trusted here",
    )
    note = next(gitmem.repo.glob("baseline/*.md"))
    name = note.name
    note.unlink()
    gitmem.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qam", "by hand")
    broken = gitmem("verify")
    assert broken.code == 7
    lines = broken.out.splitlines()
    assert lines[0] == f"error: not-signed: baseline/{name} is removed, and nobody signed for it"
    assert lines[1].startswith(f"  {gitmem.git('rev-parse', 'HEAD')[:12]} commit 'by hand' of ")
    assert lines[-1] == "broken: 1 commit against the rules"
    assert gitmem("verify", "--json").document["first"]["code"] == "not-signed"


def level(gitmem: Gitmem) -> str:
    rows = gitmem("doctor", "--json").json["results"]
    return next(row["message"] for row in rows if row["code"] == "authority")


BELOW = "; this protects against models that use the tools, not against a process of your own user"


def test_doctor_names_the_level_of_proof(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    assert level(gitmem) == f"level 1 of 9: a person is shown by a code typed at a terminal{BELOW}"
    terminal("keys", "add", make_key(tmp_path, "pat"))
    unlocked = "level 3 of 9: operations are signed by a key without a passphrase, which any process of yours can use"
    assert level(gitmem) == unlocked + BELOW
    locked = make_key(tmp_path, "locked", "open sesame")
    terminal("keys", "add", locked)
    settings = Path(gitmem.environment.home, "settings.json")
    settings.write_text(f'{{"signing_key": "{locked}"}}')
    assert level(gitmem) == f"level 5 of 9: operations are signed by a key with a passphrase, typed for each{BELOW}"
    settings.unlink()
    assert level(gitmem).startswith("level 1 of 9: this machine has no key that the vault lists")
    found = {row["code"]: row["message"] for row in gitmem("doctor", "--json").json["results"]}
    assert found["signing"] == "statement 2 signs for 0 declared; the trusted keys are kept in the home"


def test_a_key_in_an_agent_signs_for_any_process(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    terminal("keys", "add", make_key(tmp_path, "pat"))
    locked = make_key(tmp_path, "locked", "open sesame")
    terminal("keys", "add", locked)
    socket = str(tmp_path / "agent")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE, text=True)
    assert agent.stdout is not None
    try:
        agent.stdout.readline()  # it listens once it has said where
        around = {"PATH": terminal.path, "SSH_AUTH_SOCK": socket}
        unlocked = str(tmp_path / "unlocked")
        Path(unlocked).write_bytes(Path(locked).read_bytes())
        Path(unlocked).chmod(0o600)
        change = ["ssh-keygen", "-q", "-p", "-P", "open sesame", "-N", "", "-f", unlocked]
        subprocess.run(change, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ssh-add", "-q", unlocked], check=True, env=around)
        settings = Path(gitmem.environment.home, "settings.json")
        settings.write_text(f'{{"signing_key": "{locked}.pub"}}')
        told = level(gitmem.at(agent_socket=socket))
        assert told.startswith("level 3 of 9: operations are signed by a key in an agent")
        done = terminal("declare", "Never push", "--kind", "boundary", SSH_AUTH_SOCK=socket)
        assert done.code == 0
        assert "statement 3 signs for 1 declared record" in gitmem("keys", "list").out
    finally:
        agent.terminate()
        agent.wait()
        agent.stdout.close()


@pytest.mark.parametrize("step", ["write", "write-next", "stage", "commit", "prove", "receipt", "finish"])
def test_a_signed_operation_that_is_killed_is_there_whole_or_not_at_all(
    step: str, gitmem: Gitmem, terminal: Terminal, tmp_path: Path
) -> None:
    terminal("keys", "add", make_key(tmp_path, "pat"))
    killed = terminal("declare", "Never push", "--kind", "boundary", GITMEM_FAILPOINT=step)
    assert killed.code != 0
    terminal("declare", "Never delete", "--kind", "boundary")
    context = gitmem("context")
    is_there = step in ("prove", "receipt", "finish")
    assert context.err == ""
    assert ("Never push" in context.out, "Never delete" in context.out) == (is_there, True)
    assert gitmem("verify", "--json").document["verdict"] == "proven"
    assert gitmem("keys", "list", "--json").document["signed"] == 2 + is_there


def test_what_is_trusted_is_what_was_shown_whatever_was_there_before(
    gitmem: Gitmem, terminal: Terminal, tmp_path: Path
) -> None:
    assert terminal("keys", "add", f"{make_key(tmp_path, 'pat')}.pub", "--name", "Pat").code == 0
    with open_memory(str(gitmem.environment.home), str(tmp_path), "global") as memory:
        trusting = _Trusting(memory)
        first = memory.find_trusting()
        assert terminal("keys", "add", f"{make_key(tmp_path, 'two')}.pub", "--name", "Two").code == 0
        trusting.preview()
        wanted = trusting.run(Actor(Surface.HUMAN, "Pat", "pat@example.com"))
    assert ([one.name for one in first.keys], [one.name for one in wanted.keys]) == (["Pat"], ["Pat", "Two"])

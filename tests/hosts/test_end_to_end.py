"""From what a host's own program told its hooks to a record that a person accepted, and the context that has it.

The sessions are recorded (``payloads/README.md``). Each payload goes to a ``gitmem hook`` of its own; the project
is a real repository, in which the commit is made when the session says so.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import git

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


PAYLOADS = Path(__file__).parent / "payloads"
HOSTS = ("claude-code", "codex", "cursor", "dsh", "gemini", "opencode")
RECORDED_IN = "/home/sam/shop"
TOLD = ("The cart test fails", "Please mend", "AssertionError", "transcript_path", "Run the tests")
"""Words of prompts, outputs and inputs; none may be kept."""


@dataclass
class Shop:
    """A project with its own vault, and the command as people, hosts and agents in it run it."""

    folder: Path
    home: Path
    terminal: Terminal

    def run(self, *args: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        around = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GITMEM_HOME": str(self.home), **variables}
        return subprocess.run(
            [sys.executable, "-m", "gitmem", *args],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=around | {"LC_ALL": "C.UTF-8"},
            check=False,
        )

    def results(self, *args: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run(*args).stdout)["results"]
        return found

    def commit(self, name: str) -> str:
        (self.folder / name).write_text(f"{name}\n")
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", name)
        return git(self.folder, "rev-parse", "HEAD").strip()

    def play(self, host: str) -> str:
        """Hand each recorded payload to a hook; return the commit that was made meanwhile."""
        made = ""
        for payload in read_payloads(host, self.folder):
            asks_to_commit = "git commit" in payload or "git add" in payload
            if asks_to_commit and not made:
                made = self.commit("cart.py")
            done = self.run("hook", "--host", host, stdin=payload)
            assert (done.returncode, done.stderr) == (0, "")
        return made


def read_payloads(host: str, folder: Path) -> Iterator[str]:
    for line in (PAYLOADS / f"{host}.jsonl").read_text(encoding="utf-8").splitlines():
        yield line.replace(RECORDED_IN, str(folder))


def session_of(host: str, folder: Path) -> str:
    first = json.loads(next(read_payloads(host, folder)))
    return str(first.get("session_id") or first.get("conversation_id") or first.get("sessionID"))


@pytest.fixture
def shop(tmp_path: Path, bare: Gitmem, terminal: Terminal) -> Shop:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    home = Path(bare.environment.home)
    made = Shop(folder, home, replace(terminal, environment=replace(bare.environment, folder=str(folder))))
    made.commit("README.md")
    assert made.run("init", "--workspace").returncode == 0
    return made


def everything_below(folder: Path) -> bytes:
    import zlib

    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found.append(data)
            if "objects" in path.parts and not path.suffix:
                found.append(zlib.decompress(data))
    return b"\0".join(found)


@pytest.mark.parametrize("host", HOSTS)
def test_from_a_hosts_events_to_a_promoted_record_and_its_context(host: str, shop: Shop) -> None:
    made = shop.play(host)
    assert made
    session = session_of(host, shop.folder)
    proposed = shop.run(
        *("propose", "Mend the cart with the unit tests", "--body", "Run them before and after: python3 -m unittest."),
        *("--kind", "procedure", "--tag", "tool/unittest", "--evidence", f"commit:{made[:12]}", "--json"),
        GITMEM_HOST=host,
        GITMEM_SESSION=session,
    )
    assert proposed.returncode == 0, proposed.stderr
    curated = shop.run("curate", "--all", "--json")
    assert curated.returncode == 0, curated.stderr

    episodes = shop.results("list", "--kind", "episode", "--json")
    assert len(episodes) == 1
    episode = json.loads(shop.run("show", episodes[0]["id"], "--json").stdout)
    assert episode["properties"]["source"] == f"{host}/{session}"
    assert episode["properties"]["evidence"] == [f"commit:{made}"]
    assert "ran `python -m unittest` (" in episode["body"]
    assert f"1 commit made in the project, up to `{made[:10]}`" in episode["body"]

    waiting = shop.results("inbox", "--json")
    mine = next(row for row in waiting if row["title"] == "Mend the cart with the unit tests")
    assert shop.run("accept", mine["id"]).returncode == 5
    accepted = shop.terminal("accept", mine["id"], "--to", "promoted", "--json")
    assert accepted.code == 0, accepted.out
    shown = shop.results("show", mine["id"], "--json")[0]
    assert (shown["state"], shown["authority"]) == ("promoted", "workspace_evidence")
    assert shop.run("context").stdout.count("Mend the cart with the unit tests") == 1
    assert "Mend the cart" in shop.run("recall", "how do I run the unit tests of the cart?").stdout
    assert shop.results("inbox", "--json") == [row for row in waiting if row["id"] != mine["id"]]

    vault = next(shop.home.glob("workspaces/*/repo"))
    log = git(vault, "log", "--format=%s").splitlines()
    assert [re.sub(r":.*", "", line) for line in log] == ["accept", "curate", "init"]
    kept = everything_below(shop.home)
    assert [word for word in TOLD if word.encode() in kept] == []
    assert str(shop.folder).encode() not in everything_below(vault)


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_is_curated_once(host: str, shop: Shop) -> None:
    shop.play(host)
    assert shop.run("curate", "--all").returncode == 0
    before = shop.run("list", "--json").stdout
    assert shop.run("curate", "--all").returncode in (0, 1)
    assert shop.run("list", "--json").stdout == before

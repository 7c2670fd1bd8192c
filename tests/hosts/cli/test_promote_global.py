"""``gitmem promote --to global`` at a terminal, in a script, and killed between its two vaults."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.model.authority import Actor, Surface
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault

if TYPE_CHECKING:
    from hosts.driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"

PERSON = Actor(Surface.HUMAN, "Pat", "pat@example.com")


@pytest.fixture
def acme(gitmem: Gitmem) -> Gitmem:
    """The working folder is a project with a vault of its own, named acme."""
    home, project = gitmem.environment.home, gitmem.environment.folder
    make_vault(home, NewVault(Scope.WORKSPACE, project=project, name="acme"), PERSON)
    return gitmem


def short(repo: Path) -> str:
    command = ["git", "-C", str(repo), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_person_sees_both_effects_and_confirms(acme: Gitmem, terminal: Terminal) -> None:
    one = acme.observe("Run tests with two workers", "--body", "See [[elsewhere]].", "--op-id", "seen")
    shown = acme("show", one, "--json").document["results"][0]
    name, month = Path(shown["path"]).name, Path(shown["path"]).parts[1]

    done = terminal("promote", one, "--to", "global", "--op-id", "to-all")

    status = acme("status", "--json").json
    code = done.out.partition("Type ")[2][:4]
    assert done.out == (
        "promote in the vault 'acme'\n"
        "\n"
        f"  id                {one}\n"
        f"  path              {shown['path']}\n"
        "  title             Run tests with two workers\n"
        "  kind              fact\n"
        "  summary           See [[elsewhere]].\n"
        "  authority         workspace_evidence\n"
        f"  created           {shown['created']}\n"
        f"  updated           {shown['updated']}\n"
        "  evidence          run:1\n"
        f"  there             promoted/{name}\n"
        f"  here              retired/{month}/{name} (retired)\n"
        "  plain text there  1 of its links\n"
        "\n"
        "  text there:\n"
        "  | See elsewhere.\n"
        "\n"
        "Effect: puts it into promoted/ of the global vault 'global', for every workspace, and marks it verified "
        "today; retires it here; one commit in each vault\n"
        "\n"
        f"Type {code} to confirm: {code}\n"
        "in the global vault 'global':\n"
        f"promote: commit {short(acme.repo)}\n"
        f"{one}  promoted  promoted/{name}\n"
        "notice: 1 link to what only this workspace has became plain text there\n"
        "here:\n"
        f"promote: commit {short(Path(status['vault']['path']))}\n"
        f"{one}  retired  retired/{month}/{name}\n"
    )
    assert done.code == 0


def test_without_a_person_it_is_refused_and_nothing_is_written(acme: Gitmem) -> None:
    one = acme.observe("Run tests with two workers")

    done = acme("promote", one, "--to", "global")

    assert (done.code, done.out) == (5, "")
    assert done.err == (
        "error: what holds for every workspace is reviewed by a person, whatever a policy says\n"
        "hint: Ask a person to run it at a terminal.\n"
    )
    assert acme("--vault", "global", "list", "--json").document["results"] == []


def test_a_script_gets_both_halves(acme: Gitmem, terminal: Terminal) -> None:
    one = acme.observe("Run tests with two workers")
    terminal("promote", one, "--to", "global", "--op-id", "to-all")

    document = acme("promote", one, "--to", "global", "--op-id", "to-all", "--json").document

    assert (document["op"], document["op_id"], document["changed"]) == ("promote", "to-all", True)
    assert [record["state"] for record in document["records"]] == ["retired"]
    there = document["global"]
    assert (there["vault"], [record["state"] for record in there["records"]]) == ("global", ["promoted"])
    assert there["commit"] != document["commit"]


def test_killed_between_the_vaults_the_next_command_completes_it(acme: Gitmem, terminal: Terminal) -> None:
    one = acme.observe("Run tests with two workers")

    killed = terminal("promote", one, "--to", "global", GITMEM_FAILPOINT="handover-second")

    assert killed.code == -signal.SIGKILL
    assert len(list(Path(acme.environment.home, "pending").iterdir())) == 1
    env = {"PATH": os.environ["PATH"], "HOME": acme.environment.folder, "GITMEM_HOME": acme.environment.home}
    command = [sys.executable, "-m", "gitmem", "--vault", "global", "status"]
    done = subprocess.run(command, cwd=acme.environment.folder, env=env, capture_output=True, text=True, check=True)
    assert "went to the global vault and is retired here" in done.stdout + done.stderr
    assert list(Path(acme.environment.home, "pending").iterdir()) == []
    assert acme("show", one, "--json").document["results"][0]["state"] == "retired"
    assert acme("--vault", "global", "show", one, "--json").document["results"][0]["state"] == "promoted"

"""Vaults whose people sign: real keys of OpenSSH, made for each test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.programs import find_program
from gitmem.service.memory import Memory

from conftest import Desk

needs_openssh = pytest.mark.skipif(find_program("ssh-keygen") is None, reason="OpenSSH's ssh-keygen is not there")


def make_key(folder: Path, name: str, passphrase: str = "") -> str:
    """Make a key pair and return its private file."""
    file = folder / f"key-{name}"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", str(file)]
    subprocess.run(command, check=True, env={"PATH": "/usr/bin:/bin"})
    return str(file)


def declare(memory: Memory, title: str, person: Actor) -> str:
    """Declare a boundary and return its id."""
    return memory.declare(Draft(title, f"{title}, whatever happens.", Kind.BOUNDARY), person).records[0].id


def boundaries(desk: Desk) -> list[str]:
    """Return the titles of what a context shows as boundaries, in order; a new process's view."""
    with desk.open() as memory:
        return [row["title"] for row in memory.context().rows if row["part"] == "boundary"]


def said(desk: Desk) -> list[str]:
    """Return the codes that a context's diagnostics have."""
    with desk.open() as memory:
        return [problem.code for problem in memory.context().diagnostics]


def commit_all(desk: Desk, subject: str = "by hand") -> None:
    """Commit everything as somebody with Git does."""
    desk.git("add", "--all")
    desk.git("commit", "-q", "-m", subject)

"""Driving the command line: in this process for its forms, in a real terminal for what asks a person."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from gitmem import resources
from gitmem.hosts.cli.run import run
from gitmem.hosts.environment import Environment
from gitmem.model.authority import Actor, Surface
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault

MAX_SILENCE_S = 60
IN_A_TERMINAL = """
import fcntl, runpy, signal, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts in the background
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
runpy.run_module("gitmem", run_name="__main__")
"""
PASSPHRASE = re.compile(rb"[Ee]nter passphrase[^\n]*: $")
PROMPT = re.compile(rb"Type ([0-9a-z]{4}) to confirm: $")
_SCHEMAS = {
    name: fastjsonschema.compile(
        json.loads(resources.read_text("schema", f"{name}.schema.json"))
        | {"$schema": "http://json-schema.org/draft-07/schema"}
    )
    for name in ("write", "read", "error")
}


def parse_document(text: str) -> dict[str, Any]:
    """Return the one JSON document in ``text`` after checking it against the schema of its form."""
    document: dict[str, Any] = json.loads(text)
    form = "read" if "status" in document else "error" if document["ok"] is False else "write"
    _SCHEMAS[form](document)
    return document


@dataclass(frozen=True)
class Result:
    """What one command line left: its exit code and both outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output, of whatever form."""
        return json.loads(self.out)

    @property
    def document(self) -> dict[str, Any]:
        return parse_document(self.out)


@dataclass
class Gitmem:
    """The command line over a home of its own; nobody confirms anything here."""

    environment: Environment
    monkeypatch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def __call__(self, *args: str, stdin: bytes = b"") -> Result:
        self.capture.readouterr()
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = run(args, self.environment)
        return Result(code, *self.capture.readouterr())

    def at(self, **changes: Any) -> Gitmem:
        return replace(self, environment=replace(self.environment, **changes))

    def observe(self, title: str, *options: str) -> str:
        """Write an observation and return its id."""
        record_id: str = self("observe", title, "--evidence", "run:1", "--json", *options).document["records"][0]["id"]
        return record_id

    @property
    def repo(self) -> Path:
        return Path(self.environment.home, "global", "repo")

    def git(self, *args: str) -> str:
        command = ["git", "-C", str(self.repo), *args]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gitmem:
    """gitmem with a home that is still empty, in a working folder that is no project."""
    folder = tmp_path / "work"
    folder.mkdir()
    environment = Environment(home=str(tmp_path / "home"), folder=str(folder), login="sam")
    return Gitmem(environment, monkeypatch, capsys)


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a global vault, made once; tests work on copies."""
    home = tmp_path_factory.mktemp("made") / "home"
    actor = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid")
    make_vault(str(home), NewVault(Scope.GLOBAL), actor)
    return home


@pytest.fixture
def gitmem(bare: Gitmem, made_home: Path) -> Gitmem:
    """gitmem with a global vault."""
    home = Path(bare.environment.home)
    shutil.copytree(made_home, home, symlinks=True)
    registry = home / "registry.json"
    registry.write_text(registry.read_text().replace(str(made_home), str(home)))
    return bare


Typist = Callable[[str], str]


@dataclass(frozen=True)
class Terminal:
    """Runs the real command in a terminal of its own, where somebody answers the prompt."""

    environment: Environment
    path: str

    def __call__(
        self,
        *args: str,
        answer: Typist = lambda code: f"{code}\n",
        stdin: bytes | None = None,
        typed_ahead: bytes = b"",
        columns: int = 120,
        passphrase: str | None = None,
        prompt: re.Pattern[bytes] = PROMPT,
        **variables: str,
    ) -> Result:
        """Return the exit code and, as ``out``, all that the terminal showed."""
        main, side = os.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.write(main, typed_ahead)
        process = subprocess.Popen(
            [sys.executable, "-c", IN_A_TERMINAL, *args],
            stdin=side if stdin is None else subprocess.PIPE,
            stdout=side,
            stderr=side,
            cwd=self.environment.folder,
            env={"PATH": self.path, "HOME": self.environment.folder, "GITMEM_HOME": self.environment.home} | variables,
            start_new_session=True,
        )
        os.close(side)
        if process.stdin is not None:
            process.stdin.write(stdin or b"")
            process.stdin.close()
        try:
            seen = self._read(main, answer, passphrase, prompt)
            code = process.wait(MAX_SILENCE_S)
        finally:
            process.kill()  # does nothing to one that has ended
            os.close(main)
        return Result(code, seen.decode().replace("\r\n", "\n"), "")

    def _read(self, main: int, answer: Typist, passphrase: str | None, prompt: re.Pattern[bytes]) -> bytes:
        seen = b""
        answered = False
        while chunk := _read_some(main):
            seen += chunk
            asked = None if answered else prompt.search(seen)
            if asked is not None:
                answered = True
                os.write(main, f"{answer(asked[1].decode())}".encode())
            if passphrase is not None and PASSPHRASE.search(seen):
                seen += b"(typed)"
                os.write(main, f"{passphrase}\n".encode())
        return seen


def _read_some(main: int) -> bytes:
    if not select.select([main], [], [], MAX_SILENCE_S)[0]:
        raise AssertionError(f"the command said nothing for {MAX_SILENCE_S} s")
    try:
        return os.read(main, 65536)
    except OSError:  # the other side is closed
        return b""


@pytest.fixture
def terminal(bare: Gitmem) -> Terminal:
    """The command in a terminal, over the same home as ``gitmem``."""
    return Terminal(bare.environment, os.environ["PATH"])

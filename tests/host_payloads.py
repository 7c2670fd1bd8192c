"""The recorded payloads of hosts, and a real ``gitmem hook`` to hand them to, over a project and a vault of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.model.authority import Actor, Surface
from gitmem.model.event import Event
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.vault.layout import VaultLayout
from gitmem.vault.spool import iter_spools
from gitmem.wiring import make_vault

from conftest import git

FOLDER = Path(__file__).parent / "hosts" / "payloads"
RECORDED_PROJECT = "/home/sam/shop"
HOSTS = ("claude-code", "codex", "cursor", "dsh", "gemini", "opencode")
PERSON = Actor(Surface.HUMAN, "Sam Person", "sam@example.com")


def load_payloads(name: str, project: Path | str = RECORDED_PROJECT) -> list[dict[str, Any]]:
    """Return the payloads of ``name``.jsonl in order, with ``project`` in place of the one that was recorded."""
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").replace(RECORDED_PROJECT, str(project))
    return [json.loads(line) for line in text.splitlines()]


@dataclass(frozen=True)
class Shop:
    """A project under Git, and a home with the vault of its workspace."""

    project: Path
    home: Path
    layout: VaultLayout

    def hook(
        self, payload: object, *options: str, folder: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the real hook with ``payload`` (bytes as they are, else as JSON) as its standard input."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        command = [sys.executable, "-m", "gitmem", "hook", *options]
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.home.parent), "GITMEM_HOME": str(self.home)} | variables
        return subprocess.run(
            command, input=data, capture_output=True, cwd=folder or self.project, env=env, check=False
        )

    def events(self) -> list[Event]:
        """Return all that is kept, session by session."""
        return [event for spool in iter_spools(self.layout) for event in spool.events]


def make_shop(folder: Path) -> Shop:
    """Make the project and its vault below ``folder``."""
    project, home = folder / "shop", folder / "home"
    (project / "src").mkdir(parents=True)
    (project / "src" / "cart.py").write_text("def total(items):\n    return sum(items)\n")
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Start")
    entry, _receipt = make_vault(str(home), NewVault(Scope.WORKSPACE, project=str(project)), PERSON)
    return Shop(project, home, VaultLayout(entry.path, entry.runtime))


def iter_bytes(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names and the bytes of all below ``folder``, what Git compressed as it was before."""
    for root, _folders, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            data = path.read_bytes()
            yield str(path), name.encode() + data
            if path.parent.parent.name == "objects" and len(name) == 38:
                yield f"{path} inflated", zlib.decompress(data)
        if ".git" in _folders:
            command = ["git", "cat-file", "--batch-all-objects", "--batch"]
            yield root, subprocess.run(command, cwd=root, capture_output=True, check=True).stdout

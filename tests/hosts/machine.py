"""A person's machine for installers: a home folder with a project in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gitmem.hosts.environment import HostFolders

if TYPE_CHECKING:
    from driving import Gitmem, Result


@dataclass
class Machine:
    """A person's home folder with a project in it, and gitmem over both."""

    gitmem: Gitmem
    user: Path
    project: Path

    def __call__(self, *args: str, code: int = 0) -> Result:
        done = self.gitmem(*args)
        assert done.code == code, done
        return done

    def at(self, **changes: Any) -> Machine:
        return Machine(self.gitmem.at(**changes), self.user, self.project)

    def snapshot(self) -> dict[str, bytes | str]:
        """All that is in the home folder: files by their bytes, links by where they lead, folders as such."""
        return {str(path.relative_to(self.user)): _read(path) for path in sorted(self.user.rglob("*"))}

    def with_python(self, python: str) -> Machine:
        return self.at(python=python)

    def file(self, host: str, scope: str) -> Path:
        """The file of the host that holds most of what it gets."""
        root = self.project if scope == "project" else self.user
        return {
            "claude-code": root / ".claude" / ("settings.local.json" if scope == "project" else "settings.json"),
            "codex": root / ".codex/hooks.json",
            "gemini": root / ".gemini/settings.json",
            "cursor": root / ".cursor/hooks.json",
            "opencode": root / "opencode.json" if scope == "project" else root / ".config/opencode/opencode.json",
        }[host]


def _read(path: Path) -> bytes | str:
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    return "folder" if path.is_dir() else path.read_bytes()


def make_folders(user: Path) -> HostFolders:
    return HostFolders(
        user=str(user),
        claude=str(user / ".claude"),
        claude_state=str(user),
        codex=str(user / ".codex"),
        gemini=str(user / ".gemini"),
        cursor=str(user / ".cursor"),
        opencode=str(user / ".config/opencode"),
        dsh=str(user / ".dsh"),
        agents=str(user / ".agents"),
    )


@pytest.fixture
def make_machine(
    bare: Gitmem,
    tmp_path: Path,
) -> Callable[..., Machine]:
    def make(name: str = "sam") -> Machine:
        user = tmp_path / name
        project = user / "shop"
        (project / ".git").mkdir(parents=True)
        (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
        for folder in ("objects", "refs"):
            (project / ".git" / folder).mkdir()
        return Machine(bare.at(folder=str(project), host_folders=make_folders(user)), user, project)

    return make


@pytest.fixture
def machine(make_machine: Callable[..., Machine]) -> Machine:
    return make_machine()

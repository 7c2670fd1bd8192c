"""Shared ground for tests: real homes, real vaults, the two surfaces, and Git itself as an independent judge."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitmem.git.repo import Repo
from gitmem.model.authority import Actor, Surface
from gitmem.model.ids import CommitId
from gitmem.model.record import Draft
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.vault import Options
from gitmem.wiring import make_vault, open_memory

SHARED = Path(__file__).parents[2] / "shared"


@dataclass(frozen=True)
class Desk:
    """A home with one vault in it, and the means to look at it from outside."""

    home: str
    repo: Path
    runtime: Path

    def open(self, **options: object) -> Memory:
        return open_memory(self.home, self.home, str(self.repo), Options(**options))  # type: ignore[arg-type]

    def git(self, *args: str, check: bool = True) -> str:
        return git(self.repo, *args, check=check)

    def judge(self) -> None:
        """Assert that Git finds nothing odd: sound objects, a clean tree, and no leftovers of ours anywhere."""
        assert self.git("fsck", "--strict", "--no-dangling") == ""
        assert self.git("status", "--porcelain", "--untracked-files=all") == ""
        assert self.git("diff-files") == ""
        assert self.leftovers() == []

    def leftovers(self) -> list[str]:
        odd = list(self.repo.rglob(".gitmem-*"))
        odd += [path for path in (self.repo / ".git").rglob("*") if path.name.startswith("gitmem-lock")]
        odd += list((self.repo / ".git").rglob("*.lock"))
        odd += list((self.repo / ".git").glob("index.*"))
        odd += list((self.repo / ".git" / "gitmem" / "journal").glob("*"))
        return sorted(str(path) for path in odd)

    def commits(self) -> list[str]:
        return self.git("log", "--format=%s").splitlines()


def git(folder: Path, *args: str, check: bool = True) -> str:
    """Run Git with nobody's configuration; return its output."""
    env = {
        "PATH": "/usr/bin:/bin:/usr/local/bin",
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Pat Person",
        "GIT_AUTHOR_EMAIL": "pat@example.com",
        "GIT_COMMITTER_NAME": "Pat Person",
        "GIT_COMMITTER_EMAIL": "pat@example.com",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *args], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {done.stderr}")
    return done.stdout


@pytest.fixture
def person() -> Actor:
    return Actor(Surface.HUMAN, "Pat Person", "pat@example.com")


@pytest.fixture
def agent() -> Actor:
    return Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid", session="s1")


@pytest.fixture
def make_desk(tmp_path: Path, person: Actor) -> Callable[..., Desk]:
    def make(name: str = "vault", *, catalog_shards: int = 1) -> Desk:
        home = tmp_path / "home"
        wanted = NewVault(Scope.WORKSPACE, path=str(tmp_path / name), catalog_shards=catalog_shards)
        entry, _receipt = make_vault(str(home), wanted, person)
        return Desk(str(home), Path(entry.path), Path(entry.runtime))

    return make


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk()


@pytest.fixture
def memory(desk: Desk) -> Iterator[Memory]:
    with desk.open() as opened:
        yield opened


@pytest.fixture
def shared(desk: Desk, person: Actor) -> Iterator[Memory]:
    """The global vault of the desk's home."""
    make_vault(desk.home, NewVault(Scope.GLOBAL), person)
    with open_memory(desk.home, desk.home, "global") as opened:
        yield opened


def draft(title: str = "Run tests with two workers", body: str = "More workers starve the database.") -> Draft:
    """Return a draft that a model surface may observe."""
    return Draft(title=title, body=body, tags=("tool/pytest",), evidence=("run:make test",))


def tip_of(repo: Repo) -> CommitId:
    """Return the commit that the repository's branch is at."""
    commit = repo.head().commit
    assert commit is not None
    return commit

"""A vault opened for one process: where it lies, who may be asked, and its lazily opened parts."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

from gitmem.clock import SystemClock
from gitmem.errors import GitmemError, IntegrityError, StateError, UnavailableError
from gitmem.model.ids import CommitId, Fingerprint
from gitmem.model.record import Problem
from gitmem.model.settings import HomeSettings, Manifest, VaultEntry
from gitmem.typed import TYPE_CHECKING
from gitmem.values import dataclass, field
from gitmem.vault.layout import VaultLayout

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.sharing import SharedCatalog
    from gitmem.git.repo import Repo
    from gitmem.model.change import Change
    from gitmem.transaction.ground import Ground, Tools

NO_COMMIT_HINT = "Switch to the branch that has the records with `git switch`; `git branch --all` lists the branches."
_AT_WORK = ("vault-busy", "index-locked")
"""Why an operation can't be settled just now: somebody else is at work, and may be settling it."""


@dataclass(frozen=True)
class Options:
    """What a host decides for the whole process.

    ``probe`` is called before each step of a transaction. ``lock_wait_s`` bounds the wait for another gitmem process,
    ``index_wait_s`` that for a Git command, ``catalog_wait_s`` that for another process that writes to the catalog.
    ``memory_catalog`` keeps the search catalog off the disk. A read looks at every note where there are at most
    ``max_strict_notes``, or where ``strict`` asks for it; in a larger vault at that many, and at the folders' times
    (ADR 0022). At about ``maintain_at_loose`` loose objects the end of an operation packs them (0: never).
    """

    probe: Callable[[str], None] = lambda _step: None
    lock_wait_s: float = 10.0
    index_wait_s: float = 3.0
    memory_catalog: bool = False
    strict: bool = False
    max_strict_notes: int = 20_000
    catalog_wait_s: float = 2.0
    maintain_at_loose: int = 400
    home: str = ""
    """The home folder, for its settings, its anchors and operations of two vaults; empty for none."""
    settle_handovers: Callable[[OpenVault], tuple[Problem, ...]] = lambda _vault: ()
    """Brings operations of two vaults to their end, see ``service.handover``; wiring sets it."""
    agent_socket: str = ""
    """Where the person's SSH agent listens; empty for none."""
    system_anchors: str = "/etc/gitmem/anchors"
    """The folder where the system's administrator says which keys are people's."""


@dataclass
class OpenVault:
    """One vault; opening it reads nothing yet.

    Not thread-safe: give each thread its own. ``close`` releases the repository's file handles.
    """

    entry: VaultEntry
    clock: SystemClock = field(default_factory=SystemClock)
    options: Options = field(default_factory=Options)

    @cached_property
    def layout(self) -> VaultLayout:
        """Where the vault lies."""
        return VaultLayout(repo=self.entry.path, runtime=self.entry.runtime)

    @cached_property
    def settings(self) -> HomeSettings:
        """The home's own settings. Raises what ``vault.home_settings.load_settings`` raises."""
        from gitmem.vault.home_settings import load_settings
        from gitmem.vault.layout import HomeLayout

        return load_settings(HomeLayout(self.options.home)) if self.options.home else HomeSettings()

    @cached_property
    def repo(self) -> Repo:
        """The repository. Raises ``UnavailableError`` (``vault-missing``) or what a hostile repository raises."""
        from gitmem.git.repo import open_repo

        self._check_there()
        return open_repo(self.layout.repo)

    @cached_property
    def catalog(self) -> SharedCatalog:
        """The search catalog, shared with all in this process who have the vault open; see ``database``."""
        from gitmem.catalog.database import open_database
        from gitmem.catalog.sharing import share
        from gitmem.disk import ensure_folder
        from gitmem.relevance.terms import TERMS_VERSION

        file = ":memory:" if self.options.memory_catalog else self.layout.catalog_file
        key = f"{self.entry.vault_id} {TERMS_VERSION}"

        def make() -> Database:
            if not self.options.memory_catalog:
                with suppress(OSError):
                    ensure_folder(self.layout.runtime)
            return open_database(file, key, self.options.catalog_wait_s)

        return share("\0".join((file, key, self.layout.repo)), make)

    @property
    def database(self) -> Database:
        """The search catalog. Never fails: where its file can't be had it lives in memory and says ``degraded``."""
        return self.catalog.database

    @property
    def manifest(self) -> Manifest:
        """The marker on disk. Raises ``StateError`` (``not-a-vault``) or ``UnavailableError`` (``vault-missing``)."""
        from gitmem.vault.manifest import load_manifest

        self._check_there()
        manifest = load_manifest(self.layout.repo)
        if manifest is None:
            raise StateError(
                "not-a-vault",
                "the folder has no gitmem marker",
                "Put manifest.json back from the repository's history, or name another vault with --vault.",
            )
        return manifest

    @property
    def ground(self) -> Ground:
        """What a transaction stands on."""
        from gitmem.transaction.ground import Ground

        return Ground(layout=self.layout, vault_id=self.entry.vault_id, repo=self.repo)

    def tools(self, *, waits: bool = True, check: Callable[[Change], None] | None = None) -> Tools:
        """Return what a transaction is handed; it waits for others as the process's settings say, or not at all.

        ``check`` sees the exact bytes to be written; left out, it is ``gate.check_change``.
        """
        from gitmem.service.gate import check_change
        from gitmem.service.views import RecordViews
        from gitmem.transaction.ground import Tools
        from gitmem.transaction.maintain import keep_up

        return Tools(
            check=check or (lambda change: check_change(change, self.settings)),
            views=RecordViews(),
            clock=self.clock,
            probe=self.options.probe,
            lock_wait_s=self.options.lock_wait_s if waits else 0,
            index_wait_s=self.options.index_wait_s if waits else 0,
            keep_up=keep_up,
            maintain_at_loose=self.options.maintain_at_loose,
        )

    def head(self) -> CommitId:
        """Return the commit that the vault is at. Raises ``IntegrityError`` (``no-commit``)."""
        commit = self.repo.head().commit
        if commit is None:
            raise IntegrityError("no-commit", "the vault's branch has no commit", NO_COMMIT_HINT)
        return commit

    def committed_ids(self, commit: CommitId, paths: list[str]) -> dict[str, Fingerprint | None]:
        """Return the blob id that each path has in ``commit``, ``None`` for those that it does not have."""
        found = self.repo.blob_ids(commit, paths)
        return {path: None if (entry := found[path]) is None else Fingerprint(entry[0]) for path in paths}

    def settle_abandoned(self) -> tuple[Problem, ...]:
        """Finish or undo what a crashed operation left, if there is any and nobody is at work; never waits.

        The one thing for which a reader writes (INV-READS-DONT-CREATE).

        Returns what was done, or why it could not be, as diagnostics.
        """
        try:
            settled = tuple(Problem("recovered", notice) for notice in self._settle_own())
        except (OSError, GitmemError) as error:
            return (Problem("abandoned-operation", f"a crashed operation can't be settled: {error}"),)
        return (*settled, *self.options.settle_handovers(self))

    def settle_before_writing(self) -> None:
        """Do what ``settle_abandoned`` does; raises what keeps it from that.

        Half an operation of two vaults that can't be settled stops nobody: reads and ``status`` tell it.
        """
        self._settle_own()
        self.options.settle_handovers(self)

    def _settle_own(self) -> list[str]:
        from gitmem.git.discover import find_common_dir, find_git_dir
        from gitmem.transaction.journal import is_pending

        git_dir = find_git_dir(self.layout.repo)
        if git_dir is None:
            return []
        common_dir = find_common_dir(git_dir)
        try:
            waits = is_pending(common_dir)
        except UnavailableError:
            self.repo  # noqa: B018 - why all of the repository can't be used says more than why one folder can't
            raise
        if not waits and not _has_lock_leftovers(git_dir, common_dir):
            return []
        from gitmem.transaction.apply import recover_now

        try:
            return recover_now(self.ground, self.tools(waits=False))
        except UnavailableError as error:
            if error.code in _AT_WORK:
                return []
            raise

    def close(self) -> None:
        """Release the repository's handles. The vault may be used again; it opens anew."""
        for name in ("repo", "catalog"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()

    def _check_there(self) -> None:
        if not os.path.isdir(self.layout.repo):
            raise UnavailableError(
                "vault-missing",
                f"the vault {self.entry.name!r} is not where it was",
                "Put the folder back, or name another vault with --vault. gitmem does not make it anew by itself.",
            )


def _has_lock_leftovers(git_dir: str, common_dir: str) -> bool:
    from gitmem.git.lockfile import has_leftovers

    with suppress(OSError):
        return has_leftovers(git_dir, common_dir)
    return False


def list_steps() -> tuple[str, ...]:
    """Return the names that ``Options.probe`` is called with."""
    from gitmem.transaction import ground

    ours = ground.STEPS + ground.RECOVERY_STEPS + ground.MAINTAIN_STEPS
    return ours + ground.HANDOVER_STEPS + ground.ACCEPT_STEPS + ground.CURATE_STEPS

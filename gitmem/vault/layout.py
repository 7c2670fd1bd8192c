"""Where things lie: a home, and the two folders of a vault. Design section 3. Pure; nothing is created here."""

from __future__ import annotations

from os.path import join

from gitmem.model.record import FOLDERS
from gitmem.values import dataclass

MANIFEST = "manifest.json"
FOLDER_IN_GIT = "gitmem"
"""Where, in Git's common directory, what guards the repository lies: the lock, the crash journal."""
POLICY = "policy.yaml"
LIFECYCLE_FOLDERS = tuple(FOLDERS)


@dataclass(frozen=True)
class HomeLayout:
    """The folder that holds the registry, the global vault and the workspace vaults. ``root`` is absolute."""

    root: str

    @property
    def registry_file(self) -> str:
        """The only file with absolute paths."""
        return join(self.root, "registry.json")

    @property
    def settings_file(self) -> str:
        """What belongs to this machine and person."""
        return join(self.root, "settings.json")

    def anchor_file(self, vault_id: str) -> str:
        """Return the file of what this machine trusts of one vault's keys."""
        return join(self.root, "anchors", f"{vault_id}.json")

    @property
    def handovers(self) -> str:
        """Operations of two vaults that are under way or were broken off, one file each."""
        return join(self.root, "pending")

    @property
    def told(self) -> str:
        """Which sessions were told of a memory that can't be read; may be deleted at any time."""
        return join(self.root, "told")

    @property
    def registry_lock(self) -> str:
        """Guards the registry against two writers."""
        return join(self.root, "registry.lock")

    @property
    def init_lock(self) -> str:
        """Guards the making of vaults against two makers."""
        return join(self.root, "init.lock")

    @property
    def global_repo(self) -> str:
        """The repository of the global vault."""
        return join(self.root, "global", "repo")

    @property
    def workspaces(self) -> str:
        """The folder of the workspaces' vaults, each below its id."""
        return join(self.root, "workspaces")

    def workspace_repo(self, vault_id: str) -> str:
        """Return the repository of one workspace's vault."""
        return join(self.workspaces, vault_id, "repo")

    def runtime_of(self, vault_id: str, repo: str) -> str:
        """Return the runtime folder of a vault: beside its repository inside the home, else under ``runtime/``."""
        own = (self.global_repo, self.workspace_repo(vault_id))
        return join(repo[: -len("/repo")], "runtime") if repo in own else join(self.root, "runtime", vault_id)


@dataclass(frozen=True)
class VaultLayout:
    """The two folders of one vault, both absolute: the managed repository and the runtime that is never committed."""

    repo: str
    runtime: str

    @property
    def receipts(self) -> str:
        """Receipts, one line an operation, one file a month."""
        return join(self.runtime, "receipts")

    @property
    def unchanged(self) -> str:
        """Receipts of named operations that had nothing to do, and so no commit."""
        return join(self.receipts, "unchanged")

    @property
    def searched_file(self) -> str:
        """Which operation ids history holds, to save walking it; may be deleted at any time."""
        return join(self.runtime, "searched.json")

    @property
    def recall(self) -> str:
        """What each session was shown last, to not say it again; may be deleted at any time."""
        return join(self.runtime, "recall")

    @property
    def inbox(self) -> str:
        """Candidates that wait for a person, one file each."""
        return join(self.runtime, "inbox")

    @property
    def decided(self) -> str:
        """Candidates that were decided, one file each: what was rejected is not proposed again."""
        return join(self.runtime, "inbox", "decided")

    @property
    def inbox_lock(self) -> str:
        """Guards the inbox against two writers."""
        return join(self.runtime, "inbox.lock")

    @property
    def accepting_file(self) -> str:
        """What is being accepted just now: which candidates are decided once the commit is made."""
        return join(self.runtime, "inbox", "accepting.json")

    @property
    def drafts(self) -> str:
        """What a person has begun and not finished: an onboarding, a review."""
        return join(self.runtime, "drafts")

    @property
    def events(self) -> str:
        """Metadata of what hosts saw, one file a session."""
        return join(self.runtime, "events")

    @property
    def events_key(self) -> str:
        """The random key of the hashes in events; without it they can't be compared with anything."""
        return join(self.runtime, "events.key")

    @property
    def events_tally(self) -> str:
        """What of hosts was not kept, counted; see ``vault.tally``."""
        return join(self.runtime, "events.tally")

    @property
    def curating(self) -> str:
        """Sessions that are being curated, one file each: set aside, so that later events are kept apart."""
        return join(self.runtime, "curating")

    @property
    def curated_file(self) -> str:
        """What is remembered of curated sessions and of the curator's own ideas; losing it costs only those."""
        return join(self.runtime, "curated.json")

    @property
    def sightings_file(self) -> str:
        """Which sessions proposed what a record says already; losing it costs a reason to promote."""
        return join(self.runtime, "sightings.json")

    @property
    def curate_lock(self) -> str:
        """Guards what is being curated against two who do it."""
        return join(self.runtime, "curate.lock")

    @property
    def displaced(self) -> str:
        """What a person wrote into a file that an operation had just replaced."""
        return join(self.runtime, "displaced")

    @property
    def exports(self) -> str:
        """What was edited by hand in a section of a project's file that was made afresh since."""
        return join(self.runtime, "exports")

    @property
    def catalog_file(self) -> str:
        """The derived search catalog; may be deleted at any time."""
        return join(self.runtime, "catalog.sqlite")

    def file(self, path: str) -> str:
        """Return the absolute name of a file in the repository."""
        return join(self.repo, path)

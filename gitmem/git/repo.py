"""One repository, opened by its own path only: where it stands and what its commits hold."""

from __future__ import annotations

import collections
import contextlib
import functools
import os
from collections.abc import Iterable, Iterator, Sequence

from gitmem.disk import NO_FOLLOW, READ_FLAGS, iter_files
from gitmem.errors import InputError, StateError, UnavailableError
from gitmem.git.discover import is_same_place
from gitmem.git.head import Head, find_operation, read_head
from gitmem.git.hostile import Place, check_repository
from gitmem.git.kinds import ObjectType
from gitmem.git.library import failures, prepare_libgit2, reading, writing
from gitmem.git.objects import FOLDER, REGULAR_MODES, ObjectStore
from gitmem.model.ids import CommitId, Fingerprint, fingerprint
from gitmem.typed import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pygit2

_PROBE_PREFIX = "_git2_"
_MAX_COMPARED_BYTES = 64 << 20
_STATUS_TRIES = 5
"""libgit2 gives up at a file that is cut short while it reads it, which is what an editor that saves does."""
PathT = TypeVar("PathT", bound=str)
DIRECTORY_RENAMES = "merge.directoryRenames"
"""Off in a vault: folders are states there, and one whose last record moved on was not renamed. ADR 12."""
NOT_A_FILE = Fingerprint("not-a-file")
"""Stands for a link, a folder or another repository where a file is asked for; equals no blob id."""


class Repo:
    """A repository with a work tree. Cheap to make; libgit2 opens it at the first use of ``handle``.

    ``root`` is the work tree, ``git_dir`` holds its HEAD and index, ``common_dir`` branches and objects (the same but
    for linked work trees). ``notices`` names settings that act on people's own Git commands. Not for use by several
    threads at once.
    """

    def __init__(self, place: Place) -> None:
        self.root = place.root
        self.git_dir = place.git_dir
        self.common_dir = place.common_dir
        self.notices = place.notices

    @functools.cached_property
    def handle(self) -> pygit2.Repository:
        """The repository as libgit2 has it.

        Raises ``StateError`` (``foreign-owner``, ``repository-unsupported``), ``IntegrityError``
        (``pack-index-damaged``).
        """
        import pygit2
        from pygit2.enums import RepositoryOpenFlag

        from gitmem.git.pack_bounds import check_pack_bounds

        prepare_libgit2()
        check_pack_bounds(self.objects_dir)
        try:
            handle = pygit2.Repository(self.root, RepositoryOpenFlag.NO_SEARCH)
        except failures() as error:
            raise _refusal(error) from error
        if not (
            handle.workdir and is_same_place(handle.workdir, self.root) and is_same_place(handle.path, self.git_dir)
        ):
            raise StateError(
                "hostile-repository",
                "the repository's settings lead libgit2 to another work tree",
                "Make a clean copy with `git clone --no-local`.",
                setting="core.worktree",
            )
        return handle

    @functools.cached_property
    def objects(self) -> ObjectStore:
        """The objects of the repository."""
        return ObjectStore(self.objects_dir, lambda: self.handle)

    def find_setting(self, name: str) -> str | None:
        """Return the value of a setting in the repository's own configuration, ``None`` where it has none."""
        config = self.handle.config
        return str(config[name]) if name in config else None

    @property
    def index_path(self) -> str:
        """The person's staging area of this work tree."""
        return os.path.join(self.git_dir, "index")

    def close(self) -> None:
        """Give back what libgit2 holds open. The next use opens it again."""
        self.__dict__.pop("objects", None)
        self.reopen()

    @property
    def objects_dir(self) -> str:
        """Where the objects lie."""
        return os.path.join(self.common_dir, "objects")

    def reopen(self) -> None:
        """Let libgit2 look anew at what is packed; what is remembered of objects, by their ids, stays."""
        handle = self.__dict__.pop("handle", None)
        if handle is not None:
            handle.free()

    def head(self) -> Head:
        """Return where HEAD stands, read now. Raises ``IntegrityError`` (``ref-unreadable``)."""
        return read_head(self.git_dir, self.common_dir)

    def state_in_progress(self) -> str | None:
        """Return the Git operation under way (``merge``, ``rebase``, …), ``None`` when there is none."""
        return find_operation(self.git_dir)

    def has_lost_index(self) -> bool:
        """Tell whether the staging area is missing or damaged. Raises as ``unmerged_paths`` does."""
        from gitmem.git.index_file import load_index

        return load_index(self.index_path) is None

    def unmerged_paths(self) -> list[str]:
        """Return the paths that a merge left unmerged in the staging area, sorted; none for one that can't be read."""
        from gitmem.git.index_file import load_index

        index = load_index(self.index_path)
        return [] if index is None else index.unmerged_paths()

    def dirty_paths(self) -> list[str]:
        """Return every path where work tree, staging area and HEAD differ, untracked files included, sorted.

        Looks at the whole work tree. The vault's ``.gitignore`` counts, a person's global ignores do not.
        """
        from pygit2.enums import FileStatus

        from gitmem.git.index_file import load_index

        quiet = (FileStatus.CURRENT, FileStatus.IGNORED)
        tip = self.head().commit
        if tip is not None:
            # libgit2 would hang on a torn folder; reading them all first turns that into an error.
            collections.deque(self.objects.iter_tree(self.objects.tree_of_commit(tip)), maxlen=0)
        if load_index(self.index_path) is None:
            return self._compare_with_head(tip)
        with reading("the state of the work tree"):
            found = {path: status for path, status in self._ask_status().items() if status not in quiet}
        # libgit2 compares what it reads through filters, so attributes can make an untouched file look edited.
        doubtful = [path for path, status in found.items() if status == FileStatus.WT_MODIFIED]
        committed = self.find_blobs(tip, doubtful)
        same = {path for path in doubtful if committed[path] == self._find_fingerprint(path)}
        return sorted(found.keys() - same)

    def _ask_status(self) -> dict[str, int]:
        for _ in range(_STATUS_TRIES - 1):
            with contextlib.suppress(*failures()):
                return self.handle.status()
        return self.handle.status()

    def _compare_with_head(self, tip: CommitId | None) -> list[str]:
        """Do what ``dirty_paths`` does where the staging area is lost, and so holds nothing that HEAD has not."""
        committed = {} if tip is None else dict(self.iter_files(tip))
        present = {
            path
            for path in iter_files(self.root, skips=lambda name: name == ".git")
            if path in committed or (os.path.basename(path) != ".git" and not self.handle.path_is_ignored(path))
        }
        different = {path for path in present if committed.get(path) != self._find_fingerprint(path)}
        return sorted(different | (committed.keys() - present))

    def _find_fingerprint(self, path: str) -> Fingerprint | None:
        """Return the content hash of a file in the work tree, ``None`` for one that is not to be read whole."""
        try:
            with open(os.open(os.path.join(self.root, path), READ_FLAGS | NO_FOLLOW), "rb") as file:
                is_small = os.fstat(file.fileno()).st_size <= _MAX_COMPARED_BYTES
                return fingerprint(file.read()) if is_small else None
        except OSError:
            return None

    def read_blob(self, commit: CommitId, path: str) -> bytes | None:
        """Return the content of a regular file of a commit, ``None`` when there is none at ``path``.

        A small one may come from memory, so this proves nothing about the disk now. Raises ``IntegrityError``
        (``object-unreadable``).
        """
        entry = self.blob_ids(commit, (path,))[path]
        return self.objects.read_small(entry[0]) if entry and entry[1] in REGULAR_MODES else None

    def blob_ids(self, commit: CommitId | None, paths: Iterable[str]) -> dict[str, tuple[Fingerprint, int] | None]:
        """Return ``(id, mode)`` of what each path is in a commit, ``None`` where nothing is.

        A folder in a file's place shows by its mode ``0o040000``, a link by ``0o120000``. Without a commit (an unborn
        branch) nothing is anywhere. Raises ``IntegrityError`` (``object-unreadable``).
        """
        if commit is None:
            return dict.fromkeys(paths)
        tree = self.objects.tree_of_commit(commit)
        found = {path: self.objects.find_entry(tree, path) for path in paths}
        return {path: None if one is None else (Fingerprint(one[0]), one[1]) for path, one in found.items()}

    def find_blobs(self, commit: CommitId | None, paths: Iterable[PathT]) -> dict[PathT, Fingerprint | None]:
        """Return the blob id of the file that each path is in a commit, ``None`` where nothing is.

        ``NOT_A_FILE`` stands for what is no regular file. Raises ``IntegrityError`` (``object-unreadable``).
        """
        wanted = tuple(paths)
        found = self.blob_ids(commit, wanted)
        return {path: _blob_of(found[path]) for path in wanted}

    def iter_files(self, commit: CommitId, prefix: str = "") -> Iterator[tuple[str, Fingerprint]]:
        """Yield ``(path, blob id)`` of the regular files of a commit, in Git's order, below the folder ``prefix``.

        Links and other repositories are left out. Raises ``IntegrityError`` (``object-unreadable``).
        """
        tree: str = self.objects.tree_of_commit(commit)
        folder = prefix.strip("/")
        if folder:
            entry = self.objects.find_entry(tree, folder)
            if entry is None or entry[1] != FOLDER:
                return
            tree = entry[0]
        for path, mode, blob in self.objects.iter_tree(tree, folder + "/" if folder else ""):
            if mode in REGULAR_MODES:
                yield path, Fingerprint(blob)

    def read_object(self, blob_id: str) -> bytes:
        """Return the content of a blob. Raises ``IntegrityError`` (``object-unreadable``)."""
        return self.objects.read(blob_id, ObjectType.BLOB)


def open_repo(root: str) -> Repo:
    """Return the repository whose work tree is ``root`` (absolute); reads only, and never looks into parent folders.

    Raises what ``hostile.check_repository`` raises: ``InputError``, ``UnavailableError`` (``vault-missing``),
    ``StateError``.
    """
    return Repo(check_repository(root))


def init_repo(root: str, branch: str) -> Repo:
    """Create an empty repository in ``root``, and ``root`` with its parents if need be; ``branch`` is unborn.

    No templates and no hooks of the machine come in, line ends are never converted, and a person's Git neither packs by
    itself, nor forgets where branches were, nor takes files that moved for a folder that did. Raises ``StateError``
    (``repository-exists``), ``InputError`` (``bad-branch``), ``UnavailableError`` (``git-write-failed``).
    """
    check_branch(branch)
    if os.path.lexists(os.path.join(root, ".git")):
        raise StateError("repository-exists", "the folder is a Git repository already", "Open it instead.")
    import pygit2
    from pygit2.enums import RepositoryInitFlag

    prepare_libgit2()
    flags = RepositoryInitFlag.MKPATH | RepositoryInitFlag.NO_REINIT
    with writing("a new repository"):
        config = pygit2.init_repository(root, flags=flags, initial_head=branch).config
        config["core.autocrlf"] = False
        config["gc.auto"] = 0
        config["gc.reflogExpire"] = "never"
        config[DIRECTORY_RENAMES] = False
        for name in os.listdir(root):
            if name.startswith(_PROBE_PREFIX):  # libgit2 tries out links in the work tree, and may fail to clean up
                os.unlink(os.path.join(root, name))
        for name in os.listdir(os.path.join(root, ".git")):
            if name.endswith(".lock"):  # nor does it say when it could not remove its own
                os.unlink(os.path.join(root, ".git", name))
    return open_repo(root)


def check_branch(branch: str) -> str:
    """Return the full reference name of ``branch``. Raises ``InputError`` (``bad-branch``)."""
    import pygit2

    name = f"refs/heads/{branch}"
    if not pygit2.reference_is_valid_name(name) or branch == "HEAD" or branch.startswith("-"):
        raise InputError("bad-branch", f"{branch!r} can't be the name of a branch", "Use letters, digits, - and /.")
    return name


def read_user_identity(config_files: Sequence[str]) -> tuple[str, str] | None:
    """Return ``(name, email)`` of a person from their own Git configuration files; a later file wins.

    Files that are missing or broken are passed over: a person's configuration never stops their memory. ``None`` when
    either value is nowhere.
    """
    import pygit2

    prepare_libgit2()
    found: dict[str, str] = {}
    for path in config_files:
        if not os.path.isfile(path):
            continue
        try:
            entries = [(entry.name, entry.value or "") for entry in pygit2.Config(path)]
        except failures():
            continue
        found.update((name, value.strip()) for name, value in entries if name in ("user.name", "user.email"))
    name, email = found.get("user.name"), found.get("user.email")
    return (name, email) if name and email else None


def _blob_of(entry: tuple[Fingerprint, int] | None) -> Fingerprint | None:
    if entry is None:
        return None
    return entry[0] if entry[1] in REGULAR_MODES else NOT_A_FILE


def _refusal(error: BaseException) -> StateError | UnavailableError:
    if "not owned by current user" in str(error):
        return StateError(
            "foreign-owner",
            "the repository belongs to another account",
            "Work as the account that owns it, or make a clone.",
        )
    if isinstance(error, OSError):
        return UnavailableError(
            "vault-unreadable", f"the repository can't be opened: {error}", "Look at its permissions."
        )
    return StateError(
        "repository-unsupported",
        f"the repository can't be opened: {error}",
        "See whether `git status` works there. If it does, make a clone with `git clone --no-local` and use that.",
    )

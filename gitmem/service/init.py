"""Make a new vault: its repository with a first commit, its runtime, its place in the registry."""

from __future__ import annotations

import contextlib
import os
import shutil

from gitmem.clock import SystemClock, format_utc
from gitmem.disk import ensure_folder, flush_folder, write_new
from gitmem.errors import GitmemError, InputError, StateError, UnavailableError, disk_refused
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, OpId, new_op_id, new_vault_id
from gitmem.model.settings import FORMAT, SHARD_COUNTS, Manifest, Scope, VaultEntry
from gitmem.model.vault_path import VaultPath, find_path_problem
from gitmem.resources import read_text
from gitmem.service.fill import complete, is_begun, put_in
from gitmem.service.plan import digest
from gitmem.service.retry import describe_request, given_fields
from gitmem.service.scanner import check_texts
from gitmem.service.vault import OpenVault
from gitmem.service.views import RecordViews
from gitmem.text import find_hidden, one_line
from gitmem.values import dataclass, replace
from gitmem.vault.home_settings import load_settings
from gitmem.vault.layout import LIFECYCLE_FOLDERS, MANIFEST, HomeLayout, VaultLayout
from gitmem.vault.manifest import format_manifest, load_manifest
from gitmem.vault.registry import hold_home, load_registry, register

RULE = "init"
MAX_NAME_CHARS = 80
_SHIPPED = {
    ".gitignore": "gitignore",
    ".gitattributes": "gitattributes",
    ".obsidian/app.json": "app.json",
    ".obsidian/types.json": "types.json",
    "memory.base": "memory.base",
}


@dataclass(frozen=True)
class NewVault:
    """What to make. ``path`` is where a stand-alone vault goes, ``project`` the folder that a workspace belongs to."""

    scope: Scope
    path: str | None = None
    project: str = ""
    name: str = ""
    catalog_shards: int = 1


def init_vault(
    home: HomeLayout, wanted: NewVault, actor: Actor, clock: SystemClock, op_id: OpId | None = None
) -> tuple[VaultEntry, Receipt]:
    """Make a vault with one commit, or find that it is there already (``changed`` is false then).

    Asked again under the ``op_id`` that made the vault, it returns the receipt of that time. The repository is made
    beside its place and renamed into it, so a crash leaves no half vault. Raises ``StateError`` (``folder-not-empty``,
    ``inside-repository``), ``InputError`` (``bad-name``, ``bad-shards``, ``op-id-reused``), ``PolicyError``
    (``secret-found``) or ``UnavailableError`` (``vault-missing``: registered, but gone; ``registry-busy``); nothing is
    written. Raises ``UnavailableError`` too where the disk refuses: then there is no vault, or a whole one, which the
    next call finds.
    """
    try:
        return _init_vault(home, wanted, actor, clock, op_id)
    except OSError as error:
        raise disk_refused(error, "A vault that was made already is found by the next try.") from error


def _init_vault(
    home: HomeLayout, wanted: NewVault, actor: Actor, clock: SystemClock, op_id: OpId | None
) -> tuple[VaultEntry, Receipt]:
    _check(home, wanted, actor, op_id)
    asked = _Asked(wanted, actor, op_id, digest(describe_request(**given_fields(wanted))), clock)
    found = _find_made(home, asked)
    if found is not None:
        return found
    _check_place(_find_root(home, wanted), inside_home=wanted.path is None)
    with hold_home(home):
        try:
            return _find_made(home, asked) or _make(home, asked)
        except (OSError, StateError):
            # A process with another home may have made it at the same moment.
            with contextlib.suppress(GitmemError):
                found = _find_made(home, asked)
            if found is None:
                raise
            return found


@dataclass(frozen=True)
class _Asked:
    wanted: NewVault
    actor: Actor
    op_id: OpId | None
    request: str
    clock: SystemClock


def _find_made(home: HomeLayout, asked: _Asked) -> tuple[VaultEntry, Receipt] | None:
    """Return the vault that is there already, registered now if it was not; ``None`` if it has to be made."""
    wanted = asked.wanted
    entry = _find_known(home, wanted)
    if entry is None:
        _check_project(home, wanted)
        root = _find_root(home, wanted)
        if root is not None and is_begun(root):
            complete(root)
        found = load_manifest(root) if root is not None and os.path.isdir(root) else None
        if root is None or found is None:
            return None
        flush_folder(root)  # whoever put it there may not have come to it, or failed at it
        flush_folder(os.path.dirname(root))
        entry = _enter(home, found, root, wanted.project)
    made = _acknowledge(entry)
    is_asked_for = made is not None and asked.op_id in (None, made.op_id)
    return entry, _find_making(entry, asked) or (made if made is not None and is_asked_for else _unchanged(asked))


def _find_making(entry: VaultEntry, asked: _Asked) -> Receipt | None:
    """Return the receipt of the vault's making if ``op_id`` made it. Raises ``InputError`` (``op-id-reused``)."""
    if asked.op_id is None:
        return None
    from gitmem.transaction.earlier import Retry, find_earlier

    with contextlib.closing(OpenVault(entry, asked.clock)) as vault:
        return find_earlier(vault.ground, Retry(Action.INIT, asked.op_id, asked.request))


def _make(home: HomeLayout, asked: _Asked) -> tuple[VaultEntry, Receipt]:
    wanted = asked.wanted
    vault_id = new_vault_id()
    root = _find_root(home, wanted) or os.path.join(
        os.path.realpath(home.root), os.path.relpath(home.workspace_repo(vault_id), home.root)
    )
    _check_place(root, inside_home=wanted.path is None)
    name = wanted.name or _default_name(wanted, root)
    manifest = Manifest(vault_id, wanted.scope, name, catalog_shards=wanted.catalog_shards)
    asked = replace(asked, op_id=asked.op_id or new_op_id())
    if wanted.path is None:
        ensure_folder(home.root)  # for its owner alone, before a vault in it makes it as open as folders are
    commit = _build(root, manifest, asked)
    entry = _enter(home, manifest, root, wanted.project)
    receipt = replace(
        _unchanged(asked), commit=commit, changed=True, time=format_utc(asked.clock.now()), request=asked.request
    )
    from gitmem.transaction.receipts import append_receipt

    try:
        append_receipt(VaultLayout(root, entry.runtime), receipt)
    except OSError as error:  # the vault stands; who made it is told by its first commit too
        receipt = replace(receipt, notices=(f"committed, but its receipt could not be written: {error}",))
    return entry, receipt


def _enter(home: HomeLayout, manifest: Manifest, root: str, project: str) -> VaultEntry:
    """Register the vault that lies at ``root``."""
    runtime = home.runtime_of(manifest.vault_id, root)
    entry = VaultEntry(manifest.vault_id, manifest.scope, manifest.name, root, runtime, project)
    ensure_folder(runtime)
    register(home, entry)
    return entry


def _acknowledge(entry: VaultEntry) -> Receipt | None:
    """Write the receipt of an ``init`` that was killed before it could; ``None`` where there is nothing to make up."""
    from gitmem.git.history import read_commit
    from gitmem.git.repo import open_repo
    from gitmem.transaction.earlier import receipt_of_commit
    from gitmem.transaction.receipts import append_receipt, find_first_receipt

    layout = VaultLayout(entry.path, entry.runtime)
    if find_first_receipt(layout) is not None:
        return None
    try:
        with contextlib.closing(open_repo(entry.path)) as repo:
            head = repo.head().commit
            first = None if head is None else read_commit(repo, head)
            found = None if first is None or first.parents else receipt_of_commit(repo, first)
    except GitmemError:  # whoever uses the vault is told
        return None
    if found is None or found.op is not Action.INIT:
        return None
    receipt = replace(found, notices=())
    append_receipt(layout, receipt)
    return receipt


def _check(home: HomeLayout, wanted: NewVault, actor: Actor, op_id: OpId | None) -> None:
    if wanted.name and (one_line(wanted.name) != wanted.name or find_hidden(wanted.name) or "/" in wanted.name):
        raise InputError("bad-name", "a vault's name is one line without / or hidden characters", "Choose another.")
    if len(wanted.name) > MAX_NAME_CHARS:
        raise InputError("bad-name", f"a vault's name has at most {MAX_NAME_CHARS} characters", "Choose another name.")
    if wanted.path is not None:
        # "." and a closing "/" are ways to write a path; what counts is the name of the folder that they lead to.
        problem = find_path_problem(os.path.basename(os.path.realpath(wanted.path)) if wanted.path else "")
        if problem or any(0xD800 <= ord(char) < 0xE000 for char in wanted.path):
            message = f"a vault can't lie there: {problem or 'the path is not UTF-8'}"
            raise InputError("bad-path", message, "Choose another name for its folder.")
    who = f"{actor.name} {actor.email} {actor.host}"
    place = "\n".join(filter(None, (wanted.path, wanted.project)))  # for the registry, and the name is made from it
    texts = {"the vault's name": wanted.name, "its folder": place, "the actor": who, "the operation id": op_id or ""}
    check_texts(load_settings(home), texts)
    if wanted.catalog_shards not in SHARD_COUNTS:
        raise InputError("bad-shards", f"the catalog has {SHARD_COUNTS} shards", "Use 32 from about 2,000 records on.")


def _find_known(home: HomeLayout, wanted: NewVault) -> VaultEntry | None:
    own_global = os.path.realpath(home.global_repo)
    for entry in load_registry(home):
        same_place = wanted.path is not None and os.path.realpath(wanted.path) == entry.path
        same_global = wanted.path is None and wanted.scope is Scope.GLOBAL and entry.path == own_global
        same_project = wanted.path is None and wanted.project != "" and wanted.project == entry.project
        if same_place or same_global or same_project:
            if not os.path.isdir(entry.path):
                raise UnavailableError(
                    "vault-missing",
                    f"the vault {entry.name!r} is registered there, but its folder is gone",
                    "Put the folder back. If it is gone for good, take its entry out of registry.json first.",
                )
            return entry
    return None


def _check_project(home: HomeLayout, wanted: NewVault) -> None:
    for entry in load_registry(home):
        if wanted.project and entry.project == wanted.project:
            raise StateError(
                "project-has-a-vault",
                f"the project has the vault {entry.name!r} already",
                f"Use that one (`--vault {entry.vault_id}`), or take its entry out of registry.json first.",
            )


def _find_root(home: HomeLayout, wanted: NewVault) -> str | None:
    """Return where the vault goes, ``None`` for a workspace in the home: that depends on the id that it will have."""
    if wanted.path:
        return os.path.realpath(wanted.path)
    if wanted.scope is not Scope.GLOBAL:
        return None
    return os.path.join(os.path.realpath(home.root), os.path.relpath(home.global_repo, home.root))


def _default_name(wanted: NewVault, root: str) -> str:
    if wanted.scope is Scope.GLOBAL and not wanted.path:
        return "global"
    return one_line(os.path.basename(wanted.project or root))[:MAX_NAME_CHARS] or "vault"


def _check_place(root: str | None, *, inside_home: bool) -> None:
    from gitmem.git.discover import find_repository

    if root is None:
        return
    if os.path.lexists(root) and not os.path.isdir(root):
        raise StateError("not-a-folder", "there is a file of that name", "Name a new or empty folder.")
    names = os.listdir(root) if os.path.isdir(root) else []
    if not inside_home and (".git" in names or find_repository(os.path.dirname(root)) is not None):
        raise StateError(
            "inside-repository",
            "the folder lies inside another Git repository, which gitmem never touches",
            "Choose a folder outside it, or run `gitmem init --workspace` there: the vault then lies in gitmem's home.",
        )
    if ".obsidian" in names:
        raise StateError(
            "folder-not-empty",
            "this is an Obsidian vault; gitmem does not take over an existing one yet",
            "Make a vault in a new folder and bring the notes in with `gitmem import FOLDER`; they stay as they are.",
        )
    if names:
        raise StateError(
            "folder-not-empty",
            f"the folder is not empty: {sorted(names)[0]} is in it",
            "Name a new or empty folder; notes are brought in with `gitmem import FOLDER`.",
        )


def _build(root: str, manifest: Manifest, asked: _Asked) -> CommitId:
    parent = os.path.dirname(root)
    ensure_folder(parent, 0o755)
    place = os.path.join(parent, f".gitmem-init-{new_op_id()}")
    try:
        commit = _make_repository(place, manifest, asked)
        put_in(root, place)
    except BaseException:
        with contextlib.suppress(OSError):
            shutil.rmtree(place)
        raise
    flush_folder(parent)
    return commit


def _make_repository(place: str, manifest: Manifest, asked: _Asked) -> CommitId:
    from gitmem.git.message import REQUEST, Message, format_message
    from gitmem.git.publish import move_branch, prove, write_commit
    from gitmem.git.repo import init_repo
    from gitmem.git.stage import install_index, lock_index, prepare_index
    from gitmem.git.trees import build_tree, write_blobs

    actor, op_id = asked.actor, asked.op_id
    assert op_id is not None
    ensure_folder(place, 0o755)
    repo = init_repo(place, manifest.branch)
    try:
        files = {VaultPath(path): data for path, data in _first_files(manifest).items()}
        for path, data in files.items():
            ensure_folder(os.path.dirname(os.path.join(place, path)), 0o755)
            write_new(os.path.join(place, path), data, 0o644)
        for folder in LIFECYCLE_FOLDERS:
            ensure_folder(os.path.join(place, folder), 0o755)
        blobs = write_blobs(repo, files)
        tree = build_tree(repo, None, blobs)
        trailers = (
            ("Gitmem-Op", Action.INIT.value),
            ("Gitmem-Op-Id", op_id),
            ("Gitmem-Surface", actor.surface.value),
            ("Gitmem-Actor", actor.name),
            ("Gitmem-Host", actor.host),
            ("Gitmem-Rule", RULE),
            (REQUEST, asked.request),
            ("Gitmem-Format", str(FORMAT)),
        )
        subject = f"init: {manifest.scope.value} vault {manifest.name}"
        message = format_message(Message(subject, "A memory that people can read, review, edit and undo.", trailers))
        when = (int(asked.clock.now().timestamp()), 0)
        commit = write_commit(repo, tree, [], (actor.name, actor.email), when, message)
        move_branch(repo, manifest.branch, None, commit, "gitmem: init")
        prove(place, manifest.branch, commit, None, tree, blobs)
        with lock_index(repo, "init"):
            install_index(repo, prepare_index(repo, commit, blobs, op_id))
        return commit
    finally:
        repo.close()


def _first_files(manifest: Manifest) -> dict[str, bytes]:
    files = {path: read_text("templates", f"vault/{name}").encode() for path, name in _SHIPPED.items()}
    files[MANIFEST] = format_manifest(manifest)
    files.update(RecordViews().rebuild((), manifest.catalog_shards))
    return files


def _unchanged(asked: _Asked) -> Receipt:
    return Receipt(
        op=Action.INIT,
        op_id=asked.op_id or new_op_id(),
        commit=None,
        changed=False,
        records=(),
        actor=asked.actor.name,
        surface=asked.actor.surface.value,
    )

"""Is this machine, this home and this vault fit for work? Looks only, and says what to do."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from gitmem.clock import SystemClock
from gitmem.errors import GitmemError
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import OpId
from gitmem.service.leftovers import Leftovers, find_leftovers, find_unfinished_vaults
from gitmem.service.locate import locate
from gitmem.service.proof_level import find_level, without_keys
from gitmem.service.standing import list_unlike, read_standing, say_unlike
from gitmem.service.vault import NO_COMMIT_HINT, OpenVault, Options
from gitmem.typed import Any
from gitmem.vault.atomic import exchange
from gitmem.vault.layout import MANIFEST, HomeLayout
from gitmem.vault.registry import load_registry
from gitmem.version import VERSION

Row = dict[str, Any]
_SYNC_MARKS = ("Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "iCloud", "Mobile Documents", "Syncthing")
_MAX_NAMED = 5
_MAX_COMMITS = 1000
"""How far back an operation of gitmem is looked for."""
_ADVICE = {
    "scanner-failed": "Nothing is written or shown unscanned. Install gitmem again, with the redact-secret that it "
    "asks for.",
    "ref-unreadable": "logs/HEAD in the vault's Git directory lists the commits that it was at; the last of them is "
    "where `git update-ref` should put the branch.",
    "repository-unsupported": "`git -C` on the folder may say more. A new clone of the repository is a vault, too.",
}
"""What to do about errors whose own hint leads here."""


def doctor(home: HomeLayout, folder: str, named: str | None = None, agent_socket: str = "") -> Answer:
    """Return findings as rows: ``severity`` (ok, warning, error), ``code``, ``message``, ``hint``, ``path``.

    Works without a vault. Writes nothing but two small files, for a moment, in the vault's runtime folder (without one
    in the system's temporary folder). ``agent_socket`` is where the person's SSH agent listens, if it does.
    """
    rows = [*_check_program(), *_guard(partial(_check_scanners, home)), *_guard(partial(_check_home, home))]
    revision = None
    try:
        options = Options(home=home.root, agent_socket=agent_socket)
        vault = OpenVault(locate(home, folder, named), SystemClock(), options)
    except GitmemError as error:
        rows += _check_exchange(tempfile.gettempdir())
        rows.append(_row("ok", "authority", without_keys().message))
        rows.append(_row("warning" if error.code == "no-vault" else "error", error.code, error.message, error.hint))
        return Answer(Status.OK, None, rows=tuple(rows))
    layout = vault.layout
    rows += _check_exchange(layout.runtime if os.path.isdir(layout.runtime) else tempfile.gettempdir(), layout.repo)
    if os.path.isdir(layout.repo):  # one that is gone was said with the home
        with contextlib.closing(vault):
            rows += _check_vault(vault)
            with contextlib.suppress(GitmemError):
                revision = vault.repo.head().commit
    return Answer(Status.OK, revision, rows=tuple(rows))


def _check_program() -> Iterator[Row]:
    from gitmem.catalog.database import sqlite_version
    from gitmem.git.library import library_version

    python = ".".join(map(str, sys.version_info[:3]))
    yield _row(
        "ok",
        "versions",
        f"gitmem {VERSION}, Python {python}, libgit2 {library_version()}, SQLite {sqlite_version()}, "
        f"{platform.system()}",
    )


def _check_scanners(home: HomeLayout) -> Iterator[Row]:
    """Tell which secret scanners look at what is written, and try them."""
    from gitmem.policy.secrets import find_secrets
    from gitmem.service.scanner import MADE_UP_SECRET, try_program
    from gitmem.vault.home_settings import load_settings

    if find_secrets(MADE_UP_SECRET):
        yield _row("ok", "scanner", "the built-in secret scanner finds a made-up token")
    else:
        message = "the built-in secret scanner does not find a made-up token"
        yield _row("error", "scanner-failed", message, _ADVICE["scanner-failed"])
    settings = load_settings(home)
    if not settings.secret_scanner:
        return
    hint, program = "Try it by hand. `gitmem settings unset secret-scanner` takes it away.", settings.secret_scanner[0]
    try:
        odd = try_program(settings)
    except GitmemError as error:
        yield _row("error", error.code, error.message, hint, program)
        return
    if odd:
        yield _row("warning", "scanner-odd", f"the secret scanner of your settings is odd: {odd}", hint, program)
    else:
        message = "the secret scanner of your settings looks at all that is written, and finds a made-up token"
        yield _row("ok", "scanner", message, path=program)


def _check_exchange(folder: str, repo: str | None = None) -> Iterator[Row]:
    if repo is not None and os.path.isdir(repo) and os.stat(repo).st_dev != os.stat(folder).st_dev:
        message = "whether two files can be exchanged in one step was not tried: the vault is on another file system"
        yield _row("ok", "exchange", message, path=folder)
    elif _can_exchange(folder):
        yield _row("ok", "exchange", "two files can be exchanged in one step", path=folder)
    else:
        yield _row(
            "warning",
            "no-exchange",
            "two files can't be exchanged in one step here; while an operation replaces a note, there is no file of "
            "its name for a moment",
            "Nothing is lost by it; an editor may say that the note was deleted and came back.",
            folder,
        )


def _check_home(home: HomeLayout) -> Iterator[Row]:
    entries = load_registry(home)
    registered = "1 vault is" if len(entries) == 1 else f"{len(entries)} vaults are"
    yield _row("ok", "home", f"{registered} registered", path=home.root)
    for entry in entries:
        if not os.path.isdir(entry.path):
            hint = "Put the folder back, or take the entry out of registry.json."
            yield _row("error", "vault-missing", f"the vault {entry.name!r} is not where it was", hint, entry.path)
        else:
            yield _row("ok", "vault", f"{entry.scope.value} vault {entry.name!r} ({entry.vault_id})", path=entry.path)
    for leftovers in find_unfinished_vaults(home, tuple(entry.path for entry in entries)):
        yield from _tell_leftovers(leftovers)


def _check_vault(vault: OpenVault) -> Iterator[Row]:
    checks = (
        _check_place,
        _check_repository,
        _check_merging,
        _check_lock,
        _check_abandoned,
        _check_leftovers,
        _check_storage,
        _check_policy,
        _check_signing,
        _check_receipts,
    )
    for check in checks:
        yield from _guard(partial(check, vault))


def _check_place(vault: OpenVault) -> Iterator[Row]:
    layout = vault.layout
    if any(mark in layout.repo for mark in _SYNC_MARKS):
        hint = "Move the vault out of it, or keep its .git folder elsewhere (a separate git directory)."
        yield _row("warning", "sync-folder", "the vault lies in a synchronised folder", hint, layout.repo)
    for place in (layout.repo, layout.runtime):
        if os.path.isdir(place) and not os.access(place, os.W_OK):
            yield _row("error", "not-writable", "the folder can't be written", "Give yourself permission.", place)
    if os.name != "nt" and os.path.isdir(layout.runtime) and os.stat(layout.runtime).st_mode & 0o077:
        yield _row("warning", "runtime-open", "others can read the runtime folder", "Make it 0700.", layout.runtime)


def _check_repository(vault: OpenVault) -> Iterator[Row]:
    repo, root = vault.repo, vault.layout.repo
    head = repo.head()
    repo.handle  # noqa: B018 - a repository that libgit2 refuses can't be written
    manifest = vault.manifest
    if head.branch != manifest.branch:
        hint = f"Switch back with `git switch {manifest.branch}`."
        yield _row("error", "not-on-managed-branch", f"the managed branch is {manifest.branch}", hint, root)
    elif head.commit is None:
        yield _row("error", "no-commit", f"the branch {head.branch} has no commit", NO_COMMIT_HINT, root)
    else:
        yield _row("ok", "repository", f"{manifest.name!r} is at {head.commit} on {head.branch}", path=root)
    if head.commit is not None and repo.read_blob(head.commit, MANIFEST) is None:
        hint = "Is it the vault's own repository? If it is, commit the marker with Git."
        yield _row("error", "not-a-vault", f"the repository has no {MANIFEST} in its last commit", hint, root)
    busy = repo.state_in_progress()
    if busy:
        yield _row("error", "git-operation-in-progress", f"a {busy} is under way", "Finish or abort it with Git.", root)
    unmerged = repo.unmerged_paths()
    if unmerged:
        hint = "Resolve them with Git."
        yield _row("error", "unmerged-paths", f"{len(unmerged)} paths are unmerged, {unmerged[0]} first", hint, root)
    if repo.notices:
        message = f"your own Git commands obey {', '.join(repo.notices)} here; gitmem does not"
        yield _row("ok", "git-settings", message, path=root)


def _check_merging(vault: OpenVault) -> Iterator[Row]:
    """Look at what keeps a person's own merges and reverts clean; a clone, or an older vault, may lack it."""
    from gitmem.git.repo import DIRECTORY_RENAMES
    from gitmem.resources import read_text

    root, head = vault.layout.repo, vault.repo.head().commit
    if head is None or vault.repo.read_blob(head, MANIFEST) is None:  # not the vault's own repository, it may be
        return
    what = "a person's `git revert` or `git merge` may meet conflicts without need"
    if (vault.repo.find_setting(DIRECTORY_RENAMES) or "").lower() != "false":
        hint = f"Run `git config {DIRECTORY_RENAMES} false` in the vault."
        yield _row("warning", "directory-renames", f"{what}: Git takes notes that moved for a folder", hint, root)
    attributes = vault.repo.read_blob(head, ".gitattributes") or b""
    wanted = [line for line in read_text("templates", "vault/gitattributes").splitlines() if " merge=" in line]
    missing = [line for line in wanted if line.encode() not in attributes.splitlines()]
    if missing:
        hint = f"Add these lines to .gitattributes and commit it: {', '.join(missing)}."
        yield _row("warning", "views-in-conflict", f"{what}, in INDEX.md and the catalog", hint, root)


def _check_lock(vault: OpenVault) -> Iterator[Row]:
    from gitmem.git.lockfile import is_own
    from gitmem.git.stage import read_index_lock

    lock = read_index_lock(vault.repo, vault.clock.time_ns())
    place = f"{vault.repo.index_path}.lock"
    if lock is not None and is_own(place):
        hint = "If no gitmem command is at work, the next one removes it."
        yield _row("warning", "index-locked", lock, hint, place)
    elif lock is not None:
        hint = "End the Git command or close the commit editor that holds it. If there is none, a crash left the file."
        yield _row("warning", "index-locked", lock, hint, place)


def _check_abandoned(vault: OpenVault) -> Iterator[Row]:
    from gitmem.transaction.journal import journal_folder

    for name in _find_journals(vault):
        place = os.path.join(journal_folder(vault.repo.common_dir), name)
        try:
            what, obstacle = _examine_journal(vault, name)
        except FileNotFoundError:  # it was under way and has ended
            continue
        if obstacle:
            yield _row("error", "abandoned-operation", f"{what} can't be settled: {obstacle[0]}", obstacle[1], place)
        else:
            message = f"{what} is under way or was abandoned; nothing is in the way"
            yield _row("warning", "abandoned-operation", message, "The next command settles it.", place)


def _check_leftovers(vault: OpenVault) -> Iterator[Row]:
    if not _find_journals(vault):  # an operation under way has such files for good reason
        for leftovers in find_leftovers(vault):
            yield from _tell_leftovers(leftovers)


def _tell_leftovers(found: Leftovers) -> Iterator[Row]:
    if found.names:
        more = len(found.names) - _MAX_NAMED
        named = ", ".join(found.names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        hint = "A crash left them. If no gitmem command is at work, they may be removed."
        yield _row("warning", "leftovers", f"{found.what}: {named}", hint, found.folder)


def _check_storage(vault: OpenVault) -> Iterator[Row]:
    """Tell what lies in the object store, and whether it is time for ``gitmem maintain``."""
    from gitmem.service.maintain import describe_storage, find_due

    yield _row("ok", "storage", describe_storage(vault), path=vault.repo.objects_dir)
    due = find_due(vault)
    if due:
        yield _row("warning", "maintain-due", due, "Run `gitmem maintain`.", vault.repo.objects_dir)


def _check_signing(vault: OpenVault) -> Iterator[Row]:
    """Tell how well it is proved that a person did what only a person may, and what the signatures lack."""
    head = vault.repo.head().commit
    if head is None:
        return
    standing = read_standing(vault, head)
    yield _row("ok", "authority", find_level(vault, standing).message)
    hint = "Look at the history with `gitmem verify`."
    for problem in standing.problems:
        yield _row("error", problem.code, problem.message, hint, vault.layout.repo)
    if standing.statement is None:
        return
    where = "held by the administrator" if standing.anchor and standing.anchor.is_roots else "kept in the home"
    declared = len(standing.statement.declared)
    message = f"statement {standing.statement.counter} signs for {declared} declared; the trusted keys are {where}"
    yield _row("ok", "signing", message, path=vault.layout.repo)
    unlike = list_unlike(vault, head, standing.statement)
    if unlike:
        yield _row("error", "declared-not-as-signed", say_unlike(unlike).message, hint, vault.layout.repo)


def _check_receipts(vault: OpenVault) -> Iterator[Row]:
    """Look for the receipt of the newest operation: a clone, or a runtime that was lost, has none of it."""
    from gitmem.git.history import iter_commits
    from gitmem.git.message import parse_message
    from gitmem.transaction.receipts import find_receipt

    head = vault.repo.head().commit
    for commit in [] if head is None else islice(iter_commits(vault.repo, head), _MAX_COMMITS):
        if "\0" in commit.message:
            message = f"the message of the commit {commit.id} holds NUL; Git shows only what is before it"
            yield _row(
                "warning", "odd-commit", message, "Look at it with `git cat-file -p`; it was not made by gitmem."
            )
        op_id = dict(parse_message(commit.message).trailers).get("Gitmem-Op-Id")
        if op_id is None:
            continue
        if find_receipt(vault.layout, OpId(op_id)) is None:
            hint = (
                "It was made in another clone, or the runtime folder was lost. Nothing has to be done; what an agent "
                "wrote then counts as nobody's own, so that only a person edits or retires it."
            )
            message = f"the receipt of the newest operation ({op_id}) is missing"
            yield _row("warning", "receipts-missing", message, hint, vault.layout.receipts)
        return


def _check_policy(vault: OpenVault) -> Iterator[Row]:
    """Tell which policy holds, and what keeps the committed one from holding."""
    from gitmem.service.policy import find_holding, list_policy_problems

    head = vault.repo.head().commit
    if head is None or vault.repo.read_blob(head, MANIFEST) is None:
        return
    problems = list_policy_problems(vault, head)
    for one in problems:
        severity = "error" if one.code == "policy-broken" else "warning"
        yield _row(severity, one.code, one.message, path=one.path)
    if not problems:
        yield _row("ok", "policy", f"the policy that holds: {find_holding(vault, head).policy.origin}")


def _find_journals(vault: OpenVault) -> list[str]:
    from gitmem.transaction.journal import list_journals

    return list_journals(vault.repo.common_dir)


def _examine_journal(vault: OpenVault, name: str) -> tuple[str, tuple[str, str] | None]:
    """Return which operation the journal is of, and what keeps recovery from settling it with what to do about it."""
    from gitmem.transaction.journal import load_journal

    try:
        journal = load_journal(vault.repo.common_dir, name)
    except ValueError:
        return f"an operation whose journal {name} can't be understood", None  # recovery sets it aside
    what = f"the {journal.receipt.op.value} {journal.op_id} of {journal.receipt.time}"
    try:
        branch = vault.repo.head().branch
        if branch != journal.branch:
            where = f"the vault is on {branch or 'no branch'}, not on {journal.branch}"
            return what, (where, f"Switch back with `git switch {journal.branch}`; the next command then settles it.")
        busy = vault.repo.state_in_progress()
        if busy:
            return what, (f"a {busy} of Git is under way", "Finish or abort it; the next command then settles it.")
        for edit in journal.edits:
            if edit.before is not None:
                vault.repo.read_blob(journal.base, edit.path)
    except GitmemError as error:
        return what, (error.message, "Put the repository back from a backup or another clone; the journal stays.")
    return what, None


def _can_exchange(folder: str) -> bool:
    try:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            names = [os.path.join(place, name) for name in "ab"]
            for name in names:
                with open(name, "w", encoding="utf-8") as file:
                    file.write(name)
            return exchange(names[0], names[1])
    except OSError:
        return False


def _guard(check: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """Yield what ``check`` finds, and what stopped it; the other checks go on."""
    try:
        yield from check()
    except GitmemError as error:
        hint = _ADVICE.get(error.code, error.hint)
        yield _row("error", error.code, error.message, hint, error.fields.get("path"))
    except OSError as error:
        message = f"a check was refused by the system: {error.strerror or error}"
        yield _row("error", "system-error", message, "See to its permissions.", error.filename and str(error.filename))


def _row(severity: str, code: str, message: str, hint: str = "", path: str | None = None) -> Row:
    return {"severity": severity, "code": code, "message": message, "hint": hint, "path": path}

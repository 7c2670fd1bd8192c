"""How the vault is, and what waits for a person."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from gitmem.errors import GitmemError, UnavailableError
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId
from gitmem.model.record import Problem
from gitmem.model.settings import FORMAT, Manifest
from gitmem.model.vault_path import parse_vault_path
from gitmem.service.activity import describe_candidates, describe_sessions
from gitmem.service.agents_md import list_export_problems
from gitmem.service.catalog import describe_catalog, list_problems
from gitmem.service.check import VIEW_EDITED, find_edited_views
from gitmem.service.hidden import is_private_note
from gitmem.service.inbox import count_candidates
from gitmem.service.journal import describe_events
from gitmem.service.maintain import find_due
from gitmem.service.onboard import DRAFT
from gitmem.service.policy import list_policy_problems
from gitmem.service.standing import list_signing_problems
from gitmem.service.vault import OpenVault
from gitmem.service.waiting import list_waiting
from gitmem.service.worktree import iter_work_notes, scan
from gitmem.transaction.steps import RESTORE_HINT, find_lost_tip, say_lost
from gitmem.typed import Any
from gitmem.vault.kept_draft import place_of_draft
from gitmem.vault.layout import POLICY
from gitmem.vault.private import may_be_private
from gitmem.vault.review_draft import REVIEW
from gitmem.vault.scan import Scan, read_stable

_BEGUN = {"review": REVIEW, "onboard": DRAFT}
"""The verbs that a person may break off, each with the name of what is kept of it."""
INDEX_LOST = (
    "Git's staging area is missing or damaged, and what was staged in it is not known; the next operation makes it "
    "anew and keeps a damaged one as .git/damaged-index"
)

LATE_EDIT = (
    "a program wrote into {name} after an operation had replaced it; the next operation keeps that in runtime/displaced"
)


def status(vault: OpenVault) -> Answer:
    """Return the uncommitted notes as rows and the vault in ``extra``.

    A row has ``path`` and ``change`` as ``EditedNote`` has them, ``whose`` (a guess, see ``origin``), ``staged``,
    ``staged_apart``, ``left_alone`` (why ``adopt`` passes it over, else empty), ``modified`` (UTC, ``None`` where the
    file is gone) and ``owner`` (the account that owns the file, ``None`` for this one). ``extra`` has ``vault`` (name,
    id, scope, path), ``branch``, ``in_progress``, ``counts`` by state, private ones apart, ``catalog`` as
    ``describe_catalog`` has it, ``journal`` as ``describe_events`` (``None`` where it can't be read), ``waiting``: how
    many ``notes``, ``private`` ones (which have no row), ``views`` and ``other_files`` are not committed (a policy
    that is not is among the diagnostics), and
    ``inbox``: how many ``candidates`` wait, ``deferred`` ones among them; ``sessions``, ``time`` and ``candidates``
    divide all that is known of them as ``service.activity`` has it (``None`` where it can't be read); ``unfinished``
    names the verbs that a person broke off. Problems of files are diagnostics. Raises what opening the vault raises.
    """
    manifest = vault.manifest
    settled = vault.settle_abandoned()
    head = vault.head()
    dirty = vault.repo.dirty_paths()
    waiting = list_waiting(vault, head, dirty)
    views = find_edited_views(vault, dirty)
    found = scan(vault)
    counts, unreadable = _count_notes(vault, found)
    rows = [row for row in waiting if not _is_private(vault, head, row["path"])]
    catalog = describe_catalog(vault)
    inbox, unread = count_candidates(vault)
    policy = list_policy_problems(vault, head)
    problems = [*settled, *found.problems, *unreadable, *_list_oddities(vault, manifest, head, views), *policy]
    problems += [*list_problems(catalog), *unread]
    extra: dict[str, Any] = {
        "vault": _describe(vault, manifest),
        "branch": vault.repo.head().branch,
        "in_progress": vault.repo.state_in_progress(),
        "counts": dict(sorted(counts.items())),
        "catalog": catalog,
        "inbox": inbox,
        "journal": _count_events(vault, problems),
        **_divide(vault, problems),
        "unfinished": [verb for verb, name in _BEGUN.items() if os.path.lexists(place_of_draft(vault.layout, name))],
        "waiting": {
            "notes": len(rows),
            "private": len(waiting) - len(rows),
            "views": len(views),
            "other_files": len(dirty) - len(waiting) - len(views) - _is_told(policy, dirty),
        },
    }
    return Answer(Status.OK, head, rows=tuple(rows), diagnostics=tuple(problems), extra=extra)


def _is_told(problems: Sequence[Problem], dirty: Sequence[str]) -> bool:
    """Tell whether an uncommitted policy among ``dirty`` is one of the ``problems``, which say what to do with it."""
    return POLICY in dirty and any(one.code == "policy-uncommitted" for one in problems)


def _list_oddities(vault: OpenVault, manifest: Manifest, head: CommitId, views: Sequence[str]) -> list[Problem]:
    """Return what is odd about the vault as a whole."""
    from gitmem.transaction.displaced import find_late_writes

    problems = []
    if manifest.format > FORMAT:
        problems.append(Problem("format-too-new", f"the vault has format {manifest.format}; this gitmem only reads it"))
    problems += [Problem("late-edit", LATE_EDIT.format(name=name)) for name in find_late_writes(vault.ground)]
    problems += [Problem("view-edited", VIEW_EDITED, path) for path in views]
    if vault.repo.has_lost_index():
        problems.append(Problem("index-lost", INDEX_LOST))
    due = find_due(vault)
    if due:
        problems.append(Problem("maintain-due", f"{due}; `gitmem maintain` looks after it"))
    branch = vault.repo.head().branch
    problems += _find_lost_tip(vault, manifest.branch, head)
    problems += list_signing_problems(vault, head)
    problems += list_export_problems(vault)
    if branch != manifest.branch:
        problems.append(Problem("not-on-managed-branch", f"the vault is not on its branch {manifest.branch}"))
    return problems


def _describe(vault: OpenVault, manifest: Manifest) -> dict[str, Any]:
    return {
        "name": manifest.name,
        "id": manifest.vault_id,
        "scope": manifest.scope.value,
        "path": vault.layout.repo,
        "format": manifest.format,
    }


def _count_events(vault: OpenVault, problems: list[Problem]) -> dict[str, int] | None:
    try:
        return describe_events(vault)
    except UnavailableError as error:
        problems.append(Problem(error.code, error.message))
    return None


def _divide(vault: OpenVault, problems: list[Problem]) -> dict[str, Any]:
    told: dict[str, Any] = {"sessions": None, "time": None, "candidates": None}
    known = {problem.code for problem in problems}
    try:
        told["candidates"] = describe_candidates(vault)
        told |= describe_sessions(vault)
    except UnavailableError as error:
        if error.code not in known:
            problems.append(Problem(error.code, error.message))
    return told


def _count_notes(vault: OpenVault, found: Scan) -> tuple[Counter[str], list[Problem]]:
    """Return how many records there are by state, plain and private notes apart, and what can't be read."""
    counts: Counter[str] = Counter()
    problems = []
    for note in iter_work_notes(vault, found):
        if note.problem is not None:
            problems.append(note.problem)
        elif note.record.private if note.record else may_be_private(note.data):
            counts["private"] += 1
        else:
            counts[note.record.state.value if note.record else "plain"] += 1
    return counts, problems


def _is_private(vault: OpenVault, head: CommitId, path: str) -> bool:
    """Tell whether an uncommitted note is private, as it lies there, else as it was committed."""
    data = None
    if os.path.lexists(vault.layout.file(path)):
        with suppress(GitmemError):
            data = read_stable(vault.layout.repo, parse_vault_path(path), vault.clock)
    data = vault.repo.read_blob(head, path) if data is None else data
    return data is not None and is_private_note(path, data)


def _find_lost_tip(vault: OpenVault, branch: str, head: CommitId) -> Iterator[Problem]:
    try:
        lost = find_lost_tip(vault.ground, branch, head)
    except UnavailableError as error:  # receipts that can't be read stop writing; here they are told
        yield Problem(error.code, error.message)
        return
    if lost is not None:
        yield Problem("branch-went-back", f"{say_lost(head, lost)}. {RESTORE_HINT}")

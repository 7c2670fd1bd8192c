"""How the vault is, and what waits for a person."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gitmem.errors import GitmemError
from gitmem.model.answer import Answer, Status
from gitmem.model.record import Problem
from gitmem.model.vault_path import VaultPath
from gitmem.service.adopt import find_edited
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import iter_work_notes, scan
from gitmem.vault.paths import read_file


def status(vault: OpenVault) -> Answer:
    """Return the uncommitted notes as rows (``path``, ``change``: new, edited or deleted) and the vault in ``extra``.

    ``extra`` has ``vault`` (name, id, scope, path), ``branch``, ``in_progress`` and ``counts`` by state. Problems of
    files are diagnostics. Raises what opening the vault raises.
    """
    manifest = vault.manifest
    settled = vault.settle_abandoned()
    head = vault.repo.head()
    edited = find_edited(vault)
    committed = vault.committed_ids(edited)
    rows = tuple({"path": path, "change": _change(vault, path, committed[path] is not None)} for path in edited)
    counts: Counter[str] = Counter()
    problems: list[Problem] = [*settled, *scan(vault).problems]
    for note in iter_work_notes(vault):
        if note.record is not None:
            counts[note.record.state.value] += 1
        elif note.problem is not None:
            problems.append(note.problem)
        else:
            counts["plain"] += 1
    if head.branch != manifest.branch:
        problems.append(Problem("not-on-managed-branch", f"the vault is not on its branch {manifest.branch}"))
    extra: dict[str, Any] = {
        "vault": {
            "name": manifest.name,
            "id": manifest.vault_id,
            "scope": manifest.scope.value,
            "path": vault.layout.repo,
            "format": manifest.format,
        },
        "branch": head.branch,
        "in_progress": vault.repo.state_in_progress(),
        "counts": dict(sorted(counts.items())),
    }
    return Answer(Status.OK, head.commit, rows=rows, diagnostics=tuple(problems), extra=extra)


def _change(vault: OpenVault, path: str, is_committed: bool) -> str:  # noqa: FBT001 - one caller, next to it
    try:
        if read_file(vault.layout.repo, VaultPath(path)) is None:
            return "deleted"
    except GitmemError:
        return "unreadable"
    return "edited" if is_committed else "new"

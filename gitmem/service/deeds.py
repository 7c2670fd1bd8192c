"""What each commit of a history did, read from its trees: only what differs is read. Bodies of records are let go."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from gitmem.errors import GitmemError
from gitmem.git.history import Commit, iter_commits
from gitmem.git.message import parse_message
from gitmem.git.trees import Difference, diff_trees, find_file, tree_of
from gitmem.model.change import RecordChange
from gitmem.model.deed import Deed
from gitmem.model.ids import CommitId, Fingerprint, RecordId
from gitmem.model.record import Record, state_of
from gitmem.model.settings import Manifest
from gitmem.patterns import late
from gitmem.service.vault import OpenVault
from gitmem.service.views import RecordViews
from gitmem.values import replace
from gitmem.vault.layout import MANIFEST, POLICY
from gitmem.vault.manifest import parse_manifest
from gitmem.vault.statement import STATEMENT

_LIKE_OURS = late(r"^gitmem-[a-z-]+[ \t]*:", re.IGNORECASE | re.MULTILINE)
_REGULAR = (0o100644, 0o100755, 0o100664, 0)


def list_oldest_first(vault: OpenVault, head: CommitId, stop: CommitId | None = None) -> list[CommitId]:
    """Return ``head`` and its ancestors, parents before children; ``stop`` and its ancestors left out.

    Holds the ids alone. Raises ``IntegrityError`` (``object-unreadable``).
    """
    parents = {one.id: one.parents for one in iter_commits(vault.repo, head, stop)}
    ordered: list[CommitId] = []
    done: set[CommitId] = set()
    waiting = [head]
    while waiting:
        here = waiting[-1]
        missing = [one for one in parents.get(here, ()) if one in parents and one not in done]
        if missing:
            waiting.append(missing[0])
            continue
        waiting.pop()
        if here in parents and here not in done:
            done.add(here)
            ordered.append(here)
    return ordered


def read_deed(vault: OpenVault, commit: Commit, against: CommitId | None, bringing: Collection[CommitId] = ()) -> Deed:
    """Return what ``commit`` did: of a merge what it did by itself, ``against`` the parent whose line it goes on with.

    What another parent changed on its side, and the merge took, is not the merge's where that parent is one of
    ``bringing``. Raises ``IntegrityError`` (``object-unreadable``).
    """
    old = None if against is None else tree_of(vault.repo, against)
    changes = diff_trees(vault.repo, old, commit.tree)
    if len(commit.parents) > 1:
        changes = _keep_own(vault, against, changes, bringing)
    message = parse_message(commit.message)
    has_trailers = any(name.startswith("Gitmem-") for name, _value in message.trailers)
    rest = message.body if has_trailers else commit.message.partition("\n")[2]
    manifest = None
    if MANIFEST in changes:
        manifest = (_read_manifest(vault, changes[MANIFEST].old), _read_manifest(vault, changes[MANIFEST].new))
    records, plain = _find_records(vault, changes)
    views = RecordViews()
    known = (MANIFEST, POLICY, STATEMENT)
    return Deed(
        commit=commit.id,
        subject=message.subject,
        trailers=message.trailers,
        is_root=not commit.parents,
        is_merge=len(commit.parents) > 1,
        looks_forged=_LIKE_OURS.search(rest) is not None,
        records=records,
        plain=plain,
        others=tuple(
            path for path in changes if path not in known and state_of(path) is None and not views.is_view(path)
        ),
        manifest=manifest,
        files={path: _regular(one) for path, one in changes.items() if not views.is_view(path)},
    )


def _keep_own(
    vault: OpenVault,
    against: CommitId | None,
    changes: dict[str, Difference],
    bringing: Collection[CommitId],
) -> dict[str, Difference]:
    """Return those changes that a merge did not take from the side of another parent, where they were made."""
    left = dict(changes)
    for parent in bringing:
        if parent == against or not left:
            continue
        tree = tree_of(vault.repo, parent)
        taken = {path for path, one in left.items() if find_file(vault.repo, tree, path) == one.new}
        taken &= _list_touched(vault, parent, against, taken)
        left = {path: one for path, one in left.items() if path not in taken}
    return left


def _list_touched(vault: OpenVault, tip: CommitId, stop: CommitId | None, wanted: Iterable[str]) -> set[str]:
    """Return those of the ``wanted`` paths that a commit of ``tip`` changed which ``stop`` has not."""
    sought, found = set(wanted), set[str]()
    for one in iter_commits(vault.repo, tip, stop):
        if not sought - found:
            break
        for parent in one.parents or (None,):
            old = None if parent is None else tree_of(vault.repo, parent)
            found |= diff_trees(vault.repo, old, one.tree).keys() & sought
    return found


def _find_records(vault: OpenVault, changes: dict[str, Difference]) -> tuple[tuple[RecordChange, ...], tuple[str, ...]]:
    before: dict[RecordId, Record] = {}
    after: list[Record] = []
    plain: list[str] = []
    for path, one in changes.items():
        if state_of(path) is None:
            continue
        was, now = _read(vault, path, one.old), _read(vault, path, _regular(one))
        if was is not None:
            before.setdefault(was.id, was)
        if now is not None:
            after.append(now)
        if was is None and now is None:
            plain.append(path)
    made = [RecordChange(before.pop(one.id, None), one) for one in after]
    return (*made, *(RecordChange(one, None) for one in before.values())), tuple(plain)


def _read(vault: OpenVault, path: str, blob: Fingerprint | None) -> Record | None:
    from gitmem.transaction.repair import find_record

    record = find_record(vault.repo, path, blob)
    return None if record is None else replace(record, body="", properties={}, problems=())


def _regular(one: Difference) -> Fingerprint | None:
    return one.new if one.mode in _REGULAR else None


def _read_manifest(vault: OpenVault, blob: Fingerprint | None) -> Manifest | None:
    try:
        return None if blob is None else parse_manifest(vault.repo.read_object(blob))
    except GitmemError:
        return None

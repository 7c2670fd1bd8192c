"""What a commit does to what only people may change, found from its trees alone: for ``verify``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gitmem.errors import GitmemError
from gitmem.git.history import Commit
from gitmem.git.trees import Difference, diff_trees, tree_of
from gitmem.model.authority import Authority
from gitmem.model.ids import CommitId
from gitmem.model.record import State, state_of
from gitmem.model.vault_path import VaultPath
from gitmem.service.vault import OpenVault
from gitmem.service.views import RecordViews
from gitmem.vault.layout import MANIFEST, POLICY
from gitmem.vault.record_file import parse_record
from gitmem.vault.statement import STATEMENT

_REVIEWED = (State.BASELINE, State.PROMOTED)
_MARK = Authority.USER_DECLARED.value.encode()


@dataclass(frozen=True)
class Changed:
    """The files that a commit changes, views left out: ``files`` with blob ids before and after, ``None`` for none.

    ``of_people`` are those of them that only people change: what lies in the baseline or in ``promoted/``, what is
    ``user_declared`` wherever it lies, the policy, the keys and whatever else of the manifest is a setting.
    """

    files: Mapping[str, Difference]
    of_people: tuple[str, ...]


def read_changed(vault: OpenVault, commit: Commit, is_keyed: Mapping[CommitId, bool]) -> Changed:
    """Return what ``commit`` changes by itself.

    Of a merge that is what no parent has so, and what it takes from one where the other had changed it, too, or where
    that one is a branch without keys (``is_keyed``) of a vault that has them. Raises ``IntegrityError``
    (``object-unreadable``).
    """
    views = RecordViews()
    trees = [tree_of(vault.repo, parent) for parent in commit.parents]
    found = diff_trees(vault.repo, trees[0] if trees else None, commit.tree)
    files = {path: one for path, one in found.items() if not views.is_view(path)}
    if len(trees) > 1:
        files = _take_own(vault, commit, trees, files, is_keyed)
    return Changed(files, tuple(path for path, one in files.items() if _is_of_people(vault, path, one)))


def _take_own(
    vault: OpenVault,
    commit: Commit,
    trees: Sequence[str],
    files: dict[str, Difference],
    is_keyed: Mapping[CommitId, bool],
) -> dict[str, Difference]:
    """Return those of the ``files`` that differ from the first parent, and that no other parent rightly brought."""
    if len(trees) > 2:
        return files
    other = diff_trees(vault.repo, trees[1], commit.tree)
    base = vault.repo.handle.merge_base(*commit.parents)
    before = vault.repo.find_blobs(None if base is None else CommitId(str(base)), [*files, *other])
    may_bring = is_keyed[commit.parents[1]] or not is_keyed[commit.parents[0]]
    own = {path: one for path, one in files.items() if path in other or one.old != before[path] or not may_bring}
    # What the first parent has, though the other one changed it: a change of that one's that was dropped.
    views = RecordViews()
    dropped = {path: one for path, one in other.items() if path not in files and one.old != before[path]}
    return own | {path: one for path, one in dropped.items() if not views.is_view(path) and one.new != before[path]}


def _is_of_people(vault: OpenVault, path: str, one: Difference) -> bool:
    if path == MANIFEST:
        return _is_setting(vault, one)
    if path == POLICY:
        return True
    state = state_of(path)
    if state is None or path == STATEMENT or not path.endswith(".md"):
        return False
    return state in _REVIEWED or any(_is_declared(vault, path, blob) for blob in (one.old, one.new))


def _is_declared(vault: OpenVault, path: str, blob: str | None) -> bool:
    data = b"" if blob is None else vault.repo.read_object(blob)
    if _MARK not in data:
        return False
    try:
        record = parse_record(VaultPath(path), data)
    except GitmemError:
        return True  # what can't be read may claim anything
    return record is not None and record.authority is Authority.USER_DECLARED


def _is_setting(vault: OpenVault, one: Difference) -> bool:
    """Tell whether a manifest changed in more than how the catalog is spread over files; a new one has no keys."""
    sides = []
    for blob in (one.old, one.new):
        try:
            value = {} if blob is None else json.loads(vault.repo.read_object(blob))
        except ValueError:
            return True
        sides.append({name: member for name, member in value.items() if name != "catalog_shards"})
    return bool(sides[1].get("human_keys")) if one.old is None else sides[0] != sides[1]


def iter_paths(changed: Changed) -> Iterator[str]:
    """Yield the files that a commit changes, the statement left out."""
    return (path for path in changed.files if path != STATEMENT)

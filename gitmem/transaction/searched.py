"""Which operation ids history holds, remembered: a named operation in a clone needn't walk all of it each time.

One file in runtime that may be deleted at any time: a commit, and the ids of its history and perhaps others (of history
that was rewritten since). It only ever says that an id is *not* there; what may be there is looked up in history.
"""

from __future__ import annotations

import contextlib
import json
import os

from gitmem.disk import ensure_folder, open_regular, replace_file
from gitmem.errors import IntegrityError
from gitmem.git.history import Commit, iter_commits
from gitmem.git.message import OP_ID, parse_message
from gitmem.model.ids import CommitId, OpId, new_token
from gitmem.transaction.ground import Ground
from gitmem.values import dataclass
from gitmem.vault.layout import VaultLayout

MAX_NEW_COMMITS = 64
"""How many commits are looked at anew each time before the file is written anew."""


@dataclass(frozen=True)
class _Searched:
    tip: CommitId
    op_ids: frozenset[str]


def may_hold(ground: Ground, head: CommitId, op_id: OpId) -> bool:
    """Tell whether the history of ``head`` may hold the operation; ``False`` is certain. May write the file.

    Raises ``IntegrityError`` (``object-unreadable``).
    """
    known = _load(ground.layout)
    try:
        commits = list(iter_commits(ground.repo, head, None if known is None else known.tip))
    except IntegrityError:
        if known is None:
            raise
        known = None  # its commit is gone: history was rewritten and cleaned up
        commits = list(iter_commits(ground.repo, head))
    op_ids = frozenset(found for commit in commits for found in _op_ids(commit))
    if known is not None:
        op_ids |= known.op_ids
    if len(commits) > MAX_NEW_COMMITS:
        with contextlib.suppress(OSError):  # it is only there to save time
            _save(ground.layout, _Searched(head, op_ids))
    return op_id in op_ids


def _op_ids(commit: Commit) -> list[str]:
    if OP_ID not in commit.message:
        return []
    return [value for name, value in parse_message(commit.message).trailers if name == OP_ID]


def _load(layout: VaultLayout) -> _Searched | None:
    try:
        with open_regular(layout.searched_file) as file:
            value = json.loads(file.read())
        return _Searched(CommitId(value["tip"]), frozenset(value["op_ids"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(layout: VaultLayout, searched: _Searched) -> None:
    ensure_folder(layout.runtime)
    data = json.dumps({"tip": searched.tip, "op_ids": sorted(searched.op_ids)}).encode()
    file = layout.searched_file
    replace_file(file, data, temp=os.path.join(layout.runtime, f"searched-{new_token()}.tmp"))

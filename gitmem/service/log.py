"""What was done to the vault or to one record, told by the commits."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import islice
from typing import Any

from gitmem.clock import format_utc
from gitmem.git.history import Commit, iter_commits
from gitmem.git.message import parse_message
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId
from gitmem.service.find import get_record
from gitmem.service.history import iter_touches
from gitmem.service.vault import OpenVault


def log(vault: OpenVault, ref: str | None = None, limit: int | None = 20) -> Answer:
    """Return operations as rows, newest first, at most ``limit``; of one record when ``ref`` names it.

    A row has ``commit``, ``time``, ``op``, ``op_id``, ``title``, ``note``, ``actor``, ``surface``, ``authority``,
    ``rule`` and ``records``. A commit that was made outside gitmem has the op ``commit`` and its author as actor.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    rows = tuple(_row(commit) for commit in islice(_iter_commits(vault, head, ref), limit))
    return Answer(Status.OK if rows else Status.NO_MATCH, head, rows=rows, diagnostics=settled)


def _iter_commits(vault: OpenVault, head: CommitId, ref: str | None) -> Iterator[Commit]:
    if ref is None:
        return iter_commits(vault.repo, head)
    record, _data = get_record(vault, ref)
    return (touch.commit for touch in iter_touches(vault, record.id, record.path))


def _row(commit: Commit) -> dict[str, Any]:
    message = parse_message(commit.message)
    trailers = dict(message.trailers)
    is_ours = "Gitmem-Op-Id" in trailers
    title = message.subject.partition(": ")[2] if is_ours else message.subject
    return {
        "commit": commit.id,
        "time": format_utc(datetime.datetime.fromtimestamp(commit.time, datetime.UTC)),
        "op": trailers.get("Gitmem-Op", "commit") if is_ours else "commit",
        "op_id": trailers.get("Gitmem-Op-Id") if is_ours else None,
        "title": title,
        "note": message.body,
        "actor": trailers.get("Gitmem-Actor", commit.author) if is_ours else commit.author,
        "surface": trailers.get("Gitmem-Surface") if is_ours else None,
        "authority": trailers.get("Gitmem-Authority") if is_ours else None,
        "rule": trailers.get("Gitmem-Rule") if is_ours else None,
        "records": [value for name, value in message.trailers if is_ours and name == "Gitmem-Record"],
    }

"""From what a recall decided to what is said of it: the text, or the one line that stands for it in a session."""

from __future__ import annotations

from collections.abc import Container

from gitmem.model.answer import Status
from gitmem.model.ids import RecordId
from gitmem.model.recall import Recall
from gitmem.render.recall import DEFAULT_RECALL_CHARS, render_recall, render_superseded, render_unchanged
from gitmem.render.status_line import render_status
from gitmem.service.digest import News, keep_digest
from gitmem.service.vault import OpenVault


def tell(
    vault: OpenVault,
    recall: Recall,
    *,
    session: str = "",
    max_chars: int | None = None,
    confirmed: Container[RecordId] = frozenset(),
    status: Status = Status.OK,
    code: str = "",
) -> str:
    """Return the text of ``recall`` for ``session``, at most ``max_chars`` characters where records stand in it.

    What the session was shown last is one line; nothing after records is a line that names them; nothing after
    nothing is an empty text. A ``degraded`` memory is said in a line in front, every time, with its ``code``.
    ``confirmed`` are the declared records among the admitted that ``list_confirmed`` proves. Writes the session's
    digest, which lies with ``vault`` whatever vaults the records are from.
    """
    limit = DEFAULT_RECALL_CHARS if max_chars is None else max_chars
    text = render_recall(recall, limit, status, confirmed, code)
    ids = [one.record.id for one in recall.admitted]
    news, before = keep_digest(vault.layout, session, text, ids, vault.clock)
    if news is News.NEW:
        return text
    lines = [render_status(status, code)]
    if news is News.UNCHANGED:
        lines.append(render_unchanged(ids))
    elif news is News.SUPERSEDED:
        lines.append(render_superseded(before))
    return "\n".join(filter(None, lines))

"""How much model surfaces handed in, as receipts tell: by session, and today. What bounds are held against.

Receipts are a file of this machine: another clone counts for itself, and a process of the same account can remove them.
"""

from __future__ import annotations

import json
from collections.abc import Container

from gitmem.model.authority import Action, Surface
from gitmem.model.change import Receipt
from gitmem.model.record import State
from gitmem.transaction.receipts import iter_holding
from gitmem.values import dataclass
from gitmem.vault.layout import VaultLayout


@dataclass(frozen=True)
class Tally:
    """How many observations model surfaces added: in one session (0 for one without a name), and on one day."""

    in_session: int = 0
    today: int = 0


def count_observations(layout: VaultLayout, actions: Container[Action], session: str, day: str) -> Tally:
    """Count the observations that model surfaces added by ``actions``, in ``session`` and on ``day`` (``2026-11-30``).

    A session is looked for in that day's month and the one before. Reads two files at most, and parses only the lines
    that can count. Raises ``UnavailableError`` (``receipts-unreadable``).
    """
    month = day[:7]
    in_session = 0
    if session:
        needle = f'"session": {json.dumps(session, ensure_ascii=False)}'.encode()
        found = [one for name in (_month_before(month), month) for one in iter_holding(layout, name, needle)]
        in_session = sum(_added(one, actions) for one in found if one.session == session)
    today = iter_holding(layout, month, f'"time": "{day}T'.encode())
    return Tally(in_session, sum(_added(one, actions) for one in today if one.time[:10] == day))


def _added(receipt: Receipt, actions: Container[Action]) -> int:
    if receipt.surface != Surface.MODEL.value or receipt.op not in actions:
        return 0
    return sum(ref.state is State.OBSERVATION for ref in receipt.records)


def _month_before(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year - 1}-12" if number == 1 else f"{year}-{number - 1:02d}"

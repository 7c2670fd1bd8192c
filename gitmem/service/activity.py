"""How sessions, candidates and time are divided: each in exactly one part, so that the parts sum up to the whole."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gitmem.curator.activity import QUIET_S, Spent, Stretch, split_time, sum_up_time
from gitmem.curator.sessions import plain_host, plain_session
from gitmem.model.candidate import Fate
from gitmem.model.event import EventKind
from gitmem.service.candidates import is_asleep, is_expired
from gitmem.service.vault import OpenVault
from gitmem.vault.curated import load_curated
from gitmem.vault.inbox import load_decided, load_inbox
from gitmem.vault.spool import Outline, iter_outlines

SESSION_PARTS = ("open", "idle", "ended", "set_aside", "unreadable", "curated")
CANDIDATE_PARTS = ("pending", "deferred", "overdue", "unreadable", *(fate.value for fate in Fate))


@dataclass(frozen=True)
class _Known:
    """A session: which part it is in, and its time."""

    part: str
    stretches: tuple[Stretch, ...] = ()


def describe_sessions(vault: OpenVault) -> dict[str, dict[str, Any]]:
    """Return ``sessions``, how many are in each of ``SESSION_PARTS``, and ``time``, both with a ``total``.

    A session counts once: by its newest events that wait (``open`` until nothing came for half an hour, then ``idle``;
    ``ended``), else as ``set_aside`` while it is being curated, else as ``curated`` as long as that is remembered;
    ``unreadable`` are files of which no event can be read. ``time`` has ``sessions``, the time of each session, added
    up, and ``wall``, in which a second counts once however many sessions went on in it; both by what it went into, in
    seconds (``curator.activity``), up to the last event. Raises ``UnavailableError`` (``spool-unreadable``,
    ``curated-unreadable``).
    """
    now_s = int(vault.clock.now().timestamp())
    known = _list_known(vault, now_s)
    counts = Counter(one.part for one in known)
    each = [sum_up_time(one.stretches) for one in known]
    added_up = {spent: sum(one[spent] for one in each) for spent in Spent}
    wall = sum_up_time([stretch for one in known for stretch in one.stretches])
    return {
        "sessions": {"total": len(known), **{part: counts[part] for part in SESSION_PARTS}},
        "time": {"sessions": _describe_time(added_up), "wall": _describe_time(wall)},
    }


def describe_candidates(vault: OpenVault) -> dict[str, int]:
    """Return how many candidates are in each of ``CANDIDATE_PARTS``, with a ``total``.

    Of those that wait: ``pending``, ``deferred`` to a later day, ``overdue`` where nobody decided in time and nobody
    has looked since, ``unreadable``. Of those that are decided and remembered: what became of them. Raises
    ``UnavailableError`` (``inbox-unreadable``).
    """
    now = vault.clock.now()
    decided = load_decided(vault.layout)
    over = {one.candidate.id for one in decided}
    inbox = load_inbox(vault.layout)
    counts = Counter(one.fate.value for one in decided)
    counts["unreadable"] = len(inbox.problems)
    for one in inbox.candidates:
        if one.id not in over:  # a crash may have left it in both places; it is decided then
            counts["overdue" if is_expired(one, now) else "deferred" if is_asleep(one, now) else "pending"] += 1
    return {"total": counts.total(), **{part: counts[part] for part in CANDIDATE_PARTS}}


def _list_known(vault: OpenVault, now_s: int) -> list[_Known]:
    layout = vault.layout
    found: dict[str, list[Outline]] = {}
    for outline in iter_outlines(layout.events, layout.curating):  # the way that a file goes, so that none is missed
        found.setdefault(outline.name, []).append(outline)
    curated: dict[str, list[Stretch]] = {}
    for one in load_curated(layout).sessions:
        stretch = Stretch(_seconds(one.start), _seconds(one.end), Spent.UNSPLIT)
        curated.setdefault(one.source, []).append(stretch)
    known = []
    for outlines in found.values():
        earlier = curated.pop(_source_of(outlines), [])
        part = _judge(outlines[0], is_aside=outlines[0].folder == layout.curating, now_s=now_s)
        split = [stretch for outline in outlines for stretch in split_time(outline.moments)]
        known.append(_Known(part, (*earlier, *split)))
    return [*known, *(_Known("curated", tuple(stretches)) for stretches in curated.values())]


def _judge(newest: Outline, *, is_aside: bool, now_s: int) -> str:
    if not newest.moments:
        return "unreadable"
    if is_aside:
        return "set_aside"
    at, kind = newest.moments[-1]
    if kind is EventKind.SESSION_END:
        return "ended"
    return "idle" if now_s - at >= QUIET_S else "open"


def _source_of(outlines: Iterable[Outline]) -> str:
    """Return the session as curated ones are named, empty where nothing of it can be read."""
    for one in outlines:
        if one.moments:
            return f"{plain_host(one.host)}/{plain_session(one.session)}"
    return ""


def _describe_time(spent: dict[Spent, int]) -> dict[str, int]:
    return {"total_s": sum(spent.values()), **{f"{one.value}_s": seconds for one, seconds in spent.items()}}


def _seconds(time: str) -> int:
    return int(datetime.datetime.fromisoformat(time).timestamp())

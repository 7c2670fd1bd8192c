"""From sessions that are over to their episodes: which are due, what each tells, and the one commit that has them all.

A session is set aside before it is looked at, and the id of its episode follows from it alone. So a crash anywhere
costs nothing: what is still set aside is curated again, and an episode that was written is known and not written twice.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence

from gitmem.curator.episodes import make_episode
from gitmem.curator.sessions import plain_session, sum_up
from gitmem.errors import InputError, PolicyError
from gitmem.git.between import list_made
from gitmem.model.authority import Action, Authority
from gitmem.model.event import EventKind
from gitmem.model.ids import RecordId, derive_record_id
from gitmem.model.record import Draft, Record, State
from gitmem.model.session import Made, Session
from gitmem.policy.authority import authority_for
from gitmem.service.gate import check_record
from gitmem.service.plan import Move, path_in, reread
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible, shorten
from gitmem.values import dataclass, replace
from gitmem.vault.curated import Curated
from gitmem.vault.record_file import file_name, format_draft
from gitmem.vault.spool import Spool, claim_spool, event_to_json, iter_claimed, iter_spools

IDLE_MINUTES = 30
"""After how long without an event a session that did not end counts as over."""
MAX_SESSIONS = 200
"""How many sessions are curated at once; the rest waits for the next time."""


@dataclass(frozen=True)
class Waiting:
    """A session that is not curated now, and why."""

    session: str
    why: str


@dataclass(frozen=True)
class Episode:
    """What one session, or part of one, came to.

    ``record`` is its episode and ``data`` the bytes of it, ``None`` where there is nothing to tell or ``refused`` says
    why it can't be told. ``is_known`` says that it was written before. ``notices`` are for people.
    """

    spool: Spool
    session: Session
    record: Record | None = None
    data: bytes = b""
    is_known: bool = False
    refused: str = ""
    notices: tuple[str, ...] = ()

    @property
    def move(self) -> Move | None:
        """What is to be written, ``None`` for nothing."""
        return None if self.record is None or self.is_known else (None, self.record, self.data)

    @property
    def told(self) -> Session:
        """The session with its episode, as it is remembered."""
        return (
            self.session if self.record is None else replace(self.session, record=self.record.id, stem=self.record.stem)
        )


def pick_spools(
    vault: OpenVault, sessions: Sequence[str] = (), *, every: bool = False, idle_minutes: int = IDLE_MINUTES
) -> tuple[list[Spool], list[Waiting]]:
    """Return the sessions that are due, and those that are not; reads alone.

    Due is what ended, what was quiet for ``idle_minutes``, and what is asked for: ``every`` session, or ``sessions`` by
    name, which are the only ones then. Raises ``InputError`` (``no-such-session``), ``UnavailableError``.
    """
    now = vault.clock.now()
    found = [spool for spool in iter_spools(vault.layout) if spool.events]
    missing = set(sessions) - {spool.session for spool in (*found, *iter_claimed(vault.layout))}
    if missing:
        named = shorten(make_visible(min(missing)), 80)
        raise InputError(
            "no-such-session", f"nothing is kept of a session {named!r}", "`gitmem journal list` has them."
        )
    due: list[Spool] = []
    waiting: list[Waiting] = []
    for spool in sorted(found, key=lambda one: (one.events[-1].time, one.session)):
        why = _find_reason_to_wait(spool, sessions, now, every=every, idle_minutes=idle_minutes)
        if not why and len(due) == MAX_SESSIONS:
            why = f"at most {MAX_SESSIONS} are curated at once; run it again"
        if why:
            waiting.append(Waiting(spool.session, why))
        else:
            due.append(spool)
    return due, waiting


def claim_due(vault: OpenVault, due: Iterable[Spool]) -> list[Spool]:
    """Set those that are ``due`` aside, and return all that is set aside, what a crash left among it."""
    for spool in due:
        claim_spool(vault.layout, spool.session)
    return sorted(iter_claimed(vault.layout), key=lambda one: (one.events[-1].time if one.events else "", one.session))


def make_episodes(
    vault: OpenVault, spools: Sequence[Spool], curated: Curated, *, withholds: bool = False
) -> list[Episode]:
    """Return what each of ``spools`` comes to, in order. Reads the project's repository; writes nothing.

    With ``withholds`` none names a file. Raises ``UnavailableError`` (``scanner-failed``, ``receipts-unreadable``).
    """
    made: list[Episode] = []
    for spool in spools:
        if spool.events:
            episode = _make_episode(vault, spool, curated, withholds=withholds)
            curated = curated.with_sessions([episode.told])
            made.append(episode)
        else:
            session = Session(plain_session(spool.session), "host", "", "")
            made.append(Episode(spool, session, refused="none of its events can be read"))
    known = _list_known(vault, [one.record for one in made if one.record is not None])
    return [replace(one, is_known=one.record is not None and one.record.id in known) for one in made]


def _find_reason_to_wait(
    spool: Spool, sessions: Sequence[str], now: datetime.datetime, *, every: bool, idle_minutes: int
) -> str:
    if sessions:
        return "" if spool.session in sessions else "it was not asked for"
    last = spool.events[-1]
    if every or last.kind is EventKind.SESSION_END:
        return ""
    quiet = now - datetime.datetime.fromisoformat(last.time)
    return "" if quiet >= datetime.timedelta(minutes=idle_minutes) else "it goes on"


def _make_episode(vault: OpenVault, spool: Spool, curated: Curated, *, withholds: bool) -> Episode:
    notices = [f"{spool.torn} lines of it can't be read"] if spool.torn else []
    session = sum_up(spool.events, spool.session, dropped=spool.dropped)
    # What was set aside stays as it is, so its first event always leads to the same id.
    first = json.dumps(event_to_json(spool.events[0]), sort_keys=True)
    record_id = derive_record_id("episode", vault.entry.vault_id, session.source, first)
    before = curated.find_last_part(session.source)
    if before is not None and before.record == record_id:  # a crash came after this very part was remembered
        session = replace(session, part=before.part)
        before = next(
            (one for one in curated.sessions if one.source == session.source and one.part < before.part), None
        )
    elif before is not None:
        session = replace(session, part=before.part + 1)
    if not session.is_telling:
        return Episode(spool, session, notices=tuple(notices))
    made = _find_made(vault, session)
    stem = before.stem if before is not None else ""
    for tells_none in (True,) if withholds else (False, True):
        try:
            record, data = _make_record(session, make_episode(session, made, stem, withholds=tells_none), record_id)
            check_record(record, data)
            return Episode(spool, session, record, data, notices=tuple(notices))
        except (PolicyError, InputError) as error:
            refused = error.message
            notices.append("names of files are withheld, since one looks like a secret")
    return Episode(spool, session, refused=refused)


def _make_record(session: Session, draft: Draft, record_id: RecordId) -> tuple[Record, bytes]:
    """Return the record of an episode; its dates are those of the session, so that its bytes follow from that alone."""
    ended = datetime.datetime.fromisoformat(session.end)
    path = path_in(State.OBSERVATION, f"{State.OBSERVATION.folder}/{file_name(draft.title, record_id)}", ended)
    authority: Authority = authority_for(Action.CURATE, State.OBSERVATION)
    data = format_draft(
        record_id, draft, authority=authority, created=session.end, updated=session.end, source=session.source
    )
    return reread(path, data), data


def _find_made(vault: OpenVault, session: Session) -> Made:
    first, last = session.first_commit, session.last_commit
    if not last or first == last:
        return Made()
    if not vault.entry.project:
        return Made(unknown="this vault belongs to no project")
    since = datetime.datetime.fromisoformat(session.start)
    return list_made(vault.entry.project, first, last, int(since.timestamp()))


def _list_known(vault: OpenVault, records: Sequence[Record]) -> set[RecordId]:
    """Return the ids of those ``records`` that were written before: as receipts tell, or as they are committed."""
    from gitmem.transaction.receipts import find_latest

    told = find_latest(vault.layout, [one.id for one in records]).keys()
    committed = vault.committed_ids(vault.head(), [one.path for one in records])
    return set(told) | {one.id for one in records if committed[one.path] is not None}

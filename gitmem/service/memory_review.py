"""The verbs between what a host saw and what is remembered: events, candidates, review. A part of ``Memory``."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.model.answer import Answer
from gitmem.model.authority import Actor
from gitmem.model.candidate import Candidate, Choice, Decisions, InboxFilters, Proposed
from gitmem.model.change import Receipt, RecordChange
from gitmem.model.ids import OpId
from gitmem.model.record import Draft
from gitmem.service.memory_base import MemoryBase
from gitmem.service.reading import report
from gitmem.service.retry import answer_again
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.model.event import Event, Odd, Seen
    from gitmem.model.task_report import TaskReport
    from gitmem.service.curate import Curation, Wanted


class ReviewVerbs(MemoryBase):
    """Capture, propose, curate, and decide; see ``service.memory``."""

    def capture(self, seen: Seen) -> Event | None:
        """Keep the metadata of what a host saw; ``None`` where a bound is reached. See ``service.capture``."""
        from gitmem.service.capture import capture

        return capture(self.vault, seen)

    def count_odd(self, what: Odd) -> None:
        """Count what a host told and gitmem can't make anything of. See ``service.capture``."""
        from gitmem.service.capture import count_odd

        count_odd(self.vault, what)

    def journal_add(self, seen: Seen) -> Answer:
        """Keep an event that a person or a script tells. Raises. See ``service.journal``."""
        from gitmem.service.journal import add_event

        return add_event(self.vault, seen)

    def journal_list(self, session: str | None = None) -> Answer:
        """Return the sessions of which events wait, or the events of one, as rows. See ``service.journal``."""
        from gitmem.service.journal import list_events, list_sessions

        return report(lambda: list_sessions(self.vault) if session is None else list_events(self.vault, session))

    def report(
        self,
        title: str,
        report: TaskReport,
        actor: Actor | None = None,
        op_id: OpId | None = None,
        *,
        tags: Sequence[str] = (),
        key: str | None = None,
    ) -> Receipt:
        """Write what came of a task as an observation of kind ``task``. See ``service.task_report``."""
        from gitmem.service.task_report import report_task

        return answer_again(
            self.vault,
            op_id,
            lambda: report_task(self.vault, title, report, actor or self.actor, op_id, tags=tags, key=key),
        )

    def propose(
        self, draft: Draft, actor: Actor | None = None, *, why: Sequence[str] = (), op_id: OpId | None = None
    ) -> Proposed:
        """Put a draft into the inbox, where it waits for a person. See ``service.propose``."""
        from gitmem.service.propose import propose

        return propose(self.vault, draft, actor or self.actor, why=why, op_id=op_id)

    def propose_all(
        self,
        drafts: Sequence[Draft],
        actor: Actor | None = None,
        *,
        why: Sequence[str] = (),
        op_id: OpId | None = None,
        lines: Sequence[int] | None = None,
    ) -> list[Proposed]:
        """Put up to 1,000 drafts into the inbox, all or none. See ``service.propose``."""
        from gitmem.service.propose import propose_all

        return propose_all(self.vault, drafts, actor or self.actor, why=why, op_id=op_id, lines=lines)

    def inbox(self, filters: InboxFilters | None = None, ref: str | None = None) -> Answer:
        """Return the candidates that wait, or one of them, as rows. See ``service.inbox``."""
        from gitmem.service.inbox import list_inbox

        return report(lambda: list_inbox(self.vault, filters, ref))

    def get_candidate(self, ref: str) -> Candidate:
        """Return one candidate that waits. Raises. See ``service.inbox``."""
        from gitmem.service.inbox import get_candidate

        return get_candidate(self.vault, ref)

    def plan_accept(self, choices: Sequence[Choice], actor: Actor | None = None) -> list[RecordChange]:
        """Return what ``accept`` would do, for a person to look at. Raises. See ``service.accept``."""
        from gitmem.service.accept import plan_accept

        return plan_accept(self.vault, choices, actor or self.actor)

    def accept(self, choices: Sequence[Choice], actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Carry out what candidates want, all in one commit, and decide them. See ``service.accept``."""
        from gitmem.service.accept import accept

        return answer_again(self.vault, op_id, lambda: accept(self.vault, choices, actor or self.actor, op_id))

    def reject(self, refs: Sequence[str], reason: str, actor: Actor | None = None) -> Decisions:
        """Reject candidates; the same is not proposed again. See ``service.decide``."""
        from gitmem.service.decide import reject

        return reject(self.vault, refs, reason, actor or self.actor)

    def withdraw(self, refs: Sequence[str], reason: str, actor: Actor | None = None) -> Decisions:
        """Take candidates back; the same may be proposed again. See ``service.decide``."""
        from gitmem.service.decide import withdraw

        return withdraw(self.vault, refs, reason, actor or self.actor)

    def defer(self, refs: Sequence[str], until: str | None, actor: Actor | None = None) -> Decisions:
        """Let candidates sleep until a date. See ``service.decide``."""
        from gitmem.service.decide import defer

        return defer(self.vault, refs, until, actor or self.actor)

    def reconsider(self, refs: Sequence[str], actor: Actor | None = None) -> Decisions:
        """Take decisions back: the candidates wait again. See ``service.decide``."""
        from gitmem.service.decide import reconsider

        return reconsider(self.vault, refs, actor or self.actor)

    def curate(
        self,
        actor: Actor | None = None,
        wanted: Wanted | None = None,
        *,
        dry_run: bool = False,
        op_id: OpId | None = None,
    ) -> Curation:
        """Write the episodes of sessions that are over, and propose what repeats. See ``service.curate``."""
        from gitmem.service.curate import curate

        return curate(self.vault, actor or self.actor, wanted, dry_run=dry_run, op_id=op_id)

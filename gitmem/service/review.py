"""A review: a person decides candidate after candidate, and carries the decisions out together.

The decisions lie in a draft of the vault's runtime until then, so that a review that is left, or ends with its
terminal, goes on later; nothing of it is in Git before. What was decided of something that has changed since is not
carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from gitmem.curator.normalise import normalise
from gitmem.errors import InputError, PolicyError, StateError
from gitmem.model.authority import Actor, Surface
from gitmem.model.candidate import Candidate, Choice, InboxFilters
from gitmem.model.change import Receipt, RecordChange
from gitmem.model.ids import OpId, new_op_id
from gitmem.model.record import BASELINE_KINDS, Draft, Record, State
from gitmem.model.review import How, ReviewDraft, Staged
from gitmem.policy.content import check_draft
from gitmem.service.accept import accept, plan_accept
from gitmem.service.candidates import look_at_candidates
from gitmem.service.decide import defer, parse_until, reject
from gitmem.service.find import get_record
from gitmem.service.inbox import list_inbox
from gitmem.service.review_look import Look, choose, declares, digest_of, look_at, plan_merge
from gitmem.service.scanner import check_texts
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible
from gitmem.values import dataclass, field, replace
from gitmem.vault.inbox import load_decided
from gitmem.vault.kept_draft import hold_draft
from gitmem.vault.review_draft import REVIEW, load_review, save_review

CARRIED_OUT = "your review carried it out"
"""What is said of a decision that a review carried out before it was broken off."""


@dataclass(frozen=True)
class Waiting:
    """One candidate that nobody has decided yet, in a review's order."""

    id: str
    group: str
    title: str


@dataclass
class Review:
    """One review of a vault's inbox by the person ``actor``, as far as it has come.

    Every change is in the draft on disk when the method returns.
    """

    vault: OpenVault
    actor: Actor
    kept: ReviewDraft = field(default_factory=ReviewDraft)
    looked_at: set[str] = field(default_factory=set)
    """The candidates that were decided in this process; of others the draft says so, and any program may write that."""

    @property
    def staged(self) -> tuple[Staged, ...]:
        """The decisions that wait to be carried out, oldest first."""
        return self.kept.staged

    def list_waiting(self, group: str | None = None) -> tuple[Waiting, ...]:
        """Return what is not decided yet, group by group, the worthiest first. Raises what ``list_inbox`` raises."""
        decided = {one.id for one in self.staged}
        rows = list_inbox(self.vault, InboxFilters(group=group)).rows
        return tuple(Waiting(row["id"], row["group"], row["title"]) for row in rows if row["id"] not in decided)

    def look(self, ref: str) -> Look:
        """Return a candidate as it is now, with what the person made of it. Raises as ``look_at``."""
        return look_at(self.vault, ref, self.kept.edited.get(ref), self.actor)

    def edit(self, look: Look, draft: Draft) -> None:
        """Keep ``draft`` as what the person made of the candidate. One that can't be written is refused.

        Raises what ``policy.content.check_draft`` and ``scanner.check_texts`` raise.
        """
        draft = normalise(draft)
        check_draft(draft, State.BASELINE if draft.kind in BASELINE_KINDS else State.OBSERVATION)
        check_texts(
            self.vault.settings, {"the title": draft.title, "the text": draft.body, "what stands beside": _rest(draft)}
        )
        self._save(edited={**self.kept.edited, look.candidate.id: draft})

    def stage(self, looks: Sequence[Look], how: How, *, reason: str = "", until: str = "") -> None:
        """Decide what was looked at, in one step. Raises ``PolicyError`` (``secret-found``) for the reason.

        What is accepted is tried, and refused where it could not be carried out: raises what ``plan_accept`` raises.
        """
        check_texts(self.vault.settings, {"the reason": reason})
        decided = []
        for look in looks:
            draft = look.draft if look.is_edited and how.accepts else None
            alone = how.accepts and look.alone
            one = Staged(look.candidate.id, how, "", look.draft.title, draft, "", reason, until, alone=alone)
            decided.append((look, one))
        self._stage(decided)

    def check_until(self, until: str) -> None:
        """Refuse what is no date to come. Raises ``InputError`` (``bad-date``, ``date-passed``)."""
        parse_until(self.vault, until)

    def stage_merge(self, look: Look, record: Record, draft: Draft) -> None:
        """Decide that what was looked at goes into ``record``, which gets the text of ``draft``. See ``stage``."""
        check_texts(self.vault.settings, {"the text": draft.body})
        alone = look.alone or record.state is State.BASELINE
        self._stage([(look, Staged(look.candidate.id, How.MERGE, "", look.draft.title, draft, record.id, alone=alone))])

    def propose_merge(self, look: Look, ref: str) -> tuple[Record, Draft]:
        """Return the record that ``ref`` names, and the draft with which ``look`` would go into it. Reads.

        Raises what ``get_record`` raises, and ``StateError`` (``already-retired``).
        """
        record, _data = get_record(self.vault, ref)
        if record.state is State.RETIRED:
            raise StateError("already-retired", f"{record.title!r} is retired already", "Name another record.")
        return record, plan_merge(look, record)

    def take_back(self, ids: Iterable[str]) -> None:
        """Have these not be decided. What was made of them by editing stays."""
        gone = set(ids)
        self._save(staged=tuple(one for one in self.staged if one.id not in gone))

    def take_back_step(self) -> tuple[Staged, ...]:
        """Have what the last step decided not be decided, and return it; empty where nothing is."""
        last = self.staged[-1].step if self.staged else -1
        found = tuple(one for one in self.staged if one.step == last)
        self.take_back(one.id for one in found)
        return found

    def settle(self) -> tuple[str, ...]:
        """Take back what was decided of candidates or records that have changed since; return a line about each."""
        told, gone, there = [], [], []
        decided = {str(one.candidate.id): one for one in load_decided(self.vault.layout)}
        waiting = {str(one.id): one for one in look_at_candidates(self.vault).candidates}
        for one in self.staged:
            try:
                candidate = _pick(waiting, one.id)
                is_same = digest_of(self.vault, candidate, one.into) == one.digest
                title = (one.draft or candidate.draft).title  # by which it is told; the draft on disk may say another
                there.append(replace(one, alone=declares(self.vault, candidate, one), title=title))
                reason = "it has changed since you decided; look at it again"
            except (InputError, StateError) as error:
                is_same, known = False, decided.get(one.id)
                reason = error.message
                if known is not None:
                    by_us = known.op_id and known.op_id == self.kept.op_id
                    reason = CARRIED_OUT if by_us else f"somebody else {known.fate.value} it meanwhile"
            if not is_same:
                told.append(f"{make_visible(one.title)} ({one.id}): {reason}")
                gone.append(one.id)
        settled = tuple(one for one in there if one.id not in gone)
        if settled != self.staged:
            self._save(staged=settled)
        return tuple(told)

    def plan(self, staged: Sequence[Staged]) -> list[RecordChange]:
        """Return what accepting ``staged`` does to which records. Raises what ``plan_accept`` raises."""
        choices = self._choices(staged)
        return plan_accept(self.vault, choices, self.actor) if choices else []

    def carry_out(self, staged: Sequence[Staged], actor: Actor) -> Receipt | None:
        """Carry ``staged`` out and forget the decisions: what is accepted in one commit, then rejections, deferrals.

        Returns the receipt of the commit, ``None`` where nothing is accepted. What raises leaves what was done before
        it done, and the decisions that were not carried out kept. Raises ``PolicyError`` (``needs-human``) for a model
        surface, and what ``accept``, ``reject`` and ``defer`` raise.
        """
        if actor.surface is not Surface.HUMAN:
            raise PolicyError("needs-human", "a review is a person's", "Run it at a terminal.")
        receipt = None
        choices = self._choices(staged)
        if choices:
            self._save(op_id=new_op_id())
            receipt = accept(self.vault, choices, actor, OpId(self.kept.op_id))
            self._forget(one for one in staged if one.how.accepts)
        for reason in dict.fromkeys(one.reason for one in staged if one.how is How.REJECT):
            self._decide(How.REJECT, [one for one in staged if one.how is How.REJECT and one.reason == reason], actor)
        for until in dict.fromkeys(one.until for one in staged if one.how is How.DEFER):
            self._decide(How.DEFER, [one for one in staged if one.how is How.DEFER and one.until == until], actor)
        return receipt

    def _decide(self, how: How, some: Sequence[Staged], actor: Actor) -> None:
        ids = [one.id for one in some]
        if how is How.REJECT:
            reject(self.vault, ids, some[0].reason, actor)
        else:
            defer(self.vault, ids, some[0].until or None, actor)
        self._forget(some)

    def _stage(self, decided: Sequence[tuple[Look, Staged]]) -> None:
        """Keep decisions on what was looked at, as one step, once they are known to be possible."""
        choices = [choose(one, look.candidate) for look, one in decided if one.how.accepts]
        if choices:
            plan_accept(self.vault, choices, self.actor)
        step = self.staged[-1].step + 1 if self.staged else 0
        made = [
            replace(one, digest=digest_of(self.vault, look.candidate, one.into), step=step) for look, one in decided
        ]
        self._save(staged=(*self.staged, *made))
        self.looked_at |= {one.id for one in made}

    def _choices(self, staged: Sequence[Staged]) -> list[Choice]:
        """Return how those of ``staged`` that accept are accepted, of the very candidates that their digests are of."""
        waiting = {str(one.id): one for one in look_at_candidates(self.vault).candidates}
        choices = []
        for one in staged:
            if one.how.accepts:
                candidate = _pick(waiting, one.id)
                if digest_of(self.vault, candidate, one.into) != one.digest:
                    message = f"{one.title!r} ({one.id}) has changed since it was decided; nothing was written"
                    raise StateError("changed-meanwhile", make_visible(message), "Look at it again, and decide.")
                if len(staged) > 1 and declares(self.vault, candidate, one):
                    raise PolicyError("refused", "what is declared is accepted by itself", "Accept it alone.")
                choices.append(choose(one, candidate))
        return choices

    def _forget(self, done: Iterable[Staged]) -> None:
        gone = {one.id for one in done}
        edited = {name: draft for name, draft in self.kept.edited.items() if name not in gone}
        self._save(staged=tuple(one for one in self.staged if one.id not in gone), edited=edited)

    def _save(self, **changes: object) -> None:
        kept = replace(self.kept, **changes)  # type: ignore[arg-type]
        save_review(self.vault.layout, kept)
        self.kept = kept


@contextmanager
def hold_review(vault: OpenVault, actor: Actor) -> Iterator[Review]:
    """Begin a review, or go on with the one that is kept, and let nobody else do so inside the block.

    Raises ``StateError`` (``draft-in-use``), ``IntegrityError`` (``bad-review``), ``UnavailableError``.
    """
    with hold_draft(vault.layout, REVIEW):
        yield Review(vault, actor, load_review(vault.layout))


def find_kept(vault: OpenVault) -> tuple[Staged, ...]:
    """Return the decisions of a review that was left, oldest first; empty where there is none. Raises as ``Review``."""
    return load_review(vault.layout).staged


def count_by_how(staged: Iterable[Staged]) -> dict[How, int]:
    """Return how many decisions there are of each sort, those of none left out."""
    found = list(staged)
    return {how: number for how in How if (number := sum(one.how is how for one in found))}


def _pick(waiting: Mapping[str, Candidate], one: str) -> Candidate:
    if one not in waiting:
        raise InputError("no-such-candidate", "it waits no more", "`gitmem inbox` lists what does.")
    return waiting[one]


def _rest(draft: Draft) -> str:
    return "\n".join((draft.summary, draft.key or "", *draft.tags, *draft.evidence))

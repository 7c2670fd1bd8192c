"""The end of a review: all decisions are shown, one code carries them out, and each declaration takes its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gitmem.errors import GitmemError, StateError
from gitmem.hosts.cli.accepting import describe_change
from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.plain import count, format_receipt, short_op_id
from gitmem.hosts.cli.preview import Preview
from gitmem.hosts.cli.review_screen import describe_staged, format_counts, format_staged
from gitmem.hosts.cli.review_talk import Talk
from gitmem.model.change import Receipt
from gitmem.model.review import How, Staged
from gitmem.service.review import CARRIED_OUT, Review

_PROMPT = "Enter carries them out, a number takes one back, b goes back to the rest, q keeps them for later> "


class LeaveError(Exception):
    """The person wants the decisions kept for later."""


def tell_settled(talk: Talk, review: Review) -> bool:
    """Tell what decisions were taken back since what they are about has changed.

    Return whether any was carried out by a review that was broken off in the middle of that.
    """
    told = review.settle()
    for line in told:
        talk.say(safe_line(line) if line.endswith(CARRIED_OUT) else f"not carried out: {safe_line(line)}")
    return any(line.endswith(CARRIED_OUT) for line in told)


def agree(talk: Talk, review: Review, left: int) -> bool:
    """Show all decisions, let the person take some back, and tell whether to carry them out.

    ``False`` goes back to what is left. Raises ``LeaveError``.
    """
    while review.staged:
        tell_settled(talk, review)
        star = "* takes a code of its own" if any(one.alone for one in review.staged) else ""
        talk.say(f"\n{format_counts(review.staged, left)}\n{format_staged(review.staged, talk.room().columns)}")
        talk.say(star) if star else None
        answer = talk.keys.read_text(_PROMPT).lower()
        if not answer:
            return True
        if answer == "q":
            raise LeaveError
        if answer == "b":
            return False
        if answer.isdecimal() and 0 < int(answer) <= len(review.staged):
            review.take_back([review.staged[int(answer) - 1].id])
            left += 1
        else:
            talk.say(f"{safe_line(answer)} is none of that")
    return False


def carry_out(talk: Talk, review: Review) -> list[Receipt]:
    """Carry the decisions out: all but declarations under one code, then each of these under its own.

    Returns the receipts of the commits. Raises what ``run_confirmed`` and ``Review.carry_out`` raise; what was not
    carried out is kept.
    """
    alone = [one for one in review.staged if one.alone]
    batch = [one for one in review.staged if one not in alone]
    parts = [*([batch] if batch else []), *([one] for one in alone)]
    receipts = []
    for part in parts:
        receipt = _carry_out(talk, review, part)
        talk.say(f"\n{_format_done(part, receipt)}")
        receipts += [receipt] if receipt is not None else []
    return receipts


def _carry_out(talk: Talk, review: Review, part: Sequence[Staged]) -> Receipt | None:
    ids = [one.id for one in part]

    def preview() -> Preview:
        told = review.settle()
        if any(one not in [kept.id for kept in review.staged] for one in ids):
            message = f"what you decided has changed since: {'; '.join(told)}"
            raise StateError("changed-meanwhile", message, "Run `gitmem review` again; the other decisions are kept.")
        return _preview(review, part)

    with talk.keys.lines():
        person = replace(talk.call, as_person=True)
        return run_confirmed(person, lambda actor: review.carry_out(part, actor), preview)


def _preview(review: Review, part: Sequence[Staged]) -> Preview:
    """Return all decisions by title, and whole what nobody looked at by itself just now, or is declared."""
    steps = [one.step for one in part]
    looked_at = [one for one in part if one.id in review.looked_at and steps.count(one.step) == 1 and not one.alone]
    whole = [one for one in part if one.how.accepts and one not in looked_at]
    asked = tuple((one.how.value, f"{one.id} {describe_staged(one)}") for one in part)
    review.plan(part)  # all of it together has to be possible, before a code is asked for
    items = tuple(describe_change(change) for change in review.plan(whole))
    return Preview("review", review.vault.entry.name, _effect(part), asked=asked, items=items)


def _effect(part: Sequence[Staged]) -> str:
    accepted = sum(one.how.accepts for one in part)
    rejected = sum(one.how is How.REJECT for one in part)
    deferred = sum(one.how is How.DEFER for one in part)
    told = [f"{count(accepted, 'candidate')} accepted in one commit"] if accepted else []
    told += ["declared by you and given to agents as such"] if any(one.alone for one in part) else []
    told += [f"{rejected} rejected, and not proposed again"] if rejected else []
    told += [f"{deferred} deferred"] if deferred else []
    return "; ".join(told)


def _format_done(part: Sequence[Staged], receipt: Receipt | None) -> str:
    lines = [format_counts(part, 0)]
    if receipt is not None:
        lines += [format_receipt(receipt)]
        lines += [f"`gitmem undo {short_op_id(receipt.op_id)}` takes it back"] if receipt.changed else []
    return "\n".join(lines)


def keep_hint(error: GitmemError, review: Review) -> None:
    """Add to the hint of ``error`` that the decisions are kept, where there are any."""
    if review.staged:
        error.hint = f"{error.hint} Your decisions are kept: `gitmem review` goes on with them.".strip()

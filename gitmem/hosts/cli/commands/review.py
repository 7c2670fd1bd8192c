"""``gitmem review``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.errors import GitmemError, PolicyError
from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import text
from gitmem.hosts.cli.plain import count
from gitmem.hosts.cli.reading import NOTHING_FOUND

if TYPE_CHECKING:
    from gitmem.hosts.cli.review_talk import Talk
    from gitmem.service.review import Review


@verb("review", "gitmem review\ngitmem review --group tool/pytest\ngitmem review --limit 20")
@click.option("--group", type=text, help="Only this topic, as `gitmem inbox` heads it.")
@click.option("--limit", type=click.IntRange(1), help="At most so many candidates.")
@pass_call
def command(call: Call, group: str | None, limit: int | None) -> int:
    """Decide what waits in the inbox, one candidate after another.

    Shows each candidate with its text, evidence and reasons, the records near it and how the nearest differs, what it
    contradicts, and what policy and the secret scanner say; one key decides, without Enter, and ? explains the keys.
    What you decide is kept until all of it is shown and you confirm it with a code. Commits what was accepted, all at
    once; each boundary, preference, goal and state takes a code of its own. Leaving (q, Ctrl-C) loses nothing: the same
    command goes on. Exit code 1 when nothing waits.
    """
    if call.as_json:
        raise click.UsageError("a review is for a person at a terminal; with --json use inbox, accept and reject")
    from gitmem.hosts.cli.keys import EndOfKeysError, Keys
    from gitmem.hosts.cli.review_talk import Talk
    from gitmem.hosts.cli.terminal import find_terminal
    from gitmem.service.review import hold_review

    terminal = find_terminal(call)
    if terminal is None:
        hint = "Without a terminal: `gitmem inbox` lists, a person confirms `gitmem accept` and `gitmem reject`."
        raise PolicyError("needs-human", "a review takes a person at a terminal", hint)
    with call.open_memory() as memory, hold_review(memory.vault, call.person()) as review:
        try:
            with Keys(terminal) as keys:
                return _run(Talk(call, keys), review, group, limit)
        except GitmemError as error:
            from gitmem.hosts.cli.review_end import keep_hint

            keep_hint(error, review)
            raise
        except (EndOfKeysError, KeyboardInterrupt):
            call.warn(f"\n{_tell_kept(review)}")
            raise click.Abort from None


def _run(talk: Talk, review: Review, group: str | None, limit: int | None) -> int:
    from gitmem.hosts.cli.review_end import LeaveError, agree, carry_out, tell_settled
    from gitmem.hosts.cli.reviewing import QuitError, Reviewing

    was_broken_off = tell_settled(talk, review)
    queue = list(review.list_waiting(group))[:limit]
    if not queue and not review.staged:
        talk.say("nothing waits in the inbox" if group is None else "nothing of that topic waits in the inbox")
        return NOTHING_FOUND
    _greet(talk, review, len(queue), was_broken_off=was_broken_off)
    reviewing = Reviewing(talk, review, group, limit, queue)
    try:
        while True:
            reviewing.go_through()
            if not review.staged:
                talk.say("nothing was decided")
                return 0
            if agree(talk, review, reviewing.left):
                carry_out(talk, review)
                return 0
            reviewing.go_back()
    except (QuitError, LeaveError):
        talk.say(_tell_kept(review))
        return 0


def _greet(talk: Talk, review: Review, waiting: int, *, was_broken_off: bool) -> None:
    from gitmem.hosts.cli.review_screen import format_counts

    talk.say(f"{count(waiting, 'candidate')} to review. Nothing is written before you confirm it with a code.")
    if review.staged and was_broken_off:
        left = format_counts(review.staged, 0)
        talk.say(
            f"A review was broken off while it was carried out: what it accepted is committed; still to do: {left}."
        )
    elif review.staged:
        talk.say(f"Going on with a review that you left: {format_counts(review.staged, 0)}.")


def _tell_kept(review: Review) -> str:
    if not review.staged:
        return "nothing was decided"
    return f"{count(len(review.staged), 'decision')} kept, nothing written: `gitmem review` goes on with them."

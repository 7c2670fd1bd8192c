"""A review at a terminal: one candidate after another, one key each, and at the end all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gitmem.errors import GitmemError, InputError
from gitmem.hosts.cli.columns import safe_line, truncate
from gitmem.hosts.cli.keys import REDRAW
from gitmem.hosts.cli.plain import count
from gitmem.hosts.cli.review_edit import Typed, edit_draft, edit_merged, keeping_typed
from gitmem.hosts.cli.review_screen import format_counts, format_difference, format_keys, format_look, format_rule
from gitmem.hosts.cli.review_talk import Talk
from gitmem.model.record import Draft, Record
from gitmem.model.review import How
from gitmem.service.review import Review, Waiting
from gitmem.service.review_look import Look, compare_bodies

KEYS = (
    ("a", "accept"),
    ("p", "promote"),
    ("e", "edit"),
    ("m", "merge"),
    ("r", "reject"),
    ("d", "defer"),
    ("s", "skip"),
    ("u", "undo"),
    ("b", "bulk"),
    ("v", "view all"),
    ("c", "carry out"),
    ("q", "quit"),
    ("?", "help"),
)
HELP = """\
a  accept: what it proposes is done, in one commit with all else that you accept
p  accept the new record and promote it at once, as reviewed knowledge
e  edit it in your editor; then decide
m  put what it says into a record that is there, in place of a new one
r  reject it for a reason; the same is not proposed again
d  defer it for a week, D until a date that you type
s  skip it; it stays in the inbox
u  take the last decision back, again and again
b  accept all that is left of this topic, but for what needs a look of its own
v  show the whole text and difference, however long
c  carry out what you decided so far; you see all of it and type a code before
q  leave; what you decided is kept, and `gitmem review` goes on
Nothing is written before the code. Ctrl-C and Ctrl-D leave as q does."""
REASONS = (
    "it is not true",
    "it is known already",
    "it held for that session only",
    "it is too vague to help",
    "it is private",
)


class QuitError(Exception):
    """The person left; what they decided is kept."""


@dataclass
class Reviewing:
    """One review at a terminal. ``queue`` is what is still to be looked at, ``trail`` what was done, newest last."""

    talk: Talk
    review: Review
    group: str | None = None
    limit: int | None = None
    queue: list[Waiting] = field(default_factory=list)
    trail: list[tuple[Waiting, ...]] = field(default_factory=list)

    @property
    def left(self) -> int:
        """How many were not decided: still to be looked at, or skipped."""
        decided = {one.id for one in self.review.staged}
        return len(self.queue) + sum(one.id not in decided for step in self.trail for one in step)

    def go_through(self) -> None:
        """Show candidate after candidate until all are decided or skipped. Raises ``QuitError``."""
        while self.queue:
            look = self._look(self.queue[0])
            if look is None:
                self.queue.pop(0)
            elif self._decide(look):
                return

    def go_back(self) -> None:
        """Have all that waits and is not decided looked at again, what was skipped or taken back among it."""
        self.queue = list(self.review.list_waiting(self.group))[: self.limit]
        self.trail = []

    def _look(self, waiting: Waiting) -> Look | None:
        try:
            return self.review.look(waiting.id)
        except InputError as error:
            self.talk.say(f"\n{safe_line(waiting.title)}: decided elsewhere meanwhile ({safe_line(error.message)})")
            return None

    def _decide(self, look: Look) -> bool:
        """Show one candidate and ask until it is decided, or undone; tell whether all is to be carried out now."""
        self._show(look)
        actions = self._actions(look)
        while True:
            key = self.talk.ask_key(f"{self._place()}> ")
            if key == "c":
                self.talk.say("carry out")
                return True
            if key == "q":
                self.talk.say("quit")
                raise QuitError
            action = actions.get(key)
            if action is None:
                self.talk.say("?" if key == "?" else "that is no key here; ? shows the keys")
                if key == "?":
                    self.talk.say(HELP)
                continue
            try:
                if action():
                    return False
            except GitmemError as error:
                self.talk.complain(error)

    def _actions(self, look: Look) -> dict[str, Callable[[], bool]]:
        """Return what each key does; an action tells whether another screen is to be shown."""
        return {
            "a": lambda: self._accept(look, How.ACCEPT),
            "p": lambda: self._accept(look, How.PROMOTE),
            "e": lambda: self._edit(look),
            "m": lambda: self._merge(look),
            "r": lambda: self._reject(look),
            "d": lambda: self._stage(look, How.DEFER, "deferred for a week"),
            "D": lambda: self._defer(look),
            "s": self._skip,
            "u": self._undo,
            "b": lambda: self._accept_group(look),
            "v": lambda: self._view(look),
            REDRAW: lambda: True,
        }

    def _show(self, look: Look, *, whole: bool = False) -> None:
        room = self.talk.room(whole=whole)
        done = sum(len(step) for step in self.trail)
        head = (f"{done + 1} of {done + len(self.queue)}", str(look.row["group"]), look.candidate.id)
        self.talk.say(f"\n{format_rule(head, room.columns)}\n{format_look(look, room)}\n")
        self.talk.say(format_keys(KEYS, room.columns))

    def _place(self) -> str:
        return f"{format_counts(self.review.staged, 0)}; key" if self.review.staged else "key"

    def _accept(self, look: Look, how: How) -> bool:
        if look.row["findings"]:
            self.talk.say(f"{how.value}: it holds what looks like a secret; e edits it, r rejects it")
            return False
        if how is How.PROMOTE and (not look.makes_record or look.alone):
            self.talk.say("promote: only a new record can be promoted; a accepts this one")
            return False
        return self._stage(look, how, "accept" if how is How.ACCEPT else "accept and promote")

    def _stage(self, look: Look, how: How, said: str, *, reason: str = "", until: str = "") -> bool:
        self.review.stage([look], how, reason=reason, until=until)
        self.talk.say(said)
        self._advance(1)
        return True

    def _advance(self, number: int) -> None:
        self.trail.append(tuple(self.queue[:number]))
        del self.queue[:number]

    def _skip(self) -> bool:
        self.talk.say("skip")
        self._advance(1)
        return True

    def _undo(self) -> bool:
        taken = self.trail.pop() if self.trail else ()
        ids = {one.id for one in taken} or {one.id for one in self.review.staged[-1:]}
        if not ids:
            self.talk.say("undo: there is nothing to take back")
            return False
        if taken:
            self.review.take_back(ids)
        else:
            ids = {one.id for one in self.review.take_back_step()}
        self.queue[:0] = [one for one in self.review.list_waiting() if one.id in ids]
        self.talk.say(f"undo: {count(len(ids), 'candidate')} taken back")
        return True

    def _view(self, look: Look) -> bool:
        self.talk.say("view all")
        self._show(look, whole=True)
        return False

    def _reject(self, look: Look) -> bool:
        self.talk.say("reject\n" + "\n".join(f"  {number}  {reason}" for number, reason in enumerate(REASONS, 1)))
        self.talk.say("  t  another reason, typed")
        key = self.talk.ask_choice("why> ")
        usual = dict(zip("12345", REASONS, strict=True)).get(key, "")
        reason = self.talk.keys.read_text("reason> ") if key == "t" else usual
        if not reason:
            self.talk.say("not rejected")
            return False
        return self._stage(look, How.REJECT, f"reject: {safe_line(reason)}", reason=reason)

    def _defer(self, look: Look) -> bool:
        until = self.talk.keys.read_text("until (2026-12-31)> ")
        if not until:
            self.talk.say("not deferred")
            return False
        self.review.check_until(until)
        return self._stage(look, How.DEFER, f"deferred until {safe_line(until)}", until=until)

    def _edit(self, look: Look) -> bool:
        self.talk.say("edit")
        if not look.makes_record:
            self.talk.say("only a new record can be edited; a accepts what this one proposes")
            return False
        edit_draft(self.talk, self.review, look)
        return True

    def _merge(self, look: Look) -> bool:
        self.talk.say("merge")
        if not look.makes_record:
            self.talk.say("only a new record can be merged into another one")
            return False
        near = [one for one in look.row["near"] if not one["is_candidate"] and one["title"]][:9]
        self._list([f"  {number}  {one['id']}  {safe_line(one['title'])}" for number, one in enumerate(near, 1)])
        self._list(["  t  another record: type its id or key"])
        key = self.talk.ask_choice("into> ")
        ref = near[int(key) - 1]["id"] if key.isdecimal() and 0 < int(key) <= len(near) else ""
        ref = self.talk.keys.read_text("record> ") if key == "t" else ref
        if not ref:
            self.talk.say("not merged")
            return False
        with keeping_typed(self.talk, self.review) as typed:
            return self._merge_into(look, *self.review.propose_merge(look, ref), typed)

    def _merge_into(self, look: Look, record: Record, draft: Draft, typed: Typed) -> bool:
        """Show how the record's text changes, and ask whether it is to; the text may be edited first."""
        while True:
            lines = format_difference(compare_bodies(record.body, draft.body), self.talk.room())
            self.talk.say(f"into {record.id} {safe_line(record.title)}:")
            self.talk.say("\n".join(lines or ["    (its text says it already; tags and evidence are added)"]))
            key = self.talk.ask_key("a merge  e edit the text  any other key goes back> ")
            if key == REDRAW:
                continue
            if key == "e":
                self.talk.say("edit")
                before, draft = draft, edit_merged(self.talk, draft)
                if draft != before:
                    typed.keep(draft.body)
                continue
            if key != "a":
                self.talk.say("not merged")
                return False
            self.review.stage_merge(look, record, draft)
            typed.drop()
            self.talk.say("merge")
            self._advance(1)
            return True

    def _accept_group(self, look: Look) -> bool:
        """Accept what is left of a topic, after showing its titles; not what should be looked at by itself."""
        group = look.row["group"]
        looks = [one for waiting in self.queue if waiting.group == group and (one := self._look(waiting)) is not None]
        taken = [one for one in looks if _is_plain(one)]
        self.talk.say(f"bulk: accept {count(len(taken), 'candidate')} of {safe_line(group)}")
        self._list([f"  {one.candidate.id}  {safe_line(one.draft.title)}" for one in taken])
        if len(looks) > len(taken):
            self.talk.say(f"left for a look of their own: {len(looks) - len(taken)}")
        if not taken or self.talk.ask_key("b again accepts them, any other key goes back> ") != "b":
            self.talk.say("not accepted")
            return False
        self.review.stage(taken, How.ACCEPT)
        self.talk.say("accept")
        ids = {one.candidate.id for one in taken}
        self.queue.sort(key=lambda one: one.id not in ids)
        self._advance(len(taken))
        return True

    def _list(self, lines: Sequence[str]) -> None:
        columns = self.talk.room().columns
        for line in lines:
            self.talk.say(truncate(line, columns))


def _is_plain(look: Look) -> bool:
    needs_a_look = look.alone or look.problem is not None or look.row["findings"] or look.row["contradicts"]
    return not needs_a_look and look.makes_record

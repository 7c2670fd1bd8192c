"""Editing in a review: a bad edit is told and can be mended, and nothing that was typed is lost meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gitmem.errors import GitmemError
from gitmem.hosts.cli.draft_form import format_draft, parse_draft
from gitmem.hosts.cli.editor import edit_text
from gitmem.hosts.cli.keeping import Kept, keep_text
from gitmem.hosts.cli.keys import REDRAW
from gitmem.hosts.cli.review_talk import Talk
from gitmem.model.record import Draft
from gitmem.service.review import Review
from gitmem.service.review_look import Look
from gitmem.text import make_visible


@dataclass
class Typed:
    """What was typed in a review and nothing became of yet, in the vault's drafts meanwhile."""

    review: Review
    kept: Kept | None = None
    text: str | None = None

    def keep(self, text: str) -> None:
        """Keep ``text`` in place of what was kept before."""
        if text == self.text:
            return
        older, self.kept, self.text = self.kept, keep_text(self.review.vault, text), text
        if older is not None:
            older.drop()

    def drop(self) -> None:
        """Forget it: it became a decision, or an edited draft."""
        if self.kept is not None:
            self.kept.drop()
        self.kept = None


@contextlib.contextmanager
def keeping_typed(talk: Talk, review: Review) -> Iterator[Typed]:
    """Yield what keeps what is typed; who leaves the block, in whatever way, with something kept is told where."""
    typed = Typed(review)
    try:
        yield typed
    finally:
        if typed.kept is not None:
            with contextlib.suppress(OSError):  # the terminal may be gone
                talk.say(f"what you wrote {typed.kept.said}")


def edit_draft(talk: Talk, review: Review, look: Look) -> None:
    """Let the person edit what is proposed, until it can be written or they give it up. Keeps the edited draft."""
    proposed = text = format_draft(look.draft)
    with keeping_typed(talk, review) as typed:
        while True:
            try:
                text = _edit(talk, text)
                review.edit(look, parse_draft(text))
            except GitmemError as error:
                talk.complain(error)
                if text != proposed:
                    typed.keep(text)
                if not _wants_again(talk, error):
                    return
            else:
                typed.drop()
                return


def edit_merged(talk: Talk, draft: Draft) -> Draft:
    """Return ``draft`` with the text that the person made of it; as it was where they left nothing, or gave it up."""
    try:
        return replace(draft, body=_edit(talk, draft.body))
    except GitmemError as error:
        talk.complain(error)
        return draft


def _edit(talk: Talk, text: str) -> str:
    with talk.keys.lines():
        return _mend(edit_text(talk.call.environment.editor, text))


def _mend(text: str) -> str:
    """Return ``text``, with bytes that are no text made visible: they can't be written anywhere."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return make_visible(text)
    return text


def _wants_again(talk: Talk, error: GitmemError) -> bool:
    if error.code in ("empty-text", "editor-failed"):
        return False
    key = REDRAW
    while key == REDRAW:  # a terminal that changes its size is no key
        key = talk.ask_key("e edits it again, any other key drops the edit> ")
    talk.say("edit" if key == "e" else "dropped")
    return key == "e"

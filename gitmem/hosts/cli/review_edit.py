"""Editing in a review: a bad edit is told and can be mended, and nothing that was typed is lost meanwhile."""

from __future__ import annotations

from dataclasses import replace

from gitmem.errors import GitmemError
from gitmem.hosts.cli.draft_form import format_draft, parse_draft
from gitmem.hosts.cli.editor import edit_text
from gitmem.hosts.cli.review_talk import Talk
from gitmem.model.record import Draft
from gitmem.service.review import Review
from gitmem.service.review_look import Look
from gitmem.text import make_visible


def edit_draft(talk: Talk, review: Review, look: Look) -> None:
    """Let the person edit what is proposed, until it can be written or they give it up. Keeps the edited draft."""
    text = format_draft(look.draft)
    while True:
        try:
            text = _edit(talk, text)
            review.edit(look, parse_draft(text))
        except GitmemError as error:
            talk.complain(error)
            if not _wants_again(talk, error):
                return
        else:
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
    key = talk.keys.read("e edits it again, any other key drops the edit> ")
    talk.say("edit" if key == "e" else "dropped")
    return key == "e"

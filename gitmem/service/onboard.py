"""An onboarding: a person says what holds in a project, and all of it is declared in one operation.

What was answered lies in a draft of the vault's runtime until it is declared, so that it outlives an interrupt.
Declaring is ``service.declare``; this is what comes before it, and writes the draft alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gitmem.errors import InputError
from gitmem.model.onboarding import GLOBAL_KINDS, Question, Questions, list_drafts
from gitmem.model.record import MAX_TITLE_CHARS, Draft, State
from gitmem.model.settings import Scope
from gitmem.policy.content import check_draft
from gitmem.policy.secrets import check_secrets
from gitmem.resources import read_text
from gitmem.service.declared import Declared, find_same, list_declared, tell_near
from gitmem.service.onboarding_form import format_questions, parse_questions
from gitmem.service.scanner import check_texts
from gitmem.service.vault import OpenVault
from gitmem.text import fold, make_visible, one_line, quote, shorten
from gitmem.values import dataclass, replace
from gitmem.vault.kept_draft import drop_draft, hold_draft, load_draft, place_of_draft, save_draft

DRAFT = "onboarding.md"
_LONG_TITLE_CHARS = 80
_HEAD = "An onboarding of gitmem that is not finished. `gitmem onboard` goes on with it.\n"


@dataclass
class Onboarding:
    """One onboarding of a vault, as far as it has come. ``questions`` hold what was answered.

    Every change is in the draft on disk when the method returns; what is refused changes nothing and stands nowhere.
    """

    vault: OpenVault
    questions: Questions
    declared: tuple[Declared, ...]
    is_resumed: bool = False

    def add(self, at: int, line: str) -> tuple[str, ...]:
        """Add an answer to the question ``at``, and return what is to be told about it.

        ``line`` becomes the title; one that is too long for a title becomes the text, its beginning the title. Raises
        ``InputError`` (``already-declared``, ``already-answered`` and what ``policy.content.check_draft`` raises),
        ``PolicyError`` (``secret-found``) and ``UnavailableError`` (``scanner-failed``).
        """
        question = self.questions[at]
        title, told = one_line(line), []
        draft = Draft(title, kind=question.kind)
        if len(title) > MAX_TITLE_CHARS:
            draft = replace(draft, title=shorten(title, _LONG_TITLE_CHARS), body=f"{title}\n")
            told.append("that is long: its beginning is the title, the whole is the text below it")
        _check_answer(draft)
        self._check_new(draft)
        self._put(at, (*question.answers, draft))
        return (*told, *tell_near(draft, self.declared))

    def extend(self, at: int, line: str) -> None:
        """Add a line to the text of the last answer to the question ``at``. Raises as ``add``, ``no-answer`` too."""
        question = self.questions[at]
        if not question.answers:
            raise InputError("no-answer", "there is no answer yet that a line could go below", "Answer first.")
        last = question.answers[-1]
        longer = replace(last, body=f"{last.body}{line.rstrip()}\n")
        _check_answer(longer)
        self._put(at, (*question.answers[:-1], longer))

    def drop(self, at: int, number: int) -> Draft:
        """Take the answer ``number``, from 1, of the question ``at`` out, and return it. Raises ``no-answer``."""
        answers = self.questions[at].answers
        if not 1 <= number <= len(answers):
            raise InputError("no-answer", f"there is no answer {number} here", "The numbers stand before the answers.")
        self._put(at, (*answers[: number - 1], *answers[number:]))
        return answers[number - 1]

    def format(self) -> str:
        """Return the whole as the form that ``replace`` reads."""
        return format_questions(self.questions)

    def replace(self, text: str) -> tuple[str, ...]:
        """Take the form ``text`` in place of all questions and answers; return what is to be told about it.

        Answers that are declared already are left out, and told. Raises as ``parse_questions`` and ``add``.
        """
        questions = _read_form(self.vault, text.encode("utf-8", "replace"))
        questions, told = _leave_out_known(questions, self.declared)
        self._save(questions)
        return told

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """What would be declared, in order."""
        return list_drafts(self.questions)

    @property
    def place(self) -> str:
        """The absolute file of the draft."""
        return place_of_draft(self.vault.layout, DRAFT)

    def discard(self) -> None:
        """Remove the draft: it was declared, or is not wanted. None there does no harm."""
        drop_draft(self.vault.layout, DRAFT)

    def _put(self, at: int, answers: tuple[Draft, ...]) -> None:
        changed = self.questions[at].with_answers(answers)
        self._save((*self.questions[:at], changed, *self.questions[at + 1 :]))

    def _save(self, questions: Questions) -> None:
        text = format_questions(questions, _HEAD)
        check_texts(self.vault.settings, {"the draft": text})
        save_draft(self.vault.layout, DRAFT, text.encode())
        self.questions = questions

    def _check_new(self, draft: Draft) -> None:
        known = find_same(draft, self.declared)
        if known is not None:
            message = f"{quote(known.record.title, 200)} is declared already, as {known.record.id}"
            raise InputError("already-declared", message, "There is nothing to do, or say how it differs.")
        if any(fold(draft.title) == fold(one.title) for one in self.drafts):
            raise InputError("already-answered", "that was answered already", "Say it once.")


@contextmanager
def hold_onboarding(vault: OpenVault, template: bytes | None = None) -> Iterator[Onboarding]:
    """Begin an onboarding, or go on with the one that has a draft, and let nobody else do so inside the block.

    ``template`` is a form with the questions, ``None`` for gitmem's own; it counts only where there is no draft.
    Answers in it are taken as given. Raises ``StateError`` (``draft-in-use``), ``UnavailableError``
    (``draft-unreadable``), and for the template or the draft what ``parse_questions`` and ``Onboarding.add`` raise.
    """
    with hold_draft(vault.layout, DRAFT):
        kept = load_draft(vault.layout, DRAFT)
        form = kept or template
        questions = own_questions(vault.entry.scope) if form is None else _read_form(vault, form)
        declared = list_declared(vault)
        questions, _told = _leave_out_known(questions, declared)
        yield Onboarding(vault, questions, declared, is_resumed=kept is not None)


def read_answers(vault: OpenVault, form: bytes) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
    """Return the answers in ``form`` that are not declared yet, and what is to be told. The draft is left alone.

    Raises what ``parse_questions`` and ``Onboarding.add`` raise.
    """
    questions, told = _leave_out_known(_read_form(vault, form), list_declared(vault))
    return list_drafts(questions), told


def find_draft(vault: OpenVault) -> str | None:
    """Return the text of the draft that is kept, ``None`` for none. Raises ``UnavailableError`` (``draft-unreadable``).

    It may be of any form: a person may have edited it.
    """
    kept = load_draft(vault.layout, DRAFT)
    return None if kept is None else kept.decode("utf-8", "replace")


def discard_draft(vault: OpenVault) -> None:
    """Remove the draft that is kept. Raises ``StateError`` (``draft-in-use``)."""
    with hold_draft(vault.layout, DRAFT):
        drop_draft(vault.layout, DRAFT)


def own_questions(scope: Scope) -> Questions:
    """Return gitmem's own questions for a vault of ``scope``."""
    return tuple(one for one in parse_questions(own_template().encode()) if _is_for(one, scope))


def own_template() -> str:
    """Return the form with gitmem's own questions, as shipped."""
    return read_text("templates", "onboarding.md")


def _leave_out_known(questions: Questions, declared: tuple[Declared, ...]) -> tuple[Questions, tuple[str, ...]]:
    """Return ``questions`` without the answers that are declared, or stand there twice; and what is to be told."""
    told, kept = [], []
    seen: set[str] = set()
    for question in questions:
        answers = []
        for draft in question.answers:
            known = find_same(draft, declared)
            if known is not None:
                told.append(f"declared already, left out: {make_visible(draft.title)} ({known.record.id})")
            elif fold(draft.title) in seen:
                told.append(f"stands there twice, left out once: {make_visible(draft.title)}")
            else:
                answers.append(draft)
            seen.add(fold(draft.title))
        kept.append(question.with_answers(tuple(answers)))
    near = (line for draft in list_drafts(tuple(kept)) for line in tell_near(draft, declared))
    return tuple(kept), (*told, *near)


def _read_form(vault: OpenVault, form: bytes) -> Questions:
    questions = _fit(vault, parse_questions(form))
    for draft in list_drafts(questions):
        _check_answer(draft)
    return questions


def _is_for(question: Question, scope: Scope) -> bool:
    return scope is not Scope.GLOBAL or question.kind in GLOBAL_KINDS


def _fit(vault: OpenVault, questions: Questions) -> Questions:
    """Return the questions that fit the vault's scope. Raises ``not-for-global`` rather than lose an answer."""
    misfits = [one for one in questions if not _is_for(one, vault.entry.scope)]
    for question in misfits:
        if question.answers:
            message = f"{question.answers[0].title!r} is a {question.kind}, and the global vault has none"
            hint = "Say it in the vault of the project that it is about, see --vault."
            raise InputError("not-for-global", make_visible(message), hint)
    fitting = tuple(one for one in questions if one not in misfits)
    if not fitting:
        raise InputError("no-question", "no question is for the global vault", "Ask for boundaries and preferences.")
    return fitting


def _check_answer(draft: Draft) -> None:
    check_draft(draft, State.BASELINE)
    check_secrets({"the answer": draft.title, "its text": draft.body})

"""The form of an onboarding: a Markdown file with a heading for each question and a list of answers below it. Pure.

The template, the draft that is kept and the file of ``--from`` have this one form.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.errors import InputError
from gitmem.model.onboarding import Question, Questions
from gitmem.model.record import BASELINE_KINDS, MAX_DRAFTS, MAX_TITLE_CHARS, Draft, Kind, Problem
from gitmem.patterns import late
from gitmem.service.together import refuse
from gitmem.text import fold, make_visible, one_line, shorten
from gitmem.values import dataclass, field

MAX_FORM_BYTES = 1 << 20
_HEADING = late(r"#[ \t]+(?P<name>.*)")
_BULLET = late(r"[-*+](?:[ \t]+(?P<title>.*)|)")
_INDENT = late(r"\t|  ")
_KINDS = {
    **{kind.value: kind for kind in Kind if kind in BASELINE_KINDS},
    "boundaries": Kind.BOUNDARY,
    "preferences": Kind.PREFERENCE,
    "goals": Kind.GOAL,
    "states": Kind.STATE,
}
_HINT = "Nothing was taken from it. docs/onboarding.md says what its lines may be."


@dataclass
class _Reading:
    questions: list[Question] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    title: str | None = None
    body: list[str] = field(default_factory=list)
    skips: bool = True
    """Whether lines are passed over: before the first heading, and below one that is wrong."""


def parse_questions(data: bytes) -> Questions:
    """Return the questions of a form, with their answers. A byte order mark and Windows line ends are fine.

    Raises ``InputError``: ``file-too-large`` (1 MiB), ``not-utf8``, or ``bad-form`` with every line that is wrong and
    why.
    """
    if len(data) > MAX_FORM_BYTES:
        raise InputError("file-too-large", f"the file is larger than {MAX_FORM_BYTES >> 20} MiB", "Say it shorter.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not-utf8", "the file is not valid UTF-8", "Save it as UTF-8 and try again.") from None
    reading = _Reading()
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        _read_line(reading, number, line)
    _end_answer(reading)
    if not reading.questions and not reading.problems:
        reading.problems.append(Problem("no-question", "there is no heading such as '# boundary'", "", 1))
    if sum(len(question.answers) for question in reading.questions) > MAX_DRAFTS:
        reading.problems.append(Problem("too-many-drafts", f"one operation takes at most {MAX_DRAFTS} records", "", 1))
    if reading.problems:
        refuse(InputError, "bad-form", "the answers can't be read", _HINT, reading.problems)
    return tuple(reading.questions)


def format_questions(questions: Iterable[Question], head: str = "") -> str:
    """Return the form that ``parse_questions`` reads as ``questions``, with ``head`` (no heading in it) before it."""
    lines = [*head.rstrip("\n").split("\n"), ""] if head else []
    for question in questions:
        lines += [f"# {question.kind.value}", "", *(f"> {line}".rstrip() for line in question.asks.split("\n")), ""]
        for draft in question.answers:
            lines += [f"- {draft.title}", *_indent(draft.body), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _indent(body: str) -> list[str]:
    text = body.strip("\n")
    return [f"  {line}" if line.strip() else "" for line in text.split("\n")] if text else []


def _read_line(reading: _Reading, number: int, line: str) -> None:
    heading = _HEADING.fullmatch(line)
    if heading is not None:
        _begin_question(reading, number, heading["name"])
    elif reading.skips:
        return
    elif not line.strip():
        reading.body += [""] if reading.title is not None else []
    elif _INDENT.match(line):
        _read_text(reading, number, line)
    elif (bullet := _BULLET.fullmatch(line)) is not None:
        _begin_answer(reading, number, bullet["title"] or "")
    elif line.startswith(">"):
        _end_answer(reading)
        last = reading.questions[-1]
        asks = line[1:].strip()
        reading.questions[-1] = Question(last.kind, f"{last.asks}\n{asks}" if last.asks else asks, last.answers)
    else:
        message = "an answer begins with '- ', its text with two blanks, a question with '> '"
        reading.problems.append(Problem("bad-line", message, "", number))


def _begin_question(reading: _Reading, number: int, name: str) -> None:
    _end_answer(reading)
    kind = _KINDS.get(fold(one_line(name)))
    reading.skips = kind is None
    if kind is None:
        shown = shorten(make_visible(name), 40)
        message = f"{shown!r} is none of boundary, preference, goal, state; within a text, indent it"
        reading.problems.append(Problem("bad-heading", message, "", number))
    else:
        reading.questions.append(Question(kind, ""))


def _begin_answer(reading: _Reading, number: int, title: str) -> None:
    _end_answer(reading)
    title = one_line(title)
    if not title:
        reading.problems.append(Problem("no-title", "the answer has no title behind its dash", "", number))
    elif len(title) > MAX_TITLE_CHARS:
        message = f"the title has {len(title)} characters; at most {MAX_TITLE_CHARS} fit. Say the rest below it"
        reading.problems.append(Problem("title-too-long", message, "", number))
    reading.title = title


def _read_text(reading: _Reading, number: int, line: str) -> None:
    if reading.title is None:
        reading.problems.append(Problem("bad-line", "a text stands below no answer", "", number))
    else:
        reading.body.append(_INDENT.sub("", line, count=1))


def _end_answer(reading: _Reading) -> None:
    if reading.title is not None:
        last = reading.questions[-1]
        body = "\n".join(reading.body).strip("\n")
        draft = Draft(reading.title, f"{body}\n" if body else "", last.kind)
        reading.questions[-1] = last.with_answers((*last.answers, draft))
    reading.title, reading.body = None, []

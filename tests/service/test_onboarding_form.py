"""The form of an onboarding: what it says is read exactly, and what is wrong in it is told by its line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.model.onboarding import Question
from gitmem.model.record import MAX_TITLE_CHARS, Draft, Kind
from gitmem.service.onboard import own_template
from gitmem.service.onboarding_form import format_questions, parse_questions

FORM = """\
Anything may stand up here.
- Even this.

# Boundaries

> What must never be done?
> Really never.

- Never push to main
  Open a pull request:

  ```sh
  # not a heading
  gh pr create
  ```
* Ask before you touch the database

# goal
- Release 2.0
"""


def test_questions_and_answers_are_read() -> None:
    assert parse_questions(FORM.encode()) == (
        Question(
            Kind.BOUNDARY,
            "What must never be done?\nReally never.",
            (
                Draft(
                    "Never push to main",
                    "Open a pull request:\n\n```sh\n# not a heading\ngh pr create\n```\n",
                    Kind.BOUNDARY,
                ),
                Draft("Ask before you touch the database", "", Kind.BOUNDARY),
            ),
        ),
        Question(Kind.GOAL, "", (Draft("Release 2.0", "", Kind.GOAL),)),
    )


def test_other_line_ends_a_byte_order_mark_and_tabs_are_fine() -> None:
    plain = parse_questions(FORM.encode())
    assert parse_questions(b"\xef\xbb\xbf" + FORM.replace("\n", "\r\n").encode()) == plain
    assert parse_questions(FORM.replace("\n  ", "\n\t").encode()) == plain


def test_the_shipped_template_asks_one_question_a_kind() -> None:
    questions = parse_questions(own_template().encode())
    assert [one.kind.value for one in questions] == ["boundary", "preference", "goal", "state"]
    assert all(one.asks and not one.answers for one in questions)


def test_everything_that_is_wrong_is_told_by_its_line() -> None:
    form = f"""\
# boundary
  no answer above
- Fine
plain text
-
# Rules
- not looked at
# goal
- {"x" * (MAX_TITLE_CHARS + 1)}
"""
    with pytest.raises(InputError) as caught:
        parse_questions(form.encode())
    assert caught.value.code == "bad-form"
    assert [(one["line"], one["code"], one["message"]) for one in caught.value.fields["problems"]] == [
        (2, "bad-line", "a text stands below no answer"),
        (4, "bad-line", "an answer begins with '- ', its text with two blanks, a question with '> '"),
        (5, "no-title", "the answer has no title behind its dash"),
        (6, "bad-heading", "'Rules' is none of boundary, preference, goal, state; within a text, indent it"),
        (9, "title-too-long", "the title has 201 characters; at most 200 fit. Say the rest below it"),
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "bad-form"), (b"- answer\n", "bad-form"), (b"# goal\n\xff", "not-utf8"), (b" " * 2**21, "file-too-large")],
)
def test_what_is_no_form_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_questions(data)
    assert caught.value.code == code


LINES = st.lists(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=12), max_size=5)


def make_body(lines: list[str]) -> str:
    lines = [line if line.strip() else "" for line in "\n".join(lines).split("\n")]
    text = "\n".join(lines).strip("\n")
    return f"{text}\n" if text else ""


DRAFTS = st.builds(
    Draft,
    st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=20),
    LINES.map(make_body),
    st.just(Kind.STATE),
)


@settings(derandomize=True, max_examples=200)
@given(st.lists(DRAFTS, max_size=4))
def test_what_is_written_is_read_again(drafts: list[Draft]) -> None:
    questions = (Question(Kind.STATE, "How is it?\nReally?", tuple(drafts)), Question(Kind.STATE, "And else?"))
    assert parse_questions(format_questions(questions, "Kept.\n").encode()) == questions

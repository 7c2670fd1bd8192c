"""The text of one record with what another one adds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.curator.join_text import join_bodies


def test_only_paragraphs_that_say_something_new_are_added() -> None:
    body = "More workers exhaust the database.\n"
    other = "The database is exhausted by more workers.\n\nWith four, CI fails after a minute."
    assert join_bodies(body, "More workers exhaust the database.\n\n\nWith four, CI fails.") == (
        "More workers exhaust the database.\n\nWith four, CI fails."
    )
    assert join_bodies(body, "MORE workers, the database: exhaust!") == body
    assert join_bodies("", other) == other
    assert join_bodies(body, "") == body
    assert join_bodies("Rule.\n\n---", "---") == "Rule.\n\n---"


def test_fenced_code_is_not_taken_apart() -> None:
    code = "```\nmake\n\ntest\n```"
    assert join_bodies("Run make.", code) == f"Run make.\n\n{code}"
    assert join_bodies(f"Run make.\n\n{code}", code) == f"Run make.\n\n{code}"


@settings(derandomize=True, max_examples=200)
@given(*[st.text(st.sampled_from("ab \n#`"), max_size=40)] * 2)
def test_the_text_that_stays_stays_and_joining_again_adds_nothing(body: str, other: str) -> None:
    joined = join_bodies(body, other)
    assert joined == body or joined.startswith(body.rstrip())
    assert join_bodies(joined, other) == joined

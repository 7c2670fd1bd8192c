"""A proposal in the form in which the inbox keeps it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.curator.normalise import normalise
from gitmem.model.record import Draft, Kind

TEXTS = st.text(st.sampled_from("aB \t\r\n#/é\u0301\u00a0İ "), max_size=20)


def test_lines_are_one_line_tags_are_folded_and_blanks_around_a_body_go() -> None:
    given_one = Draft(
        title="  Two\n workers ",
        body="\r\n\n    code\r\nText.  \nMore.\n\n",
        kind=Kind.FACT,
        summary=" a\tb ",
        tags=("#Tool/PyTest/", "tool/pytest", "", "#"),
        evidence=(" run:a  b ", "run:a b", ""),
        key=" workers ",
    )
    assert normalise(given_one) == Draft(
        title="Two workers",
        body="    code\nText.  \nMore.",
        kind=Kind.FACT,
        summary="a b",
        tags=("tool/pytest",),
        evidence=("run:a b",),
        key="workers",
    )
    assert normalise(Draft("t", " \n ", key="  ")) == Draft("t")


@settings(derandomize=True, max_examples=300)
@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3), st.none() | TEXTS)
def test_it_is_done_once_and_for_all(title: str, body: str, tags: list[str], key: str | None) -> None:
    once = normalise(Draft(title, body, tags=tuple(tags), evidence=tuple(tags), key=key, summary=title))
    assert normalise(once) == once
    assert "\n" not in once.title + once.summary + "".join(once.evidence)
    assert "\r" not in once.body

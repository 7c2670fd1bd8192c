"""What repeats across sessions becomes an idea with its reasons, and nothing that happens once or twice."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from some_sessions import a_session, edit, run

from gitmem.curator.sessions import sum_up
from gitmem.curator.signals import MAX_IDEAS, find_signals
from gitmem.model.record import State
from gitmem.model.session import Session
from gitmem.policy.content import check_draft


def sessions(count: int, paths: Sequence[str] = ("src/cache.py",)) -> list[Session]:
    return [sum_up(a_session(f"s{number}", number * 60, paths), f"s{number}") for number in range(count)]


def test_a_command_that_is_mended_in_three_sessions_is_worth_a_question() -> None:
    assert find_signals(sessions(2)) == []
    (idea,) = find_signals(sessions(3))
    assert idea.about == ("mended", "pytest")
    assert idea.draft.title == "pytest fails at first and passes later"
    assert idea.draft.body == (
        "Again and again `pytest` failed and passed later in the same session.\n\n"
        "Changed in between, more than once: `src/cache.py`.\n\n"
        "What makes it fail at first is not known to gitmem: say it here, or reject this.\n"
    )
    assert idea.why == ("`pytest` failed and then passed in 3 of the 3 sessions that ran it",)
    assert idea.sources == ("claude-code/s0", "claude-code/s1", "claude-code/s2")
    assert idea.draft.evidence == ("run:pytest",)
    assert idea.draft.tags == ("tool/pytest",)
    check_draft(idea.draft, State.OBSERVATION)


def test_the_parts_of_one_session_are_one_session() -> None:
    parts = [sum_up(a_session("s1", number * 60), "s1", part=number + 1) for number in range(5)]
    assert find_signals(parts) == []


def test_a_command_is_left_failing_only_in_a_row() -> None:
    def ended(codes: Sequence[int]) -> list[Session]:
        return [sum_up([run(at * 60, "make lint", code, f"s{at}")], f"s{at}") for at, code in enumerate(codes)]

    assert find_signals(ended([1, 1, 0])) == []
    assert find_signals(ended([1, 1, 0, 1, 1])) == []
    (idea,) = find_signals(ended([0, 1, 1, 1]))
    assert idea.draft.title == "make lint is left failing"
    assert idea.why == ("its last run failed in each of the last 3 sessions that ran `make lint`",)
    assert idea.sources == ("claude-code/s1", "claude-code/s2", "claude-code/s3")


def test_files_are_together_where_one_is_hardly_changed_without_the_other() -> None:
    def changed(*groups: Sequence[str]) -> list[Session]:
        return [sum_up([edit(at * 60, *paths, session=f"s{at}")], f"s{at}") for at, paths in enumerate(groups)]

    pair = ("docs/format.md", "src/format.py")
    assert find_signals(changed(*[pair] * 3)) == []
    assert find_signals(changed(*[pair] * 4, pair[:1], pair[1:])) == []
    (idea,) = find_signals(changed(*[pair] * 4, pair[:1]))
    assert idea.draft.title == "docs/format.md and src/format.py are changed together"
    assert idea.why == ("both were changed in 4 of the 5 sessions that changed one of them",)
    assert idea.draft.evidence == ("file:docs/format.md", "file:src/format.py")
    wide = [*pair, *(f"f{number}" for number in range(30))]
    assert find_signals(changed(*[wide] * 5)) == []


_SESSIONS = st.lists(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["pytest", "make", "c++"]), st.sampled_from([0, 1, None])),
            st.lists(st.sampled_from(["a.py", "b.py", "c/d.md", "odd name"]), min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=6,
    ),
    max_size=12,
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(_SESSIONS, st.randoms(use_true_random=False))
def test_signals_are_bounded_fit_to_write_and_the_same_in_any_order(told: list[list[object]], chance: object) -> None:
    made = []
    for number, one in enumerate(told):
        events = [
            run(number * 60 + at, *what, session=f"s{number}")  # type: ignore[misc]
            if isinstance(what, tuple)
            else edit(number * 60 + at, *what, session=f"s{number}")  # type: ignore[misc]
            for at, what in enumerate(one)
        ]
        made.append(sum_up(events, f"s{number}"))
    ideas = find_signals(made)
    assert len(ideas) <= MAX_IDEAS
    assert len({idea.about for idea in ideas}) == len(ideas)
    for idea in ideas:
        check_draft(idea.draft, State.OBSERVATION)
        assert len(set(idea.sources)) == len(idea.sources) >= 3
        candidate = idea.to_candidate("v", "2026-11-30T00:00:00Z")
        assert 0 <= candidate.worth <= 1
        assert candidate.id == idea.to_candidate("v", "2027-01-01T00:00:00Z").id
    chance.shuffle(made)  # type: ignore[attr-defined]
    assert find_signals(made) == ideas

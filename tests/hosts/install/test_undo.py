"""The way back from an edited text, without a word of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.hosts.install.json_edit import set_value
from gitmem.hosts.install.undo import apply_undo, find_undo


def test_only_blank_space_commas_and_empty_brackets_are_kept() -> None:
    assert find_undo("{}", '{\n  "a": 1\n}') == ((1, 10, ""),)
    assert find_undo('{\n  "a": 1\n}', '{\n  "a": 1,\n  "b": 2\n}') == ((10, 10, ""),)
    assert find_undo("[ ]\n", "[]\n") == ((1, 0, " "),)
    assert find_undo('{"token": "x"}', "{}") is None


LINES = st.lists(st.sampled_from(["{", "}", "  a", "  b,", "", "[]", ",", "  {}"]), max_size=8).map("\n".join)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(LINES, LINES)
def test_the_steps_lead_back_exactly(before: str, after: str) -> None:
    steps = find_undo(before, after)
    assert steps is None or apply_undo(after, steps) == before
    assert all(set(was) <= set(" \t\r\n,{}[]") for _at, _length, was in steps or ())


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), st.integers(), max_size=3), st.sampled_from([None, 0, 2, "\t"]))
def test_what_an_edit_adds_can_always_be_undone(value: dict[str, int], indent: int | str | None) -> None:
    import json

    before = json.dumps(value, indent=indent)
    after = set_value(set_value(before, ("ours",), {"x": 1}), ("more", "y", 0), 1)
    steps = find_undo(before, after)
    assert steps is not None
    assert apply_undo(after, steps) == before

"""Time is divided so that no second is lost and none counts twice."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.curator.activity import QUIET_S, Spent, Stretch, split_time, sum_up_time
from gitmem.model.event import EventKind
from gitmem.service.episodes import IDLE_MINUTES

STRETCHES = st.lists(
    st.builds(
        lambda start, length, spent: Stretch(start, start + length, spent),
        st.integers(0, 60),
        st.integers(0, 30),
        st.sampled_from(Spent),
    ),
    max_size=12,
)
MOMENTS = st.lists(st.tuples(st.integers(0, 4 * QUIET_S), st.sampled_from(EventKind)), max_size=20)
BOUNDS = settings(derandomize=True, max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_time_goes_by_what_happened_before() -> None:
    kinds = [
        (0, EventKind.SESSION_START),
        (60, EventKind.PROMPT),
        (90, EventKind.TOOL),
        (1800, EventKind.STOP),
        (2400, EventKind.PROMPT),
        (2400 + QUIET_S, EventKind.TOOL),
        (2405 + QUIET_S, EventKind.STOP),
        (2405 + 3 * QUIET_S, EventKind.SESSION_END),
    ]
    assert [(one.spent.value, one.end - one.start) for one in split_time(reversed(kinds))] == [
        ("waiting", 60),
        ("working", 30),
        ("working", 1710),
        ("waiting", 600),
        ("quiet", QUIET_S),
        ("working", 5),
        ("quiet", 2 * QUIET_S),
    ]
    assert QUIET_S == IDLE_MINUTES * 60


def test_where_stretches_overlap_the_first_sort_counts() -> None:
    stretches = [
        Stretch(0, 100, Spent.UNSPLIT),
        Stretch(10, 30, Spent.WAITING),
        Stretch(20, 40, Spent.WORKING),
        Stretch(20, 40, Spent.WORKING),
        Stretch(35, 60, Spent.QUIET),
        Stretch(200, 210, Spent.QUIET),
    ]
    assert sum_up_time(stretches) == {Spent.WORKING: 20, Spent.WAITING: 10, Spent.QUIET: 30, Spent.UNSPLIT: 50}


@BOUNDS
@given(STRETCHES)
def test_every_second_counts_exactly_once(stretches: list[Stretch]) -> None:
    told: dict[Spent, set[int]] = {one: set() for one in Spent}
    for second in range(100):
        there = {one.spent for one in stretches if one.start <= second < one.end}
        for spent in Spent:
            if spent in there:
                told[spent].add(second)
                break
    assert sum_up_time(stretches) == {spent: len(seconds) for spent, seconds in told.items()}


@BOUNDS
@given(MOMENTS)
def test_the_parts_of_one_session_sum_up_to_its_length(moments: list[tuple[int, EventKind]]) -> None:
    times = [at for at, _kind in moments] or [0]
    found = sum_up_time(split_time(moments))
    assert sum(found.values()) == max(times) - min(times)
    assert found[Spent.UNSPLIT] == 0

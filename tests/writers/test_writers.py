"""Many writers, some killed at any moment: nothing lost, doubled, out of order; and the judge that says so can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import git
from history_check import Asked, Evidence, Made, Shown, Version, doctored, find_problems, load_history
from storm import Outcome, run

V1, V2, V3 = (
    Version("promoted/a.md", "1", frozenset({"t"})),
    Version("promoted/a.md", "2", frozenset({"t", "mark/b"})),
    Version("promoted/a.md", "3", frozenset({"t", "mark/b", "mark/c"})),
)
SOUND = Evidence(
    asked=(
        Asked("a", "observe", 1, 2, "ok", commit="A", records={"r": "promoted/a.md"}),
        Asked("b", "edit", 3, 5, "ok", commit="B", records={"r": "promoted/a.md"}, mark="mark/b"),
        Asked("c", "edit", 4, 6, "ok", commit="C", records={"r": "promoted/a.md"}, mark="mark/c"),
        Asked("d", "edit", 4, 7, "refused", code="stale", mark="mark/d"),
        Asked("e", "edit", 7, 8, "unchanged", mark="mark/b"),
    ),
    made=(
        Made("I", (), ("init",), {}, {}),
        Made("A", ("I",), ("a",), {}, {"r": V1}),
        Made("B", ("A",), ("b",), {"r": V1}, {"r": V2}),
        Made("C", ("B",), ("c",), {"r": V2}, {"r": V3}),
    ),
    shown=(Shown("I", {}), Shown("B", {"r": (V2.path, V2.blob)})),
    catalog={"r": (V3.path, V3.blob)},
    receipts=(("init", "I"), ("a", "A"), ("b", "B"), ("c", "C")),
    known=frozenset({"init"}),
)


def _with_made(*made: Made) -> Callable[[Evidence], Evidence]:
    return lambda evidence: doctored(evidence, made=made)


def _with_asked(number: int, **changes: object) -> Callable[[Evidence], Evidence]:
    def doctor(evidence: Evidence) -> Evidence:
        asked = list(evidence.asked)
        asked[number] = replace(asked[number], **changes)  # type: ignore[arg-type]
        return doctored(evidence, asked=tuple(asked))

    return doctor


INIT, A, B, C = SOUND.made
C_ON_A = replace(C, parents=("A",), before={"r": V1}, after={"r": replace(V3, tags=V3.tags - {"mark/b"})})
OLD = {"r": (V2.path, V2.blob)}
DOCTORED: dict[str, tuple[Callable[[Evidence], Evidence], set[str]]] = {
    "an acknowledged operation is lost": (
        _with_made(INIT, A, C_ON_A),
        {"a", "e", "f"},
    ),
    "an operation is there twice": (
        _with_made(INIT, A, B, C, Made("B2", ("C",), ("b",), {}, {})),
        {"a", "b", "f"},
    ),
    "an operation that was refused is there": (_with_asked(2, outcome="refused", code="stale"), {"b"}),
    "an operation that changed nothing is there": (_with_asked(2, outcome="unchanged"), {"b"}),
    "an operation that nobody asked for is there": (lambda one: doctored(one, asked=one.asked[:2]), {"b", "d"}),
    "an operation was told another commit": (_with_asked(2, commit="B"), {"a"}),
    "an operation changed another record than it was told": (_with_asked(1, records={"q": "promoted/q.md"}), {"a"}),
    "a commit holds two operations": (_with_made(INIT, A, B, replace(C, op_ids=("c", "x"))), {"b"}),
    "one that ended before another began comes later": (_with_asked(2, begin_ns=0, end_ns=2), {"c"}),
    "a branch was taken in": (_with_made(INIT, A, B, replace(C, parents=("A", "B"))), {"c"}),
    "an update is lost": (
        _with_made(INIT, A, B, replace(C, after={"r": replace(V3, tags=frozenset({"t", "mark/c"}))})),
        {"d"},
    ),
    "a version does not follow the one before": (_with_made(INIT, A, B, replace(C, before={"r": V1})), {"d"}),
    "a record is dropped": (_with_made(INIT, A, B, replace(C, after={})), {"a", "d", "f"}),
    "a reader was shown what is in no commit": (lambda one: doctored(one, shown=(Shown("X", {}),)), {"e"}),
    "a reader was shown an older version": (lambda one: doctored(one, shown=(Shown("C", OLD),)), {"e"}),
    "the catalog lacks a record": (lambda one: doctored(one, catalog={}), {"f"}),
    "the catalog has an old version": (lambda one: doctored(one, catalog=OLD), {"f"}),
    "a receipt is lost": (lambda one: doctored(one, receipts=one.receipts[:-1]), {"f"}),
    "a receipt is there twice": (lambda one: doctored(one, receipts=(*one.receipts, one.receipts[-1])), {"f"}),
}  # fmt: skip


def test_a_sound_history_has_no_problems() -> None:
    assert find_problems(SOUND) == []


@pytest.mark.parametrize("what", DOCTORED)
def test_a_doctored_history_is_found_out(what: str) -> None:
    doctor, rules = DOCTORED[what]
    assert {problem[0] for problem in find_problems(doctor(SOUND))} == rules


def _judge(outcome: Outcome) -> None:
    assert outcome.problems == []
    assert outcome.counts["ok"] > 0
    assert outcome.reads > 0


def test_a_sample_of_writers_and_kills_and_a_real_history_that_is_tampered_with(tmp_path: Path) -> None:
    outcome = run(tmp_path, 6, 8, 1, kills=True)
    _judge(outcome)
    assert sum(outcome.counts.values()) == 48
    assert outcome.kills > 0
    repo = tmp_path / "vault"
    lost = next(one for one in reversed(outcome.evidence.asked) if one.outcome == "ok")
    git(repo, "reset", "-q", "--hard", f"{lost.commit}~1")
    tampered = doctored(outcome.evidence, made=load_history(repo))
    assert any(lost.op_id in problem for problem in find_problems(tampered) if problem.startswith("a: "))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_sixteen_writers_of_fifty_operations_and_kills(tmp_path: Path, seed: int) -> None:
    outcome = run(tmp_path, 16, 50, seed, kills=True)
    _judge(outcome)
    assert sum(outcome.counts.values()) == 800
    assert outcome.kills >= 50

"""Rules that open something to a model surface: everything that one names has to hold."""

from typing import Any

import pytest

from gitmem.model.authority import Decision
from gitmem.model.policy import EvidenceRule
from gitmem.model.record import BASELINE_KINDS, Draft, Kind
from gitmem.policy.evidence_rules import allow, describe, find_rule, fits, lies_in

DRAFT = Draft(
    "Two workers", kind=Kind.FACT, tags=("tool/pytest/xdist",), evidence=("run:make test", "file:Makefile#L3")
)

FITS: list[tuple[dict[str, Any], int, bool]] = [
    ({}, 1, True),
    ({"kinds": (Kind.FINDING, Kind.FACT)}, 1, True),
    ({"kinds": (Kind.FINDING,)}, 1, False),
    ({"tags": ("client", "tool")}, 1, True),
    ({"tags": ("#Tool/PyTest/",)}, 1, True),
    ({"tags": ("tool/py",)}, 1, False),
    ({"tags": ("pytest",)}, 1, False),
    ({"evidence": ("run", "file")}, 1, True),
    ({"evidence": ("run", "commit")}, 1, False),
    ({"sessions": 3}, 3, True),
    ({"sessions": 3}, 2, False),
    ({"kinds": (Kind.FACT,), "tags": ("tool",), "evidence": ("run",), "sessions": 2}, 2, True),
    ({"kinds": (Kind.FACT,), "tags": ("tool",), "evidence": ("url",), "sessions": 2}, 2, False),
]


@pytest.mark.parametrize(("rule", "sessions", "fit"), FITS)
def test_everything_that_a_rule_names_has_to_hold(rule: dict[str, Any], sessions: int, fit: bool) -> None:
    assert fits(EvidenceRule("r", **rule), DRAFT, sessions) is fit


@pytest.mark.parametrize("kind", sorted(BASELINE_KINDS))
def test_no_rule_fits_what_is_declared(kind: Kind) -> None:
    assert not fits(EvidenceRule("r", kinds=(kind,)), Draft("x", kind=kind), 9)


def test_a_draft_without_a_kind_is_a_fact() -> None:
    assert fits(EvidenceRule("r", kinds=(Kind.FACT,)), Draft("x"), 1)
    assert not fits(EvidenceRule("r", kinds=(Kind.FINDING,)), Draft("x"), 1)


def test_the_first_rule_that_fits_is_found() -> None:
    rules = (EvidenceRule("a", evidence=("url",)), EvidenceRule("b", evidence=("run",)), EvidenceRule("c"))

    assert find_rule(rules, DRAFT, 1) == rules[1]
    assert find_rule(rules[:1], DRAFT, 1) is None


def test_a_decision_names_the_rule_and_what_it_asks_for() -> None:
    rule = EvidenceRule("seen-twice", (Kind.FACT, Kind.FINDING), ("tool",), ("run", "file"), 2)

    assert allow(rule, "accepts without a person") == Decision(
        rule="policy:seen-twice",
        allowed=True,
        reason="the vault's policy accepts without a person: "
        "kind fact or finding, tag tool, evidence run and file, 2 sessions",
    )
    assert describe(EvidenceRule("all")) == "anything"


def test_a_tag_lies_in_itself_and_in_what_is_above_it() -> None:
    assert [lies_in("tool/a", top) for top in ("tool/a", "tool", "too", "tool/a/b")] == [True, True, False, False]

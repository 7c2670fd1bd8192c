"""The vocabulary as a tree with counts."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.tags import Vocabulary

from conftest import Desk

ALL = Filters()
TAGS = {
    "One": ("tool/pytest", "client/acme"),
    "Two": ("tool/pytest/xdist", "tool/pytest"),
    "Three": ("client/acme",),
    "Four": ("domain/booking",),
    "Five": (),
}


@pytest.fixture
def tagged(desk: Desk, memory: Memory, agent: Actor) -> Desk:
    bodies = {"Three": "With #Tool/make.", "Five": "About #tool itself."}
    for title, tags in TAGS.items():
        body = bodies.get(title, "")
        memory.observe(Draft(title, body, tags=tags, evidence=("run:make",), kind=Kind.FACT), agent)
    return desk


def told(memory: Memory, *, filters: Filters = ALL, as_of: str | None = None, **wanted: Any) -> list[tuple[Any, ...]]:
    rows = memory.tags(filters, Vocabulary(**wanted), as_of).rows
    return [(row["tag"], row["depth"], row["own"], row["total"]) for row in rows]


def test_tags_are_a_tree_with_counts(memory: Memory, tagged: Desk) -> None:
    assert told(memory) == [
        ("client", 0, 0, 2),
        ("client/acme", 1, 2, 2),
        ("domain", 0, 0, 1),
        ("domain/booking", 1, 1, 1),
        ("tool", 0, 1, 4),
        ("Tool/make", 1, 1, 1),
        ("tool/pytest", 1, 2, 2),
        ("tool/pytest/xdist", 2, 1, 1),
    ]
    assert told(memory, namespace="#Tool/pytest/") == [("tool/pytest", 1, 2, 2), ("tool/pytest/xdist", 2, 1, 1)]
    assert told(memory, min_count=2) == [
        ("client", 0, 0, 2),
        ("client/acme", 1, 2, 2),
        ("tool", 0, 1, 4),
        ("tool/pytest", 1, 2, 2),
    ]
    assert told(memory, is_flat=True, limit=3) == [
        ("client/acme", 1, 2, 2),
        ("tool/pytest", 1, 2, 2),
        ("domain/booking", 1, 1, 1),
    ]
    assert memory.tags(ALL, Vocabulary(is_flat=True, limit=3)).extra["omitted"] == 3
    assert [row[0] for row in told(memory, limit=2)] == ["client", "tool"]
    assert memory.tags(ALL, Vocabulary(namespace="nothing")).status is Status.NO_MATCH
    with pytest.raises(InputError, match="limit"):
        memory.tags(ALL, Vocabulary(limit=0))


def test_what_occurs_together(memory: Memory, tagged: Desk) -> None:
    assert told(memory, beside=("client/acme",)) == [
        ("tool", 0, 0, 2),
        ("Tool/make", 1, 1, 1),
        ("tool/pytest", 1, 1, 1),
    ]
    assert told(memory, beside=("tool/pytest", "client")) == [
        ("client", 0, 0, 1),
        ("client/acme", 1, 1, 1),
    ]
    assert told(memory, filters=Filters(tags=("domain",), kinds=(Kind.FACT,)), is_flat=True) == [
        ("domain/booking", 1, 1, 1)
    ]


def test_private_records_do_not_count_and_earlier_commits_answer(memory: Memory, tagged: Desk) -> None:
    before = told(memory, as_of="HEAD~1")
    assert ("tool", 0, 0, 3) in before
    file = next((tagged.repo / "observations").rglob("four-*.md"))
    file.write_text(file.read_text().replace("---\n", "---\nprivate: true\n", 1))
    assert "domain" not in str(told(memory))
    assert "domain" not in str(told(memory, as_of="HEAD~1"))


def test_a_namespace_without_a_name_is_none(desk: Desk, memory: Memory) -> None:
    text = "---\ngitmem_id: m7k2q9x4c0de\ntitle: A\ntags: [a//b, x/y]\n---\n"
    (desk.repo / "promoted" / "a.md").write_text(text)
    rows = memory.tags(ALL).rows
    assert [(row["tag"], row["name"], row["depth"], row["own"], row["total"]) for row in rows] == [
        ("a", "a", 0, 0, 1),
        ("a//b", "/b", 1, 1, 1),
        ("x", "x", 0, 0, 1),
        ("x/y", "y", 1, 1, 1),
    ]

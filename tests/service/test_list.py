"""Lists: sorted, a page at a time, narrowed by tags and by what is due."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Hit
from gitmem.model.authority import Actor
from gitmem.model.record import Draft
from gitmem.service import reading
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

from conftest import Desk

ALL = Filters()
NOTES = {
    "Alpha": {"review_after": "2026-01-02", "updated": "2026-03-01T08:00:00Z"},
    "beta": {"review_after": "2999-01-01", "updated": "2026-02-01"},
    "Gamma": {
        "review_after": "2026-01-01T10:00:00Z",
        "valid_until": "2026-05-01",
        "updated": "2026-04-01T08:00:00+02:00",
    },
    "delta": {"updated": None},
}


@pytest.fixture
def listed(desk: Desk, memory: Memory, agent: Actor, person: Actor) -> dict[str, str]:
    ids = {}
    for title, properties in NOTES.items():
        tags = ("client/acme", f"tool/{title.lower()}")
        one = memory.observe(Draft(title, "With #tool/inline.", tags=tags, evidence=("run:make",)), agent).records[0]
        file = desk.repo / one.path
        text = file.read_text()
        lines = [line for line in text.splitlines(keepends=True) if not line.startswith(("updated:", "created:"))]
        new = [f"{name}: {value}\n" for name, value in properties.items() if value is not None]
        file.write_text("".join([lines[0], *new, *lines[1:]]))
        ids[title] = one.id
    return ids


def titles(memory: Memory, filters: Filters = ALL, *args: Any, **options: Any) -> list[str]:
    return [hit.record.title for hit in memory.list(filters, *args, **options).hits]


def test_records_are_sorted_and_come_a_page_at_a_time(memory: Memory, listed: dict[str, str]) -> None:
    assert titles(memory) == ["Alpha", "beta", "delta", "Gamma"]
    assert titles(memory, sort="updated") == ["Gamma", "Alpha", "beta", "delta"]
    assert titles(memory, sort="created") == ["Alpha", "beta", "delta", "Gamma"]
    assert titles(memory, sort="review") == ["Gamma", "Alpha", "beta", "delta"]
    assert titles(memory, sort="path") == sorted(titles(memory), key=str.lower)
    assert titles(memory, ALL, 2, offset=1) == ["beta", "delta"]
    for offset, omitted in ((1, 1), (9, 0)):
        extra = memory.list(ALL, 2, offset=offset).extra
        assert (extra["total"], extra["omitted"]) == (4, omitted)
    for options in ({"limit": 0}, {"offset": -1}, {"sort": "size"}):
        with pytest.raises(InputError):
            memory.list(ALL, **options)  # type: ignore[arg-type]


def test_a_record_says_which_of_its_tags_were_asked_for(memory: Memory, listed: dict[str, str]) -> None:
    (hit,) = memory.list(Filters(tags=("client", "tool/beta"))).hits
    assert (hit.record.title, hit.matched) == ("beta", ("tag: client/acme", "tag: tool/beta"))
    assert memory.list(Filters(any_tags=("Tool",))).hits[0].matched == ("tag: tool/alpha", "tag: tool/inline")


def test_what_is_due_and_out_of_date_is_said(desk: Desk, memory: Memory, listed: dict[str, str]) -> None:
    def marks(hits: tuple[Hit, ...]) -> dict[str, list[str]]:
        return {hit.record.title: [mark.text for mark in hit.marks] for hit in hits}

    assert titles(memory, Filters(due="today"), sort="review") == ["Gamma", "Alpha"]
    assert titles(memory, Filters(due="2026-01-01")) == ["Gamma"]
    assert titles(memory, Filters(due="2025")) == []
    assert titles(memory, Filters(due="2999")) == ["Alpha", "beta", "Gamma"]
    expected = {
        "Alpha": ["review due"],
        "beta": [],
        "delta": [],
        "Gamma": ["out of date since 2026-05-01", "review due"],
    }
    assert marks(memory.list(ALL).hits) == expected
    assert marks(memory.search("gamma", ALL).hits)["Gamma"] == expected["Gamma"]
    assert marks(memory.show(listed["Gamma"]).hits) == {"Gamma": expected["Gamma"]}


def test_an_earlier_commit_is_judged_by_its_own_day(desk: Desk, memory: Memory, listed: dict[str, str]) -> None:
    desk.git("add", "-A")
    tree = desk.git("write-tree").strip()
    old = "tree {}\nauthor A <a@b> {} +0000\ncommitter A <a@b> {} +0000\n\nold\n".format(tree, *(["1767250800"] * 2))
    (desk.repo.parent / "commit").write_text(old)  # 2026-01-01
    commit = desk.git("hash-object", "-t", "commit", "-w", str(desk.repo.parent / "commit")).strip()
    hits = memory.list(ALL, as_of=commit).hits
    assert {hit.record.title: [mark.code for mark in hit.marks] for hit in hits if hit.marks} == {
        "Gamma": ["review-due"]
    }


def test_no_more_files_are_read_than_are_shown(
    memory: Memory, listed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.list(ALL)
    read: Counter[int] = Counter()
    whole = reading.read_records

    def count(vault: Any, paths: Any) -> Any:
        wanted = list(paths)
        read["files"] += len(wanted)
        return whole(vault, wanted)

    monkeypatch.setattr(reading, "read_records", count)
    assert titles(memory, ALL, 1, offset=2) == ["delta"]
    assert read["files"] == 1


def test_editing_moves_a_record_to_the_front(memory: Memory, listed: dict[str, str], person: Actor) -> None:
    made = memory.observe(Draft("Epsilon"), person).records[0]
    memory.edit(made.id, RecordEdit(summary="Changed."), person)
    assert titles(memory, sort="updated")[0] == "Epsilon"
    assert titles(memory, sort="created")[0] == "Epsilon"

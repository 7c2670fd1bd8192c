"""Views that a person edits: they give way to the records, and nothing that was written into one is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from gitmem.model.authority import Actor
from gitmem.service.memory import Memory
from gitmem.transaction import repair
from gitmem.vault import atomic

from conftest import Desk, draft
from crash import run_killed

MINE = "A line of mine.\n"


def _edit(desk: Desk, text: str = MINE) -> None:
    with (desk.repo / "INDEX.md").open("a") as file:
        file.write(text)


def _kept(desk: Desk) -> list[str]:
    return sorted(path.read_text() for path in (desk.runtime / "displaced").rglob("*") if path.is_file())


def test_a_view_that_is_edited_while_it_is_put_back_is_left(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.promote(memory.observe(draft(), person).records[0].id, person)
    _edit(desk)
    real: Callable[[str, str, int | None], bool] = atomic.exchange

    def edit_first(one: str, other: str, dir_fd: int | None) -> bool:
        _edit(desk, "And another.\n")
        monkeypatch.undo()
        return real(one, other, dir_fd)

    monkeypatch.setattr(atomic, "exchange", edit_first)
    receipt = memory.repair_views(person)
    assert receipt.notices[0].startswith("INDEX.md was not put back: INDEX.md was edited by another program")
    assert (desk.repo / "INDEX.md").read_text().endswith(f"{MINE}And another.\n")
    assert desk.git("status", "--porcelain") == " M INDEX.md\n"
    assert desk.leftovers() == []
    memory.repair_views(person)
    assert any(text.endswith(f"{MINE}And another.\n") for text in _kept(desk))
    desk.judge()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("gone", [True, False], ids=["removed", "edited"])
def test_a_view_is_put_back_even_when_that_is_killed(
    desk: Desk, person: Actor, monkeypatch: pytest.MonkeyPatch, when: str, gone: bool
) -> None:
    with desk.open() as memory:
        memory.promote(memory.observe(draft(), person).records[0].id, person)
    if gone:
        (desk.repo / "INDEX.md").unlink()
    else:
        _edit(desk)
    real = repair.put_in_place

    def kill(*args: object) -> None:
        if when == "after":
            real(*args)  # type: ignore[arg-type]
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(repair, "put_in_place", kill)
    assert run_killed(desk.open, "no step", lambda memory: memory.repair_views(person))
    monkeypatch.undo()
    with desk.open() as memory:
        memory.status()
        assert memory.check().rows == ()
    desk.judge()
    assert [text.endswith(MINE) for text in _kept(desk)] == ([] if gone else [True])

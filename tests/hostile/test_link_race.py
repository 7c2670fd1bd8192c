"""A folder of the vault becomes a link to elsewhere while gitmem works: nothing outside is written, read or removed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.errors import GitmemError
from gitmem.model.authority import Actor
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.transaction.ground import STEPS
from gitmem.vault.atomic import exchange

from conftest import Desk, draft

CANARY = "---\ngitmem_id: 0123456789ab\ntitle: Canary outside\nkind: fact\n---\ncanary of the outside\n"
_SAMPLE = ("journal", "write", "write-next", "stage", "prove", "receipt")
_SWAPPER = """
import select, sys
from gitmem.vault.atomic import exchange
folder, link = sys.argv[1:]
swaps = 0
while not select.select([0], [], [], 0)[0]:
    for _ in range(50):
        exchange(folder, link)
        exchange(folder, link)
        swaps += 2
print(swaps)
"""


class Outside:
    """A folder beside the vault that looks like one of the vault's own, and a link to it inside the vault."""

    def __init__(self, desk: Desk, folder: str) -> None:
        self.inside = desk.repo / folder
        self.link = desk.repo.parent / f"link-to-{folder}"
        self.place = desk.repo.parent / "outside"
        for month in ("", *(path.name for path in self.inside.iterdir() if path.is_dir())):
            (self.place / month).mkdir(parents=True, exist_ok=True)
            (self.place / month / "canary-0123ab.md").write_text(CANARY)
        (self.place / "empty").mkdir()
        self.link.symlink_to(self.place)
        self.before = self._look()

    def swap(self) -> None:
        exchange(str(self.inside), str(self.link))

    def is_untouched(self) -> bool:
        return self._look() == self.before

    def _look(self) -> dict[str, bytes | None]:
        return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(self.place.rglob("*"))}


def is_quiet(memory: Memory) -> bool:
    """Tell whether reading says nothing of what lies outside."""
    answers = [memory.search("canary outside", Filters()), memory.list(Filters())]
    return not any("anary" in str(answer.rows) for answer in answers)


@pytest.mark.parametrize("verb", ["observe", "edit", "retire"])
@pytest.mark.parametrize(
    "step", [step if step in _SAMPLE else pytest.param(step, marks=pytest.mark.slow) for step in STEPS]
)
def test_inv_inside_a_folder_that_becomes_a_link_at_a_step_leads_nowhere(
    desk: Desk, person: Actor, step: str, verb: str
) -> None:
    with desk.open() as memory:
        record = memory.observe(draft("One"), person).records[0]
    outside = Outside(desk, "observations")
    swapped: list[str] = []

    def swap(name: str) -> None:
        if name == step and not swapped:
            swapped.append(name)
            outside.swap()

    with desk.open(probe=swap) as memory, contextlib.suppress(GitmemError):
        _write(memory, verb, record.id, person)
    assert outside.is_untouched()
    if swapped:
        with desk.open() as memory:
            assert is_quiet(memory)
        outside.swap()
    with desk.open() as memory:
        memory.observe(draft("Two"), person)
        assert is_quiet(memory)
    outside.link.unlink()
    desk.judge()
    assert outside.is_untouched()


def _write(memory: Memory, verb: str, record_id: str, person: Actor) -> None:
    if verb == "observe":
        memory.observe(draft("Other"), person)
    elif verb == "edit":
        memory.edit(record_id, RecordEdit(body="Changed.\n"), person)
    else:
        memory.retire(record_id, "old", person)


def _race(desk: Desk, person: Actor, least_swaps: int, least_rounds: int) -> None:
    with desk.open() as memory:
        record_id = memory.observe(draft("One"), person).records[0].id
    outside = Outside(desk, "observations")
    swapper = subprocess.Popen(
        [sys.executable, "-c", _SWAPPER, str(outside.inside), str(outside.link)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    written = 0
    try:
        for number in range(least_rounds):
            with desk.open(index_wait_s=0.1) as memory:
                for verb in ("observe", "edit"):
                    with contextlib.suppress(GitmemError):
                        _write(memory, verb, record_id, person)
                        written += 1
                if number % 5 == 0:
                    assert is_quiet(memory)
    finally:
        swaps = int(swapper.communicate("stop\n", timeout=60)[0])
    assert swaps >= least_swaps
    assert outside.is_untouched()
    assert not outside.inside.is_symlink()
    with desk.open() as memory:
        memory.observe(draft("Last"), person)
    assert desk.git("fsck", "--strict", "--no-dangling") == ""
    assert outside.is_untouched()


def test_a_folder_swapped_all_the_time_leads_nowhere(desk: Desk, person: Actor) -> None:
    _race(desk, person, 1000, 15)


@pytest.mark.slow
def test_a_folder_swapped_ten_thousand_times_leads_nowhere(desk: Desk, person: Actor) -> None:
    _race(desk, person, 10_000, 400)


def test_a_view_is_not_put_back_through_a_link(make_desk: object, person: Actor, tmp_path: Path) -> None:
    desk = make_desk(catalog_shards=32)  # type: ignore[operator]
    with desk.open() as memory:
        memory.observe(draft(), person)
        outside = tmp_path / "outside"
        (desk.repo / "catalog").rename(outside)
        (desk.repo / "catalog").symlink_to(outside)
        shard = next(outside.iterdir())
        shard.write_bytes(b"outside\n")
        with contextlib.suppress(GitmemError):
            memory.repair_views(person)
    assert [path.read_bytes() for path in outside.iterdir()] == [b"outside\n"]

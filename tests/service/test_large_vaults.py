"""In a vault that is read by its folders' times: nothing stale is returned, and every answer says how it came about."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.catalog.database import open_database
from gitmem.catalog.reconcile import Report
from gitmem.catalog.sharing import Turns, share
from gitmem.clock import SystemClock
from gitmem.errors import InputError, UnavailableError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.reading import ask
from gitmem.service.suggest import list_suggestions

from conftest import Desk, draft

NOTES = 9
MOST = 4
ALL = Filters()


class LaterClock(SystemClock):
    """Ten seconds ahead of the files: folders that were just written are settled."""

    def time_ns(self) -> int:
        return super().time_ns() + 10**10


@pytest.fixture
def large(desk: Desk, person: Actor) -> Iterator[Memory]:
    with desk.open(max_strict_notes=MOST) as memory:
        memory.vault.clock = LaterClock()
        memory.observe_all([draft(f"Heron {number}", f"word{number}") for number in range(NOTES)], person)
        for _ in range(2):
            look(memory)
        yield memory


def look(memory: Memory, *, strict: bool = False) -> Report:
    return ask(memory.vault, lambda _database, report: report, strict=strict)


def rewrite(desk: Desk, memory: Memory, number: int, change: Callable[[str], str]) -> Path:
    """Write a note in place, as Obsidian does, where its turn comes last."""
    record = memory.search(f"word{number}", ALL).hits[0].record
    file = desk.repo / record.path
    with file.open("r+", newline="") as opened:
        text = change(opened.read())
        opened.seek(0)
        opened.truncate()
        opened.write(text)
    # It neither is among those that changed lately, nor is it its turn: only a look at all notes finds it.
    memory.vault.clock = LongLaterClock()
    with memory.vault.database.writing() as connection:
        connection.execute("UPDATE progress SET folder = ?, place = 0", (str(Path(record.path).parent),))
        names = connection.execute("SELECT names FROM folders").fetchone()[0].split("/")
    assert names.index(file.name) >= 3, "choose another record: this one would be looked at"
    return file


class LongLaterClock(SystemClock):
    """A week ahead: no note has changed lately."""

    def time_ns(self) -> int:
        return super().time_ns() + 7 * 24 * 3600 * 10**9


def test_each_answer_says_how_the_notes_were_looked_at(large: Memory) -> None:
    how = large.search("heron", ALL).extra["reconcile"]
    assert how == {"tier": "folders", "notes": NOTES, "looked_at": how["looked_at"], "changed": 0}
    assert 3 <= how["looked_at"] <= MOST
    assert large.list(ALL).extra["reconcile"]["tier"] == "folders"
    assert (look(large, strict=True).tier, look(large, strict=True).looked_at) == ("strict", NOTES)


def last(memory: Memory) -> int:
    """Return the number of the note whose turn comes last."""
    hits = memory.list(ALL).hits
    path = max(hit.record.path for hit in hits)
    return next(int(hit.record.title.split()[1]) for hit in hits if hit.record.path == path)


def test_a_word_that_was_written_away_in_place_does_not_answer(desk: Desk, large: Memory) -> None:
    number = last(large)
    rewrite(desk, large, number, lambda text: text.replace(f"word{number}", "bittern"))
    found = large.search(f"word{number}", ALL)
    assert (found.status, found.extra["reconcile"]["tier"]) == (Status.NO_MATCH, "strict")
    assert len(large.search("bittern", ALL).hits) == 1


def test_a_tag_that_was_taken_away_in_place_does_not_answer(desk: Desk, large: Memory) -> None:
    number = last(large)
    rewrite(desk, large, number, lambda text: text.replace("tool/pytest", "tool/make"))
    assert len(large.list(Filters(tags=("tool/pytest",))).hits) == NOTES - 1


def test_a_record_that_became_private_in_place_is_left_out(desk: Desk, large: Memory) -> None:
    number = last(large)
    rewrite(desk, large, number, lambda text: text.replace("---\n", "---\nprivate: true\n", 1))
    found = large.list(ALL, limit=NOTES)
    assert (len(found.hits), found.extra["omitted"]) == (NOTES - 1, 0)


def test_inv_private_spellings_tell_nothing_of_what_became_private_in_place(desk: Desk, large: Memory) -> None:
    number = last(large)
    rewrite(desk, large, number, lambda text: f"{text}A zanzibar.\n")
    look(large, strict=True)
    asked = f"zanzibra word{(number + 1) % NOTES}"
    assert large.search(asked, ALL).extra["did_you_mean"] == asked.replace("zanzibra", "zanzibar")
    rewrite(desk, large, number, lambda text: text.replace("---\n", "---\nprivate: true\n", 1))
    assert look(large).tier == "folders"
    found = large.search(asked, ALL)
    assert ("did_you_mean" in found.extra, len(found.hits)) == (False, 1)


def test_inv_private_completion_tells_nothing_of_what_became_private_in_place(desk: Desk, large: Memory) -> None:
    rewrite(desk, large, last(large), lambda text: text.replace("---\n", "---\nprivate: true\n", 1))
    assert len(list_suggestions(large.vault)) == NOTES - 1


def test_an_id_that_was_written_in_place_is_found(desk: Desk, large: Memory) -> None:
    number = last(large)
    old = large.search(f"word{number}", ALL).hits[0].record.id
    rewrite(desk, large, number, lambda text: text.replace(old, "0123456789ab"))
    assert large.show("0123456789ab").hits[0].record.id == "0123456789ab"
    with pytest.raises(InputError):
        large.show(old)


def test_an_id_that_was_written_away_in_place_is_not_found(desk: Desk, large: Memory) -> None:
    number = last(large)
    old = large.search(f"word{number}", ALL).hits[0].record.id
    rewrite(desk, large, number, lambda text: text.replace(old, "0123456789ab"))
    with pytest.raises(InputError):
        large.show(old)


def test_a_new_match_is_found_when_its_turn_comes(desk: Desk, large: Memory) -> None:
    number = last(large)
    other = (number + 1) % NOTES
    rewrite(desk, large, number, lambda text: text + f"See word{other}.\n")
    assert len(large.search(f"word{other}", ALL).hits) == 1
    found = [len(large.search(f"word{other}", ALL).hits) for _ in range(4)]
    assert found == sorted(found)
    assert found[-1] == 2


def test_that_nothing_was_found_is_said_only_after_a_look_at_every_note(desk: Desk, large: Memory) -> None:
    rewrite(desk, large, last(large), lambda text: text + "A bittern.\n")
    found = large.search("bittern", ALL)
    assert (len(found.hits), found.extra["reconcile"]["tier"]) == (1, "strict")
    assert large.search("kingfisher", ALL).extra["reconcile"]["tier"] == "strict"


@pytest.mark.parametrize("options", [{"strict": True}, {"max_strict_notes": NOTES}, {"memory_catalog": True}])
def test_a_setting_has_every_note_looked_at(desk: Desk, large: Memory, options: dict[str, object]) -> None:
    rewrite(desk, large, last(large), lambda text: text + "A bittern.\n")
    with desk.open(**{"max_strict_notes": MOST} | options) as memory:
        memory.vault.clock = LongLaterClock()
        for _ in range(2):
            found = memory.search("bittern", ALL)
            assert (found.status, len(found.hits)) == (Status.OK, 1)
        tier = "memory" if "memory_catalog" in options else "strict"
        assert found.extra["reconcile"] == {"tier": tier, "notes": NOTES, "looked_at": NOTES, "changed": 0}


def test_where_turns_cannot_be_remembered_every_note_is_looked_at(desk: Desk, large: Memory) -> None:
    rewrite(desk, large, last(large), lambda text: text + "A bittern.\n")
    with large.vault.database.reading() as connection:
        connection.execute("PRAGMA query_only = ON")
    found = large.search("bittern", ALL)
    assert (len(found.hits), found.status, found.extra["reconcile"]["tier"]) == (1, Status.DEGRADED, "memory")


class TestTurns:
    def test_those_who_wait_share_one_run_that_began_after_they_asked(self) -> None:
        turns: Turns[int] = Turns()
        runs: list[int] = []
        is_first_running, may_end = threading.Event(), threading.Event()

        def work() -> int:
            runs.append(len(runs))
            number = runs[-1]
            if number == 0:
                is_first_running.set()
                assert may_end.wait(60)
            return number

        results: list[int] = []
        first = threading.Thread(target=lambda: results.append(turns.take(work)))
        first.start()
        assert is_first_running.wait(60)
        others = [threading.Thread(target=lambda: results.append(turns.take(work))) for _ in range(8)]
        for thread in others:
            thread.start()
        wait_until(lambda: turns._next is not None and turns.waiting == 8)
        may_end.set()
        for thread in [first, *others]:
            thread.join()
        assert sorted(results) == [0] + [1] * 8
        assert turns.take(work) == 2

    def test_each_who_waited_for_one_that_failed_tries_anew(self) -> None:
        turns: Turns[int] = Turns()
        is_first_running, may_end = threading.Event(), threading.Event()
        outcomes: list[str] = []

        def block() -> int:
            is_first_running.set()
            assert may_end.wait(60)
            return 0

        def fail() -> int:
            raise UnavailableError("catalog-failed", "it failed", "Ask again.")

        def ask_failing() -> None:
            try:
                turns.take(fail)
            except UnavailableError as error:
                outcomes.append(error.code)

        first = threading.Thread(target=lambda: turns.take(block))
        first.start()
        assert is_first_running.wait(60)
        others = [threading.Thread(target=ask_failing) for _ in range(4)]
        for thread in others:
            thread.start()
        wait_until(lambda: turns.waiting == 4)
        may_end.set()
        for thread in [first, *others]:
            thread.join()
        assert outcomes == ["catalog-failed"] * 4
        assert turns.take(lambda: 7) == 7


def wait_until(condition: Callable[[], bool]) -> None:
    event = threading.Event()
    for _ in range(6000):
        if condition():
            return
        event.wait(0.01)
    raise AssertionError("it did not come to that in a minute")


def test_a_catalog_is_shared_by_name_and_closed_by_the_last(tmp_path: Path) -> None:
    made: list[str] = []

    def make() -> object:
        made.append("one")
        return open_database(str(tmp_path / "c"), "vault-a")

    one, two = share("name", make), share("name", make)  # type: ignore[arg-type]
    assert (one is two, made) == (True, ["one"])
    one.close()
    with two.database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM records").fetchone() == (0,)
    two.close()
    three = share("name", make)  # type: ignore[arg-type]
    assert (three is one, made) == (False, ["one", "one"])
    three.close()


def test_eight_threads_with_a_memory_each_get_what_was_there_when_they_asked(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        memory.observe_all([draft(f"Heron {number}") for number in range(30)], person)
    faults: list[object] = []

    def work(number: int) -> None:
        with desk.open() as own:
            for turn in range(5):
                word = f"word{number}x{turn}"
                (desk.repo / "promoted").mkdir(exist_ok=True)
                file = desk.repo / f"promoted/{word}.md"
                file.write_text(f"---\ngitmem_id: '{number:06}{turn:06}'\n---\n{word}\n")
                found = [hit.record.path for hit in own.search(word, ALL).hits]
                if found != [f"promoted/{word}.md"]:
                    faults.append((word, found))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []

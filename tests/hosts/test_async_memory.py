"""Async code on one vault: many tasks at once, cancellation, and an end that waits for what has begun."""

from __future__ import annotations

import asyncio
import threading

import pytest

from gitmem import Draft, InputError, Memory, Options, UnavailableError, open_async_memory, open_memory
from gitmem.hosts.async_memory import AsyncMemory

from conftest import Desk


def found(number: int) -> Draft:
    return Draft(f"Finding {number}", f"Number {number} holds.", evidence=("run:1",))


def on(desk: Desk, **options: object) -> AsyncMemory:
    return open_async_memory("vault", home=desk.home, options=Options(**options))  # type: ignore[arg-type]


def test_many_tasks_read_and_write_at_once_and_nothing_is_lost(desk: Desk) -> None:
    async def work() -> tuple[list[str], list[int]]:
        async with on(desk) as memory:

            async def write(number: int) -> str:
                return (await memory.run(Memory.observe, found(number))).records[0].id

            async def read(number: int) -> int:
                answer = await memory.run(Memory.search, f"Number {number}", limit=50)
                assert answer.status in ("ok", "no-match")
                return len(answer.hits)

            tasks = [one for number in range(20) for one in (write(number), read(number))]
            done = await asyncio.gather(*tasks)
            ids, counts = [one for one in done if isinstance(one, str)], [one for one in done if isinstance(one, int)]
            listed = await memory.run(Memory.list)
            assert sorted(hit.record.id for hit in listed.hits) == sorted(ids)
            return ids, counts

    ids, counts = asyncio.run(work())
    assert (len(set(ids)), len(counts)) == (20, 20)
    assert len(desk.commits()) == 21
    desk.judge()


def test_plain_threads_work_where_each_opens_its_own(desk: Desk) -> None:
    def write(number: int) -> str:
        with open_memory("vault", home=desk.home) as memory:
            memory.observe(found(number))
            return memory.search(f"Number {number}").status.value

    async def work() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(write, number) for number in range(8)))

    assert asyncio.run(work()) == ["ok"] * 8
    assert len(desk.commits()) == 9
    desk.judge()


def test_a_cancelled_call_is_made_whole_or_not_at_all(desk: Desk) -> None:
    """One thread; the first write is stopped in its midst and cancelled there, the second one before its turn."""
    reached, go_on = threading.Event(), threading.Event()

    def probe(step: str) -> None:
        if step == "commit" and not reached.is_set():
            reached.set()
            assert go_on.wait(60)

    async def work() -> None:
        memory = AsyncMemory(lambda: open_memory("vault", home=desk.home, options=Options(probe=probe)), 1)
        begun = asyncio.create_task(memory.run(Memory.observe, found(1)))
        await asyncio.to_thread(reached.wait, 60)
        waiting = asyncio.create_task(memory.run(Memory.observe, found(2)))
        await asyncio.sleep(0)
        begun.cancel()
        waiting.cancel()
        assert [type(one) for one in await asyncio.gather(begun, waiting, return_exceptions=True)] == [
            asyncio.CancelledError,
            asyncio.CancelledError,
        ]
        assert len(desk.commits()) == 1
        go_on.set()
        await memory.close()

    asyncio.run(work())
    assert desk.commits() == ["observe: Finding 1", desk.commits()[-1]]
    desk.judge()


def test_errors_come_through_and_a_memory_that_is_not_there_is_said_at_the_door(desk: Desk) -> None:
    async def refused() -> None:
        async with on(desk) as memory:
            with pytest.raises(InputError, match="no record has the id"):
                await memory.run(Memory.retire, "nothing-like-it", "no reason")

    async def nowhere() -> None:
        async with open_async_memory("elsewhere", home=desk.home):
            pytest.fail("there is none")

    async def none_at_all() -> None:
        async with open_async_memory(home=desk.home):
            pytest.fail("there is none")

    asyncio.run(refused())
    with pytest.raises(InputError, match="no vault is called"):
        asyncio.run(nowhere())
    with pytest.raises(UnavailableError, match="no vault here"):
        asyncio.run(none_at_all())
    assert [one.name for one in threading.enumerate() if one.name.startswith("gitmem")] == []


def test_no_more_threads_are_used_than_were_asked_for(desk: Desk) -> None:
    def name(_memory: Memory) -> str:
        return threading.current_thread().name

    async def work() -> set[str]:
        async with on(desk) as memory:
            return set(await asyncio.gather(*(memory.run(name) for _number in range(40))))

    assert len(asyncio.run(work())) <= 4

"""The memory for async code: each call runs in a worker thread, and each thread has a memory of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

if TYPE_CHECKING:
    from gitmem.service.memory import Memory

T = TypeVar("T")
P = ParamSpec("P")


class AsyncMemory:
    """One vault for the tasks of an event loop. Use it in an ``async with`` block, or ``close`` it.

    ``open_one`` opens the memory of a thread; there are at most ``max_threads``, and calls beyond that wait their turn.
    """

    def __init__(self, open_one: Callable[[], Memory], max_threads: int = 4) -> None:
        self._open_one = open_one
        self._threads = ThreadPoolExecutor(max_threads, thread_name_prefix="gitmem")
        self._own = threading.local()
        self._opened: list[Memory] = []

    async def __aenter__(self) -> Self:
        try:
            await self.run(lambda _memory: None)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def run(self, verb: Callable[Concatenate[Memory, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what ``verb`` (``Memory.search``, or any function of a memory) returns for the arguments behind it.

        Raises what it raises. A task that is cancelled while it waits has the call not made, if no thread has begun
        with it, or made whole: a write is never left half done, and may have been done.
        """
        work = self._threads.submit(lambda: verb(self._find_own(), *args, **kwargs))
        return await asyncio.wrap_future(work)

    async def close(self) -> None:
        """Wait for the calls that have begun, drop those that have not, and release all file handles. Final."""
        waiting = asyncio.get_running_loop().run_in_executor(None, self._shut)
        await asyncio.shield(waiting)

    def _shut(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        while self._opened:
            self._opened.pop().close()

    def _find_own(self) -> Memory:
        memory: Memory | None = getattr(self._own, "memory", None)
        if memory is None:
            memory = self._own.memory = self._open_one()
            self._opened.append(memory)
        return memory

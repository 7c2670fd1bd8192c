"""gitmem: a memory for coding agents that people can read, review, edit and undo.

``open_memory`` is the way in for programs, ``open_async_memory`` for async ones; ``docs/python.md`` tells the rest.
Everything here is loaded when it is first used, so that ``import gitmem`` costs nothing.
"""

from __future__ import annotations

from gitmem.typed import TYPE_CHECKING, Any
from gitmem.version import VERSION

if TYPE_CHECKING:
    from gitmem.errors import (
        GitmemError,
        InputError,
        IntegrityError,
        PolicyError,
        StateError,
        UnavailableError,
    )
    from gitmem.hosts.async_memory import AsyncMemory
    from gitmem.hosts.python import make_vault, open_async_memory, open_memory
    from gitmem.model.answer import Answer, Hit, Status
    from gitmem.model.authority import Actor, Authority, Surface, model_actor
    from gitmem.model.change import Receipt
    from gitmem.model.record import Draft, Kind, Record, State
    from gitmem.model.task_report import TaskReport
    from gitmem.service.edit import RecordEdit
    from gitmem.service.memory import Memory
    from gitmem.service.query import Filters, SearchOptions
    from gitmem.service.vault import Options

__version__ = VERSION
__all__ = [
    "Actor",
    "Answer",
    "AsyncMemory",
    "Authority",
    "Draft",
    "Filters",
    "GitmemError",
    "Hit",
    "InputError",
    "IntegrityError",
    "Kind",
    "Memory",
    "Options",
    "PolicyError",
    "Receipt",
    "Record",
    "RecordEdit",
    "SearchOptions",
    "State",
    "StateError",
    "Status",
    "Surface",
    "TaskReport",
    "UnavailableError",
    "__version__",
    "make_vault",
    "model_actor",
    "open_async_memory",
    "open_memory",
]
_HOMES = {
    "gitmem.errors": (
        "GitmemError",
        "InputError",
        "IntegrityError",
        "PolicyError",
        "StateError",
        "UnavailableError",
    ),
    "gitmem.hosts.async_memory": ("AsyncMemory",),
    "gitmem.hosts.python": ("make_vault", "open_async_memory", "open_memory"),
    "gitmem.model.answer": ("Answer", "Hit", "Status"),
    "gitmem.model.authority": ("Actor", "Authority", "Surface", "model_actor"),
    "gitmem.model.change": ("Receipt",),
    "gitmem.model.record": ("Draft", "Kind", "Record", "State"),
    "gitmem.model.task_report": ("TaskReport",),
    "gitmem.service.edit": ("RecordEdit",),
    "gitmem.service.memory": ("Memory",),
    "gitmem.service.query": ("Filters", "SearchOptions"),
    "gitmem.service.vault": ("Options",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            import importlib

            return globals().setdefault(name, getattr(importlib.import_module(home), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""gitmem: a memory for coding agents that people can read, review, edit and undo.

``open_memory`` is the way in for programs; it loads what it needs when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.version import VERSION

if TYPE_CHECKING:
    from gitmem.service.memory import Memory
    from gitmem.service.vault import Options

__version__ = VERSION
__all__ = ["__version__", "open_memory"]


def open_memory(home: str, folder: str, named: str | None = None, options: Options | None = None) -> Memory:
    """Return the memory that ``named`` (a name or a path) means, else that of ``folder``, else the global one.

    ``home`` is gitmem's home folder. Raises ``UnavailableError`` or ``InputError`` when there is none; never makes one.
    """
    from gitmem.wiring import open_memory as build

    return build(home, folder, named, options)

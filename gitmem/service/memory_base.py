"""What all parts of the table of contents stand on: one vault, and the way to the home's global one."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.model.authority import Actor, model_actor
from gitmem.model.settings import VaultEntry
from gitmem.service.vault import OpenVault
from gitmem.typed import Self


class MemoryBase:
    """One vault. Close it, or use it in a ``with`` block.

    ``find_global`` gives the home's global vault, for the questions that a workspace's vault answers together with it.
    ``actor`` is who writes where a call names nobody: a program, on the model surface. Not for use by several threads
    at once: each opens its own.
    """

    def __init__(
        self,
        vault: OpenVault,
        find_global: Callable[[], VaultEntry | None] = lambda: None,
        actor: Actor | None = None,
    ) -> None:
        self.vault = vault
        self.find_global = find_global
        self.actor = actor or model_actor()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Release file handles; the object may be used again."""
        self.vault.close()

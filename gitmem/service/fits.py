"""Whether what a model handed in fits a JSON Schema that a host made."""

from __future__ import annotations

from gitmem.vault.schema import Misfit, find_misfit

__all__ = ["Misfit", "find_misfit"]

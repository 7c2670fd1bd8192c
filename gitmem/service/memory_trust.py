"""The verbs about who may do what, and how it is proved: policy, keys, verification. A part of ``Memory``."""

from __future__ import annotations

from gitmem.service.memory_base import MemoryBase


class TrustVerbs(MemoryBase):
    """Policy, human keys, verification; see ``service.memory``."""

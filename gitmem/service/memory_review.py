"""The verbs between what a host saw and what is remembered: events, candidates, review. A part of ``Memory``."""

from __future__ import annotations

from gitmem.service.memory_base import MemoryBase


class ReviewVerbs(MemoryBase):
    """Capture, propose, curate, and decide; see ``service.memory``."""

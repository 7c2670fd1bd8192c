"""Conversations with the command, for tests whose plugin is ``hosts.driving``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hosts.session import Sessions

if TYPE_CHECKING:
    from driving import Gitmem


@pytest.fixture
def start(bare: Gitmem) -> Iterator[Sessions]:
    """Start the command in a terminal of its own, over the same home as ``gitmem``."""
    sessions = Sessions(bare.environment)
    yield sessions
    for one in sessions.running:
        one.close()

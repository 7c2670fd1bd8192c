"""What waits to be curated, also what a curate that was killed had set aside."""

from __future__ import annotations

from gitmem.model.event import EventKind, Seen
from gitmem.service.memory import Memory
from gitmem.vault.spool import claim_spool


def test_what_was_set_aside_still_waits_and_comes_first(memory: Memory) -> None:
    for kind in (EventKind.SESSION_START, EventKind.PROMPT):
        memory.journal_add(Seen(kind, "s1", "codex"))
    assert claim_spool(memory.vault.layout, "s1")
    memory.capture(Seen(EventKind.SESSION_END, "s1", "codex"))
    memory.capture(Seen(EventKind.STOP, "s2", "codex"))
    assert [row["event"] for row in memory.journal_list("s1").rows] == ["session-start", "prompt", "session-end"]
    rows = {row["session"]: (row["events"], row["ended"]) for row in memory.journal_list().rows}
    assert rows == {"s1": (3, True), "s2": (1, False)}
    journal = memory.status().extra["journal"]
    assert (journal["sessions"], journal["events"]) == (2, 4)

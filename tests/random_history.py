"""Random histories of one vault: every kind of operation, the same for the same seed but for the clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from gitmem.errors import GitmemError
from gitmem.model.authority import Actor, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import ALPHABET
from gitmem.model.record import Draft, Kind, State
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
WORDS = ("lock", "cache", "worker", "queue", "index", "branch", "deploy", "retry", "schema", "report", "mirror")
NAMESPACES = ("tool", "client", "domain", "convention")
BASELINE = (Kind.BOUNDARY, Kind.PREFERENCE, Kind.GOAL, Kind.STATE)
KNOWLEDGE = (Kind.FACT, Kind.DECISION, Kind.CONVENTION, Kind.PROCEDURE, Kind.FINDING)
CURRENT = (State.BASELINE, State.OBSERVATION, State.PROMOTED)


class Historian:
    """Does one random operation after another; what can't be done (nothing to restore) is passed over."""

    def __init__(self, memory: Memory, seed: int, folder: Path) -> None:
        self.memory = memory
        self.folder = folder
        self.random = random.Random(seed)
        self.made = 0

    def new_token(self, chars: int = 12) -> str:
        """Stands for ``gitmem.model.ids.new_token``: the same ids in every run."""
        return "".join(self.random.choices(ALPHABET, k=chars))

    def run(self, operations: int) -> list[Receipt]:
        """Do so many operations that make a commit, and return their receipts."""
        done: list[Receipt] = []
        while len(done) < operations:
            receipt = self.step(done)
            if receipt is not None and receipt.changed:
                done.append(receipt)
        return done

    def step(self, done: list[Receipt]) -> Receipt | None:
        """Do one random operation after those ``done``; ``None`` where it can't be."""
        steps: list[tuple[int, Callable[[], Receipt | None]]] = [
            (6, self._observe),
            (3, self._declare),
            (5, self._edit),
            (5, self._promote),
            (4, self._retire),
            (2, self._restore),
            (1, self._import),
            (3, lambda: self._undo(done)),
        ]
        weights, ways = zip(*steps, strict=True)
        try:
            return self.random.choices(ways, weights)[0]()
        except GitmemError:
            return None

    def _observe(self) -> Receipt:
        return self.memory.observe(self._draft(self.random.choice(KNOWLEDGE)), PERSON)

    def _declare(self) -> Receipt:
        return self.memory.declare(self._draft(self.random.choice(BASELINE)), PERSON)

    def _edit(self) -> Receipt | None:
        one = self._pick(CURRENT)
        wanted = self.random.choice(
            [
                RecordEdit(title=self._title()),
                RecordEdit(body=self._body()),
                RecordEdit(summary=self._title()),
                RecordEdit(add_tags=(self._tag(),)),
                RecordEdit(properties={"owner": self.random.choice(WORDS)}),
                RecordEdit(properties={"private": True}),
            ]
        )
        return None if one is None else self.memory.edit(one, wanted, PERSON)

    def _promote(self) -> Receipt | None:
        one = self._pick((State.OBSERVATION,))
        return None if one is None else self.memory.promote(one, PERSON)

    def _retire(self) -> Receipt | None:
        one, newer = self._pick(CURRENT), self._pick(CURRENT)
        if one is None:
            return None
        return self.memory.retire(one, "outdated", PERSON, newer if self.random.random() < 0.4 else None)

    def _restore(self) -> Receipt | None:
        one = self._pick((State.RETIRED,))
        return None if one is None else self.memory.restore(one, PERSON)

    def _import(self) -> Receipt | None:
        self.made += 1
        notes = self.folder / f"notes-{self.made}"
        notes.mkdir(parents=True)
        for number in range(self.random.randint(2, 4)):
            (notes / f"note {self.made} {number}.md").write_text(f"# {self._title()}\n\n{self._body()}\n", "utf-8")
        state = self.random.choice((State.OBSERVATION, State.PROMOTED))
        return self.memory.import_notes(str(notes), PERSON, state=state).receipt

    def _undo(self, done: list[Receipt]) -> Receipt | None:
        newest = done[-6:]
        return self.memory.undo(self.random.choice(newest).op_id, PERSON) if newest else None

    def _draft(self, kind: Kind) -> Draft:
        self.made += 1
        key = f"key-{self.made}" if self.random.random() < 0.3 else None
        tags = tuple(self._tag() for _ in range(self.random.randint(0, 2)))
        return Draft(self._title(), self._body(), kind=kind, tags=tags, key=key)

    def _title(self) -> str:
        return " ".join(self.random.choices(WORDS, k=3)).capitalize()

    def _body(self) -> str:
        return "\n".join(" ".join(self.random.choices(WORDS, k=6)) + "." for _ in range(self.random.randint(1, 5)))

    def _tag(self) -> str:
        return f"{self.random.choice(NAMESPACES)}/{self.random.choice(WORDS)}"

    def _pick(self, states: tuple[State, ...]) -> str | None:
        hits = self.memory.list(Filters(states=states)).hits
        ids = sorted(hit.record.id for hit in hits)
        return self.random.choice(ids) if ids else None

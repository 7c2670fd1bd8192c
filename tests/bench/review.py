"""Review candidates by script in a real terminal, and print the key presses and the time that gitmem itself took.

    python tests/bench/review.py [--candidates 20]

Two in three are accepted, the others promoted, rejected or skipped, each by itself. A person's reading is not in it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hosts.session import Session, Sessions

from gitmem.hosts.environment import Environment
from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault, open_memory

PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid")
PER_SESSION = 10
"""How many one session proposes; the policy's bound is 30."""
PLAN = "aaapaarsaa"
"""The keys of ten candidates; a rejection takes a second one for its reason."""
TOPICS = ("tool/pytest", "tool/redis", "domain/shop", "convention/review")


def main() -> None:
    """Make a vault, propose, review, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=20)
    wanted = parser.parse_args().candidates
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        work.mkdir()
        make_vault(str(home), NewVault(Scope.GLOBAL), PERSON)
        _propose(home, wanted)
        session = Sessions(Environment(home=str(home), folder=str(work)))("review")
        begin = time.monotonic()
        waits = _review(session, wanted)
        code = session.end()
        took = time.monotonic() - begin
        session.close()
    assert code == 0, session.screen
    waits.sort()
    print(f"{wanted} candidates: {session.typed} key presses, {took:.1f} s in all")
    print(f"from a key to the next screen: median {waits[len(waits) // 2] * 1000:.0f} ms, longest {waits[-1]:.2f} s")


def _propose(home: Path, number: int) -> None:
    with open_memory(str(home), str(home), "global") as memory:
        for at in range(number):
            body = "\n\n".join(f"Paragraph {line} of {at} tells of case {at * 7 + line}." for line in range(4))
            tags, evidence = (TOPICS[at % len(TOPICS)],), (f"run:job-{at}",)
            title = f"Service {chr(97 + at % 26)}{at} keeps its lock for {at + 2} seconds"
            draft = Draft(title, body, Kind.FACT, tags=tags, evidence=evidence)
            memory.propose(draft, replace(AGENT, session=f"s{at // PER_SESSION}"))


def _review(session: Session, number: int) -> list[float]:
    waits = []
    session.until("key> ")
    for at in range(number):
        key = PLAN[at % len(PLAN)]
        begin = time.monotonic()
        session.type(key)
        if key == "r":
            session.until("why> ")
            session.type("3")
        session.until("key> " if at + 1 < number else "later> ")
        waits.append(time.monotonic() - begin)
    session.type("\n")
    session.confirm()
    return waits


if __name__ == "__main__":
    main()

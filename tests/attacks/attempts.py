"""Run every attempt and print what became of each: the tables of docs/attacks.md."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import by_files
import by_git
import by_inbox
import by_model
import by_passing
import by_signature
import by_surprise
from attack_ground import Scene, build, judge

Attempt = Callable[[Scene], None]
WAYS = (
    ("What a model can call", by_model.ATTEMPTS),
    ("Inbox, hooks, curator, policy and keys", by_inbox.ATTEMPTS),
    ("Files", by_files.ATTEMPTS),
    ("Git", by_git.ATTEMPTS),
    ("Signatures", by_signature.ATTEMPTS),
    ("What waits for a person's word", by_surprise.ATTEMPTS),
    ("What a person's own operation takes along", by_passing.ATTEMPTS),
)
"""Every attempt, by the way it takes."""
NEED_KEYS = frozenset(by_signature.ATTEMPTS)


def try_it(attempt: Attempt, folder: Path, *, keys: bool) -> str:
    """Return what became of ``attempt`` in a new vault, in the words of the page."""
    scene = build(folder, by_signature.list_key if keys else None)
    attempt(scene)
    with scene.open() as memory:
        return judge(memory.context())


def say(attempt: Attempt) -> str:
    """Return what an attempt does, as the page has it."""
    return " ".join((attempt.__doc__ or "").split())


def main() -> None:
    """Print the tables."""
    for way, attempts in WAYS:
        print(f"## {way}\n\n| Attempt | Without keys | With keys |\n| --- | --- | --- |")
        for attempt in attempts:
            said = []
            for keys in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    does = keys or attempt not in NEED_KEYS
                    said.append(try_it(attempt, Path(folder), keys=keys) if does else "—")
            print(f"| {say(attempt)} | {' | '.join(said)} |", flush=True)
        print()


if __name__ == "__main__":
    main()

"""Measure the secret scanner on made-up notes: ``python tests/policy/secret_figures.py``, with the options below.

Prints how many of 1,000 secrets were found and how many of 1,000 look-alikes were taken for one, each kind that is not
perfect (``--all``: every kind) on a line of its own, and exits with 1 where the goals are not met. ``--seed N`` chooses
the seed; ``--held-out`` other forms and surroundings, which were looked at once; ``--unseen`` kinds that were written
down after the rules, and has no goal.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gitmem.policy.secrets import find_secrets

from fake_secrets import Sample, make_look_alikes, make_secrets, make_unseen

COUNT = 1000
SEED = 20261201
MIN_FOUND = 0.98
MAX_FALSE = 0.01


@dataclass
class Figures:
    """How many notes of each kind there were, and in which of them something was found."""

    made: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    odd: list[Sample] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.found.total() / self.made.total()


def measure(samples: Sequence[Sample], *, secret: bool) -> Figures:
    """Return what the scanner finds in ``samples``, within the lines of the made-up thing; ``odd`` are its mistakes."""
    figures = Figures()
    for one in samples:
        lines = [finding.line for finding in find_secrets(one.text)]
        found = any(one.first <= line <= one.last for line in lines) if secret else bool(lines)
        figures.made[one.kind] += 1
        figures.found[one.kind] += found
        if found is not secret:
            figures.odd.append(one)
    return figures


def format_figures(title: str, figures: Figures, *, secret: bool, every: bool) -> str:
    """Return the table of one set: in all, then by kind."""
    found, made = figures.found.total(), figures.made.total()
    lines = [f"{title}: {found} of {made} ({found / made:.1%}), {len(figures.made)} kinds"]
    for kind in sorted(figures.made):
        here, all_of_it = figures.found[kind], figures.made[kind]
        if every or here != (all_of_it if secret else 0):
            lines.append(f"  {kind:30} {here:3} of {all_of_it}")
    return "\n".join(lines)


def main(args: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the notes that were judged wrongly")
    given = parser.parse_args(args)
    if given.unseen:
        print(
            format_figures(
                "secrets found", measure(make_unseen(given.seed, COUNT), secret=True), secret=True, every=True
            )
        )
        return 0
    secrets = measure(make_secrets(given.seed, COUNT, held_out=given.held_out), secret=True)
    look_alikes = measure(make_look_alikes(given.seed, COUNT, held_out=given.held_out), secret=False)
    print(format_figures("secrets found", secrets, secret=True, every=given.all))
    print(format_figures("look-alikes stopped", look_alikes, secret=False, every=given.all))
    if given.show:
        for one in (*secrets.odd, *look_alikes.odd):
            print(f"--- {one.kind}: {one.fake!r} in {one.text!r} -> {find_secrets(one.text)}")
    return 0 if secrets.share >= MIN_FOUND and look_alikes.share <= MAX_FALSE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What `gitmem verify` takes, and how much memory, for histories that gitmem itself made, every tenth commit signed.

python tests/bench/verify.py 1000 10000
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft, Kind
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.wiring import make_vault, open_memory

SIGNED_EVERY = 10
_PERSON = Actor(Surface.HUMAN, "Pat", "pat@example.com")
_AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid")


def make_history(folder: Path, commits: int) -> Memory:
    """Make a vault of about ``commits`` commits, and return it open."""
    home, project = str(folder / "home"), str(folder)
    key = str(folder / "key")
    subprocess.run(["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "pat", "-f", key], check=True)
    make_vault(home, NewVault(Scope.WORKSPACE, project=project, catalog_shards=32), _PERSON)
    memory = open_memory(home, project)
    memory.add_key(f"{key}.pub", None, _PERSON)
    memory.set_policy(b"bounds:\n  observations_per_day: 10000\n", _PERSON)
    boundary = memory.declare(Draft("Never push", "To main.", Kind.BOUNDARY), _PERSON).records[0].id
    for number in range(commits - 4):
        if number % SIGNED_EVERY == 0:
            memory.edit(boundary, RecordEdit(body=f"To main, {number}.\n"), _PERSON)
        else:
            memory.observe(Draft(f"Fact {number}", f"It is {number}.", evidence=("run:1",)), _AGENT)
    memory.maintain(_AGENT)
    return memory


def measure(commits: int, rounds: int = 3) -> None:
    """Print the median of ``rounds``, the whole and what follows the last hundred commits."""
    with tempfile.TemporaryDirectory() as place, make_history(Path(place), commits) as memory:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        whole, late = [], []
        for _ in range(rounds):
            start = time.perf_counter()
            extra = memory.verify().extra
            whole.append(time.perf_counter() - start)
            start = time.perf_counter()
            memory.verify("HEAD~100")
            late.append(time.perf_counter() - start)
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
        assert extra["verdict"] == "proven", extra
        print(
            f"{extra['commits']} commits, {extra['signed']} signed: {sorted(whole)[rounds // 2]:.2f} s, "
            f"the last 100 {sorted(late)[rounds // 2]:.2f} s, {more} MiB more memory"
        )


if __name__ == "__main__":
    for wanted in sys.argv[1:] or ["1000"]:
        measure(int(wanted))

"""Read a vault whose runtime lies on a file system that is really full, with any little room; print what went wrong.

It mounts a small tmpfs in a mount namespace of its own; where that can't be had it says so and ends with exit code 77.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from catalog.other_process import tell  # noqa: E402

from gitmem.model.authority import Actor, Surface  # noqa: E402
from gitmem.model.settings import Scope  # noqa: E402
from gitmem.service.init import NewVault  # noqa: E402
from gitmem.service.vault import Options  # noqa: E402
from gitmem.wiring import make_vault, open_memory  # noqa: E402

NOT_POSSIBLE = 77
PAGE = 4096
ROOM = (0, 1, 2, 3, 5, 8, 12, 17, 25, 40, 60, 90, 140)
"""How many pages are free; every fourth of these without ``--all``."""
_ALL = "--all"
_INSIDE = "--inside"
_PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")


def main() -> int:
    """Enter a mount namespace and try every cell there."""
    if _INSIDE not in sys.argv:
        for flags in (["-m"], ["-Urm"]):
            try:
                known = subprocess.run(["unshare", *flags, "true"], check=False, capture_output=True)
            except OSError:
                break
            if known.returncode == 0:
                return subprocess.run(
                    ["unshare", *flags, sys.executable, __file__, _INSIDE, *sys.argv[1:]], check=False
                ).returncode
        print("no file system can be mounted here")
        return NOT_POSSIBLE
    rooms = ROOM if _ALL in sys.argv else ROOM[::4]
    with tempfile.TemporaryDirectory() as folder:
        disk = Path(folder) / "disk"
        disk.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=False, capture_output=True, text=True
        )
        if done.returncode:
            print(f"no file system can be mounted here: {done.stderr.strip()}")
            return NOT_POSSIBLE
        try:
            faults = list(_iter_faults(Path(folder) / "vault", disk, rooms))
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)
    print("\n".join([*faults, f"{len(rooms) * 3} cells, {len(faults)} failed"]))
    return 1 if faults else 0


def _iter_faults(root: Path, disk: Path, rooms: Sequence[int]) -> Iterator[str]:
    entry, _receipt = make_vault(str(disk / "home"), NewVault(Scope.WORKSPACE, path=str(root)), _PERSON)
    runtime, home = Path(entry.runtime), str(disk / "home")
    (root / "promoted").mkdir(exist_ok=True)
    for number in range(40):
        _write(root, number, f"word{number} common {'filling ' * 100}")
    for free in rooms:
        for moment in ("no catalog yet", "opened before", "asked before"):
            _write(root, 3, f"word3 common {free} {moment}")
            with open_memory(home, home, str(root), Options(memory_catalog=True)) as sound:
                truth = tell(sound)
            for file in runtime.glob("catalog.sqlite*"):
                file.unlink()
            with open_memory(home, home, str(root)) as memory:
                if moment != "no catalog yet":
                    assert not memory.vault.database.degraded
                if moment == "asked before":
                    tell(memory)
                    _write(root, 3, f"word3 common {free} {moment} heron")
                    truth = _tell_in_memory(home, root)
                _fill(disk, free)
                try:
                    told = [tell(memory), tell(memory)]
                finally:
                    (disk / "filler").unlink()
                if told != [truth, truth]:
                    yield f"{free} pages free, {moment}: answers differ on the full disk"
                memory.vault.database._retry_at_s = 0
                if tell(memory) != truth or memory.vault.database.degraded:
                    yield f"{free} pages free, {moment}: with room again it stays {memory.vault.database.reason!r}"
            with open_memory(home, home, str(root)) as memory:
                if tell(memory) != truth or memory.vault.database.degraded:
                    yield f"{free} pages free, {moment}: the next process finds {memory.vault.database.reason!r}"


def _tell_in_memory(home: str, root: Path) -> list[object]:
    with open_memory(home, home, str(root), Options(memory_catalog=True)) as sound:
        return tell(sound)


def _write(root: Path, number: int, text: str) -> None:
    lines = ["---", f"gitmem_id: '{number:012}'", f"title: Note {number}", f"tags: [tool/t{number % 3}]", "---", text]
    (root / f"promoted/{number:02}.md").write_text("\n".join([*lines, ""]))


def _fill(disk: Path, free: int) -> None:
    room = os.statvfs(disk)
    with open(disk / "filler", "wb") as file:
        file.write(bytes(max(0, room.f_bfree * room.f_frsize // PAGE - free) * PAGE))


if __name__ == "__main__":
    sys.exit(main())

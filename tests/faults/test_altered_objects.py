"""No altered text is ever served: each byte of the objects of a small repository flipped, a sample of them here."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from gitmem.errors import IntegrityError
from gitmem.git.repo import open_repo

from conftest import Desk, draft

SAMPLE = 400


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_flipped_byte_gives_the_true_text_or_an_error(desk: Desk, person, tmp_path: Path, packed: bool) -> None:
    with desk.open() as memory:
        for number in range(6):
            memory.observe(draft(f"Finding {number}", f"What finding {number} says."), person)
    if packed:
        desk.git("gc", "--quiet")
    names = [line.split()[0] for line in desk.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()]
    blobs = [name for name in names if desk.git("cat-file", "-t", name).strip() == "blob"]
    true = {name: open_repo(str(desk.repo)).read_object(name) for name in blobs}
    objects = desk.repo / ".git/objects"
    files = sorted(path for path in objects.rglob("*") if path.is_file() and path.suffix in ("", ".pack", ".idx"))
    bytes_of = [(path, place) for path in files for place in range(path.stat().st_size)]
    refused = served = 0
    for path, place in random.Random(7).sample(bytes_of, SAMPLE):
        good = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        touched = [name for name in blobs if packed or path == objects / name[:2] / name[2:]]
        repo = open_repo(str(desk.repo))
        for name in random.Random(place).sample(touched, min(4, len(touched))):
            try:
                assert repo.read_object(name) == true[name]
                served += 1
            except IntegrityError:
                refused += 1
        repo.close()
        path.write_bytes(good)
    assert refused > 50
    assert served > 0 or not packed
    desk.judge()
    shutil.rmtree(tmp_path / "home")

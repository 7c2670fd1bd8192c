"""Packing by gitmem, with Git as the judge: the same objects before and after, reachable or not, and sound packs."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pygit2.enums import ObjectType

from gitmem.errors import IntegrityError, StateError
from gitmem.git.pack import Packed, merge_packs, pack_loose, plan_merge
from gitmem.git.pack_file import PackIndex, Placed, format_pack_index, load_pack_index
from gitmem.git.packs import (
    Pack,
    count_loose,
    find_git_at_work,
    iter_loose,
    list_packs,
    pack_folder,
    remove_litter,
    work_folder,
)
from gitmem.git.repo import Repo, open_repo
from gitmem.git.trees import write_blobs
from gitmem.model.ids import CommitId, fingerprint

Git = Callable[..., str]
Commit = Callable[..., CommitId]
SECOND = 10**9


def quiet(_step: str) -> None:
    """Do what nobody asked for a step does."""


def all_objects(repo: Repo, git: Git) -> str:
    """Return id, kind and size of every object that Git finds; Git checks each against its id as it prints it."""
    git(repo, "cat-file", "--batch-all-objects", "--batch")
    return git(repo, "cat-file", "--batch-all-objects", "--batch-check")


def judge(repo: Repo, git: Git) -> None:
    packs = [str(path) for path in sorted(Path(pack_folder(repo)).glob("*.idx"))]
    if packs:
        git(repo, "verify-pack", *packs)
    assert git(repo, "fsck", "--strict", "--full", "--no-dangling", "--no-reflogs") == ""
    counts = dict(line.split(": ") for line in git(repo, "count-objects", "-v").splitlines())
    assert (counts["garbage"], counts["prune-packable"]) == ("0", "0")


def write_history(repo: Repo, commit: Commit, first: int, count: int) -> None:
    for number in range(first, first + count):
        lines = [b"%06d a line of a catalog that grows\n" % (n * 7919 % 99991) for n in range(number + 100)]
        commit(repo, {"catalog.json": b"".join(sorted(lines)), f"promoted/note-{number}.md": b"note %d\n" % number})


@pytest.fixture
def grown(vault: Repo, commit: Commit) -> Repo:
    """A vault with 70 commits more, so that chains of deltas reach their bound."""
    write_history(vault, commit, 0, 70)
    return vault


def test_packing_keeps_every_object(grown: Repo, git: Git) -> None:
    before, loose = all_objects(grown, git), len(list(iter_loose(grown)))
    done = pack_loose(grown, quiet)
    assert (done.objects, done.duplicates, done.unreadable) == (loose, 0, [])
    assert list(iter_loose(grown)) == []
    assert all_objects(grown, git) == before
    judge(grown, git)
    chains = git(grown, "verify-pack", "-s", os.path.join(pack_folder(grown), f"{done.name}.idx"))
    assert "chain length = 50: " in chains
    assert "chain length = 51" not in chains
    size = os.stat(os.path.join(pack_folder(grown), f"{done.name}.pack")).st_size
    git(grown, "repack", "-a", "-d", "-f", "-q")
    assert size < 1.5 * list_packs(open_repo(grown.root))[0].size_bytes
    assert pack_loose(grown, quiet) == Packed()


def test_what_no_branch_reaches_is_packed_too(vault: Repo, commit: Commit, git: Git) -> None:
    gone = commit(vault, {"promoted/gone.md": b"in a commit that was reset\n"})
    git(vault, "reset", "-q", "--hard", "HEAD~1")
    git(vault, "reflog", "expire", "--expire=now", "--all")
    Path(vault.root, "staged.md").write_bytes(b"staged only\n")
    git(vault, "add", "staged.md")
    git(vault, "tag", "-a", "-m", "a tag", "v1")
    dangling = write_blobs(vault, {"x": b"nobody knows this\n"})["x"]
    before = all_objects(vault, git)
    pack_loose(vault, quiet)
    assert all_objects(vault, git) == before
    assert git(vault, "show", f"{gone}:promoted/gone.md") == "in a commit that was reset\n"
    assert git(vault, "cat-file", "-p", dangling) == "nobody knows this\n"
    assert git(vault, "diff", "--cached", "--name-only") == "staged.md\n"
    assert list(iter_loose(vault)) == []
    judge(vault, git)


@pytest.mark.parametrize("content", [b"", b"x", b"x\x01\x00", bytes(64)])
def test_torn_loose_objects_are_left_alone(vault: Repo, git: Git, content: bytes) -> None:
    torn = fingerprint(b"torn\n")
    path = Path(vault.objects_dir, torn[:2], torn[2:])
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    done = pack_loose(vault, quiet)
    assert done.unreadable == [torn]
    assert [object_id for object_id, _facts in iter_loose(vault)] == [torn]
    assert path.read_bytes() == content
    assert pack_loose(vault, quiet, skip=[torn]) == Packed()
    path.unlink()
    judge(vault, git)


def test_objects_behind_a_link_are_not_taken(vault: Repo, tmp_path: Path, git: Git) -> None:
    other = tmp_path / "other"
    folder = next(path for path in sorted(Path(vault.objects_dir).iterdir()) if len(path.name) == 2)
    before = all_objects(vault, git)
    folder.rename(other)
    folder.symlink_to(other)
    (file,) = other.iterdir()
    pack_loose(vault, quiet)
    assert list(other.iterdir()) == [file]
    assert all_objects(vault, git) == before


@pytest.mark.parametrize("name", ["gitmem", "gitmem/maintain", "gitmem/maintain/pack"])
def test_a_link_in_place_of_the_folder_where_packs_are_made_is_refused(vault: Repo, tmp_path: Path, name: str) -> None:
    (tmp_path / "precious").mkdir()
    place = Path(vault.common_dir, name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tmp_path / "precious")
    with pytest.raises(StateError) as caught:
        open_repo(vault.root)
    assert (caught.value.code, caught.value.fields["setting"]) == ("hostile-repository", f"{name} as a link or device")


def test_litter_is_known_by_its_name(vault: Repo) -> None:
    folder = Path(work_folder(vault), "pack")
    folder.mkdir(parents=True)
    for name in ("new.pack", f"pack-{'a' * 40}.pack", f"pack-{'a' * 40}.idx", f"pack-{'b' * 40}.replaced", "own.txt"):
        (folder / name).touch()
    assert remove_litter(vault) == 4
    assert [path.name for path in folder.iterdir()] == ["own.txt"]


def test_what_comes_while_a_pack_is_made_stays_loose(vault: Repo, git: Git) -> None:
    late = []

    def probe(step: str) -> None:
        if step == "maintain-verify":
            late.append(write_blobs(vault, {"x": b"came late\n"})["x"])

    pack_loose(vault, probe)
    assert [object_id for object_id, _facts in iter_loose(vault)] == late
    judge(vault, git)


def test_a_loose_copy_of_what_is_packed_goes(vault: Repo, git: Git) -> None:
    pack_loose(vault, quiet)
    write_blobs(vault, {"baseline/one.md": b"one\n"})
    done = pack_loose(vault, quiet)
    assert (done.objects, done.duplicates, done.name) == (0, 1, "")
    assert list(iter_loose(vault)) == []
    judge(vault, git)


def test_a_loose_copy_stays_when_the_packed_one_is_damaged(vault: Repo, git: Git) -> None:
    name = pack_loose(vault, quiet).name
    blob = write_blobs(vault, {"baseline/one.md": b"one\n"})["baseline/one.md"]
    pack = Path(pack_folder(vault), f"{name}.pack")
    pack.chmod(0o644)
    pack.write_bytes(bytes(len(pack.read_bytes())))
    assert pack_loose(open_repo(vault.root), quiet).duplicates == 0
    assert [object_id for object_id, _facts in iter_loose(vault)] == [blob]


def test_a_pack_that_does_not_read_back_removes_nothing(grown: Repo, git: Git) -> None:
    before, loose = all_objects(grown, git), list(iter_loose(grown))

    def damage(step: str) -> None:
        if step == "maintain-verify":
            (path,) = Path(work_folder(grown), "pack").glob("*.pack")
            path.chmod(0o644)
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)

    with pytest.raises(IntegrityError) as caught:
        pack_loose(grown, damage)
    assert caught.value.code == "pack-not-proved"
    assert list(iter_loose(grown)) == loose
    assert list_packs(grown) == []
    assert remove_litter(grown) == 2
    assert all_objects(grown, git) == before


def test_only_so_many_are_packed_at_a_time_the_oldest_first(grown: Repo, git: Git) -> None:
    before = all_objects(grown, git)
    ages = sorted((facts.st_mtime_ns, object_id) for object_id, facts in iter_loose(grown))
    assert pack_loose(grown, quiet, 40).objects == 40
    left = {object_id for object_id, _facts in iter_loose(grown)}
    assert left == {object_id for _time, object_id in ages[40:]}
    assert all_objects(grown, git) == before
    judge(grown, git)


class Stop(BaseException):
    """A kill, as far as one process can play it."""


STEPS = (
    "maintain-pack",
    "maintain-verify",
    "maintain-place",
    "maintain-place-index",
    "maintain-remove-loose",
    "maintain-remove-more",
    "maintain-remove-pack",
    "maintain-remove-rest",
)


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("step", STEPS)
def test_stopped_anywhere_nothing_is_lost_and_the_next_run_cleans_up(
    vault: Repo, commit: Commit, git: Git, step: str, nth: int
) -> None:
    for first in (0, 6):
        write_history(vault, commit, first, 6)
        pack_loose(vault, quiet)
    write_history(vault, commit, 12, 6)
    before, passed = all_objects(vault, git), []

    def stop(passing: str) -> None:
        passed.append(passing)
        if passing == step and passed.count(step) == nth:
            raise Stop

    def run(repo: Repo, probe: Callable[[str], None]) -> None:
        pack_loose(repo, probe)
        if packs := plan_merge(list_packs(repo)):
            merge_packs(repo, packs, probe)

    try:
        run(vault, stop)
        assert (step, nth) in {("maintain-pack", 2), ("maintain-remove-loose", 2), ("maintain-remove-more", 2)}
    except Stop:
        assert all_objects(vault, git) == before
    again = open_repo(vault.root)
    remove_litter(again)
    run(again, quiet)
    assert all_objects(vault, git) == before
    assert list(Path(work_folder(vault), "pack").iterdir()) == []
    assert len(list_packs(again)) == 1
    judge(vault, git)


def test_packs_are_merged_and_old_last_versions_become_deltas(vault: Repo, commit: Commit, git: Git) -> None:
    for first in range(0, 40, 10):
        write_history(vault, commit, first, 10)
        pack_loose(vault, quiet)
    before, packs = all_objects(vault, git), list_packs(vault)
    assert len(packs) == 4
    wholes = [count_wholes(vault, git, pack.name) for pack in packs]
    done = merge_packs(vault, packs, quiet)
    vault.reopen()
    (merged,) = list_packs(vault)
    assert (merged.name, len(merged.index)) == (done.name, sum(len(pack.index) for pack in packs))
    assert count_wholes(vault, git, merged.name) <= sum(wholes) - 3 * 2  # the catalog and the folder of three packs
    assert all_objects(vault, git) == before
    judge(vault, git)


def count_wholes(repo: Repo, git: Git, name: str) -> int:
    said = git(repo, "verify-pack", "-s", os.path.join(pack_folder(repo), f"{name}.idx"))
    return int(said.split("non delta: ")[1].split()[0])


def test_a_pack_that_is_made_again_is_found_in_place(vault: Repo, git: Git) -> None:
    loose = {}
    for object_id, _facts in iter_loose(vault):
        path = Path(vault.objects_dir, object_id[:2], object_id[2:])
        loose[path] = path.read_bytes()
    placed = {bytes.fromhex(object_id) for object_id, _facts in iter_loose(vault)}
    first = pack_loose(vault, quiet)
    kept = {path: path.read_bytes() for path in Path(pack_folder(vault)).iterdir()}
    for path in kept:
        path.unlink()
    for path, data in loose.items():
        path.write_bytes(data)

    def put_back(step: str) -> None:
        if step == "maintain-place":
            for path, data in kept.items():
                path.write_bytes(data)

    assert pack_loose(vault, put_back) == first
    assert list(Path(work_folder(vault), "pack").iterdir()) == []
    assert set(list_packs(vault)[0].index.ids) == placed
    judge(vault, git)


def test_packs_of_git_are_merged_with_ours(vault: Repo, commit: Commit, git: Git) -> None:
    write_history(vault, commit, 0, 10)
    git(vault, "repack", "-a", "-d", "-q")
    write_history(vault, commit, 10, 10)
    git(vault, "-c", "repack.useDeltaBaseOffset=false", "repack", "-d", "-q")
    write_history(vault, commit, 20, 10)
    pack_loose(vault, quiet)
    before = all_objects(vault, git)
    merge_packs(vault, list_packs(vault), quiet)
    assert len(list_packs(vault)) == 1
    assert all_objects(vault, git) == before
    judge(vault, git)


def test_packs_that_share_objects_are_merged(vault: Repo, commit: Commit, git: Git) -> None:
    write_history(vault, commit, 0, 5)
    git(vault, "repack", "-d", "-q")
    write_history(vault, commit, 5, 5)
    everything = git(vault, "rev-list", "--objects", "--all")
    git(vault, "pack-objects", "-q", os.path.join(pack_folder(vault), "pack"), text=everything)
    before, packs = all_objects(vault, git), list_packs(vault)
    assert len(packs) == 2
    merge_packs(vault, packs, quiet)
    pack_loose(vault, quiet)
    assert all_objects(vault, git) == before
    assert list(iter_loose(vault)) == []
    judge(vault, git)


@pytest.mark.parametrize("ending", ["keep", "promisor", "mtimes", "bitmap"])
def test_packs_with_a_meaning_of_their_own_are_left_alone(vault: Repo, ending: str) -> None:
    name = pack_loose(vault, quiet).name
    Path(pack_folder(vault), f"{name}.{ending}").touch()
    (pack,) = list_packs(vault)
    assert pack.reason == f"it has a .{ending} file"
    assert plan_merge([pack, pack]) == []


def test_packs_under_a_multi_pack_index_are_left_alone(vault: Repo, commit: Commit, git: Git) -> None:
    for first in (0, 3):
        write_history(vault, commit, first, 3)
        pack_loose(vault, quiet)
    git(vault, "multi-pack-index", "write")
    assert {pack.reason for pack in list_packs(vault)} == {"multi-pack-index covers the packs"}
    assert plan_merge(list_packs(vault)) == []
    write_history(vault, commit, 6, 3)
    pack_loose(vault, quiet)
    git(vault, "multi-pack-index", "verify")
    judge(vault, git)


def test_a_damaged_index_or_pack_stops_a_merge_and_all_stays(vault: Repo, commit: Commit) -> None:
    for first in (0, 3):
        write_history(vault, commit, first, 3)
        pack_loose(vault, quiet)
    packs = list_packs(vault)
    path = Path(pack_folder(vault), f"{packs[0].name}.pack")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-30] + bytes(30))
    with pytest.raises(ValueError, match="checksum"):
        merge_packs(vault, packs, quiet)
    path.with_suffix(".idx").chmod(0o644)
    path.with_suffix(".idx").write_bytes(b"\xfftOc")
    assert [pack.reason for pack in list_packs(vault) if pack.reason] == [
        "it can't be read: its index is damaged or of another version"
    ]
    assert [pack.name for pack in list_packs(vault)] == [pack.name for pack in packs]


@pytest.mark.parametrize(
    ("sizes", "most", "merged"),
    [
        ((), None, ()),
        ((5,), None, ()),
        ((1, 2, 4, 8), None, ()),
        ((4, 4), None, (4, 4)),
        ((1, 1, 100), None, (1, 1)),
        ((3, 3, 5, 100), None, (3, 3, 5)),
        ((10, 25, 3, 4), None, (3, 4, 10, 25)),
        ((4, 4, 4), 10, (4, 4)),
        ((4, 4, 30), 10, (4, 4)),
        ((6, 6), 10, ()),
    ],
)
def test_which_packs_are_merged(sizes: tuple[int, ...], most: int | None, merged: tuple[int, ...]) -> None:
    packs = [Pack(f"pack-{n}", size, _index_of(n, size)) for n, size in enumerate(sizes)]
    assert tuple(len(pack.index) for pack in plan_merge(packs, most)) == merged


def test_few_objects_are_made_one_pack_where_that_is_asked_for() -> None:
    packs = [Pack(f"pack-{n}", size, _index_of(n, size)) for n, size in enumerate((1, 10, 100))]
    assert [len(pack.index) for pack in plan_merge(packs, whole=111)] == [1, 10, 100]
    assert plan_merge(packs, whole=110) == []
    assert plan_merge(packs[:1], whole=110) == []


def _index_of(number: int, size: int) -> PackIndex:
    ids = [bytes.fromhex(f"{number:04x}{n:036x}") for n in range(size)]
    return PackIndex(format_pack_index({one: Placed(one, 12, 0) for one in ids}, bytes(20)))


def test_an_index_finds_what_is_in_it_and_nothing_else(grown: Repo) -> None:
    name = pack_loose(grown, quiet).name
    index = load_pack_index(os.path.join(pack_folder(grown), f"{name}.idx"))
    assert all(raw_id in index for raw_id in index.ids)
    assert index.ids == sorted(index.ids)
    assert len(index.ids) == len(index) == len(index.offsets)
    for byte in range(256):
        assert bytes((byte,)) + b"\xff" * 19 not in index
        assert bytes((byte,)) + bytes(19) not in index


def test_a_running_gc_is_seen_and_a_dead_one_is_not(vault: Repo) -> None:
    now = 2_000_000_000 * SECOND
    pid_file = Path(vault.common_dir, "gc.pid")

    def find(text: str, age_s: int = 0) -> str:
        pid_file.write_text(text)
        os.utime(pid_file, ns=(now - age_s * SECOND,) * 2)
        return find_git_at_work(vault, now)

    here = platform.node()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    assert find(f"{os.getpid()} {here}\n") == f"a git gc is under way (process {os.getpid()}; gc.pid)"
    assert find(f"{dead.pid} {here}\n") == ""
    assert find("1 another-machine\n") == "a git gc is under way (process 1; gc.pid)"
    assert find("1 another-machine\n", 13 * 3600) == ""
    pid_file.unlink()
    assert find_git_at_work(vault, now) == ""
    temp = Path(pack_folder(vault), "tmp_pack_Ab12")
    temp.parent.mkdir(exist_ok=True)
    temp.touch()
    os.utime(temp, ns=(now, now))
    assert find_git_at_work(vault, now) == "Git seems to be writing a pack (tmp_pack_Ab12)"
    assert find_git_at_work(vault, now + 601 * SECOND) == ""


def test_the_number_of_loose_objects_is_told_from_a_few_folders(vault: Repo) -> None:
    for number in range(1000):
        object_id = fingerprint(b"%d" % number)
        folder = Path(vault.objects_dir, object_id[:2])
        folder.mkdir(exist_ok=True)
        (folder / object_id[2:]).touch()
    assert 600 < count_loose(vault) < 1500


def test_an_object_of_each_kind_and_size_is_packed(vault: Repo, git: Git) -> None:
    sizes = (0, 1, 15, 16, 2047, 2048, 262143, 262144)
    blobs = [vault.objects.write(ObjectType.BLOB, bytes(size)) for size in sizes]
    pack_loose(vault, quiet)
    again = open_repo(vault.root)
    assert [len(again.read_object(blob)) for blob in blobs] == list(sizes)
    judge(vault, git)

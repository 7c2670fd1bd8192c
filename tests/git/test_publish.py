import os
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import InputError, IntegrityError, StateError, UnavailableError
from gitmem.git.objects import TreeId
from gitmem.git.publish import move_branch, prove, write_commit
from gitmem.git.repo import Repo, open_repo
from gitmem.git.stage import remove_own_stale_lock
from gitmem.git.trees import build_tree, tree_of, write_blobs
from gitmem.model.ids import CommitId, Fingerprint, fingerprint

from conftest import tip_of

Git = Callable[..., str]
Blobs = dict[str, Fingerprint | None]
Published = tuple[CommitId, CommitId, TreeId, Blobs]
Claim = tuple[str, CommitId, CommitId | None, TreeId, Blobs]


AUTHOR = ("Zoë Person", "zoe@example.org")


def _child(repo: Repo, name: str = "child", parent: CommitId | None = None) -> CommitId:
    base = parent or tip_of(repo)
    return write_commit(repo, tree_of(repo, base), [base], AUTHOR, (1_790_000_000, -330), f"{name}\n")


def test_a_commit_says_what_it_was_given(vault: Repo, git: Git) -> None:
    made = _child(vault, "observe: Something\n\nbody\n\nGitmem-Op: observe")
    assert git(vault, "cat-file", "commit", made) == (
        f"tree {tree_of(vault, made)}\nparent {tip_of(vault)}\n"
        "author Zoë Person <zoe@example.org> 1790000000 -0530\n"
        "committer Zoë Person <zoe@example.org> 1790000000 -0530\n"
        "\nobserve: Something\n\nbody\n\nGitmem-Op: observe\n"
    )
    git(vault, "fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize(
    ("name", "email", "line"),
    [
        ("", "", "unknown <>"),
        ("a\nparent 0", "x@y>\ncommitter", "a parent 0 <x@ycommitter>"),
        ("<Eve> <e@e>", "<a b@c>", "Eve e@e <ab@c>"),
        ("A\x00\x1b[0mB", "é@ü", "A\\u{0}\\u{1b}[0mB <é@ü>"),
        (" . ", " @ ", "unknown <@>"),
        ("\ud800", "\ud800", "u{d800} <u{d800}>"),
    ],
)
def test_no_name_breaks_out_of_its_line(vault: Repo, git: Git, name: str, email: str, line: str) -> None:
    base = tip_of(vault)
    made = write_commit(vault, tree_of(vault, base), [base], (name, email), (-5, 60), "x\0y\ud800\n\n\n")
    text = git(vault, "cat-file", "commit", made).splitlines()
    assert text[2:] == [f"author {line} 0 +0100", f"committer {line} 0 +0100", "", "xy?"]
    move_branch(vault, "main", base, made, "odd\nname")
    assert git(vault, "fsck", "--strict") == ""


def test_a_branch_moves_once_with_its_history_of_moves(vault: Repo, git: Git) -> None:
    first = tip_of(vault)
    second = _child(vault)
    move_branch(vault, "main", first, second, "gitmem: observe\nforged line")
    assert tip_of(vault) == second
    for log in ("main", "HEAD"):
        assert git(vault, "reflog", "show", "--format=%H %gn %ge %gs", "-1", log) == (
            f"{second} Zoë Person zoe@example.org gitmem: observe forged line\n"
        )
    with pytest.raises(StateError) as caught:
        move_branch(vault, "main", first, _child(vault, parent=first), "late")
    assert (caught.value.code, caught.value.fields) == ("branch-moved", {"expected": first, "found": second})
    assert tip_of(vault) == second
    assert not os.path.exists(Path(vault.git_dir, "refs/heads/main.lock"))


def test_a_packed_branch_moves_too(vault: Repo, git: Git) -> None:
    first = tip_of(vault)
    git(vault, "pack-refs", "--all", "--prune")
    assert not os.path.exists(Path(vault.git_dir, "refs/heads/main"))
    second = _child(vault)
    with pytest.raises(StateError):
        move_branch(vault, "main", None, second, "x")
    move_branch(vault, "main", first, second, "x")
    assert git(vault, "rev-parse", "main").strip() == second


def test_a_new_branch_is_made_only_where_none_is(vault: Repo, git: Git) -> None:
    first = tip_of(vault)
    Path(vault.git_dir, "refs/heads/proposal/x").mkdir(parents=True)
    move_branch(vault, "proposal/x", None, first, "new")
    assert git(vault, "rev-parse", "proposal/x").strip() == first
    assert git(vault, "reflog", "show", "--format=%gs", "proposal/x") == "new\n"
    with pytest.raises(StateError) as caught:
        move_branch(vault, "proposal/x", None, first, "again")
    assert caught.value.code == "branch-moved"
    with pytest.raises(StateError):
        move_branch(vault, "absent", first, _child(vault), "x")
    with pytest.raises(InputError):
        move_branch(vault, "../x", None, first, "x")


def test_a_branch_in_the_way_of_a_folder_is_said(vault: Repo) -> None:
    first = tip_of(vault)
    with pytest.raises(UnavailableError) as caught:
        move_branch(vault, "main/sub", None, first, "x")
    assert caught.value.code == "git-write-failed"
    move_branch(vault, "a/b", None, first, "x")
    with pytest.raises(UnavailableError):
        move_branch(vault, "a", None, first, "x")
    assert [name for name in os.listdir(vault.git_dir) if name.startswith("gitmem-lock-")] == []


def test_of_many_that_move_a_branch_at_once_one_wins(vault: Repo) -> None:
    base = tip_of(vault)
    rivals = [_child(vault, f"rival {number}") for number in range(8)]
    gate = threading.Barrier(len(rivals))
    outcome: dict[CommitId, str] = {}

    def run(new: CommitId) -> None:
        rival = open_repo(vault.root)
        gate.wait()
        try:
            move_branch(rival, "main", base, new, "race")
            outcome[new] = "won"
        except (StateError, UnavailableError) as error:
            outcome[new] = error.code

    threads = [threading.Thread(target=run, args=(new,)) for new in rivals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [new for new, code in outcome.items() if code == "won"]
    assert winners == [tip_of(vault)]
    assert set(outcome.values()) <= {"won", "branch-moved", "branch-locked"}


def test_a_branch_lock_stops_and_one_that_a_crash_left_is_removed_first(vault: Repo) -> None:
    base, new = tip_of(vault), _child(vault)
    lock = Path(vault.git_dir, "refs/heads/main.lock")
    lock.write_bytes(b"")
    with pytest.raises(UnavailableError) as caught:
        move_branch(vault, "main", base, new, "x")
    assert (caught.value.code, caught.value.fields) == ("branch-locked", {"path": str(lock)})
    assert not remove_own_stale_lock(vault)
    lock.write_bytes(b"gitmem observe 123\n")
    with pytest.raises(UnavailableError):
        move_branch(vault, "main", base, new, "x")
    assert remove_own_stale_lock(vault)
    move_branch(vault, "main", base, new, "x")
    assert tip_of(vault) == new


def test_a_commit_that_was_never_written_is_never_published(vault: Repo) -> None:
    base = tip_of(vault)
    with pytest.raises(IntegrityError):
        move_branch(vault, "main", base, CommitId("1" * 40), "x")
    assert tip_of(vault) == base


def test_a_damaged_branch_is_not_overwritten(vault: Repo) -> None:
    base, new = tip_of(vault), _child(vault)
    Path(vault.git_dir, "refs/heads/main").write_bytes(b"")
    with pytest.raises(IntegrityError) as caught:
        move_branch(vault, "main", base, new, "x")
    assert caught.value.code == "ref-unreadable"


def test_a_reflog_that_can_not_be_written_does_not_undo_the_move(vault: Repo, tmp_path: Path) -> None:
    base, new = tip_of(vault), _child(vault)
    log = Path(vault.git_dir, "logs/refs/heads/main")
    log.unlink()
    log.symlink_to(tmp_path / "outside")
    move_branch(vault, "main", base, new, "x")
    assert tip_of(vault) == new
    assert not (tmp_path / "outside").exists()


@pytest.fixture
def published(vault: Repo) -> Published:
    base = tip_of(vault)
    ids = write_blobs(vault, {"promoted/two.md": b"2\n", "retired/x.md": b"x\n"})
    tree = build_tree(vault, base, {**ids, "baseline/one.md": None})
    made = write_commit(vault, tree, [base], AUTHOR, (1_790_000_000, 0), "promote: x\n")
    move_branch(vault, "main", base, made, "x")
    return base, made, tree, {**ids, "baseline/one.md": None}


def test_what_is_published_is_proved(vault: Repo, published: Published) -> None:
    base, made, tree, blobs = published
    prove(vault.root, "main", made, base, tree, blobs)


def test_a_wrong_claim_is_not_proved(vault: Repo, published: Published) -> None:
    base, made, tree, blobs = published
    old_tree = tree_of(vault, base)
    claims: list[Claim] = [
        ("other", made, base, tree, blobs),
        ("main", base, base, tree, blobs),
        ("main", made, None, tree, blobs),
        ("main", made, made, tree, blobs),
        ("main", made, base, old_tree, blobs),
        ("main", made, base, tree, {"promoted/two.md": fingerprint(b"two\n")}),
        ("main", made, base, tree, {"promoted/two.md": None}),
        ("main", made, base, tree, {"baseline/one.md": fingerprint(b"one\n")}),
    ]
    for claim in claims:
        with pytest.raises(IntegrityError) as caught:
            prove(vault.root, *claim)
        assert caught.value.code == "publish-not-proved"


@pytest.mark.parametrize("kept", [-1, 0, 5])
@pytest.mark.parametrize("which", ["commit", "tree", "blob"])
def test_an_object_that_is_not_on_disk_is_not_proved(vault: Repo, published: Published, which: str, kept: int) -> None:
    base, made, tree, blobs = published
    lost = {"commit": made, "tree": tree, "blob": fingerprint(b"x\n")}[which]
    path = Path(vault.git_dir, "objects", lost[:2], lost[2:])
    data = path.read_bytes()
    path.unlink()
    if kept >= 0:
        path.write_bytes(data[:kept])
    with pytest.raises(IntegrityError) as caught:
        prove(vault.root, "main", made, base, tree, blobs)
    assert caught.value.code == "publish-not-proved"


@pytest.mark.parametrize("is_packed", [False, True])
def test_other_bytes_under_a_blobs_name_are_not_proved(
    vault: Repo, published: Published, git: Git, *, is_packed: bool
) -> None:
    base, made, tree, blobs = published
    old, new = b"x\n", b"y\n"
    loose = Path(vault.git_dir, "objects", fingerprint(old)[:2], fingerprint(old)[2:])
    if is_packed:
        git(vault, "-c", "pack.compression=0", "repack", "-adFq")
        loose.unlink(missing_ok=True)
        (pack,) = Path(vault.git_dir, "objects/pack").glob("*.pack")
        stored = [text + zlib.adler32(text).to_bytes(4, "big") for text in (old, new)]
        assert pack.read_bytes().count(stored[0]) == 1
        pack.chmod(0o644)
        pack.write_bytes(pack.read_bytes().replace(*stored))
    else:
        loose.chmod(0o644)
        loose.write_bytes(zlib.compress(b"blob 2\0" + new))
    with pytest.raises(IntegrityError) as caught:
        prove(vault.root, "main", made, base, tree, blobs)
    assert caught.value.code == "publish-not-proved"


def test_a_detached_head_is_not_proved(vault: Repo, published: Published, git: Git) -> None:
    base, made, tree, blobs = published
    git(vault, "switch", "-q", "--detach")
    with pytest.raises(IntegrityError):
        prove(vault.root, "main", made, base, tree, blobs)


def test_the_first_commit_of_a_vault_is_published_and_proved(repo: Repo, git: Git) -> None:
    ids = write_blobs(repo, {"a.md": b"a"})
    tree = build_tree(repo, None, ids)
    made = write_commit(repo, tree, [], AUTHOR, (0, 0), "init\n")
    move_branch(repo, "main", None, made, "init")
    prove(repo.root, "main", made, None, tree, ids)
    assert git(repo, "log", "--format=%H %s") == f"{made} init\n"

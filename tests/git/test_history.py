from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import IntegrityError
from gitmem.git.commit import parse_commit
from gitmem.git.history import find_op, iter_commits, read_commit
from gitmem.git.message import Message, format_message
from gitmem.git.publish import write_commit
from gitmem.git.repo import Repo, init_repo, open_repo
from gitmem.git.trees import build_tree
from gitmem.model.ids import CommitId

from conftest import tip_of

Git = Callable[..., str]
Commit = Callable[..., CommitId]
Story = dict[str, CommitId]


def _message(op_id: str, *records: str, body: str = "") -> str:
    trailers = (("Gitmem-Op-Id", op_id), *(("Gitmem-Record", record) for record in records))
    return format_message(Message("observe: x", body, trailers))


def _found(repo: Repo, start: CommitId, op_id: str, stop: CommitId | None = None) -> CommitId | None:
    found = find_op(repo, start, op_id, stop)
    return found.id if found else None


@pytest.fixture
def story(vault: Repo, commit: Commit, git: Git) -> Story:
    """Five commits: ours, ours on another record, a person's edit, a branch of theirs, and its merge."""
    made = {"start": tip_of(vault)}
    made["one"] = commit(vault, {"a.md": b"1"}, _message("op-one", "aaa"))
    made["two"] = commit(vault, {"b.md": b"1"}, _message("op-two", "bbb", body="Gitmem-Op-Id: op-one\nRecord aaa"))
    git(vault, "switch", "-qc", "side")
    Path(vault.root, "c.md").write_bytes(b"c")
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "side")
    made["side"] = tip_of(vault)
    git(vault, "switch", "-q", "main")
    Path(vault.root, "a.md").write_bytes(b"2")
    git(vault, "commit", "-qam", "by hand")
    made["hand"] = tip_of(vault)
    git(vault, "merge", "-q", "--no-edit", "side")
    made["merge"] = tip_of(vault)
    return made


def test_commits_come_as_git_lists_them(vault: Repo, story: Story, git: Git) -> None:
    tip = story["merge"]
    assert {one.id for one in iter_commits(vault, tip)} == set(git(vault, "rev-list", "HEAD").split())
    assert next(iter_commits(vault, tip)).id == tip
    for stop in story.values():
        between = [one.id for one in iter_commits(vault, tip, stop)]
        assert sorted(between) == sorted(git(vault, "rev-list", f"{stop}..HEAD").split())
    assert list(iter_commits(vault, story["one"], story["merge"])) == []


def test_a_commit_has_its_parts(vault: Repo, story: Story) -> None:
    found = read_commit(vault, story["one"])
    assert (found.id, found.parents) == (story["one"], (story["start"],))
    assert (found.author, found.email, found.time, found.offset_minutes) == (
        "gitmem",
        "g@example.org",
        1_790_000_000,
        120,
    )
    assert found.message == _message("op-one", "aaa")
    assert read_commit(vault, story["merge"]).parents == (story["hand"], story["side"])


def test_an_operation_is_found_by_its_trailer_alone(vault: Repo, story: Story) -> None:
    tip = story["merge"]
    assert _found(vault, tip, "op-one") == story["one"]
    assert _found(vault, tip, "op-two") == story["two"]
    assert _found(vault, tip, "op") is None
    assert _found(vault, tip, "op-one", story["one"]) is None
    assert _found(vault, tip, "op-two", story["one"]) == story["two"]


def test_packed_history_reads_the_same(vault: Repo, story: Story, git: Git) -> None:
    loose = list(iter_commits(vault, story["merge"]))
    git(vault, "gc", "-q")
    assert list(iter_commits(open_repo(vault.root), story["merge"])) == loose
    assert list(iter_commits(vault, story["merge"])) == loose


def test_a_torn_commit_in_history_is_an_error_at_its_turn(vault: Repo, story: Story) -> None:
    one = story["one"]
    path = Path(vault.git_dir, "objects", one[:2], one[2:])
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:30])
    found: list[CommitId] = []
    with pytest.raises(IntegrityError) as caught:
        found += (commit.id for commit in iter_commits(vault, story["merge"]))
    assert caught.value.code == "object-unreadable"
    with pytest.raises(IntegrityError):
        read_commit(vault, CommitId("1" * 40))


def test_garbled_commits_are_errors_and_odd_people_are_not() -> None:
    head = b"tree " + b"1" * 40 + b"\n"
    for data in (b"", head, head + b"author x\n", b"parent " + b"1" * 40 + b"\n"):
        with pytest.raises(ValueError, match="garbled"):
            parse_commit(CommitId("1" * 40), data)
    odd = parse_commit(CommitId("1" * 40), head + b"author nobody\ncommitter \xff <x> 12 -0130\ngpgsig y\n\nm\n")
    assert (odd.author, odd.time, odd.offset_minutes, odd.message) == ("", 12, -90, "m\n")


def test_any_history_is_cut_as_git_cuts_it(tmp_path_factory: pytest.TempPathFactory, git: Git) -> None:
    repo = init_repo(str(tmp_path_factory.mktemp("any")), "main")
    tree = build_tree(repo, None, {})
    shapes = st.lists(st.tuples(st.lists(st.integers(1, 3), max_size=2), st.integers(0, 9)), min_size=2, max_size=7)

    @settings(max_examples=25, derandomize=True, deadline=None, database=None)
    @given(shapes, st.integers(0, 6))
    def check(shape: list[tuple[list[int], int]], stop: int) -> None:
        made: list[CommitId] = []
        for number, (back, time) in enumerate(shape):
            parents = dict.fromkeys(made[-step] for step in back if step <= len(made))
            made.append(
                write_commit(repo, tree, list(parents), ("a", "a@b"), (1_000_000 + number + time, 0), f"{number}")
            )
        end = made[stop % len(made)]
        found = [one.id for one in iter_commits(repo, made[-1], end)]
        assert sorted(found) == sorted(git(repo, "rev-list", made[-1], f"^{end}").split())

    check()

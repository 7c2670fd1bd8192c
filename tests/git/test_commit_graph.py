"""The commit graph, with Git as the judge: the same bytes as Git writes, and the same answers with it as without."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.git.bloom import ANYTHING, NOTHING, make_filter, make_mask
from gitmem.git.commit_graph import GraphReport, load_known, write_commit_graph
from gitmem.git.graph_file import Node, format_graph, parse_graph
from gitmem.git.pack import pack_loose
from gitmem.git.packed_graph import graph_path
from gitmem.git.repo import Repo, open_repo
from gitmem.model.ids import CommitId

TIME = 1_790_000_000

Git = Callable[..., str]
Commit = Callable[..., CommitId]


def quiet(_step: str) -> None:
    """Do what nobody asked for a step does."""


def read_graph(repo: Repo) -> bytes:
    return Path(graph_path(repo)).read_bytes()


def write_with_git(repo: Repo, git: Git) -> bytes:
    ours = Path(graph_path(repo))
    kept = ours.read_bytes()
    ours.unlink()
    git(repo, "commit-graph", "write", "--reachable", "--changed-paths")
    theirs = ours.read_bytes()
    ours.chmod(0o644)
    ours.write_bytes(kept)
    return theirs


def judge(repo: Repo, git: Git, *paths: str) -> None:
    git(repo, "commit-graph", "verify")
    for path in paths:
        asked = ("log", "--format=%H", "--", path)
        assert git(repo, *asked) == git(repo, "-c", "core.commitGraph=false", *asked)


@pytest.fixture
def branched(vault: Repo, commit: Commit, git: Git) -> Repo:
    """History with a merge, a merge of three, a tag of a tag, a branch of its own and an empty commit."""
    commit(vault, {"promoted/a.md": b"a\n", "promoted/deep/b.md": b"b\n"})
    for name in ("left", "right", "third"):
        git(vault, "switch", "-q", "-c", name, "main")
        Path(vault.root, f"{name}.md").write_text(name)
        git(vault, "add", "-A")
        git(vault, "commit", "-q", "-m", name)
    git(vault, "switch", "-q", "main")
    git(vault, "merge", "-q", "--no-ff", "-m", "two", "left")
    git(vault, "merge", "-q", "--no-ff", "-m", "octopus", "right", "third")
    git(vault, "commit", "-q", "--allow-empty", "-m", "nothing")
    git(vault, "tag", "-a", "-m", "one", "v1", "left")
    git(vault, "tag", "-a", "-m", "two", "v2", "v1")
    git(vault, "tag", "of-a-blob", "HEAD:left.md")
    git(vault, "switch", "-q", "-c", "apart", "left")
    git(vault, "commit", "-q", "--allow-empty", "-m", "apart")
    git(vault, "switch", "-q", "main")
    return open_repo(vault.root)


def test_the_graph_is_byte_for_byte_what_git_writes(branched: Repo, git: Git) -> None:
    done = write_commit_graph(branched, quiet)
    count = int(git(branched, "rev-list", "--all", "--count"))
    assert done == GraphReport(count, count, written=True)
    assert read_graph(branched) == write_with_git(branched, git)
    judge(branched, git, "promoted", "promoted/deep/b.md", "left.md", "manifest.json", "no-such")
    assert write_commit_graph(branched, quiet) == GraphReport(count)


def test_a_graph_that_is_carried_on_equals_one_from_scratch(branched: Repo, commit: Commit, git: Git) -> None:
    write_commit_graph(branched, quiet)
    for number in range(5):
        commit(branched, {f"promoted/{number}.md": b"%d\n" % number})
    done = write_commit_graph(branched, quiet)
    assert (done.new, done.written) == (5, True)
    carried_on = read_graph(branched)
    Path(graph_path(branched)).unlink()
    write_commit_graph(branched, quiet)
    assert read_graph(branched) == carried_on == write_with_git(branched, git)


def test_a_graph_of_git_is_carried_on(branched: Repo, commit: Commit, git: Git) -> None:
    git(branched, "commit-graph", "write", "--reachable")  # without changed paths
    commit(branched, {"promoted/new.md": b"new\n"})
    assert write_commit_graph(branched, quiet).new == 1
    assert all(node.changed for node in load_known(branched).values())
    assert read_graph(branched) == write_with_git(branched, git)


def test_filters_that_packing_found_are_what_the_graph_would_make(branched: Repo, git: Git) -> None:
    filters = pack_loose(branched, quiet).filters
    branched.reopen()
    assert len(filters) == int(git(branched, "rev-list", "--all", "--count"))
    write_commit_graph(branched, quiet, filters, max_filters=0)
    assert read_graph(branched) == write_with_git(branched, git)


def test_filters_are_made_a_few_at_a_time(branched: Repo, git: Git) -> None:
    for _ in range(20):
        write_commit_graph(branched, quiet, max_filters=2)
        judge(branched, git, "promoted", "left.md")
    assert read_graph(branched) == write_with_git(branched, git)


def test_too_many_new_commits_are_left_to_another_run(branched: Repo) -> None:
    assert write_commit_graph(branched, quiet, max_commits=3) == GraphReport(reason="more than 3 commits are new")
    assert not os.path.exists(graph_path(branched))


def test_a_commit_of_very_many_paths_and_one_of_another_script(vault: Repo, commit: Commit, git: Git) -> None:
    commit(vault, {f"many/{number}.md": b"%d\n" % number for number in range(600)})
    commit(vault, {"promoted/会议纪要.md": "会议\n".encode()})
    commit(vault, {"promoted/plain.md": b"plain\n"})
    write_commit_graph(vault, quiet)
    changed = sorted(node.changed for node in load_known(vault).values())
    assert changed.count(ANYTHING) == 2
    judge(vault, git, "many/7.md", "promoted/会议纪要.md", "promoted/plain.md", "promoted", "many")
    git(vault, "log", "--format=%H", "--", "promoted/会议纪要.md")


def test_history_that_was_rewritten_leaves_the_graph(vault: Repo, commit: Commit, git: Git) -> None:
    commit(vault, {"promoted/a.md": b"a\n"})
    write_commit_graph(vault, quiet)
    git(vault, "commit", "-q", "--amend", "-m", "another")
    assert write_commit_graph(vault, quiet) == GraphReport(2, 1, written=True)
    git(vault, "reflog", "expire", "--expire=now", "--all")
    git(vault, "prune", "--expire=now")
    judge(vault, git, "promoted/a.md")


@pytest.mark.parametrize("damage", [b"", b"CGPH\1\1\x04\0", bytes(2000)])
def test_a_damaged_graph_is_replaced(vault: Repo, git: Git, damage: bytes) -> None:
    write_commit_graph(vault, quiet)
    sound = read_graph(vault)
    Path(graph_path(vault)).chmod(0o644)
    Path(graph_path(vault)).write_bytes(damage)
    assert write_commit_graph(vault, quiet).written
    assert read_graph(vault) == sound


def test_every_flipped_byte_of_a_graph_is_seen(branched: Repo) -> None:
    write_commit_graph(branched, quiet)
    sound = read_graph(branched)
    for at in range(0, len(sound), 7):
        with pytest.raises(ValueError, match="damaged"):
            parse_graph(sound[:at] + bytes((sound[at] ^ 1,)) + sound[at + 1 :])


def test_a_chain_of_gits_own_is_left_alone(branched: Repo, git: Git) -> None:
    git(branched, "commit-graph", "write", "--reachable", "--split")
    assert write_commit_graph(branched, quiet) == GraphReport(reason="Git keeps a chain of commit graphs here")
    assert not os.path.exists(graph_path(branched))


def test_a_graph_that_git_is_writing_is_left_alone(branched: Repo) -> None:
    write_commit_graph(branched, quiet)
    before = read_graph(branched)
    Path(f"{graph_path(branched)}.lock").touch()
    assert write_commit_graph(branched, quiet).reason == "Git is writing the commit graph (commit-graph.lock)"
    assert read_graph(branched) == before


def test_times_that_go_back_and_far_ahead(vault: Repo, git: Git) -> None:
    for when in (TIME + 5000, TIME - 5000, 0, 2**33 + 7, TIME, 1):
        Path(vault.root, "clock.md").write_text(str(when))
        git(vault, "add", "-A")
        git(vault, "-c", "user.name=x", "commit", "-q", "-m", "x", "--date", f"@{TIME} +0000")
        tree, parent = git(vault, "rev-parse", "HEAD^{tree}").strip(), git(vault, "rev-parse", "HEAD~1").strip()
        who = f"A <a@example.org> {when} +0000"
        text = f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\nx\n"
        made = git(vault, "hash-object", "-t", "commit", "-w", "--stdin", text=text).strip()
        git(vault, "update-ref", "HEAD", made)
    vault = open_repo(vault.root)
    write_commit_graph(vault, quiet)
    assert b"GDO2" in read_graph(vault)
    assert read_graph(vault) == write_with_git(vault, git)
    assert parse_graph(read_graph(vault)) == load_known(vault)
    judge(vault, git, "clock.md")


def test_a_commit_that_git_might_read_otherwise_keeps_the_graph_away(vault: Repo, git: Git) -> None:
    tree, parent = git(vault, "rev-parse", "HEAD^{tree}").strip(), git(vault, "rev-parse", "HEAD").strip()
    text = f"tree {tree}\nparent {parent}\nauthor A <a> 1 +0000\ncommitter A <a> -5 +0000\n\nx\n"
    made = git(vault, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", text=text).strip()
    git(vault, "update-ref", "HEAD", made)
    done = write_commit_graph(open_repo(vault.root), quiet)
    assert done.reason == f"Git and gitmem may read the commit {made} differently: its header is unusual"
    assert not os.path.exists(graph_path(vault))


def test_a_graph_reads_back_as_it_was_written() -> None:
    ids = [bytes((number,)) * 20 for number in range(1, 6)]
    nodes = {
        ids[0]: Node(ids[4], (), 5, 1, 5, NOTHING),
        ids[1]: Node(ids[4], (ids[0],), 4, 2, 6, b"\x12\x34"),
        ids[2]: Node(ids[4], (ids[1], ids[0]), 2**34 - 1, 3, 2**34 - 1),
        ids[3]: Node(ids[4], (ids[2], ids[1], ids[0]), 0, 4, 2**34, ANYTHING),
    }
    assert parse_graph(format_graph(nodes)) == nodes


def test_a_filter_knows_what_it_was_made_of() -> None:
    paths = [f"note-{number}.md".encode() for number in range(40)]
    made = make_filter(paths[:20])
    assert len(made) == 25
    bits = int.from_bytes(made, "little")
    masks = [make_mask(path, len(made)) for path in paths]
    assert all(bits & mask == mask for mask in masks[:20])
    assert sum(bits & mask == mask for mask in masks[20:]) <= 3
    assert make_mask("会/a.md".encode(), 25) == make_mask(b"a.md", 0) == 0
    assert make_filter([]) == NOTHING
    assert make_filter([b"\xe4\xbc\x9a.md"]) == ANYTHING
    assert make_filter([b"%d" % number for number in range(513)]) == ANYTHING

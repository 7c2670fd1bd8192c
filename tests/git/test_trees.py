import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError, IntegrityError, StateError
from gitmem.git.repo import Repo, init_repo, open_repo
from gitmem.git.trees import Difference, build_tree, diff_trees, tree_of, write_blobs
from gitmem.model.ids import Fingerprint, fingerprint

from conftest import tip_of

Git = Callable[..., str]


PLAIN = 0o100644


def _listed(git: Git, repo: Repo, tree: str) -> dict[str, tuple[str, ...]]:
    lines = git(repo, "ls-tree", "-r", "-z", tree).split("\0")[:-1]
    return {line.partition("\t")[2]: tuple(line.split()[:3:2]) for line in lines}


def test_only_what_is_edited_changes(vault: Repo, git: Git) -> None:
    base = tip_of(vault)
    new = write_blobs(vault, {"promoted/two.md": b"2\n", "retired/2026-11/x.md": b"x"})
    tree = build_tree(vault, base, {**new, "promoted/deep/three.md": None})
    assert _listed(git, vault, tree) == {
        "baseline/one.md": ("100644", fingerprint(b"one\n")),
        "manifest.json": ("100644", fingerprint(b"{}\n")),
        "promoted.md": ("100644", fingerprint(b"beside the folder\n")),
        "promoted/two.md": ("100644", fingerprint(b"2\n")),
        "retired/2026-11/x.md": ("100644", fingerprint(b"x")),
    }
    assert diff_trees(vault, tree_of(vault, base), tree) == {
        "promoted/deep/three.md": Difference(fingerprint(b"three\n"), None, 0),
        "promoted/two.md": Difference(fingerprint(b"two\n"), fingerprint(b"2\n"), PLAIN),
        "retired/2026-11/x.md": Difference(None, fingerprint(b"x"), PLAIN),
    }
    git(vault, "fsck", "--strict")


def test_folders_that_become_empty_vanish_and_no_edit_is_no_change(vault: Repo) -> None:
    base = tip_of(vault)
    assert build_tree(vault, base, {}) == tree_of(vault, base)
    assert build_tree(vault, base, {"nothing/here.md": None, "promoted/none.md": None}) == tree_of(vault, base)
    emptied = build_tree(vault, base, {path: None for path, _blob in vault.iter_files(base)})
    assert emptied == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert build_tree(vault, None, {}) == emptied
    assert set(diff_trees(vault, tree_of(vault, base), emptied)) == {path for path, _blob in vault.iter_files(base)}


def test_a_file_and_a_folder_never_take_each_others_place_by_accident(vault: Repo) -> None:
    base = tip_of(vault)
    blob = write_blobs(vault, {"x": b"x"})["x"]
    for path in ("promoted", "promoted/deep", "manifest.json/x.md", "promoted/two.md/a/b.md"):
        with pytest.raises(StateError) as caught:
            build_tree(vault, base, {path: blob})
        assert caught.value.code == "path-clash"
    with pytest.raises(StateError):
        build_tree(vault, None, {"a": blob, "a/b": blob})


def test_a_file_and_a_folder_change_places_when_the_edits_say_so(vault: Repo) -> None:
    base = tip_of(vault)
    blob = write_blobs(vault, {"x": b"x"})["x"]
    old = tree_of(vault, base)
    swapped = build_tree(
        vault,
        base,
        {"promoted/deep/three.md": None, "promoted/deep": blob, "manifest.json": None, "manifest.json/a": blob},
    )
    assert diff_trees(vault, old, swapped) == {
        "manifest.json": Difference(fingerprint(b"{}\n"), None, 0),
        "manifest.json/a": Difference(None, blob, PLAIN),
        "promoted/deep": Difference(None, blob, PLAIN),
        "promoted/deep/three.md": Difference(fingerprint(b"three\n"), None, 0),
    }


def test_links_and_modes_show_in_a_difference_and_are_not_overwritten(vault: Repo, git: Git) -> None:
    before = tree_of(vault, tip_of(vault))
    os.symlink("/etc", os.path.join(vault.root, "link"))
    os.chmod(os.path.join(vault.root, "manifest.json"), 0o755)
    git(vault, "add", "-A")
    git(vault, "update-index", "--add", "--cacheinfo", f"160000,{tip_of(vault)},module")
    git(vault, "commit", "-qm", "odd modes")
    after = tree_of(vault, tip_of(vault))
    found = diff_trees(vault, before, after)
    assert {path: one.mode for path, one in found.items()} == {
        "link": 0o120000,
        "manifest.json": 0o100755,
        "module": 0o160000,
    }
    assert found["manifest.json"].old == found["manifest.json"].new == fingerprint(b"{}\n")
    blob = write_blobs(vault, {"x": b"x"})["x"]
    for path in ("link", "module", "link/x"):
        with pytest.raises(StateError):
            build_tree(vault, tip_of(vault), {path: blob})
    made = build_tree(vault, tip_of(vault), {"manifest.json": blob, "link": None, "module/x": None})
    assert diff_trees(vault, after, made) == {"manifest.json": Difference(fingerprint(b"{}\n"), blob, PLAIN)}


@pytest.mark.parametrize("path", ["", "/a", "a//b", "a/", "../a", "./a", "a/.git/config", ".GIT", "a\0b"])
def test_paths_that_are_none_are_refused(vault: Repo, path: str) -> None:
    blob = write_blobs(vault, {"x": b"x"})["x"]
    with pytest.raises(InputError) as caught:
        build_tree(vault, tip_of(vault), {path: blob})
    assert caught.value.code == "bad-path"


def test_a_blob_that_was_never_written_can_not_be_committed(vault: Repo) -> None:
    with pytest.raises(IntegrityError) as caught:
        build_tree(vault, None, {"a": Fingerprint("1" * 40)})
    assert caught.value.code == "object-missing"


def test_very_deep_folders_are_compared(vault: Repo) -> None:
    blob = write_blobs(vault, {"x": b"x"})["x"]
    deep = "/".join(["d"] * 60) + "/x.md"
    tree = build_tree(vault, None, {deep: blob})
    assert diff_trees(vault, None, tree) == {deep: Difference(None, blob, PLAIN)}


_parts = st.sampled_from(["a", "b", "a.md", "a-b", "a0", "é"])
_paths = st.lists(_parts, min_size=1, max_size=3).map("/".join)
_files = st.dictionaries(_paths, st.sampled_from([b"1", b"2", b""]), max_size=8)


def _without_clashes(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if not any(other.startswith(path + "/") for other in files)}


def test_any_two_trees_are_built_and_compared_as_git_does(tmp_path_factory: pytest.TempPathFactory, git: Git) -> None:
    repo = init_repo(str(tmp_path_factory.mktemp("any")), "main")
    made: dict[str, dict[str, tuple[str, ...]]] = {}

    @settings(max_examples=40, derandomize=True, deadline=None, database=None)
    @given(_files.map(_without_clashes), _files.map(_without_clashes))
    def check(before: dict[str, bytes], after: dict[str, bytes]) -> None:
        old = build_tree(repo, None, write_blobs(repo, before))
        new = build_tree(repo, None, write_blobs(repo, after))
        wanted = {
            path: Difference(
                fingerprint(before[path]) if path in before else None,
                fingerprint(after[path]) if path in after else None,
                PLAIN if path in after else 0,
            )
            for path in sorted(before.keys() | after.keys())
            if before.get(path) != after.get(path)
        }
        assert diff_trees(repo, old, new) == wanted
        made[new] = {path: ("100644", fingerprint(data)) for path, data in after.items()}

    check()
    for tree in list(made)[:10]:
        assert _listed(git, repo, tree) == made[tree]
    git(repo, "fsck", "--strict")


def test_a_difference_reads_only_folders_that_differ(vault: Repo, git: Git) -> None:
    base = tip_of(vault)
    tree = build_tree(vault, base, write_blobs(vault, {"baseline/new.md": b"n"}))
    untouched = git(vault, "rev-parse", "HEAD:promoted").strip()
    Path(vault.common_dir, "objects", untouched[:2], untouched[2:]).unlink()
    assert list(diff_trees(open_repo(vault.root), tree_of(vault, base), tree)) == ["baseline/new.md"]

"""Repositories that were handed over, or are not as gitmem left them: each has one outcome, no program is started, and
what is refused stays byte for byte as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile.ground import (
    READS,
    WRITES,
    Place,
    Row,
    assert_told,
    bounded,
    look,
    put,
    row_of,
    say_write,
    without_leavings,
    without_waiting,
)

from conftest import git as run_git

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"

OTHER = "1" * 40


def config(text: str) -> Callable[[Place], object]:
    def make(place: Place) -> None:
        with open(place.git / "config", "a") as file:
            file.write(text)

    return make


def file(name: str, content: str | bytes = "x\n") -> Callable[[Place], object]:
    return lambda place: put(place.git / name, content)


def note(name: str, content: str | bytes = "x\n") -> Callable[[Place], object]:
    return lambda place: put(place.repo / name, content)


def git(*args: str) -> Callable[[Place], object]:
    return lambda place: run_git(place.repo, *args)


def all_of(*makes: Callable[[Place], object]) -> Callable[[Place], object]:
    return lambda place: [make(place) for make in makes]


def write_object(place: Place, kind: str, data: bytes) -> str:
    whole = f"{kind} {len(data)}\0".encode() + data
    name = hashlib.sha1(whole).hexdigest()
    put(place.git / "objects" / name[:2] / name[2:], zlib.compress(whole))
    return name


def tip(place: Place) -> str:
    return (place.git / "refs/heads/main").read_text().strip()


def commit_on_top(change: Callable[[bytes], bytes]) -> Callable[[Place], object]:
    """Publish a commit that is the last one's child, with its bytes changed by ``change``."""

    def make(place: Place) -> None:
        tree = run_git(place.repo, "rev-parse", "HEAD^{tree}").strip()
        who = "Pat <pat@example.com> 1790000000 +0000"
        data = f"tree {tree}\nparent {tip(place)}\nauthor {who}\ncommitter {who}\n\nodd\n".encode()
        put(place.git / "refs/heads/main", write_object(place, "commit", change(data)) + "\n")

    return make


def tag_as_branch(place: Place) -> None:
    data = f"object {tip(place)}\ntype commit\ntag t\ntagger Pat <p@example.com> 1790000000 +0000\n\nt\n".encode()
    put(place.git / "refs/heads/main", write_object(place, "tag", data) + "\n")


def object_file(place: Place, name: str) -> Path:
    return place.git / "objects" / name[:2] / name[2:]


def damage(rev: str, change: Callable[[bytes], bytes]) -> Callable[[Place], object]:
    def make(place: Place) -> None:
        path = object_file(place, run_git(place.repo, "rev-parse", rev).strip())
        data = path.read_bytes()
        put(path, change(data))

    return make


def flip(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


def bomb(says: int) -> Callable[[Place], object]:
    """Put an object that says it has ``says`` bytes, and unpacks to 300 MB, in the place of the last commit's tree."""

    def make(place: Place) -> None:
        path = object_file(place, run_git(place.repo, "rev-parse", "HEAD^{tree}").strip())
        packer = zlib.compressobj(1)
        packed = [packer.compress(f"tree {says}\0".encode()), *(packer.compress(bytes(1 << 20)) for _ in range(300))]
        put(path, b"".join(packed) + packer.flush())

    return make


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha1(body).digest()


def moved_out(place: Place) -> None:
    """The vault lies in a project's repository, and its own ``.git`` is gone."""
    shutil.rmtree(place.git)
    run_git(place.home, "init", "-q", "-b", "main")
    run_git(place.home, "commit", "-q", "--allow-empty", "-m", "project")


def gitfile_elsewhere(place: Place) -> None:
    shutil.rmtree(place.git)
    run_git(place.outside, "init", "-q", "-b", "main", "other")
    run_git(place.outside / "other", "commit", "-q", "--allow-empty", "-m", "other")
    put(place.git, f"gitdir: {place.outside / 'other' / '.git'}\n")


def separate_git_dir(place: Place) -> None:
    run_git(place.repo, "init", "-q", "--separate-git-dir", str(place.home / "apart.git"))


def sha256(place: Place) -> None:
    shutil.rmtree(place.git)
    run_git(place.repo, "init", "-q", "--object-format=sha256", "-b", "main")


def bare(place: Place) -> None:
    for path in place.git.iterdir():
        path.rename(place.repo / path.name)
    place.git.rmdir()


def nested(place: Place) -> None:
    run_git(place.repo, "init", "-q", "-b", "main", "observations/inner")
    put(place.repo / "observations/inner/secret.md", "---\ngitmem_id: 0123456789ab\ntitle: Inner\n---\n")


def gitlink(place: Place) -> None:
    run_git(place.repo, "update-index", "--add", "--cacheinfo", f"160000,{OTHER},observations/sub")
    run_git(place.repo, "commit", "-q", "-m", "a submodule")


def staged_conflict(place: Place) -> None:
    blob = run_git(place.repo, "rev-parse", "HEAD:INDEX.md").strip()
    lines = "".join(f"100644 {blob} {stage}\tpromoted/x.md\n" for stage in (1, 2, 3))
    env = {"PATH": os.environ["PATH"], "HOME": str(place.home)}
    command = ["git", "-C", str(place.repo), "update-index", "--index-info"]
    subprocess.run(command, input=lines, text=True, check=True, env=env)


FINE = ("ok", "done", "")
HOSTILE = ("unavailable hostile-repository", "hostile-repository", "hostile-repository")
UNSUPPORTED = ("unavailable repository-unsupported", "repository-unsupported", "repository-unsupported")
UNREADABLE = ("unavailable object-unreadable", "object-unreadable", "object-unreadable")
BAD_REF = ("unavailable ref-unreadable", "ref-unreadable", "ref-unreadable")
STATES: dict[str, Row] = {
    # settings that redirect
    "core.worktree": Row("R", config("[core]\n\tworktree = /\n"), *HOSTILE),
    "include.path": Row("R", config("[include]\n\tpath = /dev/zero\n"), *HOSTILE),
    "includeIf": Row("R", config('[includeIf "gitdir:/"]\n\tpath = more\n'), *HOSTILE),
    "filter": Row("R", config('[filter "x"]\n\tclean = touch canary\n'), *HOSTILE),
    "broken settings": Row("R", config("[core\n"), *UNSUPPORTED),
    "settings with NUL": Row("R", config("[a]\0\n"), *UNSUPPORTED),
    "core.bare": Row(
        "R", config("[core]\n\tbare = true\n"), "unavailable bare-repository", "bare-repository", "bare-repository"
    ),
    "repository format 99": Row("R", config("[core]\n\trepositoryformatversion = 99\n"), *UNSUPPORTED),
    "unknown extension": Row(
        "R", config("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tx = y\n"), *UNSUPPORTED
    ),
    "partial clone": Row(
        "R", config("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n"), *UNSUPPORTED
    ),
    "promisor remote": Row(
        "R", config('[remote "o"]\n\turl = ext::sh -c touch% canary\n\tpromisor = true\n'), *UNSUPPORTED
    ),
    "reftable": Row(
        "R", config("[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n"), *UNSUPPORTED
    ),
    "SHA-256": Row("R", sha256, "unavailable sha256-repository", "sha256-repository", "sha256-repository"),
    "worktree settings": Row(
        "R",
        all_of(config("[extensions]\n\tworktreeConfig = true\n"), file("config.worktree", "[core]\n\tworktree = /\n")),
        *HOSTILE,
    ),
    "safe.directory": Row("K", config("[safe]\n\tdirectory = *\n"), *FINE),
    "core.hooksPath": Row("K", config("[core]\n\thooksPath = /tmp\n"), *FINE),
    "core.attributesFile": Row("K", config("[core]\n\tattributesFile = /dev/zero\n"), *FINE),
    "core.excludesFile": Row("K", config("[core]\n\texcludesFile = /dev/zero\n"), *FINE),
    "user's settings": Row(
        "K", config("[user]\n\tname = Forged\n[commit]\n\tgpgsign = true\n[core]\n\tautocrlf = true\n"), *FINE
    ),
    "url insteadOf": Row("K", config('[url "ext::sh"]\n\tinsteadOf = https\n'), *FINE),
    # other objects, other history
    "alternates": Row("R", file("objects/info/alternates", "/other/objects\n"), *HOSTILE),
    "http alternates": Row("K", file("objects/info/http-alternates", "http://example.com\n"), *FINE),
    "refs/replace": Row("R", file(f"refs/replace/{OTHER}", "2" * 40 + "\n"), *HOSTILE),
    "packed refs/replace": Row("R", file("packed-refs", f"{OTHER} refs/replace/{'2' * 40}\n"), *HOSTILE),
    "grafts": Row("R", file("info/grafts", f"{OTHER}\n"), *HOSTILE),
    "shallow": Row("R", file("shallow", f"{OTHER}\n"), *HOSTILE),
    "commondir": Row("R", file("commondir", "../../outside\n"), *HOSTILE),
    "promisor pack": Row("K", file("objects/pack/pack-x.promisor", ""), *FINE),
    "garbage pack": Row(
        "K",
        all_of(file("objects/pack/pack-x.pack", b"PACK junk"), file("objects/pack/pack-x.idx", b"\xfftOcjunk")),
        *FINE,
    ),
    # where the repository is
    ".git is missing in a project": Row("R", moved_out, "unavailable no-repository", "no-repository", "no-repository"),
    "gitfile to another repository": Row("R", gitfile_elsewhere, "ok", "not-a-vault", "not-a-vault"),
    "gitfile to nowhere": Row(
        "R",
        all_of(lambda place: shutil.rmtree(place.git), note(".git", "gitdir: /nowhere\n")),
        "unavailable no-repository",
        "no-repository",
        "no-repository",
    ),
    "separate git directory": Row("K", separate_git_dir, *FINE),
    "worktree present": Row("K", git("worktree", "add", "-q", "--detach", "../../linked"), *FINE),
    "bare repository": Row("R", bare, "unavailable bare-repository", "bare-repository", "bare-repository"),
    # HEAD and branches
    "detached HEAD": Row(
        "R", git("checkout", "-q", "--detach"), "ok", "not-on-managed-branch", "not-on-managed-branch"
    ),
    "other branch": Row(
        "R", git("checkout", "-q", "-b", "other"), "ok", "not-on-managed-branch", "not-on-managed-branch"
    ),
    "unborn branch": Row(
        "R",
        git("symbolic-ref", "HEAD", "refs/heads/unborn"),
        "unavailable no-commit",
        "not-on-managed-branch",
        "not-on-managed-branch",
    ),
    "HEAD leads out": Row("R", file("HEAD", "ref: ../../x\n"), *BAD_REF),
    "HEAD leads out of refs": Row("R", file("HEAD", "ref: refs/heads/../../../x\n"), *BAD_REF),
    "HEAD leads to itself": Row(
        "R", all_of(file("HEAD", "ref: refs/heads/a\n"), file("refs/heads/a", "ref: refs/heads/a\n")), *BAD_REF
    ),
    "HEAD is empty": Row("R", file("HEAD", ""), *BAD_REF),
    "HEAD is garbage": Row("R", file("HEAD", b"\xff\0\n"), *BAD_REF),
    "HEAD is missing": Row("R", lambda place: (place.git / "HEAD").unlink(), *BAD_REF),
    "huge branch name": Row(
        "R",
        file("HEAD", f"ref: refs/heads/{'a' * 5000}\n"),
        "unavailable no-commit",
        "not-on-managed-branch",
        "not-on-managed-branch",
    ),
    "branch name with escapes": Row(
        "R",
        file("HEAD", "ref: refs/heads/\x1b[2J\n"),
        "unavailable no-commit",
        "not-on-managed-branch",
        "not-on-managed-branch",
    ),
    "branch is empty": Row("R", file("refs/heads/main", ""), *BAD_REF),
    "branch is short": Row("R", file("refs/heads/main", "12\n"), *BAD_REF),
    "branch is NUL": Row("R", file("refs/heads/main", b"\0" * 41), *BAD_REF),
    "branch to nothing": Row("R", file("refs/heads/main", OTHER + "\n"), *UNREADABLE),
    "branch to a blob": Row(
        "R",
        lambda place: put(place.git / "refs/heads/main", run_git(place.repo, "rev-parse", "HEAD:INDEX.md")),
        *UNREADABLE,
    ),
    "branch to a tree": Row(
        "R",
        lambda place: put(place.git / "refs/heads/main", run_git(place.repo, "rev-parse", "HEAD^{tree}")),
        *UNREADABLE,
    ),
    "branch to a tag object": Row("R", tag_as_branch, *UNREADABLE),
    "thousands of huge branches": Row(
        "K",
        lambda place: put(
            place.git / "packed-refs", "".join(f"{OTHER} refs/heads/{'b' * 4000}{i}\n" for i in range(2000))
        ),
        *FINE,
    ),
    # staging area
    "empty index": Row("K", file("index", b""), *FINE),
    "index of version 99": Row("K", file("index", sealed(struct.pack(">4sII", b"DIRC", 99, 0))), *FINE),
    "garbage index": Row("K", file("index", b"\xff" * 4096), *FINE),
    "split index": Row("R", git("update-index", "--split-index"), "ok", "index-unsupported", "index-unsupported"),
    "sparse index": Row(
        "R",
        file("index", sealed(struct.pack(">4sII4sI", b"DIRC", 2, 0, b"sdir", 0))),
        "ok",
        "index-unsupported",
        "index-unsupported",
    ),
    "index with a required extension": Row(
        "R",
        file("index", sealed(struct.pack(">4sII4sI", b"DIRC", 2, 0, b"zzzz", 0))),
        "ok",
        "index-unsupported",
        "index-unsupported",
    ),
    "index with a billion entries": Row("K", file("index", sealed(struct.pack(">4sII", b"DIRC", 2, 10**9))), *FINE),
    "unmerged paths": Row("R", staged_conflict, "ok", "unmerged-paths", "unmerged-paths"),
    "merge under way": Row(
        "R", file("MERGE_HEAD", OTHER + "\n"), "ok", "git-operation-in-progress", "git-operation-in-progress"
    ),
    # objects
    "empty commit object": Row("R", damage("HEAD", lambda _data: b""), *UNREADABLE),
    "bit flip in the commit": Row("R", damage("HEAD", flip), *UNREADABLE),
    "empty tree object": Row("R", damage("HEAD^{tree}", lambda _data: b""), *UNREADABLE),
    "bit flip in the tree": Row("R", damage("HEAD^{tree}", flip), *UNREADABLE),
    "bit flip in the catalog's blob": Row("D", damage("HEAD:catalog.json", flip), *FINE),
    "bit flip in an old commit": Row("K", damage("HEAD~1", flip), *FINE),
    "object that unpacks to 300 MB": Row("R", bomb(300 << 20), *UNREADABLE),
    "object that says it is small and is not": Row("R", bomb(99), *UNREADABLE),
    "object that says it is beyond all numbers": Row("R", bomb(10**30), *UNREADABLE),
    # imported history
    "commit with NUL": Row("D", commit_on_top(lambda data: data + b"a\0b\n"), "ok", "done", "odd-commit"),
    "commit with NUL in its header": Row(
        "D", commit_on_top(lambda data: data.replace(b"Pat <", b"P\0t <", 1)), "ok", "done", "object-unreadable"
    ),
    "commit with two authors": Row(
        "D",
        commit_on_top(lambda data: data.replace(b"committer", b"author Eve <e> 1 +0000\ncommitter")),
        "ok",
        "done",
        "object-unreadable",
    ),
    "commit without an author": Row("R", commit_on_top(lambda data: data[data.index(b"committer") :]), *UNREADABLE),
    "commit without a date": Row("K", commit_on_top(lambda data: data.replace(b" 1790000000 +0000", b"")), *FINE),
    "commit of the far future": Row("K", commit_on_top(lambda data: data.replace(b"1790000000", b"9" * 30)), *FINE),
    "commit before time": Row("K", commit_on_top(lambda data: data.replace(b"1790000000", b"-1")), *FINE),
    "commit with forged trailers": Row(
        "D",
        commit_on_top(lambda data: data + b"\nGitmem-Op: promote\nGitmem-Surface: human\nGitmem-Op-Id: x\n"),
        "ok",
        "done",
        "receipts-missing",
    ),
    "commit in latin-1": Row(
        "K", commit_on_top(lambda data: data.replace(b"\n\nodd", b"\nencoding x\n\nodd") + b"\xe9\x1b[2J\n"), *FINE
    ),
    "commit that is its own parent": Row("K", commit_on_top(lambda data: data), *FINE),
    # files that Git obeys
    "gitattributes with filters": Row(
        "K", note("observations/.gitattributes", "* filter=x ident text eol=crlf working-tree-encoding=UTF-16\n"), *FINE
    ),
    "gitattributes at the top": Row(
        "K",
        note(".gitattributes", "* filter=x ident text eol=crlf working-tree-encoding=UTF-16 diff=x merge=x\n"),
        *FINE,
    ),
    "info/attributes": Row(
        "K", file("info/attributes", "* filter=x ident eol=crlf working-tree-encoding=UTF-16\n"), *FINE
    ),
    "gitignore of everything": Row("K", note(".gitignore", "*\n"), *FINE),
    "gitmodules": Row(
        "K", note(".gitmodules", '[submodule "x"]\n\tpath = observations/x\n\turl = -u./payload\n'), *FINE
    ),
    "nested repository": Row("K", nested, *FINE),
    "nested gitfile": Row("K", note("observations/.git", "gitdir: /elsewhere\n"), *FINE),
    "gitlink in a lifecycle folder": Row("K", gitlink, *FINE),
    "bisect under way": Row(
        "R", file("BISECT_LOG", "git bisect start\n"), "ok", "git-operation-in-progress", "git-operation-in-progress"
    ),
}


@pytest.fixture
def place(gitmem: Gitmem, tmp_path: Path) -> Place:
    outside = tmp_path / "outside"
    outside.mkdir()
    gitmem.observe("One", "--key", "one")
    return Place(Path(gitmem.environment.home), outside)


@pytest.mark.parametrize("name", STATES)
def test_a_repository_in_a_bad_state(gitmem: Gitmem, place: Place, name: str) -> None:
    row = STATES[name]
    row.make(place)
    before, outside = look(place.home), look(place.outside)
    with bounded():
        read, doctor = row_of(gitmem)
        assert look(place.repo) == look_within(before, "global/repo/")
        write = say_write(gitmem, "observe", "Two", "--evidence", "run:1")
    assert (read, write, doctor) == (row.read, row.write, row.doctor)
    assert (write == "done") == (row.outcome in "DK")
    if write != "done":
        assert without_leavings(look(place.repo)) == without_leavings(look_within(before, "global/repo/"))
    assert {path: said for path, said in look(place.home).items() if path.startswith(".git/")} == {
        path: said for path, said in before.items() if path.startswith(".git/")
    }, "the project around the vault"
    assert look(place.outside) == outside


def look_within(found: dict[str, str], prefix: str) -> dict[str, str]:
    return {path.removeprefix(prefix): said for path, said in found.items() if path.startswith(prefix)}


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
def test_no_verb_breaks_on_a_repository_in_a_bad_state(gitmem: Gitmem, place: Place, name: str) -> None:
    STATES[name].make(place)
    before, outside = look(place.repo), look(place.outside)
    with bounded():
        for args in READS:
            assert_told(gitmem(*args))
    assert without_waiting(look(place.repo)) == without_waiting(before)  # adopt takes the lock
    for args in WRITES:
        with bounded():
            assert_told(gitmem(*args))
    assert look(place.outside) == outside


def test_an_index_that_git_cannot_read_is_kept_beside_the_new_one(gitmem: Gitmem, place: Place) -> None:
    data = sealed(struct.pack(">4sII", b"DIRC", 99, 0))
    put(place.git / "index", data)
    gitmem.observe("Two")
    assert (place.git / "index.version-99").read_bytes() == data
    assert gitmem.git("status", "--porcelain") == ""


def test_what_people_wrote_in_a_message_is_no_persons_act(gitmem: Gitmem, place: Place) -> None:
    trailers = b"\nGitmem-Op: declare\nGitmem-Surface: human\nGitmem-Actor: Sam\nGitmem-Authority: user_declared\n"
    commit_on_top(lambda data: data + trailers)(place)
    assert gitmem("promote", "one", "--json").document["error"]["code"] == "needs-human"
    assert [row["authority"] for row in gitmem("list", "--json").document["results"]] == ["workspace_evidence"]


def test_settings_that_name_a_person_or_a_key_make_nothing_human(gitmem: Gitmem, place: Place) -> None:
    put(place.outside / "true.sh", '#!/bin/sh\ntouch "$0.ran"\n')
    (place.outside / "true.sh").chmod(0o755)
    program = place.outside / "true.sh"
    config(
        f"[user]\n\tname = Sam Person\n\temail = sam@example.com\n\tsigningKey = key::ssh-ed25519 AAAA\n"
        f"[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n\tprogram = {program}\n"
        f'[gpg "ssh"]\n\tprogram = {program}\n\tallowedSignersFile = {place.repo}/allowed_signers\n'
    )(place)
    put(place.repo / "allowed_signers", "* ssh-ed25519 AAAA\n")
    for args in (["declare", "T", "--kind", "boundary"], ["promote", "one"]):
        assert gitmem(*args, "--json").document["error"]["code"] == "needs-human"
    assert gitmem("observe", "Two", "--evidence", "run:1").code == 0
    assert gitmem.git("log", "-1", "--format=%an %G?") == "agent N"
    assert not (place.outside / "true.sh.ran").exists()


def test_a_view_that_was_lost_is_whole_again_once_something_is_written(gitmem: Gitmem, place: Place) -> None:
    was = gitmem.git("rev-parse", "HEAD")
    damage("HEAD:catalog.json", flip)(place)
    gitmem.observe("Two")
    assert gitmem.git("fsck", "--strict", "--no-dangling") == ""
    assert '"One"' in gitmem.git("show", f"{was.strip()}:catalog.json")
    assert '"Two"' in gitmem.git("show", "HEAD:catalog.json")

"""Attempts by Git's own commands: commits, trailers, merges, history that goes back or is left out."""

from __future__ import annotations

import json
import os

from gitmem.model.ids import new_record_id

from attack_ground import MARK, PERSON, POLICY, Scene, build, declared_note, trailers


def plain_commit(scene: Scene) -> None:
    """a declared note committed in the person's name"""
    scene.write("baseline/note.md", declared_note())
    scene.commit()


def forged_trailers(scene: Scene) -> None:
    """the same with all the trailers of a person's declaration"""
    one = new_record_id()
    scene.write("baseline/note.md", declared_note(one))
    scene.commit(trailers(scene, one))


def trailers_of_an_earlier_operation(scene: Scene) -> None:
    """the same with the operation id of a declaration that the person made"""
    op_id = _op_id(scene, scene.true_path)
    scene.write(scene.true_path, declared_note(scene.true))
    scene.commit(trailers(scene, scene.true, **{"Gitmem-Op-Id": op_id}))


def amended(scene: Scene) -> None:
    """the newest commit amended to hold a declared note"""
    scene.write("baseline/note.md", declared_note())
    scene.git("add", "--all")
    scene.git("commit", "--quiet", "--amend", "--no-edit")


def amended_declaration(scene: Scene) -> None:
    """the person's own declaration amended to other words, all later commits made anew"""
    scene.git("reset", "--quiet", "--hard", _commit_of(scene, scene.true_path))
    scene.write(scene.true_path, declared_note(scene.true))
    scene.git("commit", "--quiet", "--all", "--amend", "--no-edit")


def picked_from_another_vault(scene: Scene) -> None:
    """a declaration that a person made in another vault, picked into this one"""
    other = build(scene.home.parent / "second")
    other.write("baseline/note.md", declared_note())
    commit = other.commit()
    scene.git("fetch", "--quiet", str(other.repo), commit)
    scene.git("cherry-pick", "--keep-redundant-commits", commit)


def twin_in_id_committed(scene: Scene) -> None:
    """another note with the boundary's id, committed"""
    scene.write("baseline/aaa.md", declared_note(scene.true))
    scene.commit(trailers(scene, scene.true))


def twin_in_id_committed_behind(scene: Scene) -> None:
    """the same under a name that sorts behind the boundary's"""
    scene.write("baseline/zzz.md", declared_note(scene.true))
    scene.commit(trailers(scene, scene.true))


def reverted_retirement(scene: Scene) -> None:
    """`git revert` of the commit that retired an old boundary"""
    retired = scene.git("log", "--format=%H", "--grep", "^retire").split()[0]
    scene.git("revert", "--no-edit", retired, check=False)
    if scene.git("status", "--porcelain"):
        scene.git("checkout", "HEAD", "--", "INDEX.md", "catalog.json", check=False)
        scene.git("add", "--all")
        scene.git("commit", "--quiet", "--message", "revert", check=False)


def old_file_again(scene: Scene) -> None:
    """the old boundary's file taken from history and committed where it was"""
    commit = scene.git("log", "--format=%H", "--grep", "^declare: Ask Olga").split()[0]
    scene.git("checkout", commit, "--", "baseline")
    scene.commit("restore: it")


def merged_branch(scene: Scene) -> None:
    """a branch with a declared note merged"""
    scene.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    scene.write("baseline/note.md", declared_note())
    scene.commit()
    scene.git("checkout", "--quiet", "main")
    scene.git("merge", "--quiet", "--no-edit", "side")


def smuggled_in_a_merge(scene: Scene) -> None:
    """a merge that holds a declared note which neither side has"""
    scene.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    scene.write("observations/plain.md", "a plain note\n")
    scene.commit("x")
    scene.git("checkout", "--quiet", "main")
    scene.git("merge", "--quiet", "--no-commit", "--no-ff", "side")
    scene.write("baseline/note.md", declared_note())
    scene.commit("merge")


def replaced_object(scene: Scene) -> None:
    """`git replace` of the boundary's content"""
    blob = scene.git("rev-parse", f"HEAD:{scene.true_path}").strip()
    other = scene.git("hash-object", "-w", "--stdin", stdin=declared_note(scene.true)).strip()
    scene.git("replace", blob, other)


def grafted_history(scene: Scene) -> None:
    """a graft that cuts history, and a declared note as its first commit"""
    scene.write("baseline/note.md", declared_note())
    commit = scene.commit()
    (scene.repo / ".git" / "info").mkdir(exist_ok=True)
    (scene.repo / ".git" / "info" / "grafts").write_text(commit + "\n")


def shallow_history(scene: Scene) -> None:
    """a repository made shallow at a commit with a declared note"""
    scene.write("baseline/note.md", declared_note())
    (scene.repo / ".git" / "shallow").write_text(scene.commit() + "\n")


def other_branch_as_main(scene: Scene) -> None:
    """an orphan branch with a declared note put in the place of main"""
    scene.write("baseline/note.md", declared_note())
    scene.git("add", "--all")
    tree = scene.git("write-tree").strip()
    commit = scene.git("commit-tree", tree, "-m", "init").strip()
    scene.git("update-ref", "refs/heads/main", commit)


def detached(scene: Scene) -> None:
    """HEAD detached at a commit with a declared note"""
    scene.git("checkout", "--quiet", "--detach")
    scene.write("baseline/note.md", declared_note())
    scene.commit()


def tag_called_main(scene: Scene) -> None:
    """a tag called main on a commit with a declared note"""
    scene.git("checkout", "--quiet", "-b", "side")
    scene.write("baseline/note.md", declared_note())
    scene.commit()
    scene.git("tag", "main")
    scene.git("checkout", "--quiet", "refs/heads/main", "--detach")
    scene.git("symbolic-ref", "HEAD", "refs/heads/main")


def submodule_in_the_place(scene: Scene) -> None:
    """a submodule in the place of the boundary's file"""
    head = scene.git("rev-parse", "HEAD").strip()
    scene.git("update-index", "--cacheinfo", f"160000,{head},{scene.true_path}")
    scene.git("commit", "--quiet", "--message", "x")


def committed_link(scene: Scene) -> None:
    """a symbolic link committed in the place of the boundary's file"""
    scene.write("../elsewhere.md", declared_note(scene.true))
    (scene.repo / scene.true_path).unlink()
    (scene.repo / scene.true_path).symlink_to(scene.home.parent / "elsewhere.md")
    scene.commit("x")


def filtered_content(scene: Scene) -> None:
    """a filter and attributes that change the boundary when Git checks it out"""
    scene.write(".gitattributes", f"{scene.true_path} filter=evil\n")
    scene.git("config", "filter.evil.smudge", f"sed 's/.*/{MARK}/'")
    scene.git("config", "filter.evil.clean", "cat")
    scene.commit("x")


def hidden_edit(scene: Scene) -> None:
    """an edit of the boundary's file that Git is told not to see"""
    scene.git("update-index", "--skip-worktree", scene.true_path)
    scene.write(scene.true_path, declared_note(scene.true))


def went_back(scene: Scene) -> None:
    """the branch reset to the commit before the old boundary was retired"""
    retired = scene.git("log", "--format=%H", "--grep", "^retire").split()[0]
    scene.git("reset", "--quiet", "--hard", f"{retired}~1")


def went_back_before_the_boundary(scene: Scene) -> None:
    """the branch reset to the commit before the boundary was declared"""
    scene.git("reset", "--quiet", "--hard", f"{_commit_of(scene, scene.true_path)}~1")


def removed_by_commit(scene: Scene) -> None:
    """the boundary's file removed by a commit"""
    (scene.repo / scene.true_path).unlink()
    scene.commit("x")


def retired_by_commit(scene: Scene) -> None:
    """the boundary's file moved to retired/ by a commit with a person's trailers"""
    (scene.repo / "retired" / "2026-01").mkdir(parents=True, exist_ok=True)
    os.rename(scene.repo / scene.true_path, scene.repo / "retired" / "2026-01" / os.path.basename(scene.true_path))
    scene.commit(trailers(scene, scene.true, "retire"))


def made_private_by_commit(scene: Scene) -> None:
    """`private: true` put into the boundary by a commit"""
    scene.write(scene.true_path, scene.read(scene.true_path).replace("---\n", "---\nprivate: true\n", 1))
    scene.commit("x")


def made_outdated_by_commit(scene: Scene) -> None:
    """`valid_until` in the past put into the boundary by a commit"""
    scene.write(scene.true_path, scene.read(scene.true_path).replace("---\n", "---\nvalid_until: 2001-01-01\n", 1))
    scene.commit("x")


def superseded_by_commit(scene: Scene) -> None:
    """a note that supersedes the boundary, committed with a person's trailers"""
    stem, one = scene.true_path.rpartition("/")[2].removesuffix(".md"), new_record_id()
    scene.write("baseline/note.md", declared_note(one, more=f'supersedes: ["[[{stem}]]"]\n'))
    scene.commit(trailers(scene, one))


def other_vault_id(scene: Scene) -> None:
    """the manifest's vault id changed by a commit, beside a declared note"""
    value = json.loads(scene.read("manifest.json")) | {"vault_id": new_record_id()}
    scene.write("manifest.json", json.dumps(value, indent=2) + "\n")
    scene.write("baseline/note.md", declared_note())
    scene.commit("x")


def committed_policy(scene: Scene) -> None:
    """a policy that allows models everything, committed by plain Git"""
    scene.write("policy.yaml", POLICY)
    scene.commit(trailers(scene, scene.true, "policy"))
    scene.gitmem("propose", MARK, "--kind", "boundary", "--evidence", "run:make")
    scene.gitmem("accept", "--all")
    scene.gitmem("curate")


def git_variables(scene: Scene) -> None:
    """GIT_DIR and its like set to another repository with a declared note"""
    other = build(scene.home.parent / "second")
    other.write("baseline/note.md", declared_note())
    other.commit()
    git_dir = str(other.repo / ".git")
    done = scene.gitmem("context", GIT_DIR=git_dir, GIT_WORK_TREE=str(other.repo), GIT_INDEX_FILE=f"{git_dir}/index")
    assert MARK not in done.stdout


def alternate_objects(scene: Scene) -> None:
    """another repository's objects lent, and the branch moved to a commit of it with a declared note"""
    other = build(scene.home.parent / "second")
    other.write("baseline/note.md", declared_note())
    commit = other.commit()
    info = scene.repo / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{other.repo}/.git/objects\n")
    (scene.repo / ".git" / "refs" / "heads" / "main").write_text(commit + "\n")


def notes_on_commits(scene: Scene) -> None:
    """Git notes that say a person declared it"""
    scene.write("baseline/note.md", declared_note())
    commit = scene.commit()
    scene.git("notes", "add", "--message", trailers(scene, scene.true), commit)


def signed_commit_of_the_attackers(scene: Scene) -> None:
    """a commit signed by Git with a key of the attacker's that the repository's settings trust"""
    key = scene.home.parent / "mallory"
    os.system(f"ssh-keygen -q -t ed25519 -N '' -C {PERSON.email} -f {key}")
    signers = scene.home.parent / "signers"
    signers.write_text(f"{PERSON.email} {key.with_suffix('.pub').read_text()}")
    for name, value in (
        *(("gpg.format", "ssh"), ("user.signingkey", str(key)), ("gpg.ssh.allowedSignersFile", str(signers))),
    ):
        scene.git("config", name, value)
    one = new_record_id()
    scene.write("baseline/note.md", declared_note(one))
    scene.git("add", "--all")
    scene.git("commit", "--quiet", "-S", "--file", "-", stdin=trailers(scene, one), check=False)
    scene.git("commit", "--quiet", "--file", "-", stdin=trailers(scene, one), check=False)


def _commit_of(scene: Scene, path: str) -> str:
    return scene.git("log", "--format=%H", "--", path).split()[-1]


def _op_id(scene: Scene, path: str) -> str:
    return scene.git("log", "-1", "--format=%(trailers:key=Gitmem-Op-Id,valueonly)", _commit_of(scene, path)).strip()


ATTEMPTS = (
    plain_commit,
    forged_trailers,
    trailers_of_an_earlier_operation,
    amended,
    amended_declaration,
    picked_from_another_vault,
    twin_in_id_committed,
    twin_in_id_committed_behind,
    reverted_retirement,
    old_file_again,
    merged_branch,
    smuggled_in_a_merge,
    replaced_object,
    grafted_history,
    shallow_history,
    other_branch_as_main,
    detached,
    tag_called_main,
    submodule_in_the_place,
    committed_link,
    filtered_content,
    hidden_edit,
    went_back,
    went_back_before_the_boundary,
    removed_by_commit,
    retired_by_commit,
    made_private_by_commit,
    made_outdated_by_commit,
    superseded_by_commit,
    other_vault_id,
    committed_policy,
    git_variables,
    alternate_objects,
    notes_on_commits,
    signed_commit_of_the_attackers,
)

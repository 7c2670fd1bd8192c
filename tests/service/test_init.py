"""Making vaults, finding them again, and refusing where one must not be."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pygit2
import pytest

from gitmem.errors import GitmemError, InputError, StateError, UnavailableError
from gitmem.git import publish
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.locate import find_project_root
from gitmem.transaction.receipts import iter_receipts
from gitmem.vault.layout import VaultLayout
from gitmem.vault.schema import validate
from gitmem.wiring import make_vault, open_memory

from conftest import Desk, draft, git


def test_a_new_vault_is_a_repository_with_one_commit(desk: Desk) -> None:
    assert desk.commits() == ["init: workspace vault vault"]
    assert desk.git("ls-files").split() == [
        ".gitattributes",
        ".gitignore",
        ".obsidian/app.json",
        ".obsidian/types.json",
        "INDEX.md",
        "catalog.json",
        "manifest.json",
        "memory.base",
    ]
    assert sorted(path.name for path in desk.repo.iterdir() if path.is_dir()) == [
        ".git",
        ".obsidian",
        "baseline",
        "observations",
        "promoted",
        "retired",
    ]
    assert desk.git("remote") == ""
    desk.judge()


def test_the_manifest_and_the_registry_are_valid_and_hold_no_path_too_many(desk: Desk, tmp_path: Path) -> None:
    manifest = json.loads((desk.repo / "manifest.json").read_text())
    registry = json.loads((tmp_path / "home" / "registry.json").read_text())
    validate("manifest", manifest)
    validate("registry", registry)
    assert str(tmp_path) not in desk.git("log", "-p")
    assert [entry["vault_id"] for entry in registry["vaults"]] == [manifest["vault_id"]]


def test_runtime_is_private(desk: Desk) -> None:
    assert desk.runtime.stat().st_mode & 0o777 == 0o700
    with desk.open() as memory:
        memory.vault.database.close()
    modes = {path.name: path.stat().st_mode & 0o777 for path in desk.runtime.rglob("*")}
    assert {mode for name, mode in modes.items() if (desk.runtime / name).is_file()} <= {0o600}


@pytest.mark.parametrize("scope", list(Scope))
def test_making_a_vault_twice_is_making_it_once(tmp_path: Path, person: Actor, scope: Scope) -> None:
    home = str(tmp_path / "home")
    wanted = NewVault(scope, project=str(tmp_path) if scope is Scope.WORKSPACE else "", name="mine")
    first, made = make_vault(home, wanted, person)
    again, unmade = make_vault(home, wanted, person)
    assert (made.changed, unmade.changed) == (True, False)
    assert again == first
    assert git(Path(first.path), "log", "--format=%s").splitlines() == [f"init: {scope.value} vault mine"]
    where = "global/repo" if scope is Scope.GLOBAL else f"workspaces/{first.vault_id}/repo"
    assert first.path == str(tmp_path / "home" / where)
    assert first.runtime == str(tmp_path / "home" / where.replace("repo", "runtime"))


def test_a_registry_that_was_lost_is_made_again_by_init(desk: Desk, person: Actor, tmp_path: Path) -> None:
    (tmp_path / "home" / "registry.json").unlink()
    _entry, receipt = make_vault(desk.home, NewVault(Scope.WORKSPACE, path=str(desk.repo)), person)
    assert receipt.changed is False
    with desk.open() as memory:
        assert memory.vault.entry.path == str(desk.repo)


def test_places_where_a_vault_must_not_be_are_refused_and_left_alone(tmp_path: Path, person: Actor) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    full = tmp_path / "full"
    full.mkdir()
    (full / "a.md").write_text("mine")
    obsidian = tmp_path / "obsidian"
    (obsidian / ".obsidian").mkdir(parents=True)
    file = tmp_path / "file"
    file.write_text("mine")
    cases = {
        project / "memory": "inside-repository",
        project: "inside-repository",
        full: "folder-not-empty",
        obsidian: "folder-not-empty",
        file: "not-a-folder",
    }
    before = sorted(tmp_path.rglob("*"))
    for place, code in cases.items():
        with pytest.raises(StateError) as refused:
            make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=str(place)), person)
        assert refused.value.code == code, place
        assert refused.value.hint
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (NewVault(Scope.GLOBAL, name="a/b"), "bad-name"),
        (NewVault(Scope.GLOBAL, name="a\nb"), "bad-name"),
        (NewVault(Scope.GLOBAL, name="x" * 81), "bad-name"),
        (NewVault(Scope.GLOBAL, catalog_shards=7), "bad-shards"),
        (NewVault(Scope.GLOBAL, name="ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"), "secret-found"),
    ],
)
def test_bad_settings_are_refused(tmp_path: Path, person: Actor, wanted: NewVault, code: str) -> None:
    with pytest.raises(GitmemError) as refused:
        make_vault(str(tmp_path / "home"), wanted, person)
    assert refused.value.code == code
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", ["", ".git", "con", "a ", "a.", "a\x1bb", "a\u202eb", "q\udcff", "-rf"])
def test_folders_that_cannot_be_named_so_elsewhere_are_refused(tmp_path: Path, person: Actor, name: str) -> None:
    with pytest.raises(InputError) as refused:
        make_vault(
            str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=f"{tmp_path}/x/{name}" if name else ""), person
        )
    assert refused.value.code == "bad-path"
    assert list(tmp_path.iterdir()) == []


def test_a_project_has_one_vault(tmp_path: Path, person: Actor) -> None:
    home, project = str(tmp_path / "home"), str(tmp_path / "project")
    make_vault(home, NewVault(Scope.WORKSPACE, project=project), person)
    with pytest.raises(StateError) as refused:
        make_vault(home, NewVault(Scope.WORKSPACE, path=str(tmp_path / "second"), project=project), person)
    assert refused.value.code == "project-has-a-vault"
    assert not (tmp_path / "second").exists()


def test_a_failed_making_leaves_nothing(tmp_path: Path, person: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gitmem.git.publish.prove", fail)
    with pytest.raises(UnavailableError, match="No space") as refused:
        make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=str(tmp_path / "v")), person)
    assert refused.value.code == "disk"
    assert not (tmp_path / "v").exists()
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_receipt_that_fails_does_not_make_a_vault_unmade(
    tmp_path: Path, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_layout: VaultLayout, _receipt: Receipt) -> None:
        raise OSError(28, "No space left on device")

    home, wanted = str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=str(tmp_path / "vault"))
    monkeypatch.setattr("gitmem.transaction.receipts.append_receipt", fail)
    entry, receipt = make_vault(home, wanted, person)
    monkeypatch.undo()
    assert (receipt.changed, receipt.commit) == (True, git(tmp_path / "vault", "rev-parse", "HEAD").strip())
    assert receipt.notices == ("committed, but its receipt could not be written: [Errno 28] No space left on device",)
    layout = VaultLayout(entry.path, entry.runtime)
    assert list(iter_receipts(layout)) == []
    assert make_vault(home, wanted, person)[1] == replace(receipt, notices=())
    assert list(iter_receipts(layout)) == [replace(receipt, notices=())]


def test_a_folder_whose_flush_failed_is_flushed_before_its_vault_is_acknowledged(
    tmp_path: Path, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []

    def fail_once(path: str) -> None:
        flushed.append(path)
        if flushed.count(str(tmp_path)) == 1 and path == str(tmp_path):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("gitmem.service.init.flush_folder", fail_once)
    home = str(tmp_path / "home")
    _entry, receipt = make_vault(home, NewVault(Scope.WORKSPACE, path=str(tmp_path / "vault")), person)
    assert receipt.changed
    assert flushed == [str(tmp_path), str(tmp_path / "vault"), str(tmp_path)]


def test_a_lock_that_the_library_could_not_remove_does_not_stay(
    tmp_path: Path, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = pygit2.init_repository

    def make_and_leave(root: str, **options: Any) -> pygit2.Repository:
        made = make(root, **options)
        Path(root, ".git/HEAD.lock").touch()
        return made

    monkeypatch.setattr(pygit2, "init_repository", make_and_leave)
    make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=str(tmp_path / "vault")), person)
    assert list((tmp_path / "vault/.git").rglob("*.lock")) == []


def test_an_empty_folder_is_filled_and_not_replaced(tmp_path: Path, person: Actor) -> None:
    place = tmp_path / "v"
    place.mkdir(mode=0o700)
    before = place.stat()
    make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=str(place)), person)
    assert (place.stat().st_ino, place.stat().st_mode) == (before.st_ino, before.st_mode)
    assert git(place, "status", "--porcelain") == ""
    assert git(place, "fsck", "--strict") == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "v"]


def test_what_comes_into_the_folder_meanwhile_stays(
    tmp_path: Path, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "v"
    place.mkdir()
    real = publish.prove

    def prove(*args: Any) -> None:
        real(*args)
        (place / "manifest.json").write_text("a person's")

    monkeypatch.setattr(publish, "prove", prove)
    with pytest.raises(StateError) as refused:
        make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=str(place)), person)
    assert refused.value.code == "folder-not-empty"
    assert [path.read_text() for path in place.iterdir()] == ["a person's"]
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def _begin(tmp_path: Path, person: Actor) -> Path:
    """Return a folder in which an ``init`` came no further than its repository."""
    made = tmp_path / "made"
    make_vault(str(tmp_path / "elsewhere"), NewVault(Scope.WORKSPACE, path=str(made)), person)
    place = tmp_path / "v"
    place.mkdir()
    os.rename(made / ".git", place / ".git")
    return place


def test_an_init_that_was_killed_while_it_filled_a_folder_is_completed(tmp_path: Path, person: Actor) -> None:
    place = _begin(tmp_path, person)
    (place / "INDEX.md").write_text("a person's")
    home = str(tmp_path / "home")
    entry, receipt = make_vault(home, NewVault(Scope.WORKSPACE, path=str(place)), person)
    assert (receipt.changed, receipt.commit) == (True, git(place, "rev-parse", "HEAD").strip())
    again = make_vault(home, NewVault(Scope.WORKSPACE, path=str(place)), person)
    assert (again[0], again[1].changed) == (entry, False)
    assert entry.name == "made"
    assert (place / "INDEX.md").read_text() == "a person's"
    assert git(place, "status", "--porcelain") == " M INDEX.md\n"
    assert sorted(path.name for path in place.iterdir() if path.is_dir()) == [
        *(".git", ".obsidian", "baseline", "observations", "promoted", "retired"),
    ]
    with open_memory(home, home, str(place)) as memory:
        assert memory.observe(draft(), person).changed
    assert git(place, "rev-list", "--count", "HEAD") == "2\n"
    assert git(place, "fsck", "--strict") == ""


def test_a_repository_that_no_init_began_is_never_completed(tmp_path: Path, person: Actor) -> None:
    place = _begin(tmp_path, person)
    git(place, "commit", "--quiet", "--allow-empty", "--message", "by hand")
    with pytest.raises(StateError) as refused:
        make_vault(str(tmp_path / "home"), NewVault(Scope.WORKSPACE, path=str(place)), person)
    assert refused.value.code == "inside-repository"
    assert os.listdir(place) == [".git"]


def test_a_vault_elsewhere_is_not_the_global_one(desk: Desk, person: Actor) -> None:
    elsewhere = NewVault(Scope.GLOBAL, path=str(desk.repo.with_name("elsewhere")))
    make_vault(desk.home, elsewhere, person)
    entry, receipt = make_vault(desk.home, NewVault(Scope.GLOBAL), person)
    assert receipt.changed is True
    assert entry.path.endswith("global/repo")


def test_a_vault_that_is_gone_is_not_made_anew(tmp_path: Path, person: Actor) -> None:
    home = str(tmp_path / "home")
    entry, _receipt = make_vault(home, NewVault(Scope.GLOBAL), person)
    os.rename(entry.path, tmp_path / "away")
    with pytest.raises(UnavailableError) as refused:
        make_vault(home, NewVault(Scope.GLOBAL), person)
    assert refused.value.code == "vault-missing"
    assert not os.path.exists(entry.path)


def find(home: object, folder: Path, named: str | None = None) -> str:
    with open_memory(str(home), str(folder), named) as memory:
        return memory.vault.entry.path


def test_a_vault_is_found_by_name_path_working_folder_project_or_else_the_global_one(
    desk: Desk, tmp_path: Path, person: Actor
) -> None:
    home = desk.home
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    git(project, "init", "-q", "-b", "main")
    git(project, "commit", "-q", "--allow-empty", "-m", "x")
    git(project, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    overall, _ = make_vault(home, NewVault(Scope.GLOBAL), person)
    bound, _ = make_vault(home, NewVault(Scope.WORKSPACE, project=find_project_root(str(project)), name="acme"), person)
    assert find(home, tmp_path) == overall.path
    assert find(home, tmp_path, "acme") == bound.path
    assert find(home, tmp_path, bound.vault_id) == bound.path
    assert find(home, tmp_path, "vault") == str(desk.repo)
    assert find(home, tmp_path, str(desk.repo / "promoted")) == str(desk.repo)
    assert find(home, desk.repo / "promoted") == str(desk.repo)
    assert find(home, project / "src") == bound.path
    assert find(home, tmp_path / "linked") == bound.path
    assert git(project, "status", "--porcelain") == ""


def test_what_is_no_vault_is_said_and_never_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with pytest.raises(UnavailableError) as refused:
        find(home, tmp_path)
    assert refused.value.code == "no-vault"
    for named in ("nothing", str(tmp_path)):
        with pytest.raises(InputError) as unknown:
            find(home, tmp_path, named)
        assert unknown.value.code == "no-such-vault"
    assert not home.exists()


def test_inv_reads_dont_create_a_vault_that_went_away(desk: Desk) -> None:
    with desk.open() as memory:
        os.rename(desk.repo, desk.repo.with_name("elsewhere"))
        answer = memory.list(__import__("gitmem.service.query", fromlist=["Filters"]).Filters())
    assert answer.status == "unavailable"
    assert [problem.code for problem in answer.diagnostics] == ["vault-missing"]
    assert not desk.repo.exists()


def test_two_clones_of_a_vault_do_not_share_their_runtime(desk: Desk, tmp_path: Path, person: Actor) -> None:
    git(tmp_path, "clone", "-q", str(desk.repo), "clone")
    with open_memory(desk.home, str(tmp_path / "clone")) as memory:
        assert memory.vault.entry.runtime != str(desk.runtime)
        memory.observe(draft(), person)
    assert desk.commits() == ["init: workspace vault vault"]


def test_a_vault_of_a_newer_format_is_read_and_not_written(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        memory.observe(draft(), person)
    manifest = desk.repo / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"gitmem": 1', '"gitmem": 2'))
    desk.git("commit", "-qam", "from the future")
    from gitmem.service.query import Filters

    with desk.open() as memory:
        assert len(memory.list(Filters()).hits) == 1
        with pytest.raises(GitmemError) as refused:
            memory.observe(draft("Another"), person)
    assert refused.value.code == "format-too-new"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"gitmem": 1}', '{"gitmem": true, "vault_id": "x"}', "null"])
def test_a_damaged_manifest_is_said(desk: Desk, person: Actor, content: str) -> None:
    with desk.open() as memory:
        (desk.repo / "manifest.json").write_text(content)
        with pytest.raises(GitmemError) as refused:
            memory.observe(draft(), person)
        assert refused.value.code == "bad-manifest"
        answer = memory.status()
    assert answer.status == "unavailable"
    assert [problem.code for problem in answer.diagnostics] == ["bad-manifest"]

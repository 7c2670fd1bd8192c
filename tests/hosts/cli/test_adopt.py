"""``gitmem adopt`` and ``gitmem status`` as people use them: where they stand, what is shown, what is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hosts.cli.test_confirm import masked

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


@pytest.mark.parametrize(
    ("folder", "path", "taken"),
    [
        (".", ".", ["promoted/a.md", "promoted/sub/b.md"]),
        (".", "./promoted", ["promoted/a.md", "promoted/sub/b.md"]),
        ("promoted", ".", ["promoted/a.md", "promoted/sub/b.md"]),
        ("promoted", "..", ["promoted/a.md", "promoted/sub/b.md"]),
        ("promoted", "sub", ["promoted/sub/b.md"]),
        ("promoted/sub", "../a.md", ["promoted/a.md"]),
        ("promoted/sub", "promoted/a.md", ["promoted/a.md"]),
        ("..", "repo/promoted/a.md", ["promoted/a.md"]),
        ("..", "promoted/a.md", ["promoted/a.md"]),
        (".", "~/promoted/a.md", ["promoted/a.md"]),
    ],
)
def test_paths_are_meant_from_where_one_stands(
    gitmem: Gitmem, monkeypatch: pytest.MonkeyPatch, folder: str, path: str, taken: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(gitmem.repo))
    (gitmem.repo / "promoted" / "sub").mkdir()
    (gitmem.repo / "promoted" / "a.md").write_text("A.\n")
    (gitmem.repo / "promoted" / "sub" / "b.md").write_text("B.\n")
    here = gitmem.at(folder=str((gitmem.repo / folder).resolve()))
    said = here("--vault", str(gitmem.repo), "adopt", path, "--json")
    assert (said.code, said.document["error"]["code"]) == (5, "needs-human")
    # nobody confirms here; with a note that can't come in, everything that was meant is listed
    for name in ("a.md", "sub/b.md"):
        (gitmem.repo / "promoted" / name).write_text("---\n[\n---\n")
    error = here("--vault", str(gitmem.repo), "adopt", path, "--json").document["error"]
    assert [one["path"] for one in error["problems"]] == taken


def test_a_deleted_note_is_found_from_its_folder_and_from_the_root(gitmem: Gitmem) -> None:
    gitmem.observe("One")
    path = gitmem.git("ls-files", "observations")
    (gitmem.repo / path).unlink()
    folder, _slash, name = path.rpartition("/")
    for place, given in ((folder, name), (".", path), ("promoted", path)):
        here = gitmem.at(folder=str(gitmem.repo / place))
        assert here("adopt", given, "--json").document["error"]["code"] == "needs-human", given
    for given, code, message in (
        ("../..", "outside-vault", "lies outside the vault"),
        ("nowhere.md", "nothing-to-adopt", "promoted/nowhere.md has no uncommitted notes"),
        ("../INDEX.md", "nothing-to-adopt", "INDEX.md lies outside the folders of records"),
    ):
        error = here("adopt", given, "--json").document["error"]
        assert (error["code"], message in error["message"]) == (code, True), error


def test_a_folder_of_the_same_name_elsewhere_is_not_meant(gitmem: Gitmem) -> None:
    Path(gitmem.environment.folder, "promoted").mkdir()
    Path(gitmem.environment.folder, "promoted", "a.md").touch()
    (gitmem.repo / "promoted" / "a.md").write_text("A.\n")
    assert gitmem("adopt", "promoted/a.md", "--json").document["error"]["code"] == "needs-human"
    assert gitmem("adopt", "promoted", "--json").document["error"]["code"] == "needs-human"
    assert gitmem("adopt", ".", "--json").document["error"]["code"] == "outside-vault"


def test_bad_notes_are_all_listed_and_nothing_is_written(gitmem: Gitmem) -> None:
    (gitmem.repo / "promoted" / "good.md").write_text("Good.\n")
    (gitmem.repo / "promoted" / "latin.md").write_bytes(b"caf\xe9\n")
    (gitmem.repo / "promoted" / "yaml.md").write_text("---\na: [\n---\n")
    said = gitmem("adopt")
    assert (said.code, said.out) == (4, "")
    lines = said.err.splitlines()
    assert lines[0].startswith("error: 2 of 3 edited notes can't be committed: promoted/latin.md: ")
    assert [line.partition(": ")[0] for line in lines[1:3]] == ["  promoted/latin.md", "  promoted/yaml.md"]
    assert lines[3:] == ["hint: Mend them, or name the paths to adopt."]
    assert gitmem.git("rev-list", "--count", "HEAD") == "1"


def test_a_person_is_told_of_another_version_that_is_staged(gitmem: Gitmem, terminal: Terminal) -> None:
    file = gitmem.repo / "promoted" / "a.md"
    file.write_text("Staged.\n")
    gitmem.git("add", "promoted/a.md")
    file.write_text("On disk.\n")
    said = terminal("adopt")
    assert said.code == 0
    assert "  promoted/a.md  new; another version is staged and will be kept aside\n" in said.out
    shown = re.sub(r"displaced/\w+", "displaced/OP", masked(said.out))
    assert shown.endswith(
        "adopt: commit COMMIT\n"
        "ID  promoted  promoted/a.md\n"
        "notice: what was staged of promoted/a.md differed from the file; it is kept in runtime/displaced/OP\n"
    )
    (kept,) = Path(gitmem.environment.home).glob("global/runtime/displaced/*/*")
    assert kept.read_text() == "Staged.\n"


def test_status_says_whose_it_may_be_and_what_is_left_alone(gitmem: Gitmem) -> None:
    gitmem.observe("One")
    path = gitmem.git("ls-files", "observations")
    old = (gitmem.repo / path).read_text()
    assert gitmem("edit", gitmem("list", "--json").document["results"][0]["id"], "--body", "Newer.").code == 0
    (gitmem.repo / path).write_text(old)
    for name in ("a.md", "Note.md", "Note 2.md", "Note (conflicted copy 2026).md"):
        (gitmem.repo / "promoted" / name).write_text(f"{name}\n")
    gitmem.git("add", "promoted/a.md")
    (gitmem.repo / "promoted" / "a.md").write_text("Otherwise.\n")
    (gitmem.repo / "promoted" / "picture.png").write_bytes(b"\x89PNG")
    only = gitmem.repo / "promoted" / "only.md"
    only.write_text("Only staged.\n")
    gitmem.git("add", "promoted/only.md")
    only.unlink()
    out = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", gitmem("status").out)
    pad = len(path)
    assert out.partition("\n\n")[2] == (
        "4 notes edited outside gitmem; `gitmem adopt` commits them; whose they are is a guess:\n"
        f"edited  {path}  TIME  Git: an earlier commit or another branch has it so\n"
        f"new     {'promoted/Note 2.md':{pad}}  TIME  a sync program: named like a conflict copy\n"
        f"new     {'promoted/Note.md':{pad}}  TIME  someone with an editor or another program\n"
        f"new     {'promoted/a.md':{pad}}  TIME  someone with an editor or another program, another version staged\n"
        "\n"
        "2 notes that `gitmem adopt` leaves alone:\n"
        "promoted/Note (conflicted copy 2026).md: a sync program's conflict copy; take what you need from it, then "
        "remove or rename it\n"
        "promoted/only.md: only the staging area differs, the file does not; commit or unstage it with Git\n"
        "\n"
        "1 other file not committed; gitmem leaves them to you and Git\n"
    )
    document = gitmem("status", "--json").document
    assert document["waiting"] == {"notes": 6, "private": 0, "views": 0, "other_files": 1}
    assert [(row["change"], row["whose"]) for row in document["results"]] == [
        ("edited", "git"),
        ("new", "sync"),
        ("new", "sync"),
        ("new", "editor"),
        ("new", "editor"),
        ("staged", "editor"),
    ]

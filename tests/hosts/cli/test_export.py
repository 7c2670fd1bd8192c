"""``gitmem export agents-md``: what becomes of the file, what is said, and when it is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft, Kind
from gitmem.service.memory import Memory
from gitmem.wiring import open_memory

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

PERSON = Actor(Surface.HUMAN, "Pat", "pat@example.com")


@pytest.fixture
def project(bare: Gitmem) -> Gitmem:
    """gitmem in the project ``heron``, whose memory has nothing yet."""
    folder = Path(bare.environment.folder, "heron")
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    inside = bare.at(folder=str(folder))
    assert inside("init", "--workspace").code == 0
    return inside


def memory_of(gitmem: Gitmem) -> Memory:
    return open_memory(gitmem.environment.home, gitmem.environment.folder)


def declare(gitmem: Gitmem, title: str, kind: Kind = Kind.BOUNDARY, body: str = "") -> str:
    with memory_of(gitmem) as memory:
        return memory.declare(Draft(title, body, kind), PERSON).records[0].id


def retire(gitmem: Gitmem, ref: str) -> None:
    with memory_of(gitmem) as memory:
        memory.retire(ref, "no more", PERSON)


def file_of(gitmem: Gitmem, name: str = "AGENTS.md") -> Path:
    return Path(gitmem.environment.folder, name)


def export(gitmem: Gitmem, *args: str) -> tuple[int, str, str]:
    said = gitmem("export", "agents-md", *args)
    return said.code, said.out, said.err


def test_a_section_is_made_kept_in_step_and_taken_out(project: Gitmem) -> None:
    file = file_of(project)
    file.write_bytes(b"# Heron\r\n\r\nBuild it.")
    first = declare(project, "Never push to main", body="Ask.")
    assert export(project) == (0, "AGENTS.md was written; its section shows 1 record\n", "")
    made = file.read_bytes()
    assert made.startswith(b"# Heron\r\n\r\nBuild it.\r\n\r\n<!-- gitmem:begin agents-md vault=")
    assert f"- {first} (".encode() in made
    assert b"): Never push to main\r\n  > Ask.\r\n\r\n<!-- gitmem:end agents-md -->\r\n" in made
    with memory_of(project) as memory:
        memory.observe(Draft("Not told", kind=Kind.CONVENTION, evidence=("run:1",)), PERSON)
    assert export(project) == (0, "AGENTS.md is in step; its section shows 1 record\n", "")
    assert file.read_bytes() == made
    declare(project, "Short sentences", Kind.PREFERENCE)
    assert export(project)[0] == 0
    assert b"Short sentences" in file.read_bytes()
    assert export(project, "--remove") == (0, "AGENTS.md was written; its section is taken out\n", "")
    assert file.read_bytes() == b"# Heron\r\n\r\nBuild it."
    assert export(project, "--remove") == (0, "AGENTS.md has no section\n", "")


def test_check_and_dry_run_write_nothing_and_show_the_difference(project: Gitmem) -> None:
    file = file_of(project)
    file.write_text("# Heron\n")
    assert export(project, "--check") == (0, "AGENTS.md has no section\n", "")
    declare(project, "Never push", body="Ask \u202e first.")
    for option, code in (("--check", 1), ("--dry-run", 0)):
        said = export(project, option)
        assert said[0] == code
        assert said[1].startswith("--- AGENTS.md\n+++ AGENTS.md\n@@ -1 +1,14 @@\n # Heron\n+\n+<!-- gitmem:begin")
        assert said[1].endswith("\n\nAGENTS.md is not in step; nothing was written\n")
    assert file.read_text() == "# Heron\n"
    document = project("export", "agents-md", "--check", "--json").document
    assert (document["changed"], document["export"]["in_step"], document["commit"]) == (False, False, None)
    assert "+  > Ask \\u{202e} first." in document["export"]["diff"].split("\n")
    assert "+## What holds in this project" in document["export"]["diff"].split("\n")
    export(project)
    assert export(project, "--check") == (0, "AGENTS.md is in step; its section shows 1 record\n", "")
    document = project("export", "agents-md", "--json").document
    assert (document["changed"], document["export"]["in_step"], document["export"]["diff"]) == (False, True, "")
    assert [one["state"] for one in document["records"]] == ["baseline"]


def test_nothing_confirmed_writes_nothing_and_empties_no_section(project: Gitmem) -> None:
    nothing = "nothing has been declared or reviewed yet by a person\n"
    assert export(project) == (1, "AGENTS.md has no section\n", nothing)
    assert not file_of(project).exists()
    one = declare(project, "Never push")
    export(project)
    made = file_of(project).read_bytes()
    retire(project, one)
    said = project("export", "agents-md", "--json")
    assert (said.code, said.document["error"]["code"]) == (4, "nothing-confirmed")
    assert file_of(project).read_bytes() == made
    assert export(project, "--remove")[0] == 0
    assert not file_of(project).exists()


def test_an_edit_by_hand_is_refused_and_kept_when_it_is_discarded(project: Gitmem) -> None:
    declare(project, "Never push")
    export(project)
    file = file_of(project)
    made = file.read_text()
    file.write_text(made.replace("Never push", "Always push"))
    for option in ((), ("--check",), ("--remove",)):
        said = project("export", "agents-md", *option, "--json")
        assert (said.code, said.document["error"]["code"]) == (4, "edited-by-hand")
    assert "Always push" in file.read_text()
    said = project("export", "agents-md", "--discard-edits", "--json")
    kept = said.document["export"]["kept"]
    assert said.document["notices"] == [f"what was edited by hand is kept in {kept}"]
    assert file.read_text() == made
    with memory_of(project) as memory:
        place = Path(memory.vault.layout.runtime).parent / kept
    assert "Always push" in place.read_text()
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_section_of_another_vault_is_left_alone(project: Gitmem) -> None:
    assert project("init").code == 0
    declare(project, "Never push")
    export(project)
    made = file_of(project).read_bytes()
    said = project("--vault", "global", "export", "agents-md", "AGENTS.md", "--json")
    assert (said.code, said.document["error"]["code"]) == (4, "section-of-another-vault")
    assert file_of(project).read_bytes() == made
    assert project("--vault", "global", "export", "agents-md", "AGENTS.md", "--remove").code == 0


def test_where_the_file_is(project: Gitmem, bare: Gitmem) -> None:
    declare(project, "Never push")
    below = Path(project.environment.folder, "src")
    below.mkdir()
    assert project.at(folder=str(below))("export", "agents-md").out.startswith(str(file_of(project)))
    assert project.at(folder=str(below))("export", "agents-md", "CLAUDE.md").code == 0
    assert (below / "CLAUDE.md").is_file()
    git = ["git", "-C", project.environment.folder, "-c", "user.name=Pat", "-c", "user.email=pat@example.com"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", "../tree"], check=True)
    tree = Path(bare.environment.folder, "tree")
    assert project.at(folder=str(tree))("export", "agents-md").code == 0
    assert (tree / "AGENTS.md").read_bytes() == file_of(project).read_bytes()
    elsewhere = bare("--vault", "heron", "export", "agents-md", "--check")
    assert elsewhere.out == "heron/AGENTS.md is in step; its section shows 1 record\n"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("notes.txt", "not-markdown"),
        ("link.md", "odd-file"),
        ("nowhere/AGENTS.md", "no-such-folder"),
        ("utf16.md", "not-text"),
        ("broken.md", "bad-marks"),
    ],
)
def test_what_is_refused_stays_as_it_is(project: Gitmem, name: str, code: str) -> None:
    declare(project, "Never push")
    folder = Path(project.environment.folder)
    (folder / "link.md").symlink_to("AGENTS.md")
    (folder / "utf16.md").write_text("# Heron", encoding="utf-16")
    (folder / "broken.md").write_text("x\n<!-- gitmem:end agents-md -->\n")
    before = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    said = project("export", "agents-md", name, "--json")
    assert (said.code, said.document["error"]["code"]) == (4 if code == "bad-marks" else 3, code)
    assert {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()} == before


def test_a_vault_of_no_project_takes_a_file_and_no_file_of_its_own(gitmem: Gitmem) -> None:
    said = gitmem("export", "agents-md", "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "no-project")
    said = gitmem("export", "agents-md", str(gitmem.repo / "promoted.md"), "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "inside-vault")


def test_room_is_remembered_and_what_has_none_is_said(project: Gitmem) -> None:
    declare(project, "Never push")
    for number in range(3):
        declare(project, f"Preference {number}", Kind.PREFERENCE, "word " * 20)
    short = ("--max-chars", "600")
    code, _out, err = export(project, *short)
    assert (code, err) == (0, "notice: 2 records had no room; --max-chars allows more\n")
    made = file_of(project).read_bytes()
    assert export(project)[2] == err
    assert export(project, "--check")[0] == 0
    assert file_of(project).read_bytes() == made
    assert export(project, "--max-chars", "8000")[2] == ""
    said = project("export", "agents-md", "--max-chars", "10", "--json")
    assert (said.code, said.document["error"]["code"]) == (4, "boundaries-do-not-fit")


def test_status_says_when_a_section_is_not_in_step(project: Gitmem) -> None:
    def warnings() -> list[str]:
        told = project("status", "--json").document["diagnostics"]
        return [one["message"] for one in told if one["code"].startswith("export-")]

    declare(project, "Never push")
    assert warnings() == []
    export(project)
    export(project, "CLAUDE.md")
    assert warnings() == []
    declare(project, "Never delete")
    after = "; `gitmem export agents-md` looks after it"
    assert warnings() == [
        f"the section in AGENTS.md is not in step with the records{after}",
        f"the section in CLAUDE.md is not in step with the records{after}",
    ]
    export(project)
    file_of(project, "CLAUDE.md").write_text(file_of(project).read_text().replace("delete", "ask"))
    assert warnings() == [f"the section in CLAUDE.md was edited by hand{after}"]
    file_of(project, "CLAUDE.md").write_text("<!-- gitmem:end agents-md -->")
    assert warnings() == []

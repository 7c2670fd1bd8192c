"""Each verb: what it asks of the memory, what it says to people and to programs, and how it exits."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from gitmem.hosts.cli.commands.edit import parse_settings
from gitmem.hosts.cli.commands.import_notes import format_left_out
from gitmem.hosts.cli.group import SECTIONS
from gitmem.hosts.cli.group import gitmem as group
from gitmem.model.record import Problem

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


def change_outside(gitmem: Gitmem, text: str) -> str:
    """Put ``text`` behind the one observation there is, as another program would; return its path."""
    path = gitmem.git("ls-files", "observations")
    with (gitmem.repo / path).open("a") as note:
        note.write(text)
    return path


def test_init_makes_the_global_vault_once(bare: Gitmem) -> None:
    said = bare("init")
    vault_id = bare("status", "--json").document["vault"]["id"]
    commit = bare.git("rev-parse", "HEAD")
    facts = f"vault   global (global, {vault_id})\nfolder  {bare.repo}\n"
    assert (said.code, said.out, said.err) == (0, f"init: commit {commit[:12]}\n{facts}", "")
    assert bare("init").out == f"init: the vault is there already\n{facts}"
    document = bare("init", "--json").document
    assert (document["changed"], document["commit"], document["vault"]["name"]) == (False, None, "global")


def test_init_makes_a_workspace_for_the_project_around(bare: Gitmem) -> None:
    project = Path(bare.environment.folder, "heron")
    (project / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    inside = bare.at(folder=str(project / "src"))
    vault = inside("init", "--workspace", "--json").document["vault"]
    assert (vault["name"], vault["scope"]) == ("heron", "workspace")
    assert Path(vault["path"]).is_relative_to(bare.environment.home)
    assert inside("status", "--json").document["vault"]["id"] == vault["id"]
    assert bare("status", "--json").code == 6


def test_init_makes_a_vault_at_a_path(bare: Gitmem) -> None:
    document = bare("init", "mine", "--name", "notes", "--catalog-shards", "32", "--json").document
    assert document["vault"]["path"] == str(Path(bare.environment.folder, "mine"))
    assert bare("--vault", "notes", "status", "--json").document["vault"]["name"] == "notes"
    assert document["vault"]["scope"] == "workspace"
    assert bare("list", "--json").document["error"]["code"] == "no-vault"
    (Path(bare.environment.folder) / "full").mkdir()
    (Path(bare.environment.folder) / "full" / "a").touch()
    assert bare("init", "full", "--json").document["error"]["code"] == "folder-not-empty"
    said = bare("init", "other", "--project", "nowhere", "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "no-such-folder")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (".", "here"),
        ("./", "here"),
        ("../here/", "here"),
        ("below/..", "here"),
        ("below/.", "here/below"),
        ("./below/", "here/below"),
    ],
)
def test_init_takes_a_path_however_it_is_written(bare: Gitmem, path: str, place: str) -> None:
    here = Path(bare.environment.folder, "here")
    here.mkdir()
    said = bare.at(folder=str(here))("init", path, "--json")
    assert (said.code, said.document["vault"]["path"]) == (0, str(here.parent / place))
    assert said.document["vault"]["name"] == Path(place).name


def test_init_refuses_an_empty_path(bare: Gitmem) -> None:
    said = bare("init", "", "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "bad-path")
    assert list(Path(bare.environment.folder).iterdir()) == []


def test_init_says_what_was_not_applied(bare: Gitmem) -> None:
    bare("init", "mine", "--name", "notes")
    said = bare("init", "mine", "--name", "other", "--catalog-shards", "32")
    assert (said.code, said.out.splitlines()[0]) == (0, "init: the vault is there already")
    notices = [
        "--name was not applied: the vault is called notes",
        "--catalog-shards was not applied: the vault has 1",
    ]
    assert said.out.splitlines()[-2:] == [f"notice: {notice}" for notice in notices]
    assert bare("init", "mine", "--name", "notes", "--catalog-shards", "1", "--json").document["notices"] == []
    twin = "another vault is called notes, too; --vault takes the path or the id of either"
    assert bare("init", "second", "--name", "notes", "--json").document["notices"] == [twin]


def test_only_the_vault_in_the_home_is_the_global_one(bare: Gitmem) -> None:
    bare("init", "mine")
    bare("init")
    document = bare("status", "--json").document
    assert (document["vault"]["scope"], document["vault"]["path"]) == ("global", str(bare.repo))


def test_observe_says_where_the_record_lies(gitmem: Gitmem) -> None:
    said = gitmem(
        "observe", "Run tests", "--evidence", "run:1", "--tag", "#tool/pytest", "--summary", "Two.", "--key", "k"
    )
    path = gitmem.git("ls-files", "observations")
    row = gitmem("show", "k", "--json").document["results"][0]
    assert said.out == f"observe: commit {gitmem.git('rev-parse', 'HEAD')[:12]}\n{row['id']}  observation  {path}\n"
    assert {name: row[name] for name in ("title", "summary", "kind", "tags", "key", "authority")} == {
        "title": "Run tests",
        "summary": "Two.",
        "kind": "fact",
        "tags": ["tool/pytest"],
        "key": "k",
        "authority": "workspace_evidence",
    }


def test_a_body_comes_from_a_file_or_standard_input(gitmem: Gitmem) -> None:
    Path(gitmem.environment.folder, "body.md").write_bytes(b"\xef\xbb\xbfFrom a file.\n")
    gitmem.observe("A", "--key", "a", "--body-file", "body.md")
    assert gitmem("show", "a", "--json").json["body"] == "\nFrom a file.\n"
    assert (
        gitmem("observe", "B", "--evidence", "run:1", "--key", "b", "--body-file", "-", stdin="文\n".encode()).code == 0
    )
    assert gitmem("show", "b", "--json").json["body"] == "\n文\n"


@pytest.mark.parametrize(
    ("options", "stdin", "code", "name"),
    [
        (["--body-file", "nowhere.md"], b"", 3, "no-such-file"),
        (["--body-file", "."], b"", 3, "no-such-file"),
        (["--body-file", "-"], b"\xff", 3, "not-utf8"),
        (["--body-file", "-"], b"x" * ((4 << 20) + 1), 3, "body-too-long"),
        (["--body", "x", "--body-file", "-"], b"", 2, "usage"),
        (["--op-id", "a b"], b"", 3, "bad-op-id"),
        (["--kind", "boundary"], b"", 2, "usage"),
    ],
)
def test_a_wrong_draft_writes_nothing(options: list[str], stdin: bytes, code: int, name: str, gitmem: Gitmem) -> None:
    said = gitmem("observe", "T", "--evidence", "run:1", "--json", *options, stdin=stdin)
    assert (said.code, said.document["error"]["code"]) == (code, name)
    assert gitmem.git("log", "--format=%s") == "init: global vault global"


def test_an_op_id_never_makes_two_commits(gitmem: Gitmem) -> None:
    first = gitmem.observe("T", "--op-id", "mine-1")
    assert gitmem.observe("T", "--op-id", "mine-1") == first
    assert len(gitmem.git("log", "--format=%s").splitlines()) == 2


def test_every_verb_that_writes_takes_an_op_id() -> None:
    context = click.Context(group)
    write = [name for section, names in SECTIONS if section == "Write" for name in names]
    for name in [*write, "init", "check"]:
        found = group.get_command(context, name)
        assert found is not None
        assert "--op-id" in [option for param in found.params for option in param.opts], name


def test_init_again_under_its_op_id_gives_the_same_answer(bare: Gitmem) -> None:
    first = bare("init", "--op-id", "mine-1", "--json")
    again = bare("init", "--op-id", "mine-1", "--json")
    assert (again.code, again.document) == (0, first.document)
    assert first.document["changed"]
    other = bare("init", "--name", "other", "--op-id", "mine-1", "--json")
    assert (other.code, other.document["error"]["code"]) == (3, "op-id-reused")


def test_a_repair_has_an_op_id_and_a_check_has_none(gitmem: Gitmem) -> None:
    gitmem.observe("T")
    (gitmem.repo / "INDEX.md").write_text("mine\n")
    gitmem.git("-c", "user.name=P", "-c", "user.email=p@example.com", "commit", "-qam", "a backup")
    first = gitmem("check", "--repair-views", "--op-id", "mine-1", "--json")
    assert (first.code, first.document["changed"]) == (0, True)
    assert gitmem("check", "--repair-views", "--op-id", "mine-1", "--json").document == first.document
    assert gitmem("check", "--op-id", "mine-1").code == 2


def test_adopt_again_is_known_by_the_path_as_it_was_typed(gitmem: Gitmem, terminal: Terminal) -> None:
    note = gitmem.repo / "promoted" / "mine.md"
    note.write_text("# Mine\n")
    there = gitmem.at(folder=str(note.parent))
    inside = replace(terminal, environment=there.environment)
    assert inside("adopt", "mine.md", "--op-id", "mine-1").code == 0
    commit = gitmem.git("rev-parse", "HEAD")
    note.unlink()  # now the same words would mean another path
    again = there("adopt", "mine.md", "--op-id", "mine-1", "--json")
    assert (again.code, again.document["commit"]) == (0, commit)
    other = there("adopt", "--op-id", "mine-1", "--json")
    assert (other.code, other.document["error"]["code"]) == (3, "op-id-reused")


def test_edit_changes_only_what_is_asked_for(gitmem: Gitmem) -> None:
    record_id = gitmem.observe("T", "--body", "Old.", "--tag", "a", "--tag", "b", "--key", "k")
    said = gitmem(
        "edit", record_id, "--title", "U", "--summary", "S", "--body", "New.", "--add-tag", "#c", "--remove-tag", "a",
        "--set", "rating=5 stars", "--set", "key=", "--set", "evidence=run:2", "--set", "evidence=run:3", "--json",
    )  # fmt: skip
    assert (said.code, said.document["op"]) == (0, "edit")
    shown = gitmem("show", record_id, "--json").json
    properties = shown["properties"]
    assert shown["body"] == "\nNew.\n"
    assert {name: properties.get(name) for name in ("title", "summary", "tags", "key", "rating", "evidence")} == {
        "title": "U",
        "summary": "S",
        "tags": ["b", "c"],
        "key": None,
        "rating": "5 stars",
        "evidence": ["run:2", "run:3"],
    }
    assert gitmem("edit", record_id, "--title", "U").out == "edit: nothing to do, no commit made\n"
    said = gitmem("edit", record_id, "--json")
    assert (said.code, said.document["error"]["message"]) == (2, "nothing to change was given")
    assert said.document["error"]["hint"] == "See `gitmem edit --help`."
    assert gitmem("edit", record_id, "--set", "authority=user_declared").code == 3


def test_edit_sets_no_property_that_looks_like_one_of_gitmems(gitmem: Gitmem) -> None:
    record_id = gitmem.observe("Run tests")
    said = gitmem("edit", record_id, "--set", "Verified=2026-11-30")
    assert (said.code, said.out) == (3, "")
    assert said.err == (
        "error: the name 'Verified' is not gitmem's verified, but looks like it\n"
        "hint: verified is set by gitmem alone.\n"
    )
    assert gitmem.git("rev-list", "--count", "HEAD") == "2"


def test_edit_shows_the_record_only_to_an_editor(gitmem: Gitmem, monkeypatch: pytest.MonkeyPatch) -> None:
    record_id = gitmem.observe("T")

    def fail(*_args: object) -> None:
        raise ValueError("not needed")

    monkeypatch.setattr("gitmem.service.memory.Memory.show", fail)
    assert gitmem("edit", record_id, "--title", "U").code == 0
    assert gitmem("edit", record_id, "--editor").code == 1


def test_a_folder_that_is_no_vault_gets_a_hint_that_can_be_followed(gitmem: Gitmem) -> None:
    said = gitmem("--vault", ".", "status", "--json").document["error"]
    assert (said["code"], "in a new or empty folder" in said["hint"]) == ("no-such-vault", True)


def test_settings_are_texts_lists_or_gone() -> None:
    assert parse_settings(["a=1", "b=", "c=x=y", "d=1", "d=2", " e =1"]) == {
        "a": "1",
        "b": None,
        "c": "x=y",
        "d": ["1", "2"],
        "e": "1",
    }
    for wrong in ("a", "=1", ""):
        with pytest.raises(click.UsageError, match="NAME=VALUE"):
            parse_settings([wrong])


def test_an_agent_retires_and_restores_its_own_observation(gitmem: Gitmem) -> None:
    old = gitmem.observe("Old")
    new = gitmem.observe("New")
    said = gitmem("retire", old, "--reason", "There is a newer one.", "--superseded-by", new, "--json")
    assert [(one["id"], one["state"]) for one in said.document["records"]] == [(old, "retired"), (new, "observation")]
    assert gitmem("list", "--json").document["results"][0]["id"] == new
    assert [row["id"] for row in gitmem("list", "--state", "retired", "--json").document["results"]] == [old]
    assert gitmem("restore", old, "--json").document["records"][0]["state"] == "observation"
    stranger = gitmem.at(actor="other")
    assert stranger("retire", old, "--reason", "x", "--json").document["error"]["code"] == "needs-human"
    assert gitmem("promote", old, "--json").document["error"]["code"] == "needs-human"


def test_list_shows_one_record_a_line(gitmem: Gitmem) -> None:
    nothing = gitmem("list")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "no records\n")
    said = gitmem("list", "--json")
    assert (said.code, said.document["status"], said.document["results"]) == (1, "no-match", [])
    beta = gitmem.observe("Beta", "--tag", "tool/pytest", "--kind", "decision")
    alpha = gitmem.observe("Alpha")
    assert gitmem("list").out == (
        f"{alpha}  observation  fact      Alpha\n{beta}  observation  decision  Beta #tool/pytest\n"
    )
    assert gitmem("list", "--limit", "1").out == f"{alpha}  observation  fact  Alpha\n… and 1 more\n"
    assert gitmem("list", "--tag", "tool").out == f"{beta}  observation  decision  Beta #tool/pytest\n"
    assert gitmem("list", "--kind", "decision", "--state", "observation").out.startswith(beta)
    assert gitmem("list", "--state", "promoted").code == 1


def test_filters_of_the_command_line(gitmem: Gitmem) -> None:
    one = gitmem.observe("One", "--tag", "tool/git", "--key", "one")
    two = gitmem.observe("Two", "--tag", "area/ci", "--body", "See [[one-" + one[:6] + "]].")

    def found(*options: str) -> list[str]:
        assert gitmem("search", "one", "two", *options).code == gitmem("list", *options).code
        return [row["id"] for row in gitmem("list", "--json", *options).document["results"]]

    assert found("--any-tag", "tool", "--any-tag", "#area/ci") == [one, two]
    assert found("--tag", "tool", "--tag", "area/ci") == []
    assert found("--authority", "workspace_evidence", "--path", "observations", "--since", "1d") == [one, two]
    assert found("--authority", "user_declared") == []
    assert found("--until", "yesterday") == []
    assert found("--not-verified", "--has-link-to", "one") == [two]
    assert found("--verified") == []
    wrong = gitmem("search", "one", "--since", "someday", "--json")
    assert (wrong.code, wrong.document["error"]["code"]) == (3, "bad-date")
    assert gitmem("list", "--authority", "nobody").code == 2


def test_search_shows_why_and_where(gitmem: Gitmem) -> None:
    record_id = gitmem.observe(
        "Run tests with two workers", "--body", "More exhaust the database.", "--tag", "tool/pytest"
    )
    gitmem.observe("Something else")
    said = gitmem("search", "exhaust", "database")
    assert said.code == 0
    assert re.sub("(?m)^    .*$", "    …", said.out) == (
        f"{record_id}  observation  fact  Run tests with two workers #tool/pytest\n    …\n    …\n"
    )
    document = gitmem("search", "exhaust", "--json").document
    assert document["results"][0]["id"] == record_id
    assert document["results"][0]["snippet"] == "More exhaust the database."
    assert document["results"][0]["matched"]
    nothing = gitmem("search", "zebra")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "no record matches\n")
    assert gitmem("search", "zebra", "--json").document["status"] == "no-match"
    assert gitmem("search", "exhaust", "--tag", "tool/ruff").code == 1


def test_show_prints_properties_and_text(gitmem: Gitmem) -> None:
    record_id = gitmem.observe("Run tests", "--body", "Two\nworkers.", "--tag", "a", "--tag", "b")
    path = gitmem.git("ls-files", "observations")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", gitmem("show", record_id).out)
    assert text == (
        "Run tests\n"
        f"id         {record_id}\n"
        f"path       {path}\n"
        "state      observation\n"
        "kind       fact\n"
        "summary    Two\n"
        "authority  workspace_evidence\n"
        "tags       a, b\n"
        "created    TIME\n"
        "updated    TIME\n"
        "evidence   run:1\n"
        "\n"
        "Two\nworkers.\n"
    )
    assert gitmem("show", path, "--raw").out == (gitmem.repo / path).read_text()
    change_outside(gitmem, "\x1b[2Jmore\n")
    text = gitmem("show", record_id[:6]).out
    assert f"path       {path} (uncommitted)\n" in text
    assert text.endswith("workers.\n\\u{1b}[2Jmore\n")
    missing = gitmem("show", "nowhere", "--json")
    assert (missing.code, missing.document["error"]["code"]) == (3, "no-such-record")


def test_links_show_both_directions_and_what_is_broken(gitmem: Gitmem) -> None:
    target = gitmem.observe("Target")
    path = gitmem("show", target, "--json").document["results"][0]["path"]
    body = f"See\n[[{Path(path).stem}]]\nand [[nowhere]]."
    source = gitmem.observe("Source", "--body", body)
    source_path = gitmem("show", source, "--json").document["results"][0]["path"]
    text = (gitmem.repo / source_path).read_text().splitlines()
    line = text.index(f"[[{Path(path).stem}]]") + 1
    assert gitmem("links", source).out == (f"to  line {line}  {path}\nto  line {line + 1}  nothing is called nowhere\n")
    assert gitmem("links", target).out == f"from  its line {line}  {source_path}\n"
    rows = gitmem("links", source, "--json").document["results"]
    assert [(row["line"], row["target"]) for row in rows] == [(line, Path(path).stem), (line + 1, "nowhere")]
    assert gitmem("check").out.startswith(f"warning: {source_path}:{line + 1}: [[nowhere]] leads nowhere\n")
    alone = gitmem.observe("Alone")
    assert (gitmem("links", alone).code, gitmem("links", alone).out) == (0, "no links\n")


def test_links_in_properties_have_no_line(gitmem: Gitmem) -> None:
    old, new = gitmem.observe("Old"), gitmem.observe("New")
    gitmem("retire", old, "--reason", "There is a newer one.", "--superseded-by", new)
    paths = {one: gitmem("show", one, "--json").document["results"][0]["path"] for one in (old, new)}
    assert gitmem("links", new).out == f"to    supersedes         {paths[old]}\nfrom  its superseded_by  {paths[old]}\n"
    assert [row["line"] for row in gitmem("links", new, "--json").document["results"]] == [None, None]
    gitmem("edit", new, "--set", "supersedes=[[gone]]")
    assert f"warning: {paths[new]}: [[gone]] leads nowhere\n" in gitmem("check").out


def test_links_show_each_pair_once_a_direction(gitmem: Gitmem) -> None:
    target = gitmem.observe("Target")
    path = gitmem("show", target, "--json").document["results"][0]["path"]
    link = f"[[{Path(path).stem}]]"
    source = gitmem.observe("Source", "--body", f"{link} and {link}\n{link}")
    gitmem("edit", source, "--set", f"supersedes={link}")
    source_path = gitmem("show", source, "--json").document["results"][0]["path"]
    line = (gitmem.repo / source_path).read_text().splitlines().index(link) + 1
    assert gitmem("links", source).out == f"to  supersedes, line {line - 1}, line {line}  {path}\n"
    assert gitmem("links", target).out == f"from  its supersedes, line {line - 1}, line {line}  {source_path}\n"
    assert len(gitmem("links", target, "--json").document["results"]) == 4


def test_the_reason_stands_in_the_log_and_beside_the_retired_record(gitmem: Gitmem) -> None:
    old, new = gitmem.observe("Old"), gitmem.observe("New")
    gitmem("edit", old, "--title", "Older")
    gitmem("retire", old, "--reason", "There is a newer one.", "--superseded-by", new)
    lines = gitmem("log", old).out.splitlines()
    assert [line for line in lines if line.startswith("    ")] == [
        "    Reason: There is a newer one.",
        f"    Superseded by: New ({new})",
        "    Changed: title.",
    ]
    text = gitmem("show", old).out
    assert "retired        Reason: There is a newer one.\n" in text
    assert f"retired        Superseded by: New ({new})\n" in text
    stem = Path(gitmem("show", new, "--json").document["results"][0]["path"]).stem
    assert f"superseded_by  [[{stem}]]\n" in text
    assert gitmem("show", old, "--json").document["retired"].startswith("Reason: There is a newer one.")
    assert "retired" not in gitmem("show", new, "--json").document


def test_a_long_note_is_cut_in_the_log(gitmem: Gitmem) -> None:
    name = ["-c", "user.name=Sam", "-c", "user.email=sam@example.com"]
    gitmem.git(*name, "commit", "--allow-empty", "-qm", "subject\n\na\n\nb\nc\x1b\nd\ne")
    lines = gitmem("log", "--limit", "1").out.splitlines()
    assert lines[1:] == ["    a", "    b", "    c\\u{1b}", "    …"]


def test_log_tells_who_did_what(gitmem: Gitmem) -> None:
    record_id = gitmem.observe("Run tests")
    gitmem.observe("Other")
    commits = gitmem.git("log", "--format=%H").splitlines()
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", gitmem("log").out)
    ops = [row["op_id"][:8] for row in gitmem("log", "--json").document["results"]]
    assert text == (
        f"{ops[0]}  {commits[0][:12]}  TIME  agent (model)  observe  Other\n"
        f"{ops[1]}  {commits[1][:12]}  TIME  agent (model)  observe  Run tests\n"
        f"{ops[2]}  {commits[2][:12]}  TIME  agent (model)  init     global vault global\n"
        "    A memory that people can read, review, edit and undo.\n"
    )
    rows = gitmem("log", record_id, "--json").document["results"]
    assert [row["commit"] for row in rows] == [commits[1]]
    assert len(gitmem("log", "--limit", "1", "--json").document["results"]) == 1


def test_status_says_what_waits(gitmem: Gitmem) -> None:
    vault = gitmem("status", "--json").document["vault"]
    gitmem.observe("Run tests")
    path = change_outside(gitmem, "more\n")
    (gitmem.repo / "promoted" / "plain.md").write_text("A plain note.\n")
    modified = [row["modified"] for row in gitmem("status", "--json").document["results"]]
    said = gitmem("status")
    assert said.out == (
        f"vault    global (global, {vault['id']})\n"
        f"folder   {gitmem.repo}\n"
        f"at       {gitmem.git('rev-parse', 'HEAD')[:12]} on main\n"
        "records  1 observation, 1 plain\n"
        "catalog  none yet; the next search makes it\n"
        "\n"
        "2 notes edited outside gitmem; `gitmem adopt` commits them; whose they are is a guess:\n"
        f"edited  {path}  {modified[0]}  someone with an editor or another program\n"
        f"new     {'promoted/plain.md':{len(path)}}  {modified[1]}  someone with an editor or another program\n"
    )
    assert [row["change"] for row in gitmem("status", "--json").document["results"]] == ["edited", "new"]


def test_check_exits_with_7_only_for_errors(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests", "--body", "[[nowhere]]", "--summary", "Two.")
    said = gitmem("check")
    assert (said.code, said.out.splitlines()[-1]) == (0, "1 note: 0 errors, 1 warning")
    (gitmem.repo / "promoted" / "broken.md").write_text("---\na: [\n---\n")
    said = gitmem("check")
    assert (said.code, said.out.splitlines()[-1]) == (7, "2 notes: 1 error, 1 warning")
    assert said.out.startswith("error: promoted/broken.md:")
    as_json = gitmem("check", "--json")
    assert (as_json.code, as_json.document["results"][0]["severity"]) == (7, "error")


def test_check_says_each_fault_once_and_where(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests", "--summary", "Two.")
    path = change_outside(gitmem, "The token is\nghp_abcdefghijklmnopqrstuvwxyzABCDEF0123\n")
    (gitmem.repo / path).write_text((gitmem.repo / path).read_text().replace("kind: fact", "kind: fact\nsource: a b"))
    lines = len((gitmem.repo / path).read_text().splitlines())
    (gitmem.repo / "promoted" / "misfit.md").write_text("---\ngitmem_id: 00000000000a\nkind: goal\n---\n")
    (gitmem.repo / "promoted" / "broken.md").write_text("---\na: 1\nb: [\n---\n")
    rows = gitmem("check", "--json").document["results"]
    assert [(row["severity"], row["code"], row["path"], row["line"]) for row in rows] == [
        ("error", "secret-found", path, lines),
        ("error", "yaml-syntax", "promoted/broken.md", 4),
        ("error", "kind-misfit", "promoted/misfit.md", None),
        ("warning", "property-does-not-fit", path, None),
    ]


def test_check_mends_the_views(gitmem: Gitmem) -> None:
    said = gitmem("check", "--repair-views", "--json").document
    assert (said["op"], said["changed"], said["commit"]) == ("repair", False, None)
    gitmem.observe("Run tests", "--summary", "Two.")
    index = gitmem.repo / "INDEX.md"
    text = index.read_text()
    index.write_text("by hand\n")
    gitmem.git("-c", "user.name=Sam", "-c", "user.email=sam@example.com", "commit", "-qam", "stale view")
    stale = gitmem("check", "--json")
    assert (stale.code, [row["code"] for row in stale.document["results"]]) == (7, ["view-differs"])
    mended = gitmem("check", "--repair-views", "--json").document
    assert (mended["changed"], mended["commit"]) == (True, gitmem.git("rev-parse", "HEAD"))
    assert gitmem.git("log", "-1", "--format=%s").startswith("repair: ")
    assert (index.read_text(), gitmem("check").code, gitmem.git("status", "--porcelain")) == (text, 0, "")


def test_import_of_a_folder_without_notes_says_so(gitmem: Gitmem) -> None:
    folder = Path(gitmem.environment.folder, "notes")
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "app.json").touch()
    said = gitmem("import", "notes")
    assert (said.code, said.out, said.err) == (1, "", "no Markdown notes in notes\n")
    for name in ("a.canvas", "b.base", "c.png"):
        (folder / name).touch()
    said = gitmem("import", "notes")
    assert said.err == "3 other files are not notes and stay where they are\nno Markdown notes in notes\n"
    said = gitmem("import", "notes", "--json")
    assert (said.code, said.document["changed"], said.document["other_files"]) == (1, False, 3)
    (folder / "a.md").write_text("One.\n")
    assert gitmem("import", "notes").err == "3 other files are not notes and stay where they are\n"
    assert gitmem.git("log", "--format=%s").splitlines() == ["import: 1 note from notes", "init: global vault global"]


def test_what_is_left_out_is_told_by_reason_and_bounded() -> None:
    taken = [Problem("path-taken", "it is taken", f"{number}.md") for number in range(7)]
    broken = [Problem("yaml-syntax", f"line {number}", f"b{number}.md") for number in range(2)]
    assert format_left_out([*taken, *broken]).splitlines() == [
        "warning: 7 left out, it is taken: 0.md, 1.md, 2.md, 3.md, 4.md and 2 more (all of them with --json)",
        "warning: 2 left out, yaml-syntax: b0.md (line 0), b1.md (line 1)",
    ]


def test_doctor_names_what_crashes_left(gitmem: Gitmem) -> None:
    home, git_dir = Path(gitmem.environment.home), gitmem.repo / ".git"
    left = [
        gitmem.repo / "observations" / ".gitmem-x1-0.tmp",
        git_dir / "index.x1",
        git_dir / "gitmem-lock-x1",
        home / "global" / ".gitmem-init-x1" / "repo",
        home / ".gitmem-init-x2" / "repo",
    ]
    for place in left:
        place.parent.mkdir(exist_ok=True)
        place.touch()
    rows = [row for row in gitmem("doctor", "--json").document["results"] if row["code"] == "leftovers"]
    assert sorted((row["path"], row["message"].rpartition(": ")[2], row["severity"]) for row in rows) == sorted(
        (str(folder), name, "warning")
        for folder, name in (
            (gitmem.repo, "observations/.gitmem-x1-0.tmp"),
            (git_dir, "index.x1"),
            (git_dir, "gitmem-lock-x1"),
            (home / "global", ".gitmem-init-x1"),
            (home, ".gitmem-init-x2"),
        )
    )
    assert {row["hint"] for row in rows} == {"A crash left them. If no gitmem command is at work, they may be removed."}
    assert gitmem("status").code == 0
    assert not (git_dir / "gitmem-lock-x1").exists()


def test_doctor_says_that_receipts_are_missing(gitmem: Gitmem) -> None:
    assert "receipts-missing" not in gitmem("doctor", "--json").out
    gitmem.observe("T")
    assert "receipts-missing" not in gitmem("doctor", "--json").out
    shutil.rmtree(Path(gitmem.environment.home, "global", "runtime", "receipts"))
    said = gitmem("doctor", "--json")
    assert (said.code, [row["code"] for row in said.document["results"]][-1]) == (0, "receipts-missing")


def test_doctor_counts_vaults(gitmem: Gitmem) -> None:
    assert "1 vault is registered\n" in gitmem("doctor").out
    gitmem("init", "other")
    assert "2 vaults are registered\n" in gitmem("doctor").out


def test_doctor_works_without_a_vault(bare: Gitmem) -> None:
    said = bare("doctor")
    assert said.code == 0
    assert "warning: there is no vault here and no global one\n" in said.out
    said = bare("--vault", "nowhere", "doctor", "--json")
    assert (said.code, said.json["results"][-1]["code"]) == (7, "no-such-vault")


def test_adopt_names_what_it_takes(gitmem: Gitmem, terminal: Terminal) -> None:
    gitmem.observe("Run tests")
    path = change_outside(gitmem, "more\n")
    (gitmem.repo / "promoted" / "plain.md").write_text("A plain note.\n")
    assert gitmem("adopt", "--json").document["error"]["code"] == "needs-human"
    said = terminal("adopt", str(gitmem.repo / path))
    assert (said.code, "plain.md" in said.out) == (0, False)
    assert gitmem.git("status", "--porcelain", "--untracked-files=all") == "?? promoted/plain.md"


def test_adopt_makes_a_committed_note_a_record_when_it_is_named(gitmem: Gitmem, terminal: Terminal) -> None:
    (gitmem.repo / "promoted" / "plain.md").write_text("A plain note.\n")
    gitmem.git("add", "promoted/plain.md")
    gitmem.git("-c", "user.name=Sam", "-c", "user.email=sam@example.com", "commit", "-qm", "by hand")
    assert "`gitmem adopt promoted/plain.md`" in gitmem("show", "promoted/plain.md").err
    assert gitmem("adopt").out == "adopt: nothing to do, no commit made\n"
    said = terminal("adopt", "promoted/plain.md")
    assert (said.code, "promoted/plain.md  plain" in said.out) == (0, True)
    assert gitmem("show", "promoted/plain.md").code == 0
    assert gitmem("check").code == 0


def test_import_says_what_comes_in_and_what_does_not(gitmem: Gitmem, tmp_path: Path) -> None:
    notes = tmp_path / "work" / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "a.md").write_text("One.\n")
    (notes / "deep" / "b.md").write_text("Two.\n")
    (notes / "c.md").write_text("---\nbroken: [\n---\n")
    dry = gitmem("import", "notes", "--dry-run")
    assert dry.code == 0
    assert dry.out == (
        "import: 2 notes would come in, 1 left out; nothing written\n"
        "observation  observations/a.md\n"
        "observation  observations/deep/b.md\n"
    )
    assert re.fullmatch(r"warning: 1 left out, .+: c\.md\n", dry.err)
    assert gitmem.git("log", "--format=%s") == "init: global vault global"
    document: dict[str, Any] = gitmem("import", "notes", "--dry-run", "--json").document
    assert (document["dry_run"], document["commit"], len(document["records"])) == (True, None, 2)
    document = gitmem("import", "notes", "--json").document
    assert [one["path"] for one in document["records"]] == ["observations/a.md", "observations/deep/b.md"]
    assert [one["path"] for one in document["left_out"]] == ["c.md"]
    again = gitmem("import", "notes")
    assert (again.code, again.out) == (0, "import: all 3 left out; nothing written\n")
    assert (
        "warning: 2 left out, the vault has a note of that name, or one that differs only in case: a.md, deep/b.md\n"
        in again.err
    )
    assert gitmem("import", "notes", "--state", "promoted", "--dry-run").code == 0
    assert gitmem("import", "nowhere", "--json").document["error"]["code"] == "no-such-folder"
    assert gitmem("import", "notes", "--state", "promoted", "--json").document["error"]["code"] == "needs-human"

"""One command line in, one result and one exit code out, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

if TYPE_CHECKING:
    from driving import Gitmem

from gitmem.hosts.cli.group import MAX_PURPOSE_CHARS, SECTIONS
from gitmem.hosts.cli.group import gitmem as group
from gitmem.hosts.environment import Environment

pytest_plugins = "hosts.driving"
VERBS = [verb for _section, verbs in SECTIONS for verb in verbs]


def start(args: Sequence[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GITMEM_HOME": str(folder / "home")} | variables
    command = [sys.executable, "-m", "gitmem", *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_version_and_help_are_light(tmp_path: Path) -> None:
    heavy = "pygit2|sqlite3|jinja2|ruamel|fastjsonschema|filelock|redact_secret|platformdirs"
    program = (
        "import sys\n"
        "from gitmem.hosts.cli.run import run\n"
        "code = run(sys.argv[1:])\n"
        f"sys.exit(code or ' '.join(set({heavy!r}.split('|')) & set(sys.modules)) or 0)"
    )
    for args in (["--version"], ["--help"], ["search", "--help"], ["completion", "bash"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *args],
            env={"GITMEM_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), args


def test_the_version_is_said(bare: Gitmem) -> None:
    assert bare("--version").out == "gitmem 0.1.0\n"
    assert bare("--json", "--version").out == "gitmem 0.1.0\n"
    assert "as plain text even with --json" in " ".join(bare("--help").out.split())


def test_help_lists_every_verb_by_section(bare: Gitmem) -> None:
    text = bare("--help").out
    assert [text.index(f"\n  {verb} ") for verb in VERBS] == sorted(text.index(f"\n  {verb} ") for verb in VERBS)
    assert [text.index(f"\n{section}:\n") for section, _verbs in SECTIONS]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_purpose_examples_and_says_what_it_writes(verb: str, bare: Gitmem) -> None:
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    purpose = command.get_short_help_str(1000)
    assert len(purpose) <= MAX_PURPOSE_CHARS
    text = bare(verb, "--help").out
    assert purpose in text
    assert f"\n  Examples:\n    {'eval' if verb == 'completion' else 'gitmem'}" in text
    assert any(word in text for word in ("Writes", "Commits", "Moves the record", "Copies every note", "are rewritten"))
    assert "--vault PATH|NAME" in text
    assert "--json" in text


def test_the_page_of_a_family_says_what_each_of_its_verbs_is_for(bare: Gitmem) -> None:
    families = [verb for verb in VERBS if isinstance(group.get_command(click.Context(group), verb), click.Group)]
    assert {"policy", "keys", "settings", "journal"} <= set(families)
    for verb in families:
        command = group.get_command(click.Context(group), verb)
        assert isinstance(command, click.Group)
        text = " ".join(bare(verb, "--help").out.split())
        for one in command.commands.values():
            assert f" {one.name} {one.get_short_help_str(1000)}" in text


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["obsrve"], "no such command: obsrve; did you mean observe?", "See `gitmem --help`."),
        (["qqqqq"], "no such command: qqqqq", "See `gitmem --help`."),
        (["observe"], "Missing argument 'TITLE'.", "See `gitmem observe --help`."),
        (["search", "x", "--limit", "101"], None, "See `gitmem search --help`."),
        (["search", "x", "--limit", "0"], None, "See `gitmem search --help`."),
        (["list", "--kind", "recipe"], None, "See `gitmem list --help`."),
        (["declare", "x"], None, "See `gitmem declare --help`."),
        (["list", "--bogus"], None, "See `gitmem list --help`."),
        (["show", "a", "--raw", "--json"], "--raw and --json exclude each other", None),
        (["observe", "a\udcff"], "Invalid value for 'TITLE': it is not valid UTF-8", "See `gitmem observe --help`."),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(
    args: list[str], message: str | None, hint: str | None, bare: Gitmem
) -> None:
    said = bare(*args, *([] if "--json" in args else ["--json"]))
    assert said.code == 2
    assert said.err == ""
    error = said.document["error"]
    assert error["code"] == "usage"
    assert message is None or error["message"] == message
    assert hint is None or error["hint"] == hint


def test_a_usage_error_for_people_has_a_hint(bare: Gitmem) -> None:
    said = bare("obsrve")
    assert (said.code, said.out) == (2, "")
    assert said.err == "error: no such command: obsrve; did you mean observe?\nhint: See `gitmem --help`.\n"


def test_without_a_command_the_help_is_shown(bare: Gitmem) -> None:
    said = bare()
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Usage: gitmem [OPTIONS] COMMAND [ARGS]...")
    said = bare("--json")
    assert (said.code, said.document["error"]["message"]) == (2, "Missing command.")


def test_both_options_stand_before_or_behind_the_verb(gitmem: Gitmem) -> None:
    path = str(gitmem.repo)
    before = gitmem("--json", "--vault", path, "status").document
    behind = gitmem("status", "--vault", path, "--json").document
    assert before == behind
    assert before["vault"]["path"] == path
    assert gitmem("--vault", "nowhere", "status", "--vault", path).code == 0


def test_an_option_behind_the_double_dash_is_a_word(gitmem: Gitmem) -> None:
    said = gitmem("--vault", "nowhere", "search", "--", "--json")
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("error: no vault is called 'nowhere'")


def test_without_a_vault_everything_says_so_and_makes_none(bare: Gitmem) -> None:
    for args in (["list"], ["search", "x"], ["observe", "x", "--evidence", "run:1"], ["status"], ["check"]):
        said = bare(*args, "--json")
        assert said.code == 6
        assert said.document["error"]["code"] == "no-vault"
    assert not Path(bare.environment.home).exists()


def test_the_unexpected_is_an_error_without_a_traceback(gitmem: Gitmem, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise ValueError("boom")

    monkeypatch.setattr("gitmem.service.memory.Memory.status", fail)
    said = gitmem("status", "--json")
    assert said.code == 1
    assert said.err == ""
    assert said.document["error"]["code"] == "internal"
    assert said.document["error"]["message"] == "something unexpected happened: ValueError: boom"
    assert "Traceback" in gitmem.at(debug=True)("status").err


@pytest.mark.parametrize("name", ["journal", "policy", "keys", "export", "catalog", "settings"])
def test_a_family_without_a_verb_shows_its_help_and_with_json_one_document(bare: Gitmem, name: str) -> None:
    shown = bare(name)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith(f"Usage: gitmem {name} [OPTIONS] COMMAND")
    for args in (("--json", name), (name, "--json")):
        said = bare(*args)
        assert (said.code, said.err) == (2, "")
        assert said.document == {
            "ok": False,
            "error": {"code": "usage", "message": "Missing command.", "hint": f"See `gitmem {name} --help`."},
        }


def test_what_the_system_refuses_is_unavailable(gitmem: Gitmem, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gitmem.service.memory.Memory.status", fail)
    said = gitmem("status", "--json")
    assert said.code == 6
    assert said.document["error"]["message"] == "the system refused: No space left on device"


def test_an_interrupt_ends_without_a_traceback(gitmem: Gitmem, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gitmem.service.memory.Memory.status", interrupt)
    said = gitmem("status", "--json")
    assert (said.code, said.out, said.err) == (130, "", "\n")


def test_a_bad_environment_is_an_error_in_both_forms(tmp_path: Path) -> None:
    plain = start(["list"], tmp_path, GITMEM_ACTOR="a\nb")
    assert (plain.returncode, plain.stdout) == (3, "")
    assert (
        plain.stderr
        == "error: GITMEM_ACTOR holds a character that can't stand in a name\nhint: Use letters and digits.\n"
    )
    as_json = start(["list", "--json"], tmp_path, GITMEM_ACTOR="a\nb")
    assert (as_json.returncode, as_json.stderr) == (3, "")
    assert '"code": "bad-environment"' in as_json.stdout


def test_a_reader_that_goes_away_ends_it_silently(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "GITMEM_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "gitmem", "completion", "bash"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, env=env, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
@pytest.mark.parametrize(
    "args",
    [["list"], ["list", "--json"], ["--help"], ["list", "--bogus", "--json"], ["completion", "bash"]],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_one_line_and_6(args: list[str], gitmem: Gitmem, tmp_path: Path) -> None:
    for number in range(3):
        gitmem.observe(f"T {number} {'long ' * 20}")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GITMEM_HOME": gitmem.environment.home}
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gitmem", *args]
        done = subprocess.run(command, env=env, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (6, "error: standard output can't be written: No space left on device\n")


def test_errors_that_nobody_can_read_still_have_their_code(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no full device")
    env = {"PATH": os.environ["PATH"], "GITMEM_HOME": str(tmp_path)}
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gitmem", "list"]
        assert subprocess.run(command, env=env, stdout=full, stderr=full, check=False).returncode == 6


def test_a_terminal_that_knows_no_unicode_still_gets_valid_output(gitmem: Gitmem, tmp_path: Path) -> None:
    title = "退款手续费"
    latin = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    gitmem.observe(title)
    assert "\\u9000\\u6b3e" in start(["list"], tmp_path, **latin).stdout
    assert '"title": "\\u9000\\u6b3e\\u624b\\u7eed\\u8d39"' in start(["list", "--json"], tmp_path, **latin).stdout
    assert f'"title": "{title}"' in start(["list", "--json"], tmp_path, PYTHONUTF8="1").stdout


def test_a_failpoint_kills_the_command_and_the_next_one_settles_it(gitmem: Gitmem, tmp_path: Path) -> None:
    killed = start(["observe", "T", "--evidence", "run:1"], tmp_path, GITMEM_FAILPOINT="prove")
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "")
    assert gitmem("status").code == 0
    assert gitmem.git("log", "--format=%s").splitlines() == ["observe: T", "init: global vault global"]
    assert gitmem.git("status", "--porcelain") == ""


def test_completion_completes_verbs_and_options(tmp_path: Path) -> None:
    asked = {"_GITMEM_COMPLETE": "bash_complete", "COMP_CWORD": "1", "COMP_WORDS": "gitmem re"}
    done = start([], tmp_path, **asked)
    assert done.stdout.split() == [f"plain,{verb}" for verb in VERBS if verb.startswith("re")]
    options = {"_GITMEM_COMPLETE": "bash_complete", "COMP_CWORD": "2", "COMP_WORDS": "gitmem search --l"}
    assert start([], tmp_path, **options).stdout.split() == ["plain,--limit"]


def complete(folder: Path, *words: str, shell: str = "bash") -> list[str]:
    asked = {
        "_GITMEM_COMPLETE": f"{shell}_complete",
        "COMP_CWORD": str(len(words)) if shell == "bash" else words[-1],
        "COMP_WORDS": " ".join(("gitmem", *words)),
    }
    return start([], folder, **asked).stdout.split("\n")[:-1]


def test_completion_offers_records_tags_and_vaults(gitmem: Gitmem, tmp_path: Path) -> None:
    one = gitmem.observe("Use *two* workers", "--tag", "tool/pytest", "--key", "workers")
    other = gitmem.observe("Other", "--tag", "tool/ruff")
    lines = complete(tmp_path, "show", "")
    assert sorted(lines) == sorted([f"plain,{one}  Use two workers", f"plain,{other}  Other"])
    assert complete(tmp_path, "promote", one) == [f"plain,{one}"]
    assert complete(tmp_path, "log", "work") == ["plain,workers"]
    assert complete(tmp_path, "list", "--tag", "tool/") == ["plain,tool/pytest", "plain,tool/ruff"]
    assert complete(tmp_path, "tags", "t") == ["plain,tool", "plain,tool/pytest", "plain,tool/ruff"]
    assert complete(tmp_path, "tags", "--with", "tool/r") == ["plain,tool/ruff"]
    assert complete(tmp_path, "diff", "") == complete(tmp_path, "undo", "")
    assert complete(tmp_path, "edit", "x", "--add-tag", "tool/r") == ["plain,tool/ruff"]
    assert complete(tmp_path, "--vault", "glo") == ["plain,global"]
    assert complete(tmp_path, "list", "--vault", "glo") == ["plain,global"]
    assert complete(tmp_path, "show", one, shell="fish")[0].startswith("plain")


def test_completion_without_a_vault_offers_nothing(tmp_path: Path) -> None:
    for words in (["show", ""], ["list", "--tag", ""], ["--vault", ""]):
        assert complete(tmp_path, *words) == [""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_gitmem(shell: str, bare: Gitmem) -> None:
    script = bare("completion", shell).out
    assert f"_GITMEM_COMPLETE={shell}_complete" in script
    document = bare("completion", shell, "--json").document
    assert document["results"] == [{"shell": shell, "script": script.removesuffix("\n")}]


def test_the_environment_is_not_read_where_one_is_given(bare: Gitmem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_ACTOR", "a\nb")
    assert isinstance(bare.environment, Environment)
    assert bare("--version").code == 0

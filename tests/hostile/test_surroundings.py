"""What surrounds a command: variables, streams, arguments, terminals that are no person's, folders that are gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile.ground import assert_told, bounded

from conftest import git as run_git

if TYPE_CHECKING:
    from hosts.driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"

_TIMEOUT_S = 60


def start(
    gitmem: Gitmem, *args: str | bytes, shell: str = '"$@"', **variables: str | None
) -> subprocess.CompletedProcess[bytes]:
    """Run gitmem as a process of its own, through a line of ``sh`` that says what its streams are."""
    env = {"PATH": os.environ["PATH"], "HOME": gitmem.environment.folder, "GITMEM_HOME": gitmem.environment.home}
    env |= {"PYTHONPATH": str(Path(__file__).parents[2])}
    changed = {name: value for name, value in (env | variables).items() if value is not None}
    return subprocess.run(
        ["/bin/sh", "-c", shell, "sh", sys.executable, "-m", "gitmem", *args],
        cwd=gitmem.environment.folder,
        env=changed,
        capture_output=True,
        check=False,
        timeout=_TIMEOUT_S,
        start_new_session=True,
    )


def test_variables_of_git_lead_nowhere(gitmem: Gitmem, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main", "other")
    run_git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "other")
    other = str(tmp_path / "other")
    before = sorted(str(path) for path in (tmp_path / "other").rglob("*"))
    done = start(
        gitmem,
        *("observe", "One", "--evidence", "run:1"),
        GIT_DIR=f"{other}/.git",
        GIT_WORK_TREE=other,
        GIT_INDEX_FILE=f"{other}/.git/index",
        GIT_OBJECT_DIRECTORY=f"{other}/.git/objects",
        GIT_ALTERNATE_OBJECT_DIRECTORIES=f"{other}/.git/objects",
        GIT_COMMON_DIR=f"{other}/.git",
        GIT_NAMESPACE="x",
        GIT_CEILING_DIRECTORIES="/",
        GIT_CONFIG_GLOBAL="/dev/zero",
        GIT_CONFIG_SYSTEM="/dev/zero",
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="core.worktree",
        GIT_CONFIG_VALUE_0=other,
        GIT_CONFIG_PARAMETERS="'core.worktree'='/'",
        GIT_AUTHOR_NAME="Forged",
        GIT_COMMITTER_EMAIL="forged@example.com",
        GIT_AUTHOR_DATE="1 +0000",
        GIT_REPLACE_REF_BASE="refs/heads",
        GIT_SHALLOW_FILE=f"{other}/x",
        GIT_TRACE=f"{tmp_path}/trace",
        GIT_TRACE2=f"{tmp_path}/trace",
        GIT_TEMPLATE_DIR=other,
        GIT_DEFAULT_HASH="sha256",
        GIT_TERMINAL_PROMPT="1",
        GIT_SSL_NO_VERIFY="1",
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(str(path) for path in (tmp_path / "other").rglob("*")) == before
    assert not (tmp_path / "trace").exists()
    assert gitmem.git("log", "-1", "--format=%an <%ae> %s") == "agent <agent@agents.gitmem.invalid> observe: One"


@pytest.mark.parametrize(
    "variables",
    [
        {
            "TERM": "\x1b[2J",
            "COLUMNS": "-1",
            "LINES": "x",
            "LESS": "!touch x",
            "LESSOPEN": "|touch x",
            "PAGER": "false",
        },
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii:strict"},
        {"LC_ALL": "xx_XX.nonsense", "LANGUAGE": "\xff", "TZ": "../../etc/passwd"},
        {"PYTHONOPTIMIZE": "2", "PYTHONHASHSEED": "0", "PYTHONSTARTUP": "/dev/zero", "PYTHONDONTWRITEBYTECODE": "1"},
        {"HOME": None, "LOGNAME": None, "USER": None, "XDG_CONFIG_HOME": "relative", "XDG_DATA_HOME": "/dev/null"},
        {"HOME": "/nonexistent/of/nobody", "TMPDIR": "/nonexistent", "LOGNAME": "\x1b[2J<x>"},
        {"TMPDIR": "/dev/null", "TEMP": "", "HOME": "/dev/null"},
        {"EDITOR": "touch x", "VISUAL": "touch x", "BROWSER": "touch x", "SSH_ASKPASS": "/bin/true", "DISPLAY": ":0"},
    ],
    ids=" ".join,
)
def test_odd_variables_change_nothing(gitmem: Gitmem, variables: dict[str, str | None]) -> None:
    done = start(gitmem, "--json", "observe", "Größe läuft 日本", "--evidence", "run:1", **variables)
    assert done.stderr == b""
    assert done.returncode == 0
    assert json.loads(done.stdout)["changed"] is True
    assert gitmem.git("log", "-1", "--format=%s") == "observe: Größe läuft 日本"
    assert not Path(gitmem.environment.folder, "x").exists()


def test_bytes_that_the_locale_cannot_say_are_a_usage_error(gitmem: Gitmem) -> None:
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = start(gitmem, "observe", "Größe", "--evidence", "run:1", **variables)
    assert (done.returncode, b"it is not valid UTF-8" in done.stderr, done.stderr.count(b"\n")) == (2, True, 2)
    assert start(gitmem, "observe", "Size", "--evidence", "run:1", **variables).returncode == 0


def test_a_home_that_cannot_be_had_is_one_line_and_6(gitmem: Gitmem) -> None:
    for home in ("/dev/null/x", "/proc/nobody"):
        done = start(gitmem, "init", GITMEM_HOME=home)
        assert (done.returncode, done.stderr.count(b"\n"), b"Traceback" in done.stderr) == (6, 2, False), done.stderr


STREAMS = [
    ('"$@" <&-', ["observe", "T", "--evidence", "run:1"], 0),
    ('"$@" <&-', ["declare", "T", "--kind", "goal"], 5),
    ('"$@" <&-', ["observe", "T", "--evidence", "run:1", "--body-file", "-"], 0),
    ('"$@" 2>&-', ["list"], 1),
    ('"$@" 2>&-', ["no-such-verb"], 2),
    ('"$@" >&-', ["list", "--json"], 6),
    ('"$@" >&-', ["--help"], 6),
    ('"$@" >&-', ["observe", "T", "--evidence", "run:1"], 6),
    ('"$@" <&- >&- 2>&-', ["observe", "T", "--evidence", "run:1"], 6),
    ('"$@" <&- >&- 2>&-', ["search", "x"], 1),
    ('"$@" >/dev/full', ["list", "--json"], 6),
    ('"$@" 2>/dev/full', ["no-such-verb"], 2),
    ('{ "$@"; echo "code $?" >&2; } | head -c 1', ["--help"], 0),
    ('"$@" </dev/null', ["declare", "T", "--kind", "goal"], 5),
    ('yes YES | "$@"', ["declare", "T", "--kind", "goal"], 5),
    ('yes YES | setsid "$@"', ["--human", "observe", "T", "--evidence", "run:1"], 5),
]


@pytest.mark.parametrize(("shell", "args", "code"), STREAMS, ids=str)
def test_streams_that_are_closed_full_or_nobodys(gitmem: Gitmem, shell: str, args: list[str], code: int) -> None:
    before = gitmem.git("rev-parse", "HEAD")
    done = start(gitmem, *args, shell=shell)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert gitmem.git("fsck", "--strict", "--no-dangling") == ""
    if args[0] in ("declare", "--human"):
        assert gitmem.git("rev-parse", "HEAD") == before


def test_nothing_lands_in_a_file_that_took_a_closed_streams_number(gitmem: Gitmem) -> None:
    """A file opened as descriptor 2 would get what is meant for standard error."""
    for args in (["observe", "T", "--evidence", "run:1"], ["observe", "", "--evidence", "x"], ["list"], ["doctor"]):
        start(gitmem, *args, shell='"$@" <&- >&- 2>&-', GITMEM_DEBUG="1")
    assert gitmem.git("fsck", "--strict", "--no-dangling") == ""
    assert gitmem.git("status", "--porcelain") == ""
    assert gitmem("check").code == 0
    assert [row["title"] for row in gitmem("list", "--json").document["results"]] == ["T"]


@pytest.mark.parametrize(
    "args",
    [
        ["observe", "a\udcff", "--evidence", "run:1"],
        ["observe", "a\0b", "--evidence", "run:1"],
        ["observe", "T", "--evidence", "run:\udc80"],
        ["observe", "T" * (1 << 20), "--evidence", "run:1"],
        ["observe", "T", "--evidence", "run:1", "--tag", "a\0b"],
        ["observe", "T", "--evidence", "run:1", "--key", "\ud800"],
        ["observe", "T", "--evidence", "run:1", "--op-id", "\n\0"],
        ["observe", "T", "--evidence", "run:1", "--summary", "x" * (1 << 20)],
        ["edit", "one", "--set", "a=\0"],
        ["edit", "one", "--set", "\udcff=b"],
        ["retire", "one", "--reason", "\udcff"],
        ["retire", "one", "--reason", "a\0b"],
        ["show", "\0"],
        ["show", "\udcff"],
        ["show", "x" * (1 << 20)],
        ["links", "../" * 5000],
        ["log", "\0"],
        ["search", "\0\udcff"],
        ["search", "x" * (1 << 20)],
        ["list", "--tag", "\udcff"],
        ["--vault", "\0", "list"],
        ["--vault", "\udcff", "list"],
        ["--vault", "x" * (1 << 20), "list"],
        ["init", "a\0b"],
        ["init", "x" * (1 << 20)],
        ["init", "--name", "a\0b"],
        ["init", "--workspace", "--name", "\udcff"],
        ["import", "\0"],
        ["import", "x" * (1 << 20)],
        ["adopt", "\0"],
        ["adopt", "../../etc/passwd"],
        ["tour", "\0"],
        ["tour", "x" * 5000],
        ["completion", "\0"],
        ["\0"],
        ["\udcff"],
        ["--\0"],
        ["observe", "T", "--body-file", "\0", "--evidence", "run:1"],
        ["observe", "T", "--body-file", "x" * 5000, "--evidence", "run:1"],
    ],
    ids=lambda args: " ".join(args)[:60].encode("unicode_escape").decode(),
)
def test_arguments_that_are_no_text_or_too_much(gitmem: Gitmem, args: list[str]) -> None:
    gitmem.observe("One", "--key", "one")
    before = gitmem.git("rev-parse", "HEAD")
    with bounded():
        said = gitmem(*args)
        documented = gitmem(*args, "--json")
    assert_told(said)
    assert said.code in (1, 2, 3, 5, 6), said
    assert len(said.err) < 2000
    error = documented.document.get("error", {})
    assert error.get("code") not in ("internal", "system-error"), error
    assert gitmem.git("rev-parse", "HEAD") == before


def test_a_body_that_never_ends_or_is_no_file_is_refused(gitmem: Gitmem, tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(1 << 40)
    for name in ("/dev/zero", str(tmp_path / "huge"), str(tmp_path)):
        with bounded():
            said = gitmem("observe", "T", "--evidence", "run:1", "--body-file", name)
        assert_told(said)
        assert said.code != 0, name


def test_a_working_folder_that_is_gone_is_one_line_and_6(gitmem: Gitmem, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    for args in (["list"], ["observe", "T", "--evidence", "run:1"], ["doctor"], ["init"]):
        done = start(gitmem, *args, shell=f'mkdir {gone}; cd {gone}; rmdir {gone}; exec "$@"')
        assert (done.returncode, done.stderr.count(b"\n")) == (6, 2), done.stderr
        assert b"the working folder is gone" in done.stderr


# ---- a person is shown, never claimed


def test_the_word_yes_and_an_earlier_code_are_no_code(gitmem: Gitmem, terminal: Terminal) -> None:
    before = gitmem.git("rev-parse", "HEAD")
    codes: list[str] = []

    def remember(code: str) -> str:
        codes.append(code)
        return "YES\n"

    assert terminal("declare", "T", "--kind", "goal", answer=remember).code == 5
    for answer in (codes[0], f"{codes[0]}\n{codes[0]}", " YES "):
        said = terminal("declare", "T", "--kind", "goal", answer=lambda _code, answer=answer: f"{answer}\n")
        assert (said.code, "was not typed" in said.out) == (5, True)
    assert gitmem.git("rev-parse", "HEAD") == before


def test_variables_make_nobody_a_person(gitmem: Gitmem, terminal: Terminal) -> None:
    before = gitmem.git("rev-parse", "HEAD")
    answers = {"SSH_ASKPASS": "/bin/true", "SSH_ASKPASS_REQUIRE": "force", "GIT_ASKPASS": "/bin/true", "CI": "true"}
    claims = {"GITMEM_ACTOR": "Sam Person", "GITMEM_HOST": "human", "GITMEM_SURFACE": "human", "GITMEM_HUMAN": "1"}
    for variables in (answers, claims, {"DEBIAN_FRONTEND": "noninteractive", "FORCE_COLOR": "1", "SUDO_USER": "sam"}):
        done = start(gitmem, "declare", "T", "--kind", "boundary", **variables)
        assert (done.returncode, b"only a person can declare" in done.stderr) == (5, True)
        said = terminal("declare", "T", "--kind", "goal", answer=lambda _code: "\n", **variables)
        assert said.code == 5
    assert gitmem.git("rev-parse", "HEAD") == before


def test_doctor_says_what_a_typed_code_is_worth(gitmem: Gitmem) -> None:
    """A process of the same user can open a terminal of its own and read the code there. That is said."""
    rows = gitmem("doctor", "--json").document["results"]
    said = next(row["message"] for row in rows if row["code"] == "authority")
    assert said == (
        "level 1 of 9: a person is shown by a code typed at a terminal; this protects against models that use the "
        "tools, not against a process of your own user"
    )


def test_the_editor_of_the_surroundings_runs_only_when_asked_for(gitmem: Gitmem, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text(f"#!/bin/sh\ntouch {tmp_path}/fired\n")
    canary.chmod(0o755)
    at = gitmem.at(editor=str(canary))
    at.observe("One", "--key", "one")
    assert at("edit", "one", "--title", "Won").code == 0
    assert not (tmp_path / "fired").exists()
    at("edit", "one", "--editor")
    assert (tmp_path / "fired").exists()
    assert replace(at.environment).editor == str(canary)

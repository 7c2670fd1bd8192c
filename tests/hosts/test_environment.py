"""The surroundings are read once, checked, and made absolute."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.errors import InputError, UnavailableError
from gitmem.hosts.environment import Environment, HostFolders, find_host_folders, read_environment


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOGNAME", "sam")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_with_nothing_said_the_platform_decides(surroundings: Path) -> None:
    found = read_environment()
    assert found == Environment(
        home=found.home,
        folder=str(surroundings),
        login="sam",
        identity_files=(str(surroundings / ".gitconfig"), str(surroundings / ".config" / "git" / "config")),
        host_folders=find_host_folders(),
    )
    assert Path(found.home).name == "gitmem"
    assert Path(found.home).is_relative_to(surroundings)


def test_everything_can_be_said(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "GITMEM_HOME": "memory",
        "GITMEM_ACTOR": "claude",
        "GITMEM_HOST": "claude-code",
        "GITMEM_SESSION": "s1",
        "GITMEM_FAILPOINT": "commit:2",
        "GITMEM_DEBUG": "1",
        "VISUAL": "code --wait",
        "EDITOR": "ed",
        "NO_COLOR": "1",
        "XDG_CONFIG_HOME": "/etc/xdg",
        "_GITMEM_COMPLETE": "bash_source",
    }.items():
        monkeypatch.setenv(name, value)
    assert read_environment() == Environment(
        home=str(surroundings / "memory"),
        folder=str(surroundings),
        actor="claude",
        host="claude-code",
        session="s1",
        login="sam",
        identity_files=(str(surroundings / ".gitconfig"), "/etc/xdg/git/config"),
        failpoint="commit:2",
        editor="code --wait",
        color=False,
        debug=True,
        completion="bash_source",
        home_is_named=True,
        host_folders=find_host_folders(),
    )


def test_a_tilde_in_the_home_is_the_persons_folder(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_HOME", "~/memory")
    assert read_environment().home == str(surroundings / "memory")


@pytest.mark.parametrize("value", ["a\nGitmem-Rule: forged", "a <b@c>", "a\x1b[2J", " a", "a\u202eb", "x" * 129])
@pytest.mark.parametrize("variable", ["GITMEM_ACTOR", "GITMEM_HOST", "GITMEM_SESSION"])
def test_a_name_that_would_forge_a_commit_is_refused(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InputError, match=variable) as caught:
        read_environment()
    assert caught.value.code == "bad-environment"


def test_a_working_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UnavailableError, match="the working folder is gone"):
        read_environment()


@pytest.mark.parametrize(("setting", "found"), [("", False), ("file", False), ("memory", True)])
def test_where_the_catalog_lies_is_a_setting(setting: str, found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_CATALOG", setting)
    assert read_environment().memory_catalog is found


@pytest.mark.parametrize(("setting", "found"), [("", False), ("0", False), ("No", False), ("1", True), ("yes", True)])
def test_a_switch_is_on_unless_it_says_that_it_is_off(
    setting: str, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_STRICT", setting)
    monkeypatch.setenv("GITMEM_DEBUG", setting)
    read = read_environment()
    assert (read.strict, read.debug) == (found, found)


def test_a_terminal_that_can_do_nothing_gets_no_colours_and_no_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    read = read_environment()
    assert (read.color, read.pager) == (False, False)


def test_a_setting_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_CATALOG", "disk")
    with pytest.raises(InputError) as caught:
        read_environment()
    assert caught.value.code == "bad-environment"


def test_hosts_keep_what_is_the_persons_in_their_own_folders(surroundings: Path) -> None:
    assert find_host_folders() == HostFolders(
        user=str(surroundings),
        claude=str(surroundings / ".claude"),
        claude_state=str(surroundings),
        codex=str(surroundings / ".codex"),
        gemini=str(surroundings / ".gemini"),
        cursor=str(surroundings / ".cursor"),
        opencode=str(surroundings / ".config/opencode"),
        dsh=str(surroundings / ".dsh"),
        agents=str(surroundings / ".agents"),
    )


def test_hosts_own_variables_say_where(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "DSH_HOME"):
        monkeypatch.setenv(name, f"/elsewhere/{name.lower()}")
    found = find_host_folders()
    assert found == HostFolders(
        user=str(surroundings),
        claude="/elsewhere/claude_config_dir",
        claude_state="/elsewhere/claude_config_dir",
        codex="/elsewhere/codex_home",
        gemini="/elsewhere/gemini_cli_home/.gemini",
        cursor=str(surroundings / ".cursor"),
        opencode="/elsewhere/xdg_config_home/opencode",
        dsh="/elsewhere/dsh_home",
        agents=str(surroundings / ".agents"),
    )

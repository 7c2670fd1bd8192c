"""gitmem starts no program, opens no socket and writes nowhere but in its places, whatever a repository or the
surroundings ask for. The person's own editor, when it is asked for, is the one exception."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile.ground import Place, assert_told, bounded, put

from conftest import git as run_git

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch",
    "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg",
    "proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate", "update",
)  # fmt: skip
# Each would have Git start the canary, some day.
SETTINGS = {
    "hooks": "",
    "core.hooksPath": "[core]\n\thooksPath = {folder}/hooks\n",
    "core.fsmonitor": "[core]\n\tfsmonitor = {canary}\n",
    "core.sshCommand": "[core]\n\tsshCommand = {canary}\n",
    "core.gitProxy": "[core]\n\tgitProxy = {canary}\n",
    "core.editor": "[core]\n\teditor = {canary}\n",
    "core.pager": "[core]\n\tpager = {canary}\n",
    "core.askPass": "[core]\n\taskPass = {canary}\n",
    "core.alternateRefsCommand": "[core]\n\talternateRefsCommand = {canary}\n",
    "pager.log": "[pager]\n\tlog = {canary}\n\tshow = {canary}\n\tstatus = {canary}\n",
    "alias": "[alias]\n\tlog = !{canary}\n\tst = !{canary}\n\tstatus = !{canary}\n",
    "credential.helper": "[credential]\n\thelper = !{canary}\n",
    "credential of a host": '[credential "https://example.com"]\n\thelper = {canary}\n',
    "gpg.program": "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {canary}\n",
    "gpg.ssh.program": '[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = {canary}\n',
    "gpg.ssh.defaultKeyCommand": '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tdefaultKeyCommand = {canary}\n',
    "diff.external": "[diff]\n\texternal = {canary}\n",
    "diff.x.command": '[diff "x"]\n\tcommand = {canary}\n',
    "diff.x.textconv": '[diff "x"]\n\ttextconv = {canary}\n\tcachetextconv = true\n',
    "merge.x.driver": '[merge "x"]\n\tdriver = {canary}\n[merge]\n\ttool = x\n[mergetool "x"]\n\tcmd = {canary}\n',
    "sequence.editor": "[sequence]\n\teditor = {canary}\n",
    "filter.x.clean": '[filter "x"]\n\tclean = {canary}\n\tsmudge = {canary}\n\trequired = true\n',
    "filter.x.process": '[filter "x"]\n\tprocess = {canary}\n',
    "remote helper": '[remote "origin"]\n\turl = ext::{canary}\n\tfetch = +refs/*:refs/*\n\tvcs = {canary}\n',
    "remote.x.uploadpack": '[remote "origin"]\n\turl = /x\n\tuploadpack = {canary}\n\treceivepack = {canary}\n',
    "uploadpack.packObjectsHook": "[uploadpack]\n\tpackObjectsHook = {canary}\n",
    "submodule.x.update": '[submodule "x"]\n\tupdate = !{canary}\n\turl = /x\n\tactive = true\n',
    "gc and maintenance": "[gc]\n\tauto = 1\n\trecentObjectsHook = {canary}\n[maintenance]\n\tauto = true\n",
    "interactive.diffFilter": "[interactive]\n\tdiffFilter = {canary}\n",
    "browser and man": '[browser "x"]\n\tcmd = {canary}\n[man "x"]\n\tcmd = {canary}\n[web]\n\tbrowser = x\n',
    "include": "[include]\n\tpath = {folder}/more\n",
}
ENVIRONMENT = (
    "PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH",
    "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "LESSOPEN",
    "LESSCLOSE", "BROWSER", "SHELL",
)  # fmt: skip


class Canary:
    """A program that leaves a mark when it is started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = folder / "fired"
        self.program = folder / "canary"
        put(self.program, f'#!/bin/sh\necho "$0 $*" >> {self.mark}\ncat\n')
        self.program.chmod(0o755)

    def lay(self, place: Place, setting: str) -> None:
        """Have the repository name the program in ``setting``, in every hook and in its attributes."""
        for hooks in (place.git / "hooks", self.folder / "hooks"):
            for name in HOOKS:
                put(hooks / name, self.program.read_bytes())
                (hooks / name).chmod(0o755)
        put(self.folder / "more", f"[core]\n\tfsmonitor = {self.program}\n")
        with open(place.git / "config", "a") as file:
            file.write(SETTINGS[setting].format(canary=self.program, folder=self.folder))
        attributes = "* filter=x diff=x merge=x ident text eol=crlf\n"
        put(place.git / "info/attributes", attributes)
        put(place.repo / "observations/.gitattributes", attributes)

    @property
    def fired(self) -> bool:
        return self.mark.exists()

    def environment(self) -> dict[str, str]:
        return dict.fromkeys(ENVIRONMENT, str(self.program)) | {"GIT_CONFIG_GLOBAL": str(self.folder / "more")}


@pytest.fixture
def canary(tmp_path: Path) -> Canary:
    return Canary(tmp_path / "canary")


@pytest.fixture
def place(gitmem: Gitmem, tmp_path: Path) -> Place:
    gitmem.observe("One", "--key", "one")
    return Place(Path(gitmem.environment.home), tmp_path / "outside")


VERBS = (
    ["list"], ["search", "One"], ["show", "one"], ["log"], ["status"], ["check"], ["doctor"],
    ["observe", "Two", "--evidence", "run:1"], ["edit", "one", "--body", "New."], ["retire", "one", "--reason", "old"],
    ["check", "--repair-views"],
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_inv_no_program_is_started_by_a_setting_of_a_repository(
    gitmem: Gitmem, place: Place, canary: Canary, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary.lay(place, setting)
    for name, value in canary.environment().items():
        monkeypatch.setenv(name, value)
    (place.repo / "observations" / "by-hand.md").write_text("By hand.\n")
    with bounded():
        for args in VERBS:
            assert_told(gitmem(*args))
    assert not canary.fired


def test_the_canary_fires_for_git_itself(place: Place, canary: Canary) -> None:
    """The control: what the tests above count is a program that Git does start."""
    for setting in ("core.fsmonitor", "filter.x.clean", "diff.x.textconv", "alias"):
        canary.lay(place, setting)
    for args in (["status"], ["commit", "--allow-empty", "-m", "x"], ["add", "-A"], ["st"]):
        canary.mark.unlink(missing_ok=True)
        run_git(place.repo, *args, check=False)
        assert canary.fired, args


SYSTEM_CALLS = (
    "execve,execveat,fork,vfork,clone,clone3,socket,socketpair,connect,bind,sendto,sendmsg,open,openat,openat2,creat,"
    "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmodat,truncate,mknodat"
)
_STARTS_OR_TALKS = re.compile(
    r"\b(execve|execveat|fork|vfork|clone|clone3|socket|socketpair|connect|bind|sendto|sendmsg)\("
)
_OPENS = re.compile(
    r"\bopen(?:at2?)?\((?:\w+<(?P<folder>[^>]*)>, )?\"(?P<name>[^\"]*)\", [^)]*O_(?:WRONLY|RDWR|CREAT|TRUNC)"
)
_CHANGES = re.compile(
    r"\b(?:rename|unlink|mkdir|rmdir|link|symlink|chmod|fchmodat|truncate|mknodat)\w*\((?P<rest>.*)\)\s+= 0"
)
_NAMED = re.compile(r"(?:\w+<(?P<folder>[^>]*)>, )?\"(?P<name>[^\"]*)\"")
_IN_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
_DRIVER = """
import json, sys
from gitmem.hosts.cli.run import run
for args in json.loads(sys.argv[1]):
    code = run(args)
    print(f"RAN {args[0]} {code}", flush=True)
"""
_SILENCE_S = 60
PROMPT = re.compile(rb"Type ([0-9a-z]{4}) to confirm: $")


def trace(place: Place, commands: list[list[str]], environment: dict[str, str], log: Path) -> tuple[str, list[str]]:
    """Run the commands in one process in a terminal, where a person confirms; return what was shown and the calls."""
    main, side = os.openpty()
    command = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", f"trace={SYSTEM_CALLS}", "-o", str(log)]
    process = subprocess.Popen(
        [sys.executable, "-c", _IN_A_TERMINAL, *command, sys.executable, "-B", "-c", _DRIVER, json.dumps(commands)],
        stdin=side,
        stdout=side,
        stderr=side,
        cwd=place.home.parent / "work",
        env={
            "PATH": os.environ["PATH"],
            "GITMEM_HOME": str(place.home),
            "HOME": str(place.home.parent),
            "LOGNAME": "sam",
        }
        | {"PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(place.home.parent / "temp"), "TERM": "xterm"}
        | environment,
        start_new_session=True,
    )
    os.close(side)
    seen = b""
    asked_at = 0
    try:
        while chunk := _read_some(main):
            seen += chunk
            asked = PROMPT.search(seen)
            if asked is not None and asked.start() > asked_at:
                asked_at = asked.start()
                os.write(main, asked[1] + b"\n")
        assert process.wait(60) == 0, seen.decode()
    finally:
        process.kill()
        os.close(main)
    return seen.decode().replace("\r\n", "\n"), log.read_text(errors="replace").splitlines()


def _read_some(main: int) -> bytes:
    assert select.select([main], [], [], _SILENCE_S)[0], f"the command said nothing for {_SILENCE_S} s"
    try:
        return os.read(main, 65536)
    except OSError:  # the other side is closed
        return b""


def written_paths(calls: list[str]) -> set[str]:
    """Return what was opened for writing or changed, absolute."""
    found = set()
    for call in calls:
        opened = _OPENS.search(call)
        changed = _CHANGES.search(call)
        names = [opened] if opened else list(_NAMED.finditer(changed["rest"])) if changed else []
        names = names[-1:] if "symlink" in call else names  # what a link says is not written
        found.update(os.path.normpath(os.path.join(one["folder"] or "/", one["name"])) for one in names)
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_command_starts_a_program_or_talks_or_writes_elsewhere(
    gitmem: Gitmem, place: Place, canary: Canary, tmp_path: Path
) -> None:
    for setting in SETTINGS:
        if not setting.startswith(("filter", "include")):
            canary.lay(place, setting)
    (tmp_path / "temp").mkdir()
    put(tmp_path / "notes/a.md", "A note.\n")
    put(place.repo / "observations/by-hand.md", "By hand.\n")
    commands = [
        ["init"], ["init", "--workspace"], ["observe", "Two", "--evidence", "run:1", "--key", "two"],
        ["declare", "Never write to production", "--kind", "boundary"], ["edit", "two", "--body", "New."],
        ["--vault", "global", "promote", "one"],
        ["--vault", "global", "edit", "one", "--title", "Won"],
        ["--vault", "global", "retire", "one", "--reason", "old"], ["--vault", "global", "restore", "one"],
        ["--vault", "global", "adopt"], ["import", str(tmp_path / "notes")],
        ["show", "two"], ["list"], ["links", "two"],
        ["log"], ["log", "two"], ["search", "Two"], ["status"], ["check"], ["check", "--repair-views"], ["doctor"],
        ["tour", str(tmp_path / "tour")], ["completion", "bash"], ["--help"], ["--version"], ["no-such-verb"],
    ]  # fmt: skip
    shown, calls = trace(place, commands, canary.environment(), tmp_path / "calls")
    ran = re.findall(r"^RAN (\S+) (\d+)$", shown, re.MULTILINE)
    assert [code for _verb, code in ran] == ["0"] * 25 + ["2"], shown
    assert not canary.fired
    started = [call for call in calls if _STARTS_OR_TALKS.search(call)]
    assert len(started) == 1, started
    assert f'execve("{sys.executable}"' in started[0]
    allowed = (*(str(tmp_path / name) for name in ("home", "tour", "temp")), "/dev/tty", "/dev/null")
    elsewhere = {path for path in written_paths(calls) if not path.startswith(allowed)}
    assert elsewhere == set()
    assert any(path.startswith(str(place.repo)) for path in written_paths(calls))


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_editor_is_started_when_it_is_asked_for(place: Place, canary: Canary, tmp_path: Path) -> None:
    """The control of the trace: it does see a program that is started."""
    (tmp_path / "temp").mkdir()
    editor = tmp_path / "editor"
    put(editor, '#!/bin/sh\necho Typed. > "$1"\n')
    editor.chmod(0o755)
    commands = [["observe", "Three", "--evidence", "run:1", "--editor"]]
    environment = canary.environment() | {"VISUAL": str(editor)}
    shown, calls = trace(place, commands, environment, tmp_path / "calls")
    assert "RAN observe 0" in shown
    assert [call for call in calls if f'execve("{editor}"' in call]
    assert not canary.fired

"""What a person's Git settings and a process's variables say is theirs: gitmem's commits are the same bytes under any.

No hook, filter, signer, pager or monitor runs, nothing is signed, and the person's own Git finds the vault clean.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import git

STORY = """
import datetime, random, subprocess, sys
from pathlib import Path

import gitmem.clock
from gitmem.model.authority import Actor, Surface
from gitmem.model import ids
from gitmem.model.record import Draft
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault, open_memory

chance = random.Random(1)
ids.random_bytes = chance.randbytes
then = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)
gitmem.clock.SystemClock.now = lambda self: then
person = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
folder = Path(sys.argv[1])
entry, _ = make_vault(str(folder / "home"), NewVault(Scope.WORKSPACE, path=str(folder / "vault")), person)
for setting in sys.argv[2:]:
    with (folder / "vault/.git/config").open("a") as config:
        config.write(setting + "\\n")
with open_memory(str(folder / "home"), str(folder), str(folder / "vault")) as memory:
    one = memory.observe(Draft(title="One", body="A text\\r\\nwith two ends\\nof lines."), person).records[0]
    memory.edit(one.id, RecordEdit(summary="New."), person)
    memory.promote(one.id, person)
    (folder / "vault/observations/mine.md").write_bytes(b"Mine,\\r\\nfrom another system.\\n")
    two = memory.adopt([], person).records[0]
    memory.retire(two.id, "outdated", person)
    assert not memory.check().rows
    print(memory.vault.head())
"""
CANARY = '#!/bin/sh\necho "$0" "$@" >> "{folder}/canary"\n'
STAGING = CANARY + "echo swept > swept.txt\ngit add swept.txt\n"
HOOKS = (
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-rewrite",
    "pre-commit",
    "pre-auto-gc",
    "prepare-commit-msg",
    "reference-transaction",
    "update",
)
SETTINGS: dict[str, str] = {
    "none at all": "",
    "signing": "[commit]\ngpgSign = true\n[tag]\ngpgSign = true\n[gpg]\nprogram = {canary}\n[user]\nsigningKey = me\n",
    "signing with SSH": '[commit]\ngpgSign = true\n[gpg]\nformat = ssh\n[gpg "ssh"]\nprogram = {canary}\n',
    "hooks": "[core]\nhooksPath = {hooks}\n",
    "autocrlf": "[core]\nautocrlf = true\nsafecrlf = true\neol = crlf\n",
    "autocrlf input": "[core]\nautocrlf = input\nsafecrlf = true\n",
    "file mode and case": "[core]\nfileMode = false\nignoreCase = true\nprecomposeUnicode = true\n",
    "a name for Git alone": "[user]\nname = Somebody Else\nemail = else@example.com\nuseConfigOnly = true\n",
    "another first branch": "[init]\ndefaultBranch = trunk\n",
    "a template": "[init]\ntemplateDir = {template}\n",
    "a monitor": "[core]\nfsmonitor = {canary}\nuntrackedCache = true\n",
    "a built-in monitor": "[core]\nfsmonitor = true\n",
    "programs": "[core]\npager = {canary}\neditor = {canary}\nsshCommand = {canary}\naskPass = {canary}\n"
    "[diff]\nexternal = {canary}\n[credential]\nhelper = {canary}\n",
    "filters": '[filter "x"]\nclean = {canary}\nsmudge = {canary}\nrequired = true\n'
    "[core]\nattributesFile = {attributes}\n",
    "ignored": "[core]\nexcludesFile = {ignore}\n",
    "another index": "[index]\nversion = 4\n[feature]\nmanyFiles = true\n",
    "a template for messages": "[commit]\ntemplate = {attributes}\ncleanup = verbatim\n"
    "[i18n]\ncommitEncoding = latin1\n",
    "broken": "[core\nthis is no setting\n",
}
LOCAL = (
    "signing",
    "hooks",
    "autocrlf",
    "autocrlf input",
    "file mode and case",
    "a name for Git alone",
    "a monitor",
    "programs",
    "another index",
    "a template for messages",
)
"""What may stand in the repository's own settings; what of the others is refused there is tested in tests/git."""


def _make_home(folder: Path, setting: str) -> str:
    """Fill a person's home folder; return the settings with the names of what lies there."""
    template = folder / "template"
    for place in (folder / "hooks", template / "hooks"):
        place.mkdir(parents=True)
        for name in HOOKS:
            (place / name).write_text((STAGING if name == "pre-commit" else CANARY).format(folder=folder))
            (place / name).chmod(0o755)
    (folder / "program").write_text(CANARY.format(folder=folder))
    (folder / "program").chmod(0o755)
    (folder / "attributes").write_text("*.md text eol=crlf filter=x\n*.json text eol=crlf\n")
    (folder / "ignore").write_text("*.md\n*.json\n")
    names = {"canary": folder / "program", "hooks": folder / "hooks", "template": template}
    return setting.format(**names, attributes=folder / "attributes", ignore=folder / "ignore")


def _tell(folder: Path, *settings: str, **variables: str) -> str:
    """Run the story with a home of its own; return its history, less the digest of where its vault was asked for."""
    folder.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(folder)} | variables
    done = subprocess.run(
        [sys.executable, "-c", STORY, str(folder), *settings],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = git(folder / "vault", "log", "--format=%T %an <%ae> %at %cn <%ce> %ct%n%B", done.stdout.strip())
    return "".join(line for line in told.splitlines(keepends=True) if not line.startswith("Gitmem-Request:"))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The history of the story where nobody has settings."""
    folder = tmp_path_factory.mktemp("plain")
    history = _tell(folder / "story")
    assert git(folder / "story/vault", "log", "-1", "--format=%an <%ae>") == "Pat Person <pat@example.com>\n"
    return history


def _find_clean(folder: Path, home: Path) -> None:
    """Assert that the person's own Git, under their own settings, finds nothing to do and checks out the same bytes."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    before = _files(folder)
    for command in (["checkout-index", "--all", "--force"], ["status", "--porcelain", "--untracked-files=all"]):
        done = subprocess.run(["git", *command], cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert _files(folder) == before


def _files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in paths if ".git" not in path.relative_to(folder).parts}


@pytest.mark.parametrize("what", SETTINGS)
def test_a_persons_settings_change_no_byte_and_run_nothing(tmp_path: Path, expected: str, what: str) -> None:
    home = tmp_path / "story"
    home.mkdir()
    (home / ".gitconfig").write_text(_make_home(home, SETTINGS[what]))
    assert _tell(home) == expected
    assert not (home / "canary").exists()
    assert [path.name for path in (home / "vault/.git").glob("hooks/*") if not path.name.endswith(".sample")] == []
    if what not in ("broken", "filters", "a monitor"):  # with these the person's Git fails or acts of itself
        _find_clean(home / "vault", home)
    assert git(home / "vault", "status", "--porcelain", "--untracked-files=all") == ""
    assert git(home / "vault", "fsck", "--strict") == ""


@pytest.mark.parametrize("what", LOCAL)
def test_settings_in_the_repository_change_no_byte_and_run_nothing(tmp_path: Path, expected: str, what: str) -> None:
    home = tmp_path / "story"
    home.mkdir()
    assert _tell(home, _make_home(home, SETTINGS[what])) == expected
    assert not (home / "canary").exists()
    if what != "a monitor":
        _find_clean(home / "vault", home)
    assert git(home / "vault", "-c", "core.fsmonitor=", "status", "--porcelain", "--untracked-files=all") == ""


def test_hooks_in_the_repository_do_not_run(tmp_path: Path, expected: str) -> None:
    home = tmp_path / "story"
    home.mkdir()
    (home / ".gitconfig").write_text(_make_home(home, "[init]\ntemplateDir = {template}\n"))
    assert _tell(home) == expected
    tip = git(home / "vault", "rev-parse", "HEAD").strip()
    for hook in (home / "hooks").iterdir():
        (home / "vault/.git/hooks").mkdir(exist_ok=True)
        (home / "vault/.git/hooks" / hook.name).write_bytes(hook.read_bytes())
        (home / "vault/.git/hooks" / hook.name).chmod(0o755)
    more = STORY.replace("memory.adopt([], person)", "memory.observe(Draft(title='Two'), person)")
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(home)}
    subprocess.run([sys.executable, "-c", more, str(home)], cwd=home, env=env, capture_output=True, check=False)
    assert git(home / "vault", "log", "--format=%s", f"{tip}..").splitlines()
    assert not (home / "canary").exists()


VARIABLES = {
    "another repository": {"GIT_DIR": "{other}/.git", "GIT_COMMON_DIR": "{other}/.git", "GIT_NAMESPACE": "other"},
    "another staging area": {"GIT_INDEX_FILE": "{other}/.git/index", "GIT_OPTIONAL_LOCKS": "0"},
    "another work tree": {"GIT_WORK_TREE": "{other}", "GIT_CEILING_DIRECTORIES": "/", "GIT_PREFIX": "x/"},
    "other objects": {
        "GIT_OBJECT_DIRECTORY": "{other}/.git/objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{other}/.git/objects",
        "GIT_QUARANTINE_PATH": "{folder}",
    },
    "another history": {
        "GIT_SHALLOW_FILE": "{folder}/evil",
        "GIT_GRAFT_FILE": "{folder}/evil",
        "GIT_REPLACE_REF_BASE": "refs/heads/",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_DEFAULT_REF_FORMAT": "reftable",
    },
    "another author": {
        "GIT_AUTHOR_NAME": "Somebody Else",
        "GIT_AUTHOR_EMAIL": "else@example.com",
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_COMMITTER_NAME": "Somebody Else",
        "GIT_COMMITTER_EMAIL": "else@example.com",
        "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
        "EMAIL": "else@example.com",
    },
    "other settings": {
        "GIT_CONFIG": "{folder}/evil",
        "GIT_CONFIG_GLOBAL": "{folder}/evil",
        "GIT_CONFIG_SYSTEM": "{folder}/evil",
        "XDG_CONFIG_HOME": "{folder}/xdg",
        "GIT_TEMPLATE_DIR": "{folder}/template",
    },
    "settings in variables": {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": "{folder}/hooks",
        "GIT_CONFIG_PARAMETERS": "'core.autocrlf=true'",
        "GIT_LITERAL_PATHSPECS": "1",
    },
    "programs": {
        "GIT_EDITOR": "{folder}/program",
        "GIT_PAGER": "{folder}/program",
        "GIT_EXTERNAL_DIFF": "{folder}/program",
        "GIT_SSH_COMMAND": "{folder}/program",
        "GIT_ASKPASS": "{folder}/program",
        "GIT_EXEC_PATH": "{folder}/hooks",
    },
}


@pytest.mark.parametrize("what", [*VARIABLES, "all of them"])
def test_what_a_process_inherits_does_not_matter(tmp_path: Path, expected: str, what: str) -> None:
    home, other = tmp_path / "story", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    git(other, "commit", "-q", "--allow-empty", "-m", "other")
    (home / "evil").write_text(_make_home(home, SETTINGS["signing"] + SETTINGS["autocrlf"]))
    (home / "xdg/git").mkdir(parents=True)
    (home / "xdg/git/config").write_bytes((home / "evil").read_bytes())
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    groups = VARIABLES.values() if what == "all of them" else [VARIABLES[what]]
    asked = {name: value.format(folder=home, other=other) for group in groups for name, value in group.items()}
    assert _tell(home, **asked) == expected
    assert not (home / "canary").exists()
    assert {path: path.read_bytes() for path in other.rglob("*") if path.is_file()} == before

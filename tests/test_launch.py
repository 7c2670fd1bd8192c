"""gitmem started by the name of a file, as hosts start it: the same as with ``-m``, and shut off from where it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem import launch

LAUNCHED = [sys.executable, "-E", "-P", "-S", launch.__file__]
AS_MODULE = [sys.executable, "-P", "-m", "gitmem"]


def run(words: list[str], home: Path, given: bytes = b"", **more: str) -> tuple[int, bytes, bytes]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GITMEM_HOME": str(home / "gitmem")} | more
    done = subprocess.run(words, input=given, capture_output=True, env=env, cwd=home, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [["--version"], ["status", "--json"], ["init", "--help"], ["nonsense"], ["hook", "--host", "codex"], ["hook"]],
)
def test_it_does_what_the_module_does(tmp_path: Path, words: list[str]) -> None:
    assert run([*LAUNCHED, *words], tmp_path) == run([*AS_MODULE, *words], tmp_path)


def test_packages_of_the_environment_are_found_once_one_is_wanted(tmp_path: Path) -> None:
    words = ["observe", "Tests run with two workers", "--evidence", "run:make test"]
    for one in (["init"], words, ["check"]):
        code, said, complaint = run([*LAUNCHED, *one, "--json"], tmp_path)
        assert (code, complaint) == (0, b""), said


def test_nothing_of_the_folder_or_the_environment_is_imported(tmp_path: Path) -> None:
    trap = "import os; os.write(1, b'trapped')\n"
    for name in ("gitmem", "json", "pygit2", "sitecustomize", "click"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(trap)
    for words in (["hook"], ["--version"]):
        _code, said, complaint = run([*LAUNCHED, *words], tmp_path, b"{}", PYTHONPATH=str(tmp_path))
        assert b"trapped" not in said + complaint


def test_a_hook_whose_host_went_away_ends_in_peace(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*LAUNCHED, "hook"],
        input=b"{}",
        stdout=writer,
        stderr=subprocess.PIPE,
        env={"HOME": str(tmp_path)},
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")

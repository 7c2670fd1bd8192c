"""``gitmem curate`` as people and programs use it, with a program of their own that fails in every way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.vault.schema import validate

if TYPE_CHECKING:
    from hosts.driving import Gitmem

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
pytest_plugins = "hosts.driving"
PROPOSES = """
import json, sys
given = json.load(sys.stdin)
proposal = {"title": "Two workers are enough", "body": "More of them starve the database.", "kind": "finding",
    "tags": ["tool/pytest"], "evidence": ["run:pytest"], "why": ["three sessions say so"]}
json.dump({"proposals": [proposal] if given["sessions"] else []}, sys.stdout)
"""


@pytest.fixture
def seen(gitmem: Gitmem) -> Gitmem:
    """A vault whose host saw one session: the tests fail, a file is changed, they pass."""
    subprocess.run(["git", "init", "-q", gitmem.environment.folder], check=True)
    for options in (
        ("session-start",),
        ("tool", "--tool", "Bash", "--command", "pytest", "--exit-code", "1"),
        ("tool", "--tool", "Edit", "--path", "src/cache.py"),
        ("tool", "--tool", "Bash", "--command", "pytest", "--exit-code", "0"),
        ("session-end",),
    ):
        assert gitmem("journal", "add", "--session", "s1", "--event", *options).code == 0
    return gitmem


@pytest.fixture
def write_program(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "tidy.py"
        path.write_text(text)
        return f"{sys.executable} {path}"

    return write


def test_what_was_done_is_told(seen: Gitmem) -> None:
    dry = seen("curate", "--dry-run")
    assert dry.code == 0
    assert dry.out.startswith("curate: 1 episode to write; nothing was written\n")
    done = seen("curate", "--json").document
    (episode,) = done["episodes"]
    assert done["op"] == "curate"
    assert [one["id"] for one in done["records"]] == [episode["id"]]
    assert episode["title"].endswith("with cli: src/cache.py, pytest")
    assert (done["candidates"], done["waiting"], done["problems"], done["program"]) == ([], [], [], None)
    assert seen("curate").out == "curate: nothing to do, no commit made\n"
    assert f"{episode['id']}\n" in seen.git("log", "-1", "--format=%B") + "\n"


def test_a_session_that_is_not_there(seen: Gitmem) -> None:
    done = seen("curate", "--session", "other")
    assert (done.code, done.out) == (3, "")
    assert done.err == ("error: nothing is kept of a session 'other'\nhint: `gitmem journal list` has them.\n")


def test_help_has_examples(gitmem: Gitmem) -> None:
    shown = gitmem("curate", "--help")
    assert shown.code == 0
    assert 'gitmem curate --with "python3 tidy.py" --timeout 30' in shown.out


def test_a_program_proposes_and_is_named(seen: Gitmem, write_program: Callable[[str], str]) -> None:
    done = seen("curate", "--with", write_program(PROPOSES), "--json").document
    assert done["changed"] is True
    assert done["program"]["problem"] is None
    assert done["program"]["proposals"] == 1
    (added,) = done["candidates"]
    assert (added["title"], added["outcome"]) == ("Two workers are enough", "new")
    row = seen("inbox", "--json").document["results"][0]
    assert row["surface"] == "model"
    assert row["actor"] == done["program"]["name"]
    assert row["why"][:2] == ["three sessions say so", f"proposed by the program {row['actor']}"]
    again = seen("curate", "--with", write_program(PROPOSES), "--json").document
    assert [one["outcome"] for one in again["candidates"]] == ["merged"]
    assert seen("inbox", "--json").document["results"][0]["worth"] == row["worth"]


def test_a_program_is_handed_what_the_schema_says(
    seen: Gitmem, write_program: Callable[[str], str], tmp_path: Path
) -> None:
    record = seen.observe("Cache lifetime", "--body", "Five minutes.")
    seen.observe("Mine alone", "--body", "not for others")
    (secret,) = seen.repo.glob("observations/*/mine-alone-*.md")
    secret.write_text(secret.read_text().replace("title:", "private: true\ntitle:"))
    seen("propose", "Answer in English", "--kind", "preference")
    copy = tmp_path / "given.json"
    program = write_program(
        f"import shutil, sys\nshutil.copyfileobj(sys.stdin, open({str(copy)!r}, 'w'))\nprint('{{}}')"
    )
    assert seen("curate", "--with", program).code == 0
    given = json.loads(copy.read_text())
    validate("curate-input", given)
    assert [one["title"] for one in given["candidates"]] == ["Answer in English"]
    assert record in [one["id"] for one in given["records"]]
    assert "Mine alone" not in copy.read_text()
    assert [run["command"] for run in given["sessions"][0]["runs"]] == ["pytest"]


BAD_PROGRAMS = {
    "fails": ("import sys; sys.exit('no model today')", "it ended with the code 1 and said: no model today"),
    "dies": ("import os; os.kill(os.getpid(), 9)", "it ended with the code -9"),
    "sleeps": ("import time; time.sleep(60)", "did not end within 0.5 s"),
    "shouts": ("print('x' * 3000)", "said more than 2000 bytes"),
    "says nothing": ("", "what it said is not one JSON document in UTF-8"),
    "talks": ("print('Here you are: {}')", "what it said is not one JSON document in UTF-8"),
    "no text": ("import sys; sys.stdout.buffer.write(b'\\xff{}')", "what it said is not one JSON document in UTF-8"),
    "deep": ("print('[' * 900 + ']' * 900)", "curate-output: the whole"),
    "a list": ("print('[]')", "curate-output: the whole"),
    "no title": ("print('{\"proposals\": [{}]}')", "curate-output: proposals[0]"),
    "more": ("print('{\"boundaries\": []}')", "curate-output: the whole"),
    "an episode": ('print(\'{"proposals": [{"title": "x", "kind": "episode"}]}\')', "curate-output: proposals[0].kind"),
}


@pytest.mark.parametrize("name", BAD_PROGRAMS)
def test_a_program_that_fails_costs_nothing(seen: Gitmem, write_program: Callable[[str], str], name: str) -> None:
    text, problem = BAD_PROGRAMS[name]
    options = ("--with", write_program(text), "--timeout", "0.5" if name == "sleeps" else "20", "--max-output", "2000")
    done = seen("curate", *options)
    assert done.code == 0
    assert done.out.startswith("curate: commit ")
    assert problem in done.err
    assert seen("inbox").code == 1


def test_a_program_that_is_not_there(seen: Gitmem) -> None:
    done = seen("curate", "--with", "./nowhere --now")
    assert done.code == 0
    assert "warning: nothing was taken from nowhere: nowhere can't be started" in done.err
    assert seen("curate", "--with", "'").code == 2
    assert seen("curate", "--with", "").code == 2


def test_no_proposal_of_a_program_passes_the_gate_that_a_model_does_not(
    seen: Gitmem, write_program: Callable[[str], str]
) -> None:
    kept = seen.observe("Cache lifetime", "--body", "Five minutes.")
    said = {
        "proposals": [
            {"title": "The key", "body": SECRET},
            {"title": f"The key {SECRET}", "body": "x"},
            {"title": "Turned\u202e", "body": "x"},
            {"title": "Odd evidence", "evidence": ["file:/etc/passwd"]},
            {"title": "Never push to main", "kind": "boundary"},
        ],
        "merges": [{"targets": [kept, "00000000000z"]}],
        "retirements": [{"id": kept, "reason": "ten minutes now"}],
    }
    answer = seen("curate", "--with", write_program(f"print({json.dumps(json.dumps(said))})"), "--json")
    done = answer.document
    told = {one["title"]: (one["outcome"], one["reason"]) for one in done["candidates"]}
    assert told["The key"][0] == "refused"
    assert told["Odd evidence"][0] == "refused"
    assert told["Never push to main"] == ("new", None)
    assert told["Merge 2 records into “Cache lifetime”"] == ("refused", "there is no record 00000000000z")
    assert told["Retire “Cache lifetime”"] == ("new", None)
    assert told["Turned\u202e"][0] == "refused"
    assert seen("list", "--state", "baseline").code == 1
    assert SECRET not in answer.out
    homes = [path for path in Path(seen.environment.home).rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in path.read_bytes() for path in homes)

"""``gitmem undo`` at the command line: what it says, what a person is shown, and how operations are named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


def op_ids(gitmem: Gitmem) -> list[str]:
    """Return the ids of all operations, newest first."""
    return [row["op_id"] for row in gitmem("log", "--json").document["results"]]


def test_an_agent_takes_back_its_own_operation(gitmem: Gitmem) -> None:
    record_id = gitmem.observe("Run tests", "--op-id", "mine")
    path = gitmem.git("ls-files", "observations")
    said = gitmem("undo", "mine")
    commit = gitmem.git("rev-parse", "HEAD")[:12]
    assert (said.code, said.out, said.err) == (0, f"undo: commit {commit}\n{record_id}  gone  {path}\n", "")
    back = gitmem("undo", op_ids(gitmem)[0][:8], "--json", "--op-id", "again").document
    assert (back["op"], back["op_id"], back["changed"]) == ("undo", "again", True)
    assert back["records"] == [{"id": record_id, "path": path, "state": "observation"}]
    assert gitmem("undo", op_ids(gitmem)[1][:8], "--json", "--op-id", "again").document == back


def test_the_log_shows_what_undo_takes_and_what_was_undone(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests", "--op-id", "chosen-by-a-program-that-says-a-lot")
    gitmem("undo", "chosen")
    op = op_ids(gitmem)[0]
    lines = gitmem("log").out.splitlines()
    assert [re.sub(r"  [0-9a-f]{12}  \S+Z  ", "  …  ", line) for line in lines[:4]] == [
        f"{op[:8]:24}  …  agent (model)  undo     observe: Run tests",
        "    Takes back observe chosen-by-a-program-that-says-a-lot of",
        f"    {gitmem('log', '--json').document['results'][1]['time']} by agent (model).",
        "chosen-by-a-program-that  …  agent (model)  observe  [undone] Run tests",
    ]
    assert gitmem("undo", lines[0].split()[0]).code == 0
    assert "[undone] observe: Run tests" in gitmem("log").out


def test_refusals_have_their_codes(gitmem: Gitmem) -> None:
    record_id = gitmem.observe("Run tests")
    first = op_ids(gitmem)[0]
    gitmem("edit", record_id, "--title", "Run all tests")
    for ref, code, exit_code in (
        (first, "built-upon", 4),
        ("nothing", "no-such-operation", 3),
        ("", "no-such-operation", 3),
    ):
        said = gitmem("undo", ref, "--json")
        assert (said.code, said.document["error"]["code"]) == (exit_code, code)
    error = gitmem("undo", first, "--json").document["error"]
    assert (error["op"], error["op_id"], error["title"]) == ("edit", op_ids(gitmem)[0], "Run all tests")
    gitmem.git("-c", "user.name=Sam", "-c", "user.email=s@example.com", "commit", "--allow-empty", "-qm", "Mine")
    said = gitmem("undo", gitmem.git("rev-parse", "HEAD"))
    assert (said.code, said.out) == (3, "")
    assert "'Mine' by Sam was made outside gitmem" in said.err
    assert gitmem("undo").code == 2


def test_a_person_sees_what_comes_back_and_what_goes(gitmem: Gitmem, terminal: Terminal) -> None:
    old, new = gitmem.observe("Old", "--body", "Old text."), gitmem.observe("New")
    gitmem("retire", old, "--reason", "outdated", "--superseded-by", new)
    row = gitmem("log", "--json").document["results"][0]
    assert gitmem("promote", new).code == 5
    before = gitmem.git("rev-parse", "HEAD")
    said = terminal("--human", "undo", row["op_id"], answer=lambda _code: "no\n")
    assert (said.code, gitmem.git("rev-parse", "HEAD")) == (5, before)
    month = row["time"][:7]
    stem = f"old-{old[:6]}"
    head, _blank, texts = said.out[: said.out.index("Type ")].partition(f"\n\n  retired/{month}/{stem}.md (")
    assert head.replace(row["time"], "TIME") == (
        "undo in the vault 'global'\n"
        "\n"
        f"  operation  retire {row['op_id']}\n"
        "  title      Old\n"
        "  made by    agent (model)\n"
        "  time       TIME\n"
        "  noted      Reason: outdated\n"
        f"  noted      Superseded by: New ({new})\n"
        "\n"
        f"  retired/{month}/{stem}.md       goes back to observations/{month}/{stem}.md\n"
        f"  observations/{month}/new-{new[:6]}.md  as it was before"
    )
    assert [line for line in texts.splitlines() if re.match(r"  \| [-+](?!updated)", line)] == [
        "  | -superseded_by:",
        f'  | -  - "[[new-{new[:6]}]]"',
        "  | -supersedes:",
        f'  | -  - "[[{stem}]]"',
    ]


def test_what_goes_is_shown_whole_with_who_links_to_it(gitmem: Gitmem, terminal: Terminal) -> None:
    old = gitmem.observe("Old", "--body", "All of it.")
    gitmem.observe("New", "--body", f"See [[old-{old[:6]}]].")
    op = op_ids(gitmem)[1]
    said = terminal("--human", "undo", op[:8])
    assert said.code == 0
    links = gitmem.git("ls-files", "observations").splitlines()[0]
    for wanted in (
        f"observations/{links.split('/')[1]}/old-{old[:6]}.md  goes\n",
        "  | All of it.\n",
        f"  notice:\n  | 1 note links to what is gone now: {links}; `gitmem check` lists broken links\n",
        "Effect: these files become what they were before that operation, in one new commit; history keeps both\n",
        f"notice: 1 note links to what is gone now: {links}; `gitmem check` lists broken links\n",
    ):
        assert wanted in said.out
    assert "Gitmem-Rule: undo-human" in gitmem.git("log", "-1", "--format=%B")


def test_completion_offers_the_newest_operations(gitmem: Gitmem, tmp_path: Path) -> None:
    gitmem.observe("Run tests", "--op-id", "one-1")
    gitmem.observe("Other", "--op-id", "one-2")
    environment = {"_GITMEM_COMPLETE": "zsh_complete", "COMP_CWORD": "2", "COMP_WORDS": "gitmem undo one"}
    done = subprocess.run(
        [sys.executable, "-m", "gitmem"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GITMEM_HOME": gitmem.environment.home} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:6] == ["plain", "one-2", "observe: Other", "plain", "one-1", "observe: Run tests"]

"""Several records in one command: a file of drafts, or several ids; what is asked, shown and said."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hosts.cli.test_confirm import masked

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"

FINDINGS = [
    {"title": "Two workers", "body": "More starve the database.\n", "tags": ["tool/pytest"], "evidence": ["run:ci-1"]},
    {"title": "Node 24", "kind": "convention", "key": "node", "evidence": ["file:package.json#L7"]},
]


def write_lines(gitmem: Gitmem, *values: Any, name: str = "findings.jsonl") -> str:
    Path(gitmem.environment.folder, name).write_text("".join(json.dumps(value) + "\n" for value in values))
    return name


def test_a_file_of_observations_is_one_operation(gitmem: Gitmem) -> None:
    said = gitmem("observe", "--from", write_lines(gitmem, *FINDINGS))
    assert (said.code, said.err) == (0, "")
    assert masked(said.out) == (
        "observe: commit COMMIT\n"
        "ID  observation  observations/MONTH/two-workers-ID.md\n"
        "ID  observation  observations/MONTH/node-24-ID.md\n"
    )
    assert gitmem.git("log", "-1", "--format=%an %s") == "agent observe: 2 records"
    document = gitmem("show", "node", "--json").document
    (result,) = document["results"]
    assert (result["title"], result["kind"], document["properties"]["evidence"]) == (
        "Node 24",
        "convention",
        ["file:package.json#L7"],
    )


def test_standard_input_and_a_pipe_are_files_too(gitmem: Gitmem) -> None:
    data = "".join(json.dumps(one) + "\n" for one in FINDINGS).encode()
    document = gitmem("observe", "--from", "-", "--json", stdin=data).document
    assert (document["op"], len(document["records"])) == ("observe", 2)
    reader, writer = os.pipe()
    os.write(writer, data.replace(b"node", b"other").replace(b"Two workers", b"Two more"))
    os.close(writer)
    assert gitmem("observe", "--from", f"/dev/fd/{reader}").code == 0
    os.close(reader)


def test_a_retry_of_a_file_is_answered_and_another_file_refused(gitmem: Gitmem) -> None:
    name = write_lines(gitmem, *FINDINGS)
    first = gitmem("observe", "--from", name, "--op-id", "b1", "--json")
    assert gitmem("observe", "--from", name, "--op-id", "b1", "--json").out == first.out
    write_lines(gitmem, FINDINGS[0])
    said = gitmem("observe", "--from", name, "--op-id", "b1", "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "op-id-reused")
    assert gitmem.git("rev-list", "--count", "HEAD") == "2"


def test_bad_lines_are_listed_with_their_numbers(gitmem: Gitmem) -> None:
    name = write_lines(gitmem, FINDINGS[0], {"titel": "x"}, ["a"])
    said = gitmem("observe", "--from", name)
    assert (said.code, said.out) == (3, "")
    assert said.err == (
        "error: 2 of 3 lines can't be read: line 2: 'titel' is not known; did you mean title?\n"
        "  line 2: 'titel' is not known; did you mean title?\n"
        "  line 3: the line holds no JSON object; write one object a line, without a list around\n"
        "hint: Nothing was written. Mend these lines; schema/draft.schema.json says what a line may hold.\n"
    )
    error = gitmem("observe", "--from", name, "--json").document["error"]
    assert (error["code"], error["count"]) == ("bad-lines", 2)
    assert error["problems"][0] == {
        "code": "unknown-name",
        "message": "'titel' is not known; did you mean title?",
        "line": 2,
    }
    secret = {"title": "Secret", "body": "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123", "evidence": ["run:1"]}
    lines = [{"title": f"T{number}", "evidence": ["run:1"]} for number in range(6)]
    said = gitmem("observe", "--from", write_lines(gitmem, *lines, secret))
    assert said.code == 3
    assert said.err == (
        "error: 1 of 7 records can't be written: line 7: body, line 1 looks like a secret (github-token)\n"
        "hint: Nothing was written. Mend these and try again.\n"
    )
    assert gitmem.git("rev-list", "--count", "HEAD") == "1"


def test_very_many_bad_lines_are_counted(gitmem: Gitmem) -> None:
    said = gitmem("observe", "--from", write_lines(gitmem, *([1] * 30)))
    lines = said.err.splitlines()
    assert (len(lines), lines[-2]) == (23, "  … and 10 more")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["observe", "Title"], "with --from the file says everything; leave TITLE out"),
        (["observe", "--tag", "a"], "with --from the file says everything; leave --tag out"),
        (["observe", "--body-file", "-"], "with --from the file says everything; leave --body-file out"),
        (["observe", "--editor"], "with --from the file says everything; leave --editor out"),
        (["declare", "--kind", "goal"], "with --from the file says everything; leave --kind out"),
    ],
)
def test_the_file_says_everything(gitmem: Gitmem, args: list[str], message: str) -> None:
    said = gitmem(*args, "--from", write_lines(gitmem, *FINDINGS), "--json")
    assert (said.code, said.document["error"]["message"]) == (2, message)


def test_a_title_or_a_file_is_needed(gitmem: Gitmem) -> None:
    assert gitmem("observe", "--json").document["error"]["message"] == "Missing argument 'TITLE'."
    said = gitmem("declare", "T", "--json").document["error"]["message"]
    assert said.startswith("Missing option '--kind'.")


@pytest.mark.parametrize("name", ["nowhere.jsonl", ".", "findings.jsonl/x"])
def test_a_file_that_is_not_there_is_told(gitmem: Gitmem, name: str) -> None:
    write_lines(gitmem, *FINDINGS)
    said = gitmem("observe", "--from", name, "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "no-such-file")


def test_one_confirmation_shows_all_that_a_file_declares(gitmem: Gitmem, terminal: Terminal) -> None:
    rules = [
        {"title": "Never on Fridays", "kind": "boundary", "body": "No release.\n\nNot one.\n"},
        {"title": "Ship weekly", "kind": "goal", "summary": "Each week", "tags": ["scope/release"]},
    ]
    name = write_lines(gitmem, *rules)
    said = gitmem("declare", "--from", name, "--json")
    assert (said.code, said.document["error"]["code"]) == (5, "needs-human")
    said = terminal("declare", "--from", name)
    assert (said.code, said.out.count("to confirm: ")) == (0, 1)
    assert masked(said.out) == (
        "declare in the vault 'global'\n"
        "\n"
        "  1 of 2\n"
        "  title  Never on Fridays\n"
        "  kind   boundary\n"
        "  | No release.\n"
        "  | \n"
        "  | Not one.\n"
        "\n"
        "  2 of 2\n"
        "  title    Ship weekly\n"
        "  kind     goal\n"
        "  summary  Each week\n"
        "  tags     scope/release\n"
        "\n"
        "Effect: new records in baseline/, declared by you and given to agents as such, in one commit\n"
        "\n"
        "Type CODE to confirm: CODE\n"
        "declare: commit COMMIT\n"
        "ID  baseline  baseline/never-on-fridays-ID.md\n"
        "ID  baseline  baseline/ship-weekly-ID.md\n"
    )
    assert gitmem.git("log", "-1", "--format=%s") == "declare: 2 records"


def test_standard_input_leaves_the_answer_to_the_terminal(gitmem: Gitmem, terminal: Terminal) -> None:
    said = terminal("observe", "--from", "-", stdin=b'{"title": "No evidence"}\n')
    assert (said.code, said.out.count("to confirm: ")) == (0, 1)
    assert gitmem.git("log", "-1", "--format=%s") == "observe: No evidence"


def test_several_ids_are_one_operation_with_one_confirmation(gitmem: Gitmem, terminal: Terminal) -> None:
    one, two = gitmem.observe("One", "--body", "First."), gitmem.observe("Two")
    said = terminal("promote", one, two[:6], one)
    assert (said.code, said.out.count("to confirm: ")) == (0, 1)
    assert masked(said.out) == (
        "promote in the vault 'global'\n"
        "\n"
        "  1 of 2\n"
        "  id         ID\n"
        "  path       observations/MONTH/one-ID.md\n"
        "  title      One\n"
        "  kind       fact\n"
        "  summary    First.\n"
        "  authority  workspace_evidence\n"
        "  created    TIME\n"
        "  updated    TIME\n"
        "  evidence   run:1\n"
        "  | First.\n"
        "\n"
        "  2 of 2\n"
        "  id         ID\n"
        "  path       observations/MONTH/two-ID.md\n"
        "  title      Two\n"
        "  kind       fact\n"
        "  authority  workspace_evidence\n"
        "  created    TIME\n"
        "  updated    TIME\n"
        "  evidence   run:1\n"
        "\n"
        "Effect: moves them to promoted/ as reviewed knowledge and marks them verified today, in one commit\n"
        "\n"
        "Type CODE to confirm: CODE\n"
        "promote: commit COMMIT\n"
        "ID  promoted  promoted/one-ID.md\n"
        "ID  promoted  promoted/two-ID.md\n"
    )
    said = terminal("retire", one, two, "--reason", "Both are old")
    assert "Effect: moves them to retired/, where they are kept but no longer delivered, in one commit\n" in said.out
    assert "  reason  Both are old\n" in said.out
    assert terminal("restore", one, two).code == 0
    assert gitmem.git("log", "-3", "--format=%s").splitlines() == [
        "restore: 2 records",
        "retire: 2 records",
        "promote: 2 records",
    ]


def test_ids_in_the_way_are_listed(gitmem: Gitmem) -> None:
    one = gitmem.observe("One")
    said = gitmem("restore", one, "none")
    assert said.code == 3
    assert said.err == (
        f"error: 2 of 2 records can't be taken: {one}: the record {one} is observation, not retired\n"
        f"  {one}: the record {one} is observation, not retired\n"
        "  none: no record has the id, key or path 'none'\n"
        "hint: Nothing was written. Leave these out, or mend them first.\n"
    )
    assert gitmem("promote", "--json").document["error"]["message"] == "Missing argument 'ID...'."

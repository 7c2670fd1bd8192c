"""The inbox on the command line: propose, list, show, accept, reject, defer, reconsider."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from driving import Gitmem, Terminal
pytest_plugins = "hosts.driving"

_ID = re.compile(r"\b(?=[0-9a-hjkmnp-tv-z]*\d)[0-9a-hjkmnp-tv-z]{12}\b|\b[a-hjkmnp-tv-z]{12}\b(?=  )")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?=[/\s]|$)", re.MULTILINE)
_CODE = re.compile(r"Type \w{4} to confirm: \w{4}")
SECRET = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"


def propose(gitmem: Gitmem, *args: str) -> dict[str, Any]:
    found: dict[str, Any] = gitmem("propose", *args, "--json").document["candidates"][0]
    return found


def plain(text: str, *ids: str) -> str:
    """Return ``text`` with ids, times and codes that differ from run to run as fixed words."""
    for number, one in enumerate(ids, 1):
        text = text.replace(one, f"<id{number}>").replace(one[:6], f"<{number}>")
    text = _TIME.sub("<time>", text)
    text = _CODE.sub("Type <code> to confirm: <code>", text)
    text = re.sub(r"commit [0-9a-f]{12}", "commit <commit>", text)
    return _DAY.sub("<day>", text)


def test_what_becomes_of_a_proposal_is_said(gitmem: Gitmem, terminal: Terminal) -> None:
    first = gitmem(
        "propose", "Run tests with two workers", "--body", "More exhaust the database.", "--tag", "tool/pytest"
    )
    one = first.out.split()[0]
    assert plain(first.out, one) == "<id1>  new  Run tests with two workers\n"
    again = gitmem("propose", "Run the tests with 2 workers", "--body", "More exhaust the database.")
    assert plain(again.out, one) == (
        "<id1>  merged  Run tests with two workers\n    it was proposed before and waits; proposed 2 times by now\n"
    )
    terminal("reject", one, "--reason", "the runner grew")
    told = gitmem("propose", "Run tests with two workers", "--body", "More exhaust the database.")
    assert plain(told.out, one) == (
        "<id1>  rejected-before  Run tests with two workers\n"
        "    a person rejected it on <day>: the runner grew\n"
        "    `gitmem reconsider <id1>` takes that back\n"
    ).replace("<day>:", told.out.split(" on ")[1][:11])
    record = gitmem.observe("Caches hold 30 s", "--body", "Measured on the server.")
    known = gitmem("propose", "Caches hold 30 s", "--body", "Measured on the server.")
    assert known.out.splitlines()[1] == f"    the record {record} says it already; nothing was added"
    more = gitmem("propose", "Caches hold 30 s", "--body", "Measured on the server.", "--evidence", "run:bench")
    assert more.out.splitlines()[1] == f"    the record {record} says it already; to be merged into that one"
    other = gitmem("propose", "Caches hold 90 s", "--body", "Measured on the server.")
    assert other.out.splitlines()[1:] == [f"    it contradicts the record {record}"]


def test_a_proposal_as_a_document(gitmem: Gitmem) -> None:
    said = gitmem("propose", "Run tests with two workers", "--op-id", "op-1", "--json")
    document = said.document
    one = document["candidates"][0]["id"]
    assert document == {
        "ok": True,
        "op": "propose",
        "op_id": "op-1",
        "commit": None,
        "changed": True,
        "records": [],
        "notices": [],
        "candidates": [
            {
                "id": one,
                "outcome": "new",
                "title": "Run tests with two workers",
                "wants": "record",
                "targets": [],
                "contradicts": [],
                "seen": 1,
                "record": None,
                "said": [],
            }
        ],
    }
    assert gitmem("propose", "Run tests with two workers", "--op-id", "op-1", "--json").document == document
    refused = gitmem("propose", "Another", "--op-id", "op-1", "--json")
    assert (refused.code, refused.document["error"]["code"]) == (3, "op-id-reused")


def test_many_are_proposed_from_a_file(gitmem: Gitmem) -> None:
    lines = [
        {"title": "About cats", "body": "They sleep."},
        {"title": "About dogs"},
        {"title": "About cats", "body": "They sleep."},
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    said = gitmem("propose", "--from", "-", "--json", stdin=data)
    assert [(one["outcome"], one["title"]) for one in said.document["candidates"]] == [
        ("new", "About cats"),
        ("new", "About dogs"),
        ("merged", "About cats"),
    ]
    bad = gitmem("propose", "--from", "-", stdin=data + b'\n{"title": "' + SECRET.encode() + b'"}\n{"title": " "}')
    assert bad.code == 3
    assert bad.err.splitlines()[0].startswith("error: 2 of 5 can't be proposed: line 4: ")
    assert SECRET not in bad.err
    assert len(gitmem("inbox", "--json").document["results"]) == 2


def test_a_secret_is_refused_and_a_bad_call_is_told(gitmem: Gitmem) -> None:
    refused = gitmem("propose", "t", "--body", f"token {SECRET}", "--json")
    assert (refused.code, refused.document["error"]["code"]) == (5, "secret-found")
    assert gitmem("propose").code == 2
    assert gitmem("propose", "t", "--from", "x").code == 2
    assert gitmem("accept").code == 2
    assert gitmem("accept", "abc", "--all").code == 2
    assert gitmem("accept", "--all", "--title", "t").code == 2
    assert gitmem("accept", "abc", "abd", "--into", "x").code == 2
    assert gitmem("reject", "abc").code == 2
    assert gitmem("inbox", "abc", "--all").code == 2
    missing = gitmem("accept", "zzzzzzzz")
    assert (missing.code, missing.err) == (
        3,
        "error: no candidate has the id 'zzzzzzzz'\nhint: `gitmem inbox` lists them.\n",
    )


def test_the_list_and_one_whole(gitmem: Gitmem) -> None:
    record = gitmem.observe("Caches hold 30 s", "--body", "Measured on the server.")
    one = propose(gitmem, "Caches hold 90 s", "--body", "Measured on the server.", "--tag", "scope/api")["id"]
    two = propose(gitmem, "Deploy on Fridays", "--kind", "boundary", "--evidence", "run:1", "--key", "deploys")["id"]
    gitmem("propose", "Deploy on Fridays", "--kind", "boundary")
    listed = gitmem("inbox")
    assert listed.code == 0
    assert plain(listed.out, one, two) == (
        "scope/api\n"
        "<id1>  fact  0.50  [contradicts] Caches hold 90 s\n"
        "\n"
        "deploys\n"
        "<id2>  boundary  0.38  [2x] Deploy on Fridays\n"
        "\n"
        "2 candidates in the inbox; `gitmem inbox ID` shows one whole\n"
    )
    assert plain(gitmem("inbox", "--limit", "1").out, one, two) == (
        "scope/api\n"
        "<id1>  fact  0.50  [contradicts] Caches hold 90 s\n"
        "\n"
        "… and 1 more\n"
        "\n"
        "2 candidates in the inbox; `gitmem inbox ID` shows one whole\n"
    )
    assert plain(gitmem("inbox", one[:6]).out, one, record) == (
        "id           <id1>\n"
        "wants        a new record\n"
        "title        Caches hold 90 s\n"
        "tags         scope/api\n"
        "proposed by  agent (model)\n"
        "created      <time>\n"
        "expires      <time>\n"
        "worth        0.50, in the group scope/api\n"
        "policy       needs-human for a model (accept-model)\n"
        "\n"
        "text:\n"
        "| Measured on the server.\n"
        "\n"
        "why:\n"
        "  - a record that is nearly the same has other values\n"
        "\n"
        "contradicts:\n"
        "  <id2> Caches hold 30 s [observation]\n"
        "\n"
        "near:\n"
        "  71 % <id2> Caches hold 30 s [observation]\n"
    )
    row = gitmem("inbox", two, "--json").document["results"][0]
    assert (row["id"], row["kind"], row["group"], row["seen"]) == (two, "boundary", "deploys", 2)
    empty = gitmem("inbox", "--group", "nothing")
    assert (empty.code, empty.out, empty.err) == (1, "", "nothing of the topic nothing waits in the inbox\n")


def test_hostile_text_is_shown_harmless(gitmem: Gitmem) -> None:
    one = propose(gitmem, "A title")["id"]
    file = next(Path(gitmem.environment.home).rglob(f"inbox/{one}.json"))
    value = json.loads(file.read_text())
    evil = "x\x1b]0;owned\x07\x1b[2J\u202egpj"
    hostile = {"title": evil, "body": f"{evil}\nType 0000 to confirm: ", "why": [evil], "tags": [evil], "actor": evil}
    file.write_text(json.dumps(value | hostile))
    for said in (gitmem("inbox"), gitmem("inbox", one), gitmem("inbox", one, "--json")):
        assert not {"\x1b", "\x07", "\u202e"} & set(said.out)
    assert "| Type 0000 to confirm:" in gitmem("inbox", one).out


def test_a_person_accepts_what_is_shown_and_it_is_one_commit(gitmem: Gitmem, terminal: Terminal) -> None:
    record = gitmem.observe("Caches hold 30 s", "--body", "Measured on the server.")
    one = propose(gitmem, "Deploy on Fridays", "--body", "Nobody minds.\n\nIt is quiet.", "--tag", "scope/ops")["id"]
    two = propose(gitmem, "Caches hold 30 s", "--body", "Measured on the server.", "--evidence", "run:bench")["id"]
    refused = gitmem("accept", one)
    assert (refused.code, refused.out) == (5, "")
    before = gitmem.git("rev-list", "--count", "HEAD")
    said = terminal("accept", one, two)
    assert said.code == 0
    assert plain(said.out, one, record) == (
        "accept in the vault 'global'\n"
        "\n"
        "  1 of 2\n"
        "  new record  <id1>\n"
        "  in          observations/<day>/deploy-on-fridays-<1>.md\n"
        "  title       Deploy on Fridays\n"
        "  kind        fact\n"
        "  authority   workspace_evidence\n"
        "  summary     Nobody minds.\n"
        "  tags        scope/ops\n"
        "  | Nobody minds.\n"
        "  | \n"
        "  | It is quiet.\n"
        "\n"
        "  2 of 2\n"
        "  record        <id2>\n"
        "  in            observations/<day>/caches-hold-30-s-<2>.md\n"
        "  state         observation\n"
        "  title         Caches hold 30 s\n"
        "  new evidence  run:1, run:bench\n"
        "\n"
        "Effect: 1 new and 1 changed records, in one commit\n"
        "\n"
        "Type <code> to confirm: <code>\n"
        "accept: commit <commit>\n"
        "<id1>  observation  observations/<day>/deploy-on-fridays-<1>.md\n"
        "<id2>  observation  observations/<day>/caches-hold-30-s-<2>.md\n"
    )
    assert int(gitmem.git("rev-list", "--count", "HEAD")) == int(before) + 1
    assert gitmem("inbox").code == 1
    decided = gitmem("inbox", "--decided", "--json").document["results"]
    assert {row["id"]: row["fate"] for row in decided} == {one: "accepted", two: "merged"}


def test_in_bulk_what_is_declared_is_left_and_told(gitmem: Gitmem, terminal: Terminal) -> None:
    boundary = propose(gitmem, "Never push to main", "--kind", "boundary")["id"]
    propose(gitmem, "Deploy on Fridays")
    propose(gitmem, "The API has nine services", "--tag", "scope/api")
    said = terminal("accept", "--all", "--to", "promoted")
    assert said.code == 0
    assert f"left out  {boundary} is for a person to declare; accept it by its id: Never push to main" in said.out
    assert f"notice: {boundary} is for a person to declare; accept it by its id: Never push to main" in said.out
    states = [row["state"] for row in gitmem("list", "--json").document["results"]]
    assert states == ["promoted", "promoted"]
    nothing = gitmem("accept", "--all")
    assert nothing.code == 1
    assert nothing.out == (
        "accept: nothing to do, no commit made\n"
        f"notice: {boundary} is for a person to declare; accept it by its id: Never push to main\n"
    )
    declared = terminal("accept", boundary)
    assert "authority   user_declared" in declared.out
    assert "Effect: 1 new record, in one commit; 1 of them declared by you and given to agents as such" in declared.out
    assert [row["id"] for row in gitmem("context", "--json").document["results"]][:1] == [boundary]


def test_a_candidate_is_changed_before_it_is_accepted(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "Edited by hand.\\n" > "$1"\n')
    editor.chmod(0o755)
    one = propose(gitmem, "Deploy on Fridays", "--body", "Nobody minds.")["id"]
    said = terminal("accept", one, "--editor", "--title", "Deploy late", "--kind", "decision", EDITOR=str(editor))
    assert said.code == 0, said.out
    record = gitmem("show", one, "--json").document
    assert (record["results"][0]["title"], record["results"][0]["kind"], record["body"].strip()) == (
        "Deploy late",
        "decision",
        "Edited by hand.",
    )
    two = propose(gitmem, "Sessions end at midnight", "--body", "A job ends them.")["id"]
    said = terminal("accept", two, "--into", one)
    assert "  | @@ -1 +1,3 @@\n  |  Edited by hand.\n  | +\n  | +A job ends them.\n" in said.out
    assert gitmem("show", one, "--json").document["body"].strip() == "Edited by hand.\n\nA job ends them."


def test_what_changes_while_a_person_reads_is_not_accepted(gitmem: Gitmem, terminal: Terminal) -> None:
    one = propose(gitmem, "Deploy on Fridays", "--body", "Nobody minds it.")["id"]

    def answer(code: str) -> str:
        gitmem("propose", "Deploy on Fridays", "--body", "Nobody minds it. Push straight to main.")
        return f"{code}\n"

    said = terminal("accept", one, answer=answer)
    assert said.code == 4
    assert "what was shown has changed since; nothing was written" in said.out
    assert gitmem("list").code == 1


def test_rejecting_deferring_and_taking_it_back(gitmem: Gitmem, terminal: Terminal) -> None:
    one = propose(gitmem, "Deploy on Fridays", "--body", "Nobody minds.")["id"]
    said = terminal("reject", one, "--reason", "we stopped that")
    assert plain(said.out, one) == (
        "reject in the vault 'global'\n"
        "\n"
        "  reason  we stopped that\n"
        "\n"
        "  1 of 1\n"
        "  id     <id1>\n"
        "  wants  a new record\n"
        "  title  Deploy on Fridays\n"
        "  | Nobody minds.\n"
        "\n"
        "Effect: takes it out of the inbox; the same is not proposed again. Nothing is committed\n"
        "\n"
        "Type <code> to confirm: <code>\n"
        "reject: 1 decided\n"
        "<id1>  rejected  Deploy on Fridays\n"
    )
    assert plain(gitmem("inbox", "--decided").out, one) == (
        "<id1>  <day>  rejected  Deploy on Fridays - we stopped that\n"
    )
    assert plain(terminal("reconsider", one).out, one).endswith("reconsider:\n<id1>  in the inbox  Deploy on Fridays\n")
    assert terminal("defer", one, "--until", "2099-01-01").out.endswith(f"{one}  until 2099-01-01  Deploy on Fridays\n")
    listed = gitmem("inbox")
    assert (listed.code, listed.out) == (1, "")
    assert listed.err == "nothing waits in the inbox; `gitmem inbox --all` lists 1 deferred candidate\n"
    assert gitmem("inbox", "--all").out.splitlines()[1] == f"{one}  fact  0.30  [until 2099-01-01] Deploy on Fridays"
    assert "inbox    1 candidate, 1 of them deferred; `gitmem inbox` lists them\n" in gitmem("status").out
    mine = gitmem("withdraw", one, "--reason", "wrong", "--json").document
    assert (mine["op"], mine["changed"]) == ("withdraw", True)
    assert mine["candidates"] == [
        {"id": one, "title": "Deploy on Fridays", "fate": "withdrawn", "deferred": "2099-01-01T00:00:00Z"}
    ]


def test_what_was_deferred_and_is_decided_is_told_as_decided(gitmem: Gitmem, terminal: Terminal) -> None:
    gitmem("propose", "Deploy on Fridays", "--body", "Nobody minds.")
    one = gitmem("inbox", "--json").document["results"][0]["id"]
    assert gitmem("defer", one, "--until", "2099-01-01").code == 0
    rejected = terminal("reject", one, "--reason", "no")
    assert rejected.out.endswith(f"reject: 1 decided\n{one}  rejected  Deploy on Fridays\n")
    assert gitmem("inbox").err == "nothing waits in the inbox\n"


@pytest.mark.parametrize("verb", ["accept", "reject", "withdraw", "defer", "reconsider", "inbox"])
def test_ids_are_completed(verb: str, gitmem: Gitmem) -> None:
    from click.shell_completion import ShellComplete

    from gitmem.hosts.cli.call import Call
    from gitmem.hosts.cli.group import gitmem as group

    one = propose(gitmem, "Deploy on Fridays")["id"]
    found = ShellComplete(group, {"obj": Call(gitmem.environment)}, "gitmem", "X").get_completions([verb], one[:3])
    assert [(item.value, item.help) for item in found] == [(one, "Deploy on Fridays")]

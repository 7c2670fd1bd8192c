"""``gitmem policy``: seen and checked by anybody, set by a person at a terminal alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.model.authority import Actor, Surface
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault, open_memory

if TYPE_CHECKING:
    from hosts.driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"

PERSON = Actor(Surface.HUMAN, "Pat", "pat@example.com")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
COMMIT = re.compile(r"commit [0-9a-f]{12}")


def set_policy(gitmem: Gitmem, text: str, vault: str | None = "global") -> None:
    with open_memory(gitmem.environment.home, gitmem.environment.folder, vault) as memory:
        memory.set_policy(text.encode(), PERSON)


def normal(text: str) -> str:
    return re.sub(
        r"Type [0-9a-z]{4} to confirm: [0-9a-z]{4}", "Type CODE to confirm: CODE", COMMIT.sub("commit ID", text)
    )


def test_show_tells_what_holds_and_where_it_is_from(gitmem: Gitmem) -> None:
    assert (
        gitmem("policy", "show").out
        == """\
policy                           the defaults
model_may                        curate, edit, import, observe, propose, restore, retire, undo
kinds                            convention, decision, episode, fact, finding, procedure, task
namespaces                       any
evidence                         commit, file, run, url
bounds.observations_per_session  100
bounds.observations_per_day      500
bounds.candidates_per_session    30
bounds.candidates_waiting        300
bounds.candidate_days            60
bounds.decided_kept              2000
bounds.body_chars                20000
"""
    )
    set_policy(gitmem, "kinds: [fact]\nnamespaces: [tool]\nmodel_may: []\naccept:\n  - {id: seen, evidence: [run]}\n")

    lines = TIME.sub("TIME", gitmem("policy", "show").out).splitlines()
    assert [lines[0], lines[1], lines[2], lines[3], lines[-1]] == [
        "policy                           policy.yaml, set by Pat at TIME",
        "model_may                        nothing",
        "kinds                            fact",
        "namespaces                       tool",
        "accept seen                      evidence run",
    ]


def test_show_as_a_document_has_every_member(gitmem: Gitmem) -> None:
    set_policy(gitmem, "promote:\n  - {id: p, kinds: [fact], tags: [tool], evidence: [run], sessions: 2}\n")

    policy = gitmem("policy", "show", "--json").document["policy"]

    assert TIME.fullmatch(policy.pop("set_at"))
    assert re.fullmatch("[0-9a-z]{16}", policy.pop("op_id"))
    assert policy == {
        "origin": "policy.yaml",
        "problem": "",
        "set_by": "Pat",
        "model_may": ["curate", "edit", "import", "observe", "propose", "restore", "retire", "undo"],
        "kinds": ["convention", "decision", "episode", "fact", "finding", "procedure", "task"],
        "namespaces": None,
        "evidence": ["commit", "file", "run", "url"],
        "bounds": {
            "observations_per_session": 100,
            "observations_per_day": 500,
            "candidates_per_session": 30,
            "candidates_waiting": 300,
            "candidate_days": 60,
            "decided_kept": 2000,
            "body_chars": 20000,
        },
        "accept": [],
        "promote": [
            {
                "id": "p",
                "kinds": ["fact"],
                "tags": ["tool"],
                "evidence": ["run"],
                "sessions": 2,
                "text": "kind fact, tag tool, evidence run, 2 sessions",
            }
        ],
    }


def test_a_file_that_nobody_set_is_told_with_every_answer(gitmem: Gitmem) -> None:
    (gitmem.repo / "policy.yaml").write_text("kinds: [fact]\n")
    apply = "a person makes it hold with `gitmem policy apply`"
    said = gitmem("policy", "show")
    told = f"warning: policy.yaml: it is not as it is committed, so the committed one holds; {apply}\n"
    assert (said.code, said.err) == (0, told)
    gitmem.git("add", "policy.yaml")
    gitmem.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")

    said = gitmem("policy", "show")

    told = (
        f"warning: policy.yaml: it was committed outside gitmem, and nobody is known to have set it so; {apply}; "
        "until then the strictest of what was set holds, and opens nothing\n"
    )
    assert said.out.startswith(
        "policy                           the strictest of what was set; policy.yaml is not as a"
    )
    assert said.err == told
    assert gitmem("status").err == told
    assert gitmem("policy", "explain", "observe", "--evidence", "run:1").err == told


def test_check_says_how_a_file_is_read_or_where_it_is_wrong(gitmem: Gitmem, tmp_path: Path) -> None:
    good, bad = tmp_path / "work" / "good.yaml", tmp_path / "work" / "bad.yaml"
    good.write_text("bounds:\n  body_chars: 7\n")
    bad.write_text("bounds:\n  body_char: 7\n")

    assert gitmem("policy", "check", "good.yaml").out.splitlines()[-1] == "bounds.body_chars                7"
    assert gitmem("policy", "check", "-", stdin=b"kinds: [fact]\n").code == 0
    said = gitmem("policy", "check", "bad.yaml")
    assert (said.code, said.out) == (3, "")
    assert said.err == (
        "error: bad.yaml, line 2: 'body_char' means nothing here; did you mean body_chars?\n"
        "hint: See docs/policy.md for what may stand there.\n"
    )
    from_input = gitmem("policy", "check", "-", stdin=bad.read_bytes())
    assert from_input.err == said.err.replace("bad.yaml", "standard input")
    refused = gitmem("policy", "set", "bad.yaml").err
    assert refused.startswith("error: bad.yaml, line 2: 'body_char'")
    assert refused.endswith("; `gitmem policy check` tries the file.\n")
    assert gitmem("policy", "check", "bad.yaml", "--json").document["error"]["line"] == 2
    assert gitmem("policy", "check", "nowhere.yaml").code == 3


def test_check_without_a_file_looks_at_the_vaults_own(gitmem: Gitmem) -> None:
    said = gitmem("policy", "check")
    assert (said.code, said.err) == (
        3,
        "error: the vault has no policy.yaml\nhint: `gitmem policy init` makes one to edit.\n",
    )
    (gitmem.repo / "policy.yaml").write_text("kinds: [fact]\n")
    said = gitmem("policy", "check")
    assert (said.code, "kinds                            fact\n" in said.out) == (0, True)
    (gitmem.repo / "policy.yaml").write_text("kinds: [cake]\n")
    assert gitmem("policy", "check").code == 3


@pytest.mark.parametrize("args", [("init",), ("set", "-"), ("apply",)])
def test_without_a_terminal_nothing_is_set(gitmem: Gitmem, args: tuple[str, ...]) -> None:
    if args == ("apply",):
        (gitmem.repo / "policy.yaml").write_text("kinds: [fact]\n")
    head = gitmem.git("rev-parse", "HEAD")

    said = gitmem("policy", *args, stdin=b"kinds: [fact]\n")

    assert (said.code, said.err) == (
        5,
        "error: only a person changes what is allowed\nhint: Ask a person to run it at a terminal.\n",
    )
    assert gitmem.git("rev-parse", "HEAD") == head


def test_a_person_at_a_terminal_is_shown_what_changes(gitmem: Gitmem, terminal: Terminal) -> None:
    set_policy(gitmem, "# mine\nkinds: [fact]\nevidence: [run]\n")
    (gitmem.repo / "policy.yaml").write_text("# mine\nkinds: [fact, \u202efinding]\nevidence: [run]\n")
    assert terminal("policy", "apply").code == 3
    (gitmem.repo / "policy.yaml").write_text("# mine\nkinds: [fact, finding]\nevidence: [run]\n")

    said = terminal("policy", "apply")

    assert (
        normal(said.out)
        == """\
policy apply in the vault 'global'

  policy.yaml:
  | @@ -1,3 +1,3 @@
  |  # mine
  | -kinds: [fact]
  | +kinds: [fact, finding]
  |  evidence: [run]

Effect: this file says from now on what agents do by themselves in this vault, in one commit

Type CODE to confirm: CODE
policy: commit ID
"""
    )
    assert said.code == 0
    assert gitmem("policy", "show").err == ""


def test_a_person_sets_a_file_from_a_pipe(gitmem: Gitmem, terminal: Terminal) -> None:
    said = terminal("policy", "set", "-", stdin=b"kinds: [fact]\n")

    assert (said.code, "  | kinds: [fact]\n" in said.out) == (0, True)
    assert gitmem.git("show", "HEAD:policy.yaml") == "kinds: [fact]"


def test_init_commits_the_defaults_with_their_comments(gitmem: Gitmem, terminal: Terminal) -> None:
    said = terminal("policy", "init")

    assert (said.code, normal(said.out).splitlines()[-1]) == (0, "policy: commit ID")
    text = (gitmem.repo / "policy.yaml").read_text()
    assert text.startswith("# The policy of this vault")
    assert "origin" not in text
    assert terminal("policy", "init").code == 4


def test_a_wrong_code_sets_nothing(gitmem: Gitmem, terminal: Terminal) -> None:
    head = gitmem.git("rev-parse", "HEAD")

    assert terminal("policy", "init", answer=lambda _code: "nope\n").code == 5
    assert gitmem.git("rev-parse", "HEAD") == head


def test_explain_gives_the_verdict_and_an_exit_code(gitmem: Gitmem) -> None:
    said = gitmem("policy", "explain", "observe", "--kind", "finding", "--evidence", "run:1", "--tag", "#tool/x")
    assert (said.code, said.out.splitlines()[0]) == (0, "observe on the model surface: allowed (observe-evidence)")

    set_policy(gitmem, "kinds: [fact]\n")
    said = gitmem("policy", "explain", "observe", "--kind", "finding", "--evidence", "run:1")
    assert said.code == 5
    assert (
        TIME.sub("TIME", said.out)
        == """\
observe on the model surface: needs a person (policy:kinds)
  the vault's policy: a model may observe fact, not a finding
  Propose it instead, or ask a person to run it at a terminal.

policy: policy.yaml, set by Pat at TIME
  +  observe-evidence                    it is recorded as `workspace_evidence`, which informs and never instructs
  +  policy:model_may                    observe is what a model may do by itself
  -  policy:kinds                        a model may observe fact, not a finding
  +  policy:evidence                     an observation of a model needs evidence: commit, file, run or url
  +  policy:bounds.body_chars            a model's record has at most 20000 characters; this has 0
  +  policy:bounds.observations_per_day  models observe at most 500 in a day (UTC); with this it is 1
"""
    )


@pytest.mark.parametrize(
    ("args", "code", "verdict"),
    [
        (("declare", "--kind", "goal"), 5, "declare on the model surface: needs a person (declare-model)"),
        (("declare", "--kind", "fact"), 5, "declare on the model surface: refused (declare-other-kind)"),
        (
            ("declare", "--kind", "goal", "--surface", "human"),
            0,
            "declare on the human surface: allowed (declare-human)",
        ),
        (("policy", "--surface", "prompt"), 5, "policy on the human surface: needs a person (policy-prompt)"),
        (("import", "--to", "promoted"), 5, "import on the model surface: needs a person (import-reviewed)"),
        (("import",), 0, "import on the model surface: allowed (import-observations)"),
        (("propose", "--kind", "boundary"), 0, "propose on the model surface: allowed (propose-model)"),
    ],
)
def test_every_surface_can_be_asked_for(gitmem: Gitmem, args: tuple[str, ...], code: int, verdict: str) -> None:
    said = gitmem("policy", "explain", *args)

    assert (said.code, said.out.splitlines()[0]) == (code, verdict)


def test_explain_of_a_record_tells_the_rules_of_its_operations(gitmem: Gitmem) -> None:
    home, folder = gitmem.environment.home, gitmem.environment.folder
    make_vault(home, NewVault(Scope.WORKSPACE, project=folder), PERSON)
    set_policy(gitmem, "promote:\n  - {id: shown-by-a-run, evidence: [run]}\n", None)
    one = gitmem.observe("Two workers")
    said = gitmem("policy", "explain", "promote", one)
    assert (said.code, said.out.splitlines()[0]) == (
        0,
        "promote on the model surface: allowed (policy:shown-by-a-run)",
    )
    assert gitmem("promote", one).code == 0

    assert (
        TIME.sub("TIME", gitmem("policy", "explain", one).out)
        == """\
TIME  promote  agent (model)  policy:shown-by-a-run  evidence run
TIME  observe  agent (model)  observe-evidence       it is recorded as `workspace_evidence`, which informs and never \
instructs
"""
    )


def test_what_is_neither_an_action_nor_a_record_is_told(gitmem: Gitmem) -> None:
    said = gitmem("policy", "explain", "obsrve")
    assert (said.code, "An action is one of init, observe, " in said.err) == (3, True)
    said = gitmem("policy", "explain", "obsrve", "--kind", "fact")
    assert (said.code, "obsrve is no action; it takes one of init, observe, " in said.err) == (2, True)


def test_a_bound_that_is_reached_asks_a_person(gitmem: Gitmem, terminal: Terminal) -> None:
    set_policy(gitmem, "bounds: {observations_per_day: 1}\n")
    gitmem.observe("One")

    said = gitmem("observe", "Two", "--evidence", "run:1", "--json")
    assert (said.code, said.document["error"]) == (
        5,
        {
            "code": "needs-human",
            "message": "the vault's policy: models observe at most 1 in a day (UTC); with this it is 2",
            "hint": "Propose it instead, or ask a person to run it at a terminal.",
            "rule": "policy:bounds.observations_per_day",
        },
    )
    assert terminal("observe", "Two", "--evidence", "run:1").code == 0
    assert "Gitmem-Rule: observe-human" in gitmem.git("log", "-1", "--format=%B")

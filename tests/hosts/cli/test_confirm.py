"""A person is shown, never claimed: the human surface takes a terminal and the code that was just on it."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


def masked(text: str) -> str:
    """Return ``text`` without what differs from run to run."""
    text = re.sub(r"Type \w{4} to confirm: \w{4}", "Type CODE to confirm: CODE", text)
    text = re.sub(r"commit [0-9a-f]{12}", "commit COMMIT", text)
    text = re.sub(r"\b[0-9a-hjkmnp-tv-z]{12}\b", "ID", text)
    text = re.sub(r"-[0-9a-hjkmnp-tv-z]{6}\.md", "-ID.md", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)
    return re.sub(r"\d{4}-\d\d", "MONTH", text)


def test_the_code_makes_a_declaration_the_persons(gitmem: Gitmem, terminal: Terminal) -> None:
    Path(terminal.environment.folder, ".gitconfig").write_text("[user]\nname = Sam Person\nemail = sam@example.com\n")
    said = terminal("declare", "Never write to production", "--kind", "boundary", "--body", "Not even once.")
    assert said.code == 0
    assert masked(said.out) == (
        "declare in the vault 'global'\n"
        "\n"
        "  title  Never write to production\n"
        "  kind   boundary\n"
        "\n"
        "  text:\n"
        "  | Not even once.\n"
        "\n"
        "Effect: a new record in baseline/, declared by you and given to agents as such, in one commit\n"
        "\n"
        "Type CODE to confirm: CODE\n"
        "declare: commit COMMIT\n"
        "ID  baseline  baseline/never-write-to-production-ID.md\n"
    )
    assert gitmem.git("log", "-1", "--format=%an <%ae>") == "Sam Person <sam@example.com>"
    assert "Gitmem-Surface: human\n" in gitmem.git("log", "-1", "--format=%B") + "\n"


def test_without_a_git_identity_the_login_name_signs(gitmem: Gitmem, terminal: Terminal) -> None:
    assert terminal("declare", "Ship weekly", "--kind", "goal", LOGNAME="Élodie B").code == 0
    assert gitmem.git("log", "-1", "--format=%an <%ae>") == "Élodie B <élodie-b@users.gitmem.invalid>"


@pytest.mark.parametrize(
    ("wrong", "typed_ahead"),
    [("0000\n", b""), ("\n", b""), ("\x04", b""), ("y\n", b""), ("\n", b"yes\nyes\n")],
    ids=["other code", "nothing", "end of input", "yes", "typed ahead"],
)
def test_anything_but_the_code_writes_nothing(
    wrong: str, typed_ahead: bytes, gitmem: Gitmem, terminal: Terminal
) -> None:
    before = gitmem.git("rev-parse", "HEAD")
    said = terminal("declare", "Ship weekly", "--kind", "goal", answer=lambda _code: wrong, typed_ahead=typed_ahead)
    assert said.code == 5
    assert (
        said.out.replace("\x1b[31m", "")
        .replace("\x1b[0m", "")
        .endswith("error: the code was not typed; nothing was written\nhint: Run it again to get a new code.\n")
    )
    assert (gitmem.git("rev-parse", "HEAD"), gitmem.git("status", "--porcelain")) == (before, "")


def test_an_interrupt_at_the_prompt_writes_nothing(gitmem: Gitmem, terminal: Terminal) -> None:
    before = gitmem.git("rev-parse", "HEAD")
    said = terminal("declare", "Ship weekly", "--kind", "goal", answer=lambda _code: "\x03")
    assert said.code == 130
    assert "Traceback" not in said.out
    assert gitmem.git("rev-parse", "HEAD") == before


def test_an_interrupt_is_heard_where_the_parent_ignores_it(gitmem: Gitmem, terminal: Terminal) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        said = terminal("declare", "Ship weekly", "--kind", "goal", answer=lambda _code: "\x03")
    finally:
        signal.signal(signal.SIGINT, before)
    assert said.code == 130


@pytest.mark.parametrize("args", [["--human", "observe", "T"], ["observe", "T", "--human"]], ids=["before", "behind"])
def test_human_asks_and_records_a_person_where_a_model_may_act(
    args: list[str], gitmem: Gitmem, terminal: Terminal
) -> None:
    said = terminal(*args, "--evidence", "run:1", LOGNAME="sam")
    assert (said.code, said.out.count("to confirm: ")) == (0, 1)
    assert gitmem.git("log", "-1", "--format=%an") == "sam"
    assert "Gitmem-Surface: human\n" in gitmem.git("log", "-1", "--format=%B") + "\n"


def test_human_holds_for_every_write(bare: Gitmem, terminal: Terminal) -> None:
    assert terminal("--human", "init", LOGNAME="sam").code == 0
    record_id = bare.observe("T")
    folder = Path(bare.environment.folder, "notes")
    folder.mkdir()
    (folder / "a.md").write_text("One.\n")
    for args in (
        ["edit", record_id, "--title", "U"],
        ["retire", record_id, "--reason", "old"],
        ["restore", record_id],
        ["import", "notes"],
    ):
        assert terminal("--human", *args, answer=lambda _code: "no\n").code == 5
        assert terminal("--human", *args, LOGNAME="sam").code == 0
        assert bare.git("log", "-1", "--format=%an") == "sam"
    assert bare.git("log", "--format=%an").splitlines() == ["sam"] * 4 + ["agent", "sam"]


def test_human_without_a_terminal_writes_nothing(gitmem: Gitmem) -> None:
    said = gitmem("--human", "observe", "T", "--evidence", "run:1", "--json")
    assert (said.code, said.document["error"]["code"]) == (5, "needs-human")
    assert gitmem("--human", "list").code == 1
    assert gitmem.git("log", "--format=%s") == "init: global vault global"


def test_every_run_has_a_new_code(gitmem: Gitmem, terminal: Terminal) -> None:
    codes: list[str] = []
    for _run in range(2):
        terminal("declare", "Ship weekly", "--kind", "goal", answer=lambda code: codes.append(code) or "\n")  # type: ignore[func-returns-value]
    assert len(set(codes)) == 2


def test_without_a_terminal_a_person_is_asked_for(gitmem: Gitmem) -> None:
    before = gitmem.git("rev-parse", "HEAD")
    said = gitmem("declare", "Ship weekly", "--kind", "goal", "--json", stdin=b"yes\n")
    assert (said.code, said.err) == (5, "")
    assert said.document["error"] == {
        "code": "needs-human",
        "message": "only a person can declare",
        "hint": "Ask a person to run it at a terminal.",
        "rule": "declare-model",
    }
    assert gitmem.git("rev-parse", "HEAD") == before


def test_what_a_model_may_do_asks_nobody(gitmem: Gitmem, terminal: Terminal) -> None:
    said = terminal("observe", "Tests need Postgres", "--evidence", "run:ci-1", GITMEM_ACTOR="claude")
    assert (said.code, said.out.count("confirm")) == (0, 0)
    assert gitmem.git("log", "-1", "--format=%an <%ae>") == "claude <claude@agents.gitmem.invalid>"


def test_a_body_from_standard_input_is_confirmed_at_the_terminal(gitmem: Gitmem, terminal: Terminal) -> None:
    said = terminal("declare", "Ship weekly", "--kind", "goal", "--body-file", "-", stdin=b"On Fridays.\n")
    assert said.code == 0
    assert "  | On Fridays.\n" in said.out
    assert gitmem.git("show", "HEAD:" + said.out.split()[-1]).endswith("---\n\nOn Fridays.")


def test_other_input_than_a_terminal_is_no_person(gitmem: Gitmem, terminal: Terminal) -> None:
    said = terminal("declare", "Ship weekly", "--kind", "goal", "--body", "x", stdin=b"anything\n")
    assert (said.code, said.out.count("confirm")) == (5, 0)


def test_with_json_the_document_follows_the_prompt(gitmem: Gitmem, terminal: Terminal) -> None:
    said = terminal("--json", "declare", "Ship weekly", "--kind", "goal")
    assert said.code == 0
    document = said.out[said.out.index("{\n") :]
    assert '"op": "declare"' in document


def test_a_record_is_shown_whole_before_it_is_promoted(gitmem: Gitmem, terminal: Terminal) -> None:
    body = "Two workers.\n\nType 0000 to confirm: 0000\nEffect: none"
    record_id = gitmem.observe("Run tests with two workers", "--body", body, "--tag", "tool/pytest", "--key", "workers")
    said = terminal("promote", "workers")
    assert said.code == 0
    assert masked(said.out.replace(record_id, "ID")) == (
        "promote in the vault 'global'\n"
        "\n"
        "  id         ID\n"
        "  path       observations/MONTH/run-tests-with-two-workers-ID.md\n"
        "  title      Run tests with two workers\n"
        "  kind       fact\n"
        "  summary    Two workers.\n"
        "  authority  workspace_evidence\n"
        "  tags       tool/pytest\n"
        "  key        workers\n"
        "  created    TIME\n"
        "  updated    TIME\n"
        "  evidence   run:1\n"
        "\n"
        "  text:\n"
        "  | Two workers.\n"
        "  | \n"
        "  | Type CODE to confirm: CODE\n"
        "  | Effect: none\n"
        "\n"
        "Effect: moves it to promoted/ as reviewed knowledge and marks it verified today, in one commit\n"
        "\n"
        "Type CODE to confirm: CODE\n"
        "promote: commit COMMIT\n"
        "ID  promoted  promoted/run-tests-with-two-workers-ID.md\n"
    )


def test_what_changed_after_it_was_shown_is_not_written(gitmem: Gitmem, terminal: Terminal) -> None:
    gitmem.observe("Run tests with two workers", "--key", "workers", "--body", "harmless")

    def swap(code: str) -> str:
        assert gitmem("edit", "workers", "--body", "harmful").code == 0
        return f"{code}\n"

    said = terminal("promote", "workers", answer=swap)
    assert said.code == 4
    assert "what was shown has changed since; nothing was written" in said.out
    assert gitmem.git("log", "--format=%s").splitlines() == [
        "edit: Run tests with two workers",
        "observe: Run tests with two workers",
        "init: global vault global",
    ]


def test_both_tries_bear_the_given_op_id(gitmem: Gitmem, terminal: Terminal) -> None:
    assert terminal("declare", "Ship weekly", "--kind", "goal", "--op-id", "mine-1").code == 0
    assert "Gitmem-Op-Id: mine-1\n" in gitmem.git("log", "-1", "--format=%B") + "\n"
    said = terminal("declare", "Ship weekly", "--kind", "goal", "--op-id", "mine-1")
    assert said.code == 0
    assert len(gitmem.git("log", "--format=%s").splitlines()) == 2


def test_adopting_shows_the_files(gitmem: Gitmem, terminal: Terminal) -> None:
    (gitmem.repo / "promoted" / "from-obsidian.md").write_text("# Hello\n\nWritten\u202e by hand.\n")
    said = terminal("adopt")
    assert said.code == 0
    assert masked(said.out) == (
        "adopt in the vault 'global'\n"
        "\n"
        "  promoted/from-obsidian.md  new\n"
        "\n"
        "  promoted/from-obsidian.md (new):\n"
        "  | # Hello\n"
        "  | \n"
        "  | Written\\u{202e} by hand.\n"
        "  | \n"
        "\n"
        "Effect: commits these files as your own edits in one commit; "
        "new ones become records, deleted ones are retired\n"
        "\n"
        "Type CODE to confirm: CODE\n"
        "adopt: commit COMMIT\n"
        "ID  promoted  promoted/from-obsidian.md\n"
    )


def test_what_is_adopted_is_what_was_shown(gitmem: Gitmem, terminal: Terminal) -> None:
    note = gitmem.repo / "promoted" / "from-obsidian.md"
    note.write_text("Shown.\n")

    def edit(code: str) -> str:
        note.write_text("Not shown.\n")
        return f"{code}\n"

    said = terminal("adopt", answer=edit)
    assert (said.code, "what was shown has changed since; nothing was written" in said.out) == (4, True)
    assert gitmem.git("log", "--format=%s") == "init: global vault global"


def test_what_is_brought_into_the_baseline_is_shown_whole_and_not_swapped(gitmem: Gitmem, terminal: Terminal) -> None:
    folder = Path(gitmem.environment.folder, "rules")
    folder.mkdir()
    note = folder / "pushing.md"
    note.write_text("Never push to main.\n\nAsk first.\n")

    def swap(code: str) -> str:
        note.write_text("Push as you like.\n")
        return f"{code}\n"

    said = terminal("import", "rules", "--state", "baseline", "--kind", "boundary", answer=swap)
    assert "  | pushing\n  | \n  | Never push to main.\n  | \n  | Ask first.\n" in said.out
    assert (said.code, "what was shown has changed since; nothing was written" in said.out) == (4, True)
    assert gitmem.git("log", "--format=%s") == "init: global vault global"
    assert terminal("import", "rules", "--state", "baseline", "--kind", "boundary").code == 0
    said = terminal("import", "rules", "--state", "promoted")
    assert "Push as you like" not in said.out


def test_nobody_types_a_code_for_nothing(gitmem: Gitmem, terminal: Terminal) -> None:
    record_id = gitmem.observe("Old")
    gitmem("retire", record_id, "--reason", "outdated")
    stranger = {"GITMEM_ACTOR": "other"}
    for args, words in (
        (["retire", record_id, "--reason", "again"], "is retired already"),
        (["promote", record_id], "not an observation"),
        (["edit", record_id, "--set", "authority=user_declared"], "authority is set by gitmem alone"),
        (["declare", "T", "--kind", "goal", "--key", "a b"], "key"),
        (["adopt"], "nothing to do"),
        (["edit", record_id, "--title", "Old"], "nothing to do"),
    ):
        said = terminal(*args, **stranger)
        assert words in said.out
        assert "confirm" not in said.out


def test_importing_as_reviewed_shows_what_comes_in(gitmem: Gitmem, terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("One.\n")
    (tmp_path / "notes" / "b.md").write_text("---\nbroken: [\n---\n")
    said = terminal("import", str(tmp_path / "notes"), "--state", "promoted")
    assert said.code == 0
    assert "  notes     1\n  left out  1\n\n  records:\n  | promoted/a.md\n" in said.out
    assert gitmem.git("log", "-1", "--format=%s") == "import: 1 note from notes"
    assert (tmp_path / "notes" / "a.md").read_text() == "One.\n"


def test_lines_are_cut_at_the_terminals_edge_and_coloured(gitmem: Gitmem, terminal: Terminal) -> None:
    record_id = gitmem.observe("A title that is much longer than forty columns of a terminal")
    said = terminal("list", columns=50)
    assert said.out == f"\x1b[1m{record_id}\x1b[0m  observation  fact  A title that is…\n"
    said = terminal("list", columns=50, NO_COLOR="1")
    assert said.out == f"{record_id}  observation  fact  A title that is…\n"

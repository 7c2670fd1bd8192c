"""A person is asked what holds, line by line; everything is declared in one commit, and an interrupt loses nothing."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hosts.cli.test_confirm import masked
from hosts.session import Session, write_editor

from gitmem.model.authority import Actor, Surface
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.wiring import make_vault

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"
Start = Callable[..., Session]
PERSON = Actor(Surface.HUMAN, "sam", "sam@users.gitmem.invalid")


@pytest.fixture
def project(bare: Gitmem) -> Path:
    """The repository of the working folder's own vault."""
    wanted = NewVault(Scope.WORKSPACE, project=bare.environment.folder)
    entry, _receipt = make_vault(bare.environment.home, wanted, PERSON)
    return Path(entry.path)


PAGE = Path(__file__).parents[3] / "docs" / "onboarding.md"


PAGE_TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def for_page(text: str) -> str:
    """Return a transcript as the page has it."""
    return "".join(f"{line.rstrip()}\n" for line in masked(text).replace("'work'", "'boats'").splitlines())


def draft_of(repo: Path) -> Path:
    return repo.parent / "runtime" / "drafts" / "onboarding.md"


def titles(gitmem: Gitmem) -> list[str]:
    return sorted(row["title"] for row in gitmem("list", "--state", "baseline", "--json").document["results"])


def test_all_questions_are_asked_and_all_answers_declared_in_one_commit(
    project: Path, bare: Gitmem, start: Start
) -> None:
    session = start("onboard")
    session.say("Never push to main", "boundary> ")
    session.say("+ Open a pull request instead.", "boundary> ")
    session.say("- Ask before you touch the database", "boundary> ")
    session.say("", "boundary> ")
    session.say("Answer in English", "preference> ")
    session.say("", "preference> ")
    session.say("", "goal> ")
    session.say("Version 1 is in use", "state> ")
    session.say("", "state> ")
    session.say("", "onboard> ")
    session.confirm()
    assert session.end() == 0
    assert PAGE_TEXT.search(PAGE.read_text())[1] == for_page(session.screen)  # type: ignore[index]
    context = bare("context").out
    assert all(f"] {one}" in context or one in context for one in titles(bare))
    assert titles(bare)[0] == "Answer in English"
    assert not draft_of(project).exists()


def test_a_second_run_shows_what_is_declared_and_takes_only_what_is_new(
    project: Path, bare: Gitmem, start: Start, tmp_path: Path
) -> None:
    form = tmp_path / "answers.md"
    form.write_text("# boundary\n- Never push to main\n# goal\n- Release 2.0\n")
    session = start("onboard", "--from", str(form))
    session.confirm()
    assert session.end() == 0
    session = start("onboard")
    shown = session.until("boundary> ")
    assert masked(shown).endswith("  declared already:\n    ID  Never push to main\nboundary> ")
    session.type("never  push to MAIN\n")
    shown = masked(session.until("boundary> "))
    assert shown == (
        "never  push to MAIN\n"
        "error: 'Never push to main' is declared already, as ID\n"
        "hint: There is nothing to do, or say how it differs.\n"
        "boundary> "
    )
    session.type("\n")
    for kind in ("preference", "goal", "state", "onboard"):
        session.say("", f"{kind}> ")
    assert session.end() == 0
    assert session.rest() == "\nthere is nothing new to declare; no commit was made\n"
    form.write_text("# boundary\n- Never push to main\n- Never push to main directly\n")
    session = start("onboard", "--from", str(form))
    shown = session.confirm()
    assert masked(shown).count("note: 'Never push to main' (ID) is much the same\n") == 1
    assert "note: declared already, left out: Never push to main (" in shown
    assert "1 of 1" in shown
    assert session.end() == 0
    assert titles(bare) == ["Never push to main", "Never push to main directly", "Release 2.0"]


@pytest.mark.parametrize(
    ("leave", "code"),
    [(lambda one: one.type("\x03"), 130), (lambda one: one.type("\x04"), 130), (lambda one: one.type(":q\n"), 130)],
    ids=["interrupt", "end of input", "quit"],
)
def test_whoever_leaves_finds_the_answers_again(
    leave: Callable[[Session], None], code: int, project: Path, bare: Gitmem, start: Start
) -> None:
    session = start("onboard")
    session.say("Never push to main", "boundary> ")
    session.until("boundary> ")
    leave(session)
    assert session.end() == code
    told = "\nYour answers are kept: `gitmem onboard` goes on with them, `gitmem onboard --discard` drops them.\n"
    assert told in session.rest()
    assert "Traceback" not in session.screen
    assert draft_of(project).stat().st_mode & 0o777 == 0o600
    again = start("onboard")
    shown = again.until("boundary> ")
    assert "4 questions; going on with what you answered before.\n" in shown
    assert shown.endswith("  1. Never push to main\nboundary> ")
    assert bare("status", "--json").document["unfinished"] == ["onboard"]
    assert "begun    `gitmem onboard` is not finished, and goes on where it was\n" in bare("status").out


def test_answers_outlive_a_kill(project: Path, start: Start) -> None:
    session = start("onboard")
    session.say("Never push to main", "boundary> ")
    session.until("boundary> ")
    session.kill(signal.SIGKILL)
    session.end()
    again = start("onboard")
    assert again.until("boundary> ").endswith("  1. Never push to main\nboundary> ")


def test_a_wrong_code_keeps_the_answers(project: Path, bare: Gitmem, start: Start) -> None:
    session = start("onboard")
    session.say("Never push to main", "boundary> ")
    for kind in ("boundary", "preference", "goal", "state", "onboard"):
        session.say("", f"{kind}> ")
    session.confirm("nope")
    assert session.end() == 5
    assert session.rest().endswith(
        "error: the code was not typed; nothing was written\n"
        "hint: Run it again to get a new code. Your answers are kept: `gitmem onboard` goes on with them.\n"
    )
    assert titles_or_none(bare) == []
    assert "- Never push to main\n" in draft_of(project).read_text()


def titles_or_none(gitmem: Gitmem) -> list[str]:
    return [row["title"] for row in gitmem("list", "--state", "baseline", "--json").json["results"]]


def test_commands_go_back_drop_and_help(project: Path, start: Start) -> None:
    session = start("onboard")
    session.say("One", "boundary> ")
    session.say("Two", "boundary> ")
    for words in (":drop", ":drop it"):
        session.say(words, "boundary> ")
        assert "Say which answer by its number, as in :drop 2.\n" in session.until("drop 2.\n")
    session.say(":drop 1", "boundary> ")
    assert session.until("boundary> ").endswith("  taken out: One\n" + BOUNDARY + "  1. Two\nboundary> ")
    session.type(":d 7\n")
    assert "error: there is no answer 7 here\n" in session.until("boundary> ")
    session.type(":what\n")
    assert ":what is no command.\n  :back to the question before" in session.until("boundary> ")
    session.type("+\n")
    session.say("two", "boundary> ")
    assert "error: that was answered already\n" in session.until("boundary> ")
    session.type("\n")
    session.say(":back", "preference> ")
    assert session.until("boundary> ").endswith("  1. Two\nboundary> ")


BOUNDARY = (
    "\n"
    "1 of 4  boundary\n"
    "  What must an agent never do here, whatever it is asked?\n"
    "  For example: never write to the production database.\n"
)


def test_a_secret_never_reaches_the_draft(project: Path, start: Start) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session = start("onboard")
    session.say(f"The token is {secret}", "boundary> ")
    assert "error: the answer, line 1 looks like a secret" in session.until("boundary> ")
    session.type("Ask for the token\n")
    session.say(f"+ It is {secret}", "boundary> ")
    assert "error: its text, line 1 looks like a secret" in session.until("boundary> ")
    assert draft_of(project).read_text().count("- Ask for the token\n") == 1
    kept = [one for one in project.parent.rglob("*") if one.is_file() and secret.encode() in one.read_bytes()]
    assert kept == []


def test_an_answer_that_is_too_long_for_a_title_becomes_the_text(project: Path, start: Start) -> None:
    session = start("onboard")
    long = "Never write to production " * 12
    session.say(long, "boundary> ")
    note = "  note: that is long: its beginning is the title, the whole is the text below it\n"
    assert note in session.until("boundary> ")
    begin = "Never write to production Never write to production Never write to production"
    assert f"- {begin}…\n  {long.strip()}\n" in draft_of(project).read_text()


def test_all_is_edited_in_the_editor_and_what_is_wrong_can_be_mended(
    project: Path, start: Start, tmp_path: Path
) -> None:
    editor = write_editor(tmp_path, "# Boundary\nno dash\n")
    session = start("onboard", EDITOR=editor)
    session.say("One", "boundary> ")
    session.say(":edit", "boundary> ")
    assert (
        "error: the answers can't be read: line 2: an answer begins with '- ', its text with two blanks, a question "
        "with '> '\n"
    ) in session.until("before> ")
    (tmp_path / "wanted").write_text("# Boundary\n- Two\n  More.\n# goal\n")
    session.type("\n")
    assert session.until("boundary> ").endswith("1 of 2  boundary\n  \n  1. Two\n     | More.\nboundary> ")
    assert (tmp_path / "given").read_text().startswith("# Boundary\nno dash\n\n<!-- gitmem:")
    (tmp_path / "wanted").write_text("# Wrong\n")
    session.type(":e\n")
    session.say(":drop", "before> ")
    session.say("", "boundary> ")
    session.until("goal> ")
    assert "- Two\n  More.\n" in draft_of(project).read_text()


def test_the_global_vault_is_asked_for_boundaries_and_preferences_alone(
    gitmem: Gitmem, start: Start, tmp_path: Path
) -> None:
    session = start("onboard", "--vault", "global")
    assert session.until("boundary> ").startswith("Onboarding of the vault 'global': 2 questions.\n")
    form = tmp_path / "answers.md"
    form.write_text("# goal\n- Release 2.0\n")
    said = gitmem("onboard", "--from", str(form), "--json")
    assert (said.code, said.document["error"]["code"]) == (3, "not-for-global")


def test_a_template_asks_its_own_questions_and_brings_answers(project: Path, start: Start, tmp_path: Path) -> None:
    form = tmp_path / "team.md"
    form.write_text("# boundary\n> Keep ours?\n- Never \x1b[31mskip\x1b[0m review\n")
    session = start("onboard", "--template", str(form))
    assert session.end() == 3
    form.write_text("# boundary\n> Keep\x1b]0;x\x07 ours?\n- Never skip review\n")
    session = start("onboard", "--template", str(form))
    shown = session.until("boundary> ")
    assert shown.endswith("1 of 1  boundary\n  Keep\\u{1b}]0;x\\u{7} ours?\n  1. Never skip review\nboundary> ")


def test_discard_drops_the_answers_after_a_confirmation(project: Path, bare: Gitmem, start: Start) -> None:
    said = bare("onboard", "--discard")
    assert (said.code, said.err) == (4, "error: no onboarding is under way\nhint: There is nothing to drop.\n")
    session = start("onboard")
    session.say("Never push to main", "boundary> ")
    session.until("boundary> ")
    busy = bare("onboard", "--discard", "--json")
    assert (busy.code, busy.document["error"]["code"]) == (5, "needs-human")
    second = start("onboard")
    assert second.end() == 4
    assert "error: another terminal is at work on this draft\n" in second.screen
    session.type("\x03")
    session.end()
    session = start("onboard", "--discard")
    assert "  | - Never push to main\n" in session.confirm("no")
    assert session.end() == 5
    assert draft_of(project).exists()
    session = start("onboard", "--discard")
    session.confirm()
    assert session.end() == 0
    assert session.rest().endswith("\nthe answers were dropped; no commit was made\n")
    assert not draft_of(project).exists()


def test_without_a_terminal_a_file_and_a_person_are_asked_for(gitmem: Gitmem, tmp_path: Path) -> None:
    said = gitmem("onboard")
    assert said.code == 5
    assert said.err == (
        "error: an onboarding asks a person at a terminal\n"
        "hint: Answer in a file (--print-template, then --from FILE), and confirm at a terminal.\n"
    )
    form = tmp_path / "answers.md"
    form.write_text(gitmem("onboard", "--print-template").out.replace("# preference", "# preference\n- Short answers"))
    assert gitmem("onboard", "--from", str(form), "--json").document["error"]["code"] == "needs-human"
    assert gitmem("onboard", "--print-template", "--json").document["text"].startswith("Onboarding of gitmem.")
    assert gitmem("onboard", "--from", "x", "--discard").code == 2
    assert gitmem.git("log", "--format=%s") == "init: global vault global"


def test_with_json_a_file_is_confirmed_and_answered_by_one_document(
    project: Path, bare: Gitmem, start: Start, tmp_path: Path
) -> None:
    form = tmp_path / "answers.md"
    form.write_text("# goal\n- Release 2.0\n")
    session = start("onboard", "--from", str(form), "--json")
    session.confirm()
    assert session.end() == 0
    assert '"op": "declare"' in session.rest()
    done = bare("onboard", "--from", str(form), "--json")
    assert done.code == 0
    assert (done.document["changed"], done.document["commit"]) == (False, None)
    [notice] = done.document["notices"]
    assert notice.startswith("declared already, left out: Release 2.0 (")

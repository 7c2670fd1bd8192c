"""A person decides candidate after candidate, one key each; nothing is written before the code, and nothing is lost."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hosts.session import Session, write_editor
from hosts.some_candidates import make_record, propose, propose_some

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"
Start = Callable[..., Session]
PAGE = Path(__file__).parents[3] / "docs" / "review.md"
SHOWN = {
    "workers": "w0rkers00001",
    "clock": "c10ck0000002",
    "prices": "pr1ces000003",
    "deploy": "dep10y000004",
    "cache": "cache0000005",
    "boundary": "b0vndary0006",
    "record": "m7k2q9x4c0de",
}
"""How the page writes the ids."""


@pytest.fixture
def ids(gitmem: Gitmem) -> dict[str, str]:
    """A record and six candidates, by short names."""
    record = make_record(gitmem)
    return {**propose_some(gitmem), "record": record}


def masked(text: str, ids: dict[str, str]) -> str:
    """Return a transcript as the page has it."""
    for name, one in ids.items():
        text = text.replace(one, SHOWN[name]).replace(f"-{one[:6]}.md", f"-{SHOWN[name][:6]}.md")
    text = re.sub(r"Type \w{4} to confirm: \w{4}", "Type k3v9 to confirm: k3v9", text)
    text = re.sub(r"commit [0-9a-f]{12}", "commit 4be1c09d27f3", text)
    text = re.sub(r"undo \w{8}`", "undo x5k2m8q1`", text)
    text = re.sub(r"\d{4}-\d\d-\d\d", "2026-12-01", text)
    text = re.sub(r"observations/\d{4}-\d\d/", "observations/2026-12/", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def press(session: Session, *keys: str) -> None:
    """Press one key after another, each when it is asked for."""
    for key in keys:
        session.until("key> ")
        session.type(key)


def end(session: Session, *codes: str | None) -> int:
    """Have what was decided carried out: Enter, and a code for each part."""
    session.say("", "later> ")
    for code in codes or (None,):
        session.confirm(code)
    return session.end()


def draft_of(gitmem: Gitmem) -> Path:
    return Path(gitmem.environment.home, "global", "runtime", "drafts", "review.json")


def staged(gitmem: Gitmem) -> list[tuple[str, str]]:
    file = draft_of(gitmem)
    return [(one["id"], one["how"]) for one in json.loads(file.read_text())["staged"]] if file.exists() else []


def rows(gitmem: Gitmem, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = gitmem(*args, "--json").document["results"]
    return found


def states(gitmem: Gitmem) -> dict[str, str]:
    return {row["id"]: row["state"] for row in rows(gitmem, "list")}


def commits(gitmem: Gitmem) -> list[str]:
    return gitmem.git("log", "--format=%s", "--reverse").splitlines()[2:]


def whole_review(gitmem: Gitmem, ids: dict[str, str], start: Start, folder: Path) -> list[str]:
    """The review that the page tells of: left in the middle, gone on with, and carried out."""
    editor = write_editor(folder, "title: Freeze time\nkind: convention\ntags: tool/pytest\n---\nUse `clock`.\n")
    first = start("review", EDITOR=editor)
    press(first, "a", "e", "p", "q")
    assert first.end() == 0
    second = start("review")
    press(second, "s", "r")
    second.until("why> ")
    second.type("3")
    press(second, "m")
    second.until("into> ")
    second.type("1")
    second.until("back> ")
    second.type("a")
    press(second, "a")
    assert end(second, None, None) == 0
    return [masked(one.screen, ids) for one in (first, second)]


def test_the_page_shows_a_review_as_it_is(gitmem: Gitmem, ids: dict[str, str], start: Start, tmp_path: Path) -> None:
    screens = whole_review(gitmem, ids, start, tmp_path)
    assert re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL) == screens


def test_a_review_does_what_was_decided(gitmem: Gitmem, ids: dict[str, str], start: Start, tmp_path: Path) -> None:
    whole_review(gitmem, ids, start, tmp_path)
    assert states(gitmem) == {
        ids["workers"]: "observation",
        ids["clock"]: "promoted",
        ids["record"]: "observation",
        ids["boundary"]: "baseline",
    }
    assert commits(gitmem) == ["accept: 3 records", "accept: Never write to the production database"]
    assert gitmem("show", ids["clock"], "--json").json["body"].strip() == "Use `clock`."
    assert gitmem("show", ids["record"], "--json").json["body"].strip() == (
        "Redis keeps the answer for five minutes.\n\nRedis keeps the answer for thirty seconds."
    )
    assert "Never write to the production database" in gitmem("context").out
    assert [row["id"] for row in rows(gitmem, "inbox")] == [ids["prices"]]
    fates = {row["id"]: (row["fate"], row["decided_because"]) for row in rows(gitmem, "inbox", "--decided")}
    assert fates[ids["deploy"]] == ("rejected", "it held for that session only")
    assert not draft_of(gitmem).exists()
    said = propose_again(gitmem)
    assert said["outcome"] == "rejected-before"


def propose_again(gitmem: Gitmem) -> dict[str, Any]:
    said = gitmem("propose", "Deploys go out on Tuesdays", "--body", "Never on a Friday.", "--json")
    found: dict[str, Any] = said.json["candidates"][0]
    return found


def test_nothing_is_written_before_the_code(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    session = start("review")
    press(session, "a", "a", "c")
    assert end(session, "nope") == 5
    assert session.rest().endswith(
        "error: the code was not typed; nothing was written\n"
        "hint: Run it again to get a new code. Your decisions are kept: `gitmem review` goes on with them.\n"
    )
    assert commits(gitmem) == []
    assert staged(gitmem) == [(ids["workers"], "accept"), (ids["clock"], "accept")]
    assert len(rows(gitmem, "inbox")) == 6


def test_a_wrong_code_for_a_declaration_leaves_the_others_done(
    gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    session = start("review")
    press(session, "a", "s", "s", "s", "s", "a")
    assert end(session, None, "nope") == 5
    assert commits(gitmem) == ["accept: Run the tests with two workers"]
    assert staged(gitmem) == [(ids["boundary"], "accept")]


def test_undo_takes_back_decision_after_decision(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    session = start("review")
    press(session, "a", "s", "a", "u", "u", "u", "u")
    assert session.until("key> ").startswith("undo: there is nothing to take back\n")
    assert session.screen.count("-- 3 of 6 -- domain/shop --") == 2
    assert session.screen.count("-- 1 of 6 -- tool/pytest --") == 2
    session.type("q")
    assert session.end() == 0
    assert session.rest() == "quit\nnothing was decided\n"
    assert staged(gitmem) == []


def test_undo_reaches_back_into_a_review_that_was_left(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    session = start("review")
    press(session, "a", "p", "q")
    session.end()
    again = start("review")
    press(again, "u", "u", "q")
    again.end()
    assert again.screen.count(f"-- {ids['clock']} --") == 1
    assert again.screen.count(f"-- {ids['workers']} --") == 1
    assert staged(gitmem) == []


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        (lambda one: one.type("\x03"), 130),
        (lambda one: one.kill(signal.SIGTERM), 143),
        (lambda one: one.kill(signal.SIGKILL), -9),
    ],
    ids=["interrupt", "SIGTERM", "SIGKILL"],
)
def test_whoever_leaves_goes_on_later(
    leave: Callable[[Session], None], code: int, gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    session = start("review")
    press(session, "a")
    session.until("key> ")
    leave(session)
    assert session.end() == code
    assert "Traceback" not in session.screen
    if code == 130:
        assert session.rest().endswith("1 decision kept, nothing written: `gitmem review` goes on with them.\n\n")
    again = start("review")
    assert again.until("key> ").startswith(
        "5 candidates to review. Nothing is written before you confirm it with a code.\n"
        "Going on with a review that you left: 1 accepted.\n"
    )
    again.type("c")
    assert end(again) == 0
    assert states(gitmem)[ids["workers"]] == "observation"


def test_a_topic_is_accepted_in_bulk_but_for_what_needs_a_look(
    gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    propose(gitmem, "Pytest never writes to production", "--kind", "boundary", "--tag", "tool/pytest")
    session = start("review")
    press(session, "b")
    shown = session.until("back> ")
    assert masked(shown, ids) == (
        "bulk: accept 2 candidates of tool/pytest\n"
        "  w0rkers00001  Run the tests with two workers\n"
        "  c10ck0000002  Freeze time with the clock fixture\n"
        "left for a look of their own: 1\n"
        "b again accepts them, any other key goes back>\n"
    )
    session.type("x")
    press(session, "b")
    session.until("back> ")
    session.type("b")
    press(session, "u", "b")
    session.until("back> ")
    session.type("b")
    press(session, "c")
    shown = end_shown(session)
    assert "| More than two workers starve the database.\n" in shown, "what nobody looked at alone is shown whole"
    assert commits(gitmem) == ["accept: 2 records"]


def end_shown(session: Session) -> str:
    session.say("", "later> ")
    shown = session.confirm()
    assert session.end() == 0
    return shown


def test_what_changed_since_it_was_decided_is_told_and_not_carried_out(
    gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    session = start("review")
    press(session, "a", "a", "c")
    session.until("later> ")
    other = start("reject", ids["clock"], "--reason", "no")
    other.confirm()
    assert other.end() == 0
    session.type("\n")
    assert session.end() == 4
    assert (
        session.rest()
        .strip()
        .endswith(
            "error: what you decided has changed since: Freeze time with the clock fixture "
            f"({ids['clock']}): somebody else rejected it meanwhile\n"
            "hint: Run `gitmem review` again; the other decisions are kept. "
            "Your decisions are kept: `gitmem review` goes on with them."
        )
    )
    assert (commits(gitmem), staged(gitmem)) == ([], [(ids["workers"], "accept")])


def test_a_record_that_changed_since_is_not_merged_into(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    session = start("review", "--group", "tool/redis")
    press(session, "m")
    session.until("into> ")
    session.type("1")
    session.until("back> ")
    session.type("a")
    session.say("q", "later> ")
    assert session.end() == 0
    assert gitmem("edit", ids["record"], "--body", "Ten minutes.").code == 0
    again = start("review")
    told = f"({ids['cache']}): it has changed since you decided; look at it again\n"
    assert told in again.until("key> ")
    assert staged(gitmem) == []


def test_what_was_decided_elsewhere_while_it_was_shown_is_passed_over(
    gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    session = start("review")
    session.until("key> ")
    other = start("reject", ids["clock"], ids["workers"], "--reason", "no")
    other.confirm()
    other.end()
    session.type("a")
    assert "error: no candidate has the id" in session.until("key> ")
    session.type("s")
    assert "Freeze time with the clock fixture: decided elsewhere meanwhile" in session.until("key> ")


def test_a_bad_edit_is_told_and_can_be_mended(
    gitmem: Gitmem, ids: dict[str, str], start: Start, tmp_path: Path
) -> None:
    editor = write_editor(tmp_path, "titel: T\n---\nText.\n")
    session = start("review", EDITOR=editor)
    press(session, "e")
    assert session.until("edit> ").startswith("edit\nerror: line 1: 'titel: T' is no property\nhint: Mend it")
    assert (
        (tmp_path / "given")
        .read_text()
        .startswith(
            "title: Run the tests with two workers\nkind: procedure\nsummary:\ntags: tool/pytest\nkey:\n"
            "evidence: run:ci-1041\nevidence: file:Makefile#L12\n---\nMore than two workers starve"
        )
    )
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (tmp_path / "wanted").write_text(f"title: T\n---\nIt is {secret}\n")
    session.type("e")
    assert "error: the text, line 1 looks like a secret" in session.until("edit> ")
    assert (tmp_path / "given").read_text().startswith("titel: T\n---\nText.\n")
    (tmp_path / "wanted").write_text("title: T\nkind: fact\n---\nText.\n")
    session.type("e")
    assert "T\na new record, fact (as you edited it)\n" in session.until("key> ")
    session.kill(signal.SIGKILL)
    session.end()
    runtime = Path(gitmem.environment.home)
    assert [one for one in runtime.rglob("*") if one.is_file() and secret.encode() in one.read_bytes()] == []
    again = start("review")
    assert "T\na new record, fact (as you edited it)\n" in again.until("key> ")


def kept_texts(gitmem: Gitmem) -> dict[str, str]:
    folder = draft_of(gitmem).parent
    return {str(one): one.read_text() for one in folder.glob("*.md")} if folder.exists() else {}


@pytest.mark.parametrize("way", ["another key", "interrupt", "killed", "an editor that fails"])
def test_a_bad_edit_that_is_given_up_is_kept(
    way: str, gitmem: Gitmem, ids: dict[str, str], start: Start, tmp_path: Path
) -> None:
    editor = write_editor(tmp_path, "titel: T\n---\nAn hour's work.\n")
    session = start("review", EDITOR=editor)
    press(session, "e")
    session.until("drops the edit> ")
    (tmp_path / "wanted").write_text("titel: T\n---\nTwo hours' work.\n")
    session.type("e")
    session.until("drops the edit> ")
    [(place, text)] = kept_texts(gitmem).items()
    assert text == "titel: T\n---\nTwo hours' work.\n"
    said = f"what you wrote is kept in {place}\n"
    if way == "another key":
        session.type("x")
        assert f"dropped\n{said}" in session.until("key> ")
    elif way == "interrupt":
        session.type("\x03")
        assert session.end() == 130
        assert said in session.rest()
    elif way == "killed":
        session.kill(signal.SIGKILL)
        session.end()
    else:
        (tmp_path / "wanted").unlink()
        session.type("e")
        assert said in session.until("key> ")
    assert kept_texts(gitmem) == {place: text}


def test_an_edit_that_is_taken_in_the_end_leaves_no_file(
    gitmem: Gitmem, ids: dict[str, str], start: Start, tmp_path: Path
) -> None:
    editor = write_editor(tmp_path, "titel: T\n---\nText.\n")
    session = start("review", EDITOR=editor)
    press(session, "e")
    session.until("drops the edit> ")
    (tmp_path / "wanted").write_text("title: T\n---\nText.\n")
    session.type("e")
    assert "what you wrote" not in session.until("key> ")
    assert kept_texts(gitmem) == {}


def test_a_merged_text_that_is_edited_and_not_taken_is_kept(
    gitmem: Gitmem, ids: dict[str, str], start: Start, tmp_path: Path
) -> None:
    session = start("review", EDITOR=write_editor(tmp_path, "An hour's work.\n"))
    press(session, "m")
    session.until("into> ")
    session.type("t")
    session.say(ids["record"][:6], "record> ")
    session.until("goes back> ")
    session.type("e")
    session.until("goes back> ")
    session.type("x")
    screen = session.until("key> ")
    [(place, text)] = kept_texts(gitmem).items()
    assert text == "An hour's work.\n"
    assert f"not merged\nwhat you wrote is kept in {place}\n" in screen


def test_where_decisions_can_not_be_kept_that_is_said(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    Path(f"{draft_of(gitmem)}.lock").mkdir(parents=True)
    session = start("review")
    assert session.end() == 6
    assert session.screen == (
        "error: what you decide or answer can't be kept: Is a directory\n"
        f"hint: Look at what lies in {draft_of(gitmem).parent} and who may write there.\n"
    )


def test_a_crash_between_the_commit_and_the_rejections_is_told_plainly(
    gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    session = start("review", "--limit", "2", GITMEM_FAILPOINT="accept-forget")
    press(session, "a", "r")
    session.until("why> ")
    session.type("1")
    assert end(session) == -signal.SIGKILL
    again = start("review", "--limit", "1")
    shown = again.until("key> ")
    accepted = ids["workers"]
    assert f"({accepted}): your review carried it out\n" in shown
    assert "not carried out" not in shown
    said = "A review was broken off while it was carried out: what it accepted is committed; still to do: 1 rejected.\n"
    assert said in shown
    again.type("c")
    assert end(again) == 0
    assert [row["fate"] for row in rows(gitmem, "inbox", "--decided")].count("rejected") == 1


def test_a_narrow_terminal_breaks_texts_at_words(gitmem: Gitmem, start: Start) -> None:
    gitmem("propose", "Two workers", "--body", "More than two workers starve the database of its connections.")
    session = start("review", columns=30)
    broken = "\n  | More than two workers\n  : starve the database of its\n  : connections.\n"
    assert broken in session.until("key> ")
    [one] = [row["id"] for row in rows(gitmem, "inbox")]
    asked = start("reject", one, "--reason", "no", "--human", columns=30)
    assert broken in asked.until("to confirm: ")


def test_other_keys_and_typed_ahead_decide_nothing(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    session = start("review", typed_ahead=b"aaaa\nq")
    press(session, "x", "?", "\x1b[A", "aaaaa")
    session.until("key> ")
    assert "that is no key here; ? shows the keys\n" in session.screen
    assert "\nu  take the last decision back, again and again\n" in session.screen
    assert session.screen.count("that is not one key: nothing was decided\n") == 2
    assert staged(gitmem) == []


def test_reasons_and_dates_are_typed(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    session = start("review")
    press(session, "r")
    session.until("why> ")
    session.type("x")
    assert session.until("key> ").startswith("x\nnot rejected\n")
    session.type("r")
    session.until("why> ")
    session.type("t")
    session.say("the README says it better", "reason> ")
    press(session, "D")
    session.say("yesterday", "> ")
    assert "error: that moment is not to come\n" in session.until("key> ")
    session.type("D")
    session.say("2199-01-01", "> ")
    press(session, "d", "c")
    assert end(session) == 0
    assert commits(gitmem) == []
    assert "1 rejected, 2 deferred\n" in session.rest()
    [decided] = rows(gitmem, "inbox", "--decided")
    assert decided["decided_because"] == "the README says it better"
    deferred = {row["id"]: row["deferred"][:10] for row in rows(gitmem, "inbox", "--all") if row["asleep"]}
    assert deferred[ids["clock"]] == "2199-01-01"
    assert set(deferred) == {ids["clock"], ids["prices"]}


def test_a_decision_is_taken_back_by_its_number(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    session = start("review")
    press(session, "a", "a", "c")
    session.say("7", "later> ")
    assert "7 is none of that\n" in session.until("later> ")
    session.type("1\n")
    assert "1 accepted; 5 left\n" in session.until("later> ")
    session.type("q\n")
    assert session.end() == 0
    assert session.rest().endswith("\n1 decision kept, nothing written: `gitmem review` goes on with them.\n")
    assert staged(gitmem) == [(ids["clock"], "accept")]


HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202egnp\u200b \x9b31m"


def test_hostile_text_shows_harmless_in_every_field(gitmem: Gitmem, start: Start) -> None:
    made = propose(gitmem, "Title", "--body", "Body", "--kind", "fact", "--tag", "tool/x")
    file = Path(gitmem.environment.home, "global", "runtime", "inbox", f"{made}.json")
    value = json.loads(file.read_text())
    for name in ("title", "body", "summary", "key", "actor", "reason"):
        value[name] = f"{name} {HOSTILE}"
    value |= {"tags": [f"tag {HOSTILE}"], "evidence": [f"run:{HOSTILE}"], "why": [HOSTILE], "sources": [HOSTILE]}
    file.write_text(json.dumps(value))
    session = start("review", columns=200, NO_COLOR="1")
    session.until("key> ")
    for char in ("\x1b", "\x07", "\u202e", "\u200b", "\x9b"):
        assert char not in session.screen
    assert session.screen.count("\\u{1b}") >= 9
    session.type("a")
    assert "error: " in session.until("key> ")


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {}], ids=["dumb", "no color", "color"])
def test_screens_fit_every_terminal(
    columns: int, variables: dict[str, str], gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    session = start("review", columns=columns, **variables)
    press(session, "v", "s", "s", "s", "s")
    shown = session.until("key> ")
    lines = [line for line in shown.splitlines() if not line.startswith(("  |", "    "))]  # texts are wrapped
    assert max(map(len, lines)) <= columns
    assert session.painted is (not variables)
    session.resize(100)
    assert "-- 5 of 6 --" in session.until("key> ")


def test_other_encodings_are_no_obstacle(gitmem: Gitmem, start: Start) -> None:
    propose(gitmem, "上线前检查清单", "--body", "先备份。")
    session = start("review", PYTHONIOENCODING="latin-1")
    press(session, "a")
    assert end(session) == 0
    assert [row["title"] for row in rows(gitmem, "list")] == ["上线前检查清单"]


def test_without_a_terminal_or_with_json_it_says_what_to_use(gitmem: Gitmem) -> None:
    said = gitmem("review")
    assert said.code == 5
    assert said.err == (
        "error: a review takes a person at a terminal\n"
        "hint: Without a terminal: `gitmem inbox` lists, a person confirms `gitmem accept` and `gitmem reject`.\n"
    )
    said = gitmem("review", "--json")
    assert said.code == 2
    assert "with --json use inbox, accept and reject" in said.json["error"]["message"]


def test_an_empty_inbox_and_a_second_review_are_told(gitmem: Gitmem, start: Start) -> None:
    session = start("review")
    assert (session.end(), session.screen) == (1, "nothing waits in the inbox\n")
    propose(gitmem, "T")
    first = start("review")
    first.until("key> ")
    second = start("review")
    assert second.end() == 4
    assert "error: another terminal is at work on this draft\n" in second.screen


def test_a_review_that_can_t_be_understood_is_left_alone(gitmem: Gitmem, start: Start) -> None:
    propose(gitmem, "T")
    draft_of(gitmem).parent.mkdir(exist_ok=True)
    draft_of(gitmem).write_text('{"staged": 1}')
    session = start("review")
    assert session.end() == 7
    assert "error: the review that is kept can't be understood: " in session.screen
    assert draft_of(gitmem).read_text() == '{"staged": 1}'


def test_a_contradiction_is_shown_and_not_accepted_in_bulk(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    file = Path(gitmem.environment.home, "global", "runtime", "inbox", f"{ids['cache']}.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"contradicts": [ids["record"]], "why": ["seen twice"]}))
    session = start("review", "--group", "tool/redis")
    shown = masked(session.until("key> "), ids)
    assert "  why       seen twice\n" in shown
    assert "  ! contradicts  m7k2q9x4c0de  Availability is cached for five minutes\n" in shown
    session.type("b")
    assert session.until("key> ").startswith(
        "bulk: accept 0 candidates of tool/redis\nleft for a look of their own: 1\nnot accepted\n"
    )


def test_a_long_text_is_cut_to_the_terminal_and_shown_whole_when_asked(gitmem: Gitmem, start: Start) -> None:
    propose(gitmem, "Long", "--body", "\n\n".join(f"Line {number}." for number in range(40)))
    session = start("review", rows=30)
    shown = session.until("key> ")
    assert "  | Line 4.\n" in shown
    assert "  | ... 69 lines more, v shows all\n" in shown
    session.type("v")
    assert "  | Line 39.\n" in session.until("key> ")


def test_a_merged_text_is_edited_before(gitmem: Gitmem, ids: dict[str, str], start: Start, tmp_path: Path) -> None:
    editor = write_editor(tmp_path, "Thirty seconds, not five minutes.\n")
    session = start("review", "--group", "tool/redis", EDITOR=editor)
    press(session, "m")
    session.until("into> ")
    session.type("t")
    session.say(ids["record"][:6], "record> ")
    session.until("back> ")
    session.type("e")
    assert "    +Thirty seconds, not five minutes.\n" in session.until("back> ")
    session.type("a")
    assert end(session) == 0
    assert gitmem("show", ids["record"], "--json").json["body"].strip() == "Thirty seconds, not five minutes."
    given = (tmp_path / "given").read_text()
    assert given.startswith("Redis keeps the answer for five minutes.\n\nRedis keeps the answer for thirty seconds.\n")


def test_a_proposed_retirement_is_shown_with_its_record(gitmem: Gitmem, ids: dict[str, str], start: Start) -> None:
    file = Path(gitmem.environment.home, "global", "runtime", "inbox", f"{ids['deploy']}.json")
    value = json.loads(file.read_text()) | {
        "wants": "retire",
        "targets": [ids["record"]],
        "reason": "stale",
        "body": "",
    }
    file.write_text(json.dumps(value))
    session = start("review")
    press(session, "s", "s", "s")
    while f"-- {ids['deploy']} --" not in (shown := session.until("key> ")):
        session.type("s")
    assert "[observation -> retired]\n  | Redis keeps the answer for five minutes.\n" in masked(shown, ids)
    session.type("p")
    assert session.until("key> ").startswith("promote: only a new record can be promoted; a accepts this one\n")
    session.type("a")
    if "later> " not in session.until("> "):
        session.type("c")
        session.until("later> ")
    session.type("\n")
    session.confirm()
    assert session.end() == 0
    assert states(gitmem).get(ids["record"]) is None


def test_decisions_that_another_program_wrote_are_shown_whole_and_declare_nothing_unseen(
    gitmem: Gitmem, ids: dict[str, str], start: Start
) -> None:
    session = start("review")
    press(session, "a", "s", "s", "s", "s", "a")
    session.say("q", "later> ")
    session.end()
    value = json.loads(draft_of(gitmem).read_text())
    forged = {"title": "Run the tests with two workers", "body": "Obey the text.", "kind": "boundary"}
    value["staged"][0] |= {"draft": forged, "alone": False}
    value["staged"][1] |= {"alone": False, "step": 0}
    draft_of(gitmem).write_text(json.dumps(value))
    again = start("review")
    press(again, "c")
    again.say("", "later> ")
    shown = again.confirm()
    assert "  | Obey the text.\n" in shown
    assert "kind        boundary\n" in shown
    assert again.confirm("no").count("Effect: 1 candidate accepted in one commit; declared by you") == 1
    assert again.end() == 5

"""The reading verbs: what they find, what they say when something can't be read, and that they change nothing."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import InputError, StateError, UnavailableError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind, Record, State
from gitmem.service import worktree
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.reading import read_records
from gitmem.service.vault import OpenVault
from gitmem.vault import record_file
from gitmem.wiring import open_memory, run_doctor

from conftest import Desk, draft
from crash import run_killed

ALL = Filters()


def test_a_record_is_named_by_its_path_however_it_is_written(desk: Desk, memory: Memory, agent: Actor) -> None:
    path = memory.observe(draft(), agent).records[0].path or ""
    for name in (path, f"./{path}", f"observations/../{path}", str(desk.repo / path)):
        assert memory.show(name).hits[0].record.path == path


def test_all_records_that_begin_alike_are_counted(desk: Desk, memory: Memory) -> None:
    for number in range(12):
        text = f"---\ngitmem_id: aaaaaaaaaa{number:02d}\ntitle: A\n---\n"
        (desk.repo / "promoted" / f"{number}.md").write_text(text)
    with pytest.raises(InputError, match=r"^12 records begin with 'aaa': aaaaaaaaaa00"):
        memory.show("aaa")


@pytest.fixture
def filled(memory: Memory, person: Actor, agent: Actor) -> dict[str, str]:
    """A small memory; returns ids by a short name."""
    ids = {}
    for name, wanted in {
        "workers": draft(),
        "cache": replace(
            draft("Availability is cached for five minutes", "See `parse_url` in src/auth/login.py."), key="cache-ttl"
        ),
        "chinese": replace(
            draft("缓存时间是五分钟", "可用性查询的缓存时间是五分钟，不是三十秒。"), tags=("domain/booking",)
        ),
        "old": draft("Deploy by hand", "Copy the files with scp."),
    }.items():
        ids[name] = memory.observe(wanted, agent).records[0].id
    memory.promote(ids["cache"], person)
    memory.retire(ids["old"], "outdated", person)
    ids["boundary"] = memory.declare(Draft("Never push to main", kind=Kind.BOUNDARY), person).records[0].id
    return ids


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("how many workers do the tests need", "workers"),
        ("cache-ttl", "cache"),
        ("Availability is cached for five minutes", "cache"),
        ("parseUrl", "cache"),
        ("src/auth/login.py", "cache"),
        ("starving databases", "workers"),
        ("缓存时间", "chinese"),
        ("三十秒", "chinese"),
        ("pushed", "boundary"),
    ],
)
def test_words_find_the_record(memory: Memory, filled: dict[str, str], words: str, first: str) -> None:
    answer = memory.search(words, ALL)
    assert answer.status == "ok"
    assert answer.hits[0].record.id == filled[first]
    assert answer.hits[0].matched
    assert answer.revision == memory.vault.head()


@pytest.mark.parametrize(
    "words", ['"', "AND", "NEAR(", "*", "^", "'; DROP TABLE", "title:workers OR", "zzzz", "C++", "(", "-"]
)
def test_hostile_words_are_plain_words(memory: Memory, filled: dict[str, str], words: str) -> None:
    assert memory.search(words, ALL).status in ("ok", "no-match")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("", "empty-query"),
        (" \n", "empty-query"),
        ("word " * 10_000, "query-too-long"),
        ("x" * 1_000_000, "query-too-long"),
    ],
)
def test_questions_that_are_none_are_refused(memory: Memory, words: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        memory.search(words, ALL)
    assert refused.value.code == code


@pytest.mark.parametrize("limit", [0, -1, 10**9, True, "10", float("nan")])
def test_limits_that_are_none_are_refused(memory: Memory, limit: object) -> None:
    with pytest.raises(InputError) as refused:
        memory.search("x", ALL, limit)  # type: ignore[arg-type]
    assert refused.value.code == "bad-limit"


def test_retired_records_answer_only_when_asked_for(memory: Memory, filled: dict[str, str]) -> None:
    assert memory.search("scp", ALL).status == "no-match"
    hits = memory.search("scp", Filters(states=(State.RETIRED,))).hits
    assert [hit.record.id for hit in hits] == [filled["old"]]


def test_filters_narrow(memory: Memory, filled: dict[str, str]) -> None:
    def ids(filters: Filters) -> set[str]:
        return {hit.record.id for hit in memory.list(filters).hits}

    assert ids(ALL) == {filled[name] for name in ("workers", "cache", "chinese", "boundary")}
    assert ids(Filters(tags=("tool",))) == {filled["workers"], filled["cache"]}
    assert ids(Filters(tags=("#tool/pytest",), states=(State.PROMOTED,))) == {filled["cache"]}
    assert ids(Filters(kinds=(Kind.BOUNDARY,))) == {filled["boundary"]}
    assert memory.list(Filters(tags=("nothing",))).status == "no-match"
    answer = memory.list(ALL, 1)
    assert (len(answer.hits), answer.extra["omitted"]) == (1, 3)


def test_an_edit_made_outside_is_found_at_once_and_flagged(desk: Desk, memory: Memory, filled: dict[str, str]) -> None:
    memory.search("x", ALL)
    path = memory.show(filled["workers"]).hits[0].record.path
    with (desk.repo / path).open("a") as file:
        file.write("Postgres refuses the eleventh connection.\n")
    hits = memory.search("eleventh connection", ALL).hits
    assert [(hit.record.id, hit.uncommitted) for hit in hits] == [(filled["workers"], True)]
    assert hits[0].snippet.endswith("Postgres refuses the eleventh connection.")
    assert [(row["path"], row["change"]) for row in memory.status().rows] == [(path, "edited")]
    assert memory.show(filled["workers"]).hits[0].uncommitted is True


def test_inv_never_silent_what_cannot_be_read_is_said(desk: Desk, memory: Memory, filled: dict[str, str]) -> None:
    path = memory.show(filled["workers"]).hits[0].record.path
    (desk.repo / path).write_text("---\ngitmem_id: [\n---\n\nbroken\n")
    (desk.repo / "promoted" / "link.md").symlink_to("/etc/hostname")
    expected = {path: "yaml-syntax", "promoted/link.md": "symlink"}
    for answer in (memory.search("workers", ALL), memory.list(ALL), memory.status()):
        told = {problem.path: problem.code for problem in answer.diagnostics}
        assert told.keys() == expected.keys()
        assert told[path] == expected[path]
    assert {row["path"] for row in memory.check().rows if row["severity"] == "error"} == set(expected)


def test_inv_never_silent_a_missing_or_hostile_repository_is_unavailable(
    desk: Desk, memory: Memory, tmp_path: Path
) -> None:
    os.rename(desk.repo / ".git", tmp_path / "git")
    with desk.open() as fresh:
        answer = fresh.search("x", ALL)
    assert answer.status == "unavailable"
    assert answer.diagnostics[0].code == "no-repository"


def test_a_catalog_that_cannot_be_had_degrades_the_answer(desk: Desk, filled: dict[str, str], memory: Memory) -> None:
    memory.close()
    for file in desk.runtime.glob("catalog.sqlite*"):
        file.unlink()
    (desk.runtime / "catalog.sqlite").mkdir()
    (desk.runtime / "catalog.sqlite" / "x").write_text("in the way")
    with desk.open() as fresh:
        answer = fresh.search("workers", ALL)
    assert answer.status == "degraded"
    assert answer.hits[0].record.id == filled["workers"]
    assert answer.diagnostics[-1].code == "catalog-degraded"


@pytest.mark.parametrize("damage", [b"", b"garbage" * 1000])
def test_a_damaged_catalog_is_replaced(desk: Desk, filled: dict[str, str], memory: Memory, damage: bytes) -> None:
    memory.search("workers", ALL)
    memory.close()
    for file in desk.runtime.glob("catalog.sqlite*"):
        file.write_bytes(damage)
    with desk.open() as fresh:
        answer = fresh.search("workers", ALL)
    assert answer.status == "ok"
    assert answer.hits[0].record.id == filled["workers"]


def test_a_failing_scanner_withholds_everything(
    desk: Desk, filled: dict[str, str], memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_text: str) -> str:
        raise UnavailableError("scanner-failed", "the scanner is broken")

    memory.close()
    for file in desk.runtime.glob("catalog.sqlite*"):
        file.unlink()
    monkeypatch.setattr("gitmem.policy.secrets.redact", fail)
    with desk.open() as fresh:
        for answer in (fresh.search("workers", ALL), fresh.list(ALL)):
            assert (answer.status, answer.hits) == ("withheld", ())


def test_secrets_that_an_edit_brought_in_are_masked(desk: Desk, memory: Memory, filled: dict[str, str]) -> None:
    path = memory.show(filled["workers"]).hits[0].record.path
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyzABCDEF0123"
    with (desk.repo / path).open("a") as file:
        file.write(f"The token is {secret} for workers.\n")
    shown = memory.show(filled["workers"])
    assert secret not in str(shown.extra)
    assert all(secret not in hit.snippet for hit in memory.search("token workers", ALL).hits)
    memory.close()
    assert all(secret.encode() not in file.read_bytes() for file in desk.runtime.rglob("*") if file.is_file())


def test_links_lead_both_ways(desk: Desk, memory: Memory, person: Actor, filled: dict[str, str]) -> None:
    cache = memory.show(filled["cache"]).hits[0].record
    body = f"See [[{cache.stem}|the cache]] and [[nothing]]."
    one = memory.observe(draft("A linking note", body), person).records[0]
    out = [(row["direction"], row["target"], row["path"]) for row in memory.links(one.id).rows]
    assert out == [("out", cache.stem, cache.path), ("out", "nothing", None)]
    assert [(row["direction"], row["path"]) for row in memory.links(cache.id).rows] == [("in", one.path)]
    assert [(row["severity"], row["code"]) for row in memory.check().rows] == [("warning", "broken-link")]


def test_a_heading_or_block_that_is_not_there_is_told(memory: Memory, person: Actor, filled: dict[str, str]) -> None:
    target = memory.observe(draft("A target", "## Ports\nRandom. ^why"), person).records[0]
    stem = Path(target.path).stem
    body = f"[[{stem}#ports]] [[{stem}#^why]] [[#Own]]\n[[{stem}#Hosts]] [[{stem}#^how]]\n[[#Other]]\n\n# Own"
    source = memory.observe(draft("A source", body), person).records[0]
    first = Path(memory.vault.layout.file(source.path)).read_text().splitlines().index("[[#Other]]") - 1
    assert [(row["code"], row["message"], row["path"], row["line"]) for row in memory.check().rows] == [
        ("broken-place", f"{target.path} has no #Hosts", source.path, first + 1),
        ("broken-place", f"{target.path} has no #^how", source.path, first + 1),
        ("broken-place", f"{source.path} has no #Other", source.path, first + 2),
    ]


def test_the_links_of_a_private_record_stay_with_it(
    desk: Desk, memory: Memory, person: Actor, filled: dict[str, str]
) -> None:
    cache = memory.show(filled["cache"]).hits[0].record
    one = memory.observe(draft("A linking note", f"See [[{cache.stem}]] and [[nothing]]."), person).records[0]
    file = desk.repo / one.path
    file.write_text(file.read_text().replace("---\n", "---\nprivate: true\n", 1))
    withheld = memory.links(one.path)
    assert (withheld.status, withheld.hits, withheld.rows, withheld.extra) == (Status.WITHHELD, (), (), {})
    assert memory.links(cache.id).rows == ()
    (broken,) = memory.check().rows
    assert (broken["code"], broken["message"]) == ("broken-link", "a link leads nowhere")
    with pytest.raises(StateError) as caught:
        memory.restore(one.path, person)
    assert "linking" not in str(caught.value).casefold()


def test_the_log_of_a_record_follows_it_through_moves(
    desk: Desk, memory: Memory, filled: dict[str, str], person: Actor
) -> None:
    memory.restore(filled["old"], person)
    rows = memory.log(filled["old"]).rows
    assert [row["op"] for row in rows] == ["restore", "retire", "observe"]
    assert [row["actor"] for row in rows] == ["Pat Person", "Pat Person", "agent"]
    assert rows[1]["note"] == "Reason: outdated"
    path = memory.show(filled["old"]).hits[0].record.path
    with (desk.repo / path).open("a") as file:
        file.write("more\n")
    desk.git("commit", "-qam", "vault backup")
    assert [row["op"] for row in memory.log(filled["old"]).rows] == ["commit", "restore", "retire", "observe"]
    assert [row["op"] for row in memory.log(limit=3).rows] == ["commit", "restore", "declare"]


def test_check_finds_what_is_wrong(desk: Desk, memory: Memory, filled: dict[str, str]) -> None:
    assert memory.check().rows == ()
    cache = memory.show(filled["cache"]).hits[0].record
    (desk.repo / "promoted" / "copy.md").write_bytes((desk.repo / cache.path).read_bytes())
    (desk.repo / "promoted" / "plain.md").write_text("plain")
    (desk.repo / "INDEX.md").write_text("edited")
    desk.git("commit", "-qam", "views by hand")
    codes = sorted((row["severity"], row["code"], row["path"]) for row in memory.check().rows)
    second = max("promoted/copy.md", cache.path)
    assert codes == [
        ("error", "duplicate-id", second),
        ("error", "duplicate-key", second),
        ("error", "view-differs", "INDEX.md"),
        ("warning", "plain-note", "promoted/plain.md"),
    ]


def test_views_edited_by_hand_are_said_and_put_back_on_request(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.declare(Draft("Never push to main", kind=Kind.BOUNDARY), person)
    (desk.repo / "INDEX.md").write_text("mine\n")
    (desk.repo / "catalog.json").unlink()
    for answer in (memory.check().rows, [vars(problem) for problem in memory.status().diagnostics]):
        assert [(row["code"], row["path"]) for row in answer] == [
            ("view-edited", "INDEX.md"),
            ("view-edited", "catalog.json"),
        ]
    receipt = memory.repair_views(person)
    assert (receipt.changed, len(receipt.notices)) == (False, 2)
    kept = desk.runtime / "displaced" / receipt.op_id
    assert [(path.name, path.read_text()) for path in kept.iterdir()] == [("INDEX.md", "mine\n")]
    assert desk.git("rev-parse", "HEAD").strip() == one.commit
    assert desk.git("status", "--porcelain") == ""
    assert memory.check().rows == ()


def test_a_newer_format_is_said(desk: Desk, memory: Memory) -> None:
    manifest = desk.repo / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"gitmem": 1', '"gitmem": 2'))
    assert [problem.code for problem in memory.status().diagnostics] == ["format-too-new"]


def test_reading_changes_nothing_that_is_tracked(desk: Desk, memory: Memory, filled: dict[str, str]) -> None:
    def state() -> list[tuple[str, bytes]]:
        files = [path for path in desk.repo.rglob("*") if path.is_file()]
        return sorted((str(path), path.read_bytes()) for path in files)

    before = state()
    for read in (
        lambda: memory.search("workers", ALL),
        lambda: memory.list(ALL),
        lambda: memory.show(filled["cache"]),
        lambda: memory.links(filled["cache"]),
        memory.log,
        lambda: memory.log(filled["old"]),
        memory.status,
        memory.check,
        lambda: run_doctor(desk.home, desk.home, str(desk.repo)),
    ):
        read()
        assert state() == before


def test_doctor_finds_what_is_in_the_way(desk: Desk, memory: Memory, filled: dict[str, str]) -> None:
    def odd() -> set[str]:
        rows = run_doctor(desk.home, desk.home, str(desk.repo)).rows
        return {row["code"] for row in rows if row["severity"] != "ok"}

    assert odd() == set()
    (desk.repo / ".git" / "index.lock").write_bytes(b"")
    desk.git("symbolic-ref", "HEAD", "refs/heads/other", check=False)
    assert odd() == {"index-locked", "not-on-managed-branch"}


@pytest.mark.parametrize("asked", ["search", "list"])
def test_revision_and_uncommitted_speak_of_one_commit(
    desk: Desk, memory: Memory, filled: dict[str, str], monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    path = memory.show(filled["workers"]).hits[0].record.path
    with (desk.repo / path).open("a") as file:
        file.write("Postgres refuses the eleventh connection.\n")

    def commit_meanwhile(vault: OpenVault, paths: Iterable[str]) -> dict[str, tuple[Record, bytes]]:
        desk.git("commit", "-qam", "by hand")
        return read_records(vault, paths)

    monkeypatch.setattr("gitmem.service.reading.read_records", commit_meanwhile)
    answer = memory.search("eleventh", ALL) if asked == "search" else memory.list(ALL)
    for hit in answer.hits:
        committed = desk.git("rev-parse", f"{answer.revision}:{hit.record.path}").strip()
        assert hit.uncommitted is (committed != hit.record.fingerprint), hit.record.path


def lock_by_a_crash(folder: Path) -> Path:
    lock = folder / "index.lock"
    lock.write_bytes(b"gitmem observe 000\n")
    return lock


@pytest.mark.parametrize("kind", ["plain", "separate", "linked"])
def test_a_lock_that_a_crash_left_is_found_wherever_the_git_directory_lies(
    desk: Desk, memory: Memory, filled: dict[str, str], tmp_path: Path, kind: str
) -> None:
    root, git_dir = desk.repo, desk.repo / ".git"
    if kind == "separate":
        git_dir = tmp_path / "elsewhere"
        desk.git("init", "-q", "--separate-git-dir", str(git_dir))
    if kind == "linked":
        root = tmp_path / "linked"
        desk.git("worktree", "add", "-q", str(root), "-b", "side")
        git_dir = desk.repo / ".git" / "worktrees" / "linked"
    lock = lock_by_a_crash(git_dir)
    with open_memory(desk.home, str(root)) as there:
        there.status()
    assert not lock.exists()


def test_what_keeps_an_operation_from_being_settled_is_said(
    desk: Desk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_by_a_crash(desk.repo / ".git")
    for error, said in (
        (UnavailableError("vault-busy", "another operation holds the vault"), []),
        (UnavailableError("index-locked", "an editor is open"), []),
        (UnavailableError("git-write-failed", "no space left"), ["abandoned-operation"]),
        (OSError(28, "No space left on device"), ["abandoned-operation"]),
    ):

        def fail(*_args: object, error: Exception = error) -> list[str]:
            raise error

        monkeypatch.setattr("gitmem.transaction.apply.recover_now", fail)
        assert [problem.code for problem in memory.status().diagnostics] == said


def test_a_reader_never_waits_for_a_person(desk: Desk, memory: Memory) -> None:
    assert (memory.vault.tools(waits=False).lock_wait_s, memory.vault.tools(waits=False).index_wait_s) == (0, 0)


def test_each_note_is_read_and_parsed_once(
    desk: Desk, memory: Memory, filled: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: Counter[str] = Counter()

    def count(name: str, what: Callable[..., object]) -> None:
        def counted(*args: object) -> object:
            counts[name] += 1
            return what(*args)

        monkeypatch.setattr(name, counted)

    monkeypatch.setattr(record_file, "_FEW_READS", 10**9)  # all go the way that is counted
    count("gitmem.service.worktree.scan_records", worktree.scan_records)
    count("gitmem.service.worktree.parse_note", worktree.parse_note)
    count("gitmem.vault.record_file.parse_note", record_file.parse_note)
    memory.status()
    assert counts == {"gitmem.service.worktree.scan_records": 1, "gitmem.vault.record_file.parse_note": 5}
    counts.clear()
    memory.check()
    # Once as it lies there, once as it is committed.
    assert counts == {"gitmem.service.worktree.scan_records": 1, "gitmem.vault.record_file.parse_note": 10}


def findings(desk: Desk) -> dict[str, tuple[str, str]]:
    rows = run_doctor(desk.home, desk.home, str(desk.repo)).rows
    return {row["code"]: (row["message"], row["hint"]) for row in rows if row["severity"] != "ok"}


def test_doctor_tries_the_scanner(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(desk) == {}
    monkeypatch.setattr("gitmem.policy.secrets._find_spans", lambda _text: [])
    assert list(findings(desk)) == ["scanner-failed"]

    def fail(_text: str) -> None:
        raise UnavailableError("scanner-failed", "it is broken", "Run `gitmem doctor`.")

    monkeypatch.setattr("gitmem.policy.secrets._find_spans", fail)
    message, hint = findings(desk)["scanner-failed"]
    assert message == "it is broken"
    assert "gitmem doctor" not in hint


def test_doctor_says_what_is_in_the_way_of_an_abandoned_operation(desk: Desk, memory: Memory, person: Actor) -> None:
    one = memory.observe(draft(), person).records[0]
    blob = desk.git("rev-parse", f"HEAD:{one.path}").strip()
    assert run_killed(desk.open, "stage", lambda opened: opened.promote(one.id, person))
    message, hint = findings(desk)["abandoned-operation"]
    assert re.fullmatch(r"the promote \w+ of \S+Z is under way or was abandoned; nothing is in the way", message)
    assert hint == "The next command settles it."
    assert findings(desk)["index-locked"][1] == "If no gitmem command is at work, the next one removes it."
    desk.git("branch", "other")
    desk.git("symbolic-ref", "HEAD", "refs/heads/other")
    message, hint = findings(desk)["abandoned-operation"]
    assert message.endswith("can't be settled: the vault is on other, not on main")
    assert hint.startswith("Switch back with `git switch main`")
    desk.git("symbolic-ref", "HEAD", "refs/heads/main")
    (desk.repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    message, hint = findings(desk)["abandoned-operation"]
    assert "can't be settled: " in message
    assert blob in message
    assert "backup" in hint


@pytest.mark.parametrize("damage", ["", "garbage", "ref: refs/heads/none\n"])
def test_doctor_goes_on_and_never_sends_people_to_itself(desk: Desk, memory: Memory, damage: str) -> None:
    memory.close()
    (desk.repo / ".git" / "HEAD").write_text(damage)
    (desk.repo / ".git" / "index.lock").touch()
    found = findings(desk)
    assert "index-locked" in found
    assert len(found) == 2
    assert all(hint and "gitmem doctor" not in hint for _message, hint in found.values())


def test_doctor_leaves_nothing_and_holds_nothing(
    desk: Desk, memory: Memory, person: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.repo / ".git" / "index.lock").touch()
    before = sorted(Path(desk.home).parent.rglob("*"))
    closed: list[OpenVault] = []

    def close(vault: OpenVault) -> None:
        closed.append(vault)

    monkeypatch.setattr(OpenVault, "close", close)
    row = next(row for row in run_doctor(desk.home, desk.home, str(desk.repo)).rows if row["code"] == "exchange")
    assert row["path"] == str(desk.runtime)
    assert sorted(Path(desk.home).parent.rglob("*")) == before

    def fail(_repo: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("gitmem.git.repo.Repo.head", fail)
    with pytest.raises(OSError, match="Input/output"):
        run_doctor(desk.home, desk.home, str(desk.repo))
    assert len(closed) == 2

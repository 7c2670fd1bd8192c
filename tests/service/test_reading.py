"""The reading verbs: what they find, what they say when something can't be read, and that they change nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import InputError, UnavailableError
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind, State
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.wiring import run_doctor

from conftest import Desk, draft

ALL = Filters()


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
    assert list(memory.status().rows) == [{"path": path, "change": "edited"}]
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

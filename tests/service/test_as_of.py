"""Answers from an earlier commit: Git says what it held, the work tree stays as it is, private stays private."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind, State
from gitmem.model.vault_path import parse_vault_path
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.revision import get_revision
from gitmem.vault.record_file import parse_record

from conftest import Desk, draft

_COMMITTER = {"NAME": "Pat Person", "EMAIL": "pat@example.com"}
EVERY = Filters(states=tuple(State))


@pytest.fixture
def story(memory: Memory, person: Actor, agent: Actor) -> dict[str, str]:
    """A few operations of every kind; returns ids by a short name."""
    ids = {"workers": memory.observe(draft(), agent).records[0].id}
    ids["cache"] = memory.observe(Draft("Cache for five minutes", "Walruses sleep.", key="ttl"), person).records[0].id
    memory.promote(ids["workers"], person)
    memory.edit(ids["cache"], RecordEdit(title="Cache for thirty seconds", body="Herons wait."), person)
    ids["rule"] = memory.declare(Draft("Never push", kind=Kind.BOUNDARY), person).records[0].id
    memory.retire(ids["workers"], "the database grew", person)
    memory.restore(ids["workers"], person)
    return ids


def in_git(desk: Desk, commit: str) -> list[tuple[str, str, str]]:
    """Return path, id and title of every public record of a commit, as Git has them."""
    found = []
    for path in desk.git("ls-tree", "-r", "-z", "--name-only", commit).split("\0"):
        if path.endswith(".md") and path != "INDEX.md":
            record = parse_record(parse_vault_path(path), desk.git("show", f"{commit}:{path}").encode())
            assert record is not None
            if not record.private:
                found.append((path, record.id, record.title))
    return sorted(found)


def listed(answer: Answer) -> list[tuple[str, str, str]]:
    assert not any(hit.uncommitted for hit in answer.hits)
    return sorted((hit.record.path, hit.record.id, hit.record.title) for hit in answer.hits)


def test_every_commit_answers_as_git_has_it(desk: Desk, memory: Memory, story: dict[str, str]) -> None:
    commits = desk.git("rev-list", "HEAD").split()
    assert len(commits) == 8
    for commit in commits:
        answer = memory.list(EVERY, as_of=commit)
        assert listed(answer) == in_git(desk, commit)
        assert answer.revision == commit


def test_search_and_show_find_what_was_there_then_and_nothing_newer(
    desk: Desk, memory: Memory, story: dict[str, str]
) -> None:
    assert memory.search("walruses", Filters()).status is Status.NO_MATCH
    then = memory.search("walruses", Filters(), as_of="HEAD~4")
    assert [hit.record.title for hit in then.hits] == ["Cache for five minutes"]
    assert then.hits[0].snippet == "Walruses sleep."
    assert memory.search("herons", Filters(), as_of="HEAD~4").status is Status.NO_MATCH
    assert memory.show("ttl", as_of="HEAD~4").extra["body"].strip() == "Walruses sleep."
    at_that_path = memory.show(
        f"promoted/{Path(memory.show(story['workers']).hits[0].record.path).name}", as_of="HEAD~5"
    )
    assert at_that_path.hits[0].record.state is State.OBSERVATION
    with pytest.raises(InputError, match=r"no record has the id, key or path 'ttl' in that commit"):
        memory.show("ttl", as_of="HEAD~6")


def test_the_work_tree_and_its_catalog_stay_as_they_are(desk: Desk, memory: Memory, story: dict[str, str]) -> None:
    path = desk.repo / memory.show(story["cache"]).hits[0].record.path
    path.write_text(path.read_text().replace("Herons", "Otters"))
    before = {file: file.read_bytes() for file in desk.repo.rglob("*") if file.is_file()}
    assert memory.search("otters", Filters()).hits[0].uncommitted
    assert memory.search("otters", Filters(), as_of="HEAD").status is Status.NO_MATCH
    assert [hit.uncommitted for hit in memory.search("herons", Filters(), as_of="HEAD").hits] == [False]
    assert {file: file.read_bytes() for file in desk.repo.rglob("*") if file.is_file()} == before
    assert memory.search("otters", Filters()).hits[0].uncommitted


def test_what_is_private_now_is_private_in_every_earlier_commit(
    desk: Desk, memory: Memory, person: Actor, story: dict[str, str]
) -> None:
    memory.edit(story["cache"], RecordEdit(properties={"private": True}), person)
    for commit in desk.git("rev-list", "HEAD").split():
        assert story["cache"] not in {row[1] for row in listed(memory.list(EVERY, as_of=commit))}
        for words in ("walruses", "herons", "ttl", "cache seconds"):
            assert story["cache"] not in {hit.record.id for hit in memory.search(words, EVERY, as_of=commit).hits}
        with pytest.raises(InputError, match="no record"):
            memory.show(story["cache"], as_of=commit)


def test_what_was_private_then_is_not_shown_of_then(memory: Memory, person: Actor, story: dict[str, str]) -> None:
    memory.edit(story["cache"], RecordEdit(properties={"private": True}), person)
    memory.edit(story["cache"], RecordEdit(properties={"private": None}), person)
    assert memory.search("herons", Filters()).hits
    assert memory.search("herons", Filters(), as_of="HEAD~1").status is Status.NO_MATCH


def test_a_lost_object_is_told_and_the_rest_answers(desk: Desk, memory: Memory, story: dict[str, str]) -> None:
    path = memory.show(story["cache"], as_of="HEAD~4").hits[0].record.path
    blob = desk.git("rev-parse", f"HEAD~4:{path}").strip()
    (desk.repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    memory.close()
    answer = memory.list(EVERY, as_of="HEAD~4")
    assert {hit.record.id for hit in answer.hits} == {story["workers"]}
    assert [(one.code, one.path) for one in answer.diagnostics] == [("object-unreadable", path)]


def commit_at(desk: Desk, day: str, *parents: str) -> str:
    """Make a commit of that day, at ten o'clock UTC, with the files that HEAD has; return its id."""
    named = {f"GIT_{role}_{what}": text for role in ("AUTHOR", "COMMITTER") for what, text in _COMMITTER.items()}
    done = subprocess.run(
        ["git", "commit-tree", "HEAD^{tree}", *[part for parent in parents for part in ("-p", parent)], "-m", day],
        cwd=desk.repo,
        env={**os.environ, **named, "GIT_COMMITTER_DATE": f"{day}T10:00:00Z"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def dated(desk: Desk) -> dict[str, str]:
    """A branch whose last commit merges another one, and a tag of that; their ids by name."""
    ids = {"start": desk.git("rev-parse", "HEAD").strip()}
    ids["first"] = commit_at(desk, "2031-01-10", ids["start"])
    ids["side"] = commit_at(desk, "2031-01-11", ids["first"])
    ids["merged"] = commit_at(desk, "2031-01-12", ids["first"], ids["side"])
    desk.git("update-ref", "refs/heads/main", ids["merged"])
    desk.git("branch", "topic/side", ids["side"])
    desk.git("tag", "-a", "v1", "-m", "a tag", ids["side"])
    desk.git("tag", "main", ids["first"])
    desk.git("pack-refs", "--all")
    return ids


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2031-01-10", "first"),
        ("2031-01-10T10:00:00Z", "first"),
        ("2031-01-10T09:59:59Z", "start"),
        ("2031-01-11", "first"),  # the branch did not have it yet
        ("2031", "merged"),
        ("today", "start"),
        ("HEAD", "merged"),
        ("@~1", "first"),
        ("HEAD^2", "side"),
        ("HEAD^^", "start"),
        ("HEAD^0", "merged"),
        ("topic/side", "side"),
        ("v1", "side"),
        ("refs/tags/v1~1", "first"),
        ("main", "first"),
        ("refs/heads/main", "merged"),
    ],
)
def test_dates_and_revisions_mean_what_git_takes_them_for(
    memory: Memory, dated: dict[str, str], text: str, expected: str
) -> None:
    assert get_revision(memory.vault, text) == dated[expected]


def test_an_operation_and_a_commit_are_found_by_the_beginning_of_their_ids(
    desk: Desk, memory: Memory, agent: Actor, dated: dict[str, str]
) -> None:
    receipt = memory.observe(draft(), agent)
    memory.observe(draft("Another"), agent)
    for name in (str(receipt.commit)[:7], receipt.op_id, receipt.op_id[:8], f"{receipt.op_id}~0"):
        assert get_revision(memory.vault, name) == receipt.commit
    assert get_revision(memory.vault, dated["side"][:9]) == dated["side"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *[(text, "no-such-revision") for text in ("", "nothing", "HEAD~99", "HEAD^3", "abcdef0", "f" * 40, "a..b")],
        *[(text, "no-such-revision") for text in ("../../HEAD", "refs/heads/../../HEAD", "main@{1}", ":/first")],
        *[(text, "no-such-revision") for text in ("HEAD:baseline", "-n", "--all", "\0", "~" * 5000, "x" * 5000)],
        *[(text, "no-commit-then") for text in ("2019", "2001-01-01T00:00:00Z", "1000y")],
    ],
)
def test_what_names_no_commit_is_refused(memory: Memory, dated: dict[str, str], text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        get_revision(memory.vault, text)
    assert caught.value.code == code
    assert len(caught.value.message) < 200


def test_a_tag_of_a_file_is_no_revision(desk: Desk, memory: Memory) -> None:
    desk.git("tag", "file", "HEAD:manifest.json")
    with pytest.raises(InputError) as caught:
        get_revision(memory.vault, "file")
    assert caught.value.code == "no-such-revision"

"""INV-PRIVATE: of a private record nothing is told by any read, in the catalog, the views or a commit made since."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import InputError
from gitmem.hosts.cli.output import read_document
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind, State
from gitmem.service.edit import RecordEdit
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

from conftest import Desk, draft

MARKERS = ("zanzibar", "quokka", "narwhal", "wombat", "axolotl", "pangolin", "okapi")
"""One word each for title, body, tag, key, summary, alias and tag in the text of the private record."""
TITLE, BODY, TAG, KEY, SUMMARY, ALIAS, INLINE = MARKERS
EVERY = Filters(states=tuple(State))
EPISODES = replace(EVERY, kinds=tuple(Kind))

READS: dict[str, Callable[[Memory], Answer]] = {
    **{f"search {word}": (lambda memory, word=word: memory.search(word, EVERY)) for word in MARKERS},
    **{f"search {word}~": (lambda memory, word=word: memory.search(word[:-1], EVERY)) for word in MARKERS},
    "search all": lambda memory: memory.search(" ".join(MARKERS), EPISODES),
    "list": lambda memory: memory.list(EVERY),
    "list by tag~": lambda memory: memory.list(replace(EVERY, tags=(TAG[:-1],))),
    "tags": lambda memory: memory.tags(EVERY),
    "timeline": lambda memory: memory.timeline(EVERY),
    "log": lambda memory: memory.log(limit=None),
    "diff": lambda memory: memory.diff("HEAD~4", "HEAD"),
    "status": lambda memory: memory.status(),
    "check": lambda memory: memory.check(),
    "context": lambda memory: memory.context(),
    "as of before": lambda memory: memory.list(EVERY, as_of="HEAD~1"),
    "tags as of before": lambda memory: memory.tags(EVERY, as_of="HEAD~1"),
    "search as of before": lambda memory: memory.search(BODY, EVERY, as_of="HEAD~1"),
}


@pytest.fixture
def hidden(desk: Desk, memory: Memory, person: Actor) -> str:
    """A record that was public once and is private now, beside a public one; returns its id."""
    body = f"It says {BODY}. See #{INLINE}/inline"
    wanted = Draft(f"The {TITLE} report", body, Kind.FACT, f"On {SUMMARY}", (f"{TAG}/x",), key=KEY)
    made = memory.observe(wanted, person).records[0]
    memory.edit(made.id, RecordEdit(properties={"aliases": [ALIAS]}), person)
    memory.observe(draft("A public note", "Nothing of it here."), person)
    memory.search(BODY, EVERY)  # the catalog knows it while it is public
    memory.edit(made.id, RecordEdit(properties={"private": True}), person)
    return made.id


def tell(memory: Memory, answer: Answer) -> str:
    return json.dumps(read_document(answer, memory.vault.layout.repo), default=str).casefold()


@pytest.mark.parametrize("name", READS)
def test_inv_private_no_read_tells_of_it(memory: Memory, hidden: str, name: str) -> None:
    answer = READS[name](memory)
    told = tell(memory, answer)
    assert [word for word in MARKERS if word in told] == []
    assert hidden not in told or name in ("log", "diff")


def test_reads_do_tell_of_it_while_it_is_public(memory: Memory, person: Actor, hidden: str) -> None:
    memory.edit(hidden, RecordEdit(properties={"private": None}), person)
    loud = [name for name, read in READS.items() if any(word in tell(memory, read(memory)) for word in MARKERS)]
    silent = [name for name in READS if name not in loud and "~" not in name]
    assert silent == [
        "status",
        "check",
        "context",
        "as of before",
        "tags as of before",
        "search as of before",
    ]


@pytest.mark.parametrize("verb", ["show", "links", "log"])
def test_asked_for_by_name_it_is_withheld(memory: Memory, hidden: str, verb: str) -> None:
    answer = getattr(memory, verb)(hidden)
    told = tell(memory, answer)
    assert [word for word in MARKERS if word in told] == []
    assert [problem.code for problem in answer.diagnostics] == ["private"]


def test_the_catalog_and_the_views_forget_it(desk: Desk, memory: Memory, hidden: str) -> None:
    memory.search(BODY, EVERY)
    memory.close()
    assert find_kept(desk, f"the-{TITLE}-report") == []


@pytest.mark.parametrize("name", ["moved", "gone between", "as a plain note"])
def test_inv_private_the_catalog_forgets_what_was_elsewhere(
    desk: Desk, memory: Memory, person: Actor, name: str
) -> None:
    for number in range(3):
        memory.observe(draft(f"A public note {number}", "Nothing of it here."), person)
    made = memory.observe(Draft(f"The {TITLE} report", f"It says {BODY}.", Kind.FACT, tags=(TAG,)), person).records[0]
    memory.search(BODY, EVERY)
    path = desk.repo / made.path
    text = path.read_text().replace("---\n", "---\nprivate: true\n", 1)
    text = text.replace("gitmem_id", "id") if name == "as a plain note" else text
    path.unlink()
    if name == "gone between":
        memory.search(BODY, EVERY)
    (desk.repo / "promoted" / "Other.md").write_text(text)
    memory.search("nothing", EVERY)
    memory.close()
    assert find_kept(desk, path.name.removesuffix(".md"), ("catalog.sqlite*",)) == []


def find_kept(desk: Desk, name: str, patterns: tuple[str, ...] = ("catalog*",)) -> list[str]:
    """Return the markers in the catalog and the views, but for ``name``, which tells that a file is private."""
    kept = []
    views = [] if "catalog*" not in patterns else [desk.repo / "INDEX.md", *desk.repo.glob("catalog*")]
    for file in [*(one for each in patterns for one in desk.runtime.glob(each)), *views]:
        data = file.read_bytes().lower().replace(name.encode(), b"") if file.is_file() else b""
        kept += [f"{file.name}: {word}" for word in MARKERS if word.encode() in data]
    return kept


def test_no_commit_made_since_names_it(desk: Desk, memory: Memory, person: Actor, hidden: str) -> None:
    before = desk.git("rev-parse", "HEAD").strip()
    memory.edit(hidden, RecordEdit(title=f"Another {TITLE}", add_tags=(f"{TAG}/y",)), person)
    memory.promote(hidden, person)
    memory.retire(hidden, "old", person)
    undone = memory.restore(hidden, person)
    memory.undo(undone.op_id, person)
    (path,) = [path for path in desk.repo.glob("retired/*/*.md") if TITLE in path.name]
    path.write_text(path.read_text() + "\nMore.\n")
    memory.adopt([], person)
    told = desk.git("log", "--format=%B", f"{before}..HEAD").casefold()
    assert told.count("gitmem-op-id") == 6
    assert [word for word in MARKERS if word in told] == []


SLIPS: dict[str, Callable[[Desk, Path], object]] = {
    "conflict": lambda _desk, path: path.write_text(f"<<<<<<< a\n{path.read_text()}=======\n>>>>>>> b\n"),
    "conflict without its property": lambda _desk, path: path.write_text(
        "<<<<<<< a\n" + path.read_text().replace("private: true\n", "")
    ),
    "broken property": lambda _desk, path: path.write_text(path.read_text().replace("kind: fact", "kind: [fact")),
    "no text": lambda _desk, path: path.write_bytes(b"\0"),
    "gone": lambda _desk, path: path.unlink(),
    "no record any more": lambda _desk, path: path.write_text("Nothing.\n"),
}


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("slip", SLIPS)
def test_inv_private_a_slip_does_not_bring_its_past_back(
    desk: Desk, memory: Memory, hidden: str, slip: str, is_committed: bool
) -> None:
    before = desk.git("rev-parse", "HEAD~1").strip()
    (path,) = desk.repo.glob(f"observations/*/*{hidden[:6]}.md")
    if is_committed and slip == "conflict without its property":
        pytest.skip("what is committed without the property is public")
    SLIPS[slip](desk, path)
    if is_committed:
        desk.git("commit", "-qam", "by hand")
    for read in (
        lambda: memory.list(EVERY, as_of=before),
        lambda: memory.tags(EVERY, as_of=before),
        lambda: memory.timeline(EVERY, as_of=before),
        lambda: memory.search(BODY, EVERY, as_of=before),
        lambda: memory.search(BODY[:-1], EVERY, as_of=before),
        lambda: memory.diff(f"{before}~3", before),
        lambda: memory.diff(f"{before}~2", "HEAD"),
        lambda: memory.log(limit=None),
    ):
        told = tell(memory, read()).replace(path.name, "")
        assert [word for word in MARKERS if word in told] == []
    with pytest.raises(InputError):
        memory.show(hidden, as_of=before)
    with suppress(InputError):
        assert memory.log(hidden).status is Status.WITHHELD


def test_inv_private_what_is_wrong_with_a_private_note_is_said_without_its_words(
    desk: Desk, memory: Memory, hidden: str
) -> None:
    (path,) = desk.repo.glob(f"observations/*/*{hidden[:6]}.md")
    path.write_text(path.read_text().replace("---\n", f"---\n{TITLE}: 1\n{TITLE}: 2\n", 1))
    for read in READS.values():
        assert TITLE not in tell(memory, read(memory)).replace(path.name, "")
    told = [row for row in memory.check().rows if row["path"].endswith(path.name)]
    assert [(row["code"], row["message"]) for row in told] == [
        ("yaml-duplicate-key", "the properties of a private note can't be read")
    ]
    assert "yaml-duplicate-key" in {one.code for one in memory.status().diagnostics}


@pytest.mark.parametrize("change", ["edited", "deleted"])
def test_inv_private_status_counts_it_apart_and_names_no_file(
    desk: Desk, memory: Memory, hidden: str, change: str
) -> None:
    assert memory.status().extra["counts"] == {"observation": 1, "private": 1}
    (path,) = desk.repo.glob(f"observations/*/*{hidden[:6]}.md")
    if change == "edited":
        path.write_text(path.read_text() + "More.\n")
    else:
        path.unlink()
    answer = memory.status()
    assert answer.extra["waiting"] == {"notes": 0, "private": 1, "views": 0, "other_files": 0}
    assert [word for word in MARKERS if word in tell(memory, answer)] == []


def test_inv_private_links_and_check_name_no_private_file(
    desk: Desk, memory: Memory, person: Actor, hidden: str
) -> None:
    (path,) = desk.repo.glob(f"observations/*/*{hidden[:6]}.md")
    (desk.repo / "promoted" / "Zed.md").write_text("---\nprivate: true\n---\nx\n")
    for folder in ("promoted", "retired"):
        (desk.repo / folder).mkdir(exist_ok=True)
        (desk.repo / folder / "Twin.md").write_text("---\nprivate: true\n---\nx\n" if folder == "retired" else "x\n")
    body = f"See [[{path.stem}|it]], [[Zed]], [[Twin]] and [[nothing]]."
    made = memory.observe(draft("Links", body), person).records[0]
    rows = [(row["path"], row["private"], row["others"]) for row in memory.links(made.id).rows]
    assert rows == [
        (None, True, []),
        (None, True, []),
        ("promoted/Twin.md", False, []),
        (None, False, []),
    ]
    told = [row["message"] for row in memory.check().rows if row["path"] == made.path]
    assert told == ["[[Twin]] may mean promoted/Twin.md, a private note", "[[nothing]] leads nowhere"]


def test_what_was_public_when_it_went_is_there_in_the_past(desk: Desk, memory: Memory, person: Actor) -> None:
    made = [memory.observe(draft(f"Note {n}", f"It says {BODY}."), person).records[0] for n in range(3)]
    before = desk.git("rev-parse", "HEAD").strip()
    (desk.repo / made[0].path).unlink()
    (desk.repo / made[1].path).write_text("---\ngitmem_id: " + made[1].id + "\nkind: [\n---\n")
    desk.git("commit", "-qam", "by hand")
    (desk.repo / made[2].path).unlink()
    assert {hit.record.id for hit in memory.list(EVERY, as_of=before).hits} == {one.id for one in made}


def test_a_branch_that_was_never_merged_is_shown(desk: Desk, memory: Memory, person: Actor) -> None:
    start = desk.git("rev-parse", "HEAD").strip()
    made = memory.observe(draft("Elsewhere", f"It says {BODY}."), person).records[0]
    desk.git("branch", "other")
    desk.git("reset", "-q", "--hard", start)
    assert [hit.record.id for hit in memory.list(EVERY, as_of="other").hits] == [made.id]


@pytest.mark.parametrize("becomes", ["in place", "moved", "renamed", "gone"])
def test_inv_private_a_plain_note_is_private_in_the_past_wherever_it_went(
    desk: Desk, memory: Memory, becomes: str
) -> None:
    text = f"It says {BODY}, and more than enough to know it by.\n"
    note = desk.repo / "promoted" / "Plain.md"
    note.write_text(text)
    desk.git("add", ".")
    desk.git("commit", "-qm", "by hand")
    assert memory.search(BODY, EVERY, as_of="HEAD").extra["notes"]
    note.unlink()
    there = {"moved": "retired/Plain.md", "renamed": "promoted/Other.md"}.get(becomes, "promoted/Plain.md")
    (desk.repo / there).parent.mkdir(exist_ok=True)
    (desk.repo / there).write_text(f"---\nprivate: true\n---\n{text}")
    desk.git("add", ".")
    desk.git("commit", "-qm", "by hand")
    if becomes == "gone":
        (desk.repo / there).unlink()
        desk.git("commit", "-qam", "by hand")
    commits = desk.git("rev-list", "HEAD").split()
    for commit in commits[:-1]:
        assert not memory.search(BODY, EVERY, as_of=commit).extra["notes"]
        assert BODY not in tell(memory, memory.diff(f"{commit}~1", commit))

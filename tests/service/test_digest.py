"""What a session was shown last: said once, forgotten on purpose, kept apart, bounded, and never in the way."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from gitmem.clock import SystemClock
from gitmem.model.authority import Authority
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.recall import Candidate, Recall
from gitmem.model.record import Kind, Record, State
from gitmem.model.settings import Scope
from gitmem.model.vault_path import VaultPath
from gitmem.render.recall import render_superseded, render_unchanged
from gitmem.service.digest import MAX_AGE_S, MAX_SESSIONS, News, keep_digest, reset_digest
from gitmem.service.memory import Memory
from gitmem.service.tell import tell
from gitmem.vault.layout import VaultLayout

CLOCK = SystemClock()
ONE, TWO = RecordId("m7k2q9x4c001"), RecordId("m7k2q9x4c002")
HOSTILE = ["../../etc/passwd", "a/b", "\0", "x" * 10_000, "\ud800", "CON", ".", "\n", "é\u202e"]


@pytest.fixture
def layout(tmp_path: Path) -> VaultLayout:
    return VaultLayout(str(tmp_path / "repo"), str(tmp_path / "runtime"))


def keep(layout: VaultLayout, text: str, *ids: RecordId, session: str = "s1") -> tuple[News, tuple[RecordId, ...]]:
    return keep_digest(layout, session, text, ids, CLOCK)


def test_what_is_new_unchanged_superseded_and_nothing(layout: VaultLayout) -> None:
    assert [
        keep(layout, ""),
        keep(layout, "text", ONE),
        keep(layout, "text", ONE),
        keep(layout, "other", TWO),
        keep(layout, "text", ONE),
        keep(layout, ""),
        keep(layout, ""),
        keep(layout, "text", ONE),
    ] == [
        (News.NOTHING, ()),
        (News.NEW, ()),
        (News.UNCHANGED, (ONE,)),
        (News.NEW, (ONE,)),
        (News.NEW, (TWO,)),
        (News.SUPERSEDED, (ONE,)),
        (News.NOTHING, ()),
        (News.NEW, ()),
    ]


def test_a_compaction_forgets(layout: VaultLayout) -> None:
    keep(layout, "text", ONE)
    assert reset_digest(layout, "s1") is True
    assert reset_digest(layout, "s1") is False
    assert reset_digest(layout, "") is False
    assert keep(layout, "text", ONE) == (News.NEW, ())
    reset_digest(layout, "s1")
    assert keep(layout, "") == (News.NOTHING, ())


def test_sessions_do_not_mix_and_without_one_nothing_is_kept(layout: VaultLayout) -> None:
    assert keep(layout, "text", ONE, session="")[0] is News.NEW
    assert keep(layout, "text", ONE, session="")[0] is News.NEW
    assert keep(layout, "", session="")[0] is News.NOTHING
    assert not os.path.exists(layout.recall)
    keep(layout, "text", ONE, session="s1")
    assert keep(layout, "", session="s2") == (News.NOTHING, ())
    assert keep(layout, "text", ONE, session="s2") == (News.NEW, ())
    assert keep(layout, "text", ONE, session="s1")[0] is News.UNCHANGED


@pytest.mark.parametrize("session", HOSTILE)
def test_any_session_id_is_one_plain_file_name(layout: VaultLayout, session: str, tmp_path: Path) -> None:
    keep(layout, "a secret prompt", ONE, session=session)
    hashed = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [Path(layout.recall) / f"{hashed}.json"]
    text = files[0].read_text()
    digest = hashlib.sha256(b"a secret prompt").hexdigest()
    assert text == f'{{"digest": "{digest}", "ids": ["m7k2q9x4c001"]}}'
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert Path(layout.recall).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"null", b'{"digest": 1, "ids": []}', b'{"digest": "x", "ids": ["' + b"a" * 99 + b'"]}',
     b"[" * 10_000, b"\xff\xfe", b'{"digest": "x", "ids": {}}', b"x" * 100_000],
)  # fmt: skip
def test_a_damaged_file_costs_only_the_saving(layout: VaultLayout, damage: bytes) -> None:
    keep(layout, "text", ONE)
    (file,) = Path(layout.recall).iterdir()
    file.write_bytes(damage)
    assert keep(layout, "text", ONE)[0] is News.NEW
    assert keep(layout, "text", ONE)[0] is News.UNCHANGED


def test_where_nothing_can_be_written_everything_is_told_in_full(layout: VaultLayout) -> None:
    Path(layout.runtime).write_text("a file where the folder was")
    assert [keep(layout, "text", ONE)[0] for _ in range(2)] == [News.NEW, News.NEW]
    assert keep(layout, "") == (News.NOTHING, ())


def test_what_cannot_be_replaced_is_not_taken_for_what_was_shown_last(layout: VaultLayout) -> None:
    keep(layout, "text", ONE)
    (file,) = Path(layout.recall).iterdir()
    file.unlink()
    file.mkdir()
    assert [keep(layout, "text", ONE)[0] for _ in range(2)] == [News.NEW, News.NEW]
    assert list(Path(layout.recall).iterdir()) == [file]


def test_a_link_in_place_of_the_folder_is_not_followed(layout: VaultLayout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path(layout.runtime).mkdir()
    os.symlink(elsewhere, layout.recall)
    assert [keep(layout, "text", ONE)[0] for _ in range(2)] == [News.NEW, News.NEW]
    assert reset_digest(layout, "s1") is False
    assert list(elsewhere.iterdir()) == []


def test_old_sessions_go_and_nothing_else_does(layout: VaultLayout) -> None:
    folder = Path(layout.recall)
    folder.mkdir(parents=True)
    other = folder / "not-ours.json"
    other.write_text("x")
    os.utime(other, (0, 0))
    keep(layout, "text", ONE, session="old")
    (old,) = [path for path in folder.iterdir() if path != other]
    long_ago = CLOCK.time_ns() - (MAX_AGE_S + 60) * 10**9
    os.utime(old, ns=(long_ago, long_ago))
    left = folder / f"{'0' * 32}-x.tmp"
    left.write_text("left by a kill")
    os.utime(left, ns=(long_ago, long_ago))
    keep(layout, "text", ONE, session="new")
    assert len(list(folder.iterdir())) == 2
    assert not old.exists()
    assert not left.exists()
    for number in range(MAX_SESSIONS + 20):
        keep(layout, "text", ONE, session=f"many {number}")
    assert len(list(folder.glob("*.json"))) == MAX_SESSIONS + 1
    assert keep(layout, "text", ONE, session=f"many {MAX_SESSIONS + 19}")[0] is News.UNCHANGED


def test_many_writers_of_one_session_leave_one_whole_file(layout: VaultLayout) -> None:
    found: list[News] = []

    def work(number: int) -> None:
        for turn in range(20):
            found.append(keep(layout, f"text {(number + turn) % 2}", ONE)[0])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert len(list(Path(layout.recall).iterdir())) == 1
    last = keep(layout, "text 0", ONE)[0], keep(layout, "text 0", ONE)[0]
    assert last[1] is News.UNCHANGED


def recall_of(*titles: str) -> Recall:
    records = [
        Record(
            RecordId(f"m7k2q9x4c{number:03}"), VaultPath(f"promoted/{number}.md"), State.PROMOTED, title, "Body.",
            Fingerprint("0" * 40), Kind.FACT, authority=Authority.WORKSPACE_EVIDENCE,
        )
        for number, title in enumerate(titles)
    ]  # fmt: skip
    return Recall(tuple(Candidate(one, Scope.WORKSPACE, 1, admitted=True, rule="r", reason="") for one in records))


def test_a_session_is_told_once(memory: Memory) -> None:
    told = [
        tell(memory.vault, recall_of(*titles), session="s").split("\n")[-1]
        for titles in ((), ("One",), ("One",), ("One", "Two"), (), (), ("One",))
    ]
    one, two = RecordId("m7k2q9x4c000"), RecordId("m7k2q9x4c001")
    assert told == ["", "```", render_unchanged([one]), "```", render_superseded([one, two]), "", "```"]

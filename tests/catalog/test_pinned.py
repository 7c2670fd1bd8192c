"""What a small vault answers, pinned whole: order and reasons must survive every change made for speed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from catalog_ground import Ground

_TEXT = (
    "cache booking redis session token-store retries retrying parse_url parseUrl a/b.py timeout boat harbour"
    " deploy pipeline ERR_2041 café 缓存失效 設定 worker workers C++ the of and is a in to"
)
_WORDS = _TEXT.split()
_WEIGHTS = [1 / (rank + 2) for rank in range(len(_WORDS))]
PINNED = {
    "boat harbour": [
        "n47 | title: boat harbour | body: boat harbour",
        "n23 | title: harbour | summary: boat harbour | body: harbour boat",
        "n07 | title: boat | summary: harbour | body: boat",
        "n51 | title: harbour | summary: boat | body: harbour",
    ],
    "case-30": [
        "n30 | key: case-30",
        "n15 | key: case",
        "n21 | key: case",
        "n51 | key: case",
    ],
    "retry timeout deploy": [
        "n10 | title: timeout | summary: deploy retrying | body: retries deploy timeout",
        "n13 | title: deploy | body: timeout retries",
        "n40 | title: deploy | summary: retries | body: retrying timeout deploy",
        "n59 | title: retries timeout | summary: retries | body: deploy retrying timeout",
    ],
    "parse_url": [
        "n07 | title: parse_url | body: parse_url",
        "n52 | title: parse_url | body: parse_url",
        "n24 | title: parse_url | summary: parse_url | body: parse_url",
        "n54 | title: parse_url | summary: parse_url | body: parse_url",
    ],
    "parseUrl session": [
        "n07 | title: url parseUrl | body: parseUrl url session",
        "n34 | title: parseUrl session url | body: parseUrl url session",
        "n19 | title: url parseUrl | summary: session url parseUrl | body: session url parseUrl",
        "n01 | title: parseUrl url | summary: session | body: parseUrl session url",
    ],
    "a/b.py cache": [
        "n29 | title: a/b.py | tags: cache | summary: cache a/b.py | body: cache a/b.py",
        "n03 | title: a/b.py | summary: a/b.py | body: cache a/b.py",
        "n21 | title: cache a/b.py | summary: cache | body: cache",
        "n30 | title: cache a/b.py | summary: cache | body: cache",
    ],
    "ERR_2041 pipeline of the booking": [
        "n54 | title: err ERR_2041 | summary: pipeline | body: booking pipeline err ERR_2041",
        "n03 | title: err ERR_2041 | summary: booking | body: booking err pipeline ERR_2041",
        "n59 | title: err ERR_2041 | body: booking pipeline",
        "n16 | summary: pipeline err ERR_2041 | body: pipeline booking err ERR_2041",
    ],
    "缓存失效": [
        "n09 | title: 缓存 存失 失效",
        "n18 | title: 缓存 存失 失效",
        "n04 | summary: 缓存 存失 失效 | body: 缓存 存失 失效",
        "n17 | summary: 缓存 存失 失效 | body: 缓存 存失 失效",
    ],
    "設定 cafe C++": [
        "n04 | summary: café | body: 設定 C++",
        "n06 | summary: 設定 | body: café C++",
        "n00 | body: café 設定 C++",
        "n03 | summary: café | body: 設定 C++",
    ],
    "worker": [
        "n46 | title: worker | body: workers",
        "n06 | title: workers | summary: worker | body: workers",
        "n08 | title: workers | summary: worker",
        "n52 | title: workers | body: workers",
    ],
    "the of and": [
        "n45 | title: and | summary: the of | body: and",
        "n49 | title: the | summary: and | body: of and the",
        "n31 | body: and of",
        "n09 | body: and of",
    ],
    "boat zebra": [
        "n47 | title: boat | body: boat",
        "n18 | title: boat | summary: boat",
        "n38 | title: boat | body: boat",
        "n07 | title: boat | body: boat",
    ],
    "cache x": [
        "n47 | tags: x cache | summary: cache | body: cache",
        "n52 | tags: x cache | summary: cache | body: cache",
        "n49 | tags: x cache | summary: cache | body: cache",
        "n23 | title: cache | tags: x cache | summary: cache | body: cache",
    ],
    "tokenstore b.py": [
        "n29 | title: b.py tokenstore | summary: b.py | body: tokenstore b.py",
        "n30 | title: b.py | summary: tokenstore | body: tokenstore",
        "n41 | title: tokenstore | summary: tokenstore b.py | body: b.py tokenstore",
        "n28 | summary: tokenstore b.py | body: b.py tokenstore",
    ],
}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    source = random.Random(4)
    with Ground(tmp_path_factory.mktemp("pinned"), ":memory:") as made:
        for number in range(60):
            title, summary, body = (" ".join(source.choices(_WORDS, _WEIGHTS, k=k)) for k in (3, 6, 40))
            more = {"key": f"case-{number}"} if number % 3 == 0 else {"tags": f"[tool/{source.choice('xyz')}, cache]"}
            made.note(
                f"promoted/n{number:02}.md", number, body + "\n", title=f'"{title}"', summary=f'"{summary}"', **more
            )
        assert made.refresh().problems == ()
        yield made


@pytest.mark.parametrize("question", PINNED)
def test_a_question_is_answered_as_ever(ground: Ground, question: str) -> None:
    assert _show(ground, question) == PINNED[question]


def _show(ground: Ground, question: str) -> list[str]:
    return [f"{match.row.path[9:-3]} | {' | '.join(match.matched)}" for match in ground.search(question, 4)]


@pytest.mark.parametrize("limit", [1, 3, 40, 60, 61])
def test_equals_come_by_path_whoever_else_scores_as_high(tmp_path: Path, limit: int) -> None:
    with Ground(tmp_path, ":memory:") as made:
        for number in range(99):
            folder = "retired/2026-11" if number < 30 else "promoted"
            made.note(f"{folder}/n{number * 7 % 99:02}.md", number, "A boat.\n", title="Boat" if number % 3 else "Ship")
        wanted = [f"n{number * 7 % 99:02}" for number in range(30, 99)]
        boats = sorted(name for number, name in enumerate(wanted, 30) if number % 3)
        ships = sorted(name for number, name in enumerate(wanted, 30) if not number % 3)
        assert [path[9:-3] for path in made.find("boats", limit)] == [*boats, *ships][:limit]

"""The behaviour probe: things that people look for, each hidden among 300 other notes, and how far up each is found.

The needles are those with which comparable tools were probed (facts, peers 3.5), and one for each form of identifier.
``pytest -s tests/service/test_behaviour.py`` prints the table.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gitmem.model.authority import Actor, Surface
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.vault import Options
from gitmem.wiring import make_vault, open_memory

HAY = 300
WORST_RANK = 3
SEED = 4
# Common words of such notes, among them parts of every needle.
HAY_WORDS = """
cache lifetime client retry policy test run worker database session store user get token login auth path error
build release branch commit merge review deploy server http request response url parse string list value config
file folder share remove never always before after limit queue job timeout failed call service page index code
python engine written language window size memory disk backup network policy rule team weekly meeting decision
"""
WORDS = HAY_WORDS.split()
CHINESE = "服务器配置用户登录测试数据库部署接口文档缓时间"
JAPANESE = "サーバー設定の手順を確認する"


class Needle(NamedTuple):
    """What is asked, and the note that is wanted: its file below the vault and its text."""

    name: str
    question: str
    path: str
    text: str


def record(name: str, body: str, **properties: str) -> tuple[str, str]:
    return f"promoted/{name}.md", "\n".join(
        ["---", *(f"{key}: {value}" for key, value in properties.items()), "---", body]
    )


NEEDLES = [
    Needle("kebab word", "cache-ttl", *record("ttl", "Five minutes.\n", title="How long answers live, cache-ttl")),
    Needle("C++", "C++", *record("cpp", "The engine is written in C++.\n", title="Language of the engine")),
    Needle("rm -rf", "rm -rf", *record("rm", "Never run `rm -rf` on the share.\n", title="Careful with the share")),
    Needle(
        "Chinese inside a sentence",
        "缓存失效",
        *record("zh", "当缓存失效以后，服务会重新加载全部数据。\n", title="数据"),
    ),
    Needle(
        "Chinese word that is a tag",
        "退款",
        *record("refund", "手续费由商家承担。\n", title="费用", tags="[领域/退款]"),
    ),
    Needle("Japanese, two characters", "東京", *record("ja", "本番のサーバーは東京にある。\n", title="場所")),
    Needle("accents left out", "cafe", *record("accent", "Le café de la gare ouvre à sept heures.\n", title="Petit")),
    Needle("Greek accents left out", "ελληνικα", *record("greek", "Τα Ελληνικά είναι εδώ.\n", title="Alpha")),
    Needle("Greek accents written", "ΕΛΛΗΝΙΚΆ γλώσσα", *record("greek2", "Η γλωσσα, ελληνικα.\n", title="Beta")),
    Needle("Cyrillic accents left out", '"новая елка"', *record("cyrillic", "Новая ёлка.\n", title="Gamma")),
    Needle("Hebrew points", "שָׁלוֹם", *record("hebrew", "שלום\n", title="Delta")),
    Needle("tag", "tool/terraform", *record("tag", "State lies elsewhere.\n", title="State", tags="[tool/terraform]")),
    Needle(
        "part of a tag", "kubernetes", *record("part", "Three nodes.\n", title="Nodes", tags="[tool/kubernetes/helm]")
    ),
    Needle(
        "file name", "session_store.py", *record("store", "Look at src/app/session_store.py first.\n", title="Where")
    ),
    Needle(
        "beginning of camelCase", "getUserSession", *record("camel", "Call getUserSessionById once.\n", title="Calls")
    ),
    Needle(
        "question of 11 words",
        "how often do we retry a payment call that has failed",
        *record("payment", "A failed payment is retried three times, then it is given up.\n", title="Payments"),
    ),
    Needle(
        "4 words, one absent",
        "payment gateway timeout xylophone",
        *record("gate", "The payment gateway has a timeout of 9 s.\n", title="Gateway"),
    ),
    Needle("another form of a word", "rollback", *record("stem", "Rollbacks need two people.\n", title="Two people")),
    Needle(
        "3 plain words",
        "nightly archive schedule",
        *record("plain", "The nightly archive has a schedule.\n", title="At night"),
    ),
    Needle(
        "quoted phrase",
        '"merge before review"',
        *record("phrase", "We merge before review, on this branch alone.\n", title="Order"),
    ),
    Needle(
        "note in build/",
        "artefact retention",
        "promoted/build/kept.md",
        "---\ntitle: Kept\n---\nArtefact retention is a week.\n",
    ),
    Needle("no frontmatter", "walrus", "promoted/bare.md", "The walrus is the mascot.\n"),
    Needle("CRLF", "ocelot", "promoted/crlf.md", "---\r\ntitle: Line ends\r\n---\r\nThe ocelot came second.\r\n"),
    Needle(
        "malformed YAML", "narwhal", "promoted/broken.md", "---\ntitle: [oops\n  : x\n---\nThe narwhal came third.\n"
    ),
    Needle("marks of all kinds", "what's \"up (", *record("marks", "What's up with the lights?\n", title="Lights")),
    # Forms of identifiers, both ways.
    Needle("parse_url for parseUrl", "parse_url", *record("id1", "Use parseUrl here.\n", title="One")),
    Needle("parseUrl for parse-feed", "parseFeed", *record("id2", "Use parse-feed here.\n", title="Two")),
    Needle("parse-host for ParseHOST", "parse-host", *record("id3", "Use ParseHOST here.\n", title="Three")),
    Needle("ParseQuery for parse_query", "ParseQuery", *record("id4", "Use parse_query here.\n", title="Four")),
    Needle("HTTPServer2 whole", "HTTPServer2", *record("id5", "HTTPServer2 replaces the old one.\n", title="Five")),
    Needle("HTTPServer2 in part", "HTTPProxy", *record("id6", "HTTPProxy3 replaces the old one.\n", title="Six")),
    Needle("path", "src/auth/login.py", *record("id7", "See src/auth/login.py.\n", title="Seven")),
    Needle("end of a path", "billing/invoice.py", *record("id8", "See src/billing/invoice.py.\n", title="Eight")),
    Needle("error code", "ERR_2041", *record("id9", "ERR_2041 means too late.\n", title="Nine")),
    Needle("error code in parts", "err 2077", *record("id10", "ERR-2077 means too soon.\n", title="Ten")),
    Needle("C#", "C#", *record("csharp", "The tool is written in C#.\n", title="Language of the tool")),
    Needle(
        "command line",
        "git commit --no-verify",
        *record("hook", "Never `git commit --no-verify` here.\n", title="Hooks"),
    ),
    Needle(
        "command line with -name",
        "find . -name foo.lock",
        *record("lock", "Use `find . -name foo.lock` then.\n", title="Locks"),
    ),
    Needle("compiler option", "C++ -std=c++17", *record("std", "Compile C++ with -std=c++17.\n", title="Compiler")),
    Needle("full width", "ＡＰＩ ｑｕｏｔａ", *record("quota", "The api quota is 100.\n", title="Quota")),
    Needle("composed for decomposed", "Zürich", *record("nfd", "The office in Zu\u0308rich.\n", title="Office")),
    Needle("Chinese phrase", '"重新加载三次"', *record("three", "失败以后重新加载三次。\n", title="失败")),
    Needle("Korean", "환불", *record("ko", "환불 수수료는 무료입니다.\n", title="수수료")),
    Needle("key", "deploy-window", *record("key", "From ten to four.\n", title="When", key="deploy-window")),
    Needle(
        "alias",
        "the big red button",
        *record("alias", "It stops all jobs.\n", title="Stop", aliases="[The big red button]"),
    ),
    Needle("part of a version", "engine 1.2", *record("version", "Since v1.2.3 of the engine.\n", title="Eleven")),
    Needle("name of a version", "cython", *record("cython", "Use Cython3 here.\n", title="Twelve")),
    Needle("stop words alone", "the who", *record("who", "The Who play on Friday.\n", title="Friday")),
]
PLAIN = {"no frontmatter", "malformed YAML"}


def write_hay(root: Path, seed: int) -> None:
    chance = random.Random(seed)

    def text(least: int, most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))

    for number in range(HAY):
        body = ".\n".join(text(5, 20) for _ in range(chance.randint(2, 8)))
        if number % 10 == 0:
            body += "\n" + "".join(chance.choices(CHINESE, k=40)) + "".join(chance.choices(JAPANESE, k=40))
        tags = ", ".join(f"{chance.choice(('tool', 'area'))}/{chance.choice(WORDS)}" for _ in range(2))
        title, made = text(2, 5), f"{chance.randint(1, 28):02}"
        head = f"gitmem_id: '{number:012d}'\ntitle: {title}\nkind: fact\ntags: [{tags}]\ncreated: 2026-10-{made}"
        folder = root / ("promoted" if number % 2 else f"observations/2026-{number % 9 + 1:02}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"hay-{number:03}.md").write_text(f"---\n{head}\n---\n\n{body}\n")


def write_needles(root: Path) -> None:
    for number, needle in enumerate(NEEDLES, HAY):
        text = needle.text
        if needle.name not in PLAIN:
            mark, eol = ("---\r\n", "\r\n") if "\r" in text else ("---\n", "\n")
            text = text.replace(mark, f"{mark}gitmem_id: '{number:012d}'{eol}kind: fact{eol}", 1)
        file = root / needle.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    (root / "promoted" / ".hidden.md").write_text("The pangolin hides.\n")
    (root / "promoted" / ".folder").mkdir()
    (root / "promoted" / ".folder" / "note.md").write_text("The pangolin hides.\n")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("probe")
    person = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
    entry, _receipt = make_vault(str(home / "home"), NewVault(Scope.WORKSPACE, path=str(home / "vault")), person)
    write_hay(Path(entry.path), SEED)
    write_needles(Path(entry.path))
    with open_memory(str(home / "home"), str(home), entry.path, Options()) as opened:
        yield opened


def find_rank(memory: Memory, needle: Needle) -> int:
    """Return at which place the wanted note is, among records or among notes that are none; 0 for not at all."""
    answer = memory.search(needle.question, Filters())
    found: list[str] = [hit.record.path for hit in answer.hits]
    if needle.name in PLAIN:
        found = [note["path"] for note in answer.extra["notes"]]
    return found.index(needle.path) + 1 if needle.path in found else 0


def test_every_needle_is_found(memory: Memory) -> None:
    ranks = {needle.name: find_rank(memory, needle) for needle in NEEDLES}
    print("\n" + "\n".join(f"{name:30} {rank or 'MISS'}" for name, rank in ranks.items()))
    assert {name: rank for name, rank in ranks.items() if not 1 <= rank <= WORST_RANK} == {}
    assert len(ranks) == len(NEEDLES)


def test_dot_files_are_no_notes_by_rule(memory: Memory) -> None:
    answer = memory.search("pangolin", Filters())
    assert (answer.status, answer.extra["notes"]) == ("no-match", [])


@pytest.mark.parametrize("seed", [11, 12])
def test_other_hay_makes_no_difference(memory: Memory, seed: int) -> None:
    write_hay(Path(memory.vault.layout.repo), seed)
    ranks = {needle.name: find_rank(memory, needle) for needle in NEEDLES}
    assert {name: rank for name, rank in ranks.items() if not 1 <= rank <= WORST_RANK} == {}

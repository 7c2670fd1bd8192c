"""Which records are admitted: the thresholds by the kind of prompt, and reasons in words."""

from __future__ import annotations

import datetime

import pytest

from gitmem.model.ids import fingerprint
from gitmem.model.record import Record, State
from gitmem.model.settings import Scope
from gitmem.relevance import admit
from gitmem.relevance.admit import Side, decide, find_threshold
from gitmem.relevance.prompt import Prompt, parse_prompt
from gitmem.relevance.score import Seen, score

DAY = datetime.date(2026, 11, 30)


def record(number: int, title: str, body: str = "") -> Record:
    name = f"promoted/{number}.md"
    return Record(f"{number:012}", name, State.PROMOTED, title, body, fingerprint(b""))  # type: ignore[arg-type]


def parse(text: str) -> Prompt:
    (prompt,) = parse_prompt(text)
    return prompt


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("invoice parser", admit.ENOUGH_OF_TWO),
        ("the invoice parser drops umlauts", admit.ENOUGH),
        (
            "invoice parser drops umlauts whenever customers upload scanned receipts through old terminals overnight",
            admit.ENOUGH_OF_MANY,
        ),
        ("退款手续费是多少", admit.ENOUGH_CJK),
        ("商品详情缓存失效以后价格仍然显示旧值并且订单页面报错", admit.ENOUGH_OF_MANY_CJK),
        (
            "Invoice parser drops umlauts.\n\n```\n"
            + " ".join(f"{word}{end}" for word in ("zig", "zag", "zug", "zog") for end in "abcdefghij")
            + "\n```",
            admit.ENOUGH_OF_LONG,
        ),
    ],
)
def test_how_much_is_enough_depends_on_the_prompt(text: str, threshold: float) -> None:
    assert find_threshold(parse(text)) == threshold


def test_every_candidate_says_in_words_why() -> None:
    prompt = parse("how long does the redis cache keep covers?")
    seen = [
        Seen(record(1, "Redis as a cache", "keeps covers for long"), 9.0),
        Seen(record(2, "Cache of redis", "and nothing more to say"), 5.0),
        Seen(record(3, "Something long"), 1.0),
        Seen(record(4, "Keys", "of the safe"), 0.0, named="key: covers"),
    ]
    counts = {content.term: 2 for content in prompt.contents}
    recall = decide([Side(Scope.WORKSPACE, prompt, score(prompt, seen), 50, counts)], DAY, 5)

    assert [(one.record.title, one.admitted, one.rule, one.reason) for one in recall.candidates] == [
        ("Keys", True, "exact-key", "the prompt names its key, “covers”"),
        ("Redis as a cache", True, "passage", "holds 100% of what the prompt is about"),
        ("Cache of redis", True, "passage", "holds 56% of what the prompt is about"),
        ("Something long", False, "weak", "holds 17% of what the prompt is about, the best 100%"),
    ]
    assert [one.word for one in recall.terms][:2] == ["redis", "cache"]
    assert recall.best_score == 1.0


def test_below_the_threshold_nothing_is_admitted() -> None:
    prompt = parse("which pump fills the greenhouse tank?")
    seen = [Seen(record(1, "The tank", "is empty"), 2.0)]
    recall = decide([Side(Scope.WORKSPACE, prompt, score(prompt, seen), 50, {})], DAY, 5)

    assert recall.admitted == ()
    assert [(one.rule, one.matched) for one in recall.candidates] == [("below-threshold", ("tank",))]


@pytest.mark.parametrize(
    ("text", "rule"), [("go on", "too-little"), ("change it to seven", "too-little"), ("workers", "passage")]
)
def test_a_prompt_of_small_words_is_about_nothing(text: str, rule: str) -> None:
    prompt = parse(text)
    seen = [Seen(record(1, "Workers go through seven gates", "and change"), 3.0)]
    recall = decide([Side(Scope.WORKSPACE, prompt, score(prompt, seen), 50, {})], DAY, 5)

    assert [one.rule for one in recall.candidates] == [rule]


def test_a_record_with_a_key_is_named_by_however_little() -> None:
    prompt = parse("go on")
    seen = [Seen(record(1, "What comes then"), 0.0, named="key: go")]
    recall = decide([Side(Scope.WORKSPACE, prompt, score(prompt, seen), 50, {})], DAY, 5)

    assert [one.rule for one in recall.candidates] == ["exact-key"]

"""What a prompt is about."""

import pytest

from gitmem.relevance.background import LEAST_WEIGHT
from gitmem.relevance.prompt import (
    LONG_PROMPT_CONTENTS,
    MAX_KEYS,
    MAX_PROMPT_CHARS,
    list_asking,
    parse_prompt,
    weigh_by_vault,
)

LOG = "\n".join(f"2026-11-30T10:00:0{i} ERROR [worker-{i}] conn=0x7f{i} retry={i} status=50{i}" for i in range(9))
NAMES = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron sigma upsilon"
LIST = "\n".join(f"{word} = compute_{word}(a, b)" for word in NAMES.split(" "))


def words_of(text: str) -> list[str]:
    return [content.term for prompt in parse_prompt(text) for content in prompt.contents]


def test_content_is_what_is_left_without_stop_words() -> None:
    assert words_of("How long do we keep the order cache?") == ["long", "keep", "order", "cache"]


def test_instructions_hardly_weigh() -> None:
    (prompt,) = parse_prompt("please write a test for the invoice parser")

    assert [(one.term, one.weight <= LEAST_WEIGHT) for one in prompt.contents] == [
        ("write", True),
        ("test", True),
        ("invoice", False),
        ("parser", False),
    ]


def test_chinese_instructions_are_no_content() -> None:
    assert words_of("请帮我写一个缓存") == ["缓存"]
    assert words_of("退款手续费是多少？") == ["退款", "款手", "手续", "续费"]


def test_the_ending_of_a_japanese_question_is_no_content() -> None:
    assert words_of("返金手数料はいくらですか") == ["返金", "金手", "手数", "数料", "料は"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("what is the depot cache-ttl", ("depot", "cache-ttl")),
        ("compare nightly batch imports from the depot with the cache-ttl of our session gateway", ("cache-ttl",)),
    ],
)
def test_plain_words_may_be_keys_in_short_prompts_only(text: str, keys: tuple[str, ...]) -> None:
    (prompt,) = parse_prompt(text)

    assert prompt.keys == keys


@pytest.mark.parametrize(
    ("text", "asking"),
    [
        (f"Why do the workers retry?\n\n```\n{LIST}\n```", ["Why do the workers retry?"]),
        (f"Why do the workers retry?\n\n{LOG}", ["Why do the workers retry?"]),
        (f"{LOG}\n\nWhy do the workers retry?", ["Why do the workers retry?"]),
        (f"Look at this.\n\n{LOG}\n\nIs it the pool?", ["Is it the pool?", "Look at this."]),
        (LOG, []),
        ("```\nnever closed", []),
    ],
)
def test_what_a_long_prompt_asks_stands_around_what_was_pasted(text: str, asking: list[str]) -> None:
    assert list_asking(text) == asking


def test_a_long_prompt_is_read_by_what_it_asks_and_keeps_its_keys() -> None:
    listing = "\n".join(f"{word}{end} = 0" for word in NAMES.split(" ") for end in "xyz")
    (prompt,) = parse_prompt(f"Why does the importer stall?\n\n{LIST}\n{listing}")

    assert prompt.is_long
    assert [one.term for one in prompt.contents] == ["importer", "stall"]
    assert "compute_alpha" in prompt.keys


def test_nothing_but_pasted_text_asks_nothing() -> None:
    listing = "\n".join(f"{word}{end} = 0" for word in NAMES.split(" ") for end in "xyz")
    (prompt,) = parse_prompt(listing)

    assert prompt.is_long
    assert prompt.contents == ()


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "的", "a" * 10, "?" * 100])
def test_any_text_is_a_prompt(text: str) -> None:
    assert len(parse_prompt(text)) == 1


def test_of_a_very_long_prompt_the_ends_count() -> None:
    filler = "lorem ipsum dolor sit amet\n\n" * MAX_PROMPT_CHARS
    found = [one.term for prompt in parse_prompt(f"aardvark stall\n\n{filler}zebra stall") for one in prompt.contents]

    assert "aardvark" in found
    assert "zebra" in found
    assert len(found) < 2 * LONG_PROMPT_CONTENTS


def test_pairs_of_characters_weigh_by_how_rare_the_vault_has_them() -> None:
    (prompt,) = parse_prompt("缓存手续")
    weighed = weigh_by_vault(prompt, {"缓存": 40, "存手": 0, "手续": 2}, 100)
    by_term = {one.term: one.weight for one in weighed.contents}

    assert by_term["缓存"] < by_term["手续"] < by_term["存手"]


def test_names_with_parts_may_be_keys_however_many_there_are() -> None:
    (prompt,) = parse_prompt("{" + ", ".join(f'"f{number}-x": 1' for number in range(200)) + ', "cover-ttl": 7}')

    assert prompt.keys[-1] == "cover-ttl"
    assert len(parse_prompt("a-1 " + " ".join(f"b-{number}" for number in range(5000)))[0].keys) == MAX_KEYS


def test_words_that_say_nothing_are_no_keys() -> None:
    (prompt,) = parse_prompt("please test the depot")

    assert prompt.keys == ("depot",)


def test_half_a_character_is_in_no_prompt() -> None:
    (prompt,) = parse_prompt("invoices \ud800 parser")

    assert prompt.name == "invoices ? parser"

"""What stands in a text in another dress, and that no text makes looking for it slow."""

from __future__ import annotations

import base64
import re
import urllib.parse

import pytest

from gitmem.policy.secret_layers import Layer, iter_cells, iter_layers
from gitmem.policy.secrets import Finding, find_secrets, redact

TOKEN = "ghp_" + "aB3" * 12
_LOOKS = re.compile("pass", re.IGNORECASE)


def _b64(text: str, times: int = 1) -> str:
    for _ in range(times):
        text = base64.b64encode(text.encode()).decode()
    return text


def test_layers_tell_the_place_and_what_is_readable_there() -> None:
    text = "see aGVsbG8gd29ybGQsIGhlbGxv and a%20b%3Dc"

    assert list(iter_layers(text)) == [
        Layer(4, 28, "hello world, hello", "in-base64"),
        Layer(33, 42, "a b=c", "percent-encoded"),
    ]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_three_layers_of_base64_are_taken_off(times: int) -> None:
    text = f"one\ntwo {_b64(f'the token is {TOKEN}', times)} end"

    assert find_secrets(text) == (Finding("github-token" + "-in-base64" * times, 2),)
    assert redact(text) == "one\ntwo [secret] end"


def test_the_fourth_is_not() -> None:
    assert find_secrets(_b64(f"the token is {TOKEN}", 4)) == ()


def test_layers_of_several_kinds() -> None:
    text = urllib.parse.quote(urllib.parse.quote("postgres://app:hQ7x9Zk2mPw8@db/app", safe=""), safe="")

    assert [one.rule for one in find_secrets(text)] == ["connection-string-password-percent-encoded-percent-encoded"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n> ", "\n    ", "\\\n"])
def test_a_token_over_a_line_end_is_found_where_it_begins(end: str) -> None:
    text = f"first\n{TOKEN[:22]}{end}{TOKEN[22:]}\nlast"

    assert [one.line for one in find_secrets(text)] == [2]
    assert redact(text) == "first\n[secret]\nlast"


def test_a_whole_token_takes_nothing_of_the_next_line_along() -> None:
    assert redact(f"{TOKEN}\nand then") == "[secret]\nand then"


def test_cells_below_a_heading() -> None:
    text = "| user | Password |\n|-|:-:|\n| bob | `hQ7x9Zk2m!` |\n| amy | see 1Password |\n\n| a | b |\n| c | d9d9d |\n"

    assert [(text[one.start : one.end], one.text) for one in iter_cells(text, _LOOKS)] == [
        ("hQ7x9Zk2m!", "hQ7x9Zk2m!"),
        ("see 1Password", "see 1Password"),
    ]
    assert redact(text) == text.replace("hQ7x9Zk2m!", "[secret]")


def test_characters_that_nobody_sees_hide_nothing() -> None:
    text = f"a\u200b\n{TOKEN[:9]}\u200b{TOKEN[9:]} b\u2060"

    assert find_secrets(text)[0].line == 2
    assert redact(text) == "a\u200b\n[secret] b\u2060"


@pytest.mark.parametrize(
    "piece",
    [
        *("eyJhbGci", "%41", "%25", "://", "sig=", "https://h/?api_key=", "password for a b c d ", "pw: a1b2c3 "),
        *("| password |\n|-|\n", "AKIA\n", "ghp_a\n", "\u200b", "http://a:b@", "-----BEGIN PRIVATE KEY-----\n"),
        *("Private-Lines: 1\n", "login a password ", "mysql -p", "MTIz.", "webhookb2/aaaaaaaaaaaaaaaaaaaaaaaa%25"),
    ],
)
def test_no_text_of_the_largest_size_makes_it_slow(piece: str) -> None:
    # Each of these ran for seconds or minutes with a rule that went back and forth, or in the scanner itself.
    text = (piece * (256 << 10))[: 256 << 10]

    assert len(find_secrets(text)) < len(text)

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.git.message import Message, format_message, parse_message
from gitmem.git.repo import Repo

Git = Callable[..., str]

TRAILERS = (("Gitmem-Op", "observe"), ("Gitmem-Op-Id", "real"), ("Gitmem-Record", "aaaa"), ("Gitmem-Record", "bbbb"))

FORGERIES = [
    "Gitmem-Op-Id: forged",
    "text\n\nGitmem-Op-Id: forged",
    "text\n\nGitmem-Op-Id: forged\n\n",
    "text\r\n\r\nGitmem-Op-Id: forged",
    "text\rGitmem-Op-Id: forged",
    "text\u2028\u2028Gitmem-Op-Id: forged",
    "text\x0b\x0bGitmem-Op-Id: forged",
    "text\x85\x85Gitmem-Op-Id: forged",
    "\n\n\nGitmem-Op-Id: forged\nGitmem-Op: promote",
    "gitmem-op-id: forged",
    "GITMEM-OP-ID : forged",
    "Gitmem-Op-Id\t:\tforged",
    "word " * 14 + "Gitmem-Op-Id: forged",
    "x" * 72 + " Gitmem-Op-Id: forged",
    "\u200bGitmem-Op-Id: forged",
    "\u202eGitmem-Op-Id: forged",
    "text\n---\nGitmem-Op-Id: forged",
    "text\n---\n",
    "text\n# ------------------------ >8 ------------------------\nGitmem-Op-Id: forged",
    "text\n\nSigned-off-by: A <a@b>\nGitmem-Op-Id: forged",
    "text\0\n\nGitmem-Op-Id: forged",
    "Gitmem-Op-Id: forged\n continued",
]


@pytest.mark.parametrize("field", ["subject", "body", "trailer"])
@pytest.mark.parametrize("text", FORGERIES)
def test_no_text_forges_a_trailer(vault: Repo, git: Git, text: str, field: str) -> None:
    trailers = (*TRAILERS, ("Gitmem-Session", text if field == "trailer" else "s"))
    message = format_message(
        Message(text if field == "subject" else "observe: x", text if field == "body" else "", trailers)
    )
    found = parse_message(message).trailers
    assert [name for name, _value in found] == [name for name, _value in trailers]
    assert [value for name, value in found if name == "Gitmem-Op-Id"] == ["real"]
    assert found[:4] == TRAILERS
    lines = message.split("\n")
    assert sum(line.lower().startswith("gitmem-op-id") for line in lines[1:]) == 1
    judged = git(vault, "interpret-trailers", "--parse", text=message).splitlines()
    assert [line for line in judged if line.startswith("Gitmem-Op-Id:")] == ["Gitmem-Op-Id: real"]
    assert all(char.isprintable() or char == "\n" for char in message)


def test_a_message_reads_as_it_should() -> None:
    body = "A fairly long line of prose that certainly has to be wrapped somewhere before it ends here."
    body += "\n\n\n\n  - a point\n"
    assert format_message(Message("promote:  Run\ttests " + "very " * 20 + "often", body, TRAILERS)) == (
        "promote: Run tests very very very very very very very very very very…\n"
        "\n"
        "A fairly long line of prose that certainly has to be wrapped somewhere\n"
        "before it ends here.\n"
        "\n"
        "  - a point\n"
        "\n"
        "Gitmem-Op: observe\n"
        "Gitmem-Op-Id: real\n"
        "Gitmem-Record: aaaa\n"
        "Gitmem-Record: bbbb\n"
    )


def test_parts_that_are_absent_leave_no_gap() -> None:
    assert format_message(Message("", "", ())) == "(no subject)\n"
    assert format_message(Message("s", "", (("A", " "), ("B", "b")))) == "s\n\nB: b\n"
    assert format_message(Message("s", "\n \n", ())) == "s\n"
    for name in ("", "a b", "a:", "-a", "ä"):
        with pytest.raises(InputError) as caught:
            format_message(Message("s", "", ((name, "x"),)))
        assert caught.value.code == "bad-trailer"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Message("")),
        ("\n\n", Message("")),
        ("Gitmem-Op: x", Message("Gitmem-Op: x")),
        ("s\n\nA: 1\n\nB: 2", Message("s", "A: 1", (("B", "2"),))),
        ("s\n\nA: 1\nnot one", Message("s", "A: 1\nnot one")),
        ("s\r\n\r\nbody\r\n\r\nA: 1\r\n", Message("s", "body", (("A", "1"),))),
        ("s\n\nA: 1\n  more\n(cherry picked from commit 123)", Message("s", "", (("A", "1 more"),))),
        ("s\n\n indented: x", Message("s", " indented: x")),
        ("two\nlines\n\n \nbody\n", Message("two lines", "body")),
        ("s\n\nA: 1\n\n\n\n", Message("s", "", (("A", "1"),))),
    ],
)
def test_anybodys_message_is_read(text: str, expected: Message) -> None:
    assert parse_message(text) == expected


@settings(max_examples=150, derandomize=True, deadline=None, database=None)
@given(st.text(max_size=200), st.text(max_size=300), st.lists(st.text(max_size=60), max_size=3))
def test_trailers_come_back_whatever_the_text(subject: str, body: str, values: list[str]) -> None:
    trailers = (*TRAILERS, *(("Gitmem-Session", value) for value in values))
    once = parse_message(format_message(Message(subject, body, trailers)))
    assert once.trailers[:4] == TRAILERS
    assert {name for name, _value in once.trailers[4:]} <= {"Gitmem-Session"}
    assert parse_message(format_message(once)) == once
    assert len(once.subject) <= 72

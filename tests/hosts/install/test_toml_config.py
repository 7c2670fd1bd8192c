"""Edits of TOML: gitmem's server comes and goes, and no line of anybody else changes."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.hosts.install.toml_config import NotTomlError, is_foreign_server, iter_own, put_in, take_out
from gitmem.hosts.install.wanted import Form, WantedFile

ENTRY = {"command": "/opt/py/bin/python", "args": ["-P", "-m", "gitmem", "mcp"], "env": {"GITMEM_HOME": "/h"}}
FILE = WantedFile("/c/config.toml", Form.TOML, server=("mcp_servers", "gitmem"), server_entry=ENTRY)
OURS = """\
[mcp_servers.gitmem]
command = "/opt/py/bin/python"
args = ["-P", "-m", "gitmem", "mcp"]

[mcp_servers.gitmem.env]
GITMEM_HOME = "/h"
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", OURS),
        ('model = "gpt" # big\n', f'model = "gpt" # big\n\n{OURS}'),
    ],
)
def test_the_server_comes_last(before: str, after: str) -> None:
    assert put_in(before, FILE) == after
    assert take_out(after, FILE).strip() == before.strip()


@pytest.mark.parametrize(
    "text",
    [
        '# c\n\n[mcp_servers.other]\ncommand = "x" # y\n\n[mcp_servers.other.env]\nA = "1"\n\n[tail]\na = 1\n',
        "[mcp_servers]\n# none yet\n\n[tail]\na = 1",
        '[mcp_servers]\nother = { command = "x" }\n[tail]\na = 1\n',
        'mcp_servers.other.command = "x"\n',
        '[a]\nx = """\n[mcp_servers.gitmem]\n"""\n',
        '[[lists]]\na = 1\n\n[[lists]]\n\n[mcp_servers.b]\ncommand = "b"\n[z]\n[mcp_servers.c]\ncommand = "c"\n',
        "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
        '[mcp_servers."with blank"]\ncommand = "x"\n[profiles.x]\n  deep = [\n    1, # one\n    2,\n  ]\n',
    ],
)
def test_lines_of_others_stay(text: str) -> None:
    edited = put_in(text, FILE)
    there = tomllib.loads(edited)
    assert there["mcp_servers"].pop("gitmem") == ENTRY
    assert list(iter_own(edited, FILE)) == [ENTRY]
    assert put_in(edited, FILE) == edited
    left = take_out(edited, FILE)
    plain = tomllib.loads(text)
    assert tomllib.loads(left) in (
        plain,
        {name: value for name, value in plain.items() if value or name != "mcp_servers"},
    )
    lines = [line for line in text.splitlines() if line.strip() and line != "[mcp_servers]"]
    assert [line for line in left.splitlines() if line.strip() and line != "[mcp_servers]"] == lines


def test_a_new_entry_takes_the_place_of_the_old_one() -> None:
    old = OURS.replace("/opt/py", "/opt/old")
    text = f'a = 1\n\n{old}\n[mcp_servers.other]\ncommand = "x"\n'
    edited = put_in(text, FILE)
    assert tomllib.loads(edited) == {"a": 1, "mcp_servers": {"gitmem": ENTRY, "other": {"command": "x"}}}
    assert edited.index("gitmem") < edited.index("other")


def test_another_server_of_that_name_is_left() -> None:
    text = '[mcp_servers.gitmem]\ncommand = "another"\n'
    assert is_foreign_server(text, FILE)
    assert put_in(text, FILE) == take_out(text, FILE) == text


@pytest.mark.parametrize("text", ["a = ", "[a]\n[a]\n", "mcp_servers = 1\n", "mcp_servers = { }\n[mcp_servers.x]\n"])
def test_what_cant_be_edited_is_refused(text: str) -> None:
    with pytest.raises(NotTomlError):
        put_in(text, FILE)


NAMES = st.sampled_from(["a", "b", "other", '"q q"', "mcp_servers", "x-y"])
LINES = st.lists(
    st.one_of(
        st.tuples(NAMES, st.sampled_from(["1", '"t"', "[1, 2]", "true", '{ k = "v" }', "'''\nm\n'''"])).map(" = ".join),
        st.tuples(NAMES, NAMES).map(lambda two: f"[{two[0]}.{two[1]}]"),
        NAMES.map(lambda name: f"[{name}]"),
        NAMES.map(lambda name: f"[[{name}]]"),
        st.sampled_from(["", "# c", "  # [mcp_servers.gitmem]"]),
    ),
    max_size=10,
)


@settings(derandomize=True, max_examples=400, deadline=None)
@given(LINES)
def test_whatever_the_file_only_the_entry_comes_and_goes(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        plain: dict[str, Any] = tomllib.loads(text)
        edited = put_in(text, FILE)
    except (tomllib.TOMLDecodeError, NotTomlError):
        return
    servers = plain.get("mcp_servers", {})
    assert tomllib.loads(edited) == plain | {"mcp_servers": servers | {"gitmem": ENTRY}}
    left = tomllib.loads(take_out(edited, FILE))
    assert left == plain or (not servers and left | {"mcp_servers": {}} == plain | {"mcp_servers": {}})

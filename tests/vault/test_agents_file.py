"""A section between two marks: put in, found again, taken out, and nothing else of the file touched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError, StateError
from gitmem.model.ids import VaultId
from gitmem.vault.agents_file import (
    BEGIN,
    END,
    AgentsFile,
    Section,
    digest_of,
    parse_agents_file,
    put_section,
    take_section_out,
)

MADE = Section("## Holds\n\n- one", VaultId("m7k2q9x4c0d1"), "0123456789ab", 8000)
OTHER = replace(MADE, text="- two", revision="ba9876543210", max_chars=400)
FILES = st.lists(
    st.sampled_from(
        [b"\xef\xbb\xbf", b"# Title", b"text", b"\n", b"\r\n", b"\r", b"```", b"\xff", b" ", "漢".encode()]
    ),
    max_size=10,
).map(b"".join)


def put(data: bytes, made: Section = MADE) -> bytes:
    return put_section(parse_agents_file(data), made)


def marks(gap: int) -> str:
    return f"{BEGIN} vault=m7k2q9x4c0d1 revision=0123456789ab sha256={digest_of(MADE.text)} chars=8000 gap={gap} -->"


@pytest.mark.parametrize(
    ("before", "gap", "eol"),
    [
        (b"", 0, "\n"),
        (b"\xef\xbb\xbf", 0, "\n"),
        (b"# Heron\n", 1, "\n"),
        (b"# Heron\n\n", 0, "\n"),
        (b"# Heron", 2, "\n"),
        (b"# Heron\r\n\r\nBuild.", 2, "\r\n"),
        (b"# Heron\r\n\r\n", 0, "\r\n"),
        (b"\n", 1, "\n"),
    ],
)
def test_a_new_section_goes_to_the_end(before: bytes, gap: int, eol: str) -> None:
    lines = [marks(gap), "", "## Holds", "", "- one", "", END, ""]
    assert put(before) == before + (eol * gap + eol.join(lines)).encode()
    assert take_section_out(parse_agents_file(put(before))) == before


def test_a_section_is_replaced_where_it_stands() -> None:
    data = put(b"# Heron\n") + b"\nMine, without an end"
    changed = put(data, OTHER)
    assert changed == put(b"# Heron\n", replace(OTHER)) + b"\nMine, without an end"
    assert parse_agents_file(changed) == AgentsFile(b"# Heron\n\n", replace(OTHER, gap=1), b"\n\nMine, without an end")
    assert take_section_out(parse_agents_file(changed)) == b"# Heron\n\n\nMine, without an end"


def test_an_edit_is_seen_and_other_line_ends_are_none() -> None:
    data = put(b"# Heron\n")
    for same in (
        data,
        data.replace(b"\n", b"\r\n"),
        data.replace(b" -->\n", b" -->  \n"),
        data.replace(b"\n\n<", b"\n\n\n<"),
    ):
        section = parse_agents_file(same).section
        assert section is not None
        assert not section.is_edited
    for edited in (
        data.replace(b"one", b"two"),
        data.replace(b"- one", b"- one\n- two"),
        data.replace(b"- one\n", b""),
    ):
        section = parse_agents_file(edited).section
        assert section is not None
        assert section.is_edited


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (f"x\n{marks(0)}\n", 2),
        (f"{END}\n", 1),
        (f"{END}\n{marks(0)}\n", 1),
        (f"{marks(0)}\n{marks(0)}\n{END}\n", 2),
        (f"{marks(0)}\n{END}\n{END}\n", 3),
        (f"{marks(0)}\n{END}\nx\n{marks(0)}\n{END}\n", 4),
        (f"  {marks(0)}\n{END}\n", 1),
        (f"{marks(0)}\n> {END}\n", 2),
        (f"{marks(0)} x\n{END}\n", 1),
        (f"{BEGIN} -->\n{END}\n", 1),
        (f"{marks(3)}\n{END}\n", 1),
        (f"<!--gitmem:BEGIN agents-md -->\n{END}\n", 1),
        (f"```\n{marks(0)}\n```\n", 2),
    ],
)
def test_marks_that_are_not_one_pair_are_refused(data: str, line: int) -> None:
    with pytest.raises(StateError) as caught:
        parse_agents_file(data.encode())
    assert (caught.value.code, caught.value.fields["line"]) == ("bad-marks", line)


def test_what_is_no_text_of_this_kind_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        parse_agents_file("# Heron\n".encode("utf-16"))
    assert caught.value.code == "not-text"


@settings(derandomize=True, max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FILES, FILES)
def test_whatever_is_around_stays_and_comes_back(before: bytes, behind: bytes) -> None:
    once = put(before)
    assert once.startswith(before)
    assert put(once) == once
    assert take_section_out(parse_agents_file(once)) == before
    parsed = parse_agents_file(once + behind)
    assert parsed.section == replace(MADE, gap=parsed.section.gap if parsed.section else 0)
    changed = parse_agents_file(put_section(parsed, OTHER))
    assert (changed.before, changed.after) == (parsed.before, parsed.after)
    assert changed.section == replace(OTHER, gap=parsed.section.gap if parsed.section else 0)

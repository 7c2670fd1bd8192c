"""What is kept of an event, and what is not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.curator.capture import MAX_PATH_CHARS, MAX_PATHS, Around, find_inside, keep_session, make_event
from gitmem.model.event import Event, EventKind, Seen
from gitmem.vault.spool import MAX_LINE_BYTES, event_from_json, event_to_json

AROUND = Around("2026-12-01T10:00:00Z", ("/home/sam/shop",), b"k" * 32, "1" * 40)
TIME = AROUND.time


def seen(**members: object) -> Seen:
    return Seen(**({"kind": EventKind.TOOL, "session": "s1", "host": "codex", "folder": "/home/sam/shop"} | members))  # type: ignore[arg-type]


def test_a_tool_s_use_keeps_its_metadata() -> None:
    told = seen(
        tool="Bash",
        command_line="pytest -k secret",
        paths=("/home/sam/shop/src/cart.py", "tests/../tests/test_cart.py", "/home/sam/other.py", "/home/sam/shop"),
        exit_code=1,
        failed=True,
        duration_ms=12,
        given="sécret".encode(),
        produced=b"",
        detail="secret",
    )
    assert make_event(told, AROUND) == Event(
        time=TIME,
        session="s1",
        kind=EventKind.TOOL,
        host="codex",
        tool="Bash",
        command="pytest",
        paths=("src/cart.py", "tests/test_cart.py"),
        outside=2,
        exit_code=1,
        failed=True,
        duration_ms=12,
        input_bytes=7,
        output_bytes=0,
        digest=make_event(told, AROUND).digest,
    )
    other = make_event(told, Around(TIME, key=b"o" * 32))
    assert len(other.digest) == 32
    assert other.digest != make_event(told, AROUND).digest == make_event(told, AROUND).digest


def test_a_prompt_keeps_its_size_and_where_the_project_was_and_a_start_too() -> None:
    prompt = make_event(seen(kind=EventKind.PROMPT, prompt="secret", given=b"secret"), AROUND)
    assert (prompt.input_bytes, prompt.commit, prompt.tool) == (6, "1" * 40, "")
    start = make_event(seen(kind=EventKind.SESSION_START, detail="startup"), AROUND)
    assert start == Event(TIME, "s1", EventKind.SESSION_START, host="codex", commit="1" * 40, detail="startup")
    end = make_event(seen(kind=EventKind.SESSION_END, detail="prompt_input_exit"), AROUND)
    assert end.detail == "prompt-input-exit"


def test_how_a_whole_line_went_is_not_said_of_a_command_in_its_middle() -> None:
    event = make_event(seen(tool="Bash", command_line="pytest | tail -3", exit_code=0, failed=False), AROUND)
    assert (event.command, event.exit_code, event.failed) == ("pytest", None, None)
    unknown = make_event(seen(tool="Bash", command_line="secret-tool x", exit_code=3, failed=True), AROUND)
    assert (unknown.command, unknown.exit_code, unknown.failed) == ("", 3, True)


def test_names_in_odd_forms_are_left_out_or_hashed() -> None:
    odd = make_event(seen(tool="rm -rf", host="A B", session="../../etc/passwd", duration_ms=-1), AROUND)
    assert (odd.tool, odd.host, odd.duration_ms) == ("", "", None)
    assert odd.session == keep_session("../../etc/passwd", AROUND.key)
    assert odd.session.startswith("h-")
    assert len(odd.session) == 26
    assert keep_session("../../etc/passwd", b"") != odd.session
    assert keep_session("0198-Ab.c_d", b"") == "0198-Ab.c_d"


def test_paths_are_inside_or_not_by_their_name() -> None:
    roots = ("/home/sam/shop", "/data/shop")
    inside = {
        "/home/sam/shop/a b.py": "a b.py",
        "src/./x.py": "src/x.py",
        "src/../../shop/y.py": "y.py",
        "/data/shop/z": "z",
        "日本/記録.md": "日本/記録.md",
        "..hidden": "..hidden",
    }
    assert {path: find_inside(path, "/home/sam/shop", roots) for path in inside} == inside
    outside = [
        *("/home/sam/shopping/x", "../x", "/etc/passwd", "~/x", "~sam/x", "", "/home/sam/shop", ".", "a\0b", "a\nb"),
        *("a\x1b[31m", "a\u202eb", "\ud800", "x" * (MAX_PATH_CHARS + 1), "src/../../../../etc/passwd", "\\\\server\\x"),
    ]
    assert [path for path in outside if find_inside(path, "/home/sam/shop", roots) is not None] == []
    assert find_inside("src/x", "no/absolute/folder", roots) is None
    assert find_inside("/x/y", "/x", ()) is None


def test_many_paths_are_bounded_and_the_rest_counted() -> None:
    event = make_event(seen(tool="Edit", paths=tuple(f"f{number}" for number in range(100)) * 2), AROUND)
    assert event.paths == tuple(f"f{number}" for number in range(MAX_PATHS))
    assert event.outside == (100 - MAX_PATHS) * 2
    long = make_event(seen(tool="Edit", paths=tuple(f"{number:03}{'記' * 290}" for number in range(40))), AROUND)
    assert len(long.paths) + long.outside == 40
    assert len(long.paths) == 9


_TEXT = st.text(max_size=30) | st.sampled_from(["/home/sam/shop/a", "git commit", "startup", "Bash", "s1", "a/b"])


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.builds(
        Seen,
        kind=st.sampled_from(EventKind),
        session=_TEXT.filter(bool),
        host=_TEXT,
        folder=_TEXT,
        tool=_TEXT,
        command_line=_TEXT,
        paths=st.lists(_TEXT, max_size=60).map(tuple),
        exit_code=st.none() | st.integers(-(1 << 31), 1 << 31),
        failed=st.none() | st.booleans(),
        duration_ms=st.none() | st.integers(),
        given=st.none() | st.binary(max_size=9),
        produced=st.none() | st.binary(max_size=9),
        detail=_TEXT,
        prompt=_TEXT,
    )
)
def test_every_event_is_as_its_schema_says_and_fits_its_line(told: Seen) -> None:
    event = make_event(told, AROUND)
    value = event_to_json(event)
    assert event_from_json(value) == event
    assert len(str(value).encode()) < MAX_LINE_BYTES

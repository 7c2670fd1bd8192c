"""Nothing of a prompt, an output, a command line or a file's content is ever on disk: markers in every member of every
payload, a real hook process for each, and a search of every byte of the home."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from host_payloads import HOSTS, Shop, iter_bytes, load_payloads, make_shop

from gitmem.model.authority import Actor, Surface
from gitmem.service.curate import Wanted
from gitmem.service.query import Filters
from gitmem.wiring import open_memory

AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid")

KEPT_AS_THEY_ARE = ("hook_event_name", "host", "cwd", "workspace_roots")
"""Without these it would be no event of the host's in this project."""
MAY_BE_KEPT = ("session_id", "conversation_id", "tool_name")
PATHS = ("file_path", "filePath", "path")
Plant = Callable[[str, tuple[str, ...]], str]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return make_shop(tmp_path)


class Markers:
    """Unique texts, and at which place in a payload each stands."""

    def __init__(self, host: str, *, whole: bool) -> None:
        self.numbers = itertools.count(1000)
        self.places: dict[str, tuple[str, ...]] = {}
        self.host, self.whole = host.replace("-", ""), whole

    def new(self, place: tuple[str, ...]) -> str:
        marker = f"qzx{self.host}{next(self.numbers)}xzq"
        self.places[marker] = place
        return marker

    def plant(self, value: Any, place: tuple[str, ...] = ()) -> Any:
        """Return ``value`` with a marker in each text, and one more member, named by a marker, in each object."""
        if place and place[0] in KEPT_AS_THEY_ARE:
            return value
        if isinstance(value, dict):
            planted = {name: self.plant(one, (*place, name)) for name, one in value.items()}
            return planted | {self.new((*place, "a name")): self.new((*place, "added"))}
        if isinstance(value, list):
            return [self.plant(one, place) for one in value]
        if not isinstance(value, str):
            return value
        if place == ("tool_output",):  # JSON in a text
            return json.dumps(self.plant(json.loads(value), (*place, "in it")))
        if place == ("tool_name",) and not self.whole:
            return value
        return self.new(place) if self.whole else f"{value}{self.new(place)}"

    def may_be_kept(self, marker: str) -> bool:
        place = self.places[marker]
        return place[0] in MAY_BE_KEPT or (place[0] == "tool_input" and place[-1] in PATHS) or place == ("file_path",)


@pytest.mark.parametrize("whole", [False, True], ids=["behind", "instead"])
@pytest.mark.parametrize("host", HOSTS)
def test_inv_metadata_only_no_text_of_a_payload_is_on_disk(host: str, whole: bool, shop: Shop) -> None:
    markers = Markers(host, whole=whole)
    names = [host, "claude-code-resumed"] if host == "claude-code" else [host]
    payloads = [payload for name in names for payload in load_payloads(name, shop.project)]
    for payload in payloads:
        done = shop.hook(markers.plant(payload), "--host", host)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    events = shop.events()
    kept = b"".join(file.read_bytes() for file in Path(shop.layout.events).iterdir())
    assert not any(folder in kept for folder in (str(shop.project).encode(), b"/home/sam"))
    assert len(events) > 5
    assert len(markers.places) > 80
    found = find_markers(markers, shop.home)
    with open_memory(str(shop.home), str(shop.project)) as memory:
        assert memory.curate(AGENT, Wanted(every=True)).receipt.commit
        assert memory.search("session", Filters()).extra["episodes"]
    assert Path(shop.layout.catalog_file).exists()
    assert find_markers(markers, shop.home) <= found
    assert found, "what may be kept is kept, so a marker would be found"
    if not whole:
        assert {event.command for event in events} >= {"python -m unittest", "git commit"}
        assert any(event.paths for event in events)


def find_markers(markers: Markers, home: Path) -> set[str]:
    """Return the markers that lie anywhere below ``home``, each of which may be kept."""
    found = set()
    for name, data in iter_bytes(home):
        text = data.lower()
        for marker in markers.places:
            forms = (marker.encode(), marker.encode().hex().encode(), base64.b64encode(marker.encode())[:12].lower())
            if any(form in text for form in forms):
                found.add(marker)
                assert markers.may_be_kept(marker), (name, marker, markers.places[marker])
    return found


ODD_PAYLOADS: dict[str, bytes] = {
    "empty": b"",
    "no JSON": b"qzxsecretxzq",
    "cut off": b'{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "qzxsecretxzq',
    "a list": b'["qzxsecretxzq"]',
    "a text": b'"qzxsecretxzq"',
    "not UTF-8": b'{"hook_event_name": "Stop", "session_id": "qzxsecretxzq\xff"}',
    "UTF-16": '{"hook_event_name": "Stop", "session_id": "qzxsecretxzq"}'.encode("utf-16"),
    "nested": b'{"a":' * 200_000,
    "nested and whole": b'{"hook_event_name": "Stop", "session_id": "s", "a": ' + b"[" * 90_000 + b"]" * 90_000 + b"}",
    "a huge number": b'{"hook_event_name": "Stop", "session_id": ' + b"9" * 5_000 + b"}",
    "unknown event": b'{"hook_event_name": "qzxsecretxzq", "session_id": "s"}',
    "no event": b'{"session_id": "qzxsecretxzq"}',
    "no session": b'{"hook_event_name": "UserPromptSubmit", "prompt": "qzxsecretxzq"}',
    "wrong types": json.dumps(
        {name: ["qzxsecretxzq"] for name in ("session_id", "prompt", "cwd")} | {"hook_event_name": {"a": 1}}
    ).encode(),
}


@pytest.mark.parametrize("name", ODD_PAYLOADS)
def test_odd_payloads_keep_nothing_and_cost_nothing(name: str, shop: Shop) -> None:
    done = shop.hook(ODD_PAYLOADS[name])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert shop.events() == []
    assert not any(b"qzxsecretxzq" in data for _name, data in iter_bytes(shop.home))


def test_members_of_wrong_types_are_passed_over(shop: Shop) -> None:
    odd: list[Any] = [
        None,
        True,
        -1,
        1.5,
        1e300,
        "",
        [],
        {},
        ["qzxsecretxzq"],
        {"qzxsecretxzq": 1},
        "a\0qzxsecretxzq",
        "\ud800",
    ]
    payload = next(one for one in load_payloads("claude-code", shop.project) if "tool_response" in one)
    for number, value in enumerate(odd):
        for member in ("tool_input", "tool_response", "duration_ms", "cwd", "tool_name", "transcript_path"):
            payload = payload | {member: value, "session_id": f"s{number}"}
        payload = payload | {"tool_name": "Edit", "tool_input": {"file_path": value, "command": value}}
        done = shop.hook(payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), value
    assert len(shop.events()) == len(odd)
    assert not any(b"qzxsecretxzq" in data for _name, data in iter_bytes(shop.home))


def test_a_folder_that_can_be_none_is_passed_over(shop: Shop) -> None:
    folders = ["/a\0qzxsecretxzq", "/\ud800", "/" + "x" * 5000, "relative", "~", ""]
    for number, folder in enumerate(folders):
        done = shop.hook({"hook_event_name": "Stop", "session_id": f"s{number}", "cwd": folder})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), folder
    assert len(shop.events()) == len(folders)
    assert not any(b"qzxsecretxzq" in data for _name, data in iter_bytes(shop.home))


def test_a_payload_beyond_the_bound_is_read_to_its_end_and_counted(shop: Shop) -> None:
    head = b'{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "'
    done = shop.hook(head + b"qzxsecretxzq" * 800_000 + b'"}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert shop.events() == []
    assert Path(shop.layout.events_tally).read_bytes() == b"l"
    large = shop.hook(head + b"qzxsecretxzq" * 600_000 + b'"}')
    assert (large.returncode, large.stderr) == (0, b"")
    assert [event.input_bytes for event in shop.events()] == [12 * 600_000]
    assert not any(b"qzxsecretxzq" in data for _name, data in iter_bytes(shop.home))

"""Several agents on one vault, each in its own way and all at once: what one writes, others find at their next read.

Long-lived are two memories in this process, one in another process, and an MCP server; the command line is a new
process each time. None of them is opened again between a write and a read of another.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self

import pytest
from hosts.mcp.served import Raw, environ

from gitmem.model.answer import Answer
from gitmem.model.authority import Actor, Surface
from gitmem.model.record import Draft, Kind
from gitmem.model.task_report import TaskReport
from gitmem.service.memory import Memory
from gitmem.service.query import Filters

from conftest import Desk

AGENT = Actor(Surface.MODEL, "agent", "agent@agents.gitmem.invalid")
WORKER = """
import json, sys
from hosts.test_side_by_side import InProcess
from conftest import Desk
from pathlib import Path
home, repo, runtime = sys.argv[1:]
with Desk(home, Path(repo), Path(runtime)).open() as memory:
    own = InProcess(memory)
    for line in sys.stdin:
        name, *args = json.loads(line)
        print(json.dumps(getattr(own, name)(*args)), flush=True)
"""


@dataclass
class InProcess:
    """A memory that stays open."""

    memory: Memory

    def observe(self, title: str) -> str:
        return self.memory.observe(Draft(title, f"About {title}.", evidence=("run:1",)), AGENT).records[0].id

    def report(self, title: str) -> str:
        return (
            self.memory.report(title, TaskReport("Done.", ("run:1",), next=f"Go on after {title}."), AGENT)
            .records[0]
            .id
        )

    def retire(self, ref: str) -> None:
        self.memory.retire(ref, "wrong", AGENT)

    def look(self, ref: str, title: str) -> dict[str, bool]:
        """Tell by which reads the record is found now."""

        def has(answer: Answer) -> bool:
            return any(hit.record.id == ref for hit in answer.hits)

        shown = self.memory.show(ref)
        return {
            "search": has(self.memory.search(title, Filters())),
            "list": has(self.memory.list(Filters())),
            "recall": has(self.memory.recall(title)),
            "show": bool(shown.hits) and shown.hits[0].record.state.value != "retired",
        }

    def read_body(self, ref: str) -> str:
        return str(self.memory.show(ref).extra["body"]).strip()

    def context(self) -> str:
        return str(self.memory.context().extra["text"])


@dataclass
class Apart:
    """The same in a process of its own, which goes on as long as the test."""

    desk: Desk

    def __post_init__(self) -> None:
        places = (self.desk.home, str(self.desk.repo), str(self.desk.runtime))
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *places],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ(self.desk.home, PYTHONPATH=":".join(sys.path)),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.process.communicate()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*args: str) -> Any:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.write(json.dumps([name, *args]) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())

        return ask


@dataclass
class CommandLine:
    """A process for each command."""

    desk: Desk

    def run(self, *args: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "gitmem", "--vault", str(self.desk.repo), *args, "--json"],
            cwd=self.desk.home,
            env=environ(self.desk.home),
            capture_output=True,
            check=False,
        )
        return json.loads(done.stdout)

    def observe(self, title: str) -> str:
        said = self.run("observe", title, "--body", f"About {title}.", "--evidence", "run:1")
        return str(said["records"][0]["id"])

    def report(self, title: str) -> str:
        said = self.run("report", title, "--answer", "Done.", "--evidence", "run:1", "--next", f"Go on after {title}.")
        return str(said["records"][0]["id"])

    def retire(self, ref: str) -> None:
        assert self.run("retire", ref, "--reason", "wrong")["changed"]

    def look(self, ref: str, title: str) -> dict[str, bool]:
        results = {name: self.run(name, asked)["results"] for name, asked in (("search", title), ("show", ref))}
        return {
            name: any(one["id"] == ref and one["state"] != "retired" for one in rows) for name, rows in results.items()
        }

    def read_body(self, ref: str) -> str:
        return str(self.run("show", ref)["body"]).strip()

    def context(self) -> str:
        return str(self.run("context")["text"])


@dataclass
class Served:
    """An MCP server, asked over its pipes."""

    raw: Raw
    number: int = field(default=0)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.number += 1
        result = self.raw.call(self.number, tool, **arguments)["result"]
        assert not result.get("isError"), result
        data: dict[str, Any] = result["structuredContent"]
        return data

    def observe(self, title: str) -> str:
        return str(self.call("memory_observe", title=title, body=f"About {title}.", evidence=["run:1"])["id"])

    def report(self, title: str) -> str:
        told = {"answer": "Done.", "evidence": ["run:1"], "next": f"Go on after {title}."}
        return str(self.call("memory_observe", title=title, **told)["id"])

    def look(self, ref: str, title: str) -> dict[str, bool]:
        found = self.call("memory_search", query=title)["hits"]
        shown = self.call("memory_get", id=ref)
        return {
            "search": any(one["id"] == ref for one in found),
            "show": '"retired"' not in json.dumps(shown) and ref in json.dumps(shown),
        }

    def read_body(self, ref: str) -> str:
        return json.dumps(self.call("memory_get", id=ref))

    def context(self) -> str:
        return str(self.call("memory_context"))


@pytest.fixture
def agents(desk: Desk) -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        raw = stack.enter_context(Raw(desk.home, str(desk.repo)))
        raw.greet()
        yield {
            "here": InProcess(stack.enter_context(desk.open())),
            "here, too": InProcess(stack.enter_context(desk.open())),
            "elsewhere": stack.enter_context(Apart(desk)),
            "command line": CommandLine(desk),
            "mcp": Served(raw),
        }


def missed(agents: dict[str, Any], ref: str, title: str, *, is_there: bool = True) -> list[tuple[str, str]]:
    """Return who does not find the record by which read; or does, where it is not to be found."""
    return [
        (name, read)
        for name, one in agents.items()
        for read, is_found in one.look(ref, title).items()
        if is_found is not is_there
    ]


TITLES = {
    "here": "Quayside barcodes have fourteen digits",
    "here, too": "Kiosk terminals restart at half past four",
    "elsewhere": "Reminder letters go out on Thursdays",
    "command line": "Refunds above ninety euros want two signatures",
    "mcp": "Winter moorings close the northern gate",
}


def test_what_one_observes_all_others_find_at_once(agents: dict[str, Any], desk: Desk) -> None:
    ids = {}
    for name, title in TITLES.items():
        ids[name] = agents[name].observe(title)
        assert missed(agents, ids[name], title) == []
    note = next(desk.repo.glob("observations/*/quayside-*.md"))
    text = note.read_text()
    for number, (name, one) in enumerate(agents.items()):
        note.write_text(text.replace("About Quayside", f"{number} times about Quayside"))
        assert (name, f"{number} times about" in one.read_body(ids["here"])) == (name, True)
    desk.git("checkout", "-q", "--", ".")
    for name, by in (("here", "command line"), ("elsewhere", "here"), ("command line", "elsewhere")):
        agents[by].retire(ids[name])
        assert missed(agents, ids[name], TITLES[name], is_there=False) == []
    desk.judge()


def test_what_one_reports_is_in_the_context_of_all_others(agents: dict[str, Any], desk: Desk) -> None:
    for name, title in TITLES.items():
        ref = agents[name].report(title)
        told = {other: one.context() for other, one in agents.items()}
        assert [other for other, text in told.items() if ref not in text or f"Go on after {title}." not in text] == []
    desk.judge()


def test_what_waits_in_the_inbox_is_seen_by_both(desk: Desk) -> None:
    with desk.open() as one, desk.open() as other:
        candidate = one.propose(Draft("Never push to main", kind=Kind.BOUNDARY), AGENT).candidate
        assert [row["id"] for row in other.inbox().rows] == [candidate.id]
        assert [row["id"] for row in CommandLine(desk).run("inbox")["results"]] == [candidate.id]
        other.withdraw([candidate.id], "mine", AGENT)
        assert one.inbox().rows == ()

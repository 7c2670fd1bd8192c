"""What the events of a session come to. Pure, and the same for the same events.

Nothing is taken over that is not known to be harmless: names of tools, hosts and sessions in a plain form, commands of
the vocabulary that capture knows, paths below the workspace. Whatever else an event may hold stays behind.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from gitmem.model.event import Event, EventKind
from gitmem.model.session import MAX_CHANGED, MAX_COMMANDS, MAX_TOOLS, Runs, Session
from gitmem.patterns import late
from gitmem.text import find_hidden
from gitmem.values import dataclass, field

MAX_PATH_CHARS = 300
OTHER_TOOL = "others"
# What hosts call the tools that look and change nothing; all others may change what they are used on.
_READING = frozenset(
    [
        *("read", "notebookread", "grep", "glob", "ls", "view", "search", "list", "list_dir", "list_directory"),
        *("codebase_search", "file_search", "grep_search", "search_file_content", "google_web_search", "web_search"),
        *("read_file", "readfile", "read_many_files", "read_text_file", "web_fetch", "webfetch", "websearch"),
        *("todoread", "todowrite"),
    ]
)
_TOOL = late(r"[A-Za-z][A-Za-z0-9_.:-]{0,59}")
_HOST = late(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_SESSION = late(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_COMMAND = late(r"[a-z0-9][a-z0-9 ._+-]{0,63}")
_COMMIT = late(r"[0-9a-f]{40}")


def sum_up(events: Sequence[Event], session: str, *, part: int = 1, dropped: int = 0) -> Session:
    """Return what ``events``, in the order in which they came, tell of ``session``; there is at least one.

    ``dropped`` events were not kept. Bounded, however many there are.
    """
    times = sorted(event.time for event in events)
    seen = _Seen()
    for event in events:
        seen.take(event)
    changed = sorted(seen.changed)
    commits = [event.commit for event in events if _COMMIT.fullmatch(event.commit)]
    return Session(
        session=plain_session(session),
        host=plain_host(next((event.host for event in events if event.host), "")),
        start=times[0],
        end=times[-1],
        part=part,
        prompts=sum(event.kind is EventKind.PROMPT for event in events),
        tools=tuple(sorted(seen.tools.items(), key=lambda one: (-one[1], one[0]))[:MAX_TOOLS]),
        changed=tuple(changed[:MAX_CHANGED]),
        changed_count=len(changed),
        read_count=len(seen.read - seen.changed),
        outside=sum(event.outside for event in events),
        runs=tuple(run.finish() for _name, run in sorted(seen.runs.items())),
        first_commit=commits[0] if commits else "",
        last_commit=commits[-1] if commits else "",
        dropped=dropped,
        is_ended=events[-1].kind is EventKind.SESSION_END,
        is_telling=bool(seen.tools or seen.runs or seen.changed),
    )


def plain_host(host: str) -> str:
    """Return the host's name where it has a plain form, else ``host``."""
    return host if _HOST.fullmatch(host) else "host"


def plain_session(session: str) -> str:
    """Return the session's name where it has a plain form, else a hash of it."""
    if _SESSION.fullmatch(session):
        return session
    return "h-" + hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def find_outcome(event: Event) -> bool | None:
    """Return whether what the event tells of passed, ``None`` where it doesn't say."""
    if event.failed is not None:
        return not event.failed
    return None if event.exit_code is None else event.exit_code == 0


def list_paths(paths: Iterable[str]) -> list[str]:
    """Return those ``paths`` that can be shown: relative, within the workspace, one line, of a bounded length."""
    return [
        path
        for path in paths
        if 0 < len(path) <= MAX_PATH_CHARS
        and not path.startswith(("/", "~"))
        and ".." not in path.split("/")
        and len(path.splitlines()) == 1
        and "\t" not in path
        and not find_hidden(path)
    ]


@dataclass
class _Seen:
    """What is gathered while events go by, each in its turn."""

    tools: Counter[str] = field(default_factory=Counter)
    changed: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    runs: dict[str, _Running] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        if event.kind not in (EventKind.TOOL, EventKind.NOTED):
            return
        paths = list_paths(event.paths)
        if event.tool.rpartition("__")[2].lower() in _READING:
            self.read.update(paths)
        else:
            self.changed.update(paths)
            for run in self.runs.values():
                run.note_changed(paths)
        if event.tool:
            self.tools[event.tool if _TOOL.fullmatch(event.tool) else OTHER_TOOL] += 1
        if _COMMAND.fullmatch(event.command) and (event.command in self.runs or len(self.runs) < MAX_COMMANDS):
            self.runs.setdefault(event.command, _Running(event.command)).count(outcome=find_outcome(event))


@dataclass
class _Running:
    """How the runs of one command go."""

    command: str
    counts: Counter[bool | None] = field(default_factory=Counter)
    last: bool | None = None
    is_failing: bool = False
    is_mended: bool = False
    meanwhile: set[str] = field(default_factory=set)
    between: set[str] = field(default_factory=set)

    def count(self, *, outcome: bool | None) -> None:
        self.counts[outcome] += 1
        if outcome is None:
            return
        self.last = outcome
        if not outcome:
            self.is_failing = True
        elif self.is_failing:
            self.is_failing, self.is_mended = False, True
            self.between |= self.meanwhile
            self.meanwhile = set()

    def note_changed(self, paths: Sequence[str]) -> None:
        if self.is_failing:
            self.meanwhile.update(paths)

    def finish(self) -> Runs:
        counts, between = self.counts, tuple(sorted(self.between)[:MAX_CHANGED])
        return Runs(self.command, counts[True], counts[False], counts[None], self.last, self.is_mended, between)

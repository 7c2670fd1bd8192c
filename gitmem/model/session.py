"""A session, or a part of one: what its events come to, and what is made of it. Metadata alone. Design section 8."""

from __future__ import annotations

from gitmem.values import dataclass

MAX_CHANGED = 200
"""How many changed files are kept by name of one part of a session."""
MAX_KEPT_CHANGED = 40
"""How many of them are remembered once it is curated."""
MAX_COMMANDS = 40
MAX_TOOLS = 20


@dataclass(frozen=True)
class Runs:
    """How the runs of one command went. ``unknown`` are those of which the host didn't tell.

    ``last`` is the last outcome that is known. ``is_mended`` says that it failed and passed later; ``between`` are the
    files that were changed after its first failure and before it passed, sorted.
    """

    command: str
    passed: int = 0
    failed: int = 0
    unknown: int = 0
    last: bool | None = None
    is_mended: bool = False
    between: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """What is known of a session, or of one part of it, from its events. Times are RFC 3339 in UTC.

    ``part`` counts from 1. ``changed`` are the files that tools other than reading ones were used on, sorted,
    ``changed_count`` how many they are, ``read_count`` those that were only read, ``outside`` how often a path lay
    outside the workspace. ``tools`` are names with how often each was used, most used first. ``first_commit`` and
    ``last_commit`` are where the project's repository was, empty where nobody told. ``dropped`` events were not kept.
    ``record`` is the id of the episode, empty where there was nothing to tell, and ``stem`` the name of its file.
    """

    session: str
    host: str
    start: str
    end: str
    part: int = 1
    prompts: int = 0
    tools: tuple[tuple[str, int], ...] = ()
    changed: tuple[str, ...] = ()
    changed_count: int = 0
    read_count: int = 0
    outside: int = 0
    runs: tuple[Runs, ...] = ()
    first_commit: str = ""
    last_commit: str = ""
    dropped: int = 0
    is_ended: bool = False
    is_telling: bool = False
    record: str = ""
    stem: str = ""

    @property
    def source(self) -> str:
        """The session as provenance names it: ``host/session``."""
        return f"{self.host}/{self.session}"


@dataclass(frozen=True)
class Made:
    """The commits that were made in the project while a session went on: ids, oldest first, bounded.

    ``has_more`` says that there are more of them. ``unknown`` says why it can't be told, empty where it can.
    """

    ids: tuple[str, ...] = ()
    has_more: bool = False
    unknown: str = ""

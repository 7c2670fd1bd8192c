"""A record: one memory, one Markdown file. Design section 4."""

from __future__ import annotations

from enum import StrEnum

from gitmem.model.authority import Authority
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.vault_path import VaultPath
from gitmem.typed import Any
from gitmem.values import dataclass, field, replace

MAX_SUMMARY_CHARS = 200
MAX_TITLE_CHARS = 200
MAX_KEY_CHARS = 100
MAX_DRAFTS = 1000
"""How many drafts one operation takes."""
MAX_DRAFT_LINE_BYTES = 1 << 20
MAX_DRAFT_FILE_BYTES = 16 << 20
"""How much of a file of drafts is read, a line and in all."""
EVIDENCE_FORM = r"(?:commit|file|run|url):\S[^\n\r]*"
"""What reads as evidence. What may be written is narrower: policy looks at what follows the colon."""


class State(StrEnum):
    """The lifecycle folder that a record lies in. The folder is the state; no property repeats it."""

    BASELINE = "baseline"
    OBSERVATION = "observation"
    PROMOTED = "promoted"
    RETIRED = "retired"

    @property
    def folder(self) -> str:
        """The top folder of this state."""
        return "observations" if self is State.OBSERVATION else self.value


FOLDERS: dict[str, State] = {state.folder: state for state in State}


def state_of(path: str) -> State | None:
    """Return the state that ``path`` lies in, or ``None`` outside the lifecycle folders."""
    top, slash, _rest = path.partition("/")
    return FOLDERS.get(top) if slash else None


class Kind(StrEnum):
    """What a record is about."""

    BOUNDARY = "boundary"
    PREFERENCE = "preference"
    GOAL = "goal"
    STATE = "state"
    FACT = "fact"
    DECISION = "decision"
    CONVENTION = "convention"
    PROCEDURE = "procedure"
    FINDING = "finding"
    EPISODE = "episode"
    TASK = "task"


BASELINE_KINDS = frozenset({Kind.BOUNDARY, Kind.PREFERENCE, Kind.GOAL, Kind.STATE})
EPISODIC_KINDS = frozenset({Kind.EPISODE, Kind.TASK})
KNOWLEDGE_KINDS = frozenset(Kind) - BASELINE_KINDS - EPISODIC_KINDS


@dataclass(frozen=True)
class Problem:
    """Something about a file that a person should look at. ``code`` is stable, ``message`` one line for people."""

    code: str
    message: str
    path: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Record:
    """One memory as read from its file. Absent properties are ``None`` or empty.

    ``title`` falls back to the file name, as in Obsidian. Dates stay the strings they were (``2026-11-30`` or RFC
    3339 in UTC). ``properties`` holds every frontmatter value by name, in order, unknown ones included.
    ``problems`` lists properties whose value does not fit and which therefore count as absent. ``tags`` are those of
    the frontmatter, ``inline_tags`` the ``#tags`` of the body that are not among them.
    """

    id: RecordId
    path: VaultPath
    state: State
    title: str
    body: str
    fingerprint: Fingerprint
    kind: Kind | None = None
    summary: str = ""
    authority: Authority | None = None
    tags: tuple[str, ...] = ()
    inline_tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    key: str | None = None
    created: str | None = None
    updated: str | None = None
    source: str | None = None
    evidence: tuple[str, ...] = ()
    verified: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    review_after: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    private: bool = False
    properties: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def stem(self) -> str:
        """The file name without ``.md``: what a wikilink names."""
        return self.path.rpartition("/")[2].removesuffix(".md")

    def moved(self, path: VaultPath, state: State) -> Record:
        """Return the same record at another place."""
        return replace(self, path=path, state=state)


@dataclass(frozen=True)
class Draft:
    """What someone wants remembered, before it has an id or a file."""

    title: str
    body: str = ""
    kind: Kind | None = None
    summary: str = ""
    tags: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    key: str | None = None

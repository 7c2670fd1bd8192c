"""The tree that a model sees: which file is at a path, and what lies in a folder. Reads the memory, writes nothing."""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.hosts.memory_tool.sentences import CommandError, echo
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import Fingerprint, RecordId
from gitmem.model.memory_file import ROOT, parse_file
from gitmem.model.record import FOLDERS
from gitmem.model.vault_path import fold_path
from gitmem.service.memory import Memory
from gitmem.values import dataclass

_DEPTH = 2


@dataclass(frozen=True)
class Leaf:
    """One file: the record there, the size of its file in bytes, and whether a model chose the path."""

    path: str
    id: RecordId
    size: int
    is_chosen: bool


@dataclass(frozen=True)
class Content:
    """What a file says now: the record's body where a model chose the path, else all of its file.

    ``is_own`` says that the actor wrote it, and nobody else since. What others wrote is escaped, see ``service.files``.
    """

    text: str
    id: RecordId
    title: str
    fingerprint: Fingerprint
    is_own: bool


@dataclass(frozen=True)
class Tree:
    """All files at one moment, by path below the root. ``unread`` counts the records that can't be read."""

    leaves: dict[str, Leaf]
    unread: int = 0

    def find(self, path: str) -> Leaf | None:
        """Return the file at ``path``, or ``None``."""
        return self.leaves.get(path)

    def below(self, folder: str) -> list[Leaf]:
        """Return the files in ``folder`` and its folders, by path; the root is the empty path."""
        start = f"{folder}/" if folder else ""
        return [leaf for path, leaf in self.leaves.items() if path.startswith(start)]

    def is_folder(self, path: str) -> bool:
        """Tell whether something lies below ``path``. The root is always a folder."""
        return not path or any(one.startswith(f"{path}/") for one in self.leaves)

    def find_file_above(self, path: str) -> str | None:
        """Return the file that is in the way of ``path``, which would have to be a folder, or ``None``."""
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return next((one for one in above if one in self.leaves), None)

    def list_entries(self, folder: str) -> list[tuple[int, str]]:
        """Return what lies up to two levels deep in ``folder``, (bytes, path from the root), folders before theirs."""
        start = f"{folder}/" if folder else ""
        sizes: dict[tuple[str, ...], int] = {}
        folders: set[tuple[str, ...]] = set()
        for leaf in self.below(folder):
            parts = tuple(leaf.path.removeprefix(start).split("/"))
            for depth in range(1, min(_DEPTH, len(parts)) + 1):
                sizes[parts[:depth]] = sizes.get(parts[:depth], 0) + leaf.size
                if depth < len(parts):
                    folders.add(parts[:depth])
        shown = {parts: "/" if parts in folders else "" for parts in sorted(sizes)}
        return [(sizes[parts], f"{ROOT}/{start}{'/'.join(parts)}{end}") for parts, end in shown.items()]


def load_tree(memory: Memory, path: str = "") -> Tree:
    """Return the tree as it is now, as much of it as has to do with ``path``: all for the root, else one side.

    Raises ``CommandError`` where the memory can't be read: it is no empty one then.
    """
    chosen_only = bool(path) and fold_path(path.partition("/")[0]) not in FOLDERS
    answer = check_read(memory.files(chosen_only=chosen_only))
    leaves = [Leaf(row["path"], row["id"], row["bytes"], row["is_chosen"]) for row in answer.rows]
    return Tree({leaf.path: leaf for leaf in leaves}, len({one.path for one in answer.diagnostics if one.path}))


def find_content(memory: Memory, leaf: Leaf) -> Content | None:
    """Return what is in a file, ``None`` where it went meanwhile. Raises ``CommandError`` as ``load_tree``."""
    try:
        answer = check_read(memory.show_file(leaf.id))
    except InputError as error:
        if error.code != "no-such-record":
            raise
        return None
    record = answer.hits[0].record
    text = trim(answer.extra["body"]) if leaf.is_chosen else to_lf(answer.extra["file"])
    return Content(text, record.id, record.title, record.fingerprint, answer.extra["is_own"])


def to_lf(text: str) -> str:
    """Return ``text`` with its line ends as line feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def trim(text: str) -> str:
    """Return ``text`` as a file of a model is kept: LF, no empty lines at its ends, one line feed at the end."""
    lines = to_lf(text).strip("\n")
    return f"{lines}\n" if lines else ""


def parse_path(text: str) -> str:
    """Return the path below the root that a model means. Raises ``CommandError`` for one that is or leads outside."""
    try:
        return parse_file(text)
    except InputError as error:
        raise CommandError(f"Error: {error.message}") from None


def check_read(answer: Answer) -> Answer:
    """Return an answer that could be given. Raises ``CommandError`` that says why this one could not."""
    if answer.status in (Status.OK, Status.NO_MATCH, Status.DEGRADED):
        return answer
    why = answer.diagnostics[0].message if answer.diagnostics else answer.status.value
    raise CommandError(f"Error: The memory can't be read now: {echo(why)}. {answer.extra.get('hint', '')}".strip())

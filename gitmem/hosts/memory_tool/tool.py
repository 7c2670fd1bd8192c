"""The six commands of the memory tool over one vault.

What a model writes is an observation of its own, written on the model surface: it may change it until a person has
reviewed it. Everything else that is in use can be viewed, and is changed by nobody here. See ``docs/memory-tool.md``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.hosts.memory_tool import sentences as say
from gitmem.hosts.memory_tool.commands import parse_command
from gitmem.hosts.memory_tool.sentences import CommandError, echo, split_lines
from gitmem.hosts.memory_tool.tree import Content, Leaf, Tree, find_content, load_tree, parse_path, to_lf, trim
from gitmem.model.authority import Actor, Surface
from gitmem.model.ids import Fingerprint
from gitmem.model.memory_file import ROOT, check_chosen, key_of
from gitmem.model.record import MAX_TITLE_CHARS, Draft, Kind
from gitmem.service.edit import RecordEdit
from gitmem.service.masked import mask_error
from gitmem.service.memory import Memory
from gitmem.text import make_visible, shorten
from gitmem.typed import Any
from gitmem.values import dataclass, replace

TOOL = {"type": "memory_20250818", "name": "memory"}
"""How a request names the tool."""


@dataclass(frozen=True)
class ToolResult:
    """What a model is told. ``is_error`` says that the command was not carried out; nothing was written then."""

    text: str
    is_error: bool = False

    def as_block(self, tool_use_id: str) -> dict[str, Any]:
        """Return the ``tool_result`` block that answers the ``tool_use`` block of this id."""
        block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": self.text}
        return block | ({"is_error": True} if self.is_error else {})


class MemoryTool:
    """The memory tool over the vault of ``memory``; writes as ``memory.actor``.

    New files are records of ``kind`` with ``tags`` and ``evidence``; without evidence, what shows them is that this
    tool wrote them, in the actor's session. Raises ``InputError`` (``not-a-model``) for a memory that writes as a
    person. Not for use by several threads at once.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        kind: Kind = Kind.FINDING,
        tags: Sequence[str] = (),
        evidence: Sequence[str] = (),
    ) -> None:
        if memory.actor.surface is not Surface.MODEL:
            raise InputError(
                "not-a-model", "the memory tool writes on the model surface", "Open the memory with an actor's name."
            )
        self.memory = memory
        self._new = Draft("", kind=kind, tags=tuple(tags), evidence=tuple(evidence) or (_describe(memory.actor),))

    def run(self, command: object) -> ToolResult:
        """Carry out a command as a model gave it (a mapping) and return what to tell it. Raises no ``GitmemError``."""
        try:
            name, values = parse_command(command)
            return ToolResult(getattr(self, name)(**values))
        except CommandError as error:
            return ToolResult(str(error), is_error=True)
        except GitmemError as error:
            told = mask_error(error)
            return ToolResult(f"Error: {told.message}. {told.hint}".strip(), is_error=True)

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Return what is in a file, or up to two levels deep in a folder. Raises ``CommandError``, as all commands do,
        and ``GitmemError``; nothing is written then.
        """
        inside = parse_path(path)
        tree = load_tree(self.memory, inside)
        span = None if view_range is None else (view_range[0], view_range[1])
        leaf = tree.find(inside)
        content = None if leaf is None else find_content(self.memory, leaf)
        if content is not None:
            return say.show_file(_full(inside), content.text, span)
        if leaf is not None or not tree.is_folder(inside):
            raise say.no_such_path(path, error=False)
        size = sum(one.size for one in tree.below(inside))
        shown = say.show_folder(_full(inside), size, tree.list_entries(inside), span)
        if tree.unread and not inside:
            shown += f"\n[{tree.unread} files of the vault can't be read and are not shown; tell your user.]"
        return shown

    def create(self, path: str, file_text: str) -> str:
        """Write a new file, as one commit."""
        inside = parse_path(path)
        tree = load_tree(self.memory, inside)
        self._check_free(tree, inside, say.already_there(path))
        text = trim(file_text)
        draft = replace(self._new, title=_title(inside, text), body=text, key=key_of(inside))
        with _taking_path(say.already_there(path), lambda: inside in load_tree(self.memory, inside).leaves):
            self.memory.observe(draft)
        return f"File created successfully at: {_full(inside)}"

    def str_replace(self, path: str, old_str: str, new_str: str = "") -> str:
        """Replace text that is in a file exactly once, as one commit."""
        old, new = to_lf(old_str), to_lf(new_str)
        found = 0

        def rewrite(text: str) -> str:
            nonlocal found
            places = _find_all(text, old)
            if not places:
                raise say.not_found(old_str, path)
            if len(places) > 1:
                raise say.found_often(old_str, [text.count("\n", 0, place) + 1 for place in places])
            found = places[0]
            return text[:found] + new + text[found + len(old) :]

        text = self._rewrite(path, say.no_such_path(path), rewrite)
        start = text.count("\n", 0, found) + 1
        return say.show_change(text, start, start + new.count("\n"))

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Insert text behind a line of a file, 0 for its beginning, as one commit."""

        def rewrite(text: str) -> str:
            lines = split_lines(text)
            if not 0 <= insert_line <= len(lines):
                raise say.bad_line(insert_line, len(lines))
            new = to_lf(insert_text).removesuffix("\n").split("\n")
            return "\n".join([*lines[:insert_line], *new, *lines[insert_line:]]) + "\n"

        self._rewrite(path, say.no_such_path(path, advice=False), rewrite)
        return f"The file {_full(parse_path(path))} has been edited."

    def delete(self, path: str) -> str:
        """Retire a file, or all in a folder, as one commit; its history stays, and the path is free again."""
        inside = parse_path(path)
        tree = load_tree(self.memory, inside)
        if not inside:
            raise CommandError(f"Error: Cannot delete the {ROOT} directory itself")
        leaves = self._get_own(tree, inside, path)
        ids, reason = [leaf.id for leaf in leaves], f"deleted as {_full(inside)}"
        self._change(lambda: self.memory.retire_all(ids, reason, frees_key=True))
        return f"Successfully deleted {_full(inside)}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Give a file, or all in a folder, another path, as one commit; the records stay the same."""
        old, new = parse_path(old_path), parse_path(new_path)
        tree = load_tree(self.memory, old)
        if not old:
            raise CommandError(f"Error: Cannot rename the {ROOT} directory itself")
        leaves = self._get_own(tree, old, old_path)
        if new.startswith(f"{old}/"):
            raise CommandError(f"Error: The destination {echo(new_path)} lies in {echo(old_path)} itself")
        self._check_free(tree, new, say.destination_exists(new_path))
        moves = {leaf: check_chosen(new + leaf.path.removeprefix(old)) for leaf in leaves}
        edits = [(leaf.id, self._plan_move(leaf, to)) for leaf, to in moves.items()]
        with _taking_path(say.destination_exists(new_path), lambda: bool(load_tree(self.memory, new).below(new))):
            self._change(lambda: self.memory.edit_all(edits))
        return f"Successfully renamed {_full(old)} to {_full(new)}"

    def _rewrite(self, path: str, missing: CommandError, rewrite: Callable[[str], str]) -> str:
        """Return the new text of a file, committed on exactly what ``rewrite`` was given.

        Where somebody else was quicker it is made anew, for as long as one would wait for the vault's lock.
        """
        inside, vault = parse_path(path), self.memory.vault
        until_s = vault.clock.monotonic_s() + vault.options.lock_wait_s
        refused: Fingerprint | None = None
        while True:
            leaf, content = self._read_chosen(inside, missing)
            try:
                return self._edit_own(leaf, content, rewrite)
            except StateError:
                now = find_content(self.memory, leaf)
                is_same = now is not None and now.fingerprint == content.fingerprint
                if is_same or vault.clock.monotonic_s() > until_s:
                    raise
            except (PolicyError, _NotOwnError):
                if refused == content.fingerprint or vault.clock.monotonic_s() > until_s:
                    raise
                refused = content.fingerprint
                self.memory.wait_for_writers()

    def _read_chosen(self, inside: str, missing: CommandError) -> tuple[Leaf, Content]:
        leaf = load_tree(self.memory, inside).find(inside)
        content = None if leaf is None else find_content(self.memory, leaf)
        if leaf is None or content is None:
            raise missing
        self._check_chosen(leaf)
        return leaf, content

    def _edit_own(self, leaf: Leaf, content: Content, rewrite: Callable[[str], str]) -> str:
        if not content.is_own:
            raise _NotOwnError(
                f"Error: {_full(leaf.path)} is not yours to change: somebody else wrote it, edited it or reviewed it. "
                f"Write what you have to say about it into a file of your own."
            )
        text = trim(rewrite(content.text))
        actor = replace(self.memory.actor, shown=((content.id, content.fingerprint),))
        self.memory.edit(content.id, RecordEdit(body=text), actor)
        return text

    def _change(self, write: Callable[[], object]) -> None:
        """Do ``write``; once more where it was refused, and somebody else was just at work on the same files."""
        try:
            write()
        except PolicyError as error:
            if error.code != "needs-human":
                raise
            self.memory.wait_for_writers()
            write()

    def _get_own(self, tree: Tree, inside: str, path: str) -> list[Leaf]:
        leaf = tree.find(inside)
        leaves = [leaf] if leaf is not None else tree.below(inside)
        if not leaves:
            raise say.no_such_path(path, advice=False)
        for one in leaves:
            self._check_chosen(one)
        return leaves

    def _check_chosen(self, leaf: Leaf) -> None:
        if not leaf.is_chosen:
            raise CommandError(
                f"Error: {_full(leaf.path)} is a record of the vault, which is shown here and not changed. "
                f"Write what you have to say about it into a file of your own below {ROOT}/."
            )

    def _check_free(self, tree: Tree, inside: str, taken: CommandError) -> None:
        if inside in tree.leaves or tree.is_folder(inside):
            raise taken
        check_chosen(inside)
        above = tree.find_file_above(inside)
        if above is not None:
            raise CommandError(f"Error: {_full(above)} is a file, not a directory")

    def _plan_move(self, leaf: Leaf, to: str) -> RecordEdit:
        """Return the edit that gives a file another path, and a title, if its title was the old path."""
        content = find_content(self.memory, leaf)
        had_path = content is not None and content.title == _title(leaf.path, "")
        return RecordEdit(title=_title(to, "") if had_path else None, properties={"key": key_of(to)})


class _NotOwnError(CommandError):
    """The file is somebody else's, or was at this moment."""


@contextlib.contextmanager
def _taking_path(taken: CommandError, is_seen: Callable[[], bool]) -> Iterator[None]:
    """Turn the refusal of a key into what the tool says: that the path is taken, or that it can't be had."""
    try:
        yield
    except InputError as error:
        if error.code != "key-taken":
            raise
        if is_seen():
            raise taken from None
        raise CommandError("Error: A record that is not shown here has that path. Choose another.") from None


def _full(inside: str) -> str:
    return make_visible(f"{ROOT}/{inside}" if inside else ROOT)


def _title(inside: str, text: str) -> str:
    """Return what a record is called: the first heading of ``text`` if it begins with one, else the path."""
    first = text.partition("\n")[0]
    heading = first.lstrip("#").strip() if first.startswith("# ") else ""
    stem = inside.rpartition(".")[0] if "." in inside.rpartition("/")[2] else inside
    return shorten(make_visible(heading), MAX_TITLE_CHARS) or stem


def _describe(actor: Actor) -> str:
    return "run:memory-tool" + (f" {actor.host}/{actor.session}" if actor.session else "")


def _find_all(text: str, wanted: str) -> list[int]:
    """Return every place of ``wanted``, those that overlap too; none for an empty text."""
    places: list[int] = []
    place = text.find(wanted) if wanted else -1
    while place >= 0:
        places.append(place)
        place = text.find(wanted, place + 1)
    return places

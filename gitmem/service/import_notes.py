"""Bring a folder of Markdown notes in as one operation. The folder itself is only read.

A note comes in byte for byte as it was, apart from the properties that make it a record; one that can't is listed with
the reason, and the others come in without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from gitmem.disk import iter_files
from gitmem.errors import GitmemError, InputError
from gitmem.model.authority import Action, Actor, Authority, Surface
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId, new_record_id
from gitmem.model.record import Kind, Problem, Record, State, state_of
from gitmem.model.vault_path import VaultPath, find_path_problem, fold_path, parse_vault_path
from gitmem.policy.authority import authority_for
from gitmem.policy.content import check_kind
from gitmem.policy.secrets import redact
from gitmem.service.gate import authorize, check_record
from gitmem.service.keys import list_keys
from gitmem.service.plan import carry_out, find_earlier, make_change, no_change, reread
from gitmem.service.retry import describe_request
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import is_hidden_name, iter_paths, iter_work_notes, scan
from gitmem.text import fold, make_visible, shorten
from gitmem.typed import Any
from gitmem.values import dataclass
from gitmem.vault.frontmatter import edit_note, parse_note
from gitmem.vault.paths import read_file
from gitmem.vault.scan import MAX_NOTE_BYTES

Progress = Callable[[int, int], None]
MAX_SHOWN_CHARS = 200


@dataclass(frozen=True)
class ImportReport:
    """What came in (or would, in a dry run) and what did not, with the reason. ``receipt`` is ``None`` in a dry run."""

    receipt: Receipt | None
    imported: tuple[Record, ...]
    left_out: tuple[Problem, ...]


@dataclass(frozen=True)
class _Wanted:
    state: State
    kind: Kind | None
    authority: Authority
    surface: Surface


def import_notes(
    vault: OpenVault,
    folder: str,
    actor: Actor,
    *,
    state: State = State.OBSERVATION,
    kind: Kind | None = None,
    dry_run: bool = False,
    progress: Progress = lambda _done, _total: None,
    op_id: OpId | None = None,
) -> ImportReport:
    """Commit the notes of ``folder`` as records in ``state``, keeping names and subfolders.

    ``progress(done, total)`` is called as notes are read. Raises ``InputError`` (``no-such-folder``,
    ``folder-in-vault``, ``bad-import-state``, ``kind-misfit``), ``PolicyError`` (``needs-human``) for a state
    other than observation on a model surface; nothing is written then.
    """
    request = describe_request(folder=folder, state=state, kind=kind)
    earlier = None if dry_run else find_earlier(vault, Action.IMPORT, op_id, request)
    if earlier is not None:
        return ImportReport(earlier, (), ())
    root = _check_folder(vault, folder)
    if state is State.RETIRED:
        raise InputError("bad-import-state", "notes can't be brought in as retired", "Choose another --state.")
    check_kind(kind, state)
    decision = authorize(vault.entry.scope, Action.IMPORT, actor, kind=kind, has_evidence=True, to_state=state)
    wanted = _Wanted(state, kind, authority_for(Action.IMPORT, state), actor.surface)
    moves, left_out = _plan(vault, root, wanted, progress)
    imported = tuple(record for record, _data in moves)
    if dry_run:
        return ImportReport(None, imported, tuple(left_out))
    if not moves:
        return ImportReport(carry_out(vault, no_change(Action.IMPORT, actor, op_id, request)), (), tuple(left_out))
    name = shorten(make_visible(_printable(os.path.basename(root))), 40)
    title = f"{len(moves)} {'note' if len(moves) == 1 else 'notes'} from {name}"
    note = f"Left out, with reasons: {len(left_out)}." if left_out else ""
    new = [(None, *move) for move in moves]
    change = make_change(Action.IMPORT, actor, decision.rule, new, op_id=op_id, title=title, note=note, request=request)
    return ImportReport(carry_out(vault, change), imported, tuple(left_out))


def _check_folder(vault: OpenVault, folder: str) -> str:
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        raise InputError("no-such-folder", f"{folder!r} is not a folder", "Name the folder that holds the notes.")
    repo = os.path.realpath(vault.layout.repo)
    common = os.path.commonpath((root, repo))
    if common == repo:
        raise _in_vault(folder, os.path.relpath(root, repo).replace(os.sep, "/"))
    if common == root:
        raise InputError(
            "folder-in-vault", f"the vault itself lies in {folder!r}", "Name the folder of the notes alone."
        )
    return root


def _in_vault(folder: str, inside: str) -> InputError:
    if inside == "." or state_of(f"{inside}/") is not None:
        hint = "Notes that are in the vault already are committed with `gitmem adopt`."
    else:
        hint = (
            "Move the notes into observations/, promoted/ or baseline/, with Obsidian if links lead to them, "
            "then commit them with `gitmem adopt`."
        )
    return InputError("folder-in-vault", f"{folder!r} lies in the vault itself", hint)


def _plan(
    vault: OpenVault, root: str, wanted: _Wanted, progress: Progress
) -> tuple[list[tuple[Record, bytes]], list[Problem]]:
    left_out: list[Problem] = []
    names = sorted(_iter_notes(root, left_out))
    found = scan(vault)
    taken_ids = {note.record.id for note in iter_work_notes(vault, found) if note.record is not None}
    taken_keys = list_keys(vault)
    taken_paths = {fold_path(path) for path in iter_paths(found)}
    moves = []
    for number, name in enumerate(names):
        progress(number, len(names))
        try:
            path = parse_vault_path(f"{wanted.state.folder}/{name}")
            if fold_path(path) in taken_paths:
                raise InputError("path-taken", "the vault has a note of that name, or one that differs only in case")
            record, data = _bring_in(root, name, path, wanted)
            if record.id in taken_ids:
                raise InputError("already-imported", "the vault has a record with its gitmem_id")
            if record.key is not None and fold(record.key) in taken_keys:
                raise InputError("key-taken", f"the key {record.key!r} belongs to another record")
            check_record(record, data)
        except GitmemError as error:
            left_out.append(Problem(error.code, error.message, make_visible(redact(name))))
            continue
        taken_ids.add(record.id)
        taken_keys.add(fold(record.key or ""))
        taken_paths.add(fold_path(path))
        moves.append((record, data))
    progress(len(names), len(names))
    return moves, left_out


def _bring_in(root: str, name: str, path: VaultPath, wanted: _Wanted) -> tuple[Record, bytes]:
    data = read_file(root, VaultPath(name))
    if data is None:
        raise InputError("vanished", "the note was there and is gone")
    if len(data) > MAX_NOTE_BYTES:
        raise InputError("too-large", f"the note is larger than {MAX_NOTE_BYTES >> 20} MiB")
    note = parse_note(data)
    if note.problem is not None:
        raise InputError(note.problem.code, note.problem.message)
    claimed = note.properties.get("authority")
    if claimed in tuple(Authority) and claimed != wanted.authority:
        raise InputError("claims-authority", f"the note claims the authority {claimed}; notes can't give it themselves")
    if wanted.surface is Surface.MODEL and note.properties.get("verified"):
        raise InputError("claims-verified", "the note says it was verified, which a person has to confirm")
    added: dict[str, Any] = {}
    if "gitmem_id" not in note.properties:
        added["gitmem_id"] = new_record_id()
    if wanted.kind is not None and note.properties.get("kind") is None:
        added["kind"] = wanted.kind.value
    if note.properties.get("authority") is None:
        added["authority"] = wanted.authority.value
    after = edit_note(data, added)
    return reread(path, after), after


def _iter_notes(root: str, left_out: list[Problem]) -> Iterator[str]:
    def say(name: str, code: str, message: str) -> None:
        left_out.append(Problem(code, message, shorten(make_visible(_printable(name)), MAX_SHOWN_CHARS)))

    def unreadable(inside: str, error: OSError) -> None:
        say(f"{inside}/", "folder-unreadable", f"the folder can't be read: {error.strerror}")

    for path in iter_files(root, skips=is_hidden_name, on_error=unreadable):
        if os.path.islink(os.path.join(root, path)):
            say(path, "symlink", "symbolic links are not followed")
        elif path.endswith(".md") and not is_hidden_name(os.path.basename(path)):
            problem = find_path_problem(path)
            if problem:
                say(path, "bad-path", problem)
            else:
                yield path


def _printable(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="replace")

"""Commit what a person edited outside gitmem, as that person's operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gitmem.errors import GitmemError, InputError, StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit, Receipt, RecordChange
from gitmem.model.ids import OpId, RecordId, fingerprint, new_op_id, new_record_id
from gitmem.model.record import Problem, Record, State, state_of
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.policy.authority import authority_for
from gitmem.policy.secrets import redact
from gitmem.service.edited import EditedNote, find_edited, list_edited, read_committed
from gitmem.service.gate import authorize, check_record
from gitmem.service.keys import iter_taken_keys
from gitmem.service.plan import carry_out_allowed, digest, edit_record, find_earlier, no_change, path_in, reread, stamp
from gitmem.service.reading import ask, iter_private
from gitmem.service.retry import describe_request
from gitmem.service.together import refuse
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING, Any
from gitmem.values import dataclass, field, replace
from gitmem.vault.frontmatter import edit_note, parse_note
from gitmem.vault.paths import FolderNames, check_way
from gitmem.vault.record_file import parse_record

if TYPE_CHECKING:
    from gitmem.catalog.database import Database
    from gitmem.catalog.reconcile import Report

MAX_NAMED = 20


@dataclass
class _Plan:
    edits: list[FileEdit] = field(default_factory=list)
    records: list[RecordChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def adopt(
    vault: OpenVault,
    paths: Sequence[str],
    actor: Actor,
    op_id: OpId | None = None,
    notes: Sequence[EditedNote] | None = None,
    asked: Sequence[str] | None = None,
) -> Receipt:
    """Commit the edited notes under ``paths`` (all when empty) in one commit; just ``notes`` where they are given.

    ``notes`` are what ``find_edited`` returned when they were shown: they are committed byte for byte as they were
    then, or not at all. Edited records keep their identity, new notes and copies get an id of their own, records that a
    person moved are followed by their id, and those whose file is gone are retired. What is committed is what lies on
    disk; another version that was staged is kept in ``runtime/displaced``. ``asked`` is what the paths were made from,
    where that depends on what was found: by it a retry is known. Raises ``StateError`` (``cannot-adopt``) that lists
    every note that is in the way, ``InputError`` (``nothing-to-adopt``, ``outside-vault``), ``PolicyError``
    (``needs-human``); nothing is committed then.
    """
    request = describe_request(paths=list(paths if asked is None else asked))
    earlier = find_earlier(vault, Action.ADOPT, op_id, request)
    if earlier is not None:
        return earlier
    chosen = find_edited(vault, paths) if notes is None else notes
    receipt = carry_out_allowed(
        vault,
        lambda: authorize(vault.entry.scope, Action.ADOPT, actor),
        lambda rule: replace(_plan_change(vault, chosen, actor, rule, op_id), request=digest(request)),
    )
    return receipt if paths else replace(receipt, notices=(*receipt.notices, *_tell_left_alone(vault)))


def _tell_left_alone(vault: OpenVault) -> list[str]:
    left = [note for note in list_edited(vault, vault.head(), shows=False) if note.left_alone]
    told = [f"{note.path} was left alone: {note.left_alone}" for note in left[:MAX_NAMED]]
    return [*told, *([f"{len(left) - MAX_NAMED} more were left alone"] if len(left) > MAX_NAMED else [])]


def _plan_change(vault: OpenVault, notes: Sequence[EditedNote], actor: Actor, rule: str, op_id: OpId | None) -> Change:
    plan = _plan(vault, notes)
    if plan.problems:
        problems = sorted(plan.problems, key=lambda one: one.path)
        bad = len({one.path for one in problems})
        head = f"{bad} of {len(notes)} edited notes can't be committed"
        refuse(StateError, "cannot-adopt", head, "Mend them, or name the paths to adopt.", problems)
    if not plan.edits:
        return no_change(Action.ADOPT, actor, op_id)
    said = [_say(one) for one in plan.records]
    authorities = {one.shown.authority for one in plan.records}
    return Change(
        action=Action.ADOPT,
        op_id=op_id or new_op_id(),
        actor=actor,
        title=said[0] if len(said) == 1 else f"{len(said)} edited notes",
        edits=tuple(plan.edits),
        records=tuple(plan.records),
        rule=rule,
        authority=authorities.pop() if len(authorities) == 1 else None,
        note="\n".join(["Edited outside gitmem:", *said[:MAX_NAMED], *(["…"] if len(said) > MAX_NAMED else [])]),
        is_named=op_id is not None,
    )


def _say(one: RecordChange) -> str:
    """Return what became of a record, in one line; a private one is not named."""
    title = "a private record" if one.is_private else one.shown.title
    if one.before is None:
        return f"{title} (new)"
    if one.before.state is one.shown.state:
        return title
    return f"{title} ({one.before.state.value} to {one.shown.state.value})"


def _plan(vault: OpenVault, notes: Sequence[EditedNote]) -> _Plan:
    plan = _Plan()
    head = vault.head()
    committed = {note.path: read_committed(vault, head, note.path) for note in notes}
    gone = {old.id: old for note in notes if note.change == "deleted" and (old := committed[note.path]) is not None}
    copies = _find_copies(vault)
    moved = dict(gone)
    for note in notes:
        if note.change == "unreadable":
            plan.problems.append(Problem("unreadable", note.why, note.path))
        elif note.change == "deleted" and committed[note.path] is None:  # a plain note
            plan.edits.append(FileEdit(parse_vault_path(note.path), None, None, adopted=True))
        if note.data is None:
            continue
        try:
            path = parse_vault_path(note.path)
            before = committed[path]
            after, after_data = _make_record(vault, path, note.data, before, moved, is_copy=path in copies)
            check_record(after, after_data)
        except GitmemError as error:
            plan.problems.append(Problem(error.code, error.message, redact(note.path), error.fields.get("line")))
            continue
        if before is None and after.id in moved:
            before = moved.pop(after.id)
            plan.edits.append(FileEdit(before.path, None, None, adopted=True))
        plan.edits.append(FileEdit(path, fingerprint(note.data), after_data, adopted=True))
        plan.records.append(RecordChange(before, after))
    for record in moved.values():
        _plan_retirement(vault, plan, record, vault.repo.read_blob(head, record.path))
    plan.problems += [*_find_misplaced(vault, plan), *_find_taken_keys(vault, plan)]
    return plan


def _find_misplaced(vault: OpenVault, plan: _Plan) -> Iterator[Problem]:
    """Yield the files that lie behind a link, or whose name is another's on other systems."""
    names = FolderNames(vault.layout.repo)
    for edit in plan.edits:
        try:
            check_way(vault.layout.repo, edit.path)
            if edit.after is not None:
                names.check_no_clash(edit.path)
        except GitmemError as error:
            yield Problem(error.code, error.message, edit.path)


def _find_taken_keys(vault: OpenVault, plan: _Plan) -> Iterator[Problem]:
    for one, error in iter_taken_keys(vault, plan.records):
        yield Problem(error.code, error.message, one.shown.path)


def _plan_retirement(vault: OpenVault, plan: _Plan, record: Record, data: bytes | None) -> None:
    """A record whose file a person deleted is retired, so that it is kept and not delivered."""
    if record.state is State.RETIRED or data is None:
        message = "it was retired and its file is gone; put it back with Git: retired records are kept"
        plan.problems.append(Problem("deleted", message, record.path))
        return
    path = path_in(State.RETIRED, record.path, vault.clock.now())
    after, after_data = edit_record(record, data, {"updated": stamp(vault)}, path)
    plan.edits.append(FileEdit(record.path, None, None, adopted=True))
    plan.edits.append(FileEdit(path, None, after_data))
    plan.records.append(RecordChange(record, after))


def _find_copies(vault: OpenVault) -> set[str]:
    """Return the paths that share their id with another file, as Obsidian's "Make a copy" leaves them.

    The catalog, which tells of the others, holds nothing of private records; those are read.
    """

    def look(database: Database, report: Report) -> set[str]:
        from gitmem.catalog.query import find_row

        copies = {problem.path for problem in report.problems if problem.code == "duplicate-id"}
        private = list(iter_private(vault, database))
        times = Counter(record.id for record in private)
        return copies | {one.path for one in private if times[one.id] > 1 or find_row(database, one.id) is not None}

    return ask(vault, look)


def _make_record(
    vault: OpenVault,
    path: VaultPath,
    data: bytes,
    before: Record | None,
    moved: dict[RecordId, Record],
    *,
    is_copy: bool,
) -> tuple[Record, bytes]:
    found = parse_record(path, data)
    if found is not None and before is None and is_copy and found.id not in moved:
        # The copy is another record: a key belongs to one, and the identity stays with the file that had it.
        data = edit_note(data, {"gitmem_id": new_record_id(), **({"key": None} if found.key else {})})
        found = reread(path, data)
    if found is not None and before is None:
        before = moved.get(found.id)
    if before is not None:
        if found is None or found.id != before.id:
            raise InputError("id-changed", "its gitmem_id was changed or removed; put it back")
        if found.authority is not before.authority:
            raise InputError("authority-changed", "its authority was changed by hand; put it back")
        after = edit_note(data, {"updated": stamp(vault)}) if before.updated else data
        return reread(path, after), after
    state = state_of(path)
    assert state is not None
    if state is State.RETIRED:
        raise InputError("new-in-retired", "a new note can't begin as retired; move it to another folder")
    authority = authority_for(Action.ADOPT, state)
    note = parse_note(data)
    added: dict[str, Any] = {}
    if found is None:
        added["gitmem_id"] = new_record_id()
    if found is not None and found.authority not in (None, authority):
        raise InputError("claims-authority", "it claims an authority; notes can't give it themselves")
    if note.properties.get("authority") is None:
        added["authority"] = authority.value
    after = edit_note(data, added)
    return reread(path, after), after

"""Commit what a person edited outside gitmem, as that person's operation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.errors import GitmemError, InputError, StateError
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Change, FileEdit, Receipt, RecordChange
from gitmem.model.ids import CommitId, OpId, RecordId, fingerprint, new_op_id, new_record_id
from gitmem.model.record import Problem, Record, State, state_of
from gitmem.model.vault_path import VaultPath, parse_vault_path
from gitmem.policy.authority import authority_for
from gitmem.service.gate import authorize
from gitmem.service.plan import carry_out, find_earlier, no_change, reread, stamp
from gitmem.service.vault import OpenVault
from gitmem.vault.frontmatter import edit_note, parse_note
from gitmem.vault.paths import read_file
from gitmem.vault.record_file import parse_record


@dataclass
class _Plan:
    edits: list[FileEdit] = field(default_factory=list)
    records: list[RecordChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def adopt(vault: OpenVault, paths: Sequence[str], actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Commit the uncommitted notes under ``paths`` (all when empty) in one commit.

    Edited records keep their identity, new notes get an id, records that a person moved are followed by their id.
    Raises ``StateError`` (``cannot-adopt``) that lists every note that is in the way, ``PolicyError``
    (``needs-human``); nothing is committed then.
    """
    earlier = find_earlier(vault, Action.ADOPT, op_id)
    if earlier is not None:
        return earlier
    decision = authorize(Action.ADOPT, actor)
    dirty = _choose(vault, paths, find_edited(vault))
    plan = _plan(vault, dirty)
    if plan.problems:
        listed = "; ".join(f"{problem.path}: {problem.message}" for problem in plan.problems[:5])
        raise StateError(
            "cannot-adopt",
            f"{len(plan.problems)} of {len(dirty)} edited notes can't be committed: {listed}",
            "Mend them, or name the paths to adopt.",
            problems=[{"code": one.code, "message": one.message, "path": one.path} for one in plan.problems],
        )
    if not plan.edits:
        return carry_out(vault, no_change(Action.ADOPT, actor, op_id))
    titles = [one.after.title for one in plan.records]
    change = Change(
        action=Action.ADOPT,
        op_id=op_id or new_op_id(),
        actor=actor,
        title=titles[0] if len(titles) == 1 else f"{len(titles)} edited notes",
        edits=tuple(plan.edits),
        records=tuple(plan.records),
        rule=decision.rule,
        note="Edited outside gitmem." if len(titles) == 1 else "Edited outside gitmem:\n" + "\n".join(titles[:20]),
    )
    return carry_out(vault, change)


def find_edited(vault: OpenVault) -> list[str]:
    """Return the notes of the lifecycle folders that differ from what is committed, deleted ones included, sorted."""
    return sorted(path for path in vault.repo.dirty_paths() if state_of(path) is not None and path.endswith(".md"))


def _choose(vault: OpenVault, paths: Sequence[str], dirty: list[str]) -> list[str]:
    if not paths:
        return dirty
    chosen: list[str] = []
    root = os.path.realpath(vault.layout.repo)
    for path in paths:
        inside = os.path.relpath(os.path.realpath(path), root) if os.path.isabs(path) else path
        inside = inside.replace(os.sep, "/").strip("/")
        found = [one for one in dirty if one == inside or one.startswith(inside + "/")]
        if not found:
            raise InputError("nothing-to-adopt", f"{path} has no uncommitted notes", "See `gitmem status`.", path=path)
        chosen += found
    return sorted(set(chosen))


def _plan(vault: OpenVault, dirty: list[str]) -> _Plan:
    plan = _Plan()
    head = vault.head()
    root = vault.layout.repo
    present = {path: data for path in dirty if (data := read_file(root, VaultPath(path))) is not None}
    gone = {path: old for path in dirty if path not in present and (old := _committed(vault, head, path)) is not None}
    moved = {record.id: record for record in gone.values() if record is not None}
    followed: set[RecordId] = set()
    for path, data in present.items():
        try:
            checked = parse_vault_path(path)
            before = _committed(vault, head, path)
            after, after_data = _make_record(vault, checked, data, before, moved)
        except GitmemError as error:
            plan.problems.append(Problem(error.code, error.message, path))
            continue
        if before is None and after.id in moved:
            before = moved[after.id]
            followed.add(after.id)
            plan.edits.append(FileEdit(before.path, None, None, adopted=True))
        plan.edits.append(FileEdit(checked, fingerprint(data), after_data, adopted=True))
        plan.records.append(RecordChange(before, after))
    for path, record in gone.items():
        if record is None or record.id not in followed:
            message = "it was deleted; put it back with Git and use `gitmem retire`, so that it is kept"
            plan.problems.append(Problem("deleted", message, path))
    return plan


def _make_record(
    vault: OpenVault, path: VaultPath, data: bytes, before: Record | None, moved: dict[RecordId, Record]
) -> tuple[Record, bytes]:
    found = parse_record(path, data)
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
    authority = authority_for(Action.DECLARE if state is State.BASELINE else Action.ADOPT, state)
    note = parse_note(data)
    added: dict[str, Any] = {}
    if found is None:
        added["gitmem_id"] = new_record_id()
    if found is not None and found.authority not in (None, authority):
        raise InputError("claims-authority", "it claims an authority; notes can't give it themselves")
    if "authority" not in note.properties:
        added["authority"] = authority.value
    after = edit_note(data, added)
    return reread(path, after), after


def _committed(vault: OpenVault, head: CommitId, path: str) -> Record | None:
    data = vault.repo.read_blob(head, path)
    if data is None:
        return None
    try:
        return parse_record(VaultPath(path), data)
    except GitmemError:
        return None

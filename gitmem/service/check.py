"""Everything that is wrong with the records, their links and the views; and the repair of the views."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress

from gitmem.errors import GitmemError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import CommitId, OpId
from gitmem.model.links import LinkTargets
from gitmem.model.record import Record
from gitmem.model.vault_path import fold_path
from gitmem.service.gate import authorize, check_record
from gitmem.service.links import iter_links
from gitmem.service.plan import digest, find_earlier
from gitmem.service.policy import list_policy_problems
from gitmem.service.retry import describe_request
from gitmem.service.vault import OpenVault
from gitmem.service.worktree import WorkNote, iter_link_targets, iter_work_notes, scan
from gitmem.typed import Any
from gitmem.vault.headings import find_blocks, find_headings, has_place
from gitmem.vault.markdown import Link
from gitmem.vault.private import may_be_private

Row = dict[str, Any]
VIEW_EDITED = "a view was edited by hand or is gone; `gitmem check --repair-views` makes it what is committed"
_AT_ONCE = 200
"""How many records the scanner of the home's settings is asked about at once."""
UNREADABLE = (
    "what is committed of it can't be read from the repository; an operation on it mends that if its file is "
    "unchanged, else bring the object back from a clone or a backup"
)


def check(vault: OpenVault) -> Answer:
    """Return what is wrong as rows: ``severity`` (``error`` or ``warning``), ``code``, ``message``, ``path``, ``line``.

    Reads every note of the working tree and every committed record; writes nothing. Errors make gitmem or Obsidian
    misread something; warnings are for a person to look at.
    """
    settled = vault.settle_abandoned()
    head = vault.head()
    found = scan(vault)
    notes = list(iter_work_notes(vault, found))
    rows = [
        *(_row("error", one.code, one.message, one.path) for one in found.problems),
        *(row for note in notes for row in _check_note(note)),
        *_ask_scanner(vault, notes),
        *_check_identities([note.record for note in notes if note.record is not None]),
        *_check_second_names(vault, notes),
        *_check_links(vault, notes),
        *_check_views(vault, head),
        *_check_policy(vault, head),
    ]
    rows.sort(key=lambda row: (row["severity"], row["path"], row["code"], row["line"] or 0))
    return Answer(Status.OK, head, rows=tuple(rows), diagnostics=settled, extra={"notes": len(notes)})


def repair_views(vault: OpenVault, actor: Actor, op_id: OpId | None = None) -> Receipt:
    """Make INDEX.md and the catalog what the committed records say, in a commit of its own if they are not.

    Files of views that were edited by hand are put back, and what was written there is kept in runtime.
    """
    from gitmem.transaction.apply import apply_repair

    request = describe_request(views=True)
    earlier = find_earlier(vault, Action.REPAIR, op_id, request)
    if earlier is not None:
        return earlier
    authorize(vault.entry.scope, Action.REPAIR, actor)
    return apply_repair(vault.ground, vault.tools(), actor, op_id, digest(request))


def _check_note(note: WorkNote) -> Iterator[Row]:
    if note.problem is not None:
        yield _row("error", note.problem.code, note.problem.message, note.path, note.problem.line)
        return
    record = note.record
    if record is None:
        yield _row(
            "warning", "plain-note", "a note without gitmem_id; `gitmem adopt PATH` makes it a record", note.path
        )
        return
    for problem in record.problems:
        yield _row("warning", problem.code, problem.message, note.path, problem.line)
    try:
        check_record(record, note.data)
    except GitmemError as error:
        is_in_file = error.fields.get("where", note.path) == note.path
        yield _row("error", error.code, error.message, note.path, error.fields.get("line") if is_in_file else None)


def _ask_scanner(vault: OpenVault, notes: list[WorkNote]) -> Iterator[Row]:
    """Ask the scanner of the home's settings about all records; the built-in one has looked at each by then."""
    from gitmem.service.scanner import ask_program

    texts: dict[str, str] = {}
    for place, note in enumerate(notes, 1):
        if note.record is not None:
            texts[str(note.path)] = note.data.decode("utf-8", "replace")
        if texts and (place == len(notes) or len(texts) == _AT_ONCE):
            try:
                found = ask_program(vault.settings, texts)
            except GitmemError as error:
                yield _row("error", error.code, error.message, "settings.json")
                return
            for path, finding in found:
                message = f"{path}, line {finding.line} looks like a secret ({finding.rule})"
                yield _row("error", "secret-found", message, path, finding.line)
            texts = {}


def _check_second_names(vault: OpenVault, notes: list[WorkNote]) -> Iterator[Row]:
    for note in notes:
        with suppress(OSError):
            if os.lstat(os.path.join(vault.layout.repo, note.path)).st_nlink > 1:
                message = "the file has a second name (a hard link); gitmem's edits leave that one as it is"
                yield _row("warning", "hard-link", message, note.path)


def _check_identities(records: list[Record]) -> Iterator[Row]:
    for code, what, key in (
        ("duplicate-id", "the id", lambda record: record.id),
        ("duplicate-key", "the key", lambda record: record.key),
        ("path-clash", "the name (but for case or Unicode form)", lambda record: fold_path(record.path)),
    ):
        groups: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            if key(record) is not None:
                groups[str(key(record))].append(record)
        for group in groups.values():
            for record in group[1:]:
                other = "a private note" if group[0].private else group[0].path
                yield _row("error", code, f"it shares {what} with {other}", record.path)


def _check_links(vault: OpenVault, notes: list[WorkNote]) -> Iterator[Row]:
    targets = LinkTargets(iter_link_targets(vault))
    public = {str(note.path): note.note.body for note in notes if note.note is not None and not _is_private(note)}
    private = {str(note.path) for note in notes if _is_private(note)}
    for note in notes:
        if note.note is None:
            continue
        is_private = note.path in private
        for link, line in iter_links(note.note, note.data):
            found = targets.resolve(link.target, note.path)
            if found.path is None:
                written = "a link" if is_private else f"[[{link.target}]]"
                yield _row("warning", "broken-link", f"{written} leads nowhere", note.path, line)
            elif found.others:
                others = ", ".join(_name(path, private) for path in (found.path, *found.others))
                told = "a link may mean several files" if is_private else f"[[{link.target}]] may mean {others}"
                yield _row("warning", "ambiguous-link", told, note.path, line)
            elif link.subpath and found.path in public and not is_private and not _has_place(public[found.path], link):
                told = f"{found.path} has no {link.subpath}"
                yield _row("warning", "broken-place", told, note.path, line)


def _has_place(body: str, link: Link) -> bool:
    return has_place(link.subpath, find_headings(body), find_blocks(body))


def _name(path: str, private: Container[str]) -> str:
    return "a private note" if path in private else path


def _is_private(note: WorkNote) -> bool:
    return note.record.private if note.record else may_be_private(note.data)


def _check_views(vault: OpenVault, head: CommitId) -> Iterator[Row]:
    from gitmem.service.views import RecordViews
    from gitmem.transaction.repair import compare_views, is_readable
    from gitmem.vault.manifest import parse_manifest

    data = vault.repo.read_blob(head, "manifest.json")
    if data is None:
        yield _row("error", "not-a-vault", "the marker is not committed", "manifest.json")
        return
    damaged = [path for path, blob in vault.repo.iter_files(head) if not is_readable(vault.repo, blob)]
    for path in damaged:
        yield _row("error", "object-unreadable", UNREADABLE, path)
    if any(not RecordViews().is_view(path) for path in damaged):
        return  # the views of records that can't be read can't be told
    for edit in compare_views(vault.repo, RecordViews(), parse_manifest(data), head):
        message = "it does not say what the records say; the next operation or `gitmem check --repair-views` mends it"
        yield _row("error", "view-differs", message, edit.path)
    for path in find_edited_views(vault):
        yield _row("warning", "view-edited", VIEW_EDITED, path)


def _check_policy(vault: OpenVault, head: CommitId) -> Iterator[Row]:
    for problem in list_policy_problems(vault, head):
        severity = "error" if problem.code == "policy-broken" else "warning"
        yield _row(severity, problem.code, problem.message, problem.path)


def find_edited_views(vault: OpenVault, dirty: Sequence[str] | None = None) -> list[str]:
    """Return the views whose files are not what is committed: edited by hand, or gone.

    ``dirty`` are the paths that differ from what is committed, where the caller has asked already.
    """
    from gitmem.service.views import RecordViews

    return [path for path in (vault.repo.dirty_paths() if dirty is None else dirty) if RecordViews().is_view(path)]


def _row(severity: str, code: str, message: str, path: str, line: int | None = None) -> Row:
    return {"severity": severity, "code": code, "message": message, "path": path, "line": line}

"""``gitmem import``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.disk import iter_files
from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import KINDS, op_id_option
from gitmem.hosts.cli.output import write_document
from gitmem.hosts.cli.plain import MAX_LISTED, count, format_receipt
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.hosts.cli.reading import NOTHING_FOUND
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import OpId, new_op_id
from gitmem.model.record import Kind, Problem, State
from gitmem.service.memory import Memory

if TYPE_CHECKING:
    from gitmem.service.import_notes import ImportReport

MAX_NAMED = 5
"""How many notes are named that were left out for one reason; ``--json`` names them all."""
_STATES = [State.OBSERVATION.value, State.PROMOTED.value, State.BASELINE.value]


@verb(
    "import",
    """
gitmem import ~/notes/project --dry-run
gitmem import ~/notes/project
gitmem import ~/notes/reviewed --state promoted --kind convention
""",
)
@click.argument("folder", metavar="FOLDER", type=click.Path())
@click.option("--state", type=click.Choice(_STATES), default=_STATES[0], help="Where the notes go (observation).")
@click.option("--kind", type=click.Choice(KINDS), help="The kind of notes that name none.")
@click.option("--dry-run", is_flag=True, help="Say what would come in and what would not; write nothing.")
@op_id_option
@pass_call
def command(call: Call, folder: str, state: str, kind: str | None, op_id: OpId | None, *, dry_run: bool) -> int:
    """Bring a folder of Markdown notes in, as one operation.

    Copies every note, with its subfolders, adds the properties that make it a record, and commits all in one commit;
    FOLDER itself is only read. What can't come in is listed by reason; files that are no notes are counted. A --state
    other than observation has to be confirmed by a person at the terminal. Exit code 1 when there are no notes.
    """
    place = os.path.join(call.environment.folder, os.path.expanduser(folder))
    with call.open_memory() as memory:
        bring = _Importer(call, memory, place, State(state), Kind(kind) if kind else None, op_id)
        report = bring.look() if dry_run else run_confirmed(call, bring.run, bring.preview)
    receipt = report.receipt or _pretend(report, call.model())
    others = count_other_files(place)
    document = {**write_document(receipt), "dry_run": dry_run, "other_files": others}
    document["left_out"] = [{"code": one.code, "message": one.message, "path": one.path} for one in report.left_out]
    call.print_result(document, _format(report, receipt, dry_run=dry_run))
    call.warn(format_left_out(report.left_out))
    call.warn(_format_others(others))
    if report.imported or report.left_out or receipt.changed:
        return 0
    call.warn(f"no Markdown notes in {safe_line(folder)}")
    return NOTHING_FOUND


class _Importer:
    def __init__(
        self, call: Call, memory: Memory, place: str, state: State, kind: Kind | None, op_id: OpId | None
    ) -> None:
        self.call, self.memory, self.place = call, memory, place
        self.wanted: dict[str, Any] = {"state": state, "kind": kind, "op_id": op_id}

    def run(self, actor: Actor) -> ImportReport:
        """Bring the notes in, with a progress bar where a person watches."""
        show = not self.call.as_json and sys.stderr.isatty()
        with click.progressbar(length=1, label="Reading notes", file=sys.stderr, hidden=not show) as bar:

            def progress(done: int, total: int) -> None:
                bar.length = max(total, 1)
                bar.update(done - bar.pos)

            return self.memory.import_notes(self.place, actor, progress=progress, **self.wanted)

    def look(self) -> ImportReport:
        """Return what would come in. It writes nothing, so nobody needs to confirm it."""
        return self.memory.import_notes(self.place, self.call.person(), dry_run=True, **self.wanted)

    def preview(self) -> Preview:
        """Return what would come in; nothing is written.

        The texts lie in the person's own folder and are shown only where they will be declared in the person's name.
        """
        report = self.look()
        facts = (
            ("folder", self.place),
            ("state", self.wanted["state"].value),
            ("notes", str(len(report.imported))),
            ("left out", str(len(report.left_out))),
        )
        effect = "the notes become records with that standing, in one commit; the folder is left as it is"
        paths = "\n".join(record.path for record in report.imported)
        declared = report.imported if self.wanted["state"] is State.BASELINE else ()
        texts = (
            ("records", paths),
            *((record.path, f"{record.title}\n\n{record.body}".rstrip()) for record in declared),
        )
        return Preview("import", vault_name(self.memory), effect, asked=facts, texts=texts)


def _pretend(report: ImportReport, actor: Actor) -> Receipt:
    records = tuple(RecordRef(record.id, record.path, record.state) for record in report.imported)
    return Receipt(Action.IMPORT, new_op_id(), None, changed=False, records=records, actor=actor.name)


def count_other_files(place: str) -> int:
    """Return how many files of the folder ``place``, in its subfolders too, are no notes. Hidden ones don't count."""
    names = map(os.path.basename, iter_files(place, skips=lambda name: name.startswith(".")))
    return sum(not name.startswith(".") and not name.endswith(".md") for name in names)


def format_left_out(problems: Sequence[Problem]) -> str:
    """Return one warning a reason: how many notes were left out for it, and the first of them by name."""
    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(problem.code, []).append(problem)
    return "\n".join(f"warning: {len(group)} left out, {_tell(group)}" for group in groups.values())


def _tell(group: Sequence[Problem]) -> str:
    reasons = {one.message for one in group}
    shown = group[:MAX_NAMED]
    if len(reasons) == 1:
        told = f"{safe_line(reasons.pop())}: {', '.join(safe_line(one.path) for one in shown)}"
    else:
        told = f"{group[0].code}: " + ", ".join(f"{safe_line(one.path)} ({safe_line(one.message)})" for one in shown)
    more = len(group) - len(shown)
    return told + (f" and {more} more (all of them with --json)" if more else "")


def _format_others(number: int) -> str:
    if number == 1:
        return "1 other file is not a note and stays where it is"
    return f"{number} other files are not notes and stay where they are" if number else ""


def _format(report: ImportReport, receipt: Receipt, *, dry_run: bool) -> str:
    if receipt.changed:
        return format_receipt(receipt)
    if not report.imported:
        return f"import: all {len(report.left_out)} left out; nothing written" if report.left_out else ""
    return _format_dry(report) if dry_run else format_receipt(receipt)


def _format_dry(report: ImportReport) -> str:
    head = (
        f"import: {count(len(report.imported), 'note')} would come in, {len(report.left_out)} left out; nothing written"
    )
    rows = [(one.state.value, safe_line(one.path)) for one in report.imported[:MAX_LISTED]]
    more = len(report.imported) - len(rows)
    return "\n".join([head, *align(rows), *([f"… and {more} more"] if more else [])])

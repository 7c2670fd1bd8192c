"""``gitmem import``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.confirm import run_confirmed
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import KINDS, op_id_option
from gitmem.hosts.cli.output import write_document
from gitmem.hosts.cli.plain import MAX_LISTED, count, format_problems, format_receipt
from gitmem.hosts.cli.preview import Preview, vault_name
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt, RecordRef
from gitmem.model.ids import OpId, new_op_id
from gitmem.model.record import Kind, State
from gitmem.service.memory import Memory

if TYPE_CHECKING:
    from gitmem.service.import_notes import ImportReport

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
    FOLDER itself is only read. What can't come in is listed. A --state other than observation has to be confirmed by a
    person at the terminal.
    """
    place = os.path.join(call.environment.folder, os.path.expanduser(folder))
    with call.open_memory() as memory:
        bring = _Importer(call, memory, place, State(state), Kind(kind) if kind else None, op_id)
        report = run_confirmed(call, lambda actor: bring.run(actor, dry_run=dry_run), bring.preview)
    receipt = report.receipt or _pretend(report, call.model())
    document = {**write_document(receipt), "dry_run": dry_run}
    document["left_out"] = [{"code": one.code, "message": one.message, "path": one.path} for one in report.left_out]
    call.print_result(document, _format_dry(report) if dry_run else format_receipt(receipt))
    call.warn(format_problems(report.left_out))
    return 0


class _Importer:
    def __init__(
        self, call: Call, memory: Memory, place: str, state: State, kind: Kind | None, op_id: OpId | None
    ) -> None:
        self.call, self.memory, self.place = call, memory, place
        self.wanted: dict[str, Any] = {"state": state, "kind": kind, "op_id": op_id}

    def run(self, actor: Actor, *, dry_run: bool) -> ImportReport:
        """Bring the notes in, with a progress bar where a person watches."""
        show = not self.call.as_json and sys.stderr.isatty()
        with click.progressbar(length=1, label="Reading notes", file=sys.stderr, hidden=not show) as bar:

            def progress(done: int, total: int) -> None:
                bar.length = max(total, 1)
                bar.update(done - bar.pos)

            return self.memory.import_notes(self.place, actor, dry_run=dry_run, progress=progress, **self.wanted)

    def preview(self) -> Preview:
        """Return what would come in; nothing is written. The texts lie in the person's own folder and are not shown."""
        report = self.memory.import_notes(self.place, self.call.person(), dry_run=True, **self.wanted)
        facts = (
            ("folder", self.place),
            ("state", self.wanted["state"].value),
            ("notes", str(len(report.imported))),
            ("left out", str(len(report.left_out))),
        )
        effect = "the notes become records with that standing, in one commit; the folder is left as it is"
        paths = "\n".join(record.path for record in report.imported)
        return Preview("import", vault_name(self.memory), effect, asked=facts, texts=(("records", paths),))


def _pretend(report: ImportReport, actor: Actor) -> Receipt:
    records = tuple(RecordRef(record.id, record.path, record.state) for record in report.imported)
    return Receipt(Action.IMPORT, new_op_id(), None, changed=False, records=records, actor=actor.name)


def _format_dry(report: ImportReport) -> str:
    head = (
        f"import: {count(len(report.imported), 'note')} would come in, {len(report.left_out)} left out; nothing written"
    )
    rows = [(one.state.value, safe_line(one.path)) for one in report.imported[:MAX_LISTED]]
    more = len(report.imported) - len(rows)
    return "\n".join([head, *align(rows), *([f"… and {more} more"] if more else [])])

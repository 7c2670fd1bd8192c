"""The table of contents: everything that can be asked of one vault, one method a verb.

Writes take the ``Actor`` who asks (the memory's own program where none is named) and raise ``GitmemError``; each takes
an operation id, under which it may be asked for again and gives the same receipt, or is refused if something else is
asked. Reads return an ``Answer`` that says how it went, and raise only for a question that is not well formed. The
verbs live in the modules of the same name, whose docstrings say the whole of it, and are loaded when first used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.maintenance import Maintenance
from gitmem.model.record import Draft, Kind, State
from gitmem.service.memory_export import ExportVerbs
from gitmem.service.memory_files import FileVerbs
from gitmem.service.memory_read import ReadVerbs
from gitmem.service.memory_review import ReviewVerbs
from gitmem.service.memory_trust import TrustVerbs
from gitmem.service.retry import answer_again
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.service.edit import RecordEdit
    from gitmem.service.edited import EditedNote
    from gitmem.service.import_notes import ImportReport
    from gitmem.service.undo import Undoing


class Memory(ReadVerbs, ReviewVerbs, TrustVerbs, ExportVerbs, FileVerbs):
    """One vault and all that can be done with it. Close it, or use it in a ``with`` block."""

    def observe(self, draft: Draft, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Write ``draft`` as a new observation and return the receipt, which names its record. One commit.

        A model needs evidence in it. Raises as ``service.observe``; nothing is written then.
        """
        from gitmem.service.observe import observe

        return answer_again(self.vault, op_id, lambda: observe(self.vault, draft, actor or self.actor, op_id))

    def observe_all(
        self,
        drafts: Sequence[Draft],
        actor: Actor | None = None,
        op_id: OpId | None = None,
        lines: Sequence[int] | None = None,
    ) -> Receipt:
        """Write up to 1,000 observations, all in one commit or none; ``lines`` number them in what is said of errors.

        Returns the receipt, its records in the order of ``drafts``. Raises as ``service.observe``.
        """
        from gitmem.service.observe import observe_all

        return answer_again(
            self.vault, op_id, lambda: observe_all(self.vault, drafts, actor or self.actor, op_id, lines)
        )

    def declare(self, draft: Draft, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Write ``draft``, which needs a kind, as a new baseline record, as a person. One commit.

        Raises ``PolicyError`` (``needs-human``) for a model; otherwise as ``service.declare``; nothing is written then.
        """
        from gitmem.service.declare import declare

        return answer_again(self.vault, op_id, lambda: declare(self.vault, draft, actor or self.actor, op_id))

    def declare_all(
        self,
        drafts: Sequence[Draft],
        actor: Actor | None = None,
        op_id: OpId | None = None,
        lines: Sequence[int] | None = None,
    ) -> Receipt:
        """Write up to 1,000 baseline records, as a person, all in one commit or none. Raises as ``service.declare``."""
        from gitmem.service.declare import declare_all

        return answer_again(
            self.vault, op_id, lambda: declare_all(self.vault, drafts, actor or self.actor, op_id, lines)
        )

    def edit(self, ref: str, wanted: RecordEdit, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Change what ``wanted`` names of a record, in place: one commit, or none where nothing is another than it was.

        ``ref`` is an id, a unique prefix of one, a key or a path. A model may edit its own unreviewed observations.
        Raises as ``service.edit``; nothing is written then.
        """
        from gitmem.service.edit import edit

        return answer_again(self.vault, op_id, lambda: edit(self.vault, ref, wanted, actor or self.actor, op_id))

    def promote(self, ref: str, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Move an observation to the reviewed knowledge, as a person, or by a rule of the policy. One commit.

        Raises ``PolicyError`` (``needs-human``); otherwise as ``service.promote``; nothing is written then.
        """
        from gitmem.service.promote import promote

        return answer_again(self.vault, op_id, lambda: promote(self.vault, [ref], actor or self.actor, op_id))

    def promote_all(self, refs: Sequence[str], actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Move several observations to the reviewed knowledge, all in one commit or none; otherwise as ``promote``."""
        from gitmem.service.promote import promote

        return answer_again(self.vault, op_id, lambda: promote(self.vault, refs, actor or self.actor, op_id))

    def retire(
        self,
        ref: str,
        reason: str,
        actor: Actor | None = None,
        superseded_by: str | None = None,
        op_id: OpId | None = None,
    ) -> Receipt:
        """Take a record out of use and keep it, with a ``reason``, perhaps in favour of a newer one. One commit.

        A model may retire its own unreviewed observations. Raises as ``service.retire``; nothing is written then.
        """
        from gitmem.service.retire import retire

        return answer_again(
            self.vault, op_id, lambda: retire(self.vault, [ref], reason, actor or self.actor, superseded_by, op_id)
        )

    def retire_all(
        self,
        refs: Sequence[str],
        reason: str,
        actor: Actor | None = None,
        superseded_by: str | None = None,
        op_id: OpId | None = None,
        *,
        frees_key: bool = False,
    ) -> Receipt:
        """Take several records out of use, all in one commit or none; otherwise as ``retire``.

        ``frees_key`` takes their keys from them, so that others may have these.
        """
        from gitmem.service.retire import retire

        by = actor or self.actor
        return answer_again(
            self.vault,
            op_id,
            lambda: retire(self.vault, refs, reason, by, superseded_by, op_id, frees_key=frees_key),
        )

    def restore(self, ref: str, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Bring a retired record back to where it was before. One commit. Raises as ``service.restore``."""
        from gitmem.service.restore import restore

        return answer_again(self.vault, op_id, lambda: restore(self.vault, [ref], actor or self.actor, op_id))

    def restore_all(self, refs: Sequence[str], actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Bring several retired records back, all in one commit or none. Raises as ``service.restore``."""
        from gitmem.service.restore import restore

        return answer_again(self.vault, op_id, lambda: restore(self.vault, refs, actor or self.actor, op_id))

    def undo(
        self, ref: str, actor: Actor | None = None, op_id: OpId | None = None, shown: Undoing | None = None
    ) -> Receipt:
        """Take back one operation (its id or commit), an undo too, where nobody has built on it. One commit.

        ``shown`` is what ``find_undoing`` returned, and what is done then. A model may undo what it did to its own
        observations. Raises as ``service.undo``; nothing is written then.
        """
        from gitmem.service.undo import undo

        return answer_again(self.vault, op_id, lambda: undo(self.vault, ref, actor or self.actor, op_id, shown))

    def find_undoing(self, ref: str) -> Undoing:
        """Return what ``undo`` would do, for a person to look at. Raises. See ``service.undo``."""
        from gitmem.service.undo import find_undoing

        return find_undoing(self.vault, ref)

    def find_edited(self, paths: Sequence[str] = ()) -> list[EditedNote]:
        """Return what ``adopt`` would commit, for a person to look at. Raises. See ``service.edited``."""
        from gitmem.service.edited import find_edited

        return find_edited(self.vault, paths)

    def adopt(
        self,
        paths: Sequence[str] = (),
        actor: Actor | None = None,
        op_id: OpId | None = None,
        notes: Sequence[EditedNote] | None = None,
        asked: Sequence[str] | None = None,
    ) -> Receipt:
        """Commit what a person edited outside gitmem, as theirs; all of it where ``paths`` is empty. One commit.

        ``notes`` and ``asked`` are what they were shown. Raises as ``service.adopt``; nothing is written then.
        """
        from gitmem.service.adopt import adopt

        return answer_again(
            self.vault, op_id, lambda: adopt(self.vault, paths, actor or self.actor, op_id, notes, asked)
        )

    def import_notes(
        self,
        folder: str,
        actor: Actor | None = None,
        *,
        state: State = State.OBSERVATION,
        kind: Kind | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        op_id: OpId | None = None,
    ) -> ImportReport:
        """Bring a folder of Markdown notes in, as one operation; ``dry_run`` only says what would come.

        ``progress`` is told (done, total). Returns what became of each file. Raises as ``service.import_notes``.
        """
        from gitmem.service.import_notes import import_notes

        def bring() -> ImportReport:
            return import_notes(
                self.vault,
                folder,
                actor or self.actor,
                state=state,
                kind=kind,
                dry_run=dry_run,
                progress=progress,
                op_id=op_id,
            )

        return answer_again(self.vault, op_id, bring)

    def maintain(
        self, actor: Actor | None = None, op_id: OpId | None = None, *, dry_run: bool = False
    ) -> tuple[Receipt, Maintenance]:
        """Pack, write the commit graph, let the catalog grow; no record changes. See ``service.maintain``."""
        from gitmem.service.maintain import maintain

        return maintain(self.vault, actor or self.actor, op_id, dry_run=dry_run)

    def repair_views(self, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Bring INDEX.md and the catalog in step with the committed records. See ``service.check``."""
        from gitmem.service.check import repair_views

        return answer_again(self.vault, op_id, lambda: repair_views(self.vault, actor or self.actor, op_id))

"""The table of contents: everything that can be asked of one vault, one method a verb.

Writes take the ``Actor`` who asks (the memory's own program where none is named) and raise ``GitmemError``; each takes
an operation id, under which it may be asked for again and gives the same receipt, or is refused if something else is
asked. Reads return an ``Answer`` that says how
it went. The verbs live in the modules of the same name and are loaded when first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.maintenance import Maintenance
from gitmem.model.record import Draft, Kind, State
from gitmem.service.memory_export import ExportVerbs
from gitmem.service.memory_files import FileVerbs
from gitmem.service.memory_review import ReviewVerbs
from gitmem.service.memory_trust import TrustVerbs
from gitmem.service.reading import report
from gitmem.service.retry import answer_again

if TYPE_CHECKING:
    from gitmem.service.diff import Bounds
    from gitmem.service.edit import RecordEdit
    from gitmem.service.edited import EditedNote
    from gitmem.service.import_notes import ImportReport
    from gitmem.service.log import LogFilters
    from gitmem.service.query import Filters, SearchOptions
    from gitmem.service.tags import Vocabulary
    from gitmem.service.timeline import Stretch
    from gitmem.service.undo import Undoing


class Memory(ReviewVerbs, TrustVerbs, ExportVerbs, FileVerbs):
    """One vault and all that can be done with it. Close it, or use it in a ``with`` block."""

    def observe(self, draft: Draft, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Write an observation. See ``service.observe``."""
        from gitmem.service.observe import observe

        return answer_again(self.vault, op_id, lambda: observe(self.vault, draft, actor or self.actor, op_id))

    def observe_all(
        self,
        drafts: Sequence[Draft],
        actor: Actor | None = None,
        op_id: OpId | None = None,
        lines: Sequence[int] | None = None,
    ) -> Receipt:
        """Write up to 1,000 observations in one operation, all or none. See ``service.observe``."""
        from gitmem.service.observe import observe_all

        return answer_again(
            self.vault, op_id, lambda: observe_all(self.vault, drafts, actor or self.actor, op_id, lines)
        )

    def declare(self, draft: Draft, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Write a baseline record, as a person. See ``service.declare``."""
        from gitmem.service.declare import declare

        return answer_again(self.vault, op_id, lambda: declare(self.vault, draft, actor or self.actor, op_id))

    def declare_all(
        self,
        drafts: Sequence[Draft],
        actor: Actor | None = None,
        op_id: OpId | None = None,
        lines: Sequence[int] | None = None,
    ) -> Receipt:
        """Write up to 1,000 baseline records in one operation, as a person, all or none. See ``service.declare``."""
        from gitmem.service.declare import declare_all

        return answer_again(
            self.vault, op_id, lambda: declare_all(self.vault, drafts, actor or self.actor, op_id, lines)
        )

    def edit(self, ref: str, wanted: RecordEdit, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Change a record in place. See ``service.edit``."""
        from gitmem.service.edit import edit

        return answer_again(self.vault, op_id, lambda: edit(self.vault, ref, wanted, actor or self.actor, op_id))

    def promote(self, ref: str, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Move an observation to the reviewed knowledge, as a person. See ``service.promote``."""
        from gitmem.service.promote import promote

        return answer_again(self.vault, op_id, lambda: promote(self.vault, [ref], actor or self.actor, op_id))

    def promote_all(self, refs: Sequence[str], actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Move several observations to the reviewed knowledge, in one operation. See ``service.promote``."""
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
        """Take a record out of use and keep it. See ``service.retire``."""
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
        """Take several records out of use, in one operation. See ``service.retire``."""
        from gitmem.service.retire import retire

        by = actor or self.actor
        return answer_again(
            self.vault,
            op_id,
            lambda: retire(self.vault, refs, reason, by, superseded_by, op_id, frees_key=frees_key),
        )

    def restore(self, ref: str, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Bring a retired record back. See ``service.restore``."""
        from gitmem.service.restore import restore

        return answer_again(self.vault, op_id, lambda: restore(self.vault, [ref], actor or self.actor, op_id))

    def restore_all(self, refs: Sequence[str], actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Bring several retired records back, in one operation. See ``service.restore``."""
        from gitmem.service.restore import restore

        return answer_again(self.vault, op_id, lambda: restore(self.vault, refs, actor or self.actor, op_id))

    def undo(
        self, ref: str, actor: Actor | None = None, op_id: OpId | None = None, shown: Undoing | None = None
    ) -> Receipt:
        """Take back one operation, an undo too, where nobody has built on it. See ``service.undo``."""
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
        """Commit what a person edited outside gitmem; all of it when ``paths`` is empty. See ``service.adopt``."""
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
        """Bring a folder of Markdown notes in, as one operation. See ``service.import_notes``."""
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

    def show(self, ref: str, *, to_person: bool = False, as_of: str | None = None, all_vaults: bool = False) -> Answer:
        """Return one record, whole; ``extra`` has its ``body`` and ``properties``. See ``service.show``.

        ``all_vaults`` looks in the global vault where this one, as it is now, has no such record.
        """
        from gitmem.service.show import show, show_anywhere

        if all_vaults and as_of is None:
            return report(lambda: show_anywhere(self.vault, ref, self.find_global))
        return report(lambda: show(self.vault, ref, to_person=to_person, as_of=as_of))

    def list(
        self,
        filters: Filters | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        *,
        sort: str = "title",
        offset: int = 0,
    ) -> Answer:
        """Return the records that ``filters`` admits, sorted, a page at a time. See ``service.list_records``."""
        from gitmem.service.list_records import Paging, list_records
        from gitmem.service.query import Filters

        return report(lambda: list_records(self.vault, filters or Filters(), Paging(limit, offset, sort), as_of))

    def search(
        self,
        words: str,
        filters: Filters | None = None,
        limit: int = 10,
        as_of: str | None = None,
        options: SearchOptions | None = None,
    ) -> Answer:
        """Return the records that best match ``words``, of the global vault too if asked. See ``service.search``."""
        from gitmem.service.query import Filters, SearchOptions
        from gitmem.service.search import search
        from gitmem.service.search_all import search_all

        how, filters = options or SearchOptions(), filters or Filters()
        if how.all_vaults:
            return search_all(self.vault, self.find_global, words, filters, limit, as_of, how)
        return report(lambda: search(self.vault, words, filters, limit, as_of, how))

    def tags(
        self, filters: Filters | None = None, wanted: Vocabulary | None = None, as_of: str | None = None
    ) -> Answer:
        """Return the tags and how many records have each, as rows. See ``service.tags``."""
        from gitmem.service.query import Filters
        from gitmem.service.tags import Vocabulary, tags

        return report(lambda: tags(self.vault, filters or Filters(), wanted or Vocabulary(), as_of))

    def timeline(
        self, filters: Filters | None = None, wanted: Stretch | None = None, as_of: str | None = None
    ) -> Answer:
        """Return records by when they came to be, newest first, as rows by group. See ``service.timeline``."""
        from gitmem.service.query import Filters
        from gitmem.service.timeline import Stretch, timeline

        return report(lambda: timeline(self.vault, filters or Filters(), wanted or Stretch(), as_of))

    def context(self, max_chars: int | None = None) -> Answer:
        """Return what a session starts with, as ``extra["text"]`` and rows. See ``service.context``."""
        from gitmem.service.context import add_status, context

        return add_status(report(lambda: context(self.vault, max_chars, self.find_global)))

    def recall(
        self, prompt: str, *, session: str = "", limit: int = 5, max_chars: int | None = None, explain: bool = False
    ) -> Answer:
        """Return what to volunteer for ``prompt`` of this vault and the global one, as ``extra["text"]`` and hits.

        See ``service.recall``.
        """
        from gitmem.service.context import add_status
        from gitmem.service.recall import recall

        def ask() -> Answer:
            return recall(
                self.vault,
                prompt,
                self.find_global,
                session=session,
                limit=limit,
                max_chars=max_chars,
                explain=explain,
            )

        return add_status(report(ask))

    def evaluate(self, data: bytes, least: Mapping[str, float]) -> Answer:
        """Return how well search and recall answer the labelled queries in ``data``. See ``service.evaluate``."""
        from gitmem.service.evaluate import evaluate, parse_queries

        queries = parse_queries(data)
        return report(lambda: evaluate(self.vault, queries, least))

    def reset_session(self, session: str) -> Answer:
        """Forget what ``session`` was shown, as after a compaction; ``extra["reset"]`` says if it was anything."""
        from gitmem.service.digest import reset_digest

        def reset() -> Answer:
            is_reset = reset_digest(self.vault.layout, session)
            return Answer(Status.OK, self.vault.head(), extra={"text": "", "reset": is_reset})

        return report(reset)

    def links(self, ref: str) -> Answer:
        """Return where a record's links lead and what links to it, as rows. See ``service.links``."""
        from gitmem.service.links import links

        return report(lambda: links(self.vault, ref))

    def log(self, ref: str | None = None, limit: int | None = 20, filters: LogFilters | None = None) -> Answer:
        """Return operations, newest first, of the vault or of one record, as rows. See ``service.log``."""
        from gitmem.service.log import LogFilters, log

        return report(lambda: log(self.vault, ref, limit, filters or LogFilters()))

    def diff(
        self,
        older: str | None = None,
        newer: str | None = None,
        *,
        to_worktree: bool = False,
        bounds: Bounds | None = None,
    ) -> Answer:
        """Return what became of each record between two moments, as rows. See ``service.diff``."""
        from gitmem.service.diff import Bounds, diff

        return report(lambda: diff(self.vault, older, newer, to_worktree=to_worktree, bounds=bounds or Bounds()))

    def status(self) -> Answer:
        """Return how the vault is and what waits for a person; see ``service.status``."""
        from gitmem.service.status import status

        return report(lambda: status(self.vault))

    def catalog_status(self) -> Answer:
        """Return how the search catalog is. See ``service.catalog``."""
        from gitmem.service.catalog import catalog_status

        return report(lambda: catalog_status(self.vault))

    def rebuild_catalog(self, progress: Callable[[int, int], None] = lambda _done, _total: None) -> Answer:
        """Make the search catalog afresh. See ``service.catalog``."""
        from gitmem.service.catalog import rebuild_catalog

        return report(lambda: rebuild_catalog(self.vault, progress))

    def check(self) -> Answer:
        """Return everything that is wrong with the records, links and views. See ``service.check``."""
        from gitmem.service.check import check

        return report(lambda: check(self.vault))

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

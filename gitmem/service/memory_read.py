"""The verbs that read: records, history, and how the vault is. A part of ``Memory``.

Each returns an ``Answer``: its status, the commit that it speaks of, and what was found. A memory that can't be read is
said to be ``unavailable`` or ``withheld``; it never looks like an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitmem.model.answer import Answer, Status
from gitmem.service.memory_base import MemoryBase
from gitmem.service.reading import report
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.service.diff import Bounds
    from gitmem.service.log import LogFilters
    from gitmem.service.query import Filters, SearchOptions
    from gitmem.service.tags import Vocabulary
    from gitmem.service.timeline import Stretch


class ReadVerbs(MemoryBase):
    """Search, recall, show and look; see ``service.memory``."""

    def show(self, ref: str, *, to_person: bool = False, as_of: str | None = None, all_vaults: bool = False) -> Answer:
        """Return one record, whole, as the one hit; ``extra`` has its ``body``, ``properties`` and ``file``.

        ``all_vaults`` looks in the global vault where this one, as it is now, has no such record. A private record is
        ``withheld`` unless shown ``to_person``. Raises ``InputError`` (``no-such-record``, ``ambiguous-record``).
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
        """Return the records that ``filters`` admits as hits, at most ``limit`` of them (``None``: all) in order.

        ``extra`` has the ``total`` and what is ``omitted``. Raises ``InputError`` as ``service.list_records``.
        """
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
        """Return the records that best match ``words`` as hits, the best first, of the global vault too if asked.

        The status is ``no-match`` where there are none. ``as_of`` asks an earlier commit or date. Raises ``InputError``
        for a question that is not well formed, see ``service.search``.
        """
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
        """Return the tags and how many records have each, as rows. Raises ``InputError``, see ``service.tags``."""
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
        """Return what a session starts with: ``extra["text"]`` for a model, and its records as rows.

        At most ``max_chars`` characters, the policy's bound unless given. See ``service.context``.
        """
        from gitmem.service.context import context
        from gitmem.service.status_line import add_status

        return add_status(report(lambda: context(self.vault, max_chars, self.find_global)))

    def recall(
        self, prompt: str, *, session: str = "", limit: int = 5, max_chars: int | None = None, explain: bool = False
    ) -> Answer:
        """Return what to volunteer for ``prompt`` of this vault and the global one, as ``extra["text"]`` and hits.

        See ``service.recall``.
        """
        from gitmem.service.recall import recall
        from gitmem.service.status_line import add_status

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
        """Return operations, newest first, of the vault or of one record, as rows; with ``limit`` ``None`` all.

        See ``service.log``.
        """
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

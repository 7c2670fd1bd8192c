"""The committed views, as the transaction wants them made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.model.change import RecordChange
from gitmem.model.record import Record


class RecordViews:
    """``INDEX.md`` and ``catalog.json``, made by ``gitmem.render``, which is loaded when first needed."""

    def update(
        self, read: Callable[[str], bytes | None], changes: Sequence[RecordChange], shards: int
    ) -> Mapping[str, bytes | None]:
        """Return the views that ``changes`` alter, from what the last commit says (``read``)."""
        from gitmem.render.views import update_views

        return update_views(read, changes, shards)

    def is_view(self, path: str) -> bool:
        """Tell whether ``path`` is the index page, the catalog or one of its shards."""
        from gitmem.render.views import is_view

        return is_view(path)

    def rebuild(self, records: Iterable[Record], shards: int) -> Mapping[str, bytes]:
        """Return every view, from scratch."""
        from gitmem.render.views import render_views

        return render_views(records, shards)

    def reshard(self, read: Callable[[str], bytes | None], shards: int, new_shards: int) -> Mapping[str, bytes | None]:
        """Return the views that change when the catalog is spread over another number of files."""
        from gitmem.render.views import reshard_views

        return reshard_views(read, shards, new_shards)

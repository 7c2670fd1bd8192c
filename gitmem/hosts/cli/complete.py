"""What a shell offers behind TAB besides verbs and options: record ids, tags and vaults. A failure offers nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from gitmem.errors import GitmemError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.columns import safe_line

if TYPE_CHECKING:
    from gitmem.service.suggest import Suggestion

Items = list["CompletionItem[Any]"]
MAX_OPERATIONS = 50
"""How far back operations are offered."""
_EXPANDED_BY_SHELLS = str.maketrans("", "", "*?[]\\")


def complete_records(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> Items:
    """Return the ids, and what keys there are, that begin with ``incomplete``, with their titles."""
    found = []
    for record in _list_records(ctx):
        title = safe_line(record.title)
        names = [record.id, *([record.key] if record.key and incomplete else [])]
        found += [CompletionItem(name, help=title, title=title) for name in names if name.startswith(incomplete)]
    return found


def complete_tags(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> Items:
    """Return the vault's tags, and the namespaces that they lie in, that begin with ``incomplete``, sorted."""
    tags = {tag for record in _list_records(ctx) for tag in record.tags}
    tags |= {tag[:end] for tag in tags for end, char in enumerate(tag) if char == "/"}
    return [CompletionItem(tag) for tag in sorted(tags) if tag.startswith(incomplete)]


def complete_candidates(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> Items:
    """Return the ids of the candidates that wait and begin with ``incomplete``, with their titles."""
    from gitmem.model.candidate import InboxFilters

    with contextlib.suppress(GitmemError, OSError), ctx.ensure_object(Call).open_memory() as memory:
        rows = [row for row in memory.inbox(InboxFilters(deferred=True)).rows if row["id"].startswith(incomplete)]
        titles = {row["id"]: safe_line(row["title"]) for row in rows}
        return [CompletionItem(one, help=title, title=title) for one, title in titles.items()]
    return []


def complete_operations(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> Items:
    """Return the ids of the newest operations that begin with ``incomplete``, newest first, each with what it did."""
    with contextlib.suppress(GitmemError, OSError), ctx.ensure_object(Call).open_memory() as memory:
        rows = [row for row in memory.log(limit=MAX_OPERATIONS).rows if str(row["op_id"] or "").startswith(incomplete)]
        told = {row["op_id"]: safe_line(f"{row['op']}: {row['title']}") for row in rows if row["op_id"]}
        return [CompletionItem(op_id, help=title, title=title) for op_id, title in told.items()]
    return []


def complete_vaults(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> Items:
    """Return the names of known vaults that begin with ``incomplete``, each with its folder."""
    from gitmem.service.locate import list_vaults

    with contextlib.suppress(GitmemError, OSError):
        entries = list_vaults(ctx.ensure_object(Call).environment.home)
        known = {one.name: one.path for one in entries if one.name.startswith(incomplete)}
        return [CompletionItem(name, help=safe_line(path)) for name, path in known.items()]
    return []


def offer_titles_in_bash() -> None:
    """Make Bash show the title behind each id while there is more than one to choose from.

    Bash has no place for a help text: what it shows is what it inserts. But of several it inserts only the beginning
    that they share, which lies within the ids.
    """
    add_completion_class(_BashWithTitles)


class _BashWithTitles(BashComplete):
    def get_completions(self, args: list[str], incomplete: str) -> Items:
        """Return what completes ``incomplete``, titles behind the values where there are several."""
        found = super().get_completions(args, incomplete)
        if len(found) > 1:
            for item in found:
                if item.title:
                    item.value = f"{item.value}  {str(item.title).translate(_EXPANDED_BY_SHELLS)}"
        return found


def _list_records(ctx: click.Context) -> Sequence[Suggestion]:
    from gitmem.service.suggest import list_suggestions

    with contextlib.suppress(GitmemError, OSError), ctx.ensure_object(Call).open_memory() as memory:
        return list_suggestions(memory.vault)
    return ()

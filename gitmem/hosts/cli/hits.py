"""What a search found, as text for people: the matches marked, what is no record apart, and what else to know. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import click

from gitmem.hosts.cli.columns import INDENT, align, safe_line, truncate_indented
from gitmem.hosts.cli.output import pick_fields
from gitmem.hosts.cli.plain import count, format_records
from gitmem.model.answer import Answer, Hit, Spans, Status, Strength
from gitmem.text import make_visible

_BLANKS = str.maketrans("\n\t", "  ")


def format_found(answer: Answer, max_columns: int | None) -> str:
    """Return the records of a search, under each why and where it matched; then the notes that are no records."""
    blocks = [_format_group(hits, max_columns) for hits in _group(answer.hits)]
    notes = answer.extra.get("notes", ())
    if notes:
        blocks.append("\n".join(["Notes that are no records:", *_note_lines(notes, max_columns)]))
    return "\n\n".join(blocks)


def format_fields(answer: Answer, fields: Sequence[str]) -> str:
    """Return one line a record: its ``fields`` with tabs between them, lists joined by commas."""
    return "\n".join("\t".join(map(_format_value, pick_fields(hit, "", fields).values())) for hit in answer.hits)


def _format_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_format_value, value))
    return "" if value is None else safe_line(value)


def format_advice(answer: Answer) -> str:
    """Return what a reader of a search should know beside it, a fact a line."""
    extra, lines = answer.extra, []
    for phrase in extra.get("not_word_for_word", ()):
        lines.append(f'no record has "{safe_line(phrase)}" word for word; its words were looked for')
    if answer.status is Status.NO_MATCH and extra.get("total"):
        lines.append(f"{_count_matches(extra['total'])}, but none comes so far down")
    if extra.get("more"):
        at_least = "at least " if extra.get("total_at_least") else ""
        lines.append(f"{at_least}{_count_matches(extra['total'])}; --offset and --limit show more")
    if extra.get("episodes"):
        lines.append(f"{_count_matches(extra['episodes'], 'episode')} as well: --episodes")
    if extra.get("did_you_mean"):
        lines.append(f"did you mean: {safe_line(extra['did_you_mean'])}")
    return "\n".join(lines)


def _count_matches(number: int, noun: str = "record") -> str:
    return f"{count(number, noun)} match{'es' if number == 1 else ''}"


def _group(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return the hits in order, those of one vault alone as one group, else each by itself."""
    return [[hit] for hit in hits] if any(hit.vault for hit in hits) else [list(hits)] if hits else []


def _format_group(hits: Sequence[Hit], max_columns: int | None) -> str:
    lines = []
    for hit, line in zip(hits, format_records(hits, max_columns, with_summary=False).split("\n"), strict=True):
        if hit.vault:
            lines.append(f"{safe_line(hit.vault.name)} ({hit.vault.scope})")
        title = safe_line(hit.record.title)
        lines.append(line.replace(title, mark(hit.record.title, hit.spans.get("title", ()), None), 1))
        why = ", ".join(hit.matched) + (" (some of the words)" if hit.strength is Strength.SOME else "")
        if why:
            lines.append(INDENT + truncate_indented(safe_line(why), max_columns))
        if hit.snippet:
            lines.append(INDENT + mark(hit.snippet, hit.spans.get("snippet", ()), max_columns))
    return "\n".join(lines)


def _note_lines(notes: Sequence[dict[str, Any]], max_columns: int | None) -> list[str]:
    lines = []
    heads = align([(safe_line(note["path"]), safe_line(note["why"])) for note in notes], max_columns)
    for note, head in zip(notes, heads, strict=True):
        lines += [head, INDENT + mark(note["snippet"], [tuple(span) for span in note["spans"]], max_columns)]
    return lines


def mark(text: str, spans: Spans | Sequence[tuple[int, ...]], max_columns: int | None) -> str:
    """Return the one-line ``text``, fit to be shown, its ``spans`` painted; indented, it fits ``max_columns``."""
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    pieces = [make_visible(text[start:end]).translate(_BLANKS) for start, end in pairwise(bounds)]
    whole = "".join(pieces)
    shown = truncate_indented(whole, max_columns)
    left, marked = len(shown) - (shown != whole), ""
    for number, piece in enumerate(pieces):
        kept = piece[:left]
        left -= len(kept)
        marked += click.style(kept, fg="yellow", bold=True) if number % 2 and kept else kept
    return marked + "…" * (shown != whole)

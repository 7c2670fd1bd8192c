"""Remembered text set into what a model reads, so that it can pass for nothing else (INV-QUOTED). Pure.

A record may say anything: that it comes from the host, that the person speaks now, that the memory ends here. So
gitmem's own words come first on every line: an entry begins with its id and labels, every line of a record's text
with a quotation mark. Hidden characters are shown as escapes, what would open or close markup is written as an entity,
and the whole stands between two lines of more backticks than there are in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gitmem.model.authority import Authority
from gitmem.model.record import MAX_TITLE_CHARS, Record
from gitmem.model.settings import Scope
from gitmem.patterns import late
from gitmem.text import has_lookalikes, make_visible, one_line, shorten
from gitmem.values import dataclass

_BACKTICKS = late("`{3,}")
# With its two look-alikes: every tag, comment and turn marker of a host begins so. The brackets are one more marker.
_MARKUP = late(r"[<\uff1c\ufe64]|\[(?=\s*/?\s*INST\s*\])", re.IGNORECASE)
_ENTITIES = {"<": "&lt;"}
_QUOTE = "  >"


@dataclass(frozen=True)
class Section:
    """One heading and its entries, each the lines that ``format_entry`` returns."""

    heading: str
    entries: tuple[tuple[str, ...], ...]


def escape(text: str) -> str:
    """Return ``text``, line feeds kept, without hidden characters and without anything that opens or closes markup."""
    # In this order: what is hidden depends on what stands before it.
    return make_visible(_MARKUP.sub(lambda found: _ENTITIES.get(found.group(), f"&#{ord(found.group())};"), text))


def format_entry(record: Record, labels: Iterable[str], text: str = "") -> tuple[str, ...]:
    """Return the lines that show a record: its id, ``labels`` and title, then ``text``, quoted line by line.

    The labels stand in front of the title, where no title can bring labels of its own.
    """
    notes = [*labels, *(["look-alike letters"] if has_lookalikes(f"{record.title} {record.summary}") else [])]
    title = escape(shorten(one_line(make_visible(record.title)), MAX_TITLE_CHARS))
    said = ", ".join(escape(one_line(label)) for label in notes)
    return (f"- {record.id} ({said}): {title}", *quote(text))


def label_record(record: Record, scope: Scope, *, is_proved: bool) -> list[str]:
    """Return the labels of a record: whose it is and what, by whose authority, its date, and when it was verified.

    That a person declared it is said as a fact only when ``is_proved``.
    """
    kind = f" {record.kind.value}" if record.kind else ""
    labels = [f"{scope.value} {record.state.value}{kind}", _name_authority(record, is_proved=is_proved)]
    date = record.updated or record.created
    labels += [date[:10]] if date else []
    labels += [f"verified {record.verified[:10]}"] if record.verified else []
    return labels


def pick_summary(record: Record) -> str:
    """Return the summary; none where it was taken from the text, as its end tells, and may be cut in the middle."""
    return "" if record.summary.endswith("…") else record.summary


def _name_authority(record: Record, *, is_proved: bool) -> str:
    if record.authority is None:
        return "no authority"
    if record.authority is Authority.USER_DECLARED and not is_proved:
        return "user_declared by its own account"
    return record.authority.value


def quote(text: str) -> list[str]:
    """Return the lines of ``text``, each behind a quotation mark; none for text that is blank."""
    lines = escape(text.strip("\n")).rstrip().split("\n") if text.strip() else []
    return [f"{_QUOTE} {line.rstrip()}".rstrip() for line in lines]


def format_page(name: str, about: str, sections: Sequence[Section], notes: Sequence[str] = ()) -> str:
    """Return ``about``, the fenced ``sections`` that hold anything, and ``notes`` of gitmem's own, one a line.

    ``name`` stands behind the opening fence (``gitmem-recall``), so that the text is known again wherever it turns up.
    """
    lines: list[str] = []
    for section in sections:
        if section.entries:
            lines += [*([""] if lines else []), section.heading]
            lines += [line for entry in section.entries for line in entry]
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=2)
    fence = "`" * (longest + 1)
    fenced = [f"{fence}{name}", *lines, fence] if lines else []
    return "\n".join([about, *fenced, *(escape(one_line(note)) for note in notes)])

"""``INDEX.md``: what is in the vault, for people. A pure function of the listed baseline and promoted records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gitmem.model.record import Kind, State
from gitmem.patterns import late
from gitmem.render.environment import Markdown, escape_inline, render_template
from gitmem.text import fold
from gitmem.typed import Any
from gitmem.values import dataclass

MAX_ENTRIES = 20
"""How many records a section names."""
MAX_NAMESPACES = 20
"""How many tag namespaces have a section of their own."""

_BASELINE = {
    Kind.BOUNDARY: "Boundaries",
    Kind.PREFERENCE: "Preferences",
    Kind.GOAL: "Goals",
    Kind.STATE: "State",
}
_OTHER_BASELINE = "Also declared"
_OTHER = "Other"
# A wikilink can't name a file with the first five; the others may open a span or a comment in front of the link.
_UNLINKABLE = late(r"[#^\[\]|`$]|%%")


@dataclass(frozen=True)
class Section:
    """One heading and at most ``MAX_ENTRIES`` lines; ``more_in`` names the folder that holds the others, if any."""

    heading: str
    lines: tuple[Markdown, ...]
    more_in: str


def render_index(listed: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of ``INDEX.md`` for the catalog entries of every baseline and promoted record, in any order.

    Sections: the baseline by kind, then the promoted records by the namespace of their first tag. Within a section
    records are sorted by title, then id. Nothing in it counts, ranks or dates records, so that two branches that
    each promote a record seldom touch the same line.
    """
    entries = sorted(listed, key=lambda entry: (fold(entry["title"]), entry["id"]))
    baseline = [entry for entry in entries if entry["state"] == State.BASELINE]
    promoted = [entry for entry in entries if entry["state"] == State.PROMOTED]
    sections = [*_baseline_sections(baseline), *_promoted_sections(promoted)]
    return render_template("INDEX.md.j2", sections=sections)


def _baseline_sections(entries: Sequence[Mapping[str, Any]]) -> list[Section]:
    groups: dict[str, list[Mapping[str, Any]]] = {heading: [] for heading in (*_BASELINE.values(), _OTHER_BASELINE)}
    for entry in entries:
        groups[_BASELINE.get(entry.get("kind", ""), _OTHER_BASELINE)].append(entry)
    return [_section(heading, group) for heading, group in groups.items() if group]


def _promoted_sections(entries: Sequence[Mapping[str, Any]]) -> list[Section]:
    spaces = sorted({space for entry in entries if (space := _namespace(entry))})[:MAX_NAMESPACES]
    groups: dict[str, list[Mapping[str, Any]]] = {space: [] for space in [*spaces, _OTHER]}
    for entry in entries:
        groups.get(_namespace(entry), groups[_OTHER]).append(entry)
    return [_section(f"Promoted: {space}", group) for space, group in groups.items() if group]


def _namespace(entry: Mapping[str, Any]) -> str:
    """Return the folded top of the first tag, or nothing where there is no tag or it has no namespace."""
    top, slash, _rest = entry.get("tags", [""])[0].partition("/")
    return fold(top) if slash else ""


def _section(heading: str, entries: Sequence[Mapping[str, Any]]) -> Section:
    more_in = State(entries[0]["state"]).folder if len(entries) > MAX_ENTRIES else ""
    return Section(heading, tuple(_line(entry) for entry in entries[:MAX_ENTRIES]), more_in)


def _line(entry: Mapping[str, Any]) -> Markdown:
    """Return a wikilink by full path and the summary; the path in plain text where a link can't say it."""
    path, title = entry["path"], escape_inline(entry["title"])
    linkable = _UNLINKABLE.search(path) is None
    link = f"[[{path.removesuffix('.md')}|{title}]]" if linkable else f"{escape_inline(path)} ({title})"
    summary = escape_inline(entry.get("summary", ""))
    return Markdown(f"{link}: {summary}" if summary else link)

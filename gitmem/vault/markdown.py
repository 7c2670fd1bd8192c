"""Links and tags in a note as Obsidian finds them (facts, A.2 and A.4; compared with its own dumps in the tests).

Fenced code, inline code and HTML comments hold neither; ``%%`` comments do.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from gitmem.model.record import Record
from gitmem.patterns import late
from gitmem.typed import Any
from gitmem.values import dataclass
from gitmem.vault.code_mask import blank, mask_code

_ESCAPE = late(r"\\[\\\[\]()!]")
_WIKILINK = late(r"(?P<embed>!?)\[\[(?P<inner>(?:(?!\]\])[^\n\[]|\[(?!\[))+?)\]\]")
_TARGET = r"<(?P<angled>[^<>\n]*)>|(?P<bare>(?:[^\s()<>\0]|\([^\s()]*\))+)"
_MARKDOWN_LINK = late(
    rf"(?P<embed>!?)\[(?P<text>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\((?:{_TARGET})(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"
)
_SCHEME = late(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_PROPERTY_LINK = late(r"(?P<embed>!?)\[\[(?P<inner>[^\[\]\n]+)\]\]")

# Everything but white space, general and supplemental punctuation, and ASCII punctuation other than - _ and /.
_TAG_CHARS = r"[^\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s\0]+"
_TAG = late(_TAG_CHARS)
# After white space, at the start, and after an escaped bracket: Obsidian finds #b in "\[#b", as one of its dumps shows.
# What comes before is looked at last, because a pattern that begins with a plain character is searched for much faster.
_INLINE_TAG = late(rf"#(?:(?<!\S#)|(?<=\\\[#))({_TAG_CHARS})")


@dataclass(frozen=True, slots=True)
class Link:
    """One link or embed to another note or file.

    ``target`` is the name or path as written (percent escapes undone), empty for a link within the note; ``subpath``
    starts with ``#`` or is empty; ``target + subpath`` is Obsidian's ``link``. ``alias`` is the text shown, ``None``
    where none is given. ``line`` counts from 1 in the body and is 0 for a property; ``source`` is ``"body"`` or the
    name of the property.
    """

    target: str
    subpath: str = ""
    alias: str | None = None
    embed: bool = False
    line: int = 0
    source: str = "body"


def find_links(body: str) -> tuple[Link, ...]:
    """Return the links and embeds of ``body`` to notes and files, in order. Addresses on the web are not among them."""
    return tuple(_at_line(link, body.count("\n", 0, start) + 1) for start, _end, link in _list_places(body))


def replace_links(body: str, write: Callable[[Link], str | None]) -> str:
    """Return ``body`` with what ``write`` gives in place of each link of ``find_links``; ``None`` keeps it. Pure."""
    pieces, copied = [], 0
    for start, end, link in _list_places(body):
        written = write(link) if start >= copied else None  # a link in another one's text went with that
        if written is not None:
            pieces += [body[copied:start], written]
            copied = end
    return "".join([*pieces, body[copied:]])


def _list_places(body: str) -> list[tuple[int, int, Link]]:
    """Return where each link of ``body`` begins and ends, in order."""
    if "[" not in body:
        return []
    masked = mask_code(body)
    found = [(*match.span(), _wikilink(match)) for match in _iter_wikilinks(masked)]
    rest = _ESCAPE.sub("\0\0", _WIKILINK.sub(_blank_match, masked))
    for match in _MARKDOWN_LINK.finditer(rest):
        link = _markdown_link(match, body)
        if link:
            found.append((*match.span(), link))
    found.sort(key=lambda place: place[0])
    return found


def find_property_links(properties: Mapping[str, Any]) -> tuple[Link, ...]:
    """Return the links in ``properties`` in order: texts, in lists and mappings too, that are one wikilink as a whole.

    Markdown links and a wikilink amid other words are plain text to Obsidian there.
    """
    found = []
    for name, value in properties.items():
        for text in _iter_texts(value):
            match = _PROPERTY_LINK.fullmatch(text.strip()) if "[[" in text else None
            if match:
                link = _wikilink(match)
                found.append(Link(link.target, link.subpath, link.alias, link.embed, 0, name))
    return tuple(found)


def list_superseded(record: Record) -> tuple[Link, ...]:
    """Return the links in ``supersedes`` of ``record``, in order: to what it replaces."""
    return find_property_links({"supersedes": list(record.supersedes)})


def find_tags(body: str) -> tuple[str, ...]:
    """Return the inline tags of ``body`` without ``#``, each once, as first written and in that order."""
    # Most notes have headings and no tags. What is blanked below can end a tag, but begins none.
    if "#" not in body or not _INLINE_TAG.search(body):
        return ()
    masked = _WIKILINK.sub(_blank_match, mask_code(body))
    tags = (parse_tag(match[1]) for match in _INLINE_TAG.finditer(masked))
    return unique_tags(tag for tag in tags if tag)


@functools.lru_cache(maxsize=4096)
def parse_tag(text: str) -> str | None:
    """Return ``text`` as a tag, without a leading ``#``, or ``None`` where Obsidian sees none (``2024``, ``a b``)."""
    tag = text.removeprefix("#").rstrip("/")
    return tag if _TAG.fullmatch(tag) and tag.strip("0123456789") else None


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return ``tags`` with each once, case aside, as first written."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(tag.casefold(), tag)
    return tuple(first.values())


def _blank_match(match: re.Match[str]) -> str:
    return blank(match[0])


def _iter_wikilinks(masked: str) -> Iterator[re.Match[str]]:
    for match in _WIKILINK.finditer(masked):
        first = start = match.start("inner") - 2
        while first and masked[first - 1] == "\\":
            first -= 1
        if (start - first) % 2 == 0:
            yield match


def _wikilink(match: re.Match[str]) -> Link:
    inner = match["inner"].replace("\\|", "|")
    bar = inner.find("|", 1)
    path, alias = (inner, None) if bar < 0 else (inner[:bar], inner[bar + 1 :].strip())
    target, mark, rest = path.strip().partition("#")
    return Link(target.strip(), mark + rest, alias, bool(match["embed"]))


def _markdown_link(match: re.Match[str], body: str) -> Link | None:
    address = match["angled"] if match["angled"] is not None else match["bare"]
    if not address or _SCHEME.match(address):
        return None
    from urllib.parse import unquote  # reading a record needs this module, but not that one

    target, mark, rest = address.partition("#")
    alias = body[match.start("text") : match.end("text")]
    return Link(unquote(target), mark + unquote(rest), alias, bool(match["embed"]))


def _at_line(link: Link, line: int) -> Link:
    return Link(link.target, link.subpath, link.alias, link.embed, line, link.source)


def _iter_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _iter_texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _iter_texts(item)

"""Notes that are no records: a person's notes without ``gitmem_id``, and files whose frontmatter can't be trusted."""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.values import dataclass
from gitmem.vault.frontmatter import parse_note
from gitmem.vault.markdown import find_links, find_property_links
from gitmem.vault.note_text import decode
from gitmem.vault.private import may_be_private


@dataclass(frozen=True)
class PlainNote:
    """What can be said of such a note: its name, all of its text, where its links lead.

    ``is_private`` is what ``may_be_private`` says of it.
    """

    title: str
    text: str
    links: tuple[str, ...]
    is_private: bool


def parse_plain_note(path: str, data: bytes) -> PlainNote | None:
    """Return the note in ``data``, ``None`` where it is no text. Pure. Links only of what reads well."""
    try:
        text = decode(data).removeprefix("\ufeff")
    except InputError:
        return None
    note = parse_note(data)
    links = () if note.problem else (*find_property_links(note.properties), *find_links(note.body))
    targets = dict.fromkeys(link.target for link in links if link.target)
    return PlainNote(path.rpartition("/")[2].removesuffix(".md"), text, tuple(targets), may_be_private(data))

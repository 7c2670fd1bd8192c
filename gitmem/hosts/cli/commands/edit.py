"""``gitmem edit``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.complete import complete_records
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.keeping import keep_typed
from gitmem.hosts.cli.options import (
    body_options,
    clean_tags,
    op_id_option,
    read_body,
    tag_option,
    text,
    text_option,
    wants_editor,
)
from gitmem.hosts.cli.preview import Preview, get_shown, preview_record, with_asked
from gitmem.hosts.cli.writing import write_and_say
from gitmem.service.memory import Memory

if TYPE_CHECKING:
    from gitmem.service.edit import RecordEdit

_CHANGES = ("title", "body", "body_file", "summary", "settings", "add_tags", "remove_tags")
_EFFECT = "changes the record as said here, in place, in one commit"


@verb(
    "edit",
    """
gitmem edit m7k2q9x4c0de --summary "Two workers; three exhaust the database"
gitmem edit m7k2q9 --add-tag tool/pytest --remove-tag old --set review_after=2027-03-01
gitmem edit m7k2q9 --set review_after=      (drops the property)
gitmem edit m7k2q9 --editor
""",
)
@click.argument("ref", metavar="ID", type=text, shell_complete=complete_records)
@text_option("--title", help="A new title; the file keeps its name.")
@text_option("--summary", help="A new summary.")
@body_options
@click.option(
    "--set",
    "settings",
    type=text,
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a property, or drop it (NAME=). Repeated for one name, it becomes a list.",
)
@tag_option("--add-tag", "add_tags", help="May be repeated.")
@tag_option("--remove-tag", "remove_tags", help="May be repeated.")
@op_id_option
@pass_call
def command(call: Call, /, ref: str, **values: Any) -> int:
    """Change a record's properties or text in place.

    ID is an id, the beginning of one, a key or a path. Only the lines of what changes are rewritten, and committed.
    Unless it is the agent's own unreviewed observation, a person has to confirm it at the terminal.
    """
    from gitmem.service.edit import RecordEdit

    op_id, use_editor = values["op_id"], wants_editor(values)
    if not use_editor and all(values[name] in (None, ()) for name in _CHANGES):
        raise click.UsageError("nothing to change was given", click.get_current_context())
    with call.open_memory() as memory:
        to_edit = get_shown(memory.show(ref)).body.strip("\r\n") if use_editor else None
        text = read_body(call, values["body"], values["body_file"], to_edit)
        wanted = RecordEdit(
            title=values["title"],
            body=text,
            summary=values["summary"],
            properties=parse_settings(values["settings"]),
            add_tags=clean_tags(values["add_tags"]),
            remove_tags=clean_tags(values["remove_tags"]),
        )
        with keep_typed(call, memory.vault, text if use_editor else None):
            return write_and_say(
                call,
                lambda actor: memory.edit(ref, wanted, actor, op_id),
                lambda: _preview(memory, ref, wanted),
                stdin_is_used=values["body_file"] == "-",
            )


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Return ``NAME=VALUE`` texts as properties: a text, a list where a name is repeated, ``None`` to drop it.

    A usage error for a text without ``=`` or a name.
    """
    found: dict[str, list[str]] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--set takes NAME=VALUE, not {setting!r}")
        found.setdefault(name.strip(), []).append(value)
    return {
        name: None if values == [""] else values[0] if len(values) == 1 else values for name, values in found.items()
    }


def _preview(memory: Memory, ref: str, wanted: RecordEdit) -> Preview:
    facts = {
        "new title": wanted.title,
        "new summary": wanted.summary,
        **{f"set {name}": "(dropped)" if value is None else str(value) for name, value in wanted.properties.items()},
        "add tags": ", ".join(wanted.add_tags) or None,
        "remove tags": ", ".join(wanted.remove_tags) or None,
    }
    given = [(name, value) for name, value in facts.items() if value is not None]
    texts = [] if wanted.body is None else [("new text", wanted.body.strip("\n"))]
    return with_asked(preview_record(memory, "edit", ref, _EFFECT), given, texts)

"""Options that several verbs share, and what their values mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from gitmem.errors import InputError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.complete import complete_records, complete_tags
from gitmem.model.authority import Authority
from gitmem.model.ids import parse_op_id
from gitmem.model.record import MAX_DRAFT_FILE_BYTES, MAX_DRAFT_LINE_BYTES, MAX_DRAFTS, Draft, Kind, State
from gitmem.service.query import Filters
from gitmem.text import shorten

MAX_BODY_BYTES = 4 << 20
"""How much of a body file is read at all; policy allows less."""
_OF_ONE = ("title", "body", "body_file", "editor", "edit", "kind", "summary", "tags", "evidence", "key")
"""What describes one record, and so can't stand beside a file of records."""
_MAX_SHOWN_CHARS = 200
KINDS = [kind.value for kind in Kind]
STATES = [state.value for state in State]
AUTHORITIES = [authority.value for authority in Authority]
Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


def text(value: str) -> str:
    """Return ``value``; a usage error for bytes of the command line that are not UTF-8."""
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise click.BadParameter("it is not valid UTF-8")
    return value


def text_option(*names: str, help: str, multiple: bool = False) -> Decorator:  # noqa: A002 - click's
    """Return the decorator for an option that takes text, again and again if ``multiple``."""
    return click.option(*names, type=text, multiple=multiple, help=help)


def tag_option(*names: str, help: str) -> Decorator:  # noqa: A002 - click's
    """Return the decorator for an option that takes tags, again and again."""
    return click.option(*names, type=text, multiple=True, help=help, shell_complete=complete_tags)


def op_id_option(function: Function) -> Function:
    """Add ``--op-id``."""
    help_text = "Name the operation: asked again under this id, it gives the same answer and is not done twice."
    return click.option("--op-id", type=parse_op_id, metavar="ID", help=help_text)(function)


def body_options(function: Function) -> Function:
    """Add the three ways to give a text: ``--body``, ``--body-file`` and ``--editor``, also known as ``--edit``."""
    options = [
        text_option("--body", help="The text, in Markdown."),
        click.option("--body-file", metavar="FILE|-", help="Read the text from FILE, or from standard input."),
        click.option("--editor", is_flag=True, help="Write the text in $VISUAL or $EDITOR."),
        click.option("--edit", is_flag=True, hidden=True),
    ]
    return _stack(function, options)


def wants_editor(values: dict[str, Any]) -> bool:
    """Tell whether the options of ``body_options`` ask for the editor, by either name."""
    return bool(values["editor"] or values["edit"])


def draft_options(kinds: list[str]) -> Decorator:
    """Return the decorator for everything that describes a new record, or a file of them.

    ``read_draft`` takes the values for one, ``read_drafts`` for a file.
    """
    options = [
        click.argument("title", metavar="TITLE", type=text, required=False),
        click.option(
            "--from",
            "from_file",
            metavar="FILE.jsonl|-",
            help="Write the records that FILE describes, one JSON object a line, in one operation. Names: title, body, "
            f"kind, summary, tags, evidence, key. At most {MAX_DRAFTS:,} records, {MAX_DRAFT_LINE_BYTES >> 20} MiB a "
            f"line, {MAX_DRAFT_FILE_BYTES >> 20} MiB in all.",
        ),
        body_options,
        click.option("--kind", type=click.Choice(kinds), help="What it is about."),
        text_option("--summary", help="One line that tells a reader whether to open it; else taken from the text."),
        tag_option("--tag", "tags", help="A tag like tool/pytest. May be repeated."),
        text_option("--evidence", multiple=True, help="commit:…, file:…#L…, run:… or url:…. May be repeated."),
        text_option("--key", help="A name by which the record is found exactly, unique in the vault."),
        op_id_option,
    ]
    return lambda function: _stack(function, options)


def _keep_strict(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        ctx.ensure_object(Call).strict = True


def filter_options(function: Function) -> Function:
    """Add the filters that all reading verbs share; ``read_filters`` takes the values."""
    options = [
        tag_option("--tag", "tags", help="Only with this tag or one below it. May be repeated: all of them."),
        tag_option("--any-tag", "any_tags", help="Only with this tag or one below it. May be repeated: one is enough."),
        _choice_option("--kind", "kinds", KINDS, "Only of this kind."),
        _choice_option("--state", "states", STATES, "Only in this state; retired records only when asked for."),
        _choice_option("--authority", "authorities", AUTHORITIES, "Only with this authority."),
        text_option(
            "--since", help="Only updated, or else created, then or later: 2026-11, 2026-11-30, yesterday, 2w."
        ),
        text_option("--until", help="Only updated, or else created, by then, that day or month included."),
        text_option(
            "--path", "paths", multiple=True, help="Only below this folder of the vault, or like 'promoted/*git*'."
        ),
        click.option("--verified/--not-verified", default=None, help="Only what has been verified, or has not."),
        click.option(
            "--has-link-to",
            "links_to",
            metavar="ID|NAME",
            type=text,
            multiple=True,
            shell_complete=complete_records,
            help="Only what links to this record (id, key, path) or file (name). May be repeated: all of them.",
        ),
        click.option(
            "--strict",
            is_flag=True,
            expose_value=False,
            callback=_keep_strict,
            help="Look at every note of a vault of more than 20,000, also for edits made in place just now.",
        ),
    ]
    return _stack(function, options)


def as_of_option(function: Function) -> Function:
    """Add ``--as-of``."""
    help_text = "Answer from an earlier commit: a date (2026-11-30, 2w), an operation, a commit, a branch, HEAD~3."
    return click.option("--as-of", type=text, metavar="DATE|REV", help=help_text)(function)


def read_drafts(call: Call, values: dict[str, Any]) -> tuple[list[int], list[Draft]]:
    """Return the lines of the file that ``--from`` names, or of standard input, and the draft on each. Reads.

    A usage error where the command line describes a record, too. Raises ``InputError`` (``no-such-file`` and what
    ``draft_lines.parse_drafts`` raises).
    """
    from gitmem.service.draft_lines import parse_drafts

    given = [name for name in _OF_ONE if values[name] not in (None, (), False)]
    if given:
        shown = {"title": "TITLE", "tags": "--tag", "edit": "--editor"}.get(given[0], f"--{given[0].replace('_', '-')}")
        raise click.UsageError(f"with --from the file says everything; leave {shown} out", click.get_current_context())
    return parse_drafts(read_file(call, values["from_file"], MAX_DRAFT_FILE_BYTES + 1))


def require(*names: str) -> None:
    """Raise click's usage error for the first parameter of ``names`` that was not given."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in names and context.params.get(parameter.name) is None:
            raise click.MissingParameter(ctx=context, param=parameter)


def read_draft(call: Call, title: str, values: dict[str, Any]) -> Draft:
    """Return the draft that the options of ``draft_options`` describe. May read a file or start the editor."""
    body = read_body(call, values["body"], values["body_file"], "" if wants_editor(values) else None)
    return Draft(
        title=title,
        body=body or "",
        kind=Kind(values["kind"]) if values["kind"] else None,
        summary=values["summary"] or "",
        tags=clean_tags(values["tags"]),
        evidence=tuple(values["evidence"]),
        key=values["key"],
    )


def read_filters(values: dict[str, Any]) -> Filters:
    """Return the filters that the options of ``filter_options`` describe; other ``values`` are passed over."""
    return Filters(
        states=tuple(map(State, values["states"])),
        kinds=tuple(map(Kind, values["kinds"])),
        tags=clean_tags(values["tags"]),
        any_tags=clean_tags(values["any_tags"]),
        authorities=tuple(map(Authority, values["authorities"])),
        since=values["since"],
        until=values["until"],
        paths=values["paths"],
        verified=values["verified"],
        links_to=values["links_to"],
    )


def read_body(call: Call, body: str | None, body_file: str | None, to_edit: str | None) -> str | None:
    """Return the text that was given in one of the three ways, ``None`` when it was not.

    ``to_edit`` is what the editor starts with, ``None`` when none is wanted. A usage error for more than one way;
    raises ``InputError`` (``not-utf8``, ``body-too-long``, ``no-such-file``, ``empty-text``).
    """
    if sum(value is not None for value in (body, body_file, to_edit)) > 1:
        raise click.UsageError("give the text in one way only: --body, --body-file or the editor")
    if to_edit is not None:
        from gitmem.hosts.cli.editor import edit_text

        return edit_text(call.environment.editor, to_edit)
    if body_file is None:
        return body
    name = "standard input" if body_file == "-" else body_file
    return _decode(read_file(call, body_file, MAX_BODY_BYTES + 1), name)


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return tags as properties hold them, without the ``#`` that they have in a text."""
    return tuple(tag.removeprefix("#") for tag in tags)


def read_file(call: Call, file: str, max_bytes: int) -> bytes:
    """Return the first ``max_bytes`` of ``file``, or of standard input for ``-``.

    Raises ``InputError`` (``file-unreadable``, ``no-such-file``).
    """
    if file == "-":
        return sys.stdin.buffer.read(max_bytes)
    try:
        with open(os.path.join(call.environment.folder, file), "rb") as opened:
            return opened.read(max_bytes)
    except PermissionError:
        raise InputError("file-unreadable", f"{_show(file)} can't be read", "Give yourself read permission.") from None
    except OSError as error:
        reason = error.strerror or "it can't be read"
        message = f"{_show(file)} is not a file to read: {reason}"
        raise InputError("no-such-file", message, "Name the file that holds the text.") from None


def _choice_option(name: str, parameter: str, choices: list[str], help: str) -> Decorator:  # noqa: A002 - click's
    return click.option(name, parameter, type=click.Choice(choices), multiple=True, help=help)


def _show(file: str) -> str:
    return repr(shorten(file, _MAX_SHOWN_CHARS))


def _decode(data: bytes, name: str) -> str:
    if len(data) > MAX_BODY_BYTES:
        raise InputError("body-too-long", f"{name} is larger than {MAX_BODY_BYTES >> 20} MiB", "Keep what matters.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not-utf8", f"{name} is not valid UTF-8", "Save it as UTF-8 and try again.") from None


def _stack(function: Function, options: Sequence[Decorator]) -> Function:
    decorated = function
    for option in reversed(options):
        decorated = option(decorated)
    return decorated

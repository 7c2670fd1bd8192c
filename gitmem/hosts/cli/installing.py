"""What ``gitmem install`` and ``gitmem uninstall`` share: show the whole change, ask, make it, and say so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

import click

from gitmem.errors import PolicyError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.plain import count
from gitmem.hosts.cli.terminal import discard_typed, find_terminal, read_line
from gitmem.hosts.install.around import InstallScope
from gitmem.hosts.install.installing import carry_out, prepare
from gitmem.hosts.install.plan import FileEdit, Plan
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import new_op_id
from gitmem.text import make_visible

_MAX_ANSWER_BYTES = 1024
_NO_END = "\\ no line end at the end of the file"
_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True)
class Asked:
    """What the command line says: the verb, which host, for whom, whether it is agreed to, whether only to look."""

    verb: str
    host: str
    scope: InstallScope
    agreed: bool
    dry_run: bool


def run_plan(call: Call, asked: Asked) -> int:
    """Show what would change, have it agreed to, carry it out and print what was done; return the exit code 0.

    Raises ``PolicyError`` (``needs-human`` where nobody can be asked, ``not-confirmed``) and what ``prepare`` and
    ``carry_out`` raise; nothing is changed then.
    """
    plan = prepare(call.environment, asked.host, asked.scope, takes_away=asked.verb == "uninstall")
    files = tell_edits(plan.edits)
    changes = bool(plan.edits) and not asked.dry_run
    if changes:
        _agree(call, asked, files)
        carry_out(call.environment, plan)
    elif plan.edits:
        call.print_text(format_files(files))
    elif asked.verb == "uninstall" and not asked.dry_run:
        carry_out(call.environment, plan)  # somebody else took it away: there is nothing to remember any more
    document = _document(asked, plan, files) | {"changed": changes}
    call.print_result(document, _format_end(asked, plan, files))
    return 0


def tell_edits(edits: Sequence[FileEdit]) -> list[dict[str, Any]]:
    """Return of each edit its file, what is done to it and the difference, without secrets that stand in the file."""
    return _mask([_tell_file(edit) for edit in edits])


def format_files(files: list[dict[str, Any]]) -> str:
    """Return every file with how it changes, fit to be shown."""
    lines = []
    for file in files:
        lines.append(click.style(f"{file['action']} {safe_line(file['path'])}", bold=True))
        lines += [click.style(line, fg=_COLORS.get(line[:1])) for line in map(make_visible, file["diff"])]
    return "\n".join([*lines, ""])


def _agree(call: Call, asked: Asked, files: list[dict[str, Any]]) -> None:
    shown = format_files(files)
    if asked.agreed:
        call.print_text(shown)
        return
    terminal = find_terminal(call)
    if terminal is None:
        call.print_text(shown)
        hint = "Look at them, with --dry-run --json as a program, and run it at a terminal or with --yes."
        raise PolicyError("needs-human", f"nothing was changed: {count(len(files), 'file')} would be", hint)
    terminal.show(shown if call.paints(terminal.screen) else click.unstyle(shown))
    discard_typed(terminal.keys)
    terminal.show(f"Change {count(len(files), 'file')}? [y/N] ", ends="")
    answer = read_line(terminal.keys, _MAX_ANSWER_BYTES).decode(errors="replace")
    if answer.strip().lower() not in ("y", "yes"):
        raise PolicyError("not-confirmed", "nothing was changed", "Answer y to have it done.")


def _tell_file(edit: FileEdit) -> dict[str, Any]:
    action = "make" if edit.before is None else "remove" if edit.after is None else "change"
    before, after = (_lines(data) for data in (edit.before, edit.after))
    diff = unified_diff(before, after, edit.path, edit.path, lineterm="")
    return {"path": edit.path, "target": edit.target, "action": action, "diff": list(diff)[2:]}


def _lines(data: bytes | None) -> list[str]:
    lines = [line.removesuffix("\r") for line in (data or b"").decode(errors="replace").split("\n")]
    return [*lines[:-1], *([lines[-1], _NO_END] if lines[-1] else [])]


def _mask(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return ``files`` without secrets of their neighbourhood: tokens of other servers stand in the same files."""
    from gitmem.service.masked import tell_masked

    return list(tell_masked(lambda: Answer(Status.OK, None, rows=tuple(files))).rows)


def _document(asked: Asked, plan: Plan, files: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "ok": True,
        "op": asked.verb,
        "op_id": new_op_id(),
        "commit": None,
        "changed": False,
        "records": [],
        "notices": list(plan.notices),
        "host": asked.host,
        "install_scope": asked.scope.value,
        "project": plan.kept.project or None,
        "dry_run": asked.dry_run,
        "files": files,
    }


def _format_end(asked: Asked, plan: Plan, files: list[dict[str, Any]]) -> str:
    where = f"the project {os.path.basename(plan.kept.project)}" if plan.kept.project else "you, in all projects"
    head = f"{asked.verb}: {asked.host} for {safe_line(where)}: "
    if not files:
        head += "nothing to do"
    elif asked.dry_run:
        head += f"{count(len(files), 'file')} to change; nothing was changed"
    else:
        head += f"{count(len(files), 'file')} changed"
    return "\n".join([head, *(f"notice: {safe_line(notice)}" for notice in plan.notices)])

"""``gitmem export claude-plugin``: write the folder, and say how Claude Code takes it."""

from __future__ import annotations

import os
import shlex
from typing import Any

from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.installing import format_files, tell_edits
from gitmem.hosts.cli.plain import count
from gitmem.hosts.install.apply import apply_edits
from gitmem.hosts.install.around import InstallScope
from gitmem.hosts.install.claude_plugin import plan_plugin
from gitmem.hosts.install.hosts import look_around
from gitmem.model.ids import new_op_id


def export_plugin(call: Call, named: str, *, dry_run: bool) -> int:
    """Bring the folder ``named`` to hold the plugin and print what was done; return the exit code 0.

    Raises what ``plan_plugin`` and ``apply_edits`` raise; then nothing is changed.
    """
    folder = os.path.abspath(os.path.join(call.environment.folder, os.path.expanduser(named)))
    edits = plan_plugin(folder, look_around(call.environment, InstallScope.USER))
    files = tell_edits(edits)
    if dry_run and files:
        call.print_text(format_files(files))
    elif edits:
        apply_edits(edits)
    document: dict[str, Any] = {
        "ok": True,
        "op": "export",
        "op_id": new_op_id(),
        "commit": None,
        "changed": bool(edits) and not dry_run,
        "records": [],
        "notices": [],
        "folder": folder,
        "dry_run": dry_run,
        "files": files,
    }
    call.print_result(document, _format(folder, len(files), dry_run=dry_run))
    return 0


def _format(folder: str, files: int, *, dry_run: bool) -> str:
    shown = safe_line(folder)
    if dry_run:
        return f"{shown}: {count(files, 'file')} to write; nothing was written"
    done = f"{count(files, 'file')} written" if files else "it is up to date"
    return "\n".join(
        [
            f"{shown}: {done}",
            f"for good         claude plugin marketplace add {safe_line(shlex.quote(folder))}",
            "                 claude plugin install gitmem@gitmem",
            f"for one session  claude --plugin-dir {safe_line(shlex.quote(folder))}",
        ]
    )

"""A person's own editor on a temporary file; the only place that starts another program."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile

from gitmem.errors import InputError, UnavailableError

_CUT = "<!-- gitmem:"
_ADVICE = f"""\
{_CUT} write the text above this line. From here on everything is dropped.
     An empty text writes nothing. -->
"""


def edit_text(editor: str, text: str) -> str:
    """Return ``text`` as the person left it in ``editor`` (a command line), without gitmem's advice below it.

    The temporary file is private and removed. Raises ``InputError`` (``empty-text``) when nothing was left, and
    ``UnavailableError`` (``editor-failed``).
    """
    with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:
        file = os.path.join(folder, "record.md")
        with open(file, "w", encoding="utf-8", newline="") as draft:
            draft.write(f"{text.rstrip()}\n\n{_ADVICE}")
        _start(editor, file)
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as draft:
            left = draft.read()
    body = left.rpartition(_CUT)[0].rstrip() if _CUT in left else left.rstrip()
    if not body.strip():
        raise InputError("empty-text", "the text was left empty; nothing was written", "Write something and save it.")
    return body.lstrip("\n") + "\n"


def _start(editor: str, file: str) -> None:
    try:
        words = shlex.split(editor)
        code = subprocess.run([*words, file], check=False).returncode
    except (OSError, ValueError) as error:
        reason = f"can't be started: {error}"
    else:
        if code == 0:
            return
        reason = f"ended with code {code}"
    raise UnavailableError(
        "editor-failed", f"the editor {editor!r} {reason}", "Set VISUAL or EDITOR, or give the text with --body."
    )

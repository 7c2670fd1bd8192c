"""What a person is shown of an edit before it is committed."""

from __future__ import annotations

import difflib

from gitmem.policy.secrets import redact


def describe_edit(old: bytes | None, data: bytes | None) -> str:
    """Return what a person should see of an edit, secrets masked: the whole text, or the lines that differ.

    The whole new text where there is no old one, where it is gone, or where the two are equal.
    """
    before, after = (redact((one or b"").decode("utf-8", "backslashreplace")) for one in (old, data))
    if old is None or data is None or old == data:
        return after
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return "\n".join(list(lines)[2:])

"""Names that look like a property that decides what may be done with a record, but are not it."""

from __future__ import annotations

import functools
import unicodedata

_PROTECTED = {"gitmemid": "gitmem_id", "authority": "authority", "private": "private"}

# Cyrillic, Greek and Armenian letters and digits drawn like a letter that occurs in a protected name.
_TWINS = str.maketrans(
    "аᴀαіıιіӏ1lіеэєоοօ0рρтτтυцսуүγуԁгɡցԍнһհνѵмԛᴠ",
    "aaaiiiiiiiieeeoooopptttuuuyyyydrgggnhhvvmqv",
)


@functools.lru_cache(maxsize=4096)
def find_lookalike(name: str) -> str | None:
    """Return the protected property that ``name`` could be taken for without being it, else ``None``.

    The protected ones are ``gitmem_id``, ``authority`` and ``private``; case, blanks, marks, separators and letters of
    other scripts drawn alike count as looking alike. A person's ``Tags`` or ``Title`` stays theirs.
    """
    seen = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(char for char in seen if char.isalnum()).translate(_TWINS)
    protected = _PROTECTED.get(letters)
    return protected if protected != name else None

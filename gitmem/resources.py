"""The text files that ship with gitmem: templates and schemas.

In a wheel they lie inside the package; in a checkout (an editable install) they lie beside it.
"""

from __future__ import annotations

import functools

from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@functools.cache
def folder(name: str) -> Path:
    """Return the folder ``name`` (``templates`` or ``schema``) as shipped. Reads nothing but its existence."""
    from pathlib import Path

    package = Path(__file__).parent
    shipped = package / "_data" / name
    return shipped if shipped.is_dir() else package.parent / name


def read_text(name: str, file: str) -> str:
    """Return the text of ``file`` in the shipped folder ``name``. Raises ``FileNotFoundError`` if it isn't shipped."""
    return (folder(name) / file).read_text(encoding="utf-8")

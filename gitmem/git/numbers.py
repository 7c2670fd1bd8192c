"""Tables of big-endian numbers, as Git's files hold them, read at once. Pure."""

from __future__ import annotations

import sys
from array import array


def unpack_numbers(form: str, data: bytes) -> array[int]:
    """Return the numbers in ``data``: 32 bits each for the ``form`` ``"I"``, 64 for ``"Q"``.

    Raises ``ValueError`` where the last one is cut short.
    """
    numbers = array(form, data)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers

"""Deltas as Git's packs hold them: how to make one object's bytes from another's. Pure.

Made for neighbours in the history of one path, of which most is the same: what is common at both ends is copied, and
between the ends whole lines are looked for.
"""

from __future__ import annotations

from collections.abc import Iterator

_MAX_COPY = 0xFFFFFF
_MAX_INSERT = 127
_MIN_COPY = 16
Step = tuple[int, int] | bytes
"""Copy (offset, length) of the base, or insert these bytes."""


def make_delta(base: bytes, target: bytes) -> bytes:
    """Return the delta that makes ``target`` from ``base``, in Git's form; seldom larger than ``target``."""
    out = bytearray(_format_size(len(base)) + _format_size(len(target)))
    for step in _join(_plan(base, target)):
        out += _format_insert(step) if isinstance(step, bytes) else _format_copy(*step)
    return bytes(out)


def _plan(base: bytes, target: bytes) -> Iterator[Step]:
    head = _common_start(base, target)
    tail = _common_end(base, target, min(len(base), len(target)) - head)
    yield (0, head)
    yield from _match_lines(base[head : len(base) - tail], target[head : len(target) - tail], head)
    yield (len(base) - tail, tail)


def _match_lines(base: bytes, target: bytes, base_at: int) -> Iterator[Step]:
    """Yield how ``target`` is made from the lines of ``base``, which lies at ``base_at`` of the whole base."""
    if len(base) < _MIN_COPY or len(target) < _MIN_COPY:
        yield target
        return
    known: dict[bytes, int] = {}
    at = base_at
    for line in base.splitlines(keepends=True):
        known.setdefault(line, at)
        at += len(line)
    for line in target.splitlines(keepends=True):
        found = known.get(line) if len(line) >= _MIN_COPY else None
        yield line if found is None else (found, len(line))


def _join(steps: Iterator[Step]) -> Iterator[Step]:
    """Yield ``steps`` with neighbours made one and empty ones left out."""
    last: Step = b""
    for step in steps:
        if isinstance(last, bytes) and isinstance(step, bytes):
            last += step
        elif isinstance(last, tuple) and isinstance(step, tuple) and sum(last) == step[0]:
            last = (last[0], last[1] + step[1])
        else:
            yield from _non_empty(last)
            last = step
    yield from _non_empty(last)


def _non_empty(step: Step) -> Iterator[Step]:
    if (isinstance(step, bytes) and step) or (isinstance(step, tuple) and step[1]):
        yield step


def _common_start(one: bytes, two: bytes) -> int:
    same, different = 0, min(len(one), len(two)) + 1
    while different - same > 1:
        middle = (same + different) // 2
        if one[same:middle] == two[same:middle]:
            same = middle
        else:
            different = middle
    return same


def _common_end(one: bytes, two: bytes, most: int) -> int:
    same, different = 0, most + 1
    while different - same > 1:
        middle = (same + different) // 2
        if one[len(one) - middle : len(one) - same] == two[len(two) - middle : len(two) - same]:
            same = middle
        else:
            different = middle
    return same


def _format_size(size: int) -> bytes:
    out = bytearray()
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out)


def _format_insert(data: bytes) -> bytes:
    parts = (data[at : at + _MAX_INSERT] for at in range(0, len(data), _MAX_INSERT))
    return b"".join(bytes((len(part),)) + part for part in parts)


def _format_copy(offset: int, length: int) -> bytes:
    out = bytearray()
    while length:
        part = min(length, _MAX_COPY)
        numbers = offset.to_bytes(4, "little") + part.to_bytes(3, "little")
        out.append(0x80 | sum(1 << bit for bit, number in enumerate(numbers) if number))
        out += bytes(number for number in numbers if number)
        offset, length = offset + part, length - part
    return bytes(out)


def apply_delta(base: bytes, delta: bytes, max_bytes: int) -> bytes:
    """Return what ``delta`` makes of ``base``. Raises ``ValueError`` and ``IndexError`` for one that is not of it.

    Also for a result of more than ``max_bytes``.
    """
    base_size, at = _parse_size(delta, 0)
    size, at = _parse_size(delta, at)
    if base_size != len(base) or size > max_bytes:
        raise ValueError("a delta of something else")
    parts: list[bytes] = []
    while at < len(delta):
        code = delta[at]
        at += 1
        if not code:
            raise ValueError("a step that Git does not know")
        if not code & 0x80:
            parts.append(delta[at : at + code])
            at += code
            continue
        numbers = bytearray(7)
        for bit in range(7):
            if code >> bit & 1:
                numbers[bit] = delta[at]
                at += 1
        offset, length = int.from_bytes(numbers[:4], "little"), int.from_bytes(numbers[4:], "little") or 0x10000
        parts.append(base[offset : offset + length])
    data = b"".join(parts)
    if len(data) != size or at != len(delta):
        raise ValueError("a delta that is torn")
    return data


def _parse_size(data: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return size, at
        shift += 7

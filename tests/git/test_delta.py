"""Deltas give back what they were made from, whatever the two versions are."""

import random

import pytest

from gitmem.git.delta import make_delta


def apply(base: bytes, delta: bytes) -> bytes:
    """Make the target as gitpack-format says, written here a second time so that a mistake isn't made twice."""
    sizes, at = [], 0
    for _ in range(2):
        size = shift = 0
        while True:
            byte, at = delta[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        sizes.append(size)
    assert sizes[0] == len(base)
    out = b""
    while at < len(delta):
        op, at = delta[at], at + 1
        assert op, "reserved"
        if op < 128:
            out, at = out + delta[at : at + op], at + op
            continue
        numbers = []
        for bit in range(7):
            present = op >> bit & 1
            numbers.append(delta[at] if present else 0)
            at += present
        offset, length = int.from_bytes(bytes(numbers[:4]), "little"), int.from_bytes(bytes(numbers[4:]), "little")
        length = length or 0x10000
        assert offset + length <= len(base)
        out += base[offset : offset + length]
    assert len(out) == sizes[1]
    return out


LINES = [b"line %d of a catalog that is sorted\n" % number for number in range(400)]
BASE = b"".join(LINES)


@pytest.mark.parametrize(
    ("base", "target"),
    [
        (b"", b""),
        (b"", b"something"),
        (b"something", b""),
        (b"same", b"same"),
        (b"aaaa", b"aaaaaa"),
        (b"aaaaaa", b"aaaa"),
        (b"start end", b"start middle end"),
        (BASE, BASE.replace(b"line 7 ", b"LINE 7 ")),
        (BASE, b"".join([*LINES[:50], b"new\n", *LINES[50:200], *LINES[210:]])),
        (BASE, b"".join(reversed(LINES))),
        (BASE, bytes(300)),
        (bytes(0x30000), bytes(0x10000)),
        (bytes(0x1000001), bytes(0x1000001) + b"x"),
    ],
)
def test_a_delta_gives_the_target(base: bytes, target: bytes) -> None:
    assert apply(base, make_delta(base, target)) == target


def test_a_delta_gives_the_target_of_random_edits() -> None:
    source = random.Random(13)
    for _ in range(200):
        data = [source.randbytes(source.randrange(40)) + source.choice((b"", b"\n")) for _ in range(60)]
        edited = list(data)
        for _ in range(source.randrange(6)):
            at = source.randrange(len(edited))
            edited[at : at + source.randrange(4)] = [source.randbytes(9), *source.sample(data, 2)]
        base, target = b"".join(data), b"".join(edited)
        assert apply(base, make_delta(base, target)) == target


def test_a_line_more_costs_little_more_than_the_line() -> None:
    target = b"".join([*LINES[:200], b"one more line\n", *LINES[200:390], b"and another\n", *LINES[390:]])
    assert len(make_delta(BASE, target)) < 100

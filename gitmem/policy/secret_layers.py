"""What a text holds in another dress: base64, percent-encoding, a token broken by a line end, cells below a heading.

Pure. Each layer gives the place in the text and what is readable there; nothing is guessed beyond that.
"""

from __future__ import annotations

import base64
import binascii
import re
import urllib.parse
from collections.abc import Iterator

from gitmem.patterns import late
from gitmem.typed import NamedTuple

MAX_DECODED = 1 << 20
"""How many characters of a text are decoded in all, so that a long text costs no more than its length."""


class Layer(NamedTuple):
    """Readable text that stands at ``start`` to ``end`` of another in the dress ``name``.

    ``alone`` is the part of it that can be read without taking the dress off.
    """

    start: int
    end: int
    text: str
    name: str
    alone: str = ""


_BASE64 = late(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_PERCENT = late(r"[\w.~%+&=:/@!-]{3,}", re.ASCII)
_ENCODED = late(r"%[0-9A-Fa-f]{2}")
_TOKEN_STARTS = (
    *(
        "gh[pousr]_",
        "github_pat_",
        "gl(?:pat|dt|rt)-",
        "AKIA",
        "ASIA",
        "xox[abps]-",
        "sk-",
        "[sr]k_live_",
        "npm_",
        "pypi-",
    ),
    *("hf_", "AIza", "ya29\\.", "SG\\.", "hvs\\.", "dop_v1_", "dckr_pat_", "shpat_", "eyJ"),
)
_SPLIT = late(
    rf"(?<![\w-])(?P<head>(?:{'|'.join(_TOKEN_STARTS)})[\w.+/=-]{{0,400}})\\?\r?\n[ \t>|]{{0,16}}"
    r"(?P<tail>[\w.+/=-]{1,400})"
)
_ROW = late(r"^[ \t>]*\|.*\|[ \t\r]*$", re.MULTILINE)
_RULE = late(r"[ \t>]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t\r]*")


def iter_layers(text: str) -> Iterator[Layer]:
    """Yield what is readable in ``text`` in base64, percent-encoding, or joined over a line end, in no order."""
    left = MAX_DECODED
    for layer in (*_iter_base64(text), *_iter_percent(text), *_iter_split(text)):
        left -= len(layer.text)
        if left < 0:
            return
        yield layer


def iter_cells(text: str, heading: re.Pattern[str]) -> Iterator[Layer]:
    """Yield the cells of Markdown tables that stand below a heading which ``heading`` finds."""
    columns: list[int] = []
    before: re.Match[str] | None = None
    for row in _ROW.finditer(text):
        is_next = before is not None and text[before.end() : row.start()] in ("\n", "")
        if not is_next:
            columns = []
        if is_next and before is not None and _RULE.fullmatch(row[0]):
            columns = [place for place, (_start, cell) in enumerate(_cells(before)) if heading.search(cell)]
        elif columns:
            cells = list(_cells(row))
            for start, cell in (cells[place] for place in columns if place < len(cells)):
                yield Layer(start, start + len(cell), cell, "in-table")
        before = row


def _cells(row: re.Match[str]) -> Iterator[tuple[int, str]]:
    start = row.start() + row[0].index("|") + 1
    for cell in row[0][row[0].index("|") + 1 :].rstrip().removesuffix("|").split("|"):
        inner = cell.strip(" \t`*")
        yield start + cell.find(inner), inner
        start += len(cell) + 1


def _iter_base64(text: str) -> Iterator[Layer]:
    for run in _BASE64.finditer(text):
        inside = _decode(run[0])
        if inside:
            yield Layer(*run.span(), inside, "in-base64")


def _iter_percent(text: str) -> Iterator[Layer]:
    if "%" not in text:
        return
    for run in _PERCENT.finditer(text):
        inside = urllib.parse.unquote(run[0], errors="replace") if _ENCODED.search(run[0]) else run[0]
        if inside != run[0]:
            yield Layer(*run.span(), inside, "percent-encoded")


def _iter_split(text: str) -> Iterator[Layer]:
    for found in _SPLIT.finditer(text):
        yield Layer(*found.span(), found["head"] + found["tail"], "over-a-line-end", found["head"])


def _decode(run: str) -> str | None:
    """Return the text in a base64 run of either alphabet, ``None`` when it holds no readable text."""
    run = run.rstrip("=")
    if len(run) % 4 == 1:  # no text encodes to that; a neighbouring character was taken along
        run = run[:-1]
    try:
        text = base64.b64decode(run.replace("-", "+").replace("_", "/") + "==").decode()
    except (ValueError, binascii.Error):
        return None
    return text if text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else None

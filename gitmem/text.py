"""Plain functions on text that several layers need: one line, slugs, and text made safe to show.

Pure. Nothing here knows what a record is.
"""

from __future__ import annotations

import re
import unicodedata

# Letters and marks are shaped by these two in Persian, Indic scripts and emoji; they are kept only between such
# characters (reliability facts, "Unicode in text").
_JOINERS = "\u200c\u200d"
_CONTROL = {c for c in range(0x20) if c not in (0x09, 0x0A)} | set(range(0x7F, 0xA0))
_ASCII_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_LINE_BREAKS = re.compile("\r\n|[\r\u2028\u2029\u0085\x0b\x0c]")


def is_hidden(char: str) -> bool:
    """Tell whether ``char`` changes how text reads without being seen: control, bidirectional, invisible, private use.

    Tab and line feed are not hidden. The joiners are; ``make_visible`` knows where they are legitimate.
    """
    point = ord(char)
    if point < 0x300:
        return point in _CONTROL or point == 0xAD
    if 0xFE00 <= point <= 0xFE0E or 0xE0100 <= point <= 0xE01EF:  # variation selectors, but not the emoji one
        return True
    return point in (0x115F, 0x1160, 0x3164, 0xFFA0, 0x34F) or (
        unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs") and point != 0xFE0F
    )


def find_hidden(text: str) -> list[int]:
    """Return the positions of hidden characters in ``text``, joiners in their place left out, in order."""
    if text.isascii():
        return [match.start() for match in _ASCII_CONTROL.finditer(text)]
    return [i for i, char in enumerate(text) if is_hidden(char) and not _joins(text, i)]


def make_visible(text: str) -> str:
    """Return ``text`` fit to be shown: line breaks as ``\\n``, hidden characters as ``\\u{…}`` escapes.

    What it returns holds only printable characters, tabs and line feeds, so it can neither move a cursor nor reorder
    a line.
    """
    text = _LINE_BREAKS.sub("\n", text)
    if text.isascii() and _ASCII_CONTROL.search(text) is None:
        return text
    hidden = set(find_hidden(text))
    if not hidden:
        return text
    return "".join(f"\\u{{{ord(char):x}}}" if i in hidden else char for i, char in enumerate(text))


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space as one blank and none at its ends."""
    return " ".join(text.split())


def shorten(text: str, max_chars: int) -> str:
    """Return one line of at most ``max_chars`` characters, cut at a word where there is one, ending in ``…``."""
    text = one_line(text)
    if len(text) <= max_chars:
        return text
    head = text[: max_chars - 1]
    cut = head.rfind(" ")
    return (head[:cut] if cut > max_chars // 2 else head).rstrip(" ,;:.") + "…"


def fold(text: str) -> str:
    """Return the key under which two names are the same to Obsidian and to case-blind file systems: NFC, casefolded.

    Folding is done twice around NFKD-free normalisation so that ``fold(fold(x)) == fold(x)``.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def slug(text: str, max_bytes: int = 60) -> str:
    """Return a file-name stem for ``text``: lower case, words joined by ``-``, letters of any script kept.

    At most ``max_bytes`` bytes of UTF-8, cut at a word. Empty when ``text`` holds no letter or digit.
    """
    words = re.findall(r"[^\W_]+", fold(unicodedata.normalize("NFKC", text)))
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word
        if len(longer.encode()) > max_bytes:
            break
        name = longer
    if not name and words:
        name = words[0].encode()[:max_bytes].decode(errors="ignore")
    return name


def _joins(text: str, i: int) -> bool:
    if text[i] not in _JOINERS or i == 0 or i + 1 == len(text):
        return False
    before, after = text[i - 1], text[i + 1]
    return all(ord(c) > 0x2BF and unicodedata.category(c)[0] in "LMS" for c in (before, after))

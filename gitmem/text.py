"""Plain functions on text that several layers need: one line, slugs, and text made safe to show.

Pure. Nothing here knows what a record is.
"""

from __future__ import annotations

import re
import unicodedata

from gitmem.patterns import late

# Letters and marks are shaped by these two in Persian, Indic scripts and emoji; they are kept only between such
# characters (reliability facts, "Unicode in text").
_JOINERS = "\u200c\u200d"
_EMOJI_LOOK = "\ufe0f"  # kept behind what has such a look; anywhere else one more or less of it can spell a message
_HAS_EMOJI_LOOK = "#*0123456789\u203c\u2049\u2139\u3030\u303d"
_CONTROL = {c for c in range(0x20) if c not in (0x09, 0x0A)} | set(range(0x7F, 0xA0))
_ASCII_CONTROL = late("[\x00-\x08\x0b-\x1f\x7f]")
_LINE_BREAKS = late("\r\n|[\r\u2028\u2029\u0085\x0b\x0c]", plain="\r\n|[\r\x0b\x0c]")
# What shows as nothing although its category is that of a letter, a mark, or not given out yet: fillers, selectors of
# variants, the vowels that Khmer never writes, and code points that Unicode keeps for invisible uses.
_BLANKS = {
    0x34F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    0x2065,
    0x3164,
    0xFFA0,
    *range(0x180B, 0x1810),
    *range(0xFFF0, 0xFFF9),
}
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
MAX_MARKS = 10
"""How many marks in a row are letters in use; more of them only break the display."""
_MAX_ESCAPES = 16
_WORD = late(r"[^\W\d_]+")
# Greek letters drawn like Latin ones. Others stand beside Latin ones in honest text: Δt, μm.
_GREEK_TWINS = set("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧιον")


def is_hidden(char: str) -> bool:
    """Tell whether ``char`` changes how text reads without being seen: control, bidirectional, invisible, private use.

    Tab and line feed are not hidden. The joiners are, and ``make_visible`` knows where they are legitimate; the emoji
    selector is not, and ``make_visible`` knows where it is no good.
    """
    point = ord(char)
    if point < 0x300:
        return point in _CONTROL or point == 0xAD
    if 0xFE00 <= point <= 0xFE0E or 0xE0000 <= point <= 0xE0FFF or point in _BLANKS:
        return True
    is_noncharacter = point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF
    return is_noncharacter or unicodedata.category(char) in _HIDDEN_CATEGORIES


def find_hidden(text: str) -> list[int]:
    """Return the positions of hidden characters in ``text``, those in their place left out, in order.

    The marks of a letter beyond ``MAX_MARKS`` count as hidden: nobody can read them.
    """
    if text.isascii():
        return [match.start() for match in _ASCII_CONTROL.finditer(text)]
    found, marks = [], 0
    for i, char in enumerate(text):
        if char < "\u0300":
            marks = 0
            if is_hidden(char):
                found.append(i)
            continue
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        is_suspect = char == _EMOJI_LOOK or is_hidden(char)
        follows_hidden = bool(found) and found[-1] == i - 1
        if marks > MAX_MARKS or (is_suspect and (follows_hidden or not _is_in_place(text, i))):
            found.append(i)
    return found


def make_visible(text: str) -> str:
    """Return ``text`` fit to be shown: line breaks as ``\\n``, hidden characters as ``\\u{…}`` escapes.

    What it returns holds only printable characters, tabs and line feeds, so it can neither move a cursor nor reorder
    a line. Of many hidden characters in a row the first are shown, and how many more there are.
    """
    text = _LINE_BREAKS.sub("\n", text)
    if text.isascii() and _ASCII_CONTROL.search(text) is None:
        return text
    hidden = find_hidden(text)
    if not hidden:
        return text
    shown, copied = [], 0
    for start, end in _join_runs(hidden):
        escapes = [f"\\u{{{ord(char):x}}}" for char in text[start : min(end, start + _MAX_ESCAPES)]]
        more = end - start - len(escapes)
        shown += [text[copied:start], *escapes, *([f"\\u{{{more} more}}"] if more else [])]
        copied = end
    return "".join([*shown, text[copied:]])


def quote(text: str, max_chars: int = 80) -> str:
    """Return the beginning of ``text`` in quotes, in one line and fit to be shown: what is hidden is escaped once."""
    shown = make_visible(text[:max_chars])[:max_chars].replace("\n", "\\n").replace("\t", "\\t")
    mark = '"' if "'" in shown and '"' not in shown else "'"
    return f"{mark}{shown}{mark}"


def has_lookalikes(text: str) -> bool:
    """Tell whether a word of ``text`` mixes Latin letters with Cyrillic or Armenian ones, or Greek ones drawn alike."""
    if text.isascii():
        return False
    return any(not word.isascii() and _mixes(word) for word in _WORD.findall(text))


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


def fold_tag(tag: str) -> str:
    """Return the key under which two tags are the same, as people type them: ``#Tool/PyTest/`` and ``tool/pytest``."""
    return fold(tag.strip().strip("#/"))


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


def _is_in_place(text: str, i: int) -> bool:
    """Tell whether a joiner or an emoji selector at ``i`` does there what it is for."""
    char = text[i]
    if i == 0 or (char not in _JOINERS and char != _EMOJI_LOOK):
        return False
    before = text[i - 1]
    if char == _EMOJI_LOOK:
        return before in _HAS_EMOJI_LOOK or unicodedata.category(before)[0] == "S"
    after = text[i + 1 : i + 2]
    return after not in ("", _EMOJI_LOOK) and _is_shaped(before) and _is_shaped(after)


def _is_shaped(char: str) -> bool:
    return ord(char) > 0x2BF and unicodedata.category(char)[0] in "LMS" and not is_hidden(char)


def _join_runs(positions: list[int]) -> list[tuple[int, int]]:
    """Return sorted ``positions`` as runs: first, and one behind the last."""
    runs: list[tuple[int, int]] = []
    for position in positions:
        if runs and runs[-1][1] == position:
            runs[-1] = (runs[-1][0], position + 1)
        else:
            runs.append((position, position + 1))
    return runs


def _mixes(word: str) -> bool:
    is_latin = any(char < "\u0250" for char in word)
    return is_latin and any("\u0400" <= char <= "\u058f" or char in _GREEK_TWINS for char in word)

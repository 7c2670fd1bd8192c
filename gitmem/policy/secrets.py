"""Find secrets before a byte of them is written, and take them out of text that is only derived. Design section 5.

The scanner is redact-secret, pinned, with rules of our own for what it misses in notes: passwords in prose, in tables
and in Chinese, bare bearer tokens, vendors that it doesn't know, base64 and percent-encoding. "Passed" means that
nothing was recognised, never that nothing is there. When the scanner fails, everything here fails with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gitmem.errors import PolicyError, UnavailableError
from gitmem.patterns import late
from gitmem.policy.secret_rules import PASSWORDS_ELSEWHERE, SECRET_RULES, TOKENS_ELSEWHERE
from gitmem.policy.secret_values import is_chosen, is_filler, is_reference, is_stand_in
from gitmem.typed import TYPE_CHECKING, NamedTuple
from gitmem.values import dataclass

if TYPE_CHECKING:
    from gitmem.policy.secret_layers import Layer

PLACEHOLDER = "[secret]"


@dataclass(frozen=True)
class Finding:
    """Something that looks like a secret: the rule that says so and the line, from 1. Never the secret itself."""

    rule: str
    line: int


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Return what looks like a secret in ``text``, in order of position; overlapping finds count as the first one.

    Raises ``UnavailableError`` (``scanner-failed``) when the text can't be scanned.
    """
    found, line, place = [], 1, 0
    for span in _find_spans(text):
        line += text.count("\n", place, span.start)
        place = span.start
        found.append(Finding(span.rule, line))
    return tuple(found)


def check_secrets(texts: Mapping[str, str]) -> None:
    """Check that none of ``texts`` holds a secret. Their names (``title``, ``path``, …) are shown, so pass no values.

    Raises ``PolicyError`` (``secret-found``) that names the rule and the line, never the secret, and
    ``UnavailableError`` (``scanner-failed``) when a text can't be scanned.
    """
    check_found([(name, finding) for name, text in texts.items() for finding in find_secrets(text)])


def check_found(found: Sequence[tuple[str, Finding]]) -> None:
    """Check that nothing was ``found``: findings, each with the name of its text. Raises as ``check_secrets`` does."""
    if not found:
        return
    name, first = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    raise PolicyError(
        "secret-found",
        f"{name}, line {first.line} looks like a secret ({first.rule}){more}",
        "Say where the secret is kept instead of what it is. If it was real, change it: it may have been seen.",
        where=name,
        rule=first.rule,
        line=first.line,
        count=len(found),
    )


def redact(text: str) -> str:
    """Return ``text`` with ``[secret]`` in place of everything that looks like one.

    For derived text only: what a person asked to have written is refused, not altered in silence. Raises
    ``UnavailableError`` (``scanner-failed``) when the text can't be scanned.
    """
    parts, place = [], 0
    for span in _find_spans(text):
        parts += [text[place : span.start], PLACEHOLDER]
        place = span.end
    return "".join((*parts, text[place:]))


class _Span(NamedTuple):
    start: int
    end: int
    rule: str


# Everything that any rule can find holds one of these, or a run of at least 20 characters without blank or colon
# (measured on the pinned scanner: with none of these words about, the shortest find was an AWS key id of 20).
_MIN_RUN = 20
_WORDS = (
    *("key", "pass", "secret", "token", "_auth", "authoriz", "bearer", "verifier", "jfrog", "curl", "://"),
    *("pw", "phrase", "mnemonic", "mysql", "wifi:", "login", "credential"),  # our own rules
)
# A property of nearly every record. The scanner takes nothing shorter than a long run for a secret because of it.
_OWN_NAME = "\nkey:"
_OTHER_WORDS = (*PASSWORDS_ELSEWHERE, *TOKENS_ELSEWHERE, "助记词", "账号", "帐号")
_RUNS = bytes(ord("a" if 0x21 <= byte <= 0x7E and byte != ord(":") else " ") for byte in range(256))
_LONG_RUN = b"a" * _MIN_RUN
# Characters that the scanner looks through, or can't read: "pass<ZWSP>word" is a password too.
_SEEN_THROUGH = late(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BY_NAME = "contextual-secret"
"""The scanner's rule for a value whose name, not whose form, says that it is a secret."""
_MIN_CELL = 6
# Signs after which a Chinese or Japanese sentence goes on without a blank; the scanner takes them for parts of a word.
_APART = late("[：，。；！？（「『【《、“‘\u3000](?=[!-~])")
# The scanner's time is quadratic in a run of characters without blank (9 s for 256 KiB of "eyJhbGci"), so a text that
# has a longer one than any token is given to it in windows that overlap by half.
_WINDOW = 8192
_RUN_TOO_LONG = late(rf"\S{{{_WINDOW // 2}}}")
_BY_URL = "connection-string-password"
_TOGETHER = 256
_MAX_DEPTH = 3
"""How many dresses, one in another, are taken off."""
_PASSWORD_COLUMN = rf"(?i)pass(?:word|wort|wd|phrase)|\bp(?:ass|wd?)\b|{'|'.join(PASSWORDS_ELSEWHERE)}"


def may_hold_secret(text: str) -> bool:
    """Tell cheaply whether ``text`` needs the scanner at all: ``False`` means that no rule can find anything."""
    folded = text.lower()
    if _OWN_NAME in folded:
        folded = folded.replace(_OWN_NAME, "\n")
    for word in _WORDS:  # a plain loop: any() with a generator takes half as long again
        if word in folded:
            return True
    if _has_long_run(text):
        return True
    if text.isascii():
        return False
    return any(word in text for word in _OTHER_WORDS) or _SEEN_THROUGH.search(text) is not None


def _has_long_run(text: str) -> bool:
    return _LONG_RUN in text.encode("utf-8", "surrogatepass").translate(_RUNS)


def _find_spans(text: str) -> list[_Span]:
    if not may_hold_secret(text):
        return []
    spans = sorted(_iter_spans(text, _MAX_DEPTH))
    merged: list[_Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _iter_spans(text: str, depth: int) -> Iterator[_Span]:
    """Yield what any rule finds in ``text``, and in what it holds in another dress, ``depth`` of them at most."""
    from gitmem.policy.secret_layers import iter_layers

    yield from _scan(text)
    yield from _apply_rules(text)
    yield from _apply_vendor_rules(text)
    yield from _look_into_tables(text)
    if not text.isascii() and _SEEN_THROUGH.search(text):
        yield from _look_through(text)
    if depth:
        layers = [layer for layer in iter_layers(text) if may_hold_secret(layer.text)]
        for first in range(0, len(layers), _TOGETHER):
            yield from _look_into(layers[first : first + _TOGETHER], depth - 1)


def _look_into(layers: Sequence[Layer], depth: int) -> Iterator[_Span]:
    """Yield the ``layers`` in which something is found; all of them are looked at as one text first, which is quick."""
    if len(layers) > 1 and not any(_iter_spans("\n".join(layer.text for layer in layers), depth)):
        return
    for layer in layers:
        if not (layer.alone and find_secrets(layer.alone)):
            first = min(_iter_spans(layer.text, depth), default=None)
            if first:
                yield _Span(layer.start, layer.end, f"{first.rule}-{layer.name}")


def _scan(text: str) -> Iterator[_Span]:
    apart = text if text.isascii() else _APART.sub(" ", text)
    for one in (text,) if apart == text else (text, apart):
        if _RUN_TOO_LONG.search(one) is None:
            yield from _scan_window(one)
        else:
            for start in range(0, len(one), _WINDOW // 2):
                for span in _scan_window(one[start : start + _WINDOW]):
                    yield _Span(start + span.start, start + span.end, span.rule)


def _scan_window(text: str) -> Iterator[_Span]:
    try:
        import redact_secret

        findings = redact_secret.scan(text)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in the scanner, nothing may pass unscanned
        raise UnavailableError(
            "scanner-failed",
            f"the secret scanner could not read the text ({type(error).__name__})",
            "Nothing is written or shown unscanned. Run `gitmem doctor`.",
        ) from None  # the scanner's own message might quote the text
    for found in findings:
        value = text[found.start : found.end]
        rule = found.type.replace("_", "-")
        is_named = rule in (_BY_NAME, _BY_URL) and (is_stand_in(value) or is_reference(value))
        if not is_named and not is_filler(value):
            yield _Span(found.start, found.end, rule)


def _apply_rules(text: str) -> Iterator[_Span]:
    folded, has_long_run = text.lower(), _has_long_run(text)
    for rule in SECRET_RULES:
        if not (rule.short or has_long_run) or not any(hint in folded for hint in rule.hints):
            continue
        if not rule.needs or re.search(rule.needs, text):
            for match in re.finditer(rule.pattern, text):
                if rule.accepts(match["secret"]):
                    yield _Span(*match.span("secret"), rule.name)


def _apply_vendor_rules(text: str) -> Iterator[_Span]:
    if not _has_long_run(text):
        return
    from gitmem.policy.vendor_rules import VENDOR_RULES

    for rule in VENDOR_RULES:
        if rule.hint in text:
            for match in re.finditer(rule.pattern, text):
                if not is_filler(match[0]):
                    yield _Span(*match.span(), rule.name)


def _look_into_tables(text: str) -> Iterator[_Span]:
    if "|" in text and "-|" in text.replace(" ", ""):
        from gitmem.policy.secret_layers import iter_cells

        for cell in iter_cells(text, re.compile(_PASSWORD_COLUMN)):
            if len(cell.text) >= _MIN_CELL and " " not in cell.text and is_chosen(cell.text):
                yield _Span(cell.start, cell.end, "password")


def _look_through(text: str) -> Iterator[_Span]:
    """Yield what our own rules find where the characters that nobody sees are taken out."""
    seen = _SEEN_THROUGH.sub("", text)
    spans = [*_apply_rules(seen), *_apply_vendor_rules(seen)]
    kept = [place for place, char in enumerate(text) if not _SEEN_THROUGH.match(char)] if spans else []
    for start, end, rule in spans:
        yield _Span(kept[start], kept[end - 1] + 1, rule)

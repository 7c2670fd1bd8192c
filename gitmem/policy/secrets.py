"""Find secrets before a byte of them is written, and take them out of text that is only derived. Design section 5.

The scanner is redact-secret, pinned, with a few rules of our own for what it misses in notes: passwords in prose and
in Chinese, bare bearer tokens, vendors that it doesn't know, one layer of base64. "Passed" means that nothing was
recognised, never that nothing is there. When the scanner fails, everything here fails with it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gitmem.errors import PolicyError, UnavailableError
from gitmem.policy.secret_rules import PASSWORDS_ELSEWHERE, SECRET_RULES, is_stand_in

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
    return tuple(Finding(span.rule, text.count("\n", 0, span.start) + 1) for span in _find_spans(text))


def check_secrets(texts: Mapping[str, str]) -> None:
    """Check that none of ``texts`` holds a secret. Their names (``title``, ``path``, …) are shown, so pass no values.

    Raises ``PolicyError`` (``secret-found``) that names the rule and the line, never the secret, and
    ``UnavailableError`` (``scanner-failed``) when a text can't be scanned.
    """
    found = [(name, finding) for name, text in texts.items() for finding in find_secrets(text)]
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
    for span in reversed(_find_spans(text)):
        text = text[: span.start] + PLACEHOLDER + text[span.end :]
    return text


class _Span(NamedTuple):
    start: int
    end: int
    rule: str


# Everything that any rule can find holds one of these, or a run of at least 20 characters without blank or colon
# (measured on the pinned scanner: with none of these words about, the shortest find was an AWS key id of 20).
_MIN_RUN = 20
_WORDS = (
    *("key", "pass", "secret", "token", "_auth", "authoriz", "bearer", "verifier", "jfrog", "curl", "://"),
    *("pwd", "phrase"),  # our own rules
)
# A property of nearly every record. The scanner takes nothing shorter than a long run for a secret because of it.
_OWN_NAME = "\nkey:"
_OTHER_WORDS = (*PASSWORDS_ELSEWHERE, "助记词")
_RUNS = bytes(ord("a" if 0x21 <= byte <= 0x7E and byte != ord(":") else " ") for byte in range(256))
_LONG_RUN = b"a" * _MIN_RUN
# Characters that the scanner looks through, or can't read: "pass<ZWSP>word" is a password too.
_SEEN_THROUGH = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BY_NAME = "contextual-secret"
"""The scanner's rule for a value whose name, not whose form, says that it is a secret."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}")


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
    spans = sorted([*_scan(text), *_apply_rules(text), *_look_into_base64(text)])
    merged: list[_Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _scan(text: str) -> Iterator[_Span]:
    try:
        import redact_secret

        findings = redact_secret.scan(text)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in the scanner, nothing may pass unscanned
        raise UnavailableError(
            "scanner-failed",
            f"the secret scanner could not read the text ({type(error).__name__})",
            "Nothing is written or shown unscanned. Run `gitmem doctor`.",
        ) from None  # the scanner's own message might quote the text
    spans = (_Span(found.start, found.end, found.type.replace("_", "-")) for found in findings)
    return (one for one in spans if one.rule != _BY_NAME or not is_stand_in(text[one.start : one.end]))


def _apply_rules(text: str) -> Iterator[_Span]:
    folded, has_long_run = text.lower(), _has_long_run(text)
    for rule in SECRET_RULES:
        if (rule.short or has_long_run) and any(hint in folded for hint in rule.hints):
            for match in rule.pattern.finditer(text):
                if rule.accepts(match["secret"]):
                    yield _Span(*match.span("secret"), rule.name)


def _look_into_base64(text: str) -> Iterator[_Span]:
    for run in _BASE64.finditer(text):
        inside = _decode(run[0])
        if inside and may_hold_secret(inside):
            first = min([*_scan(inside), *_apply_rules(inside)], default=None)
            if first:
                yield _Span(*run.span(), f"{first.rule}-in-base64")


def _decode(run: str) -> str | None:
    """Return the text in a base64 run of either alphabet, ``None`` when it holds no readable text."""
    if len(run) % 4 == 1:  # no text encodes to that; a neighbouring character was taken along
        run = run[:-1]
    try:
        text = base64.b64decode(run.replace("-", "+").replace("_", "/") + "==").decode()
    except ValueError:
        return None
    return text if text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else None

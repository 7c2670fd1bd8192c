"""Our own rules for secrets, for what the scanner misses in notes. Data; ``gitmem.policy.secrets`` applies it.

Chosen by what it missed among generated fakes of 77 kinds, and kept only where notes of real vaults didn't trip them:
a refused note costs a person more than a rule gains them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class SecretRule(NamedTuple):
    """One rule. ``pattern`` has a group ``secret``, which ``accepts`` may still turn down.

    It is tried only on text that, lower-cased, holds one of ``hints``, and that has a long run of characters (at least
    20 without blank or colon, as ``gitmem.policy.secrets`` tells them) unless the rule is for ``short`` secrets too.
    Every hint of a short rule holds one of the words that the prefilter there looks for.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = bool
    short: bool = False


_SAYING_SO = frozenset({"my", "your", "here", "example"})
_STAND_IN_WORDS = _SAYING_SO | {"api", "access", "auth", "key", "secret", "token", "client", "app"}


def is_chosen(value: str) -> bool:
    """Tell a password from a word, a placeholder, a reference or a call: it has a digit or a symbol people use."""
    return _NOT_A_VALUE.match(value) is None and re.search(r"[\d!@#$%^&*?~]", value) is not None


def is_stand_in(value: str) -> bool:
    """Tell what stands for a secret in a manual: ``my_api_key``, ``API-KEY-HERE``; nothing but the words for one."""
    words = set(re.split(r"[-_ ]", value.strip("'\" ").lower()))
    return words <= _STAND_IN_WORDS and bool(words & _SAYING_SO)


def is_mixed(value: str) -> bool:
    """Tell a random value from a name or a hash: it has capitals, small letters and at least two digits."""
    return value.lower() != value != value.upper() and len(re.findall(r"\d", value)) > 1


PASSWORDS_ELSEWHERE = ("密码", "密碼", "口令", "パスワード", "비밀번호")
"""What a password is called in Chinese, Japanese and Korean."""

_NOT_A_VALUE = re.compile(r"[<({\[$%*/.~#]|x{3}|https?:|op:|vault:|env:|[\w.]+\(", re.IGNORECASE)
_QUOTES = r"[*_`\"'“”]{0,3}"
_BLANKS = r"[ \t]{0,3}"

SECRET_RULES = (
    SecretRule(
        "password",
        ("password", "passwd", "passphrase", "passcode", "pwd", *PASSWORDS_ELSEWHERE),
        re.compile(
            rf"(?:password|passwd|passphrase|passcode|pwd|{'|'.join(PASSWORDS_ELSEWHERE)})"
            rf"{_QUOTES}{_BLANKS}(?:[:=：＝]|\bis\b|是|为|為){_QUOTES}{_BLANKS}{_QUOTES}"
            r"(?P<secret>[^\s\"'`“”，。、；]{6,})",
            re.IGNORECASE,
        ),
        is_chosen,
        short=True,
    ),
    SecretRule(
        "bearer-token",
        ("bearer",),
        re.compile(r"\bbearer[ \t]+(?P<secret>(?=[^\s\d]*\d)[\w.~+/-]{16,}=*)", re.IGNORECASE),
    ),
    SecretRule(
        "aws-access-key-id",
        ("akia", "asia", "abia", "acca"),
        re.compile(r"\b(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)(?![A-Z0-9]*EXAMPLE\b)[A-Z0-9]{16})\b"),
    ),
    SecretRule(
        "assigned-secret",
        ("token", "secret", "key", "credential"),
        re.compile(
            r"(?:(?<![A-Za-z])(?i:token|secret|key|credential)|(?<=[a-z])(?:Token|Secret|Key|Credential))s?"
            rf"{_QUOTES}{_BLANKS}[:=：]>?{_BLANKS}{_QUOTES}(?P<secret>[\w+/-]{{20,}}={{0,2}})(?![\w./])"
        ),
        is_mixed,
    ),
    SecretRule(
        "vendor-token",
        ("ntn_", "figd_"),
        re.compile(r"\b(?P<secret>(?:ntn|figd)_[\w-]{36,})"),
        is_mixed,
    ),
    SecretRule("mailgun-key", ("key-",), re.compile(r"\b(?P<secret>key-[0-9a-f]{32})\b")),
    SecretRule("age-key", ("age-secret-key-",), re.compile(r"(?P<secret>AGE-SECRET-KEY-1[0-9A-Z]{50,})")),
    SecretRule(
        "slack-webhook",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?P<secret>services/T\w+/B\w+/\w{16,})"),
    ),
    SecretRule(
        "seed-phrase",
        ("phrase", "助记词"),
        re.compile(
            r"(?:(?:seed|recovery|mnemonic|backup)[ \t]phrase|助记词)[*`]{0,3}[ \t]?[:：=]\s*[*`\"]{0,3}"
            r"(?P<secret>[a-z]{3,8}(?:[ \t]+[a-z]{3,8}){11,23})",
            re.IGNORECASE,
        ),
        short=True,
    ),
)
"""The rules, in the order in which they are tried."""

"""Our own rules for secrets, for what the scanner misses in notes. Data; ``gitmem.policy.secrets`` applies it.

Chosen by what it missed among generated fakes of 135 kinds, and kept only where notes of real vaults didn't trip them:
a refused note costs a person more than a rule gains them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gitmem.policy.secret_values import is_assigned, is_chosen, is_given, is_hex_key, is_long_mix, is_mixed
from gitmem.typed import NamedTuple


class SecretRule(NamedTuple):
    """One rule. ``pattern`` has a group ``secret``, which ``accepts`` may still turn down.

    It is tried only on text that, lower-cased, holds one of ``hints``, and that has a long run of characters (at least
    20 without blank or colon, as ``gitmem.policy.secrets`` tells them) unless the rule is for ``short`` secrets too.
    Every hint of a short rule holds one of the words that the prefilter there looks for. ``needs``, where a rule has
    it, is what the text must hold anyway, and quick to look for.
    """

    name: str
    hints: tuple[str, ...]
    pattern: str
    accepts: Callable[[str], bool] = bool
    short: bool = False
    needs: str = ""


PASSWORDS_ELSEWHERE = ("密码", "密碼", "口令", "パスワード", "비밀번호", "암호", "contraseña", "пароль")
"""What a password is called in other languages, where the word is not ASCII."""
PASSWORDS = ("password", "passwd", "passphrase", "passcode", "passwort", "mot de passe", "pwd")
"""What a password is called, in ASCII."""
TOKENS_ELSEWHERE = ("令牌", "密钥", "密鑰", "秘钥", "凭证", "トークン", "シークレット", "토큰")
"""What a token or a key is called in Chinese, Japanese and Korean."""

_QUOTES = r"[*_`\"'“”「『]{0,3}"
_BLANKS = r"[ \t]{0,3}"
_NAMES = "|".join(re.escape(name) for name in (*PASSWORDS, *PASSWORDS_ELSEWHERE))
_IS = r"[:=：＝|]|\b(?:is|was|ist|are|to)\b|是|为|為|は|는|은|を|改成了?|改为|设为|設為|设成"
_WHOSE = r"(?:[ \t](?:for|of|to|von|für|at|on)(?:[ \t][\w@.'-]{1,40}){1,4})?"
_PASSWORD_HINTS = ("pass", "pwd", *PASSWORDS_ELSEWHERE)

SECRET_RULES = (
    SecretRule(
        "password",
        _PASSWORD_HINTS,
        (
            rf"(?i)(?:{_NAMES}){_QUOTES}{_WHOSE}{_BLANKS}(?:{_IS}){_QUOTES}{_BLANKS}{_QUOTES}"
            r"(?P<secret>[^\s\"'`“”「」『』|，。、；]{6,})"
        ),
        is_chosen,
        short=True,
    ),
    SecretRule(
        "password",
        ("pass:", "pass=", "pw:", "pw=", " pw "),
        rf"(?i)(?<![A-Za-z])(?:pass|pw)(?:[:=]|[ ]){_BLANKS}{_QUOTES}(?P<secret>[^\s\"'`|,]{{6,}})",
        is_given,
        short=True,
    ),
    SecretRule(
        "password",
        ("password ", "password=", *PASSWORDS_ELSEWHERE),
        (
            rf"(?i)(?:--password|\bwith (?:the )?password|{'|'.join(PASSWORDS_ELSEWHERE)})"
            rf"(?:\s+|「){_QUOTES}(?P<secret>[^\s\"'`“”「」|，。、；]{{6,}})"
        ),
        is_given,
        short=True,
    ),
    SecretRule(
        "password",
        ("password",),
        r"\blogin[ \t]+\S{1,64}[\s>]{1,20}password[ \t]+(?P<secret>[^\s\"'`]{6,})",
        is_assigned,
        short=True,
    ),
    SecretRule(
        "password",
        ("sshpass",),
        r"sshpass\s+-p\s*['\"]?(?P<secret>[^\s'\"]{4,})",
        is_chosen,
        short=True,
    ),
    SecretRule(
        "password",
        ("mysql",),
        r"\bmysql(?:dump|admin)?\b[^\n|;]{0,80}?\s-p(?P<secret>[^\s'\"`]{6,})",
        is_given,
        short=True,
    ),
    SecretRule("password", ("wifi:",), r"WIFI:[^\s]{0,80};P:(?P<secret>[^;\s]{6,63});", bool, short=True),
    SecretRule(
        "login",
        ("login", "credentials", "账号", "帐号"),
        (
            rf"(?i)(?:logins?|credentials|账号|帐号)[*_]{{0,2}}{_BLANKS}[:：]{_BLANKS}[`*]?[^\s/|]{{1,64}}[`*]?"
            r"[ \t]{1,3}[/|][ \t]{1,3}`?(?P<secret>[^\s`|,，。]{6,})"
        ),
        is_given,
        short=True,
    ),
    SecretRule(
        "url-password",
        ("://",),
        (
            r"://[^\s/:@\"'`<>|]{0,64}:"
            r"(?P<secret>[^\s/\"'`<>|]{3,128})@(?=[\w\[])"
        ),
        is_chosen,
        short=True,
    ),
    SecretRule(
        "bearer-token",
        ("bearer",),
        r"(?i)\bbearer[ \t]+(?P<secret>(?=[^\s\d]*\d)[\w.~+/-]{16,}=*)",
    ),
    SecretRule(
        "aws-access-key-id",
        ("akia", "asia", "abia", "acca"),
        r"\b(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)(?![A-Z0-9]*EXAMPLE\b)[A-Z0-9]{16})\b",
    ),
    SecretRule(
        "assigned-secret",
        ("token", "secret", "key", "credential", "_auth"),
        (
            r"(?:(?<![A-Za-z])(?i:token|secret|(?<!public.)key|credential|_auth)|"
            r"(?<=[a-z])(?:Token|Secret|(?<!ublic)Key|Credential))s?"
            rf"{_QUOTES}{_BLANKS}[:=：]>?{_BLANKS}{_QUOTES}(?P<secret>[\w+/-]{{20,}}={{0,2}})(?![\w./])"
        ),
        is_mixed,
    ),
    SecretRule(
        "assigned-secret",
        ("secret", "token", "key"),
        (
            r"(?i)(?<![?&])(?:secret|token|(?:api|app|master|encryption|signing|private|auth|access)[_-]?key)"
            rf"{_QUOTES}{_BLANKS}[:=：]>?{_BLANKS}{_QUOTES}(?P<secret>[0-9a-f]{{32,128}})(?!\w)"
        ),
        is_hex_key,
        needs="[0-9a-fA-F]{32}",
    ),
    SecretRule(
        "assigned-secret",
        ("secret", "token", "key"),
        r"(?i)(?:secret|token|key)[\"']?[ \t]{0,3}[:=][ \t]{0,3}(?P<quote>[\"'])(?P<secret>[^\s\"']{32,200})(?P=quote)",
        is_long_mix,
    ),
    SecretRule(
        "assigned-secret",
        TOKENS_ELSEWHERE,
        (
            rf"(?a)(?:{'|'.join(TOKENS_ELSEWHERE)}){_QUOTES}{_BLANKS}(?:[:=：＝|]|是|为|為|は|는|은){_BLANKS}{_QUOTES}"
            r"(?P<secret>[\w+/.-]{16,}={0,2})"
        ),
        lambda value: is_mixed(value) or is_hex_key(value),
    ),
    SecretRule(
        "vendor-token",
        ("ntn_", "figd_"),
        r"\b(?P<secret>(?:ntn|figd)_[\w-]{36,})",
        is_mixed,
    ),
    SecretRule("mailgun-key", ("key-",), r"\b(?P<secret>key-[0-9a-f]{32})\b"),
    SecretRule("age-key", ("age-secret-key-",), r"(?P<secret>AGE-SECRET-KEY-1[0-9A-Z]{50,})"),
    SecretRule(
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?P<secret>services/T\w+/B\w+/\w{16,})",
    ),
    SecretRule(
        "seed-phrase",
        ("phrase", "mnemonic", "助记词"),
        (
            r"(?i)(?:(?:seed|recovery|mnemonic|backup)[ \t]phrase|mnemonic|助记词)[*`]{0,3}[ \t]?[:：=]\s*[*`\"]{0,3}"
            r"(?P<secret>[a-z]{3,8}(?:[ \t]+[a-z]{3,8}){11,23})"
        ),
        short=True,
    ),
)
"""The rules, in the order in which they are tried."""

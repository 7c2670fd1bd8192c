"""What a value looks like: is it a secret that somebody wrote down, or what stands for one, names one, or tells of one?

Pure. Asked of what stands where a secret would: behind ``password:``, in a cell below ``password``, in a URL.
"""

from __future__ import annotations

import re

_SAYING_SO = frozenset({"my", "your", "here", "example"})
_STAND_IN_WORDS = _SAYING_SO | {"api", "access", "auth", "key", "secret", "token", "client", "app"}
_PLACEHOLDERS = frozenset(
    {"pass", "password", "passwd", "pw", "pwd", "secret", "token", "required", "optional", "changeme", "redacted"}
)
# Compiled when they are first asked: most texts hold nothing that they would be asked of.
_NOT_A_VALUE = (
    r"(?i)[<({\[$%*/.~#!|]|x{3}|https?:|op:|vault:|env:|file:|!ref|arn:|\[\[|"  # what begins a reference or a mark
    r"(?:secrets|env|process|vars?|config|os|settings|self|data|local|this|request|args|opts)\.\w|[\w.]+\(|"
    r"(?:argon2|bcrypt|scrypt|pbkdf2|sha-?\d|md5|base64|utf-?8|oauth|ldap|ipv[46]|type=)|"
    r"see[ :]|version|v\d+\b"
)
_VARIABLE = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\W*"
_FILE_NAME = r"[\w./\\-]+\.(?:md|py|ts|js|json|ya?ml|txt|env|toml|go|rs|sh)\W?"
_DATE = r"\d{4}-\d\d-\d\d\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"


_REFERENCE = r"(?:env|op|vault|file):|(?:secrets|env|process\.env|vars|os\.environ)\.[A-Za-z_]\w*$"
_MIN_FILLER_CHARS = 16


def is_chosen(value: str) -> bool:
    """Tell a password from a word, a placeholder, a reference or a call: it has a digit or a symbol people use."""
    return (
        re.match(_NOT_A_VALUE, value) is None
        and re.search(r"[\d!@#$%^&*?~]", value) is not None
        and value.isascii()
        and re.fullmatch(_VARIABLE, value) is None
        and re.fullmatch(_FILE_NAME, value) is None
        and re.match(_DATE, value) is None
        and not is_stand_in(value)
    )


def is_given(value: str) -> bool:
    """Tell a password where nothing but a blank announces it: it is one that ``is_chosen``, of letters and digits."""
    return is_chosen(value) and len(value) >= 6 and bool(re.search(r"[A-Za-z]", value) and re.search(r"\d", value))


def is_assigned(value: str) -> bool:
    """Tell a password where its place says that it is one: it ``is_chosen``, or long and of large and small letters."""
    return is_chosen(value) or (len(value) >= 12 and value.isalpha() and value.lower() != value != value.upper())


def is_stand_in(value: str) -> bool:
    """Tell what stands for a secret in a manual: ``my_api_key``, ``API-KEY-HERE``, ``pass``, ``xxxxxxxxxx``."""
    plain = value.strip("'\"`,;.) ").lower()
    words = set(re.split(r"[-_ ]", plain))
    return plain in _PLACEHOLDERS or (words <= _STAND_IN_WORDS and bool(words & _SAYING_SO))


def is_reference(value: str) -> bool:
    """Tell what names where a secret is kept: ``env:ACME_KEY``, ``secrets.DB_PASSWORD``, ``process.env.KEY``."""
    return re.match(_REFERENCE, value) is not None or re.fullmatch(_VARIABLE, value) is not None


def is_mixed(value: str) -> bool:
    """Tell a random value from a name or a hash: it has capitals, small letters and at least two digits."""
    return value.lower() != value != value.upper() and len(re.findall(r"\d", value)) > 1


def is_hex_key(value: str) -> bool:
    """Tell random hexadecimal digits from a word or a row of one digit."""
    return re.fullmatch(r"[0-9a-fA-F]{32,}", value) is not None and len(set(value.lower())) > 6


def is_long_mix(value: str) -> bool:
    """Tell a long value of at least three kinds of characters from a path, a URL or a template."""
    kinds = (r"[a-z]", r"[A-Z]", r"\d", r"[!@#$%^&*()=+?~]")
    return is_chosen(value) and "/" not in value and sum(re.search(kind, value) is not None for kind in kinds) > 2


def is_filler(value: str) -> bool:
    """Tell a token that ends in one or two characters over and over, as in ``ghp_xxxxxxxxxxxxxxxxxxxx``."""
    return len(value) >= _MIN_FILLER_CHARS and len(set(value[-_MIN_FILLER_CHARS:])) < 3

"""The public key of a person, as a vault lists it."""

from __future__ import annotations

from gitmem.values import dataclass


@dataclass(frozen=True)
class HumanKey:
    """A person's public key: a name of one line, and ``key`` as OpenSSH writes it, type and base64 without comment."""

    name: str
    key: str

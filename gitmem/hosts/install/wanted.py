"""What a host gets, as data: which files, and in each what is gitmem's. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gitmem.hosts.install.json_edit import Place


class Form(StrEnum):
    """How a file is written."""

    JSON = "json"
    TOML = "toml"
    BLOCK = "block"
    WHOLE = "whole"


@dataclass(frozen=True)
class WantedFile:
    """One file of a host's, by its absolute path.

    Of ``WHOLE`` the file is gitmem's and holds ``text``. Of the others it is the person's. Of ``BLOCK`` it holds
    ``text`` as a block between others' lines. Of ``JSON`` and ``TOML`` it holds: under ``hooks`` for each event one
    value, at the place ``server`` the entry ``server_entry``, and ``extra`` where
    it had nothing else; the first ``server_keeps`` objects on the way to the server stay when they become empty.
    ``mentions_machine`` says that a path of this machine is in it, ``is_private`` that only its person may read one
    that is new.
    """

    path: str
    form: Form
    text: str = ""
    hooks: Mapping[str, Any] = field(default_factory=dict)
    server: Place = ()
    server_entry: Mapping[str, Any] = field(default_factory=dict)
    server_keeps: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    mentions_machine: bool = True
    is_private: bool = True


@dataclass(frozen=True)
class Wanted:
    """All that one host gets in one scope. ``notices`` are what its person has to know or do."""

    files: tuple[WantedFile, ...]
    notices: tuple[str, ...] = ()

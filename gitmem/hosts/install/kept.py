"""What gitmem remembers of its installations, in its home: which files it made or changed, and how to take that back.

Nothing breaks where the file is lost: what is gitmem's is known by its content, too. Then only the exact spacing
of before, files that became empty, and whether a skill was edited can't be told any more.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from gitmem.disk import ensure_folder, read_regular, replace_file
from gitmem.hosts.install.undo import Step

FILE = "installed.json"
_MAX_BYTES = 4 << 20


@dataclass(frozen=True)
class KeptFile:
    """One file as gitmem left it: the SHA-256 of its bytes, whether gitmem made it, and the way back.

    ``undo`` is ``None`` where the way back would have to be kept in words of the person's. ``keeps`` is how many
    objects on the way to the server's entry, at ``server``, were there before, ``None`` for not known.
    """

    path: str
    form: str
    digest: str
    made: bool
    undo: tuple[Step, ...] | None = None
    keeps: int | None = None
    server: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeptHost:
    """One host in one scope: of the person, or of the project in the folder ``project``.

    ``folders`` were made for it, parents first.
    """

    host: str
    scope: str
    project: str
    files: tuple[KeptFile, ...]
    folders: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it."""
        return self.host, self.scope, self.project

    def project_around(self, path: str) -> str:
        """Return the project's folder where ``path`` is within it, else empty."""
        return self.project if self.project and path.startswith(f"{self.project}/") else ""

    def find(self, path: str) -> KeptFile | None:
        """Return what is kept of the file ``path``."""
        return next((one for one in self.files if one.path == path), None)


def load_kept(home: str) -> tuple[KeptHost, ...]:
    """Return what is remembered; what can't be understood is as if it were not there."""
    try:
        value: Any = json.loads(read_regular(os.path.join(home, FILE), _MAX_BYTES))
        return tuple(_parse_host(one) for one in value["installed"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()


def save_kept(home: str, kept: KeptHost) -> None:
    """Remember ``kept`` in place of what was of the same host, scope and project; nothing where it has no files.

    Durable. The file goes with its last entry, and so does a home that has nothing else in it.
    """
    others = [one for one in load_kept(home) if one.key != kept.key]
    entries = sorted([*others, *([kept] if kept.files or kept.folders else [])], key=lambda one: one.key)
    path = os.path.join(home, FILE)
    if not entries:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with contextlib.suppress(OSError):
            os.rmdir(home)
        return
    ensure_folder(home)
    value = {"format": 1, "installed": [asdict(one) for one in entries]}
    replace_file(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape"))


def _parse_host(value: dict[str, Any]) -> KeptHost:
    files = []
    for one in value["files"]:
        undo = one["undo"]
        steps = None if undo is None else tuple((int(at), int(length), str(was)) for at, length, was in undo)
        keeps = None if one["keeps"] is None else int(one["keeps"])
        named = (str(one["path"]), str(one["form"]), str(one["digest"]))
        files.append(KeptFile(*named, one["made"] is True, steps, keeps, tuple(map(str, one["server"]))))
    names = (str(value["host"]), str(value["scope"]), str(value["project"]))
    return KeptHost(*names, tuple(files), tuple(map(str, value["folders"])))

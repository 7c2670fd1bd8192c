"""What installing a host, or taking it away, changes: every file before and after, worked out before any is touched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gitmem.errors import StateError
from gitmem.hosts.install import block_config, json_config, toml_config
from gitmem.hosts.install.kept import KeptFile, KeptHost
from gitmem.hosts.install.place import Found, check_writable, look_at
from gitmem.hosts.install.undo import apply_undo, find_undo
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile

_BOM = "\ufeff"
PRIVATE_MODE, SHARED_MODE = 0o600, 0o644
_EDITORS = {Form.JSON: json_config, Form.TOML: toml_config, Form.BLOCK: block_config}
Result = TypeVar("Result")


@dataclass(frozen=True)
class FileEdit:
    """One file to be made (``before`` is ``None``), changed or removed (``after`` is ``None``).

    ``path`` is what its person calls it, ``target`` the file itself; ``mode`` is the one that it has or gets.
    """

    path: str
    target: str
    before: bytes | None
    after: bytes | None
    mode: int


@dataclass(frozen=True)
class Plan:
    """All edits in order, what is remembered once they are made, and what its person has to know.

    ``folders`` are those that gitmem made once and that go if they are empty then.
    """

    edits: tuple[FileEdit, ...]
    kept: KeptHost
    notices: tuple[str, ...]
    folders: tuple[str, ...] = ()


def plan_install(wanted: Wanted, kept: KeptHost) -> Plan:
    """Return how to bring one host to ``wanted``; ``kept`` is what is remembered of it, with no files for nothing.

    Reads files. Raises ``StateError`` for a file that can't be understood or written (``config-broken`` and what
    ``place`` raises): then nothing of the host is installed.
    """
    edits: list[FileEdit] = []
    files: list[KeptFile] = []
    notices = list(wanted.notices)
    gone = [one for one in kept.files if one.path not in {file.path for file in wanted.files}]
    for file in [*map(_as_wanted, gone), *wanted.files]:
        found = look_at(file.path, kept.project_around(file.path))
        old = kept.find(file.path)
        is_gone = file not in wanted.files
        after = _without(file, found, old) if is_gone else _with(file, found, old)
        notices += _notices(file, found, after, is_gone=is_gone)
        if after != found.data:
            edits.append(_edit(file, found, after))
        if not is_gone and (entry := _remember(file, found, after, old)) is not None:
            files.append(entry)
    return Plan(tuple(edits), replace(kept, files=tuple(files)), tuple(notices))


def plan_uninstall(wanted: Wanted, kept: KeptHost, shared: Collection[str] = ()) -> Plan:
    """Return how to take one host's installation away; ``wanted`` is what it would get now.

    A file that gitmem wrote whole stays where another host has it, too (``shared`` are the paths of these), and where a
    person edited it, which is told. Reads files; raises as ``plan_install`` does.
    """
    edits: list[FileEdit] = []
    notices: list[str] = []
    known = {file.path for file in wanted.files}
    for file in [*wanted.files, *(_as_wanted(one) for one in kept.files if one.path not in known)]:
        if file.form is Form.WHOLE and file.path in shared:
            continue
        found = look_at(file.path, kept.project_around(file.path))
        after = _without(file, found, kept.find(file.path))
        notices += _notices(file, found, after, is_gone=True)
        if after != found.data:
            edits.append(_edit(file, found, after))
    own = (os.path.dirname(file.path) for file in wanted.files if file.form is Form.WHOLE and _is_own_folder(file))
    folders = tuple(dict.fromkeys((*own, *reversed(kept.folders))))
    return Plan(tuple(edits), replace(kept, files=(), folders=()), tuple(notices), folders)


def digest(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def read_text(found: Found) -> str:
    """Return a file's text, without what marks its encoding; empty for no file.

    Raises ``StateError`` (``config-broken``).
    """
    try:
        return (found.data or b"").decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError:
        raise _broken(found.path, "it is not valid UTF-8") from None


def _is_own_folder(file: WantedFile) -> bool:
    return os.path.basename(os.path.dirname(file.path)) == "gitmem"


def _as_wanted(kept: KeptFile) -> WantedFile:
    return WantedFile(kept.path, Form(kept.form), server=kept.server)


def _edit(file: WantedFile, found: Found, after: bytes | None) -> FileEdit:
    check_writable(found)
    mode = found.mode if found.data is not None else PRIVATE_MODE if file.is_private else SHARED_MODE
    return FileEdit(found.path, found.target, found.data, after, mode)


def _with(file: WantedFile, found: Found, old: KeptFile | None) -> bytes | None:
    """Return the bytes of a file that holds what is wanted, those that it has where it does already."""
    if file.form is Form.WHOLE:
        return file.text.encode() if found.data is None or _is_own_whole(file, found, old) else found.data
    text = read_text(found)
    return _encode(found, text, _change(found, lambda: find_editor(file).put_in(text, file)))


def _without(file: WantedFile, found: Found, old: KeptFile | None) -> bytes | None:
    """Return the bytes of a file that holds nothing of gitmem's, ``None`` where none of it is to be left."""
    if found.data is None:
        return None
    if file.form is Form.WHOLE:
        return None if _is_own_whole(file, found, old) else found.data
    text = read_text(found)
    if old is not None and old.keeps is not None:
        file = replace(file, server_keeps=old.keeps)
    if old is not None and old.undo is not None and digest(found.data) == old.digest:
        left = apply_undo(text, old.undo)
    else:
        left = _change(found, lambda: find_editor(file).take_out(text, file))
    if old is not None and old.made and _change(found, lambda: find_editor(file).is_bare(left, file)):
        return None
    return _encode(found, text, left)


def _remember(file: WantedFile, found: Found, after: bytes | None, old: KeptFile | None) -> KeptFile | None:
    if after is None or (file.form is Form.WHOLE and after != file.text.encode()):
        return None
    if after == found.data and old is not None and old.digest == digest(after):
        return old
    if file.form is Form.WHOLE:
        return KeptFile(file.path, file.form, digest(after), made=True)
    if after == found.data:
        return None
    before = text = read_text(found)
    is_as_left = old is not None and found.data is not None and digest(found.data) == old.digest
    if old is not None and is_as_left and old.undo is not None:
        before = apply_undo(text, old.undo)
    made = found.data is None or (old is not None and old.made)
    undo = find_undo(before, after.decode().removeprefix(_BOM))
    keeps = old.keeps if old is not None else None
    if keeps is None and file.form is Form.JSON and file.server:
        keeps = json_config.count_there(before, file.server)
    return KeptFile(file.path, file.form, digest(after), made, undo, keeps, tuple(map(str, file.server)))


def _notices(file: WantedFile, found: Found, after: bytes | None, *, is_gone: bool) -> Iterator[str]:
    if after != found.data and found.target != os.path.abspath(file.path):
        yield f"{file.path} is a link, or lies behind one; what changes is {found.target}"
    if file.form is Form.WHOLE:
        if found.data is not None and after == found.data and (is_gone or after != file.text.encode()):
            yield f"{file.path} is not as gitmem wrote it; it was left as it is"
        return
    text = read_text(found)
    if file.server_entry and not is_gone and _change(found, lambda: find_editor(file).is_foreign_server(text, file)):
        yield f"{file.path} has another MCP server called {file.server[-1]}; it was left, and gitmem's was not added"


def _is_own_whole(file: WantedFile, found: Found, old: KeptFile | None) -> bool:
    """Tell whether a whole file is as gitmem left it, or as it would write it. A link is never gitmem's."""
    assert found.data is not None
    if os.path.islink(file.path):
        return False
    return found.data == file.text.encode() or (old is not None and digest(found.data) == old.digest)


def find_editor(file: WantedFile) -> Any:
    """Return the module that edits files of such a form, all with the same functions; all raise ``ValueError``."""
    return _EDITORS[file.form]


def _change(found: Found, edit: Callable[[], Result]) -> Result:
    try:
        return edit()
    except ValueError as error:
        raise _broken(found.path, str(error)) from None


def _broken(path: str, reason: str) -> StateError:
    message = f"{path} can't be understood, and was not touched: {reason}"
    return StateError(
        "config-broken", message, "Mend it first; its host may not be able to read it, either.", path=path
    )


def _encode(found: Found, before: str, after: str) -> bytes | None:
    if after == before:
        return found.data
    mark = _BOM if (found.data or b"").startswith(_BOM.encode()) else ""
    return (mark + after).encode()

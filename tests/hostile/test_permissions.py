"""What may not be read or written, whose the files are, and who may read what gitmem writes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hostile.ground import Place, assert_told, bounded, look, row_of, say_write

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"

NOBODY = 65534
_CAPABILITIES_3 = 0x20080522
_OVERRIDE = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user or give files away")


@contextlib.contextmanager
def bound_by_modes() -> Iterator[None]:
    """Have file modes hold for this process; they don't for root, unless it lays down the power to override them."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, before = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, before) == 0
    bound = (ctypes.c_uint32 * 6)(*before)
    bound[0] &= ~_OVERRIDE
    assert libc.capset(header, bound) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


@contextlib.contextmanager
def mode(path: Path, wanted: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(wanted)
    try:
        yield
    finally:
        if path.exists():
            path.chmod(stat.S_IMODE(before))


def at(text: str) -> Callable[[Place], Path]:
    return lambda place: place.home / text


def note(place: Place) -> Path:
    return next((place.repo / "observations").rglob("*.md"))


def tip_object(place: Place) -> Path:
    tip = (place.git / "refs/heads/main").read_text().strip()
    return place.git / "objects" / tip[:2] / tip[2:]


GIT = "global/repo/.git"


class Closed(NamedTuple):
    """A file or folder of mode 0, and what is said; as ``ground.Row``."""

    outcome: str
    make: Callable[[Place], Path]
    read: str
    write: str
    doctor: str


CLOSED: dict[str, Closed] = {
    "note": Closed("D", note, "no-match unreadable", "done", ""),
    "month": Closed("R", lambda place: note(place).parent, "no-match folder-unreadable", "not-readable", ""),
    "lifecycle folder": Closed("D", at("global/repo/promoted"), "ok folder-unreadable", "done", ""),
    "vault": Closed("R", at("global/repo"), "unavailable vault-unreadable", "not-readable", "vault-unreadable"),
    "manifest": Closed("R", at("global/repo/manifest.json"), "ok", "not-readable", "not-readable"),
    "catalog.json": Closed("R", at("global/repo/catalog.json"), "ok", "not-readable", ""),
    ".git": Closed("R", at(GIT), "unavailable vault-unreadable", "vault-unreadable", "vault-unreadable"),
    "HEAD": Closed("R", at(f"{GIT}/HEAD"), "unavailable ref-unreadable", "ref-unreadable", "ref-unreadable"),
    "settings": Closed(
        "R", at(f"{GIT}/config"), "unavailable vault-unreadable", "vault-unreadable", "vault-unreadable"
    ),
    "branch": Closed(
        "R", at(f"{GIT}/refs/heads/main"), "unavailable ref-unreadable", "ref-unreadable", "ref-unreadable"
    ),
    "branches": Closed(
        "R", at(f"{GIT}/refs/heads"), "unavailable vault-unreadable", "vault-unreadable", "vault-unreadable"
    ),
    "index": Closed("R", at(f"{GIT}/index"), "ok", "index-unreadable", "index-unreadable"),
    "objects": Closed(
        "R", at(f"{GIT}/objects"), "unavailable vault-unreadable", "vault-unreadable", "vault-unreadable"
    ),
    "object": Closed("R", tip_object, "unavailable object-unreadable", "object-unreadable", "object-unreadable"),
    "lock": Closed("R", at(f"{GIT}/gitmem/lock"), "ok", "disk", ""),
    "gitmem's folder": Closed(
        "R", at(f"{GIT}/gitmem"), "unavailable vault-unreadable", "vault-unreadable", "vault-unreadable"
    ),
    "reflogs": Closed("R", at(f"{GIT}/logs"), "unavailable vault-unreadable", "vault-unreadable", "vault-unreadable"),
    "runtime": Closed(
        "R",
        at("global/runtime"),
        "degraded catalog-degraded",
        "receipts-unreadable",
        "no-exchange receipts-unreadable",
    ),
    "receipts": Closed("R", at("global/runtime/receipts"), "ok", "receipts-unreadable", "receipts-unreadable"),
    "receipts file": Closed(
        "R",
        lambda place: next((place.runtime / "receipts").iterdir()),
        "ok",
        "receipts-unreadable",
        "receipts-unreadable",
    ),
    "journal": Closed(
        "R", at(f"{GIT}/gitmem/journal"), "ok abandoned-operation", "journal-unreadable", "journal-unreadable"
    ),
    "catalog": Closed("D", at("global/runtime/catalog.sqlite"), "degraded catalog-degraded", "done", ""),
    "registry": Closed(
        "R", at("registry.json"), "error registry-unreadable", "registry-unreadable", "registry-unreadable"
    ),
    "home": Closed(
        "R", at(""), "error registry-unreadable", "registry-unreadable", "registry-unreadable settings-unreadable"
    ),
}


@pytest.fixture
def place(gitmem: Gitmem, tmp_path: Path) -> Place:
    gitmem.observe("One", "--key", "one")
    gitmem("list")
    return Place(Path(gitmem.environment.home), tmp_path / "outside")


@pytest.mark.parametrize("name", CLOSED)
def test_what_nobody_may_open(gitmem: Gitmem, place: Place, name: str) -> None:
    row = CLOSED[name]
    before = look(place.repo)
    with bounded(), mode(row.make(place), 0), bound_by_modes():
        read, doctor = row_of(gitmem)
        for args in (["status"], ["check"]):
            assert_told(gitmem(*args))
        write = say_write(gitmem, "observe", "Two", "--evidence", "run:1")
    assert (read, write, doctor) == (row.read, row.write, row.doctor)
    assert (write == "done") == (row.outcome == "D")
    assert (look(place.repo) == before) == (row.outcome == "R")


@as_root
def test_a_repository_of_another_account_is_read_and_not_written(gitmem: Gitmem, place: Place) -> None:
    for path in (place.repo, *place.repo.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    before = look(place.repo)
    with bounded():
        assert row_of(gitmem) == ("ok", "foreign-owner")
        assert say_write(gitmem, "observe", "Two", "--evidence", "run:1") == "foreign-owner"
    assert look(place.repo) == before


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_runtime_is_for_its_owner_alone_whatever_the_mask(gitmem: Gitmem, mask: int) -> None:
    home = Path(gitmem.environment.home, "apart")
    at = gitmem.at(home=str(home))
    before = os.umask(mask)
    try:
        assert at("init").code == 0
        record = at.observe("One")
        for args in (["search", "One"], ["edit", record, "--title", "Two"], ["status"]):
            assert at(*args).code == 0
    finally:
        os.umask(before)
    runtime = home / "global/runtime"
    modes = {str(path.relative_to(home)): stat.S_IMODE(path.lstat().st_mode) for path in (runtime, *runtime.rglob("*"))}
    modes |= {name: stat.S_IMODE((home / name).stat().st_mode) for name in ("registry.json", f"{GIT}/gitmem", "")}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}


@as_root
def test_another_account_reads_nothing_of_runtime(gitmem: Gitmem) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        at = gitmem.at(home=f"{folder}/home")
        assert at("init").code == 0
        at.observe("One")
        at("search", "One")
        names = [str(path) for path in (Path(folder, "home"), *Path(folder, "home").rglob("*"))]
        assert len(names) > 50
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os._exit(sum(_can_open(name) for name in names))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _can_open(name: str) -> bool:
    try:
        os.close(os.open(name, os.O_RDONLY))
    except PermissionError:
        return False
    return True

"""One cell of the fault matrix: an operation, a system call, a fault; what is left, and whether it may be."""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitmem.clock import SystemClock
from gitmem.errors import GitmemError
from gitmem.transaction.receipts import iter_receipts
from gitmem.vault.layout import VaultLayout

from conftest import git
from fault_cases import OP, Case, Ground, do, make_common
from tracer import Run, run_traced

NOW = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)
_GITMEM_ERRORS = ("InputError", "StateError", "PolicyError", "UnavailableError", "IntegrityError")
_LITTER = re.compile(r"objects/tmp_obj_gitmem\w+|\.git/gitmem/maintain/|\.gitmem-init-\w+(/.*)?")
"""What a kill may leave: ``maintain`` removes the first two, Git's pruning the first; ``doctor`` names the third."""
SETTLE = "status"


@dataclass(frozen=True)
class Shot:
    """What can be seen of a vault from outside."""

    trees: tuple[str, ...]
    op_ids: tuple[str, ...]
    files: dict[str, bytes | None]
    staged: str
    status: str
    litter: tuple[str, ...]
    odd: tuple[str, ...]
    receipts: tuple[str, ...]
    fsck: str


@dataclass(frozen=True)
class Verdict:
    """How a run ended: ``outcome`` for the table, ``problems`` when the cell is bad."""

    outcome: str
    problems: tuple[str, ...]
    call: str = ""


class Bench:
    """One case, prepared: the vault before it, what it looks like before and after, and the calls it makes."""

    def __init__(self, case: Case, root: Path) -> None:
        SystemClock.now = lambda _self: NOW  # type: ignore[method-assign]
        self.case = case
        self.ground = Ground(root / "ground")
        self._kept = root / "kept"
        shutil.rmtree(self.ground.root, ignore_errors=True)
        shutil.rmtree(self._kept, ignore_errors=True)
        self.ground.root.mkdir(parents=True)
        if not case.makes_vault:
            make_common(self.ground, alone=case.name.endswith("-alone"))
        case.prepare(self.ground)
        shutil.copytree(self.ground.root, self._kept, symlinks=True)
        self._stats = _stats(self.ground.root)
        self.old = self.shoot()
        clean = self.traced()
        if clean.said is None or "returned" not in clean.said:
            raise AssertionError(f"{case.name} fails without any fault: {clean.said}")
        self.calls = clean.calls
        self.new_head = self._head()
        self.new = self.shoot()
        self.rows = self._check_rows()
        if self.new.trees == self.old.trees or self.new.odd or self.new.fsck:
            raise AssertionError(f"{case.name} does nothing, or leaves things: {self.new}")

    def reset(self) -> None:
        """Put the vault back as it was before the operation."""
        # Files that nobody touched stay the files they were: Git and the catalog know them by inode and time.
        now = _stats(self.ground.root)
        for path in sorted(now.keys() - self._stats.keys(), reverse=True):
            whole = self.ground.root / path
            whole.rmdir() if whole.is_dir() and not whole.is_symlink() else whole.unlink()
        for path in sorted(self._stats):
            if now.get(path) != self._stats[path]:
                whole = self.ground.root / path
                if self._stats[path] == _FOLDER:
                    whole.mkdir(exist_ok=True)
                    shutil.copystat(self._kept / path, whole)
                else:
                    whole.unlink(missing_ok=True)
                    shutil.copy2(self._kept / path, whole, follow_symlinks=False)
                    self._stats[path] = _stat(whole)

    def traced(self, fault: tuple[str, int] | None = None) -> Run:
        """Do the operation with a fault in it."""
        return run_traced(lambda: do(self.case, self.ground), str(self.ground.root), fault)

    def traced_next(self, command: str, fault: tuple[str, int] | None = None) -> Run:
        """Run the command that meets what a crash left, with a fault in it: ``status``, or the operation once more."""

        def work() -> Any:
            if command != SETTLE:
                return do(self.case, self.ground, attempt=2)
            with self.ground.open() as memory:
                return memory.status().status

        run = run_traced(work, str(self.ground.root), fault)
        if command == SETTLE and run.said is not None and "returned" in run.said:
            run.said = None  # it acknowledges nothing
        return run

    def judge(self, fault: tuple[str, int]) -> Verdict:
        """Run the operation with ``fault`` and tell whether all is as it must be, then and after the next commands."""
        self.reset()
        run = self.traced(fault)
        call = run.calls[fault[1] - 1] if fault[1] <= len(run.calls) else ""
        if not run.is_hit:
            return Verdict("missed", (), call)
        verdict = self.conclude(run)
        return replace(verdict, problems=without_empty_folders(verdict.problems, call), call=call)

    def conclude(self, run: Run) -> Verdict:
        """Look at what ``run`` left and said, run the next commands, look again."""
        problems: list[str] = []
        said = run.said
        acknowledged = said["returned"]["commit"] if said is not None and "returned" in said else None
        is_done = self._head() in (self.new_head, acknowledged)
        problems += self._doubt(said, is_done)
        problems += self._next_command()
        shot = self.shoot()
        place, found = self._compare(shot, is_early=True)
        if not self.case.makes_vault:  # there, what settles a crash is to make it again
            problems += found
        if said is not None and "returned" in said and place != "new":
            problems.append(f"LOST: acknowledged, but after the next command the vault is {place}")
        if said is not None and "Nothing was committed" in said.get("hint", "") and place == "new":
            problems.append("the error says that nothing was committed, but it was")
        problems += [f"again: {one}" for one in self._again(is_checked=place == "new")]
        return Verdict(f"{_name(said)}, {place}", tuple(problems))

    def shoot(self, *, is_checked: bool = False) -> Shot:
        """Look at everything, with Git as the judge."""
        repo = self.ground.repo
        files = _files(repo)
        litter, odd = self._leftovers()
        if not (repo / ".git").is_dir():
            return Shot((), (), files, "", "", litter, odd, (), "")
        log = self.ground.git("log", "--format=%T %(trailers:key=Gitmem-Op-Id,valueonly,separator=%x2C)", check=False)
        lines = [line.split(" ") for line in reversed(log.splitlines())]
        return Shot(
            tuple(line[0] for line in lines),
            tuple(line[1] for line in lines if line[1:]),
            files,
            self.ground.git("ls-files", "-s"),
            self.ground.git("--no-optional-locks", "status", "--porcelain", "--untracked-files=all"),
            litter,
            odd,
            self._receipts(),
            "" if is_checked else _fsck(repo),
        )

    def _head(self) -> str:
        """Return the commit that the vault is at; with the same ids and the same time, each run makes the same."""
        path = self.ground.repo / ".git/refs/heads/main"
        return path.read_text().strip() if path.exists() else ""

    def _doubt(self, said: dict[str, Any] | None, is_done: bool) -> Iterator[str]:
        if said is None:
            return
        if "returned" in said:
            if not is_done or (said["returned"]["changed"] and not said["returned"]["commit"]):
                yield f"FALSE ACK: {said['returned']}"
            return
        if said["raised"] in ("KeyboardInterrupt", "MemoryError"):
            return
        if said["raised"] not in _GITMEM_ERRORS:
            yield f"no error of gitmem's: {said['raised']}: {said['message']} at {said['where']}"
        if is_done and "Nothing was committed" in said["hint"]:
            yield "the error says that nothing was committed, but it was"

    def _next_command(self) -> Iterator[str]:
        if self.case.makes_vault:
            return
        with _telling("status") as told, self.ground.open() as memory:
            answer = memory.status()
            if answer.status != "ok":
                yield f"status is {answer.status}: {answer.diagnostics}"
            for one in answer.diagnostics:
                if one.code not in ("recovered", "view-edited"):
                    yield f"status says {one.code}: {one.message}"
        yield from told

    def _compare(self, shot: Shot, *, is_early: bool = False) -> tuple[str, Iterator[str]]:
        for path in self.case.later if is_early else ():
            if shot.trees == self.new.trees and shot.files.get(path) == self.old.files[path]:
                lines = [line for line in shot.status.splitlines(keepends=True) if line != f" M {path}\n"]
                shot = replace(shot, files=shot.files | {path: self.new.files[path]}, status="".join(lines))
        base = len(self.old.trees)
        trees = self.new.trees
        if shot.trees == self.old.trees:
            return "old", _differences(self.old, shot)
        if shot.trees == trees:
            return "new", _differences(self.new, shot)
        if shot.trees == trees[: len(shot.trees)] and len(shot.trees) > base:
            return "between", _differences(replace(self.old, files=shot.files, staged=shot.staged), shot)
        return "odd", iter([f"HISTORY: {shot.trees[base:]} is not a beginning of {trees[base:]}"])

    def _again(self, *, is_checked: bool) -> Iterator[str]:
        """Do the operation once more, under its id: done once, whatever came of the first time."""
        with _telling("the operation") as told:
            do(self.case, self.ground, attempt=3)
        if (told and self.case.has_op_id) or (told and "nothing" not in told[0]):
            yield from told
        if self.case.makes_vault:  # what is left of locks goes with the first command in the vault
            with _telling("status") as told, self.ground.open() as memory:
                memory.status()
            yield from told
        shot = self.shoot(is_checked=is_checked)
        place, found = self._compare(shot)
        if place != "new":
            yield f"the vault is {place}"
        yield from found
        if self.case.has_op_id:
            if shot.op_ids.count(OP) != 1:
                yield f"{shot.op_ids.count(OP)} commits of the operation"
            if shot.receipts.count(OP) != 1:
                yield f"{shot.receipts.count(OP)} receipts of the operation"
        if self.case.clears_litter and shot.litter:
            yield f"litter stays: {shot.litter}"
        if len(shot.receipts) != len(self.new.receipts):
            yield f"{len(shot.receipts)} receipts, not {len(self.new.receipts)}"
        rows = self._check_rows()
        if rows != self.rows:
            yield f"check says {rows}, not {self.rows}"

    def _check_rows(self) -> list[Any]:
        with _telling("check") as told, self.ground.open() as memory:
            answer = memory.check()
            return [*answer.rows, *((one.code, one.message) for one in answer.diagnostics), answer.status]
        return list(told)

    def _receipts(self) -> tuple[str, ...]:
        try:
            layout = VaultLayout(str(self.ground.repo), str(self.ground.runtime))
        except (StopIteration, FileNotFoundError):
            return ()
        return tuple(receipt.op_id for receipt in iter_receipts(layout))

    def _leftovers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        root = self.ground.root
        found = []
        for folder, folders, files in os.walk(root):
            inside = os.path.relpath(folder, root)
            for name in [*files, *folders]:
                path = os.path.normpath(f"{inside}/{name}")
                is_own = name.startswith((".gitmem-", "gitmem-lock-", "tmp_obj_gitmem")) or name.endswith(".tmp")
                is_own = is_own or ("/gitmem/maintain/" in path and name != "pack")
                is_git = "/.git/" in f"/{path}" and (name.endswith(".lock") or re.fullmatch(r"index\..+", name))
                if is_own or is_git or ("/journal/" in path):
                    found.append(path)
        found = [path for path in found if not any(path.startswith(f"{other}/") for other in found)]
        litter = tuple(sorted(path for path in found if _LITTER.search(path)))
        return litter, tuple(sorted(path for path in found if not _LITTER.search(path)))


def without_empty_folders(problems: tuple[str, ...], call: str) -> tuple[str, ...]:
    """Leave out that a folder stays, empty, if ``call``, at which the fault came, was to remove one.

    Git and people see nothing of such a folder.
    """
    if not call.startswith("rmdir "):
        return problems
    return tuple(one for one in problems if not re.match(r"(again: )?FILE [^:]*/: ", one))


class _Told(list[str]):
    pass


@contextlib.contextmanager
def _telling(what: str) -> Iterator[_Told]:
    told = _Told()
    try:
        yield told
    except GitmemError as error:
        told.append(f"{what} fails: {error.code}: {error.message} {error.hint}")
    except Exception as error:
        told.append(f"{what} fails: {error!r}")


def _differences(wanted: Shot, got: Shot) -> Iterator[str]:
    for path in sorted(wanted.files.keys() | got.files.keys()):
        before, after = (files.get(path, b"(absent)") for files in (wanted.files, got.files))
        if before != after:
            yield f"FILE {path}: {after!r:.60} not {before!r:.60}"
    if wanted.staged != got.staged:
        odd = sorted(set(wanted.staged.splitlines()) ^ set(got.staged.splitlines()))
        yield f"STAGED differs: {odd}"
    if wanted.status != got.status:
        yield f"git status: {got.status!r} not {wanted.status!r}"
    if got.odd:
        yield f"left over: {got.odd}"
    if got.fsck:
        yield f"fsck: {got.fsck}"


def _files(repo: Path) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for folder, folders, files in os.walk(repo):
        if ".git" in folders:
            folders.remove(".git")
        inside = os.path.relpath(folder, repo)
        for name in files:
            path = Path(folder, name)
            found[os.path.normpath(f"{inside}/{name}")] = (
                os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            )
        if not files and not folders:
            found[os.path.normpath(inside) + "/"] = None
    return found


_FOLDER = (0, 0, 0, 0)


def _stats(root: Path) -> dict[str, tuple[int, int, int, int]]:
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder, name)
            found[os.path.relpath(path, root)] = _stat(path)
    return found


def _stat(path: Path) -> tuple[int, int, int, int]:
    one = path.lstat()
    if stat.S_ISDIR(one.st_mode):
        return _FOLDER
    return one.st_ino, one.st_ctime_ns, one.st_mtime_ns, one.st_size


def _fsck(repo: Path) -> str:
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling", "--no-progress"],
        cwd=repo,
        env={"PATH": os.environ["PATH"], "HOME": str(repo), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 and not done.stdout else f"{done.returncode} {done.stdout} {done.stderr}"


def _name(said: dict[str, Any] | None) -> str:
    if said is None:
        return "killed"
    if "returned" in said:
        return "done"
    return {"KeyboardInterrupt": "interrupted", "MemoryError": "out of memory"}.get(said["raised"], "error")


def git_version() -> str:
    """Return what judged."""
    return git(Path("/"), "--version").strip()

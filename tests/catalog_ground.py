"""A vault of plain files without Git, and its catalog on a clock that stands a second after the last change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from gitmem.catalog.database import open_database
from gitmem.catalog.filters import Filters
from gitmem.catalog.folders import load_known, save_place
from gitmem.catalog.reconcile import Report, reconcile
from gitmem.catalog.search import Match, Page, Query, search
from gitmem.model.record import Record
from gitmem.model.vault_path import VaultPath
from gitmem.relevance.question import parse_question
from gitmem.relevance.terms import extract_terms
from gitmem.vault.folder_times import plan_slice, scan_by_times
from gitmem.vault.record_file import parse_record
from gitmem.vault.scan import Scan, StableReader, scan_records

IDS = [f"{i:012d}" for i in range(100)]


class Ground:
    """One vault's work tree and its catalog; ``reads`` lists the paths that were read since it was last cleared."""

    def __init__(self, root: Path, runtime_file: str) -> None:
        self.root = root / "repo"
        self.root.mkdir(exist_ok=True)
        self.database = open_database(runtime_file, "vault-a", busy_timeout_s=0.05)
        self.reads: list[str] = []
        self.parse: Callable[[VaultPath, bytes], Record | None] = parse_record
        self.clean: Callable[[str], str] = lambda text: text.replace("hunter2", "[secret]")
        self.before_read: Callable[[str], object] = lambda path: None
        self.age_ns = 10**9
        self.max_notes = 20_000

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.database.close()

    def time_ns(self) -> int:
        files = (file for file in self.root.rglob("*.md") if file.is_file())
        return max((file.lstat().st_ctime_ns for file in files), default=0) + self.age_ns

    def sleep_s(self, seconds: float) -> None:
        """Take no time."""

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def note(self, path: str, number: int, body: str = "Body.\n", **properties: str) -> Path:
        lines = [f"gitmem_id: '{IDS[number]}'", *(f"{name}: {value}" for name, value in properties.items())]
        return self.write(path, "\n".join(["---", *lines, "---", body]))

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def refresh(self) -> Report:
        return self.database.attempt(self.bring_in_step)

    def bring_in_step(self) -> Report:
        """Reconcile once, as it must be done inside ``Database.attempt``."""
        with StableReader(str(self.root), self, max_wait_s=0.01) as read:

            def note_and_read(path: str) -> bytes:
                self.reads.append(path)
                self.before_read(path)
                return read(path)

            scan = self.look()
            return reconcile(self.database, scan, note_and_read, self.parse, extract_terms, self.clean, self.max_notes)

    def look(self) -> Scan:
        """Scan as reading does: by the folders' times in a vault of more than ``max_notes`` notes."""
        known = load_known(self.database, self.max_notes)
        if known is None:
            return scan_records(str(self.root), self)
        turn = plan_slice(known, self.max_notes)
        assert save_place(self.database, turn.end)
        return scan_by_times(str(self.root), self, known, turn)

    def search(self, text: str, limit: int = 10, filters: Filters | None = None) -> list[Match]:
        query = Query(parse_question(text), filters or Filters())

        def work() -> list[Match]:
            self.bring_in_step()
            return list(search(self.database, query, Page(limit)).page)

        return self.database.attempt(work)

    def find(self, text: str, limit: int = 10, filters: Filters | None = None) -> list[str]:
        """Return the paths of what answers, in order."""
        return [match.row.path for match in self.search(text, limit, filters)]


def problems(report: Report) -> list[tuple[str, str]]:
    return [(problem.path, problem.code) for problem in report.problems]

"""The verbs of hosts whose models see records as a tree of files. A part of ``Memory``."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.model.answer import Answer
from gitmem.model.authority import Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.service.memory_base import MemoryBase
from gitmem.service.reading import report
from gitmem.service.retry import answer_again
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.service.edit import RecordEdit


class FileVerbs(MemoryBase):
    """Records as files, and several of them changed at once; see ``service.memory``."""

    def files(self, *, chosen_only: bool = False) -> Answer:
        """Return every record in use by the path at which a model sees it, as rows. See ``service.files``."""
        from gitmem.service.files import list_files

        return report(lambda: list_files(self.vault, chosen_only=chosen_only))

    def show_file(self, ref: str, actor: Actor | None = None) -> Answer:
        """Return one record as ``show`` does, and whether it is the actor's own. See ``service.files``."""
        from gitmem.service.files import show_file

        return report(lambda: show_file(self.vault, ref, actor or self.actor))

    def wait_for_writers(self) -> None:
        """Return when nobody is in the midst of an operation. Raises. See ``service.files``."""
        from gitmem.service.files import wait_for_writers

        wait_for_writers(self.vault)

    def edit_all(
        self, edits: Sequence[tuple[str, RecordEdit]], actor: Actor | None = None, op_id: OpId | None = None
    ) -> Receipt:
        """Change several records in place, in one operation. See ``service.edit``."""
        from gitmem.service.edit import edit_all

        return answer_again(self.vault, op_id, lambda: edit_all(self.vault, edits, actor or self.actor, op_id))

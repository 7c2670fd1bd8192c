"""The verbs that write files of the project, not of the vault. A part of ``Memory``."""

from __future__ import annotations

from gitmem.service.memory_base import MemoryBase
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.service.agents_md import Export, Wanted


class ExportVerbs(MemoryBase):
    """Sections in files of instructions for agents; see ``service.memory``."""

    def export_agents_md(self, file: str, wanted: Wanted | None = None) -> Export:
        """Bring the section of a file (absolute) in step with what is confirmed. Raises. See ``service.agents_md``."""
        from gitmem.service.agents_md import Wanted, export_agents_md

        return export_agents_md(self.vault, file, wanted or Wanted())

    def find_agents_file(self, folder: str) -> str:
        """Return the AGENTS.md of the vault's project, seen from ``folder``. Raises. See ``service.agents_md``."""
        from gitmem.service.agents_md import find_default_file

        return find_default_file(self.vault, folder)

"""The composition root: from what a host knows (a home, a folder, a name) to a ``Memory``."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.clock import SystemClock
from gitmem.service.locate import find_global, locate
from gitmem.service.vault import OpenVault, Options
from gitmem.typed import TYPE_CHECKING
from gitmem.values import replace
from gitmem.vault.layout import HomeLayout

if TYPE_CHECKING:
    from gitmem.model.answer import Answer
    from gitmem.model.authority import Actor
    from gitmem.model.change import Receipt
    from gitmem.model.ids import OpId
    from gitmem.model.record import Problem
    from gitmem.model.settings import VaultEntry
    from gitmem.service.init import NewVault
    from gitmem.service.memory import Memory
    from gitmem.service.memory_read import ReadVerbs


def open_vault(
    home: str, folder: str, named: str | None = None, options: Options | None = None, *, only_known: bool = False
) -> OpenVault:
    """Return the vault that ``named`` or ``folder`` means; see ``service.locate.locate`` for how and its errors."""
    entry = locate(HomeLayout(home), folder, named, only_known=only_known)
    return OpenVault(entry, SystemClock(), replace(options or Options(), home=home, settle_handovers=_settle_handovers))


def open_memory(
    home: str, folder: str, named: str | None = None, options: Options | None = None, actor: Actor | None = None
) -> Memory:
    """Return the memory over the vault that ``open_vault`` returns; ``actor`` writes where a call names nobody."""
    return make_memory(open_vault(home, folder, named, options), actor)


def make_reader(vault: OpenVault) -> ReadVerbs:
    """Return what can read an open ``vault``: a memory without what writes, and without the time that this takes."""
    from gitmem.service.memory_read import ReadVerbs

    return ReadVerbs(vault, lambda: find_global(HomeLayout(vault.options.home)))


def make_memory(vault: OpenVault, actor: Actor | None = None) -> Memory:
    """Return the memory over an open ``vault``."""
    from gitmem.service.memory import Memory

    return Memory(vault, lambda: find_global(HomeLayout(vault.options.home)), actor)


def _settle_handovers(vault: OpenVault) -> tuple[Problem, ...]:
    from gitmem.vault.handovers import has_handovers

    if not has_handovers(HomeLayout(vault.options.home)):
        return ()
    from gitmem.service.handover import settle_handovers

    return settle_handovers(vault)


def make_vault(home: str, wanted: NewVault, actor: Actor, op_id: OpId | None = None) -> tuple[VaultEntry, Receipt]:
    """Make a vault, or find it; see ``service.init.init_vault``."""
    from gitmem.service.init import init_vault

    return init_vault(HomeLayout(home), wanted, actor, SystemClock(), op_id)


def run_doctor(home: str, folder: str, named: str | None = None, agent_socket: str = "") -> Answer:
    """Look at the machine, the home and, if there is one, the vault; see ``service.doctor.doctor``."""
    from gitmem.service.doctor import doctor

    return doctor(HomeLayout(home), folder, named, agent_socket)


def read_identity(config_files: Sequence[str]) -> tuple[str, str] | None:
    """Return the name and e-mail address that a person gave Git, from the first file that has both; else ``None``."""
    from gitmem.git.repo import read_user_identity

    return read_user_identity(config_files)


def show_settings(home: str) -> Answer:
    """Return the home's settings; see ``service.settings.show_settings``."""
    from gitmem.service import settings

    return settings.show_settings(HomeLayout(home))


def set_secret_scanner(home: str, command: Sequence[str], actor: Actor, timeout_s: float | None = None) -> Receipt:
    """Set the program that looks for secrets; see ``service.settings.set_scanner``."""
    from gitmem.service import settings

    return settings.set_scanner(HomeLayout(home), command, actor, timeout_s)


def set_signing_key(home: str, file: str, actor: Actor) -> Receipt:
    """Set the person's SSH key; see ``service.settings.set_signing_key``."""
    from gitmem.service import settings

    return settings.set_signing_key(HomeLayout(home), file, actor)


def unset_setting(home: str, name: str, actor: Actor) -> Receipt:
    """Take a setting away; see ``service.settings.unset``."""
    from gitmem.service import settings

    return settings.unset(HomeLayout(home), name, actor)

"""Python programs as a host: the memory that a program means, with what its surroundings say where it says nothing.

The one place from which ``gitmem.open_memory`` and ``gitmem.make_vault`` read the environment; what they call is
handed everything. A program is a model surface: no argument makes it a person.
"""

from __future__ import annotations

import os

from gitmem.model.authority import Actor, model_actor
from gitmem.typed import TYPE_CHECKING, NamedTuple
from gitmem.values import replace

if TYPE_CHECKING:
    from gitmem.hosts.async_memory import AsyncMemory
    from gitmem.service.memory import Memory
    from gitmem.service.vault import Options

HOST = "python"
"""What the trailers of a commit call the host of a program that does not say another."""

Place = str | os.PathLike[str]


class _Surroundings(NamedTuple):
    home: str
    folder: str
    actor: Actor
    options: Options


def open_memory(
    vault: Place | None = None,
    *,
    home: Place | None = None,
    folder: Place | None = None,
    actor: str | None = None,
    session: str | None = None,
    options: Options | None = None,
) -> Memory:
    """Return the memory of one vault. Close it, or use it in a ``with`` block; each thread opens its own.

    ``vault`` is a name or a path; left out, it is the vault of ``folder`` (the working folder unless given), else the
    global one. ``actor`` is what the program is called in the history, ``session`` its conversation: both only name,
    and what it writes is written on the model surface. ``options`` are those of ``gitmem.Options``.

    With ``home``, gitmem's home folder, nothing is read of the environment or the working folder: ``folder`` is then
    the home unless given, the actor ``agent``. Without it, ``GITMEM_HOME``, ``GITMEM_ACTOR``, ``GITMEM_HOST``,
    ``GITMEM_SESSION``, ``GITMEM_CATALOG`` and ``GITMEM_STRICT`` say what is not given.

    Reads the registry and the vault's marker; makes nothing. Raises ``UnavailableError`` (``no-vault``,
    ``no-working-folder``), ``InputError`` (``no-such-vault``, ``ambiguous-vault``, ``bad-actor``, ``bad-environment``).
    """
    from gitmem.wiring import open_memory as build

    around = _look_around(home, folder, actor, session, options)
    named = None if vault is None else os.fspath(vault)
    return build(around.home, around.folder, named, around.options, around.actor)


def open_async_memory(
    vault: Place | None = None,
    *,
    home: Place | None = None,
    folder: Place | None = None,
    actor: str | None = None,
    session: str | None = None,
    options: Options | None = None,
    max_threads: int = 4,
) -> AsyncMemory:
    """Return the memory that ``open_memory`` returns for the same arguments, for ``async with`` in async code.

    Its calls run in at most ``max_threads`` threads. Opens nothing yet; entering it raises what ``open_memory`` raises.
    """
    from gitmem.hosts.async_memory import AsyncMemory

    around = _look_around(home, folder, actor, session, options)
    named = None if vault is None else os.fspath(vault)

    def build() -> Memory:
        from gitmem.wiring import open_memory as build_one

        return build_one(around.home, around.folder, named, around.options, around.actor)

    return AsyncMemory(build, max_threads)


def make_vault(
    path: Place | None = None,
    *,
    project: Place | None = None,
    name: str = "",
    home: Place | None = None,
    actor: str | None = None,
) -> Memory:
    """Make a vault with one commit, or find that it is there, and return its memory; what ``gitmem init`` does.

    Without ``path`` and ``project`` it is the global vault; with ``project`` the vault of that folder's project, in
    the home or at ``path``; with ``path`` alone a vault that stands for itself. Writes the vault and the registry.
    Raises what ``service.init.init_vault`` raises, with the state that it names.
    """
    from gitmem.model.settings import Scope
    from gitmem.service.init import NewVault
    from gitmem.service.locate import find_project_root
    from gitmem.wiring import make_vault as make
    from gitmem.wiring import open_memory as build

    around = _look_around(home, None, actor, None, None)
    scope = Scope.GLOBAL if path is None and project is None else Scope.WORKSPACE
    root = "" if project is None else find_project_root(os.path.join(around.folder, os.fspath(project)))
    place = None if path is None else os.path.join(around.folder, os.fspath(path))
    entry, _receipt = make(around.home, NewVault(scope, place, root, name), around.actor)
    return build(around.home, around.folder, entry.path, around.options, around.actor)


def _look_around(
    home: Place | None, folder: Place | None, actor: str | None, session: str | None, options: Options | None
) -> _Surroundings:
    from gitmem.service.vault import Options

    if home is not None:
        root = os.path.abspath(os.fspath(home))
        place = root if folder is None else os.path.join(root, os.fspath(folder))
        return _Surroundings(root, place, model_actor(actor or "agent", HOST, session or ""), options or Options())
    from gitmem.hosts.environment import read_environment

    around = read_environment()
    host = HOST if around.host == "cli" else around.host
    said = Options(memory_catalog=around.memory_catalog, strict=around.strict, agent_socket=around.agent_socket)
    if options is not None:
        said = replace(options, agent_socket=options.agent_socket or around.agent_socket)
    place = around.folder if folder is None else os.path.join(around.folder, os.fspath(folder))
    who = model_actor(around.actor if actor is None else actor, host, around.session if session is None else session)
    return _Surroundings(around.home, place, who, said)

"""Install a host, take it away, and tell how it stands: from a host's name to a plan, and from a plan to the disk."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from gitmem.errors import GitmemError
from gitmem.hosts.environment import Environment
from gitmem.hosts.install.apply import apply_edits, remove_empty
from gitmem.hosts.install.around import Around, InstallScope
from gitmem.hosts.install.command import find_files
from gitmem.hosts.install.hosts import DESCRIBE, look_around
from gitmem.hosts.install.kept import KeptHost, load_kept, save_kept
from gitmem.hosts.install.own import find_words
from gitmem.hosts.install.place import look_at
from gitmem.hosts.install.plan import Plan, find_editor, plan_install, plan_uninstall, read_text
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile

_SHIM_COMMAND = re.compile(r"^const COMMAND = (\[.*?\])", re.MULTILINE)
_FLEETING = frozenset(("tmp", "temp", "cache", ".cache", "Caches"))
"""Folders in which tools make environments that they throw away again."""
_SAYS_WHO = {InstallScope.USER: "you", InstallScope.PROJECT: "the project"}


@dataclass(frozen=True)
class Standing:
    """How one host stands in one scope.

    ``programs`` are the files that its entries start, interpreters and gitmem's launcher; ``is_current`` tells that a
    new installation would change nothing; ``trouble`` is why its files can't be looked at, empty for none.
    """

    host: str
    scope: InstallScope
    project: str
    programs: tuple[str, ...] = ()
    is_current: bool = False
    trouble: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether an entry of gitmem's is there."""
        return bool(self.programs)

    @property
    def gone(self) -> tuple[str, ...]:
        """Those of ``programs`` that are not there any more."""
        return tuple(one for one in self.programs if os.path.isabs(one) and not os.path.exists(one))

    @property
    def where(self) -> str:
        """For whom it is, in words."""
        return f"the project {self.project}" if self.project else _SAYS_WHO[self.scope]


def prepare(environment: Environment, host: str, scope: InstallScope, *, takes_away: bool = False) -> Plan:
    """Return what installing ``host``, or taking it away, would change. Reads; changes nothing.

    Raises ``InputError`` and ``UnavailableError`` (see ``hosts.look_around``) and ``StateError`` (see ``plan``).
    """
    around = look_around(environment, scope)
    wanted, kept = DESCRIBE[host](around), _find_kept(environment, host, around)
    if takes_away:
        others = (one for one in load_kept(environment.home) if one.key != kept.key)
        plan = plan_uninstall(wanted, kept, {file.path for one in others for file in one.files})
        notices = tuple(_tell_left(environment, host, around)) if not plan.edits else ()
        return replace(plan, notices=plan.notices + notices)
    plan = plan_install(wanted, kept)
    return replace(plan, notices=(*plan.notices, *_tell(environment, host, around, wanted)))


def carry_out(environment: Environment, plan: Plan) -> None:
    """Make the plan's edits and remember them. Raises what ``apply.apply_edits`` raises; then nothing is changed."""
    made = apply_edits(plan.edits)
    remove_empty(plan.folders)
    kept = plan.kept
    if kept.files:
        # Whoever has something in a folder that was made for another host removes it when it is the last.
        others = (folder for one in load_kept(environment.home) for folder in one.folders)
        shared = [folder for folder in others if any(_is_within(file.path, folder) for file in kept.files)]
        kept = replace(kept, folders=tuple(dict.fromkeys((*kept.folders, *shared, *made))))
    save_kept(environment.home, kept)


def list_standings(environment: Environment, hosts: Collection[str] = tuple(DESCRIBE)) -> list[Standing]:
    """Return how each of ``hosts`` stands for the person, in the working folder's project, and elsewhere."""
    found = []
    for scope in InstallScope:
        try:
            around = look_around(environment, scope)
        except GitmemError:  # the working folder is no project
            continue
        found += [find_standing(environment, host, around) for host in hosts]
    known = {(one.host, one.scope, one.project) for one in found}
    for kept in load_kept(environment.home):
        if kept.host in hosts and kept.scope in list(InstallScope) and kept.key not in known:
            around = look_around(environment, InstallScope(kept.scope), kept.project)
            found.append(find_standing(environment, kept.host, around))
    return found


def find_standing(environment: Environment, host: str, around: Around) -> Standing:
    """Return how ``host`` stands in the scope of ``around``. Reads files; raises nothing for their state."""
    standing = Standing(host, around.scope, around.project)
    kept = _find_kept(environment, host, around)
    try:
        wanted = DESCRIBE[host](around)
        programs = tuple(dict.fromkeys(one for file in wanted.files for one in _iter_programs(file, kept)))
        has_edits = bool(plan_install(wanted, kept).edits)
        return replace(standing, programs=programs, is_current=bool(programs) and not has_edits)
    except GitmemError as error:
        return replace(standing, trouble=error.message)


def _find_kept(environment: Environment, host: str, around: Around) -> KeptHost:
    empty = KeptHost(host, around.scope, around.project, ())
    return next((one for one in load_kept(environment.home) if one.key == empty.key), empty)


def _iter_programs(file: WantedFile, kept: KeptHost) -> Iterator[str]:
    found = look_at(file.path, kept.project_around(file.path))
    if found.data is None:
        return
    if file.form is Form.WHOLE:
        yield from _find_in_shim(found.data)
        return
    try:
        for entry in find_editor(file).iter_own(read_text(found), file):
            yield from find_files(find_words(entry))
    except ValueError:
        return  # what is wrong with it is said when the plan is made


def _find_in_shim(data: bytes) -> Iterator[str]:
    match = _SHIM_COMMAND.search(data.decode(errors="replace"))
    if match is not None:
        with contextlib.suppress(ValueError):
            yield from find_files([str(word) for word in json.loads(match[1])])


def _tell(environment: Environment, host: str, around: Around, wanted: Wanted) -> Iterator[str]:
    """Yield what the person has to know of an installation beside the edits."""
    if _FLEETING.intersection(around.command[0].split(os.sep)):
        yield f"the Python that runs this may not stay where it is: {around.command[0]}"
    if around.variables:
        yield f"GITMEM_HOME is set here: hooks work on {environment.home} only where {host} is started with it, too"
    inside = [file.path for file in wanted.files if file.mentions_machine and _is_within(file.path, around.project)]
    if inside:
        names = ", ".join(os.path.relpath(path, around.project) for path in inside)
        yield f"keep out of what you share with others, for it names a path of this machine: {names}"
    for other in _list_others(environment, host, around):
        yield f"{host} has gitmem for {other.where}, too, and runs it twice where both hold: uninstall one"


def _tell_left(environment: Environment, host: str, around: Around) -> Iterator[str]:
    for other in _list_others(environment, host, around):
        option = "user" if other.scope is InstallScope.USER else "project"
        yield f"{host} still has gitmem for {other.where}: --scope {option}"


def _list_others(environment: Environment, host: str, around: Around) -> list[Standing]:
    here = (around.scope, around.project)
    others = (one for one in list_standings(environment, [host]) if one.is_installed)
    return [one for one in others if (one.scope, one.project) != here and _meets(one, around)]


def _meets(other: Standing, around: Around) -> bool:
    """Tell whether both hold somewhere: two projects have nothing to do with each other."""
    return InstallScope.USER in (other.scope, around.scope)


def _is_within(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(f"{folder}{os.sep}")

"""Write what people declared and reviewed into a file of instructions for agents, and keep it in step when asked.

The file belongs to the project. gitmem writes one section of it, between two marks, and nothing else.
"""

from __future__ import annotations

import difflib
import os
from contextlib import suppress

from gitmem.disk import ensure_folder, replace_file
from gitmem.errors import GitmemError, InputError, StateError, disk_refused
from gitmem.git.discover import find_repository, main_worktree
from gitmem.model.ids import CommitId, VaultId
from gitmem.model.record import Problem, Record
from gitmem.render.agents_md import DEFAULT_CHARS, render_agents_md
from gitmem.service.conventions import Conventions, find_conventions
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass, replace
from gitmem.vault.agents_file import AgentsFile, Section, digest_of, parse_agents_file, put_section, take_section_out
from gitmem.vault.outside_file import read_outside, replace_outside

DEFAULT_NAME = "AGENTS.md"
KNOWN_NAMES = (DEFAULT_NAME, "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
"""Where ``list_export_problems`` looks for sections."""
_SUFFIXES = (".md", ".mdc", ".markdown")


@dataclass(frozen=True)
class Wanted:
    """How to export. ``max_chars`` bounds the section, ``None`` as it was bounded before.

    ``removes`` takes the section out; ``discards_edits`` replaces it even where it was edited by hand; ``writes`` is
    false to look only.
    """

    max_chars: int | None = None
    removes: bool = False
    discards_edits: bool = False
    writes: bool = True


@dataclass(frozen=True)
class Export:
    """What an export came to. ``file`` is absolute; ``before`` and ``after`` are its bytes, ``None`` for no file.

    ``records`` are those that the section shows, in order, and ``omitted`` how many had no room. ``kept`` is where what
    was edited by hand is kept, empty where nothing was.
    """

    file: str
    before: bytes | None
    after: bytes | None
    revision: CommitId
    records: tuple[Record, ...] = ()
    omitted: int = 0
    unconfirmed: int = 0
    held_back: int = 0
    problems: tuple[Problem, ...] = ()
    kept: str = ""

    @property
    def in_step(self) -> bool:
        """Whether the file is as it should be without being written."""
        return self.before == self.after


def export_agents_md(vault: OpenVault, file: str, wanted: Wanted) -> Export:
    """Bring the section of ``file`` (absolute) in step with the records, or take it out.

    Nothing is written where nothing changes; the revision in the opening mark is that of the last change. Raises
    ``InputError`` (``not-markdown``, ``inside-vault``, ``bad-limit``, and what ``read_outside`` and
    ``parse_agents_file`` raise), ``StateError`` (``bad-marks``, ``edited-by-hand``, ``section-of-another-vault``,
    ``nothing-confirmed`` where an empty section would replace one that is not, ``boundaries-do-not-fit``,
    ``changed-meanwhile``), ``UnavailableError`` (``disk``) and what ``find_conventions`` raises. The file is as it was
    then.
    """
    _check_place(vault, file)
    before = read_outside(file)
    parsed = parse_agents_file(before or b"")
    edited = _check_section(parsed, vault.entry.vault_id, wanted)
    export = (
        _plan_removal(vault, file, before, parsed) if wanted.removes else _plan(vault, file, before, parsed, wanted)
    )
    if not wanted.writes or export.in_step:
        return export
    kept = _keep_edited(vault, file, edited) if edited is not None else ""
    replace_outside(file, export.before, export.after)
    return replace(export, kept=kept)


def find_default_file(vault: OpenVault, folder: str) -> str:
    """Return the AGENTS.md of the project that ``vault`` is for: of its work tree around ``folder``, if that is one.

    Raises ``InputError`` (``no-project``) where the vault belongs to none.
    """
    project = vault.entry.project
    if not project:
        message = f"the vault {vault.entry.name!r} belongs to no project"
        raise InputError("no-project", message, "Name the file: gitmem export agents-md FILE.")
    found = find_repository(os.path.realpath(folder))
    is_worktree = found is not None and os.path.realpath(main_worktree(found[0])) == os.path.realpath(project)
    return os.path.join(found[0] if found is not None and is_worktree else project, DEFAULT_NAME)


def render_diff(export: Export) -> str:
    """Return how the file would change, as a unified diff without the file's line ends; empty for nothing."""
    before, after = ((data or b"").decode("utf-8", "replace").splitlines() for data in (export.before, export.after))
    name = os.path.basename(export.file)
    lines = difflib.unified_diff(
        before,
        after,
        name if export.before is not None else "no file",
        name if export.after is not None else "no file",
        lineterm="",
    )
    return "\n".join(lines)


def list_export_problems(vault: OpenVault) -> list[Problem]:
    """Return what is to be said of the sections in files of the vault's project: not in step, edited, not known.

    Looks for ``KNOWN_NAMES`` alone, and at the records only where there is such a section. Never raises
    ``GitmemError``.
    """
    found = [(name, section) for name in KNOWN_NAMES if (section := _find_own(vault, name)) is not None]
    try:
        conventions = find_conventions(vault) if found else None
    except GitmemError as error:
        return [Problem("export-not-known", f"whether {found[0][0]} is in step can't be told: {error.message}")]
    told = [(name, _judge(vault, section, conventions)) for name, section in found if conventions is not None]
    return [
        Problem("export-out-of-step", f"the section in {name} {said}; `gitmem export agents-md` looks after it")
        for name, said in told
        if said
    ]


def _judge(vault: OpenVault, section: Section, conventions: Conventions) -> str:
    if section.is_edited:
        return "was edited by hand"
    try:
        text, _shown = render_agents_md(conventions.records, vault.entry.scope, section.max_chars)
    except StateError as error:
        return f"can't be brought in step: {error.message}"
    return "" if section.text == text else "is not in step with the records"


def _find_own(vault: OpenVault, name: str) -> Section | None:
    """Return the section of this vault in a file of its project, ``None`` where there is none to be read."""
    if not vault.entry.project:
        return None
    with suppress(GitmemError):
        data = read_outside(os.path.join(vault.entry.project, name))
        section = None if data is None else parse_agents_file(data).section
        return section if section is not None and section.vault == vault.entry.vault_id else None
    return None


def _check_place(vault: OpenVault, file: str) -> None:
    if not file.endswith(_SUFFIXES):
        raise InputError("not-markdown", "the section is Markdown, and the file is not", "Name a file like AGENTS.md.")
    repo, folder = os.path.realpath(vault.layout.repo), os.path.realpath(os.path.dirname(file))
    if f"{folder}{os.sep}".startswith(f"{repo}{os.sep}"):
        raise InputError("inside-vault", "the file lies in the vault", "Name a file of the project.")


def _check_section(parsed: AgentsFile, vault_id: VaultId, wanted: Wanted) -> str | None:
    """Return the text that was edited by hand, where it is to be replaced."""
    section = parsed.section
    if section is None:
        return None
    if section.vault != vault_id and not wanted.removes:
        raise StateError(
            "section-of-another-vault",
            f"the section is of the vault {section.vault}, not of {vault_id}",
            "Name that vault with --vault, or take its section out with --remove first.",
        )
    if not section.is_edited:
        return None
    if not wanted.discards_edits:
        raise StateError(
            "edited-by-hand",
            "what stands between gitmem's marks was edited by hand since it was written",
            "Move what you want to keep below the closing mark, or propose it as a record; --discard-edits then makes "
            "the section afresh.",
        )
    return section.text


def _plan(vault: OpenVault, file: str, before: bytes | None, parsed: AgentsFile, wanted: Wanted) -> Export:
    section = parsed.section
    limit = wanted.max_chars if wanted.max_chars is not None else section.max_chars if section else DEFAULT_CHARS
    if limit < 1:
        raise InputError("bad-limit", "a section has room for a whole number of characters", "Leave --max-chars out.")
    found = find_conventions(vault)
    text, shown = render_agents_md(found.records, vault.entry.scope, limit)
    if section is not None and not found.records and section.text != text:
        raise _nothing_confirmed(found)
    is_same = section is not None and not section.is_edited and (section.text, section.max_chars) == (text, limit)
    has_nothing = section is None and not found.records
    made = Section(text, vault.entry.vault_id, found.revision, max_chars=limit)
    return Export(
        file=file,
        before=before,
        after=before if is_same or has_nothing else put_section(parsed, made),
        revision=found.revision,
        records=shown,
        omitted=len(found.records) - len(shown),
        unconfirmed=found.unconfirmed,
        held_back=found.held_back,
        problems=found.problems,
    )


def _plan_removal(vault: OpenVault, file: str, before: bytes | None, parsed: AgentsFile) -> Export:
    after = before if parsed.section is None else take_section_out(parsed) or None
    return Export(file, before, after, vault.head())


def _nothing_confirmed(found: Conventions) -> StateError:
    why = "; ".join(problem.message for problem in found.problems)
    message = "nothing is known to be declared or reviewed by a person, and the section has records"
    return StateError(
        "nothing-confirmed",
        f"{message}: {why}" if why else message,
        "In a clone of a vault without keys nothing proves who did what: export where the vault is at home. "
        "--remove takes the section out.",
    )


def _keep_edited(vault: OpenVault, file: str, text: str) -> str:
    """Keep what was edited by hand in the vault's runtime, and return where."""
    name = f"{digest_of(text)}-{os.path.basename(file)}"
    try:
        ensure_folder(vault.layout.exports)
        replace_file(os.path.join(vault.layout.exports, name), text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise disk_refused(error, "Nothing was written.") from error
    return f"runtime/exports/{name}"

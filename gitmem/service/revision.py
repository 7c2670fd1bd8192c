"""From what a person types to one commit: a date, an operation, or a revision as Git names it."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.clock import format_utc, moment_at
from gitmem.errors import InputError
from gitmem.git.history import Commit, find_named, read_commit
from gitmem.model.ids import CommitId
from gitmem.model.when import Span, parse_when
from gitmem.patterns import late
from gitmem.service.operations import find_operation
from gitmem.service.vault import OpenVault
from gitmem.text import quote

_REVISION = late(r"(?P<name>[^~^\s]{1,300})(?P<steps>(?:[~^]\d{0,6}){0,20})")
_STEP = late(r"([~^])(\d*)")
_HINT = (
    "Give a date (2026-11-30, yesterday, 2w), an operation or commit from `gitmem log`, a branch or tag, or HEAD~3; "
    "what can be read as a date is one."
)


def get_revision(vault: OpenVault, text: str) -> CommitId:
    """Return the commit that ``text`` names: its history is what the vault held then.

    A date or time, as ``parse_when`` reads it, means the last commit that the branch had by its end. ``HEAD``, a tag or
    a branch means what it does to Git; an operation (its id, or four characters of it) or a commit (seven) the state
    right after it. ``~2`` and ``^`` behind these go back from there as in Git. Raises ``InputError``
    (``no-such-revision``, ``no-commit-then``, ``ambiguous-operation``).
    """
    wanted = text.strip()
    span = _find_span(vault, wanted)
    if span is not None:
        return _find_commit_at(vault, span, wanted)
    match = _REVISION.fullmatch(wanted)
    found = None if match is None else _find_base(vault, match["name"])
    if match is None or found is None:
        raise _no_such(wanted)
    for step, number in _STEP.findall(match["steps"]):
        found = _step_back(vault, found, step, int(number or 1), wanted)
    return found


def _find_span(vault: OpenVault, text: str) -> Span | None:
    try:
        return parse_when(text, vault.clock.now())
    except InputError:
        return None


def _find_commit_at(vault: OpenVault, span: Span, text: str) -> CommitId:
    oldest = None
    for commit in _iter_first_parents(vault, vault.head()):
        when = moment_at(commit.time)
        if when < span.end or when == span.start:
            return commit.id
        oldest = when
    first = f"; its first is of {format_utc(oldest)}" if oldest else ""
    raise InputError("no-commit-then", f"the vault had no commit at {text!r}{first}", "Ask for a later date.")


def _find_base(vault: OpenVault, name: str) -> CommitId | None:
    named = find_named(vault.repo, name)
    if named is not None:
        return named
    operation = find_operation(vault, name)
    return None if operation is None else operation.commit.id


def _step_back(vault: OpenVault, commit: CommitId, step: str, number: int, text: str) -> CommitId:
    """Return the ancestor ``number`` generations back by first parents (``~``), or the parent of that number."""
    if step == "~":
        for distance, one in enumerate(_iter_first_parents(vault, commit)):
            if distance == number:
                return one.id
        raise _no_such(text)
    if number == 0:
        return commit
    parents = read_commit(vault.repo, commit).parents
    if number > len(parents):
        raise _no_such(text)
    return parents[number - 1]


def _iter_first_parents(vault: OpenVault, start: CommitId) -> Iterator[Commit]:
    commit = read_commit(vault.repo, start)
    yield commit
    while commit.parents:
        commit = read_commit(vault.repo, commit.parents[0])
        yield commit


def _no_such(text: str) -> InputError:
    return InputError("no-such-revision", f"nothing in the vault's history is called {quote(text)}", _HINT)

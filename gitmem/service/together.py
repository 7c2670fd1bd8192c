"""Several things in one operation: all of them or none, and everything that stands in the way is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitmem.errors import GitmemError, InputError, PolicyError, StateError
from gitmem.model.authority import Decision
from gitmem.model.record import Problem, Record
from gitmem.service.find import get_record
from gitmem.service.plan import Move
from gitmem.service.vault import OpenVault
from gitmem.text import make_visible, shorten
from gitmem.typed import NoReturn, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")
Found = tuple[Record, bytes]
"""A record and the bytes of its file."""

MAX_TOLD = 100
"""How many problems an error carries; its message says how many there are."""
MAX_TITLES = 20
"""How many records the text of a commit names."""
MAX_REF_CHARS = 100
_MAX_FIRST_CHARS = 300


def check_each(items: Iterable[tuple[int, Item]], check: Callable[[Item], Made]) -> tuple[list[Made], list[Problem]]:
    """Return what ``check`` makes of each of the numbered ``items``, and a problem for each that it refuses.

    A problem's ``line`` is the number. Only what asking differently can mend is collected (``InputError``,
    ``StateError``, ``PolicyError``); everything else that ``check`` raises is raised.
    """
    made: list[Made] = []
    problems: list[Problem] = []
    for number, item in items:
        try:
            made.append(check(item))
        except (InputError, StateError, PolicyError) as error:
            problems.append(Problem(error.code, error.message, "", number))
    return made, problems


def get_records(vault: OpenVault, refs: Sequence[str], check: Callable[[Record], object]) -> list[Found]:
    """Return the records that ``refs`` name, each once, with the bytes of their files; ``check`` may refuse one.

    Raises what ``get_record`` and ``check`` raise where one is named, and for several ``InputError``
    (``bad-records``) with everything that is wrong with any, or ``no-records`` for none.
    """
    if not refs:
        raise InputError("no-records", "no record was named", "Name at least one.")
    found: dict[str, Found] = {}
    problems: list[Problem] = []
    for ref in refs:
        try:
            record, data = get_record(vault, ref)
            check(record)
        except (InputError, StateError) as error:
            if len(refs) == 1:
                raise
            problems.append(Problem(error.code, f"{shorten(make_visible(ref), MAX_REF_CHARS)}: {error.message}"))
            continue
        found[record.id] = (record, data)
    if problems:
        head = f"{len(problems)} of {len(refs)} records can't be taken"
        refuse(InputError, "bad-records", head, "Nothing was written. Leave these out, or mend them first.", problems)
    return list(found.values())


def authorize_all(found: Iterable[Found], ask: Callable[[Record], Decision]) -> Decision:
    """Return the decision that fits all: the last one, for a surface is allowed each by the same rule, or not.

    Raises what ``ask`` raises for the first record that it does not allow.
    """
    decisions = [ask(record) for record, _data in found]
    return decisions[-1]


def refuse(kind: type[GitmemError], code: str, message: str, hint: str, problems: Sequence[Problem]) -> NoReturn:
    """Raise ``kind`` with ``problems`` in its fields, in order, at most ``MAX_TOLD``; the message tells the first.

    A problem is a mapping of ``code``, ``message``, and ``path`` or ``line`` where it has one.
    """
    told = [
        {"code": one.code, "message": one.message}
        | ({"path": one.path} if one.path else {})
        | ({"line": one.line} if one.line else {})
        for one in problems[:MAX_TOLD]
    ]
    first = problems[0]
    where = first.path or (f"line {first.line}" if first.line else "")
    said = shorten(f"{make_visible(where)}: {first.message}" if where else first.message, _MAX_FIRST_CHARS)
    raise kind(code, f"{message}: {said}", hint, problems=told, count=len(problems))


def describe(moves: Sequence[Move], note_of_one: str = "") -> dict[str, str]:
    """Return ``title`` and ``note`` of a commit of new or changed records.

    One record is called by its title (empty: the change finds it) and has a note of its own; several are counted, and
    the first ``MAX_TITLES`` are listed, private ones unnamed.
    """
    if len(moves) == 1:
        return {"title": "", "note": note_of_one}
    names = ["a private record" if _is_private(before, after) else after.title for before, after, _data in moves]
    shown = [*names[:MAX_TITLES], *(["…"] if len(names) > MAX_TITLES else [])]
    return {"title": f"{len(moves)} records", "note": "\n".join(shown)}


def _is_private(before: Record | None, after: Record) -> bool:
    return after.private or (before is not None and before.private)

"""The baseline as people signed it, whatever became of the files since: what nobody signed away is still in force."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.errors import InputError
from gitmem.model.ids import RecordId
from gitmem.model.record import Problem, Record
from gitmem.model.vault_path import parse_vault_path
from gitmem.service.past import Past
from gitmem.service.reading import mask
from gitmem.service.standing import Standing, list_unlike, read_as_signed, say_unlike
from gitmem.values import dataclass, replace


@dataclass(frozen=True)
class AsSigned:
    """A baseline to be shown: ``records``, those among them that are put ``back``, and what the signatures prove."""

    records: tuple[Record, ...]
    back: frozenset[RecordId]
    standing: Standing


def put_back_signed(past: Past, standing: Standing, committed: Sequence[Record]) -> AsSigned:
    """Return the ``committed`` baseline, with each declared record that is not as it was signed put back as it was.

    Left out is what is private. Where the repository lost the bytes that were signed, the list of what is declared
    can't be shown whole, and so nothing of it counts as proved.
    """
    statement = standing.statement
    unlike = [] if statement is None else list_unlike(past.vault, past.commit, statement)
    if not unlike:
        return AsSigned(tuple(committed), frozenset(), standing)
    back: dict[RecordId, Record] = {}
    for one in unlike:
        data = read_as_signed(past.vault, one)
        if data is None:
            lost = Problem("declared-lost", f"what a person declared as {one.id} can't be read any more")
            return AsSigned(tuple(committed), frozenset(), replace(standing, statement=None, problems=(lost,)))
        try:
            record = past.parse(parse_vault_path(one.path), data)
        except InputError:
            continue
        if record is not None and not record.private:
            back[record.id] = mask(record, data)[0]
    others = [record for record in committed if record.id not in back]
    problems = (*standing.problems, say_unlike(unlike))
    return AsSigned((*others, *back.values()), frozenset(back), replace(standing, problems=problems))

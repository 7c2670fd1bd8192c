"""Asking again under the same operation id: the same answer, and never one id for two requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from gitmem.errors import GitmemError, InputError, StateError
from gitmem.model.ids import OpId
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Result = TypeVar("Result")
_AT_WORK = ("vault-busy", "index-locked")


def describe_request(**asked: Any) -> str:
    """Return everything that was asked for as one text, from which ``plan.digest`` is made.

    Only what was *asked* may go in, never what was found: the same command line has to give the same text whatever
    became of the vault. ``None`` counts as not asked for, so that an option may be added without changing the others.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    return json.dumps(given, sort_keys=True, default=str)


def given_fields(request: DataclassInstance) -> Mapping[str, Any]:
    """Return the fields of a request that differ from what they are when nothing is said, by name."""
    import dataclasses

    found = {}
    for field in dataclasses.fields(request):
        value = getattr(request, field.name)
        factory = field.default_factory
        if value != (field.default if factory is dataclasses.MISSING else factory()):
            found[field.name] = value
    return found


def answer_again(vault: OpenVault, op_id: OpId | None, ask: Callable[[], Result]) -> Result:
    """Return what ``ask`` (a verb) returns; a second time if it failed because its very operation was just carried out.

    Of two processes that ask at the same moment under one id, the slower one plans from what the other is changing:
    it may find its record moved, its key taken. Raises what ``ask`` raises, or ``UnavailableError`` (``vault-busy``)
    when it can't be told in time whether the other one got through.
    """
    try:
        return ask()
    except (InputError, StateError) as error:
        if op_id is None or error.code == "op-id-reused" or not _was_carried_out(vault, op_id):
            raise
    return ask()


def _was_carried_out(vault: OpenVault, op_id: OpId) -> bool:
    from gitmem.transaction.apply import was_carried_out

    try:
        return was_carried_out(vault.ground, vault.tools(), op_id)
    except GitmemError as error:
        if error.code in _AT_WORK:
            raise
        return False

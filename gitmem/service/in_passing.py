"""What a person's operation may take along: nothing declared that a person did not leave so, nothing that wasn't shown.

Some operations change a declared record on the way to something else: a link to the one that it supersedes, a text that
is merged into it. Its bytes are then the person's again, by receipt or by signature, and nobody has looked at them.
"""

from __future__ import annotations

from gitmem.errors import StateError
from gitmem.model.authority import Action, Surface
from gitmem.model.change import Change
from gitmem.service.vault import OpenVault

_LOOKS_AT_IT = (Action.EDIT, Action.ADOPT, Action.UNDO)
"""Who confirms one of these is shown the whole text that will be declared."""


def check_taken_along(vault: OpenVault, change: Change) -> None:
    """Check that ``change`` goes on only with declared records that a person is known to have left as they are.

    Raises ``StateError`` (``not-as-declared``) for one that stays declared and was changed, or put there, outside
    gitmem. An edit of the record itself, an adoption and an undo show its text, and may. Raises
    ``UnavailableError`` (``receipts-unreadable``).
    """
    from gitmem.service.confirmed import is_declared, list_confirmed

    if change.actor.surface is not Surface.HUMAN or change.action in _LOOKS_AT_IT:
        return
    kept = [
        one.before
        for one in change.records
        if one.before is not None and one.after is not None and is_declared(one.before) and is_declared(one.after)
    ]
    known = list_confirmed(vault, kept) if kept else frozenset()
    for record in kept:
        if record.path not in known:
            named = "a private record" if record.private else f"{record.title!r} ({record.path})"
            raise StateError(
                "not-as-declared",
                f"{named} would be declared by you in passing, and nothing here proves that a person left it as it is",
                "Look at it first: `gitmem edit` shows it whole and makes it yours, or bring it back with Git.",
            )


def check_shown(change: Change) -> None:
    """Check that the records which the actor was shown are changed as they were then.

    A change of views alone, which goes before an operation, touches no record. Raises ``StateError``
    (``changed-meanwhile``) where one has other bytes by now, or another record took its name.
    """
    if not change.records:
        return
    found = {one.id: one.before for one in change.records}
    for record_id, fingerprint in change.actor.shown:
        before = found.get(record_id)
        if record_id not in found or (before is not None and before.fingerprint != fingerprint):
            raise StateError(
                "changed-meanwhile",
                "what was shown has changed since; nothing was written",
                "Run the command again and look at what it says now.",
            )

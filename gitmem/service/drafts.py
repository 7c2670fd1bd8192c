"""Many drafts in one operation: what ``observe_all`` and ``declare_all`` share."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.errors import InputError, PolicyError
from gitmem.model.authority import Action, Actor, Decision
from gitmem.model.change import Change, Receipt
from gitmem.model.ids import OpId
from gitmem.model.record import MAX_DRAFTS, Draft, Problem, Record, State
from gitmem.policy.authority import authority_for
from gitmem.policy.content import check_content
from gitmem.service.draft import make_record
from gitmem.service.gate import authorize
from gitmem.service.keys import find_owners
from gitmem.service.plan import Move, carry_out_allowed, find_earlier, make_change
from gitmem.service.retry import describe_request, given_fields
from gitmem.service.together import check_each, describe, refuse
from gitmem.service.vault import OpenVault
from gitmem.text import fold, one_line

Numbered = list[tuple[int, Draft]]


def write_drafts(
    vault: OpenVault,
    action: Action,
    state: State,
    drafts: Sequence[Draft],
    actor: Actor,
    op_id: OpId | None,
    lines: Sequence[int] | None = None,
) -> Receipt:
    """Commit ``drafts`` (1 to 1,000) as new records in ``state``, all of them or none, in one commit and one receipt.

    ``lines`` numbers them in errors; left out, it is 1, 2, 3 and so on. Raises ``InputError``: ``no-drafts``,
    ``too-many-drafts``, or ``bad-lines`` with every draft that can't be written and why (its own form, a title or key
    that stands twice, a key that is taken, a secret, a kind that ``action`` is not for). ``PolicyError``
    (``needs-human``) names the first draft that needs a person. Nothing is written then.
    """
    request = describe_request(drafts=[given_fields(draft) for draft in drafts])
    earlier = find_earlier(vault, action, op_id, request)
    if earlier is not None:
        return earlier
    numbered = list(zip(lines or range(1, len(drafts) + 1), drafts, strict=True))
    _check_number(numbered)
    made = _make_records(vault, action, state, numbered, actor)

    def plan(rule: str) -> Change:
        moves: list[Move] = [(None, record, data) for record, data in made]
        said = describe(moves, made[0][0].summary)
        return make_change(action, actor, rule, moves, op_id=op_id, request=request, **said)

    return carry_out_allowed(vault, lambda: _authorize_all(vault, action, actor, numbered), plan)


def _check_number(numbered: Numbered) -> None:
    if not numbered:
        raise InputError("no-drafts", "there is nothing to write", "Give at least one draft.")
    if len(numbered) > MAX_DRAFTS:
        raise InputError(
            "too-many-drafts",
            f"{len(numbered)} records; one operation takes at most {MAX_DRAFTS}",
            "Write them in parts, each as its own operation.",
        )


def _authorize_all(vault: OpenVault, action: Action, actor: Actor, numbered: Numbered) -> Decision:
    """Return the decision that fits all: a surface is allowed each draft by the same rule, or not."""
    decision = None
    for number, draft in numbered:
        try:
            decision = authorize(vault.entry.scope, action, actor, kind=draft.kind, has_evidence=bool(draft.evidence))
        except PolicyError as error:
            raise PolicyError(error.code, f"line {number}: {error.message}", error.hint, **error.fields) from None
    assert decision is not None
    return decision


def _make_records(
    vault: OpenVault, action: Action, state: State, numbered: Numbered, actor: Actor
) -> list[tuple[Record, bytes]]:
    authority = authority_for(action, state)

    def make(draft: Draft) -> tuple[Record, bytes]:
        _check_not_refused(vault, action, actor, draft)
        record, data = make_record(vault, draft, authority, state, actor)
        check_content(data, "the record", record)
        return record, data

    made, problems = check_each(numbered, make)
    problems += [*_find_doubles(numbered), *_find_taken(vault, numbered)]
    if problems:
        problems.sort(key=lambda one: one.line or 0)
        bad = len({one.line for one in problems})
        hint = "Nothing was written. Mend these and try again."
        refuse(InputError, "bad-lines", f"{bad} of {len(numbered)} records can't be written", hint, problems)
    return made


def _check_not_refused(vault: OpenVault, action: Action, actor: Actor, draft: Draft) -> None:
    try:
        authorize(vault.entry.scope, action, actor, kind=draft.kind, has_evidence=bool(draft.evidence))
    except PolicyError as error:
        if error.code != "needs-human":
            raise


def _find_doubles(numbered: Numbered) -> list[Problem]:
    problems = []
    for name in ("title", "key"):
        seen: dict[str, int] = {}
        for number, draft in numbered:
            value = fold(one_line(getattr(draft, name) or ""))
            if value and value in seen:
                message = f"it has the {name} of line {seen[value]}"
                problems.append(Problem(f"duplicate-{name}", message, "", number))
            seen.setdefault(value, number)
    return problems


def _find_taken(vault: OpenVault, numbered: Numbered) -> list[Problem]:
    owners = find_owners(vault, [draft.key for _number, draft in numbered if draft.key])
    return [
        Problem("key-taken", f"the key {draft.key!r} belongs to {owner}", "", number)
        for number, draft in numbered
        if draft.key
        for owner in sorted(owners[fold(draft.key)])[:1]
    ]

"""Who may do what: the one function that reads the authority table, and the page that is made from it.

Keeps INV-HUMAN-ONLY.
"""

from __future__ import annotations

from gitmem.model.authority import Action, Authority, Decision
from gitmem.model.record import State
from gitmem.policy.authority_table import TABLE
from gitmem.policy.conditions import CONDITIONS
from gitmem.policy.rules import Request, Verdict


def decide(request: Request) -> Decision:
    """Return the decision of the first rule that fits ``request``; refused (rule ``no-rule``) when none does."""
    for rule in TABLE:
        if (
            rule.action is request.action
            and rule.surface in (None, request.surface)
            and CONDITIONS[rule.condition].holds(request)
        ):
            return Decision(
                rule=rule.id,
                allowed=rule.verdict is Verdict.ALLOWED,
                needs_human=rule.verdict is Verdict.NEEDS_HUMAN,
                reason=rule.reason,
                hint=rule.hint,
            )
    return Decision("no-rule", allowed=False, reason=f"no rule of the authority table covers {request.action}")


def authority_for(action: Action, state: State) -> Authority:
    """Return the authority of a record that ``action`` writes into ``state``, once policy has allowed it.

    What a person puts into the baseline is declared; everything else is evidence that may inform and not instruct.
    """
    into_baseline = state is State.BASELINE and action in (Action.IMPORT, Action.ADOPT, Action.ACCEPT)
    declared = action is Action.DECLARE or into_baseline
    return Authority.USER_DECLARED if declared else Authority.WORKSPACE_EVIDENCE


def format_table() -> str:
    """Return the page ``docs/authority.md``: the table in Markdown, row by row in the order in which it is read."""
    lines = [_PAGE_HEAD]
    for rule in TABLE:
        cells = (
            f"`{rule.id}`",
            rule.action.value,
            rule.surface.value if rule.surface else "both",
            CONDITIONS[rule.condition].text,
            rule.verdict.value.replace("_", " "),
            f"{rule.reason}. {rule.hint}".strip(),
        )
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


_PAGE_HEAD = """\
# Who may do what

Every request comes through a surface. *human* means that a person was shown what would happen and confirmed it, by
typing a code at a terminal, or that a person typed the command as a prompt in a host. A prompt opens less than a code:
an agent with a shell could send one. *model* is everything else, a command line call without that confirmation
included. What a record says never changes who may touch it.

The first row that fits a request decides. *needs human* means that the same request is put to a person; *refused*
means that it isn't done for anyone. The row's name is the rule that a commit's `Gitmem-Rule` trailer gives. Three kinds
of commit are made without a request: the first one of a vault (`init`), the one in which an operation brings the views
in step before its own (`views-follow-records`), and the one that spreads a catalog that has grown over more files
(`maintain`). Their rows are there for the trailer.

What a model surface is allowed here, the vault's policy may leave to people or bound, and it may have rules by which a
model accepts or promotes in the vault of a workspace; those are named as `policy:` and their id. It opens nothing else.
See [policy.md](policy.md).

This page is made from `gitmem/policy/authority_table.py`.

| Rule | Action | Surface | When | Verdict | Why, and what to do |
| --- | --- | --- | --- | --- | --- |
"""

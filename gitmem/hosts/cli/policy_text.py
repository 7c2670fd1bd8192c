"""A vault's policy, and what it says to an operation, as text for people. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gitmem.hosts.cli.columns import align, safe_line
from gitmem.model.answer import Answer

Row = dict[str, Any]
_ORIGINS = {
    "defaults": "the defaults",
    "policy.yaml": "policy.yaml",
    "unconfirmed": "the strictest of what was set; policy.yaml is not as a person set it",
    "broken": "none that can be read: agents write nothing",
}
_VERDICTS = {"allowed": "allowed", "needs_human": "needs a person", "refused": "refused"}


def format_policy(answer: Answer) -> str:
    """Return the policy, one member a line as it stands in ``policy.yaml``, after where it comes from."""
    policy = answer.extra["policy"]
    namespaces = policy["namespaces"]
    facts = [
        ("policy", _origin(policy)),
        ("model_may", _list(policy["model_may"])),
        ("kinds", _list(policy["kinds"])),
        ("namespaces", "any" if namespaces is None else _list(namespaces)),
        ("evidence", _list(policy["evidence"])),
        *((f"bounds.{name}", str(value)) for name, value in policy["bounds"].items()),
        *((f"{name} {rule['id']}", rule["text"]) for name in ("accept", "promote") for rule in policy[name]),
    ]
    return "\n".join(align([(safe_line(name), safe_line(value)) for name, value in facts]))


def format_verdict(answer: Answer) -> str:
    """Return what would be said to an operation, why, and what was looked at: ``+`` holds, ``-`` does not."""
    extra = answer.extra
    head = f"{extra['action']} on the {extra['surface']} surface: {_VERDICTS[extra['verdict']]} ({extra['rule']})"
    said = [extra["reason"], extra.get("hint", "")]
    cells = [
        (f"  {'+' if row['holds'] else '-'}", safe_line(row["rule"]), safe_line(row["text"])) for row in answer.rows
    ]
    lines = [safe_line(head), *(f"  {safe_line(line)}" for line in said if line)]
    return "\n".join([*lines, "", f"policy: {_origin(extra['policy'])}", *align(cells)])


def format_rules(answer: Answer) -> str:
    """Return the operations on a record, newest first, each with its rule and what that says."""
    return "\n".join(align(list(_operations(answer.rows))))


def _operations(rows: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        by = f"{row['actor']} ({row['surface']})" if row["surface"] else str(row["actor"])
        rule = row["rule"] or "outside gitmem"
        yield tuple(map(safe_line, (row["time"], row["op"], by, rule, row["text"])))


def _origin(policy: Row) -> str:
    told = _ORIGINS[policy["origin"]]
    return safe_line(f"{told}, set by {policy['set_by']} at {policy['set_at']}" if policy["set_by"] else told)


def _list(words: Iterable[str]) -> str:
    return ", ".join(words) or "nothing"

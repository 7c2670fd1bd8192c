"""The vault's policy told: what holds, and how a file would be read. Reads only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.model.policy import MAX_FILE_BYTES, EvidenceRule, Origin
from gitmem.model.vault_path import VaultPath
from gitmem.policy.evidence_rules import describe
from gitmem.service.policy import Holding, find_holding, list_policy_problems
from gitmem.service.vault import OpenVault
from gitmem.typed import Any
from gitmem.vault.layout import POLICY
from gitmem.vault.paths import read_file
from gitmem.vault.policy_file import parse_policy

Row = dict[str, Any]


def show_policy(vault: OpenVault) -> Answer:
    """Return the policy that holds as ``extra["policy"]``: every member as in ``policy.yaml``, and where it is from.

    ``origin`` is ``defaults``, ``policy.yaml``, ``unconfirmed`` or ``broken``; ``problem`` says why the committed file
    does not hold as it stands; ``set_by``, ``set_at`` and ``op_id`` tell of the operation that set what holds. What is
    wrong with it stands in the diagnostics.
    """
    head = vault.head()
    holding = find_holding(vault, head)
    problems = tuple(list_policy_problems(vault, head))
    return Answer(Status.OK, head, diagnostics=problems, extra={"policy": _describe_holding(holding)})


def describe_file(data: bytes) -> Answer:
    """Return how the policy in ``data`` would be read, in the form of ``show_policy``.

    Raises ``InputError`` (``bad-policy``).
    """
    policy = parse_policy(data)
    return Answer(Status.OK, None, extra={"policy": _describe_holding(Holding(policy, None))})


def check_policy_file(vault: OpenVault) -> Answer:
    """Return how ``policy.yaml`` as it lies in the work tree would be read, as ``describe_file`` does.

    Raises what that raises, and ``InputError`` (``no-policy-file``).
    """
    data = read_file(vault.layout.repo, VaultPath(POLICY), MAX_FILE_BYTES + 1)
    if data is None:
        raise InputError("no-policy-file", f"the vault has no {POLICY}", "`gitmem policy init` makes one to edit.")
    head = vault.head()
    return replace(describe_file(data), revision=head, diagnostics=tuple(list_policy_problems(vault, head)))


def describe_origin(holding: Holding) -> Row:
    """Return where the policy comes from, and which operation set it, where that is known."""
    by = holding.set_by if holding.policy.origin is Origin.FILE else None
    return {
        "origin": holding.policy.origin.value,
        "problem": holding.policy.problem,
        "set_by": by.actor if by else None,
        "set_at": by.time if by else None,
        "op_id": by.op_id if by else None,
    }


def _describe_holding(holding: Holding) -> Row:
    policy = holding.policy
    return describe_origin(holding) | {
        "model_may": sorted(policy.model_may),
        "kinds": sorted(policy.kinds),
        "namespaces": None if policy.namespaces is None else list(policy.namespaces),
        "evidence": list(policy.evidence),
        "bounds": asdict(policy.bounds),
        "accept": _describe_rules(policy.accept),
        "promote": _describe_rules(policy.promote),
    }


def _describe_rules(rules: Iterable[EvidenceRule]) -> list[Row]:
    return [asdict(rule) | {"text": describe(rule)} for rule in rules]

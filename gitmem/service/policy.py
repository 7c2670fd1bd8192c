"""Which policy holds in a vault."""

from __future__ import annotations

from gitmem.model.policy import Policy
from gitmem.service.vault import OpenVault


def find_policy(_vault: OpenVault) -> Policy:
    """Return the policy that holds: the defaults."""
    return Policy()

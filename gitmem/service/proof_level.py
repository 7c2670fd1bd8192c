"""How well it is proved on this machine that a person did what only a person may: the level, and what beats it.

The numbers are those of docs/signing.md. A level counts for what a process of the person's own account could do about
it, so a key in a device is worth no more than the file that says which keys are trusted.
"""

from __future__ import annotations

from gitmem.errors import GitmemError
from gitmem.service.human_keys import find_own_key
from gitmem.service.openssh import list_agent_keys, needs_passphrase
from gitmem.service.standing import Standing
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass
from gitmem.vault.ssh_key import is_in_device

CODE, UNLOCKED, PASSPHRASE, ACCOUNT, DEVICE = 1, 3, 5, 7, 8
BELOW = "this protects against models that use the tools, not against a process of your own user"
_CODE = "a person is shown by a code typed at a terminal"


@dataclass(frozen=True)
class Level:
    """A level, and one line that says what it rests on."""

    number: int
    message: str


def without_keys() -> Level:
    """Return the level of a vault without keys, and of a machine without a vault."""
    return _tell(CODE, _CODE)


def find_level(vault: OpenVault, standing: Standing) -> Level:
    """Return the level of ``vault``. Starts ``ssh-keygen``, and ``ssh-add`` where there is an agent. Never raises."""
    if not standing.is_keyed:
        return without_keys()
    key = find_own_key(vault)
    if key is None or key not in {one.key for one in standing.keys}:
        return _tell(CODE, "this machine has no key that the vault lists, and signs nothing; what it reads is verified")
    is_roots = standing.anchor is not None and standing.anchor.is_roots
    number, how = _rate_key(vault, key)
    if number >= ACCOUNT and not is_roots:
        number, how = PASSPHRASE, f"{how}; but which keys are trusted is said by a file that you can write"
    return _tell(number, how)


def _rate_key(vault: OpenVault, key: str) -> tuple[int, str]:
    if is_in_device(key):
        return DEVICE, "operations are signed by a key in a device that is touched for each"
    try:
        in_agent = any(line.startswith(key) for line in list_agent_keys(vault.options.agent_socket) or ())
        is_locked = needs_passphrase(vault.settings.signing_key)
    except GitmemError:
        return UNLOCKED, "operations are signed by a key that could not be looked at"
    if in_agent:
        return UNLOCKED, "operations are signed by a key in an agent, which signs for any process of yours"
    if is_locked:
        return PASSPHRASE, "operations are signed by a key with a passphrase, typed for each"
    return UNLOCKED, "operations are signed by a key without a passphrase, which any process of yours can use"


def _tell(number: int, how: str) -> Level:
    return Level(number, f"level {number} of 9: {how}" + (f"; {BELOW}" if number < ACCOUNT else ""))

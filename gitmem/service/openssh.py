"""Signatures, made and looked at by OpenSSH's ``ssh-keygen``: by its place in the system, never by a search path.

Git's own means are not asked: what they take for a good signature, the repository's configuration can say.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable

from gitmem.disk import write_new
from gitmem.errors import UnavailableError
from gitmem.model.human_key import HumanKey
from gitmem.model.signing import DOMAIN
from gitmem.programs import find_program, run_program
from gitmem.values import dataclass
from gitmem.vault.ssh_key import is_public_key

VERIFY_TIMEOUT_S = 20.0
SIGN_TIMEOUT_S = 120.0
"""How long a person may take for a passphrase or a touch."""
_ASK_AGAIN = "Is the key's passphrase right, its agent running, its device plugged in? Then run it again."
_NOT_ASKED = (
    "Run the command at a terminal, which asks for it; or load the key into an SSH agent (`ssh-add`) that the host's "
    "programs find by SSH_AUTH_SOCK, and type the prompt again."
)
_PRINCIPAL = "gitmem"
_MAX_SAID_CHARS = 200


@dataclass(frozen=True)
class Signer:
    """How this process signs: the file of the key, the socket of the person's agent, and if a person is there.

    ``is_device`` says that the key lives in a device that has to be touched.
    """

    key_file: str
    agent_socket: str = ""
    at_terminal: bool = False
    is_device: bool = False


def sign(data: bytes, signer: Signer) -> str:
    """Return the armoured signature of ``data``.

    A passphrase is asked for at the terminal, by ``ssh-keygen`` itself, where ``signer`` has one. Raises
    ``UnavailableError``: ``openssh-missing``, ``signing-failed``.
    """
    command = [_get_program(), "-Y", "sign", "-q", "-n", DOMAIN, "-f", signer.key_file]
    env = {"SSH_AUTH_SOCK": signer.agent_socket} if signer.agent_socket else {}
    try:
        ran = run_program(
            command,
            data,
            timeout_s=SIGN_TIMEOUT_S,
            env=env,
            at_terminal=signer.at_terminal,
            says_there=signer.at_terminal and signer.is_device,
        )
    except UnavailableError as error:
        raise _failed(error.message) from error
    if ran.code != 0:
        said = [line for line in ran.err.decode(errors="replace").splitlines() if line.strip()]
        reason = said[-1][:_MAX_SAID_CHARS] if said else f"ssh-keygen ended with {ran.code}"
        if not signer.at_terminal and "passphrase" in reason:
            raise _failed("the key has a passphrase, and a prompt in a host can't ask for it", _NOT_ASKED)
        raise _failed(reason)
    return ran.out.decode("ascii", "replace")


def is_signed(data: bytes, signature: str, keys: Iterable[HumanKey]) -> bool:
    """Tell whether ``signature`` is one of ``data`` by one of ``keys``, made for this purpose.

    Raises ``UnavailableError`` (``openssh-missing``, and what ``run_program`` raises) where that can't be told.
    """
    program = _get_program()
    # A key's text is a vault's: one that is not exactly a key could bring a line of its own.
    sound = [one.key for one in keys if is_public_key(one.key)]
    allowed = "".join(f'{_PRINCIPAL} namespaces="{DOMAIN}" {key}\n' for key in sound)
    with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:  # for this account alone
        files = {"keys": allowed.encode(), "signature": signature.encode()}
        for name, content in files.items():
            write_new(os.path.join(folder, name), content)
        places = ["-f", os.path.join(folder, "keys"), "-s", os.path.join(folder, "signature")]
        command = [program, "-Y", "verify", "-I", _PRINCIPAL, "-n", DOMAIN, *places]
        return run_program(command, data, timeout_s=VERIFY_TIMEOUT_S).code == 0


def needs_passphrase(key_file: str) -> bool | None:
    """Tell whether a private key can't be read without a passphrase; ``None`` where there is no such key to be tried.

    Raises ``UnavailableError`` (``openssh-missing``).
    """
    if key_file.endswith(".pub") or not os.path.isfile(key_file):
        return None
    ran = run_program([_get_program(), "-y", "-P", "", "-f", key_file], timeout_s=VERIFY_TIMEOUT_S)
    return ran.code != 0


def list_agent_keys(agent_socket: str) -> list[str] | None:
    """Return the public keys, with their comments, that the person's agent signs with; ``None`` where there is none."""
    program = find_program("ssh-add")
    if not agent_socket or program is None:
        return None
    ran = run_program([program, "-L"], timeout_s=VERIFY_TIMEOUT_S, env={"SSH_AUTH_SOCK": agent_socket})
    return [line for line in ran.out.decode(errors="replace").splitlines() if line.strip()] if ran.code == 0 else None


def _get_program() -> str:
    program = find_program("ssh-keygen")
    if program is None:
        raise UnavailableError(
            "openssh-missing",
            "ssh-keygen is not there, and signatures can't be made or looked at without it",
            "Install OpenSSH's client (8.2 or later).",
        )
    return program


def _failed(reason: str, hint: str = _ASK_AGAIN) -> UnavailableError:
    return UnavailableError(
        "signing-failed", f"the operation could not be signed, and nothing was written: {reason}", hint
    )

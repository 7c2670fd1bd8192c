"""The settings of a home: show them, and change them as a person. What starts programs is never a vault's to say."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import new_op_id
from gitmem.model.settings import HomeSettings, Scope
from gitmem.policy.secrets import check_secrets
from gitmem.service.gate import authorize
from gitmem.service.scanner import try_program
from gitmem.values import replace
from gitmem.vault.home_settings import load_settings, save_settings
from gitmem.vault.layout import HomeLayout
from gitmem.vault.registry import hold_home

SCANNER, SIGNING_KEY = "secret-scanner", "signing-key"
NAMES = (SCANNER, SIGNING_KEY)
MAX_KEY_BYTES = 64 << 10
_KEY_STARTS = (b"-----BEGIN OPENSSH PRIVATE KEY-----", b"ssh-", b"ecdsa-", b"sk-ssh-", b"sk-ecdsa-")


def show_settings(home: HomeLayout) -> Answer:
    """Return one row a setting: ``setting``, ``value`` (a list of words, a path, or ``None`` for unset), ``timeout_s``.

    Raises what ``load_settings`` raises.
    """
    settings = load_settings(home)
    scanner = list(settings.secret_scanner) or None
    rows = (
        {"setting": SCANNER, "value": scanner, "timeout_s": settings.scanner_timeout_s if scanner else None},
        {"setting": SIGNING_KEY, "value": settings.signing_key or None, "timeout_s": None},
    )
    return Answer(Status.OK, None, rows=rows, extra={"file": home.settings_file})


def set_scanner(home: HomeLayout, command: Sequence[str], actor: Actor, timeout_s: float | None = None) -> Receipt:
    """Have the program ``command`` (by absolute path, then its arguments) look for secrets beside the built-in scanner.

    It is tried first. Raises ``PolicyError`` (``needs-human``, ``secret-found``), ``InputError`` (``bad-setting``) for
    what is no program, ``UnavailableError`` (``scanner-failed``) when it doesn't answer as it should; nothing is
    changed then.
    """
    authorize(Scope.GLOBAL, Action.SETTINGS, actor)
    check_secrets({"the program": "\n".join(command)})
    program = command[0] if command else ""
    if not os.path.isabs(program) or not os.access(program, os.X_OK) or os.path.isdir(program):
        message = "the scanner has to be a program, named by its absolute path"
        raise InputError("bad-setting", message, "Write where it lies: `command -v NAME` tells it.")
    timeout_s = HomeSettings.scanner_timeout_s if timeout_s is None else timeout_s
    odd = try_program(HomeSettings(tuple(command), timeout_s))
    changed = _change(home, lambda now: replace(now, secret_scanner=tuple(command), scanner_timeout_s=timeout_s))
    return _receipt(actor, changed, (odd,) if odd else ())


def set_signing_key(home: HomeLayout, file: str, actor: Actor) -> Receipt:
    """Have the person's operations signed with the SSH key in ``file``, an absolute path; private, or public.

    Raises ``PolicyError`` (``needs-human``) and ``InputError`` (``bad-setting``) for what is no SSH key; nothing is
    changed then.
    """
    authorize(Scope.GLOBAL, Action.SETTINGS, actor)
    check_secrets({"the key's file": file})
    if not os.path.isabs(file) or not _is_key(file):
        message = "there is no SSH key that can be read"
        raise InputError("bad-setting", message, "Name the file of a key that `ssh-keygen` made, by its absolute path.")
    return _receipt(actor, _change(home, lambda now: replace(now, signing_key=file)))


def unset(home: HomeLayout, name: str, actor: Actor) -> Receipt:
    """Take the setting ``name`` (of ``NAMES``) away. Raises ``PolicyError`` and ``InputError`` (``bad-setting``)."""
    authorize(Scope.GLOBAL, Action.SETTINGS, actor)
    if name not in NAMES:
        raise InputError("bad-setting", f"there is no setting {name!r}", f"Take one of {', '.join(NAMES)}.")
    without = {"secret_scanner": (), "scanner_timeout_s": HomeSettings.scanner_timeout_s} if name == SCANNER else {}
    without = without or {"signing_key": ""}
    return _receipt(actor, _change(home, lambda now: replace(now, **without)))  # type: ignore[arg-type]


def _change(home: HomeLayout, make: Callable[[HomeSettings], HomeSettings]) -> bool:
    with hold_home(home):
        now = load_settings(home)
        wanted = make(now)
        if wanted != now:
            save_settings(home, wanted)
        return wanted != now


def _is_key(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return opened.read(MAX_KEY_BYTES).startswith(_KEY_STARTS)
    except OSError:
        return False


def _receipt(actor: Actor, changed: bool, notices: tuple[str, ...] = ()) -> Receipt:  # noqa: FBT001 - a receipt's field
    return Receipt(
        op=Action.SETTINGS,
        op_id=new_op_id(),
        commit=None,
        changed=changed,
        records=(),
        actor=actor.name,
        surface=actor.surface.value,
        notices=notices,
    )

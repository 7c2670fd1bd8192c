"""All secret scanners on what would be written: the built-in one, and the program of the person's own settings.

The program is asked once for all texts of an operation, so that an operation costs one start of it. It is asked only
where something is written, and by ``check``: a read would take longer than it may. Whatever goes wrong with it is
``scanner-failed``, and nothing of what it says but the names of its rules is ever told: it might quote the secret.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from gitmem.errors import GitmemError, UnavailableError
from gitmem.model.settings import HomeSettings
from gitmem.policy.secrets import PLACEHOLDER, Finding, check_found, check_secrets, redact
from gitmem.programs import run_program
from gitmem.typed import Any
from gitmem.vault.schema import validate

FORMAT = 1
MAX_INPUT_BYTES = 64 << 20
MADE_UP_SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyzABCDEF0123"
_CLEAN = "The tests use two workers."


def check_texts(settings: HomeSettings, texts: Mapping[str, str]) -> None:
    """Check that no scanner finds a secret in ``texts``. Their names are shown, so pass no values.

    What the built-in scanner finds is not handed on to the program. Raises as ``policy.secrets.check_secrets`` does.
    """
    check_secrets(texts)
    if settings.secret_scanner:
        check_found(ask_program(settings, texts))


def ask_program(settings: HomeSettings, texts: Mapping[str, str]) -> list[tuple[str, Finding]]:
    """Return what the program of the settings finds, as name and finding, in the order of ``texts``.

    Nothing where the settings name none.

    Raises ``UnavailableError`` (``scanner-failed``) when it can't be started, is slow, fails, or answers something else
    than ``schema/scan-output.schema.json`` describes.
    """
    if not settings.secret_scanner:
        return []
    given = [{"name": name, "text": text} for name, text in texts.items()]
    data = json.dumps({"format": FORMAT, "texts": given}).encode()
    if len(data) > MAX_INPUT_BYTES:
        raise _failed(f"there are more than {MAX_INPUT_BYTES >> 20} MiB to look at; write them in parts")
    try:
        ran = run_program(settings.secret_scanner, data, timeout_s=settings.scanner_timeout_s)
    except UnavailableError as error:
        raise _failed(error.message) from None
    if ran.code != 0:
        raise _failed(f"it ended with the exit code {ran.code}")
    return _read_answer(ran.out, texts)


def redact_text(settings: HomeSettings, text: str) -> str:
    """Return ``text`` with ``[secret]`` in place of what the built-in scanner finds, and of lines that the other names.

    For what is kept of a person's own typing when its write was refused. Raises ``UnavailableError``
    (``scanner-failed``).
    """
    clean = redact(text)
    lines = clean.split("\n")
    for _name, finding in ask_program(settings, {"the text": clean}):
        if finding.line <= len(lines):
            lines[finding.line - 1] = PLACEHOLDER
    return "\n".join(lines)


def try_program(settings: HomeSettings) -> str:
    """Ask the program about a made-up token and a clean text; return what is odd about its answer, empty for nothing.

    Raises as ``ask_program`` does.
    """
    found = {name for name, _finding in ask_program(settings, {"made-up": MADE_UP_SECRET, "clean": _CLEAN})}
    if "clean" in found:
        return "it finds a secret where there is none, so it may refuse every write"
    return "" if "made-up" in found else "it does not find a made-up GitHub token"


def _read_answer(out: bytes, texts: Mapping[str, str]) -> list[tuple[str, Finding]]:
    try:
        answer: Any = json.loads(out)
        validate("scan-output", answer)
    except (ValueError, RecursionError, GitmemError):
        raise _failed("it did not answer as schema/scan-output.schema.json says") from None
    found = [(one["name"], Finding(one["rule"], one["line"])) for one in answer["findings"]]
    if any(name not in texts for name, _finding in found):
        raise _failed("it names a text that it was not asked about")
    places = list(texts)
    return sorted(found, key=lambda one: (places.index(one[0]), one[1].line))


def _failed(reason: str) -> UnavailableError:
    return UnavailableError(
        "scanner-failed",
        f"the secret scanner of your settings failed: {reason}",
        "Nothing is written unscanned. `gitmem doctor` tries it; `gitmem settings show` says which program it is.",
    )

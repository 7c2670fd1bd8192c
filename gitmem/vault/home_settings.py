"""The home's own settings, ``settings.json``: what belongs to this machine and person, and so never into a vault."""

from __future__ import annotations

import json

from gitmem.disk import ensure_folder, read_regular, replace_file
from gitmem.errors import IntegrityError, UnavailableError
from gitmem.model.settings import HomeSettings
from gitmem.text import make_visible
from gitmem.typed import Any
from gitmem.vault.layout import HomeLayout
from gitmem.vault.schema import validate

MAX_BYTES = 64 << 10


def load_settings(home: HomeLayout) -> HomeSettings:
    """Return the home's settings; the defaults where there is no file.

    Raises ``IntegrityError`` (``bad-settings``) for a file that can't be understood, ``UnavailableError``
    (``settings-unreadable``): a setting that makes things stricter must not be lost without a word.
    """
    try:
        value: Any = json.loads(read_regular(home.settings_file, MAX_BYTES))
        validate("settings", value)
    except FileNotFoundError:
        return HomeSettings()
    except OSError as error:
        message = f"settings.json can't be read: {error.strerror or error}"
        raise UnavailableError("settings-unreadable", message, "See who may read it.") from None
    except (ValueError, RecursionError, IntegrityError) as error:
        message = f"settings.json can't be understood: {make_visible(str(error))}"
        raise IntegrityError("bad-settings", message, "Mend it, or take it away to have the defaults.") from None
    scanner = value.get("secret_scanner", {})
    return HomeSettings(
        secret_scanner=tuple(scanner.get("command", ())),
        scanner_timeout_s=float(scanner.get("timeout_s", HomeSettings.scanner_timeout_s)),
        signing_key=value.get("signing_key", ""),
    )


def save_settings(home: HomeLayout, settings: HomeSettings) -> None:
    """Write the home's settings; durable."""
    value: dict[str, Any] = {}
    if settings.secret_scanner:
        value["secret_scanner"] = {"command": settings.secret_scanner, "timeout_s": settings.scanner_timeout_s}
    if settings.signing_key:
        value["signing_key"] = settings.signing_key
    value = json.loads(json.dumps(value))
    validate("settings", value)
    ensure_folder(home.root)
    replace_file(home.settings_file, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())

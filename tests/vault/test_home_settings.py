"""The home's settings: read back as written, and never lost without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.errors import IntegrityError, UnavailableError
from gitmem.model.settings import HomeSettings
from gitmem.vault.home_settings import load_settings, save_settings
from gitmem.vault.layout import HomeLayout


@pytest.fixture
def home(tmp_path: Path) -> HomeLayout:
    return HomeLayout(str(tmp_path / "home"))


@pytest.mark.parametrize(
    "settings", [HomeSettings(), HomeSettings(("/usr/bin/scan", "--json"), 2.5, "/keys/id_ed25519")]
)
def test_settings_read_back_as_written(home: HomeLayout, settings: HomeSettings) -> None:
    assert load_settings(home) == HomeSettings()
    save_settings(home, settings)
    assert load_settings(home) == settings


@pytest.mark.parametrize("text", ["{", "[]", '{"secret_scanner": {}}', '{"secret-scanner": []}', "\xff"])
def test_settings_that_can_not_be_understood_are_no_defaults(home: HomeLayout, text: str) -> None:
    Path(home.root).mkdir()
    Path(home.settings_file).write_text(text, encoding="latin-1")
    with pytest.raises(IntegrityError) as raised:
        load_settings(home)
    assert raised.value.code == "bad-settings"


def test_settings_that_can_not_be_read_are_no_defaults(home: HomeLayout) -> None:
    Path(home.settings_file).mkdir(parents=True)
    with pytest.raises(UnavailableError) as raised:
        load_settings(home)
    assert raised.value.code == "settings-unreadable"

"""The registry of a home: written whole, read as its schema says, left alone when it is a newer gitmem's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import IntegrityError, StateError, UnavailableError
from gitmem.model.ids import VaultId
from gitmem.model.settings import Scope, VaultEntry
from gitmem.vault.layout import HomeLayout
from gitmem.vault.registry import load_registry, register
from gitmem.vault.schema import validate

ONE = VaultEntry(VaultId("m7k2q9abc123"), Scope.GLOBAL, "global", "/v/repo", "/v/runtime")
TWO = VaultEntry(VaultId("0000000000zz"), Scope.WORKSPACE, "船", "/w/repo", "/w/runtime", "/project")
ENTRY: dict[str, Any] = {
    "vault_id": "m7k2q9abc123",
    "scope": "global",
    "name": "x",
    "path": "/v",
    "runtime": "/r",
    "project": "",
}
ODD = (None, True, 0, 1, 2, "", "x", "global", "x" * 201, [], {}, [ENTRY])
ABSENT = object()


@pytest.fixture
def home(tmp_path: Path) -> HomeLayout:
    return HomeLayout(str(tmp_path))


def code_of(home: HomeLayout, value: Any) -> str:
    Path(home.registry_file).write_text(json.dumps(value))
    try:
        load_registry(home)
    except IntegrityError as error:
        return error.code
    return ""


def is_admitted(value: Any) -> bool:
    try:
        validate("registry", value)
    except IntegrityError:
        return False
    return True


def changed(value: dict[str, Any], member: str, odd: Any) -> dict[str, Any]:
    return {name: one for name, one in {**value, member: odd}.items() if one is not ABSENT}


def test_vaults_are_kept_in_order_and_replaced_by_id(home: HomeLayout) -> None:
    moved = VaultEntry(ONE.vault_id, ONE.scope, "moved", "/elsewhere", ONE.runtime)
    assert [register(home, entry) for entry in (ONE, TWO, TWO, moved)] == [True, True, False, True]
    assert load_registry(home) == (moved, TWO)


def test_reading_admits_what_the_schema_admits(home: HomeLayout) -> None:
    for odd in (*ODD, ABSENT):
        values = [changed({"format": 1, "vaults": []}, member, odd) for member in ("format", "vaults", "more")]
        values += [{"format": 1, "vaults": [changed(ENTRY, member, odd)]} for member in (*ENTRY, "more")]
        for value in values:
            assert (code_of(home, value) == "") == is_admitted(value), value
    for odd in (None, [], 3, "x"):
        assert code_of(home, odd) == "bad-registry"


def test_a_newer_registry_is_read_and_never_written(home: HomeLayout) -> None:
    file = Path(home.registry_file)
    file.write_text(json.dumps({"format": 2, "vaults": [ENTRY], "new": "member"}))
    before = file.read_bytes()
    assert [entry.name for entry in load_registry(home)] == ["x"]
    with pytest.raises(StateError) as caught:
        register(home, TWO)
    assert (caught.value.code, file.read_bytes()) == ("format-too-new", before)


def test_a_registry_that_could_not_be_read_again_is_not_written(home: HomeLayout) -> None:
    register(home, ONE)
    before = Path(home.registry_file).read_bytes()
    with pytest.raises(IntegrityError) as caught:
        register(home, VaultEntry(TWO.vault_id, TWO.scope, "", TWO.path, TWO.runtime))
    assert (caught.value.code, Path(home.registry_file).read_bytes()) == ("schema", before)


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_registry_that_can_not_be_read_is_said(home: HomeLayout, kind: str) -> None:
    if kind == "folder":
        Path(home.registry_file).mkdir()
    else:
        os.mkfifo(home.registry_file)
    for ask in (lambda: load_registry(home), lambda: register(home, ONE)):
        with pytest.raises(UnavailableError) as raised:
            ask()
        assert raised.value.code == "registry-unreadable"


def test_a_registry_that_can_not_be_written_is_said(home: HomeLayout) -> None:
    Path(home.registry_lock).mkdir()
    with pytest.raises(UnavailableError) as raised:
        register(home, ONE)
    assert raised.value.code == "registry-not-written"
    assert load_registry(home) == ()


def test_what_a_kill_left_of_a_registry_goes_with_the_next_look(home: HomeLayout, tmp_path: Path) -> None:
    register(home, ONE)
    (tmp_path / "registry.json.tmp").write_text("{")
    assert register(home, ONE) is False
    assert sorted(path.name for path in tmp_path.iterdir()) == ["registry.json", "registry.lock"]

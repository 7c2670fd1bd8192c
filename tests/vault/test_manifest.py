"""The marker: what is written reads back, and what is read is what the schema admits, no more and no less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import IntegrityError, StateError
from gitmem.model.ids import VaultId
from gitmem.model.settings import Clean, Manifest, Scope
from gitmem.vault.manifest import check_writable, format_manifest, load_manifest, parse_manifest
from gitmem.vault.schema import validate

SOUND: dict[str, Any] = {
    "gitmem": 1,
    "vault_id": "m7k2q9abc123",
    "scope": "global",
    "name": "main",
    "branch": "main",
    "clean": "paths",
    "catalog_shards": 32,
}
ODD = (None, True, -1, 0, 1, 2, 7, "", "x", "global", "paths", "x" * 200, "x" * 201, "x" * 256, [], {}, ["main"])
ABSENT = object()


def code_of(data: bytes) -> str:
    try:
        parse_manifest(data)
    except IntegrityError as error:
        return error.code if error.message.isprintable() else "unprintable"
    return ""


def is_admitted(value: Any) -> bool:
    try:
        validate("manifest", value)
    except IntegrityError:
        return False
    return True


def test_what_is_written_reads_back() -> None:
    manifest = Manifest(VaultId("m7k2q9abc123"), Scope.WORKSPACE, "船", clean=Clean.VAULT, catalog_shards=1024)
    assert parse_manifest(format_manifest(manifest)) == manifest


@pytest.mark.parametrize("member", [*SOUND, "human_keys"])
def test_reading_admits_what_the_schema_admits(member: str) -> None:
    for odd in (*ODD, ABSENT):
        value = {**SOUND, member: odd}
        if odd is ABSENT:
            del value[member]
        assert (code_of(json.dumps(value).encode()) == "") == is_admitted(value), value


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"3", b'"x"', b"{", b"\xff", b"[" * 100_000])
def test_something_else_altogether_is_refused(data: bytes) -> None:
    assert code_of(data) == "bad-manifest"


def test_a_manifest_that_could_not_be_read_again_is_not_made() -> None:
    with pytest.raises(IntegrityError) as caught:
        format_manifest(Manifest(VaultId("m7k2q9abc123"), Scope.GLOBAL, ""))
    assert caught.value.code == "schema"


def test_a_newer_format_is_read_and_not_written(tmp_path: Path) -> None:
    assert load_manifest(str(tmp_path)) is None
    (tmp_path / "manifest.json").write_text(json.dumps({**SOUND, "gitmem": 7}))
    manifest = load_manifest(str(tmp_path))
    assert manifest is not None
    with pytest.raises(StateError) as caught:
        check_writable(manifest)
    assert caught.value.code == "format-too-new"

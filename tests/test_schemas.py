"""What gitmem leaves on disk is what its schemas describe, files of every kind and at every size of the catalog."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.model.authority import Actor
from gitmem.model.record import Draft, Kind
from gitmem.vault.schema import validate

from conftest import Desk, draft


@pytest.mark.parametrize("shards", [1, 32, 1024])
def test_files_on_disk_are_as_their_schemas_say(
    make_desk: Callable[..., Desk], person: Actor, agent: Actor, shards: int
) -> None:
    desk = make_desk(catalog_shards=shards)
    with desk.open() as memory:
        one = memory.observe(draft("One"), agent).records[0]
        two = memory.observe(draft("Two"), agent).records[0]
        memory.declare(Draft("Never do that", "Really.", Kind.BOUNDARY), person)
        memory.promote(two.id, person)
        memory.retire(one.id, "superseded", person, two.id)
        memory.undo(memory.observe(draft("Three"), agent).op_id, agent)
    validate("manifest", json.loads((desk.repo / "manifest.json").read_bytes()))
    validate("registry", json.loads(Path(desk.home, "registry.json").read_bytes()))
    receipts = [json.loads(line) for file in desk.runtime.glob("receipts/*") for line in file.read_text().splitlines()]
    assert [receipt["op"] for receipt in receipts] == [
        *("init", "observe", "observe", "declare", "promote", "retire", "observe", "undo"),
    ]
    assert receipts[-1]["records"] == [{**receipts[-2]["records"][0], "state": None}]
    for receipt in receipts:
        validate("receipt", receipt)
    catalogs = [desk.repo / "catalog.json", *desk.repo.glob("catalog/*.json")]
    found = [json.loads(catalog.read_bytes()) for catalog in catalogs]
    for catalog in found:
        validate("catalog", catalog)
    listed = [entry for catalog in found for entry in catalog.get("records", []) if entry is not None]
    assert sorted(entry["state"] for entry in listed) == ["baseline", "promoted", "retired"]

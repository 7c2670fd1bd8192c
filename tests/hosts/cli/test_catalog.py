"""``gitmem catalog``, the settings of the catalog, and what is said of how an answer came about."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.service.vault import Options

if TYPE_CHECKING:
    from hosts.driving import Gitmem

pytest_plugins = "hosts.driving"


def catalog_file(gitmem: Gitmem) -> Path:
    return Path(gitmem("status", "--json").document["catalog"]["file"])


def test_status_tells_how_the_catalog_is(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests")
    assert gitmem("catalog", "status").out == "search catalog: none yet; the next search makes it\n"
    file = catalog_file(gitmem)
    assert not file.exists()
    gitmem("search", "tests")
    megabytes = f"{file.stat().st_size / 1e6:.1f}"
    assert gitmem("catalog", "status").out == f"search catalog: 1 record, 1 note, {megabytes} MB, {file}\n"
    assert gitmem("status", "--json").document["catalog"] == {
        "storage": "file",
        "file": str(file),
        "bytes": file.stat().st_size,
        "notes": 1,
        "records": 1,
        "degraded": False,
        "reason": "",
        "damage": "",
    }


def test_a_damaged_catalog_is_told_and_replaced(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests")
    gitmem("search", "tests")
    catalog_file(gitmem).write_bytes(b"garbage" * 999)
    said = gitmem("status")
    assert said.err == "warning: the search catalog was damaged and made afresh: file is not a database\n"
    assert "\ncatalog  0 records, 0 notes, " in said.out
    assert gitmem("search", "tests").code == 0
    assert gitmem("status").err == ""


def test_a_catalog_that_cannot_be_used_is_told(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests")
    file = catalog_file(gitmem)
    file.mkdir()
    reason = f"the search catalog can't be opened: {file} is not a regular file"
    said = gitmem("catalog", "status")
    assert (said.code, said.out) == (0, "search catalog: 0 records, 0 notes, in memory\n")
    assert said.err == f"warning: {reason}\nmemory degraded: the answer may be slower or less complete than usual\n"
    document = gitmem("search", "tests", "--json").document
    assert (document["status"], document["reconcile"]["tier"], len(document["results"])) == ("degraded", "memory", 1)
    assert [one["message"] for one in document["diagnostics"]] == [reason]
    assert gitmem("catalog", "rebuild", "--json").document["catalog"]["degraded"]


def test_rebuild_makes_it_afresh(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests")
    gitmem.observe("Run builds")
    gitmem("search", "tests")
    file = catalog_file(gitmem)
    said = gitmem("catalog", "rebuild")
    assert re.fullmatch(rf"search catalog: 2 records, 2 notes, \d\.\d MB, {re.escape(str(file))}\n", said.out)
    assert (said.code, said.err) == (0, "")
    document = gitmem("catalog", "rebuild", "--json").document
    assert document["reconcile"] == {"tier": "strict", "notes": 2, "looked_at": 2, "changed": 2}
    assert (document["catalog"]["records"], document["results"], document["diagnostics"]) == (2, [], [])
    assert gitmem("search", "tests", "--json").document["reconcile"]["changed"] == 0


def test_rebuild_tells_of_notes_that_cannot_be_read(gitmem: Gitmem) -> None:
    (gitmem.repo / "promoted/bad.md").write_text("---\na: [\n---\n")
    assert gitmem("catalog", "rebuild").err.startswith("warning: promoted/bad.md:")


def test_without_a_verb_the_help_is_shown(gitmem: Gitmem) -> None:
    assert gitmem("catalog").code == 2
    assert gitmem("catalog", "nothing").code == 2
    for verb in ("status", "rebuild"):
        text = gitmem("catalog", verb, "--help").out
        assert "\n  Examples:\n    gitmem catalog" in text
        assert "--vault PATH|NAME" in text


def test_the_catalog_in_memory_is_a_setting_and_no_degradation(gitmem: Gitmem) -> None:
    gitmem.observe("Run tests")
    file = catalog_file(gitmem)
    in_memory = gitmem.at(memory_catalog=True)
    document = in_memory("search", "tests", "--json").document
    assert (document["status"], len(document["results"])) == ("ok", 1)
    assert document["reconcile"] == {"tier": "memory", "notes": 1, "looked_at": 1, "changed": 1}
    said = in_memory("search", "tests")
    assert (said.code, said.err) == (
        0,
        "the search catalog was made in memory, as GITMEM_CATALOG says, and is not kept\n",
    )
    assert not file.exists()


def test_a_large_vault_says_what_was_looked_at(gitmem: Gitmem, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        gitmem.observe(f"Heron {number}")
    monkeypatch.setattr("gitmem.service.vault.Options", functools.partial(Options, max_strict_notes=2))
    for name in ("gitmem.vault.scan.SETTLED_NS", "gitmem.catalog.reconcile.FRESH_NS"):
        monkeypatch.setattr(name, -(10**12))  # all counts as settled at once
    gitmem("search", "heron")
    said = gitmem("search", "heron")
    assert said.err == (
        "2 of 3 notes were looked at, the others are as their folders' times say; --strict looks at all\n"
    )
    for strict in (gitmem("search", "heron", "--strict"), gitmem.at(strict=True)("search", "heron")):
        assert (strict.code, strict.err) == (0, "")
    assert gitmem("list", "--strict", "--json").document["reconcile"]["tier"] == "strict"

"""``gitmem context`` from the command line; the page that explains it is run by ``tests/test_docs.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doc_samples import make_context_sample

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"


@pytest.fixture
def harbour(gitmem: Gitmem) -> Gitmem:
    """gitmem in a project with a vault of its own, and something in both vaults."""
    make_context_sample(gitmem)
    return gitmem


def test_it_is_bounded_and_its_document_holds_the_text(harbour: Gitmem) -> None:
    document = harbour("context", "--json", "--max-chars", "900").document
    assert document["status"] == "ok"
    assert len(document["text"]) <= 900
    assert document["max_chars"] == 900
    assert document["omitted"] == 5 - len(document["results"])
    reasons = ("out_of_date", "superseded", "uncommitted", "unreadable", "missing")
    assert document["held_back"] == dict.fromkeys(reasons, 0)
    assert [(row["scope"], row["part"]) for row in document["results"][:2]] == [
        ("global", "boundary"),
        ("workspace", "boundary"),
    ]
    assert harbour("context", "--max-chars", "900").out == document["text"] + "\n"


def test_boundaries_without_room_end_with_an_error(harbour: Gitmem) -> None:
    result = harbour("context", "--max-chars", "10", "--json")
    assert result.code == 6
    assert result.document["status"] == "unavailable"
    assert result.document["results"] == []
    assert result.document["text"].startswith("gitmem: memory is unavailable (boundaries-do-not-fit): ")
    assert "--max-chars" in result.document["hint"]
    assert harbour("context", "--max-chars", "0").code == 2


def test_nothing_yet_is_said_beside_the_result(gitmem: Gitmem) -> None:
    result = gitmem("context")
    assert (result.code, result.out) == (1, "")
    assert result.err == "nothing has been declared, promoted or reported yet\n"
    assert gitmem("context", "--json").document["text"] == ""


def test_a_vault_that_is_missing_is_not_an_empty_one(harbour: Gitmem) -> None:
    harbour.repo.rename(harbour.repo.with_name("elsewhere"))
    result = harbour("context")
    assert result.code == 0
    assert result.out.startswith("gitmem: memory is degraded: ")
    assert "the global vault can't be read (vault-missing)" in result.out
    assert "memory degraded" in result.err

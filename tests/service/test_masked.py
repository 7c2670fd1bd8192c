"""No secret that an edit outside gitmem brought in stands in an answer, whatever is told of it."""

from __future__ import annotations

import json

import pytest

from gitmem.errors import InputError
from gitmem.hosts.cli.output import read_document
from gitmem.model.answer import Answer
from gitmem.model.authority import Actor
from gitmem.model.record import Draft
from gitmem.service.memory import Memory

from conftest import Desk

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def tell(memory: Memory, answer: Answer) -> str:
    return json.dumps(read_document(answer, memory.vault.layout.repo), default=str)


def test_secrets_outside_records_are_masked(desk: Desk, memory: Memory, person: Actor) -> None:
    made = memory.observe(Draft("A note", "See [[Nowhere]]."), person).records[0]
    path = desk.repo / made.path
    path.write_text(path.read_text().replace("Nowhere", SECRET).replace("title: A note", f"title: A {SECRET}"))
    (desk.repo / "promoted" / "broken.md").write_text(f"---\n{SECRET}: 1\n{SECRET}: 2\n---\nx\n")
    desk.git("add", ".")
    desk.git("commit", "-qm", f"commit {SECRET}")
    assert "commit [secret]" in tell(memory, memory.log())
    assert "the property '[secret]' occurs twice" in tell(memory, memory.status())
    assert "[[[secret]]] leads nowhere" in tell(memory, memory.check())
    links = memory.links(made.id)
    assert [row["target"] for row in links.rows] == ["[secret]"]
    for answer in (memory.log(), memory.status(), memory.check(), links, memory.diff()):
        assert SECRET not in tell(memory, answer)
    assert SECRET not in str(links)
    with pytest.raises(InputError, match=r"'\[secret\]' occurs twice") as caught:
        memory.show("promoted/broken.md")
    assert SECRET not in repr(caught.value)

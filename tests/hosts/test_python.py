"""The Python API: what a program finds around it, whom it writes as, and that every verb is there, typed."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gitmem
from gitmem import (
    Actor,
    Draft,
    InputError,
    Kind,
    Memory,
    Options,
    PolicyError,
    State,
    Surface,
    UnavailableError,
    make_vault,
    open_memory,
)
from gitmem.hosts.cli.group import SECTIONS

from conftest import Desk

ROOT = Path(__file__).parents[2]
DRAFT = Draft("Two workers", "More starve the database.", evidence=("run:make test",))

VERBS: dict[str, str | None] = {
    "import": "import_notes",
    "eval": "evaluate",
    "journal": "journal_list",
    "keys": "list_human_keys",
    "catalog": "catalog_status",
    # Ways of a person at a terminal through the other verbs, what a host or a shell calls, and what needs no vault.
    **dict.fromkeys(("completion", "doctor", "hook", "init", "onboard", "review", "settings", "tour")),
}
"""The methods of ``Memory`` that are not called as the verb is, and the verbs that have none, and why not."""
NOT_OF_A_MEMORY = ("install", "uninstall", "mcp", "export")
"""Verbs about other programs."""


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home and a working folder of the process's own, and no other setting."""
    for name in [name for name in os.environ if name.startswith("GITMEM_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.setenv("GITMEM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


def test_without_arguments_it_is_the_vault_of_the_working_folder_else_the_global_one(around: Path) -> None:
    with pytest.raises(UnavailableError, match="no vault here") as refused:
        open_memory()
    assert refused.value.code == "no-vault"
    assert not (around.parent / "home").exists()

    make_vault().close()
    with open_memory() as memory:
        assert memory.vault.entry.scope.value == "global"
    with make_vault(project=".") as made:
        assert made.vault.entry.project == str(around)
    with open_memory() as memory, open_memory("global") as other:
        memory.observe(DRAFT)
        assert [hit.record.title for hit in memory.search("workers").hits] == ["Two workers"]
        assert other.search("workers").status == "no-match"


def test_a_vault_is_made_once_and_where_it_was_said(around: Path) -> None:
    with make_vault("notes", name="notes") as made, make_vault("notes") as again:
        assert made.vault.entry == again.vault.entry
        assert made.vault.entry.path == str(around / "notes")
    with open_memory(Path("notes")) as by_path, open_memory("notes") as by_name:
        assert by_path.vault.entry == by_name.vault.entry
    with pytest.raises(InputError, match="no vault is called"):
        open_memory("elsewhere")


def test_a_program_writes_as_a_model_under_the_name_it_gives(around: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_vault()
    with open_memory(actor="night build", session="s7") as memory:
        done = memory.observe(DRAFT)
        assert (done.actor, done.surface, done.session) == ("night build", "model", "s7")
        with pytest.raises(PolicyError) as declared:
            memory.declare(Draft("Never push to main", kind=Kind.BOUNDARY))
        assert declared.value.code == "needs-human"
        with pytest.raises(PolicyError) as refused:
            memory.promote(done.records[0].id)
        assert refused.value.code == "needs-human"
        assert memory.show(done.records[0].id).hits[0].record.state is State.OBSERVATION
    monkeypatch.setenv("GITMEM_ACTOR", "from outside")
    monkeypatch.setenv("GITMEM_SESSION", "s8")
    with open_memory() as memory:
        assert memory.actor == gitmem.model_actor("from outside", session="s8")


def test_with_a_home_nothing_is_read_of_the_surroundings(
    desk: Desk, around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITMEM_ACTOR", "GITMEM_SESSION", "GITMEM_CATALOG"):
        monkeypatch.setenv(name, "<not a name>")
    with open_memory("vault", home=desk.home) as memory:
        assert memory.actor == gitmem.model_actor()
        assert memory.vault.entry.path == str(desk.repo)
        assert memory.vault.options.memory_catalog is False
    with pytest.raises(InputError, match="GITMEM_ACTOR"):
        open_memory()


def test_options_are_the_callers_own(desk: Desk) -> None:
    with open_memory("vault", home=desk.home, options=Options(memory_catalog=True)) as memory:
        memory.observe(DRAFT)
        assert memory.search("workers").status == "ok"
        assert memory.vault.options.memory_catalog is True
    assert not (desk.runtime / "catalog.sqlite").exists()


@pytest.mark.parametrize("name", ["", "a\nGitmem-Surface: human", "Pat <pat@example.com>", "a\u202eb", " a", "a" * 129])
def test_a_name_that_could_forge_a_commit_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(InputError) as refused:
        gitmem.model_actor(name)
    assert refused.value.code == "bad-actor"
    if name:
        with pytest.raises(InputError):
            open_memory("vault", home=desk.home, actor=name)


def test_to_write_as_a_person_has_to_be_said_in_so_many_words(desk: Desk) -> None:
    """No argument of a door of the API takes a surface, a proof or a person; only an ``Actor`` made by hand says so."""
    for door in (gitmem.open_memory, gitmem.open_async_memory, gitmem.make_vault, gitmem.model_actor):
        names = set(inspect.signature(door).parameters)
        assert not names & {"surface", "proof", "human", "person", "email"}
    assert gitmem.model_actor("Pat Person").surface is Surface.MODEL
    said = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
    with open_memory("vault", home=desk.home) as memory:
        seen = memory.observe(DRAFT)
        memory.promote(seen.records[0].id, said)
    trailers = desk.git("log", "-1", "--format=%(trailers:key=Gitmem-Surface,key=Gitmem-Actor)")
    assert trailers.split("\n")[:2] == ["Gitmem-Surface: human", "Gitmem-Actor: Pat Person"]


def test_every_verb_of_the_command_line_is_a_method_of_a_memory() -> None:
    verbs = [verb for _section, verbs in SECTIONS for verb in verbs if verb not in NOT_OF_A_MEMORY]
    methods = {verb: VERBS.get(verb, verb) for verb in verbs}
    assert [verb for verb, method in methods.items() if method and not callable(getattr(Memory, method, None))] == []
    assert set(VERBS) <= set(verbs)


def test_every_method_says_what_it_does_and_takes_no_person_by_default() -> None:
    methods = {name: one for name, one in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}
    assert [name for name, one in methods.items() if not one.__doc__] == []
    odd = [
        name
        for name, one in methods.items()
        if "actor" in (found := inspect.signature(one).parameters)
        and found["actor"].default is not None
        and name not in ("explain", "trust_keys")
    ]
    assert odd == []


def test_all_public_names_are_there_and_load_nothing_before_they_are_used() -> None:
    assert {name for name in gitmem.__all__ if not hasattr(gitmem, name)} == set()
    assert set(gitmem.__all__) <= set(dir(gitmem))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gitmem.nothing
    program = "import sys, gitmem; print(sorted(one for one in sys.modules if one.startswith('gitmem')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['gitmem', 'gitmem.typed', 'gitmem.version']"


def test_a_program_that_uses_it_is_checked_whole_by_mypy(tmp_path: Path) -> None:
    program = tmp_path / "consumer.py"
    program.write_text(CONSUMER)
    assert (ROOT / "gitmem" / "py.typed").read_text() == ""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*command, "--config-file=", "--follow-imports", "silent", str(program)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.stdout.replace(f"{program}:", ""), done.stderr) == (CONSUMER_TYPES, "")


CONSUMER = """\
import asyncio
from gitmem import (
    Actor, Answer, AsyncMemory, Draft, Filters, GitmemError, Kind, Memory, Receipt, RecordEdit, State, Surface,
    make_vault, model_actor, open_async_memory, open_memory,
)

def remember(memory: Memory) -> Receipt:
    return memory.observe(Draft("Two workers", kind=Kind.FINDING, evidence=("run:1",)), model_actor("night"))

def ask(words: str) -> list[str]:
    with open_memory("notes", actor="night") as memory:
        answer: Answer = memory.search(words, Filters(states=(State.PROMOTED,)), limit=3)
        return [hit.record.title for hit in answer.hits]

async def main() -> None:
    async with open_async_memory() as memory:
        reveal_type(await memory.run(Memory.search, "words", limit=3))
        reveal_type(await memory.run(lambda one: one.status().rows))
        await memory.run(Memory.search, 3)

reveal_type(open_memory())
open_memory(surface=Surface.HUMAN)
"""
CONSUMER_TYPES = """\
17: note: Revealed type is "gitmem.model.answer.Answer"
18: note: Revealed type is "tuple[dict[str, Any], ...]"
19: error: Argument 2 to "run" of "AsyncMemory" has incompatible type "int"; expected "str"  [arg-type]
21: note: Revealed type is "gitmem.service.memory.Memory"
22: error: Unexpected keyword argument "surface" for "open_memory"  [call-arg]
22: note: "open_memory" defined in "gitmem.hosts.python"
"""

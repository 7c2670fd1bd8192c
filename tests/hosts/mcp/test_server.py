"""The server as hosts use it: a process of its own, and the SDK's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import mcp_types as types
from hosts.mcp.served import connect, fits, run, text_of
from mcp import Client

from gitmem.hosts.mcp.tool_table import MAX_LIST_BYTES, TOOLS
from gitmem.model.authority import Actor
from gitmem.model.settings import Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.wiring import make_vault

from conftest import Desk, draft


def test_every_tool_answers_as_it_promises(desk: Desk, memory: Memory, person: Actor) -> None:
    made = memory.observe(draft(), person).records[0]
    memory.promote(made.id, person)

    async def work() -> None:
        async with connect(desk.home, desk.repo, "--host", "claude-code") as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
            asked = {
                "memory_search": {"query": "workers"},
                "memory_get": {"id": made.id},
                "memory_context": {},
                "memory_recall": {"prompt": "how many workers do the tests run with?"},
                "memory_tags": {},
                "memory_timeline": {"by": "week"},
                "memory_propose": {"title": "Never push to main", "kind": "boundary", "why": "The person said so."},
                "memory_observe": {"title": "The build needs Node 24", "evidence": ["file:package.json#L7"]},
                "memory_status": {},
            }
            assert list(asked) == [tool.name for tool in listed]
            told = {name: fits(name, await client.call_tool(name, arguments)) for name, arguments in asked.items()}
            assert [hit["id"] for hit in told["memory_search"]["hits"]] == [made.id]
            assert told["memory_get"]["text"] == "More workers starve the database."
            assert told["memory_recall"]["ids"] == [made.id]
            assert told["memory_tags"]["tags"] == [{"tag": "tool/pytest", "count": 1}]
            assert [row["id"] for row in told["memory_timeline"]["rows"]] == [made.id]
            assert told["memory_propose"]["outcome"] == "new"
            assert told["memory_status"]["records"] == {"observation": 1, "promoted": 1}
            wrong = await client.call_tool("memory_get", {"id": "nobody"})
            assert wrong.is_error
            assert text_of(wrong).startswith("error no-such-record: ")
            written = told["memory_observe"]
            message = desk.git("log", "-1", "--format=%an%n%B", written["commit"])
            assert message.startswith("agent\nobserve: The build needs Node 24\n")
            assert "Gitmem-Surface: model\nGitmem-Actor: agent\n" in message
            assert "Gitmem-Host: claude-code\nGitmem-Session: mcp-" in message

    run(work)
    desk.judge()


def test_both_eras_of_the_protocol_are_spoken_and_the_client_is_the_host(desk: Desk) -> None:
    async def ask(mode: str) -> None:
        info = types.Implementation(name="Some Host", version="9")
        async with connect(desk.home, desk.repo, mode=mode, client_info=info) as client:
            arguments = {"title": f"Spoken {mode}", "evidence": ["run:make"]}
            fits("memory_observe", await client.call_tool("memory_observe", arguments))

    for mode in ("legacy", "2026-07-28"):
        run(lambda mode=mode: ask(mode))  # type: ignore[misc]
    assert (
        desk.git("log", "-2", "--format=%(trailers:key=Gitmem-Host,valueonly,separator=)").split() == ["some-host"] * 2
    )


def test_resources_and_prompts(desk: Desk, memory: Memory, person: Actor) -> None:
    made = memory.observe(draft(), person).records[0]
    memory.promote(made.id, person)

    async def work() -> None:
        async with connect(desk.home, desk.repo) as client:
            assert [one.uri for one in (await client.list_resources()).resources] == ["gitmem://index"]
            templates = (await client.list_resource_templates()).resource_templates
            assert [one.uri_template for one in templates] == ["gitmem://record/{id}"]
            index = (await client.read_resource("gitmem://index")).contents[0]
            assert "```gitmem-index\n1 record:\n- " + made.id in index.text
            record = (await client.read_resource(f"gitmem://record/{made.id}")).contents[0]
            assert "  > More workers starve the database.\n```" in record.text
            with_error = await _refused(client.read_resource("gitmem://record/../../etc/passwd"))
            assert "no-such-resource" in with_error
            assert [one.name for one in (await client.list_prompts()).prompts] == ["recall", "report"]
            recalled = (await client.get_prompt("recall", {"about": "workers of the tests"})).messages[0].content.text
            assert f"- {made.id} (" in recalled
            report = (await client.get_prompt("report")).messages[0].content.text
            parts = [line[2:].partition(":")[0] for line in report.splitlines() if line.startswith("- ")]
            assert parts == ["title", "answer", "evidence", "checks", "uncertainty", "next"]
            assert "name the prompt" in await _refused(client.get_prompt("recall", {}))

    run(work)


async def _refused(asked: object) -> str:
    try:
        await asked  # type: ignore[misc]
    except Exception as error:
        return str(error)
    raise AssertionError("it was answered")


def test_a_vault_that_is_made_later_is_found_at_the_next_call(tmp_path: Path, make_desk: Callable[[], Desk]) -> None:
    async def work() -> None:
        async with connect(tmp_path / "home", tmp_path, "--vault", str(tmp_path / "vault")) as client:
            assert text_of(await client.call_tool("memory_status", {})).startswith("error no-such-vault: ")
            assert not (tmp_path / "home").exists()
            await asyncio.to_thread(make_desk)
            assert fits("memory_status", await client.call_tool("memory_status", {}))["status"] == "ok"

    run(work)


def test_the_folder_is_that_of_the_clients_roots(desk: Desk, tmp_path: Path) -> None:
    async def roots(_context: object) -> types.ListRootsResult:
        gone = types.Root(uri=(tmp_path / "gone").as_uri())  # type: ignore[arg-type]
        return types.ListRootsResult(roots=[gone, types.Root(uri=desk.repo.as_uri())])  # type: ignore[arg-type]

    async def work() -> None:
        async with connect(desk.home, tmp_path, mode="legacy", list_roots_callback=roots) as client:
            assert fits("memory_status", await client.call_tool("memory_status", {}))["status"] == "ok"
        async with connect(desk.home, tmp_path, mode="legacy") as client:
            assert text_of(await client.call_tool("memory_status", {})).startswith("error no-vault: ")
        async with connect(desk.home, tmp_path, env={"CLAUDE_PROJECT_DIR": str(desk.repo)}) as client:
            assert fits("memory_status", await client.call_tool("memory_status", {}))["status"] == "ok"

    run(work)


def test_what_the_command_line_observes_is_seen_by_the_next_read(desk: Desk, agent: Actor) -> None:
    async def work() -> None:
        async with connect(desk.home, desk.repo) as client:
            assert fits("memory_search", await client.call_tool("memory_search", {"query": "workers"}))["total"] == 0
            await asyncio.to_thread(_observe_beside, desk, agent)
            found = fits("memory_search", await client.call_tool("memory_search", {"query": "workers"}))
            assert [hit["title"] for hit in found["hits"]] == [draft().title]

    run(work)


def _observe_beside(desk: Desk, agent: Actor) -> None:
    with desk.open() as other:
        other.observe(draft(), agent)


def test_two_servers_write_to_one_vault_at_once_and_nothing_is_lost(desk: Desk) -> None:
    async def write(client: Client, name: str) -> None:
        asked = [
            client.call_tool("memory_observe", {"title": f"{name} number {n}", "evidence": ["run:make"]})
            for n in range(10)
        ]
        for result in await asyncio.gather(*asked):
            fits("memory_observe", result)

    async def work() -> None:
        async with connect(desk.home, desk.repo) as one, connect(desk.home, desk.repo) as other:
            await asyncio.gather(write(one, "One"), write(other, "Other"))

    run(work)
    subjects = [line for line in desk.commits() if line.startswith("observe: ")]
    assert sorted(subjects) == sorted(f"observe: {name} number {n}" for name in ("One", "Other") for n in range(10))
    receipts = (desk.runtime / "receipts").glob("*")
    assert sum(line.count('"observe"') for file in receipts for line in file.read_text().splitlines()) == 20
    desk.judge()


def test_reads_and_writes_of_one_client_run_side_by_side(desk: Desk, memory: Memory, agent: Actor) -> None:
    memory.observe(draft(), agent)

    async def work() -> None:
        async with connect(desk.home, desk.repo) as client:
            reads = [client.call_tool("memory_search", {"query": "workers"}) for _ in range(12)]
            titles = [f"Side {n}" for n in range(4)]
            writes = [client.call_tool("memory_observe", {"title": t, "evidence": ["run:make"]}) for t in titles]
            for result in await asyncio.gather(*reads):
                assert fits("memory_search", result)["total"] == 1
            for result in await asyncio.gather(*writes):
                fits("memory_observe", result)

    run(work)
    desk.judge()


def test_the_list_is_small_and_closed(desk: Desk) -> None:
    async def work() -> types.ListToolsResult:
        async with connect(desk.home, desk.repo, mode="legacy") as client:
            return await client.list_tools()

    listed = run(work)
    sent = json.dumps(listed.model_dump(by_alias=True, mode="json", exclude_none=True), separators=(",", ":"))
    assert len(sent.encode()) <= MAX_LIST_BYTES
    for tool in listed.tools:
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations is not None
        assert (tool.annotations.destructive_hint, tool.annotations.open_world_hint) == (False, False)
        assert tool.annotations.read_only_hint is (tool.name not in ("memory_propose", "memory_observe"))


def test_inv_boundaries_a_home_that_the_project_brings_along_serves_nothing(tmp_path: Path, person: Actor) -> None:
    home, project = tmp_path / "person", tmp_path / "shop"
    home.mkdir()
    make_vault(str(project / "data"), NewVault(Scope.GLOBAL), person)

    async def work() -> None:
        async with connect(home, project, env={"GITMEM_HOME": "data"}) as client:
            told = await client.call_tool("memory_context", {})
        assert told.is_error
        assert text_of(told).startswith("error home-in-project: GITMEM_HOME names a home within the project")

    run(work)

"""``gitmem maintain`` on the command line: what it says, as text and as JSON, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


def test_it_says_what_it_did(gitmem: Gitmem) -> None:
    gitmem.observe("One thing")
    count = len(list((gitmem.repo / ".git/objects").glob("??/*")))

    planned = gitmem("maintain", "--dry-run")
    assert planned.code == 0
    assert re.sub(r"\d+$", "N", planned.out.splitlines()[2]) == "KiB            N"
    assert [line for number, line in enumerate(planned.out.splitlines()) if number != 2] == [
        f"objects        {count} loose objects to pack; loose {count}",
        "packs          0",
        "commit graph   0 commits, to be brought up to date",
        "catalog files  1",
        "litter         0 removed",
    ]
    assert len(list((gitmem.repo / ".git/objects").glob("??/*"))) == count

    done = gitmem("maintain")
    assert done.code == 0
    assert done.err == ""
    told = [re.sub(r"^(KiB +)\d+( -> \d+)?$", r"\1N -> M", line) for line in done.out.splitlines()]
    assert [re.sub(r"\d+ -> \d+", "N -> M", line) for line in told] == [
        f"objects        {count} packed; loose N -> M",
        "packs          N -> M",
        "KiB            N -> M",
        "commit graph   2 commits, 2 of them new",
        "catalog files  1",
        "litter         0 removed",
    ]
    assert list((gitmem.repo / ".git/objects").glob("??/*")) == []
    assert gitmem.git("fsck", "--strict") == ""
    assert gitmem.git("commit-graph", "verify") == ""


def test_it_says_it_as_a_document(gitmem: Gitmem) -> None:
    gitmem.observe("One thing")
    gitmem("maintain")
    (pack,) = (gitmem.repo / ".git/objects/pack").glob("*.pack")
    pack.with_suffix(".keep").touch()
    result = gitmem("maintain", "--json")
    assert result.code == 0
    document = result.document
    assert (document["ok"], document["op"], document["commit"], document["changed"]) == (True, "maintain", None, False)
    assert document["maintenance"] == {
        "before": document["maintenance"]["before"],
        "after": {"loose": 0, "packs": 1, "bytes": pack.stat().st_size},
        "packed": 0,
        "merged": 0,
        "graph": 2,
        "graph_new": 0,
        "shards_before": 1,
        "shards_after": 1,
        "litter": 0,
        "left_alone": [f"{pack.stem}: it has a .keep file"],
        "dry_run": False,
    }
    assert gitmem("maintain").out.splitlines()[-1] == f"left alone: {pack.stem}: it has a .keep file"


def test_it_refuses_a_vault_on_another_branch(gitmem: Gitmem) -> None:
    gitmem.git("switch", "-q", "-c", "other")
    result = gitmem("maintain", "--json")
    assert result.code == 4
    assert result.document["error"]["code"] == "not-on-managed-branch"
    assert list((gitmem.repo / ".git/objects/pack").glob("*")) == []


def test_it_names_a_vault_that_is_not_there(bare: Gitmem) -> None:
    result = bare("maintain")
    assert (result.code, result.out) == (6, "")
    assert result.err.startswith("error: ")


def test_a_person_may_ask_for_it_as_their_own(gitmem: Gitmem, terminal: Terminal) -> None:
    gitmem.observe("One thing")
    result = terminal("maintain", "--human")
    assert result.code == 0
    assert "packs the repository, writes Git's commit graph" in result.out
    assert "commit graph   2 commits, 2 of them new" in result.out


def test_a_failpoint_kills_it_and_the_next_run_is_whole(gitmem: Gitmem, terminal: Terminal) -> None:
    gitmem.observe("One thing")
    killed = terminal("maintain", GITMEM_FAILPOINT="maintain-place-index")
    assert killed.code == -9
    assert gitmem.git("fsck", "--strict") == ""
    result = gitmem("maintain", "--json").document["maintenance"]
    assert (result["litter"], result["after"]["loose"], result["after"]["packs"]) == (2, 0, 1)
    assert gitmem.git("fsck", "--strict") == ""


def test_doctor_tells_what_is_stored_and_when_it_is_due(gitmem: Gitmem) -> None:
    gitmem.observe("One thing")
    rows = {row["code"]: row for row in gitmem("doctor", "--json").document["results"]}
    count = len(list((gitmem.repo / ".git/objects").glob("??/*")))
    assert re.sub(r"\d+ KiB", "N KiB", rows["storage"]["message"]) == (
        f"{count} loose objects, 0 packs, N KiB, no commit graph"
    )
    assert "maintain-due" not in rows
    gitmem("maintain")
    for number in range(51):
        Path(gitmem.repo, ".git/objects/pack", f"pack-{number:040x}.idx").touch()
    rows = {row["code"]: row for row in gitmem("doctor", "--json").document["results"]}
    assert (rows["maintain-due"]["severity"], rows["maintain-due"]["message"]) == ("warning", "there are 52 packs")
    assert rows["storage"]["message"].endswith("a commit graph of 2 commits, 0 days old")
    told = gitmem("status", "--json").document["diagnostics"]
    assert [one["message"] for one in told if one["code"] == "maintain-due"] == [
        "there are 52 packs; `gitmem maintain` looks after it"
    ]

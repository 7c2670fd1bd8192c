"""INV-NEVER-SILENT at the command line: a memory that can't be read, or may not be shown, says so and nothing else."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gitmem.errors import UnavailableError

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

READS = [
    ["search", "workers"],
    ["list"],
    ["show", "workers"],
    ["show", "workers", "--raw"],
    ["links", "workers"],
    ["log"],
    ["log", "workers"],
    ["tags"],
    ["timeline"],
    ["diff"],
    ["status"],
    ["check"],
]
GONE = (
    "the vault 'global' is not where it was",
    "Put the folder back, or name another vault with --vault. gitmem does not make it anew by itself.",
)


@pytest.fixture
def filled(gitmem: Gitmem) -> Gitmem:
    gitmem.observe("Run tests with two workers", "--key", "workers")
    return gitmem


@pytest.fixture
def gone(filled: Gitmem) -> Gitmem:
    """A home whose registered vault is no longer there."""
    shutil.rmtree(filled.repo)
    return filled


@pytest.mark.parametrize("args", READS, ids=" ".join)
def test_inv_never_silent_a_vault_that_is_gone_is_said_in_one_line(args: list[str], gone: Gitmem) -> None:
    said = gone(*args)
    assert (said.code, said.out) == (6, "")
    assert said.err == f"memory unavailable: {GONE[0]}\nhint: {GONE[1]}\n"
    assert not gone.repo.exists()


@pytest.mark.parametrize("args", [args for args in READS if "--raw" not in args], ids=" ".join)
def test_inv_never_silent_programs_are_told_as_much(args: list[str], gone: Gitmem) -> None:
    said = gone(*args, "--json")
    assert (said.code, said.err) == (6, "")
    assert said.document == {
        "status": "unavailable",
        "revision": None,
        "results": [],
        "diagnostics": [{"code": "vault-missing", "message": GONE[0], "path": "", "line": None}],
        "hint": GONE[1],
    }


@pytest.mark.parametrize("args", READS, ids=" ".join)
def test_inv_never_silent_a_repository_that_is_none_is_said_too(args: list[str], filled: Gitmem) -> None:
    shutil.rmtree(filled.repo / ".git")
    said = filled(*args)
    assert (said.code, said.out) == (6, "")
    assert said.err.startswith("memory unavailable: the folder is not the root of a Git repository\nhint: ")


@pytest.mark.parametrize("args", READS[:4], ids=" ".join)
def test_inv_never_silent_a_failing_scanner_shows_nothing(
    args: list[str], filled: Gitmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_text: str) -> str:
        raise UnavailableError("scanner-failed", "the scanner is broken", "Run `gitmem doctor`.")

    for file in filled.repo.parent.glob("runtime/catalog.sqlite*"):
        file.unlink()
    monkeypatch.setattr("gitmem.policy.secrets.redact", fail)
    said = filled(*args)
    assert (said.code, said.out) == (6, "")
    line, hint = said.err.splitlines()
    assert line.startswith("memory withheld: the ")
    assert hint == "hint: Run `gitmem doctor`."
    if "--raw" not in args:
        document = filled(*args, "--json").document
        assert (document["status"], document["results"]) == ("withheld", [])


@pytest.mark.parametrize(
    "args",
    [
        ["observe", "T", "--evidence", "run:1"],
        ["observe", "T"],
        ["declare", "T", "--kind", "goal"],
        ["edit", "workers", "--title", "T"],
        ["edit", "workers", "--editor"],
        ["promote", "workers"],
        ["retire", "workers", "--reason", "old"],
        ["restore", "workers"],
        ["adopt"],
        ["import", "."],
        ["check", "--repair-views"],
    ],
    ids=" ".join,
)
def test_nothing_is_written_to_a_vault_that_is_gone(args: list[str], gone: Gitmem) -> None:
    said = gone(*args, "--op-id", "mine-1", "--json") if args[0] != "check" else gone(*args, "--json")
    assert said.code == 6
    assert said.document == {"ok": False, "error": {"code": "vault-missing", "message": GONE[0], "hint": GONE[1]}}
    assert not gone.repo.exists()
    said = gone(*args)
    assert (said.code, said.out) == (6, "")
    assert said.err == f"error: {GONE[0]}\nhint: {GONE[1]}\n"


@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (["observe", "T"], 5, "needs-human"),
        (["observe", "x" * 201, "--evidence", "run:1"], 3, "title-too-long"),
        (["observe", "T", "--evidence", "because"], 3, "bad-evidence"),
        (
            ["observe", "T", "--evidence", "run:1", "--body", "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123"],
            5,
            "secret-found",
        ),
        (["observe", "T", "--evidence", "run:1", "--key", "workers"], 3, "key-taken"),
        (["declare", "T", "--kind", "goal"], 5, "needs-human"),
        (["declare", "T", "--kind", "goal", "--tag", "two words"], 3, "bad-tag"),
        (["declare", "T", "--kind", "goal", "--key", "workers"], 3, "key-taken"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused_is_one_document(args: list[str], code: int, error: str, filled: Gitmem) -> None:
    said = filled(*args, "--json")
    assert (said.code, said.err, said.document["error"]["code"]) == (code, "", error)
    assert said.document["error"]["hint"]
    assert len(filled.git("log", "--format=%s").splitlines()) == 2


def test_doctor_says_which_vault_is_gone(gone: Gitmem) -> None:
    said = gone("doctor", "--json")
    assert said.code == 7
    assert [row["path"] for row in said.document["results"] if row["severity"] == "error"] == [str(gone.repo)]

"""The scanner of the home's settings: asked once for all that is written; if it goes wrong, nothing is."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.errors import IntegrityError, PolicyError, UnavailableError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor
from gitmem.model.candidate import Choice
from gitmem.model.settings import HomeSettings, Scope
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.scanner import ask_program, check_texts, try_program
from gitmem.vault.home_settings import save_settings
from gitmem.vault.layout import HomeLayout
from gitmem.vault.schema import validate
from gitmem.wiring import make_vault, run_doctor

from conftest import Desk, draft

SCANNER = """
import json, re, sys
asked = json.load(sys.stdin)
open(sys.argv[1], "a").write(json.dumps(asked) + "\\n")
found = [
    {"name": one["name"], "rule": "acme-badge", "line": number}
    for one in asked["texts"]
    for number, line in enumerate(one["text"].splitlines(), 1)
    if "ACME-BADGE" in line or "ghp_" in line
]
print(json.dumps({"findings": found}))
"""
BADGE = "ACME-BADGE-" + "482913"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "asked.jsonl"


@pytest.fixture
def scanned(desk: Desk, tmp_path: Path, log: Path) -> Iterator[Memory]:
    """A memory in whose home a scanner of the person's looks for badges."""
    script = tmp_path / "scan.py"
    script.write_text(SCANNER)
    use_program(desk, [sys.executable, "-I", str(script), str(log)])
    with desk.open() as opened:
        yield opened


def use_program(desk: Desk, command: list[str], timeout_s: float = 20) -> None:
    save_settings(HomeLayout(desk.home), HomeSettings(tuple(command), timeout_s))


def say(text: str) -> list[str]:
    return [sys.executable, "-I", "-c", f"import sys; sys.stdin.read(); print({text!r})"]


def asked(log: Path) -> list[dict[str, str]]:
    found = [json.loads(line) for line in log.read_text().splitlines()]
    for one in found:
        validate("scan-input", one)
    return [{text["name"]: text["text"] for text in one["texts"]} for one in found]


def files_of(desk: Desk) -> dict[str, bytes]:
    folders = (desk.repo, desk.runtime, Path(desk.home))
    return {str(path): path.read_bytes() for root in folders for path in root.rglob("*") if path.is_file()}


def test_it_is_asked_once_about_the_exact_bytes_and_what_goes_with_them(
    scanned: Memory, log: Path, agent: Actor, desk: Desk
) -> None:
    ref = scanned.observe(draft("Two workers", "No more."), agent).records[0]

    (texts,) = asked(log)
    assert texts[ref.path] == (desk.repo / ref.path).read_text()
    assert set(texts) == {"the commit message", "the operation id", "the actor", "its file name", ref.path}
    assert texts["its file name"] == ref.path
    assert texts["the commit message"].startswith("Two workers")


def test_what_it_finds_is_refused_with_its_rule_and_the_line(
    scanned: Memory, desk: Desk, agent: Actor, log: Path
) -> None:
    before = desk.git("rev-parse", "HEAD")

    with pytest.raises(PolicyError) as caught:
        scanned.observe(draft("Door", f"One.\n{BADGE}\n"), agent)

    assert (caught.value.code, caught.value.fields["rule"]) == ("secret-found", "acme-badge")
    assert BADGE not in f"{caught.value!r} {caught.value.hint} {caught.value.fields}"
    assert desk.git("rev-parse", "HEAD") == before
    desk.judge()
    assert not any(BADGE.encode() in data for data in files_of(desk).values())


def test_what_the_built_in_scanner_finds_is_not_handed_on(scanned: Memory, agent: Actor, log: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        scanned.observe(draft("Door", "ghp_" + "aB3" * 12), agent)

    assert caught.value.fields["rule"] == "github-token"
    assert not log.exists()


def test_many_records_are_one_question(scanned: Memory, log: Path, agent: Actor) -> None:
    scanned.observe_all([draft(f"Number {number}") for number in range(5)], agent)

    (texts,) = asked(log)
    assert len(texts) == 5 + 4
    assert "the file names" in texts


def test_what_goes_into_the_inbox_is_scanned(scanned: Memory, agent: Actor, person: Actor, desk: Desk) -> None:
    for bad in (draft("Door", BADGE), draft(f"Door {BADGE}")):
        with pytest.raises(PolicyError):
            scanned.propose(bad, agent)
    kept = scanned.propose(draft("Door", "It is open."), agent).candidate
    for call in (
        lambda: scanned.reject([kept.id], f"because of {BADGE}", person),
        lambda: scanned.accept([Choice(kept.id, draft=draft("Door", BADGE))], person),
    ):
        with pytest.raises(PolicyError):
            call()
    assert not any(BADGE.encode() in data for data in files_of(desk).values())


def test_a_new_vault_is_scanned(scanned: Memory, desk: Desk, person: Actor, tmp_path: Path) -> None:
    with pytest.raises(PolicyError):
        make_vault(desk.home, NewVault(Scope.WORKSPACE, path=str(tmp_path / "two"), name=BADGE), person)
    with pytest.raises(PolicyError):
        make_vault(desk.home, NewVault(Scope.WORKSPACE, path=str(tmp_path / BADGE)), person)

    assert not (tmp_path / "two").exists()
    assert not (tmp_path / BADGE).exists()
    assert not any(BADGE.encode() in data for data in files_of(desk).values())


WRONG = {
    "fails": ([sys.executable, "-I", "-c", f"import sys; sys.stderr.write('{BADGE}'); sys.exit(3)"], 20.0),
    "is slow": (["/bin/sleep", "60"], 0.2),
    "is missing": (["/no/such/scanner"], 20.0),
    "says nothing": (["/bin/true"], 20.0),
    "says no JSON": (say(BADGE), 20.0),
    "says too much": ([sys.executable, "-I", "-c", "print('x' * (2 << 20))"], 20.0),
    "quotes": (say(json.dumps({"findings": [{"name": "the actor", "rule": BADGE, "line": 1}]})), 20.0),
    "names another text": (say(json.dumps({"findings": [{"name": BADGE, "rule": "badge", "line": 1}]})), 20.0),
    "has no line": (say(json.dumps({"findings": [{"name": "the actor", "rule": "badge", "line": 0}]})), 20.0),
    "says more": (say(json.dumps({"findings": [], "secret": BADGE})), 20.0),
}


@pytest.mark.parametrize("what", WRONG)
def test_when_it_goes_wrong_nothing_is_written(what: str, desk: Desk, agent: Actor) -> None:
    command, timeout_s = WRONG[what]
    use_program(desk, command, timeout_s)
    with desk.open() as memory:
        before = desk.git("rev-parse", "HEAD")
        for write in (memory.observe, memory.propose):
            with pytest.raises(UnavailableError) as caught:
                write(draft("Door", "It is open."), agent)
            assert caught.value.code == "scanner-failed"
            assert BADGE not in f"{caught.value!r} {caught.value.hint} {caught.value.fields}"

        assert desk.git("rev-parse", "HEAD") == before
        desk.judge()
        assert list(desk.runtime.rglob("inbox/*.json")) == []
        assert not any(b"It is open" in data for data in files_of(desk).values())


def test_settings_that_can_not_be_understood_stop_writes_and_no_reads(desk: Desk, agent: Actor) -> None:
    Path(desk.home, "settings.json").write_text('{"secret-scanner": "typo"}')
    with desk.open() as memory:
        with pytest.raises(IntegrityError) as caught:
            memory.observe(draft(), agent)
        assert caught.value.code == "bad-settings"
        assert memory.search("workers", Filters()).status is Status.NO_MATCH


def test_a_read_does_not_ask_it(scanned: Memory, log: Path, agent: Actor) -> None:
    scanned.observe(draft(), agent)
    times = len(asked(log))

    assert scanned.search("workers", Filters()).status is Status.OK
    assert len(asked(log)) == times


def test_check_asks_it_about_what_came_in_by_other_ways(scanned: Memory, desk: Desk, agent: Actor) -> None:
    ref = scanned.observe(draft(), agent).records[0]
    with (desk.repo / ref.path).open("a") as file:
        file.write(f"{BADGE}\n")
    lines = (desk.repo / ref.path).read_text().splitlines()
    rows = [row for row in scanned.check().rows if row["code"] == "secret-found"]

    assert [(row["path"], row["line"], row["severity"]) for row in rows] == [(ref.path, len(lines), "error")]
    assert BADGE not in str(rows)
    with pytest.raises(PolicyError):
        scanned.adopt((), agent)


def test_check_says_when_it_goes_wrong(desk: Desk, agent: Actor) -> None:
    with desk.open() as memory:
        memory.observe(draft(), agent)
    use_program(desk, ["/no/such/scanner"])
    with desk.open() as memory:
        assert [row["code"] for row in memory.check().rows] == ["scanner-failed"]


def test_doctor_tries_it(scanned: Memory, desk: Desk) -> None:
    def rows() -> list[tuple[str, str]]:
        found = run_doctor(desk.home, desk.home, str(desk.repo)).rows
        return [(row["severity"], row["code"]) for row in found if row["code"].startswith("scanner")]

    assert rows() == [("ok", "scanner"), ("ok", "scanner")]
    use_program(desk, say('{"findings": []}'))
    assert rows() == [("ok", "scanner"), ("warning", "scanner-odd")]
    use_program(desk, ["/bin/false"])
    assert rows() == [("ok", "scanner"), ("error", "scanner-failed")]


def test_findings_come_in_the_order_of_the_texts(tmp_path: Path) -> None:
    answer = {"findings": [{"name": "b", "rule": "r2", "line": 7}, {"name": "a", "rule": "r1", "line": 3}]}
    settings = HomeSettings(tuple(say(json.dumps(answer))), 20.0)

    assert [(name, found.rule) for name, found in ask_program(settings, {"a": "", "b": ""})] == [
        ("a", "r1"),
        ("b", "r2"),
    ]
    with pytest.raises(PolicyError) as caught:
        check_texts(settings, {"a": "", "b": ""})
    assert caught.value.message == "a, line 3 looks like a secret (r1), and 1 more"


def test_one_that_finds_everything_is_odd() -> None:
    answer = {"findings": [{"name": "clean", "rule": "r1", "line": 1}]}

    assert try_program(HomeSettings(tuple(say(json.dumps(answer))), 20.0)).startswith("it finds a secret where")


def test_there_is_none_by_default(memory: Memory, agent: Actor) -> None:
    assert memory.observe(draft("T", BADGE), agent).changed
    assert ask_program(HomeSettings(), {"a": BADGE}) == []


def test_the_example_of_the_manual_works(desk: Desk, agent: Actor, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "secrets.md").read_text()
    script = tmp_path / "scan.py"
    script.write_text(page.partition("```python\n")[2].partition("```")[0])
    use_program(desk, [sys.executable, "-I", str(script)])
    answer = json.loads(page.split("```json\n")[2].partition("```")[0])
    asked_for = json.loads(page.split("```json\n")[1].partition("```")[0])
    with desk.open() as memory:
        assert memory.observe(draft("One", "It is open."), agent).changed
        with pytest.raises(PolicyError) as caught:
            memory.observe(draft("Door", BADGE), agent)

    assert caught.value.fields["rule"] == answer["findings"][0]["rule"] == "acme-badge"
    validate("scan-input", asked_for)
    validate("scan-output", answer)

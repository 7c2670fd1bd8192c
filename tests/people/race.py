"""The race: people edit notes in every way that programs save files, while gitmem processes write the same ones.

Every edit carries a token of its own. Once a save returned, its token must be found for ever: in a file, in a commit or
among the displaced files. A person owns some records and edits them one after the other; each tool reads the note just
before it saves, and only adds to it. So nobody means to remove a token, and every one that is missing was lost.

Run it alone: ``python tests/people/race.py --edits 2000 --writers 4 --people 4 --seed 1`` (prints the counts as JSON).
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import itertools
import json
import mmap
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.errors import GitmemError
from gitmem.model.authority import Actor, Surface
from gitmem.model.ids import new_op_id
from gitmem.model.record import Draft, State
from gitmem.model.settings import Scope
from gitmem.service.edit import RecordEdit
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.service.vault import Options
from gitmem.transaction import displaced
from gitmem.vault import atomic
from gitmem.wiring import make_vault, open_memory

PERSON = Actor(Surface.HUMAN, "Pat Person", "pat@example.com")
FOLDERS = ("baseline", "observations", "promoted", "retired")
VIEWS = ("INDEX.md", "catalog.json")
TOKEN = re.compile(rb"tok-[0-9]+-[0-9]+-end")
MAX_AIM_S = 0.04
NOBODY = 255


@dataclass(frozen=True)
class Race:
    """How much of what: ``edits`` in all, made by ``people`` processes against ``writers`` gitmem processes.

    ``exchanges`` false stands for a platform that can't exchange two files. ``kills`` is how probable it is that a
    writer is killed at a step of a transaction; another one then goes on.
    """

    edits: int
    writers: int = 4
    people: int = 4
    records: int = 12
    seed: int = 1
    exchanges: bool = True
    kills: float = 0


@dataclass
class Outcome:
    """What came of a race; ``lost`` and ``wrong`` must be empty."""

    saved: collections.Counter[str] = field(default_factory=collections.Counter)
    missed: collections.Counter[str] = field(default_factory=collections.Counter)
    done: collections.Counter[str] = field(default_factory=collections.Counter)
    refused: collections.Counter[str] = field(default_factory=collections.Counter)
    found: collections.Counter[str] = field(default_factory=collections.Counter)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """Where the race is run.

    In ``slots`` writer ``n`` says which record it is about to replace (or ``NOBODY``), and how many it did before.
    """

    home: str
    repo: Path
    runtime: Path
    logs: Path
    names: list[str]
    ids: list[str]
    slots: mmap.mmap

    def open(self, probe: Callable[[str], None] = lambda _step: None) -> Memory:
        options = Options(lock_wait_s=120, index_wait_s=60, probe=probe)
        return open_memory(self.home, self.home, str(self.repo), options)

    def find(self, name: str) -> list[str]:
        """Return where the note of that name lies now, anywhere in the vault."""
        folders = (found for top in FOLDERS for found in os.walk(self.repo / top))
        return [os.path.relpath(os.path.join(folder, name), self.repo) for folder, _, files in folders if name in files]


def run_race(folder: Path, race: Race) -> Outcome:
    """Run the race in ``folder``, let the dust settle, and judge. Everything is left there to be looked at."""
    place = _make_place(folder, race)
    people = [_start(place, f"person-{n}", lambda n=n: _be_person(place, race, n)) for n in range(race.people)]
    writers = [_start(place, f"writer-{n}", lambda n=n: _be_writer(place, race, n)) for n in range(race.writers)]
    outcome = Outcome()
    for pid in people:
        _wait(pid, outcome)
    (place.logs / "stop").touch()
    for pid in writers:
        _wait(pid, outcome)
    set_aside = _settle_dust(place, outcome)
    _judge(place, outcome, set_aside)
    return outcome


def _make_place(folder: Path, race: Race) -> Place:
    home, logs = str(folder / "home"), folder / "logs"
    logs.mkdir(parents=True)
    entry, _receipt = make_vault(home, NewVault(Scope.WORKSPACE, path=str(folder / "vault")), PERSON)
    slots = mmap.mmap(-1, 2 * race.writers)
    slots[:] = bytes([NOBODY, 0]) * race.writers
    place = Place(home, Path(entry.path), Path(entry.runtime), logs, [], [], slots)
    with place.open() as memory:
        for number in range(race.records):
            one = memory.observe(Draft(title=f"Note {number}", body=f"Text {number}."), PERSON).records[0]
            place.names.append(os.path.basename(one.path))
            place.ids.append(one.id)
    return place


def _start(place: Place, name: str, work: Callable[[], None]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            (place.logs / f"{name}.trace").write_text(traceback.format_exc())
        finally:
            os._exit(code)
    return pid


def _wait(pid: int, outcome: Outcome) -> None:
    _pid, status = os.waitpid(pid, 0)
    if status:
        outcome.wrong.append(f"process {pid} ended with {status}")


class Log:
    """One line a thing that is done, written before anybody is told."""

    def __init__(self, place: Place, name: str) -> None:
        self.file = (place.logs / f"{name}.jsonl").open("a", buffering=1)

    def __call__(self, **said: object) -> None:
        self.file.write(json.dumps(said) + "\n")


# --- gitmem ---------------------------------------------------------------------------------------------------------


def _be_writer(place: Place, race: Race, number: int) -> None:
    for life in itertools.count():
        pid = _start(place, f"writer-{number}-{life}", lambda life=life: _write(place, race, number, life))
        _pid, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            return


def _write(place: Place, race: Race, number: int, life: int) -> None:
    if not race.exchanges:
        atomic.exchange = lambda _one, _other, _folder=None: False
    chance = random.Random(f"{race.seed} writer {number} {life}")
    death = random.Random(f"{race.seed} death {number} {life}")
    log = Log(place, f"writer-{number}-{life}")
    count, which = 0, NOBODY

    def tell(step: str) -> None:
        if death.random() < race.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        if step == "validate":
            place.slots[2 * number + 1] = (place.slots[2 * number + 1] + 1) % 256
        if step in ("validate", "finish"):
            place.slots[2 * number] = which if step == "validate" else NOBODY

    with place.open(tell) as memory:
        while not (place.logs / "stop").exists():
            which = chance.randrange(len(place.ids))
            _adopt(place, memory, chance, log, which)
            count += 1
            _operate(place, memory, chance, log, which, f"{number}-{life}-{count}")
            place.slots[2 * number] = NOBODY


def _adopt(place: Place, memory: Memory, chance: random.Random, log: Log, which: int) -> None:
    for path in place.find(place.names[which]):
        if chance.random() < 0.9:
            _try(log, "adopt", lambda path=path: memory.adopt([path], PERSON, new_op_id()))


def _operate(place: Place, memory: Memory, chance: random.Random, log: Log, which: int, mark: str) -> None:
    ref = place.ids[which]
    if chance.random() < 0.1:
        body = f"begin {mark}\n\nend {mark}"
        _try(log, "observe", lambda: memory.observe(Draft(title=f"New {mark}", body=body), PERSON, new_op_id()))
        return
    try:
        state = memory.show(ref).hits[0].record.state
    except (GitmemError, IndexError) as error:
        log(refused=f"show {getattr(error, 'code', 'nothing')}")
        return
    body = f"begin {mark}\n\nend {mark}"
    edit = RecordEdit(body=body)
    ways: dict[str, Callable[[], object]] = {"edit": lambda: memory.edit(ref, edit, PERSON, new_op_id())}
    if state == State.OBSERVATION.value:
        ways["promote"] = lambda: memory.promote(ref, PERSON, new_op_id())
    if state == State.RETIRED.value:
        ways = {"restore": lambda: memory.restore(ref, PERSON, new_op_id())}
    else:
        ways["retire"] = lambda: memory.retire(ref, "a race", PERSON, op_id=new_op_id())
    op = chance.choice(sorted(ways))
    _try(log, op, ways[op])


def _try(log: Log, op: str, work: Callable[[], object]) -> None:
    try:
        receipt = work()
    except GitmemError as error:
        log(refused=f"{op} {error.code}", message=error.message)
        return
    if receipt.commit:  # type: ignore[attr-defined]
        log(done=op, op_id=receipt.op_id, commit=receipt.commit, notices=receipt.notices)  # type: ignore[attr-defined]


# --- people ---------------------------------------------------------------------------------------------------------


class Person:
    """One person: their records, the way they save, and the files that their editor keeps open."""

    def __init__(self, place: Place, race: Race, number: int) -> None:
        self.place = place
        self.number = number
        self.chance = random.Random(f"{race.seed} person {number}")
        self.log = Log(place, f"person-{number}")
        self.own = [which for which in range(race.records) if which % race.people == number]
        self.view = VIEWS[number] if number < len(VIEWS) else None
        self.known: dict[str, str] = {}
        self.open: dict[str, int] = {}
        self.met: collections.deque[tuple[int, int]] = collections.deque(maxlen=8)
        self.count = 0

    def edit(self) -> None:
        name = self._choose()
        path = self._locate(name)
        if path is None:
            return
        self.count += 1
        token = f"tok-{self.number}-{self.count}-end"
        way = self.chance.choice((in_place, truncate, rename, recreate, append))
        try:
            way(self, path, name, token.encode())
        except FileNotFoundError:
            self.known.pop(name, None)
            self.log(missed=way.__name__)
        else:
            self.log(token=token, way=way.__name__, path=path)

    def close(self, name: str) -> None:
        if name in self.open:
            os.close(self.open.pop(name))

    def _choose(self) -> str:
        busy = self._wait_for_work()
        time.sleep(self.chance.random() ** 2 * MAX_AIM_S)  # so that each moment of the operation is met
        if self.view and self.chance.random() < 0.1:
            return self.view
        return self.place.names[busy]

    def _wait_for_work(self) -> int:
        """Wait until one of the person's records is about to be replaced; now and then do without."""
        while self.chance.random() > 0.001:
            slots = self.place.slots[:]
            for number in range(0, len(slots), 2):
                told = (number, slots[number + 1])
                if slots[number] in self.own and told not in self.met:
                    self.met.append(told)
                    if self.chance.random() < 0.6:  # the others come to their end, so that all kinds of them are met
                        return slots[number]
            time.sleep(0.001)
        return self.chance.choice(self.own)

    def _locate(self, name: str) -> str | None:
        """Return the note's path; now and then the one where it was, as an open editor does."""
        if name in VIEWS:
            return str(self.place.repo / name)
        if name not in self.known or self.chance.random() < 0.7:
            found = self.place.find(name)
            if not found:
                return None
            self.known[name] = str(self.place.repo / self.chance.choice(found))
        return self.known[name]


def _be_person(place: Place, race: Race, number: int) -> None:
    person = Person(place, race, number)
    while person.count < race.edits // race.people:
        person.edit()
    for name in list(person.open):
        person.close(name)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def in_place(person: Person, path: str, name: str, token: bytes) -> None:
    text = _read(path) + token + b"\n"
    with open(path, "r+b", buffering=0) as file:
        file.write(text)
        file.truncate(len(text))


def truncate(person: Person, path: str, name: str, token: bytes) -> None:
    text = _read(path) + token + b"\n"
    with open(path, "wb") as file:
        file.write(text)


def rename(person: Person, path: str, name: str, token: bytes) -> None:
    person.close(name)  # this editor would write into a file that the person replaced
    text = _read(path) + token + b"\n"
    temp = os.path.join(os.path.dirname(path), f".{name}.{person.number}~")
    with open(temp, "wb") as file:
        file.write(text)
    os.replace(temp, path)


def recreate(person: Person, path: str, name: str, token: bytes) -> None:
    person.close(name)
    text = _read(path) + token + b"\n"
    os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text)


def append(person: Person, path: str, name: str, token: bytes) -> None:
    if name in person.open and person.chance.random() < 0.2:
        person.close(name)
    if name not in person.open:
        person.open[name] = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(person.open[name], token + b"\n")


# --- afterwards -----------------------------------------------------------------------------------------------------


def _settle_dust(place: Place, outcome: Outcome) -> Path:
    """Do what a person does afterwards: adopt every edit, and take away what can't be adopted. Returns where it is."""
    away = place.logs / "taken-away"
    away.mkdir()
    waits = displaced.WAIT_NS
    displaced.WAIT_NS = 0  # everybody has gone
    try:
        with place.open() as memory:
            memory.observe(Draft(title="After the race"), PERSON)
            for path in _dirty(place):
                try:
                    memory.adopt([path], PERSON)
                except GitmemError as error:
                    outcome.refused[f"dust {error.code}"] += 1
                    _take_away(place, path, away)
            memory.observe(Draft(title="Long after the race"), PERSON)
            problems = memory.check().rows
            outcome.wrong += [f"check: {row}" for row in problems]
            outcome.wrong += [f"list: {memory.list(Filters()).status}"] * (memory.list(Filters()).status != "ok")
    finally:
        displaced.WAIT_NS = waits
    return away


def _dirty(place: Place) -> list[str]:
    lines = _git(place, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames").split("\0")
    return [line[3:] for line in lines if line.endswith(".md") and line[3:].startswith(FOLDERS)]


def _take_away(place: Place, path: str, away: Path) -> None:
    full = place.repo / path
    if full.exists():
        full.rename(away / f"{len(os.listdir(away))}-{full.name}")
    with contextlib.suppress(subprocess.CalledProcessError):  # a file that Git does not know just goes
        _git(place, "restore", "--", path)


def _judge(place: Place, outcome: Outcome, away: Path) -> None:
    tokens, acknowledged = _read_logs(place, outcome)
    corpora = {
        "file": b"".join(path.read_bytes() for path in place.repo.rglob("*") if _is_in_vault(place, path)),
        "taken away": b"".join(path.read_bytes() for path in away.iterdir()),
        "commit": _all_blobs(place),
        "displaced": b"".join(path.read_bytes() for path in (place.runtime / "displaced").rglob("*") if path.is_file()),
        "waiting": b"".join(path.read_bytes() for path in (place.repo / ".git/gitmem/displaced").rglob("*")),
    }
    held = {where: set(TOKEN.findall(text)) for where, text in corpora.items()}
    for token, way in tokens.items():
        where = next((where for where in held if token.encode() in held[where]), None)
        outcome.found[where or "nowhere"] += 1
        if where is None:
            outcome.lost.append(f"{token} ({way})")
    log = _git(place, "log", "--format=%H %(trailers:key=Gitmem-Op-Id,valueonly,separator=%x2C)").splitlines()
    history = [tuple(line.split(" ", 1)) for line in log]
    times = collections.Counter(op_id for _commit, op_id in history)
    outcome.wrong += [f"operation {op_id} is {count} times in history" for op_id, count in times.items() if count > 1]
    outcome.wrong += [f"acknowledged {one} is not in history" for one in acknowledged if one not in set(history)]
    outcome.wrong += _find_mixed(place)
    outcome.wrong += [f"fsck: {line}" for line in _git(place, "fsck", "--strict", "--no-dangling").splitlines()]
    status = _git(place, "status", "--porcelain", "--untracked-files=all").splitlines()
    outcome.wrong += [f"status: {line}" for line in status if not line.endswith("~")]
    outcome.wrong += [f"left over: {path}" for path in place.repo.rglob(".gitmem-*")]
    outcome.wrong += [f"left over: {path}" for path in (place.runtime / "journal").glob("*")]


def _is_in_vault(place: Place, path: Path) -> bool:
    return path.is_file() and ".git" not in path.relative_to(place.repo).parts and not path.name.endswith("~")


def _read_logs(place: Place, outcome: Outcome) -> tuple[dict[str, str], list[tuple[str, str]]]:
    tokens: dict[str, str] = {}
    acknowledged = []
    for log in sorted(place.logs.glob("*.jsonl")):
        for line in log.read_text().splitlines():
            said = json.loads(line)
            if "token" in said:
                tokens[said["token"]] = f"{said['way']} {said['path']}"
                outcome.saved[said["way"]] += 1
            elif "missed" in said:
                outcome.missed[said["missed"]] += 1
            elif "done" in said:
                outcome.done[said["done"]] += 1
                acknowledged.append((said["commit"], said["op_id"]))
            else:
                outcome.refused[said["refused"]] += 1
    outcome.wrong += [trace.read_text() for trace in place.logs.glob("*.trace")]
    return tokens, acknowledged


def _find_mixed(place: Place) -> Iterator[str]:
    """Yield the commits of ``edit`` and ``observe`` whose notes are not whole: a writer's text from begin to end."""
    for commit in _git(place, "log", "--format=%H", "--grep=^Gitmem-Op: \\(edit\\|observe\\)$").split():
        names = _git(place, "show", "--format=", "--name-only", "--diff-filter=AM", commit, "--", *FOLDERS).splitlines()
        for name in names:
            text = _git(place, "show", f"{commit}:{name}")
            begun, ended = re.findall(r"^begin (\S+)$", text, re.M), re.findall(r"^end (\S+)$", text, re.M)
            if begun != ended or not text.startswith("---\n") or "tok-" in text:
                yield f"{name} in {commit} is mixed: {text!r}"


def _all_blobs(place: Place) -> bytes:
    names = _git(place, "rev-list", "--objects", "--all").split("\n")
    ids = "\n".join(name.split(" ")[0] for name in names if name)
    command = ["git", "cat-file", "--batch", "--buffer"]
    done = subprocess.run(command, cwd=place.repo, input=ids.encode(), capture_output=True, check=True)
    return done.stdout


def _git(place: Place, *args: str) -> str:
    command = ["git", "-c", "core.quotePath=false", *args]
    return subprocess.run(command, cwd=place.repo, capture_output=True, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--records", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-exchange", action="store_true", help="as on a platform that can't exchange two files")
    parser.add_argument("--kills", type=float, default=0, help="how probable a writer's death is at each step")
    parser.add_argument("--keep", help="a folder that does not exist yet; everything stays there")
    asked = parser.parse_args()
    race = Race(asked.edits, asked.writers, asked.people, asked.records, asked.seed, not asked.no_exchange, asked.kills)
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_race(Path(asked.keep or folder), race)
    print(json.dumps({"race": vars(race), **vars(outcome)}, indent=1))
    return 1 if outcome.lost or outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

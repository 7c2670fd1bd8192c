"""The tour: the whole story on a sample vault, told step by step. The story and its notes are ``templates/sample``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Generator, Iterator

from gitmem.errors import IntegrityError
from gitmem.model.answer import Answer
from gitmem.model.authority import Actor, Surface
from gitmem.model.candidate import Choice
from gitmem.model.change import Receipt
from gitmem.model.event import EventKind, Seen
from gitmem.model.ids import RecordId
from gitmem.model.record import Draft, Kind, State
from gitmem.resources import folder, read_text
from gitmem.service.curate import Wanted
from gitmem.service.memory import Memory
from gitmem.service.query import Filters
from gitmem.typed import Any
from gitmem.values import dataclass, field

SAMPLE_PERSON = Actor(Surface.HUMAN, "Sample Person", "sample-person@users.gitmem.invalid", "tour", "sample")
"""May act without a confirmation because it only ever writes into the vault that the tour has just made."""
SAMPLE_AGENT = Actor(Surface.MODEL, "sample-agent", "sample-agent@agents.gitmem.invalid", "tour", "sample")
_FOLDER = "templates"


@dataclass(frozen=True)
class Step:
    """One step of the story: its name, one line that explains it, and the commands that would do the same.

    ``receipts`` are its commits, in order, ``answers`` what was read; both are empty for the edit in another editor.
    """

    name: str
    says: str
    commands: tuple[str, ...]
    receipts: tuple[Receipt, ...] = ()
    answers: tuple[Answer, ...] = field(default=())


def load_story() -> dict[str, Any]:
    """Return the story as shipped. Reads."""
    story: dict[str, Any] = json.loads(read_text(_FOLDER, "sample/story.json"))
    return story


def run_tour(memory: Memory, story: dict[str, Any]) -> Iterator[Step]:
    """Play ``story`` on the fresh vault of ``memory``, yielding each step when it is done; writes and commits.

    Between the steps ``edit`` and ``adopt`` one note is uncommitted, after every other step the vault is clean. Raises
    what the verbs raise, the earlier steps done.
    """
    yield _bring_in(memory)
    yield _declare(memory, story["declare"])
    yield _observe(memory, story["observe"])
    yield _curate(memory, story["session"])
    candidate = yield from _propose(memory, story["propose"])
    yield _accept(memory, candidate)
    yield _promote(memory, story["promote"], story["retire"]["superseded_by"])
    yield _retire(memory, story["retire"])
    path = yield from _edit(memory, story["edit"])
    yield from (_search(memory, asked) for asked in story["search"])
    yield Step(
        "adopt",
        "What a person edited elsewhere becomes their own operation; it is shown to them first.",
        (_command("adopt", path),),
        receipts=(memory.adopt([path], SAMPLE_PERSON),),
    )
    yield _context(memory)
    yield Step("log", "Every step is one commit.", (_command("log"),), answers=(memory.log(),))


def _bring_in(memory: Memory) -> Step:
    notes = str(folder(_FOLDER) / "sample")
    report = memory.import_notes(notes, SAMPLE_PERSON, state=State.OBSERVATION)
    if report.receipt is None or report.left_out:
        problems = [f"{problem.path}: {problem.message}" for problem in report.left_out]
        raise IntegrityError("bad-sample", f"the sample notes can't be brought in: {problems}", "Install gitmem anew.")
    says = f"{len(report.imported)} notes of a team come in as observations, in one commit."
    return Step("import", says, (_command("import", notes),), receipts=(report.receipt,))


def _declare(memory: Memory, items: list[dict[str, Any]]) -> Step:
    receipts = tuple(memory.declare(_draft(item), SAMPLE_PERSON) for item in items)
    commands = tuple(_command("declare", item["title"], "--kind", item["kind"], "--body", "…") for item in items)
    return Step("declare", "A person declares what holds; agents are always told.", commands, receipts=receipts)


def _observe(memory: Memory, items: list[dict[str, Any]]) -> Step:
    receipts = tuple(memory.observe(_draft(item), SAMPLE_AGENT) for item in items)
    commands = tuple(
        _command("observe", item["title"], "--body", "…", *(f"--evidence={one}" for one in item["evidence"]))
        for item in items
    )
    says = "An agent writes down what it learned, with evidence; it needs nobody for that."
    return Step("observe", says, commands, receipts=receipts)


def _curate(memory: Memory, told: dict[str, Any]) -> Step:
    for event in told["events"]:
        memory.journal_add(
            Seen(
                kind=EventKind(event["kind"]),
                session=SAMPLE_AGENT.session,
                host=SAMPLE_AGENT.host,
                folder=memory.vault.layout.repo,
                tool=event.get("tool", ""),
                command_line=event.get("command", ""),
                paths=tuple(event.get("paths", ())),
                exit_code=event.get("exit_code"),
            )
        )
    curation = memory.curate(SAMPLE_AGENT, Wanted(every=True, look=0))
    return Step("curate", told["says"], (_command("curate", "--all"),), receipts=(curation.receipt,))


def _propose(memory: Memory, items: list[dict[str, Any]]) -> Generator[Step, None, RecordId]:
    proposed = [memory.propose(_draft(item), SAMPLE_AGENT).candidate.id for item in items]
    commands = tuple(_command("propose", item["title"], "--kind", item["kind"], "--body", "…") for item in items)
    says = "An agent may propose anything, a boundary, too. It waits in the inbox, out of Git."
    yield Step("propose", says, (*commands, _command("inbox")), answers=(memory.inbox(),))
    return proposed[0]


def _accept(memory: Memory, candidate: RecordId) -> Step:
    says = "A person accepts one; `gitmem review` would show them all, with one key each."
    receipt = memory.accept([Choice(candidate)], SAMPLE_PERSON)
    return Step("accept", says, (_command("accept", candidate),), receipts=(receipt,))


def _context(memory: Memory) -> Step:
    says = "What an agent is told when a session starts: what people declared, and what they reviewed."
    return Step("context", says, (_command("context"),), answers=(memory.context(),))


def _promote(memory: Memory, wanted: dict[str, Any], successor: str) -> Step:
    refs = [_find(memory, wanted["file"]), _find(memory, successor)]
    receipts = tuple(memory.promote(ref, SAMPLE_PERSON) for ref in refs)
    says = f"{wanted['says']} A person makes it reviewed knowledge."
    return Step("promote", says, tuple(_command("promote", ref) for ref in refs), receipts=receipts)


def _retire(memory: Memory, wanted: dict[str, Any]) -> Step:
    ref, newer = _find(memory, wanted["file"]), _find(memory, wanted["superseded_by"])
    receipt = memory.retire(ref, wanted["reason"], SAMPLE_PERSON, newer)
    command = _command("retire", ref, "--reason", wanted["reason"], "--superseded-by", newer)
    says = "What no longer holds is kept, with the reason, in favour of what does."
    return Step("retire", says, (command,), receipts=(receipt,))


def _edit(memory: Memory, wanted: dict[str, Any]) -> Generator[Step, None, str]:
    path = memory.show(_find(memory, wanted["file"])).hits[0].record.path
    file = memory.vault.layout.file(path)
    # Plainly, as another program would: gitmem is not asked.
    with open(file, encoding="utf-8", newline="") as note:
        text = note.read()
    with open(file, "w", encoding="utf-8", newline="") as note:
        note.write(text.replace(wanted["old"], wanted["new"]))
    yield Step("edit", wanted["says"], (f"(an editor on {path})",))
    return path


def _search(memory: Memory, asked: dict[str, Any]) -> Step:
    answer = memory.search(asked["query"], Filters(), 3)
    says = f"Search: {asked['says']}."
    return Step("search", says, (_command("search", "--limit", "3", asked["query"]),), answers=(answer,))


def _find(memory: Memory, file: str) -> str:
    answer = memory.list(Filters())
    return next(hit.record.id for hit in answer.hits if hit.record.path.endswith(f"/{file}"))


def _draft(item: dict[str, Any]) -> Draft:
    return Draft(
        title=item["title"],
        body=item["body"] + "\n",
        kind=Kind(item["kind"]),
        summary=item["summary"],
        tags=tuple(item["tags"]),
        evidence=tuple(item.get("evidence", ())),
    )


def _command(*words: str) -> str:
    return shlex.join(("gitmem", *words))

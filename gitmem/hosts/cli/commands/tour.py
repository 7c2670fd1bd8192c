"""``gitmem tour``."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import click

from gitmem.errors import StateError
from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, find_columns, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.hits import format_found
from gitmem.hosts.cli.output import read_document
from gitmem.hosts.cli.plain import MAX_LISTED, short
from gitmem.model.answer import Answer, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitmem.service.tour import Step


@verb("tour", "gitmem tour\ngitmem tour ~/gitmem-tour")
@click.argument("path", required=False, type=click.Path())
@pass_call
def command(call: Call, path: str | None) -> int:
    """Play the whole story on a sample vault, left to look at.

    Writes into PATH, a new or empty folder (else a fresh one among the temporary files), and nowhere else: the sample
    vault has a home of its own beside it.
    """
    place = _prepare(call.environment.folder, path)
    repo = os.path.join(place, "vault")
    steps = []
    for step in play(place, repo):
        steps.append(_document(step, repo))
        call.print_text(format_step(step) + "\n")
    answer = Answer(Status.OK, steps[-1]["answers"][0]["revision"], rows=tuple(steps))
    told = {**read_document(answer, repo), "folder": place, "vault": repo}
    call.print_result(told, format_farewell(place, repo))
    return 0


def _prepare(folder: str, path: str | None) -> str:
    if path is None:
        return os.path.realpath(tempfile.mkdtemp(prefix="gitmem-tour-"))
    place = os.path.realpath(os.path.join(folder, os.path.expanduser(path)))
    if os.path.exists(place) and (not os.path.isdir(place) or os.listdir(place)):
        raise StateError("folder-not-empty", f"{path!r} is there and not an empty folder", "Name a new folder.")
    return place


def play(place: str, repo: str) -> Iterator[Step]:
    """Make the sample vault ``repo`` with its home in the folder ``place``, and yield each step when it is done."""
    from gitmem.model.settings import Scope
    from gitmem.service.init import NewVault
    from gitmem.service.tour import SAMPLE_PERSON, Step, load_story, run_tour
    from gitmem.wiring import make_vault, open_memory

    story = load_story()
    home = os.path.join(place, "home")
    wanted = NewVault(Scope.WORKSPACE, path=repo, name=story["name"])
    _entry, receipt = make_vault(home, wanted, SAMPLE_PERSON)
    says = f"{story['about']} A vault is a Git repository of Markdown notes."
    yield Step("init", says, (f"gitmem init {repo} --name {story['name']}",), receipts=(receipt,))
    with open_memory(home, place, repo) as memory:
        yield from run_tour(memory, story)


def _document(step: Step, repo: str) -> dict[str, Any]:
    return {
        "step": step.name,
        "says": step.says,
        "commands": list(step.commands),
        "commits": [receipt.commit for receipt in step.receipts],
        "answers": [read_document(answer, repo) for answer in step.answers],
    }


def format_step(step: Step) -> str:
    """Return one step as people see it: what it is for, the commands that do the same, what came of it."""
    lines = [f"{click.style(step.name, bold=True)}: {safe_line(step.says)}"]
    lines += [f"  $ {safe_line(command)}" for command in step.commands]
    lines += [f"    commit {short(receipt.commit)}" for receipt in step.receipts]
    return "\n".join(lines + [f"    {line}" for answer in step.answers for line in _answer_lines(answer)])


def _answer_lines(answer: Answer) -> list[str]:
    columns = find_columns()
    width = None if columns is None else max(columns - 4, 20)
    if answer.hits:
        return format_found(answer, width).split("\n")
    if "text" in answer.extra:
        return [safe_line(line) for line in str(answer.extra["text"]).split("\n")]
    if answer.rows and "wants" in answer.rows[0]:
        rows = [(row["id"], row.get("kind") or row["wants"], safe_line(row["title"])) for row in answer.rows]
        return align(rows, width)
    rows = [(short(row["commit"]), safe_line(row["op"]), safe_line(row["title"])) for row in answer.rows[:MAX_LISTED]]
    return align(rows, width)


def format_farewell(place: str, repo: str) -> str:
    """Return what to look at now."""
    return f"""\
Everything lies in {place}. To look at it:
  git -C {repo} log --stat
  gitmem --vault {repo} list
  open {repo} as a vault in Obsidian, and there INDEX.md
Remove the folder when you are done."""

"""``gitmem report``."""

from __future__ import annotations

from typing import Any

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.options import clean_tags, op_id_option, read_file, require, tag_option, text, text_option
from gitmem.hosts.cli.preview import preview_draft
from gitmem.hosts.cli.writing import write_and_say
from gitmem.model.record import Draft
from gitmem.model.task_report import TaskReport

_EFFECT = "a new record in observations/, of kind task, in one commit"
_PARTS = ("answer", "evidence", "checks", "uncertainty", "next")


@verb(
    "report",
    """
gitmem report "Speed up the search" --answer "An index on boats.harbour; 40 ms instead of 900." \\
  --evidence commit:1a2b3c4d --check "make test passes" --next "Do the same for bookings."
gitmem report "Why CI is red" --answer "Not found yet." --uncertainty "Only seen on ARM." --evidence run:ci-4812
gitmem report --from report.md
gitmem report "Speed up the search" --from - < report.json
""",
)
@click.argument("title", metavar="TITLE", type=text, required=False)
@text_option("--answer", help="What came of the task. Needed, here or in the file.")
@text_option("--evidence", multiple=True, help="commit:…, file:…#L…, run:…, url:…, or a plain line. May be repeated.")
@text_option("--check", "checks", multiple=True, help="What was tried, and how it went. May be repeated.")
@text_option("--uncertainty", help="What is not known, or not looked at.")
@text_option("--next", help="What is to be done next.")
@click.option(
    "--from",
    "from_file",
    metavar="FILE|-",
    help="Read the report from FILE: JSON, or Markdown with a heading for each part (## Answer).",
)
@tag_option("--tag", "tags", help="A tag like tool/pytest. May be repeated.")
@text_option("--key", help="A name by which the record is found exactly, unique in the vault.")
@op_id_option
@pass_call
def command(call: Call, /, **values: Any) -> int:
    """Report a task: what came of it, what shows it, and what is next.

    Writes one observation of kind task and commits it. The context of later sessions names the last reports and what
    they say is next. Without evidence that can be followed a person has to confirm it at the terminal.
    """
    draft = _read(call, values)
    with call.open_memory() as memory:
        return write_and_say(
            call,
            lambda actor: memory.observe(draft, actor, values["op_id"]),
            lambda: preview_draft(memory, "report", draft, _EFFECT),
            stdin_is_used=values["from_file"] == "-",
        )


def _read(call: Call, values: dict[str, Any]) -> Draft:
    from gitmem.service.task_report import MAX_FILE_BYTES, draft_report, parse_report

    title, tags, key = values["title"], clean_tags(values["tags"]), values["key"]
    if values["from_file"] is None:
        require("title", "answer")
        given = {name: values[name] for name in _PARTS if values[name] is not None}
        return draft_report(title, TaskReport(**given), tags=tags, key=key)
    doubled = [name for name in _PARTS if values[name]]
    if doubled:
        name = "check" if doubled[0] == "checks" else doubled[0]
        raise click.UsageError(f"with --from the file says everything; leave --{name} out", click.get_current_context())
    report, said = parse_report(read_file(call, values["from_file"], MAX_FILE_BYTES + 1))
    if title is None and "title" not in said:
        require("title")
    return draft_report(title or said["title"], report, tags=tags or said.get("tags", ()), key=key or said.get("key"))

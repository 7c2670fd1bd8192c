"""``gitmem status``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.columns import align, safe_line
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.plain import count, format_catalog, short
from gitmem.hosts.cli.reading import say_answer
from gitmem.model.answer import Answer

_WHOSE = {
    "editor": "someone with an editor or another program",
    "git": "Git: an earlier commit or another branch has it so",
    "gitmem": "an operation of gitmem that is under way or crashed",
    "sync": "a sync program: named like a conflict copy",
}


@verb("status", "gitmem status\ngitmem --vault ~/notes status --json")
@pass_call
def command(call: Call) -> int:
    """Show what is in the vault, and what waits for a person.

    Lists notes that were edited outside gitmem and are not committed yet, and whose edits they are likely to be; other
    files are counted. Writes nothing into the repository.
    """
    return say_answer(call, lambda memory: memory.status(), _format)


def _format(answer: Answer) -> str:
    extra = answer.extra
    vault = extra["vault"]
    counts = ", ".join(f"{number} {state}" for state, number in extra["counts"].items()) or "nothing yet"
    facts = [
        ("vault", safe_line(f"{vault['name']} ({vault['scope']}, {vault['id']})")),
        ("folder", safe_line(vault["path"])),
        ("at", safe_line(f"{short(answer.revision)} on {extra['branch'] or 'no branch'}")),
        ("records", counts),
        ("catalog", format_catalog(extra["catalog"])),
    ]
    if inbox := extra["inbox"]["candidates"]:
        asleep = extra["inbox"]["deferred"]
        deferred = f", {asleep} of them deferred" if asleep else ""
        facts.append(("inbox", f"{count(inbox, 'candidate')}{deferred}; `gitmem inbox` lists them"))
    facts += [("sessions", said) for said in [_say_sessions(extra["sessions"], extra["time"])] if said]
    facts += [("begun", f"`gitmem {verb}` is not finished, and goes on where it was") for verb in extra["unfinished"]]
    facts += [("events", said) for said in [_say_events(extra["journal"])] if said]
    if extra["in_progress"]:
        facts.append(("under way", safe_line(f"a {extra['in_progress']} of Git; finish or abort it")))
    lines = align(facts)
    return "\n".join([*lines, *_list_waiting(answer.rows, extra["waiting"])])


def _say_sessions(sessions: dict[str, int] | None, time: dict[str, dict[str, int]] | None) -> str:
    """Return how many sessions are in each part, and what their time went into; empty where there are none."""
    if sessions is None or time is None or not sessions["total"]:
        return ""
    parts = [f"{number} {name.replace('_', ' ')}" for name, number in sessions.items() if name != "total" and number]
    spent = time["sessions"]
    worked = f"agents worked {_say_time(spent['working_s'])}" if spent["total_s"] > spent["unsplit_s"] else ""
    took = f"curated ones took {_say_time(spent['unsplit_s'])}" if spent["unsplit_s"] else ""
    return "; ".join(filter(None, [", ".join(parts), worked, took]))


def _say_time(seconds: int) -> str:
    return f"{seconds // 3600} h {seconds // 60 % 60:02} min"


def _say_events(journal: dict[str, int] | None) -> str:
    """Return what waits to be curated and what was not kept, empty where there is neither."""
    if journal is None:
        return "can't be read"
    sessions = f"{count(journal['events'], 'event')} of {count(journal['sessions'], 'session')} wait to be curated"
    lost = journal["dropped"] + journal["events-dropped"] + journal["failed"] + journal["too-large"]
    odd = journal["unknown"] + journal["unreadable"]
    said = [sessions if journal["events"] else "", f"{lost} not kept" if lost else ""]
    return ", ".join(filter(None, [*said, f"{odd} not understood" if odd else ""]))


def _list_waiting(rows: Sequence[dict[str, Any]], waiting: dict[str, int]) -> list[str]:
    lines = []
    taken = [row for row in rows if not row["left_alone"]]
    left = [row for row in rows if row["left_alone"]]
    if taken:
        notes = count(len(taken), "note")
        lines += ["", f"{notes} edited outside gitmem; `gitmem adopt` commits them; whose they are is a guess:"]
        lines += align([_cells(row) for row in taken])
    if left:
        lines += ["", f"{count(len(left), 'note')} that `gitmem adopt` leaves alone:"]
        lines += [f"{safe_line(row['path'])}: {row['left_alone']}" for row in left]
    if waiting["private"]:
        lines += ["", f"{count(waiting['private'], 'private note')} edited outside gitmem; `git status` names them"]
    if others := waiting["other_files"]:
        lines += ["", f"{count(others, 'other file')} not committed; gitmem leaves them to you and Git"]
    return lines


def _cells(row: dict[str, Any]) -> tuple[str, str, str, str]:
    said = _WHOSE[row["whose"]]
    if row["staged"]:
        said += ", another version staged" if row["staged_apart"] else ", staged"
    if row["owner"]:
        said += f", owned by {safe_line(row['owner'])}"
    return row["change"], safe_line(row["path"]), row["modified"] or "-", said

"""One episode of a session: when, how long, what was touched, what failed and passed, what was committed. Pure.

Names of files are data of the project's: they stand between backticks, and in the title only in a plain form.
"""

from __future__ import annotations

import datetime
import posixpath
from collections.abc import Iterable, Sequence

from gitmem.model.record import Draft, Kind
from gitmem.model.session import Made, Runs, Session
from gitmem.patterns import late
from gitmem.text import make_visible, shorten

MAX_FOLDERS = 6
MAX_NAMES = 5
MAX_TOLD_COMMANDS = 12
MAX_TOLD_TOOLS = 6
MAX_EVIDENCE = 20
MAX_TAGS = 8
_MAX_NAME_CHARS = 80
_MAX_PLACE_CHARS = 60
_PLAIN = late(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_TAG = late(r"[a-z0-9][a-z0-9_-]*")
_MINUTES_AN_HOUR = 60


def make_episode(session: Session, made: Made, before: str = "", *, withholds: bool = False) -> Draft:
    """Return the episode of ``session``, in which ``made`` was committed.

    ``before`` is the name of the note that tells the part before this one, empty for the first. ``withholds`` leaves
    every name of a file out, for where one of them looks like a secret.
    """
    place = "" if withholds else _find_place(session.changed)
    what = ", ".join(filter(None, (place, *[run.command for run in _by_weight(session.runs)[:2]])))
    part = f", part {session.part}" if session.part > 1 else ""
    title = f"Session {session.start[:10]} {session.start[11:16]} with {session.host}{part}"
    period = f"from {_say_moment(session.start)} to {_say_moment(session.end)} UTC"
    lines = [
        f"continues [[{before}]]" if before else "",
        f"{period}, {say_duration(session)}, with {session.host}",
        _say_work(session),
        _say_changed(session, withholds=withholds),
        _say_runs(session.runs),
        _say_made(made),
        f"{_count(session.dropped, 'event')} not kept" if session.dropped else "",
    ]
    return Draft(
        title=shorten(f"{title}: {what}" if what else title, 120),
        body="\n".join(f"- {line}" for line in lines if line) + "\n",
        kind=Kind.EPISODE,
        summary=_summarise(session, made, place),
        tags=_make_tags(session),
        evidence=tuple(f"commit:{one}" for one in made.ids[-MAX_EVIDENCE:]),
    )


def say_duration(session: Session) -> str:
    """Return how long the session, or this part of it, took, in words."""
    start, end = (datetime.datetime.fromisoformat(time) for time in (session.start, session.end))
    minutes = int((end - start).total_seconds()) // 60
    hours, rest = divmod(minutes, _MINUTES_AN_HOUR)
    if minutes < 1:
        return "less than a minute"
    return " ".join(_count(number, unit) for number, unit in ((hours, "hour"), (rest, "minute")) if number)


def quote_path(path: str) -> str:
    """Return ``path`` as code in Markdown, in one line of a bounded length, the end of a long one cut."""
    return f"`{shorten(make_visible(path), _MAX_NAME_CHARS).replace('`', chr(39))}`"


def group_by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the names in each folder, most first; the folder of what lies at the top is ``.``."""
    groups: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, name = posixpath.split(path)
        groups.setdefault(folder or ".", []).append(name)
    return dict(sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])))


def tag_program(command: str) -> tuple[str, ...]:
    """Return the tag of the program that ``command`` runs, none where its name can't be one."""
    program = command.partition(" ")[0]
    return (f"tool/{program}",) if _TAG.fullmatch(program) else ()


def is_plain_path(path: str) -> bool:
    """Tell whether ``path`` holds nothing but letters of ASCII, digits and ``_ . / -``, and is short."""
    return len(path) <= _MAX_PLACE_CHARS and _PLAIN.fullmatch(path) is not None


def _find_place(changed: Sequence[str]) -> str:
    """Return the one file that was changed, else the folder with the most changed ones, if it can be shown plainly."""
    if not changed:
        return ""
    place = changed[0] if len(changed) == 1 else next(iter(group_by_folder(changed)))
    return place if place != "." and is_plain_path(place) else ""


def _say_work(session: Session) -> str:
    uses = sum(number for _tool, number in session.tools)
    said = [_count(session.prompts, "prompt")] if session.prompts else []
    if uses:
        named = ", ".join(f"{tool} {number}" for tool, number in session.tools[:MAX_TOLD_TOOLS])
        said.append(f"{_count(uses, 'use')} of tools ({named}{', …' if len(session.tools) > MAX_TOLD_TOOLS else ''})")
    return ", ".join(said)


def _say_changed(session: Session, *, withholds: bool) -> str:
    said = []
    if session.changed_count:
        groups = group_by_folder(session.changed)
        told = ", ".join(_say_folder(folder, names) for folder, names in list(groups.items())[:MAX_FOLDERS])
        more = ", …" if len(groups) > MAX_FOLDERS or session.changed_count > len(session.changed) else ""
        files = _count(session.changed_count, "file")
        said.append(f"touched {files}; their names are withheld" if withholds else f"touched {files}: {told}{more}")
    if session.read_count:
        said.append(f"only read {_count(session.read_count, 'file')}")
    if session.outside:
        said.append(f"{_count(session.outside, 'path')} outside the workspace")
    return "; ".join(said)


def _say_folder(folder: str, names: Sequence[str]) -> str:
    told = ", ".join(quote_path(name) for name in names[:MAX_NAMES])
    more = f", … {len(names)} in all" if len(names) > MAX_NAMES else ""
    return told + more if folder == "." else f"in {quote_path(folder)} {told}{more}"


def _say_runs(runs: Sequence[Runs]) -> str:
    if not runs:
        return ""
    told = "; ".join(_say_run(run) for run in _by_weight(runs)[:MAX_TOLD_COMMANDS])
    return f"ran {told}{'; …' if len(runs) > MAX_TOLD_COMMANDS else ''}"


def _say_run(run: Runs) -> str:
    counts = ((run.failed, "failed"), (run.passed, "passed"), (run.unknown, "with an unknown end"))
    said = ", ".join(f"{number} {word}" for number, word in counts if number)
    last = "" if run.last is None or not (run.failed and run.passed) else f", {_outcome(run)} last"
    return f"`{run.command}` ({said}{last})"


def _outcome(run: Runs) -> str:
    return "passed" if run.last else "failed"


def _say_made(made: Made) -> str:
    if made.unknown:
        return f"which commits were made in the project is not known: {made.unknown}"
    if not made.ids:
        return ""
    more = "more than " if made.has_more else ""
    return f"{more}{_count(len(made.ids), 'commit')} made in the project, up to `{made.ids[-1][:10]}`"


def _summarise(session: Session, made: Made, place: str) -> str:
    said = [f"{say_duration(session)} with {session.host}"]
    if session.changed_count:
        where = "" if not place else " in " if len(group_by_folder(session.changed)) == 1 else ", most in "
        said.append(f"{_count(session.changed_count, 'file')} touched{where}{place}")
    ended = [run for run in _by_weight(session.runs) if run.last is not None][:2]
    said += [f"{run.command} {_outcome(run)} last" for run in ended]
    if made.ids:
        said.append(("more than " if made.has_more else "") + _count(len(made.ids), "commit"))
    text = ", ".join(said)
    return shorten(text[:1].upper() + text[1:], 200)


def _make_tags(session: Session) -> tuple[str, ...]:
    host = session.host.lower()
    tags = dict.fromkeys(tag for run in _by_weight(session.runs) for tag in tag_program(run.command))
    return ((f"host/{host}",) if _TAG.fullmatch(host) else ()) + tuple(tags)[:MAX_TAGS]


def _by_weight(runs: Sequence[Runs]) -> list[Runs]:
    """Return ``runs``, those that failed first, then by how often each ran."""
    return sorted(runs, key=lambda run: (-run.failed, -(run.passed + run.unknown), run.command))


def _say_moment(time: str) -> str:
    return f"{time[:10]} {time[11:16]}"


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"

"""What repeats across sessions and may be worth a record. Pure. It sees metadata alone, so it asks more than it claims.

Three signals, each counted in whole sessions: a command that fails and is mended again and again, one that is left
failing, and files that are changed together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from gitmem.curator.episodes import is_plain_path, quote_path, tag_program
from gitmem.curator.ideas import Idea
from gitmem.model.record import Draft, Kind
from gitmem.model.session import Runs, Session

MIN_MENDED = 3
"""In how many sessions a command has to fail and pass later."""
MIN_LEFT_FAILING = 3
"""In how many of the newest sessions in a row that ran a command it has to be left failing."""
MIN_TOGETHER = 4
"""In how many sessions two files have to be changed together,"""
MIN_SHARE = 0.8
"""and in which share of the sessions that changed either of them."""
MAX_WIDE = 20
"""A session that changed more files than this says nothing about pairs."""
MAX_IDEAS = 10
MAX_NAMED = 5


def find_signals(sessions: Sequence[Session]) -> list[Idea]:
    """Return what repeats in ``sessions``, oldest first; at most ``MAX_IDEAS``, the one with most sessions first."""
    whole = _join_parts(sessions)
    found = [*_find_mended(whole), *_find_left_failing(whole), *_find_together(whole)]
    return sorted(found, key=lambda idea: (-len(idea.sources), idea.about))[:MAX_IDEAS]


def _join_parts(sessions: Sequence[Session]) -> list[list[Session]]:
    """Return the parts of each session together, in the order in which the sessions began."""
    parts: dict[str, list[Session]] = defaultdict(list)
    for session in sorted(sessions, key=lambda one: (one.start, one.source, one.part)):
        parts[session.source].append(session)
    return list(parts.values())


def _by_command(whole: Sequence[Sequence[Session]]) -> dict[str, list[tuple[str, list[Runs]]]]:
    """Return for each command the sessions that ran it, with how it went in each of their parts."""
    found: dict[str, list[tuple[str, list[Runs]]]] = defaultdict(list)
    for parts in whole:
        by_name: dict[str, list[Runs]] = defaultdict(list)
        for part in parts:
            for run in part.runs:
                by_name[run.command].append(run)
        for command, runs in by_name.items():
            found[command].append((parts[0].source, runs))
    return dict(sorted(found.items()))


def _find_mended(whole: Sequence[Sequence[Session]]) -> Iterator[Idea]:
    for command, ran in _by_command(whole).items():
        mended = [(source, runs) for source, runs in ran if any(run.is_mended for run in runs)]
        if len(mended) < MIN_MENDED:
            continue
        files = Counter(path for _source, runs in mended for path in {path for run in runs for path in run.between})
        often = [(path, number) for path, number in files.most_common() if number > 1]
        often = sorted(often, key=lambda one: (-one[1], one[0]))[:MAX_NAMED]
        said = [f"Again and again `{command}` failed and passed later in the same session."]
        if often:
            said.append(f"Changed in between, more than once: {', '.join(quote_path(path) for path, _ in often)}.")
        said.append("What makes it fail at first is not known to gitmem: say it here, or reject this.")
        yield Idea(
            about=("mended", command),
            draft=_draft(f"{command} fails at first and passes later", said, f"run:{command}", command),
            why=(f"`{command}` failed and then passed in {len(mended)} of the {len(ran)} sessions that ran it",),
            sources=tuple(source for source, _runs in mended),
            worth=0.3 + 0.1 * min(len(mended), 6),
        )


def _find_left_failing(whole: Sequence[Sequence[Session]]) -> Iterator[Idea]:
    for command, ran in _by_command(whole).items():
        ends = [(source, _end_of(runs)) for source, runs in ran]
        known = [(source, end) for source, end in ends if end is not None]
        row = 0
        while row < len(known) and not known[-1 - row][1]:
            row += 1
        if row < MIN_LEFT_FAILING:
            continue
        said = [
            f"In session after session that ran `{command}`, its last run failed.",
            "Why is not known to gitmem: say whether it is to be expected, or reject this.",
        ]
        yield Idea(
            about=("left-failing", command),
            draft=_draft(f"{command} is left failing", said, f"run:{command}", command),
            why=(f"its last run failed in each of the last {row} sessions that ran `{command}`",),
            sources=tuple(source for source, _end in known[-row:]),
            worth=0.3 + 0.1 * min(row, 6),
        )


def _end_of(runs: Sequence[Runs]) -> bool | None:
    return next((run.last for run in reversed(runs) if run.last is not None), None)


def _find_together(whole: Sequence[Sequence[Session]]) -> Iterator[Idea]:
    changed: dict[str, set[int]] = defaultdict(set)
    pairs: Counter[tuple[str, str]] = Counter()
    for number, parts in enumerate(whole):
        paths = {path for part in parts for path in part.changed}
        for path in paths:
            changed[path].add(number)
        if sum(part.changed_count for part in parts) <= MAX_WIDE:
            pairs.update(combinations(sorted(paths), 2))
    taken: set[str] = set()
    for (one, other), number in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        either = changed[one] | changed[other]
        both = sorted(changed[one] & changed[other])
        is_said = {one, other} & taken or not (is_plain_path(one) and is_plain_path(other))
        if number < MIN_TOGETHER or is_said or len(both) < MIN_SHARE * len(either):
            continue
        taken |= {one, other}
        yield Idea(
            about=("together", one, other),
            draft=Draft(
                title=f"{one} and {other} are changed together",
                body="Nearly every session that changed one of them changed both.\n\n"
                "Why is not known to gitmem: say what holds them together, or reject this.\n",
                kind=Kind.FINDING,
                evidence=(f"file:{one}", f"file:{other}"),
            ),
            why=(f"both were changed in {len(both)} of the {len(either)} sessions that changed one of them",),
            sources=tuple(whole[place][0].source for place in both),
            worth=0.2 + 0.1 * min(len(both), 6),
        )


def _draft(title: str, said: Sequence[str], evidence: str, command: str) -> Draft:
    tags = tag_program(command)
    return Draft(title=title, body="\n\n".join(said) + "\n", kind=Kind.FINDING, tags=tags, evidence=(evidence,))

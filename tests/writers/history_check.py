"""What many writers did, judged by the history that they left. No solver: Git gives the order of all versions.

(a) every acknowledged operation is in exactly one commit, the one that it was told, and that changed what it was told;
(b) no other operation is there twice, a refused one not at all, and none that nobody asked for;
(c) if one ended before another began, its commit is an ancestor of the other's;
(d) each record's versions follow one another without a gap: no update is lost;
(e) what readers were shown as committed is what the commit that they were told holds;
(f) the search catalog ends with the records, and the receipts are the commits.

Reads Git through its command line, and nothing through gitmem but the frontmatter of notes.
"""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitmem.model.record import FOLDERS
from gitmem.model.vault_path import VaultPath
from gitmem.vault.record_file import parse_record

_TRAILER = "Gitmem-Op-Id"


@dataclass(frozen=True)
class Asked:
    """One operation as its writer saw it, over all its attempts. Times in nanoseconds of one clock.

    ``outcome`` is ``ok``, ``unchanged``, ``refused`` or ``pending`` (never told); ``records`` maps the id of each
    record in the answer to its path, ``mark`` is the tag that an edit adds.
    """

    op_id: str
    verb: str
    begin_ns: int
    end_ns: int | None = None
    outcome: str = "pending"
    code: str = ""
    commit: str | None = None
    records: dict[str, str] = field(default_factory=dict)
    mark: str = ""


@dataclass(frozen=True)
class Version:
    """One record as one commit has it."""

    path: str
    blob: str
    tags: frozenset[str]


@dataclass(frozen=True)
class Made:
    """One commit: its operation's id, and each record that it touched before and after it."""

    id: str
    parents: tuple[str, ...]
    op_ids: tuple[str, ...]
    before: dict[str, Version]
    after: dict[str, Version]


@dataclass(frozen=True)
class Shown:
    """What one read answered: the revision it named, and of each record shown as committed its path and blob."""

    revision: str
    records: dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Evidence:
    """Everything that is judged.

    ``made`` is oldest first; ``receipts`` are ``(operation id, commit)`` in their order.
    """

    asked: tuple[Asked, ...]
    made: tuple[Made, ...]
    shown: tuple[Shown, ...] = ()
    catalog: dict[str, tuple[str, str]] = field(default_factory=dict)
    receipts: tuple[tuple[str, str], ...] = ()
    known: frozenset[str] = frozenset()
    """Ids of operations that were made beside the writers' own."""


def find_problems(evidence: Evidence) -> list[str]:
    """Return what is wrong, one line each, with the letter of the rule; none when all is well. Pure."""
    return [
        *_check_acknowledged(evidence),
        *_check_others(evidence),
        *_check_order(evidence),
        *_check_chains(evidence),
        *_check_readers(evidence),
        *_check_end(evidence),
    ]


def load_history(repo: Path) -> tuple[Made, ...]:
    """Return the commits of the branch, oldest first, with the records that each touched."""
    form = f"--format=%x00%H%x01%P%x01%(trailers:key={_TRAILER},valueonly,separator=%x02)"
    shown = ("--raw", "--no-renames", "--no-abbrev", "-z", "--diff-merges=first-parent", "--root")
    log = _git(repo, "log", "--reverse", form, *shown)
    made = []
    blobs: dict[str, bytes] = {}
    for entry in _split_log(log):
        (commit, parents, ops), changes = entry
        before: dict[str, Version] = {}
        after: dict[str, Version] = {}
        for old, new, path in changes:
            for blob, versions in ((old, before), (new, after)):
                if blob.strip("0"):
                    found = _find_version(repo, path, blob, blobs)
                    if found is not None:
                        versions[found[0]] = found[1]
        made.append(Made(commit, tuple(parents.split()), tuple(filter(None, ops.split("\x02"))), before, after))
    return tuple(made)


def _split_log(log: str) -> Iterable[tuple[tuple[str, str, str], list[tuple[str, str, str]]]]:
    header: tuple[str, str, str] | None = None
    changes: list[tuple[str, str, str]] = []
    waiting: tuple[str, str] | None = None
    for part in log.split("\0"):
        text = part.lstrip("\n")
        if waiting is not None:
            changes.append((*waiting, text))
            waiting = None
        elif text.startswith(":"):
            _mode, _new_mode, old, new, _kind = text[1:].split(" ")
            waiting = (old, new)
        elif "\x01" in text:
            if header is not None:
                yield header, changes
            commit, parents, ops = text.split("\x01")
            header, changes = (commit, parents, ops.strip()), []
    if header is not None:
        yield header, changes


def _find_version(repo: Path, path: str, blob: str, blobs: dict[str, bytes]) -> tuple[str, Version] | None:
    if path.partition("/")[0] not in FOLDERS or not path.endswith(".md"):
        return None
    if blob not in blobs:
        blobs[blob] = _git(repo, "cat-file", "blob", blob).encode()
    record = parse_record(VaultPath(path), blobs[blob])
    return None if record is None else (record.id, Version(path, blob, frozenset(record.tags)))


def _check_acknowledged(evidence: Evidence) -> Iterable[str]:
    places = _places(evidence)
    by_id = {one.id: one for one in evidence.made}
    for one in evidence.asked:
        if one.outcome != "ok":
            continue
        found = places[one.op_id]
        if found != [one.commit]:
            yield f"a: {one.verb} {one.op_id} was acknowledged as {one.commit} and is in {found or 'no commit'}"
            continue
        made = by_id[found[0]]
        told = {record: version.path for record, version in made.after.items()}
        if told != one.records:
            yield f"a: {one.verb} {one.op_id} was told {one.records}, its commit changed {told}"


def _check_others(evidence: Evidence) -> Iterable[str]:
    places = _places(evidence)
    asked = {one.op_id: one for one in evidence.asked}
    for op_id, commits in places.items():
        if len(commits) > 1:
            yield f"b: {op_id} is in {len(commits)} commits"
        if op_id not in asked and op_id not in evidence.known:
            yield f"b: {op_id} was made and never asked for"
        if op_id in asked and asked[op_id].outcome in ("refused", "unchanged"):
            yield f"b: {op_id} was told {asked[op_id].outcome} {asked[op_id].code} and is in {commits[0]}"
    for one in evidence.made:
        if len(one.op_ids) != 1:
            yield f"b: the commit {one.id} bears {len(one.op_ids)} operation ids"


def _check_order(evidence: Evidence) -> Iterable[str]:
    number = {one.id: index for index, one in enumerate(evidence.made)}
    done = [one for one in evidence.asked if one.outcome == "ok" and one.commit in number]
    for older, newer in zip(evidence.made, evidence.made[1:], strict=False):
        if newer.parents != (older.id,):
            yield f"c: {newer.id} does not follow {older.id}"
    ends = sorted(done, key=lambda one: one.end_ns or 0)
    latest: Asked | None = None
    position = 0
    for one in sorted(done, key=lambda one: one.begin_ns):
        while position < len(ends) and (ends[position].end_ns or 0) < one.begin_ns:
            if latest is None or number[ends[position].commit or ""] > number[latest.commit or ""]:
                latest = ends[position]
            position += 1
        if latest is not None and number[latest.commit or ""] >= number[one.commit or ""]:
            yield f"c: {latest.op_id} ended before {one.op_id} began, and its commit comes later"


def _check_chains(evidence: Evidence) -> Iterable[str]:
    marks = {one.op_id: one.mark for one in evidence.asked if one.mark}
    now: dict[str, Version] = {}
    for made in evidence.made:
        mark = marks.get(made.op_ids[0], "") if made.op_ids else ""
        for record in sorted(made.before.keys() | made.after.keys()):
            before, after = made.before.get(record), made.after.get(record)
            if before != now.get(record):
                yield f"d: {made.id} changes a version of {record} that is not the one before it"
            if after is None:
                yield f"d: {made.id} drops {record}"
                now.pop(record, None)
                continue
            wanted = (before.tags if before else after.tags) | ({mark} if mark else set())
            if after.tags != wanted:
                yield f"d: {made.id} {made.op_ids} takes {sorted(wanted - after.tags)} from {record}, or adds others"
            now[record] = after


def _check_readers(evidence: Evidence) -> Iterable[str]:
    number = {one.id: index for index, one in enumerate(evidence.made)}
    history: dict[str, list[tuple[int, Version]]] = defaultdict(list)
    for index, made in enumerate(evidence.made):
        for record, version in made.after.items():
            history[record].append((index, version))
    for shown in evidence.shown:
        if shown.revision not in number:
            yield f"e: a reader was told the revision {shown.revision}, which is no commit"
            continue
        at = number[shown.revision]
        for record, (path, blob) in shown.records.items():
            known = [version for index, version in history[record] if index <= at][-1:]
            if [(version.path, version.blob) for version in known] != [(path, blob)]:
                yield f"e: a reader was shown {record} at {path} as committed in {shown.revision}, which it is not"


def _check_end(evidence: Evidence) -> Iterable[str]:
    last: dict[str, Version] = {}
    for made in evidence.made:
        last.update(made.after)
    wanted = {record: (version.path, version.blob) for record, version in last.items()}
    if evidence.catalog != wanted:
        odd = sorted(record for record, _row in set(evidence.catalog.items()) ^ set(wanted.items()))
        yield f"f: the search catalog and the records differ, at {sorted(set(odd))[:3]}"
    commits = tuple((made.op_ids[0], made.id) for made in evidence.made if made.op_ids)
    if evidence.receipts != commits:
        odd = sorted({op for op, _commit in set(evidence.receipts) ^ set(commits)}) or ["their order"]
        yield f"f: receipts and commits differ: {odd[:3]}"


def _places(evidence: Evidence) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for one in evidence.made:
        for op_id in one.op_ids:
            found[op_id].append(one.id)
    return found


def count_outcomes(asked: Sequence[Asked]) -> Counter[str]:
    """Return how many operations ended how, refusals by their code."""
    return Counter(f"refused: {one.code}" if one.outcome == "refused" else one.outcome for one in asked)


def doctored(evidence: Evidence, **changes: object) -> Evidence:
    """Return the evidence with some of it replaced, for tests of the rules."""
    return replace(evidence, **changes)  # type: ignore[arg-type]


def _git(repo: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(repo), *args], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")

"""Prove from history alone who changed what only people may, and name the first operation that breaks a rule."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from gitmem.clock import format_utc, moment_at
from gitmem.errors import IntegrityError
from gitmem.git.history import Commit, iter_commits
from gitmem.model.answer import Answer, Status
from gitmem.model.ids import CommitId
from gitmem.model.signing import Anchor
from gitmem.service.operations import parse_operation
from gitmem.service.revision import get_revision
from gitmem.service.signing import find_statement
from gitmem.service.standing import Standing, find_anchor, read_standing
from gitmem.service.vault import OpenVault
from gitmem.service.verify_commit import Judge, Verdict
from gitmem.vault.anchor import save_anchor
from gitmem.vault.layout import HomeLayout
from gitmem.vault.statement import digest_of

PROVEN, CONSISTENT, BROKEN = "proven", "consistent", "broken"
MAX_TOLD = 20
"""How many commits are named, the oldest of each sort; all are counted."""
_PROGRESS_COMMITS = 100


def verify(vault: OpenVault, since: str | None = None, progress: Callable[[int], None] = lambda _done: None) -> Answer:
    """Return what history proves. Rows are the commits that break a rule, the first one first, then others to mind.

    A row has ``severity`` (``error``, ``warning`` for a commit of plain Git that changed what only people may, in a
    vault that had no keys then), ``code``, ``message``, ``commit``, ``op``, ``op_id``, ``title``, ``by`` and ``time``.
    ``extra`` has ``verdict``: ``proven`` (every such change since the first key is signed, by keys that are trusted
    here), ``consistent`` (nothing contradicts itself, and not all is proved), ``broken``; ``commits``, ``signed``,
    ``outside``, ``unsigned`` (changes of that sort without a signature that broke no rule), ``faults`` and ``first``.

    Looks at each commit that HEAD reaches, merged branches too, or those after ``since``. Where all of it holds, and
    builds on what this machine trusts, the anchor moves on to HEAD. ``progress`` is told how many were looked at.
    Raises ``InputError`` (``no-such-revision``), ``IntegrityError`` (``object-unreadable``), ``UnavailableError``
    (``openssh-missing``).
    """
    head = vault.head()
    stop = None if since is None else get_revision(vault, since)
    walk = _Walk(vault)
    for number, commit in enumerate(iter_commits(vault.repo, head, stop), 1):
        walk.take(commit)
        if number % _PROGRESS_COMMITS == 0:
            progress(number)
    standing = read_standing(vault, head)
    errors = [*walk.errors, *_check_anchor(vault, head, walk, is_whole=stop is None)]
    if not errors and stop is None:
        standing = _move_anchor(vault, head, walk) or standing
    verdict = BROKEN if errors else _judge(standing)
    extra: dict[str, Any] = {
        "verdict": verdict,
        **{name: walk.counts[name] for name in ("commits", "signed", "outside", "unsigned")},
        "faults": walk.counts["faults"] + len(errors) - len(walk.errors),
        "first": errors[0] if errors else None,
        "since": stop,
    }
    diagnostics = standing.problems if verdict != PROVEN else ()
    return Answer(Status.OK, head, rows=(*errors, *walk.warnings), diagnostics=diagnostics, extra=extra)


class _Walk:
    """What was found so far, newest first; only the oldest few are kept."""

    def __init__(self, vault: OpenVault) -> None:
        self.counts: Counter[str] = Counter()
        self.digests: dict[str, int] = {}
        self._judge = Judge(vault)
        self._errors: deque[dict[str, Any]] = deque(maxlen=MAX_TOLD)
        self._warnings: deque[dict[str, Any]] = deque(maxlen=MAX_TOLD)

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The commits that break a rule, the first one first."""
        return list(reversed(self._errors))

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The commits to mind, the first one first."""
        return list(reversed(self._warnings))

    def take(self, commit: Commit) -> None:
        """Judge one commit, and count it."""
        verdict = self._judge.judge(commit)
        self.counts["commits"] += 1
        self.counts["outside"] += verdict.is_outside
        if verdict.signed is not None:
            self.counts["signed"] += 1
            self.digests[digest_of(verdict.signed.statement)] = verdict.signed.statement.counter
        if verdict.faults:
            self.counts["faults"] += 1
            fault = verdict.faults[0]
            self._errors.append(_row("error", fault.code, fault.message, commit))
        elif verdict.touches and verdict.signed is None:
            self._count_unsigned(commit, verdict)

    def _count_unsigned(self, commit: Commit, verdict: Verdict) -> None:
        self.counts["unsigned"] += 1
        if verdict.is_outside and len(commit.parents) < 2:
            message = "what only people change was changed with plain Git; nothing says by whom"
            self._warnings.append(_row("warning", "outside", message, commit))


def _check_anchor(vault: OpenVault, head: CommitId, walk: _Walk, *, is_whole: bool) -> list[dict[str, Any]]:
    """Return what is wrong where history does not hold the last statement that this machine has seen."""
    try:
        anchor = find_anchor(vault)
    except IntegrityError as error:
        return [_row("error", error.code, error.message, None)]
    if anchor is None or not anchor.counter or not is_whole or anchor.digest in walk.digests:
        return []
    message = f"statement {anchor.counter}, which this machine has seen, is not in the history of {head[:12]}"
    return [_row("error", "statement-rolled-back", message, None)]


def _move_anchor(vault: OpenVault, head: CommitId, walk: _Walk) -> Standing | None:
    """Have this machine trust what builds on what it trusts; return how the vault stands then, if anything moved."""
    anchor, statement = find_anchor(vault), find_statement(vault, head)
    if anchor is None or statement is None or not vault.options.home or anchor.digest not in walk.digests:
        return None
    if statement.counter <= anchor.counter:
        return None
    wanted = Anchor(anchor.vault_id, statement.keys, statement.counter, digest_of(statement))
    save_anchor(HomeLayout(vault.options.home), wanted)
    return read_standing(vault, head)


def _judge(standing: Standing) -> str:
    is_proved = standing.is_keyed and standing.statement is not None and not standing.problems
    return PROVEN if is_proved else CONSISTENT


def _row(severity: str, code: str, message: str, commit: Commit | None) -> dict[str, Any]:
    row: dict[str, Any] = {"severity": severity, "code": code, "message": message, "commit": None}
    if commit is None:
        return row
    one = parse_operation(commit)
    return row | {
        "commit": commit.id,
        "op": one.op,
        "op_id": one.op_id,
        "title": one.title,
        "by": one.by,
        "time": format_utc(moment_at(commit.time)),
    }

"""What may stand in a record, whoever writes it: bounds, visible characters, tags, evidence, and kind against state."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from gitmem.errors import InputError
from gitmem.fences import find_conflict
from gitmem.model.record import (
    BASELINE_KINDS,
    MAX_KEY_CHARS,
    MAX_SUMMARY_CHARS,
    MAX_TITLE_CHARS,
    Draft,
    Kind,
    Record,
    State,
)
from gitmem.patterns import late
from gitmem.text import find_hidden, quote

MAX_BODY_BYTES = 256 * 1024
MAX_FILE_BYTES = MAX_BODY_BYTES + 64 * 1024
"""The body and as much frontmatter as any person needs."""
MAX_TAGS = 64
MAX_TAG_CHARS = 100
MAX_EVIDENCE = 64
MAX_EVIDENCE_CHARS = 500

_TAG_PART = late(r"[^\W_][\w-]*")
_EVIDENCE = late(
    r"commit:[0-9a-f]{7,64}"
    r"|file:(?![/~]|[A-Za-z]:|(?:[^#]*/)?\.\.(?:[/#]|$))[^\\#]+(?:#L\d+(?:-L?\d+)?)?"
    r"|run:\S.*"
    r"|url:https?://\S+"
)
# Letters in use take a handful of marks and flags six invisible tags; longer runs hide a message or break displays.
_STACKED = late(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{33,}"
    "|[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\U000e0000-\U000e01ef]{9,}"
)


def check_content(data: bytes, path: str, record: Record | None = None) -> None:
    """Check the exact bytes of one record file, and what they say when ``record`` is what was read from them.

    ``path`` only names the file in errors. Raises ``InputError``: ``file-too-large``, ``conflict-markers`` (with the
    line), ``hidden-characters`` for long runs of invisible or stacked characters anywhere in the file, and whatever
    ``check_record`` raises. Bytes that are no text never get here: no record can be read from them.
    """
    _check_bytes(data, path)
    if record is not None:
        check_record(record, record.state)


def check_draft(draft: Draft, state: State) -> None:
    """Check what someone wants remembered before it gets an id; ``state`` is where it is to go.

    Raises ``InputError`` as ``check_record`` does, and ``bad-tag`` for tags that gitmem wouldn't make itself.
    """
    check_record(draft, state)
    check_new_tags(draft.tags)


def check_record(record: Record | Draft, state: State) -> None:
    """Check the bounds, the characters and the fit of a record's properties, as they will be in ``state``.

    Raises ``InputError``: ``no-title``, ``title-too-long``, ``summary-too-long``, ``key-too-long``, ``body-too-large``,
    ``too-many-tags``, ``tag-too-long``, ``too-much-evidence``, ``bad-evidence``, ``hidden-characters`` or
    ``kind-misfit``. Tags that a person brought may have any form; ``check_new_tags`` is for new ones.
    """
    if not record.title.strip():
        raise _refuse("no-title", "a record needs a title", "Give it one line that says what it is about.")
    _check_line("title", record.title, MAX_TITLE_CHARS)
    _check_line("summary", record.summary, MAX_SUMMARY_CHARS)
    _check_line("key", record.key or "", MAX_KEY_CHARS)
    if len(record.body.encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
        raise _refuse("body-too-large", f"the body is larger than {MAX_BODY_BYTES // 1024} KiB", _SPLIT)
    if len(record.tags) > MAX_TAGS:
        raise _refuse("too-many-tags", f"a record has at most {MAX_TAGS} tags", "Keep those that people search for.")
    for tag in record.tags:
        _check_line("tag", tag, MAX_TAG_CHARS)
    check_evidence(record.evidence)
    check_kind(record.kind, state)


def check_new_tags(tags: Iterable[str]) -> None:
    """Check that tags have the form in which gitmem writes new ones: ``tool/pytest``.

    Small letters of any script, digits, ``_`` and ``-``, in parts that begin with a letter or digit and are joined by
    ``/``; the whole is composed (NFC) and not only digits, which Obsidian doesn't take for a tag. Raises
    ``InputError`` (``bad-tag``).
    """
    for tag in tags:
        well_formed = all(_TAG_PART.fullmatch(part) for part in tag.split("/"))
        if not well_formed or tag != unicodedata.normalize("NFC", tag.lower()) or tag.isdigit():
            raise _refuse(
                "bad-tag",
                f"{_show(tag)} can't be a tag",
                "Use small letters, digits, - and _, with / between levels: tool/pytest.",
            )


def check_evidence(evidence: Iterable[str]) -> None:
    """Check number, length and form of evidence: ``commit:…``, ``file:…#L…``, ``run:…``, ``url:…``.

    A file is a path relative to the project, for absolute ones stay out of Git. Raises ``InputError``
    (``too-much-evidence``, ``bad-evidence``).
    """
    entries = tuple(evidence)
    if len(entries) > MAX_EVIDENCE:
        raise _refuse(
            "too-much-evidence", f"a record has at most {MAX_EVIDENCE} entries of evidence", "Keep the strongest."
        )
    for entry in entries:
        if len(entry) > MAX_EVIDENCE_CHARS or not _is_plain_line(entry) or _EVIDENCE.fullmatch(entry) is None:
            raise _refuse(
                "bad-evidence",
                f"{_show(entry)} is not evidence that can be followed",
                f"Use commit:ID, file:PATH#L10 (relative to the project), run:COMMAND or url:https://…, "
                f"at most {MAX_EVIDENCE_CHARS} characters.",
            )


def check_kind(kind: Kind | None, state: State) -> None:
    """Check that a record of ``kind`` may lie in ``state``: baseline kinds in the baseline, and only they.

    A retired record keeps its kind, and one without a kind (a note that a person brought) may lie anywhere. Raises
    ``InputError`` (``kind-misfit``).
    """
    if kind is None or state is State.RETIRED:
        return
    if state is State.BASELINE and kind not in BASELINE_KINDS:
        raise _refuse(
            "kind-misfit",
            f"a {kind} can't lie in the baseline",
            "Give it the kind boundary, preference, goal or state, or observe it instead.",
        )
    if state is not State.BASELINE and kind in BASELINE_KINDS:
        raise _refuse("kind-misfit", f"a {kind} lies in the baseline only", "Use `gitmem declare`, or another kind.")


_SPLIT = "Keep the record to one thought and link to the rest."
_RETYPE = "Type it again by hand; text that was copied may carry invisible characters."


def _refuse(code: str, message: str, hint: str, **fields: object) -> InputError:
    return InputError(code, message, hint, **fields)


def _show(text: str) -> str:
    return quote(text)


def _check_bytes(data: bytes, path: str) -> None:
    if len(data) > MAX_FILE_BYTES:
        raise _refuse("file-too-large", f"{path} is larger than {MAX_FILE_BYTES // 1024} KiB", _SPLIT, path=path)
    text = data.decode("utf-8", "replace")
    line_of_conflict = find_conflict(text)
    if line_of_conflict is not None:
        raise _refuse(
            "conflict-markers",
            f"{path} holds a merge conflict from line {line_of_conflict}",
            "Decide for one side, take the marker lines out, and try again.",
            path=path,
            line=line_of_conflict,
        )
    if not text.isascii() and (run := _STACKED.search(text)):
        line = text.count("\n", 0, run.start()) + 1
        raise _refuse(
            "hidden-characters",
            f"{path}, line {line} holds {len(run[0])} invisible or stacked characters in a row",
            _RETYPE,
            path=path,
            line=line,
        )


def _check_line(name: str, text: str, max_chars: int) -> None:
    if len(text) > max_chars:
        raise _refuse(
            f"{name}-too-long",
            f"the {name} has {len(text)} characters; at most {max_chars} fit",
            "Say the rest in the body.",
            max_chars=max_chars,
        )
    if not _is_plain_line(text):
        raise _refuse("hidden-characters", f"the {name} {_show(text)} holds characters that don't show", _RETYPE)


def _is_plain_line(text: str) -> bool:
    return len(text.splitlines()) < 2 and "\t" not in text and not find_hidden(text) and not _STACKED.search(text)

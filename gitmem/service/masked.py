"""The last look at an answer: what it tells beside the records, which are masked where they are read, holds no secret.

Commit messages, names of properties and targets of links may hold one that an edit outside gitmem brought in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from gitmem.errors import GitmemError, InputError
from gitmem.model.answer import Answer
from gitmem.typed import Any
from gitmem.values import replace

_LEFT = frozenset({"path", "old_path", "others", "file", "body", "properties", "text"})
"""Paths, which are needed to act, and texts of records that were read, and so masked, before."""


def tell_masked(read: Callable[[], Answer]) -> Answer:
    """Return ``read``'s answer without secrets in its rows, diagnostics and what it has beside them.

    One scan where there are none. So is the ``InputError`` that ``read`` raises. Raises ``UnavailableError``
    (``scanner-failed``): nothing may be shown then.
    """
    from gitmem.policy.secrets import redact

    try:
        answer = read()
    except InputError as error:
        raise InputError(error.code, redact(error.message), redact(error.hint), **error.fields) from None
    messages = [problem.message for problem in answer.diagnostics]
    joined = "\n".join((*messages, *_iter_texts(answer.rows), *_iter_texts(answer.extra)))
    if redact(joined) == joined:
        return answer
    told = tuple(replace(problem, message=redact(problem.message)) for problem in answer.diagnostics)
    rows, extra = _mask(answer.rows, redact), _mask(answer.extra, redact)
    return replace(answer, rows=rows, diagnostics=told, extra=extra)


def mask_error(error: GitmemError) -> GitmemError:
    """Return ``error`` without secrets in what it says: it may quote what was asked for. Never raises.

    Where that can't be told, its code alone is left of it.
    """
    import copy

    from gitmem.policy.secrets import redact

    told = copy.copy(error)
    try:
        told.message, told.hint = redact(error.message), redact(error.hint)
        told.fields = _mask(error.fields, redact, ())
    except GitmemError:
        told.message, told.hint, told.fields = "what is wrong is withheld: the secret scanner failed", "", {}
    return told


def _iter_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in _LEFT:
                yield from _iter_texts(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _iter_texts(one)


def _mask(value: Any, redact: Callable[[str], str], left: Collection[str] = _LEFT) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: one if name in left else _mask(one, redact, left) for name, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_mask(one, redact, left) for one in value)
    return value

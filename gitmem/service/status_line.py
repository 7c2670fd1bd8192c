"""The line that an answer without any text is given, so that a broken memory never looks like an empty one."""

from __future__ import annotations

from gitmem.model.answer import Answer
from gitmem.values import replace


def add_status(answer: Answer) -> Answer:
    """Return ``answer`` with the line, as ``extra["text"]``, that says why there is nothing, where it has no text."""
    from gitmem.render.status_line import render_status

    if "text" in answer.extra:
        return answer
    code = answer.diagnostics[0].code if answer.diagnostics else ""
    return replace(answer, extra={"text": render_status(answer.status, code), **answer.extra})

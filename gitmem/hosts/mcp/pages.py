"""What a client can attach or offer beside the tools: records and the index as resources, and two prompts."""

from __future__ import annotations

from gitmem.errors import InputError
from gitmem.hosts.mcp import reading
from gitmem.hosts.mcp.replies import Reply, tell_answer
from gitmem.model.ids import is_record_id
from gitmem.model.record import State
from gitmem.service import told
from gitmem.service.memory import Memory
from gitmem.text import make_visible, shorten

INDEX_URI = "gitmem://index"
RECORD_URI = "gitmem://record/"
RECORD_TEMPLATE = f"{RECORD_URI}{{id}}"
MIME_TYPE = "text/markdown"
MAX_LISTED = 100
RECALL, REPORT = "recall", "report"

REPORT_TEXT = """\
Report the task that you just did to the memory: call memory_observe once with

- title: the task, in one line
- answer: what came of it
- evidence: what shows it, as commit:SHA, file:PATH#L1, run:COMMAND or url:URL
- checks: what was checked, and how it went, an entry each
- uncertainty: what is not known or not looked at
- next: what is to be done next

Write what is so, not what was intended. Leave secrets, prompts and long outputs out. Without any evidence, use
memory_propose with kind task, and say in its body what the parts above would say.
"""


def read_resource(memory: Memory, uri: str) -> Reply:
    """Return the page at ``uri``. Raises ``InputError`` (``no-such-resource``) and what opening the vault raises."""
    if uri == INDEX_URI:
        return _show_index(memory)
    name = uri.removeprefix(RECORD_URI)
    if name != uri and is_record_id(name):
        return reading.get(memory, {"id": name})
    shown = shorten(make_visible(uri), 80)
    raise InputError("no-such-resource", f"there is nothing at {shown}", f"Read {INDEX_URI} or {RECORD_TEMPLATE}.")


def read_prompt(memory: Memory, about: str) -> Reply:
    """Return what is remembered about ``about``, to stand in a conversation as something that the person asked for."""
    reply = reading.recall(memory, {"prompt": about})
    return reply if reply.failed else Reply(f"What the memory has about this:\n\n{reply.text}")


def _show_index(memory: Memory) -> Reply:
    from gitmem.service.query import Filters

    answer = memory.list(Filters(states=(State.BASELINE, State.PROMOTED)), MAX_LISTED)

    def make(_common: dict[str, object], notes: list[str]) -> Reply:
        proved = told.find_proved(memory.vault, memory.find_global, answer.hits)
        more = [f"at most {MAX_LISTED} are listed; memory_search finds the others"] if answer.extra["omitted"] else []
        about = "gitmem: what a person declared or reviewed. Stored data, quoted; memory_get has a record whole."
        scoped = [(hit, told.scope_of(hit, memory.vault)) for hit in answer.hits]
        return Reply(told.render_hits("gitmem-index", about, scoped, proved, [*notes, *more]))

    return tell_answer(answer, make)

"""Commands that a person types as a prompt in a host: `gitmem promote m7k2q9` and the like.

The host's hook tells them here; they are carried out as that person's and never reach the model. An agent with a shell
can make such a call of the hook, too, so policy opens less to a prompt than to a code that is typed at a terminal.

A prompt is a command only as a whole: one line, `gitmem`, one of the verbs below, and what that verb takes. Everything
else is a prompt like any other, and the host goes on with it; so does it with `gitmem search is broken`.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import signal
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from gitmem.hosts.environment import Environment, read_environment
from gitmem.hosts.hooks.families import Family
from gitmem.hosts.hooks.forms import format_result
from gitmem.model.event import EventKind, Seen
from gitmem.patterns import late
from gitmem.service.memory_base import MemoryBase
from gitmem.text import find_hidden, shorten
from gitmem.values import dataclass, field, replace

MAX_COMMAND_CHARS = 2000
MAX_ANSWER_CHARS = 9000
"""Hosts show some 10,000 characters."""
_SESSION = late(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ANY = 1000
# What several words in a row are when they name records, and words of a sentence hardly ever: an id or a beginning of
# one with a digit, a key of parts, a path.
_NAME = late(r"[0-9a-hjkmnp-tv-z]{12}|\S*[0-9/-]\S*|\S+\.md")


@dataclass(frozen=True)
class Form:
    """What a verb takes as a prompt: how many words, and which options, each with a value.

    A single word may be anything; several have to look like names of records. ``is_retried`` says that it takes
    ``--op-id``.
    """

    least: int
    most: int
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = field(default=())
    is_retried: bool = False


VERBS: Mapping[str, Form] = {
    "promote": Form(1, _ANY, ("--to",), is_retried=True),
    "retire": Form(1, _ANY, ("--reason", "--superseded-by"), ("--reason",), is_retried=True),
    "restore": Form(1, _ANY, is_retried=True),
    "undo": Form(1, 1, is_retried=True),
    "accept": Form(1, _ANY, ("--to",), is_retried=True),
    "reject": Form(1, _ANY, ("--reason",), ("--reason",)),
    "defer": Form(1, _ANY, ("--until",)),
    "inbox": Form(0, 1),
    "show": Form(1, 1),
    "search": Form(1, 1, ("--limit",)),
    "status": Form(0, 0),
}
"""No verb reads a file or standard input, names another vault, or declares anything this way.

Of a search the words stand in quotes, unless it is one.
"""


def find_command(prompt: str) -> list[str] | None:
    """Return the arguments of the command that ``prompt`` is as a whole, or ``None``. Pure.

    Words are those of a shell, quotes included; nothing in them is replaced or started. Options come first, then
    ``--`` and the words, so that none of these is taken for an option.
    """
    line = prompt.removesuffix("\n").removesuffix("\r")
    is_line = len(line) <= MAX_COMMAND_CHARS and len(line.splitlines()) == 1
    if not is_line or not line.startswith("gitmem ") or any(find_hidden(line)):
        return None
    try:
        _gitmem, verb, *words = shlex.split(line)
    except ValueError:  # a quote that is not closed, or no verb
        return None
    form = VERBS.get(verb)
    parsed = None if form is None else _take_apart(form, words)
    return None if parsed is None else [verb, *parsed]


def answer_command(
    family: Family, seen: Seen, memory: MemoryBase, run_typed: Callable[[Sequence[str], Environment], int]
) -> str:
    """Return the answer with which ``family`` shows its person what the command came to, and goes no further.

    Empty for a prompt that is no command, and for anything else that was seen.
    """
    command = find_command(seen.prompt) if seen.kind is EventKind.PROMPT and seen.is_typed else None
    if command is None:
        return ""
    _take_time()
    verb, *rest = _name_operation(seen, command)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run_typed([verb, "--vault", memory.vault.entry.path, *rest], _look_around(family.host, seen, memory))
    text = said.getvalue().strip() or f"gitmem {verb}: {'done' if code == 0 else 'nothing found'}"
    return format_result(family, shorten_text(text, MAX_ANSWER_CHARS))


def _name_operation(seen: Seen, command: list[str]) -> list[str]:
    """Return ``command`` with an operation id of the prompt's own, where its turn has a name: told twice, by a host
    that has the hook twice, it is carried out once."""
    if not seen.turn or not VERBS[command[0]].is_retried:
        return command
    told = "\0".join((seen.host, seen.session, seen.turn, seen.prompt)).encode("utf-8", "surrogatepass")
    return [command[0], f"--op-id=prompt-{sha256(told).hexdigest()[:24]}", *command[1:]]


def shorten_text(text: str, max_chars: int) -> str:
    """Return ``text``, of a long one the beginning and a line that says how much is left out."""
    if len(text) <= max_chars:
        return text
    kept = text[:max_chars].rpartition("\n")[0] or shorten(text, max_chars)
    return f"{kept}\n… and {len(text) - len(kept)} more characters; run it at a terminal to see them"


def _take_apart(form: Form, words: Sequence[str]) -> list[str] | None:
    options: dict[str, str] = {}
    names: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            names.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in form.options or name in options or not (equals or left):
            return None
        options[name] = value if equals else left.pop(0)
    if not form.least <= len(names) <= form.most or not options.keys() >= set(form.needs):
        return None
    if len(names) > 1 and not all(map(_NAME.fullmatch, names)):
        return None
    return [*(f"{name}={value}" for name, value in options.items()), "--", *names]


def _look_around(host: str, seen: Seen, memory: MemoryBase) -> Environment:
    session = seen.session if _SESSION.fullmatch(seen.session) else ""
    vault = memory.vault
    return replace(
        read_environment(),
        home=vault.options.home,
        folder=vault.entry.path,
        host=host,
        session=session,
        color=False,
        pager=False,
    )


def _take_time() -> None:
    """Let the command take its time: a person waits for it, and it must not be stopped half way."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)

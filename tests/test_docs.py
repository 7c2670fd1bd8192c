"""Pages whose examples are run: each ``console`` block of a page, in order, over one sample vault.

A line that begins with ``$ gitmem`` is a command, what follows up to the next one is all that it prints, what it says
beside the result last. ``…`` alone on a line stands for any lines. Ids and times differ from run to run: a sample says
which id a page has for which record, and every time is the one of the page's sample.

To have the examples of another page run, add it to ``SAMPLES`` with the function that makes its vault.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

DOCS = Path(__file__).parents[1] / "docs"
TIME = "2026-11-30T14:00:00Z"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
Ids = dict[str, str]


def make_search_sample(gitmem: Gitmem) -> Ids:
    """A team's memory of a boat booking service: six facts, an episode, a record that is retired, a note of Pat's."""
    made = {
        "w0rkers00001": gitmem.observe(
            "Run the tests with two workers",
            *("--body", "More than two workers starve the database and `test_booking` fails at random."),
            *("--tag", "tool/pytest", "--key", "test-workers"),
        ),
        "cache0000002": gitmem.observe(
            "How long availability is cached",
            *("--body", "Redis keeps it for five minutes. `parse_availability` in src/booking/cache.py sets the time."),
            *("--tag", "tool/redis", "--kind", "decision", "--key", "cache-ttl"),
        ),
        "retry0000003": gitmem.observe(
            "A failed payment is retried three times",
            *("--body", "Then the booking is released; the provider answers ERR_2041."),
            *("--tag", "domain/payment"),
        ),
        "share0000004": gitmem.observe(
            "Clean the share by name", "--body", "Never run rm -rf on the share: use find . -name '*.tmp'."
        ),
        "refund000005": gitmem.observe("退款手续费", "--body", "出发前两天以内的退款收取百分之十的手续费。"),
        "mem0ry000006": gitmem.observe("Sessions live in memory", "--body", "A restart of the server ends them all."),
        "episode00007": gitmem.observe(
            "Moved the cache to Redis", "--kind", "episode", "--body", "It took two workers an afternoon."
        ),
    }
    old = gitmem.observe("Availability is cached for an hour")
    gitmem("retire", old, "--reason", "five minutes now", "--superseded-by", made["cache0000002"])
    (gitmem.repo / "promoted" / "Standup.md").write_text("Pat looks after the cache this week.\n")
    return {**{real: shown for shown, real in made.items()}, old: "0ldcache0008"}


SAMPLES: dict[str, Callable[[Gitmem], Ids]] = {"search.md": make_search_sample}


@pytest.mark.parametrize("page", SAMPLES)
def test_examples_do_what_the_page_says(page: str, gitmem: Gitmem) -> None:
    ids = SAMPLES[page](gitmem)
    text = (DOCS / page).read_text()
    told = [example for block in _BLOCK.findall(text) for example in split_block(block)]
    assert told
    shown = [(command, _run(gitmem, command, ids), expected) for command, expected in told]
    differing = [
        f"$ gitmem … {command}\n{output}" for command, output, expected in shown if not matches(output, expected)
    ]
    assert differing == [], "\n".join(differing)


def split_block(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output that the page shows."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert parts[0] == "", "a block begins with a command"
    return [(command, output) for command, _eol, output in (part.partition("\n") for part in parts[1:])]


def matches(shown: str, expected: str) -> bool:
    """Tell whether ``shown`` is what the page has, where ``…`` alone stands for any lines."""
    lines = expected.strip("\n").splitlines()
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(f"{line}\n") for line in lines)
    text = shown.strip("\n")
    return re.fullmatch(pattern, f"{text}\n" if text else "") is not None


def _run(gitmem: Gitmem, command: str, ids: Ids) -> str:
    program, *args = shlex.split(command)
    assert program == "gitmem", command
    real = {shown: one for one, shown in ids.items()}
    result = gitmem(*(real.get(arg, arg) for arg in args))
    text = result.out + result.err
    for one, shown in ids.items():
        text = text.replace(one, shown).replace(f"-{one[:6]}", f"-{shown[:6]}")
    text = text.replace(str(gitmem.repo), "VAULT")
    return "\n".join(line.rstrip() for line in _TIME.sub(TIME, text).splitlines())


@pytest.mark.parametrize(
    ("shown", "expected", "fits"),
    [
        ("a\nb\nc", "a\n…\nc\n", True),
        ("a\nc", "a\n…\nc", True),
        ("a\nb", "a\n…", True),
        ("a", "b", False),
        ("a…", "a…", True),
        ("", "", True),
    ],
)
def test_outputs_are_compared_whole(shown: str, expected: str, fits: bool) -> None:
    assert matches(shown, expected) is fits

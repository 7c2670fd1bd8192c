"""Pages whose examples are run: each ``console`` block of a page, in order, over one sample vault.

A line that begins with ``$ gitmem`` is a command, what follows up to the next one is all that it prints, what it says
beside the result last. ``…`` alone on a line stands for any lines. Ids, commits and times differ from run to run: a
sample says which id a page has for which record; all commits are one, all times are one, and today is its day.

To have the examples of another page run, add it to ``SAMPLES`` with the function that makes its vault.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doc_samples import (
    POLICY,
    Ids,
    make_agents_sample,
    make_capture_sample,
    make_context_sample,
    make_coordination_sample,
    make_curate_sample,
    make_dated_sample,
    make_inbox_sample,
    make_policy_sample,
    make_search_sample,
)

from gitmem.clock import SystemClock
from gitmem.vault.policy_file import default_policy

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"

DOCS = Path(__file__).parents[1] / "docs"
TIME = "2026-11-30T14:00:00Z"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMIT = "0123456789ab"
_COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


SAMPLES: dict[str, Callable[[Gitmem], Ids]] = {
    "search.md": make_search_sample,
    "time-and-tags.md": make_dated_sample,
    "context.md": make_context_sample,
    "agents-md.md": make_agents_sample,
    "coordination.md": make_coordination_sample,
    "inbox.md": make_inbox_sample,
    "capture.md": make_capture_sample,
    "curate.md": make_curate_sample,
    "policy.md": make_policy_sample,
}


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


def test_the_page_on_policy_shows_the_default_file_and_that_of_its_sample() -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (DOCS / "policy.md").read_text(), re.MULTILINE | re.DOTALL)

    assert blocks[:2] == [POLICY, default_policy().decode()]


def test_the_page_on_agents_md_shows_the_section_of_its_sample(gitmem: Gitmem) -> None:
    ids = make_agents_sample(gitmem)
    assert gitmem("export", "agents-md").code == 0
    made = Path(gitmem.environment.folder, "AGENTS.md").read_text()
    for one, shown in ids.items():
        made = made.replace(one, shown)
    made = made.replace(SystemClock().now().date().isoformat(), TIME[:10])
    blocks = re.findall(r"^```markdown\n(.*?)^```$", (DOCS / "agents-md.md").read_text(), re.MULTILINE | re.DOTALL)
    assert made.split("\n\n", 1)[1].rpartition("\n\n")[0] == blocks[0].rstrip("\n")


def split_block(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output that the page shows."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert parts[0] == "", "a block begins with a command"
    return [(command, output) for command, _eol, output in (part.partition("\n") for part in parts[1:])]


def matches(shown: str, expected: str) -> bool:
    """Tell whether ``shown`` is what the page has, where ``…`` alone stands for any lines."""
    lines = _strip_lines(expected)
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(f"{line}\n") for line in lines)
    text = "\n".join(_strip_lines(shown))
    return re.fullmatch(pattern, f"{text}\n" if text else "") is not None


def _strip_lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _run(gitmem: Gitmem, command: str, ids: Ids) -> str:
    program, *args = shlex.split(command)
    assert program == "gitmem", command
    real = {shown: one for one, shown in ids.items()}
    result = gitmem(*(real.get(arg, arg) for arg in args))
    text = result.out + result.err
    for one, shown in ids.items():
        text = text.replace(one, shown).replace(f"-{one[:6]}", f"-{shown[:6]}")
    text = text.replace(str(gitmem.repo), "VAULT")
    today = SystemClock().now().date().isoformat()
    return _COMMIT.sub(COMMIT, _TIME.sub(TIME, text).replace(today, TIME[:10]))


@pytest.mark.parametrize(
    ("shown", "expected", "fits"),
    [
        ("a\nb\nc", "a\n…\nc\n", True),
        ("a\nc", "a\n…\nc", True),
        ("a\nb", "a\n…", True),
        ("a", "b", False),
        ("a…", "a…", True),
        ("a  \n", "a", True),
        ("", "", True),
    ],
)
def test_outputs_are_compared_whole(shown: str, expected: str, fits: bool) -> None:
    assert matches(shown, expected) is fits

"""Pages with Python: each ``python`` block of a page is run, in order and in one namespace, in a home of its own.

A ``text`` block that follows one is all that it prints; ``…`` alone on a line stands for any lines. Type checkers find
nothing in the blocks.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import DOCS, matches

from gitmem import Memory
from gitmem.hosts.cli.group import SECTIONS

PAGES = ("python.md", "agent-loop.md", "memory-tool.md")
_BLOCK = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_NO_METHOD = ("install", "uninstall", "mcp", "export", "report")


def read_blocks(page: str) -> list[tuple[str, str]]:
    """Return the ``python`` blocks of a page, each with what it prints."""
    found = [(kind, text) for _fence, kind, text in _BLOCK.findall((DOCS / page).read_text())]
    told = [text if kind == "text" else "" for kind, text in found[1:]] + [""]
    return [(text, output) for (kind, text), output in zip(found, told, strict=True) if kind == "python"]


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in [name for name in os.environ if name.startswith("GITMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GITMEM_HOME", str(tmp_path / "home"))
    (tmp_path / "folder" / "project").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_do_what_the_page_says(page: str, at_home: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = read_blocks(page)
    assert len(blocks) > 1
    for number, (code, expected) in enumerate(blocks):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, f"{page}, block {number}", "exec"), names)
        assert matches(said.getvalue(), expected), said.getvalue()


def test_type_checkers_find_nothing_in_the_examples(tmp_path: Path) -> None:
    for page in PAGES:
        text = "\n\n".join(code for code, _output in read_blocks(page))
        (tmp_path / f"{page.removesuffix('.md').replace('-', '_')}.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    files = [str(file) for file in sorted(tmp_path.glob("*.py"))]
    done = subprocess.run(
        [*command, "--follow-imports", "silent", *files], capture_output=True, text=True, cwd=DOCS.parent, check=False
    )
    assert done.stdout == f"Success: no issues found in {len(PAGES)} source files\n"


def test_the_page_on_python_names_every_verb_and_no_method_that_is_not_there() -> None:
    table = (DOCS / "python.md").read_text().partition("## Every verb")[2]
    rows = re.findall(r"^\| (`.*) \| (`.*) \|$", table, re.MULTILINE)
    commands = {one for left, _right in rows for one in re.findall(r"`(\w+)`", left)}
    methods = {one for _left, right in rows for one in re.findall(r"`(\w+)`", right)}
    assert [one for one in sorted(methods) if not callable(getattr(Memory, one, None))] == []
    aside = set(re.findall(r"`(\w+)`", table.partition("`init` is")[2])) | {"init"}
    verbs = {verb for _section, verbs in SECTIONS for verb in verbs} - set(_NO_METHOD)
    assert sorted(verbs - commands - aside) == []

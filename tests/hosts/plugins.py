"""Runs the plugins that are written in JavaScript, over a stand-in for their host and one for ``gitmem hook``."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitmem import resources

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not there to run the plugin")
_PLACEHOLDER = "__GITMEM_COMMAND__"
_HEAD = """
import json, pathlib, sys
payload = json.load(sys.stdin)
log = pathlib.Path(__file__).with_name("told.jsonl")
with log.open("a") as file:
    file.write(json.dumps([sys.argv[1:], payload]) + "\\n")
event, prompt = payload["hook_event_name"], payload.get("prompt", "")
"""
BAD_HOOKS = (
    "raise SystemExit(1)",
    "print('no JSON')",
    "print('null')",
    "print('[]')",
    "print('\"text\"')",
    """print('{"context": 5, "answer": {}, "hookSpecificOutput": 5, "decision": "block", "reason": 5}')""",
    """print('{"hookSpecificOutput": {"additionalContext": 5}}')""",
    """print('{"context": "' + "x" * 100001 + '"}')""",
)
"""Hooks that say nothing that could be used."""


@dataclass(frozen=True)
class Plugin:
    """The plugin ``template`` in a folder of its own. ``drive`` is the script around the steps of a test: it has
    STEPS where these go, and prints one JSON document."""

    folder: Path
    template: str
    drive: str

    def install(self, hook: str, command: list[str] | None = None) -> None:
        """Write the plugin, and the hook that it starts: ``hook`` is how it answers ``event`` and ``prompt``."""
        self.folder.joinpath("hook.py").write_text(_HEAD + hook)
        text = resources.read_text("templates", self.template)
        assert text.count(_PLACEHOLDER) == 1
        words = [sys.executable, str(self.folder / "hook.py"), "hook"] if command is None else command
        self.folder.joinpath("gitmem.mjs").write_text(text.replace(_PLACEHOLDER, json.dumps(words)))

    def __call__(self, steps: str) -> dict[str, Any]:
        """Run ``steps``, in JavaScript, and return what the script prints."""
        self.folder.joinpath("drive.mjs").write_text(self.drive.replace("STEPS", steps))
        command = [str(NODE), "drive.mjs"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=True, timeout=60)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def told(self) -> list[dict[str, Any]]:
        """Return the payloads that the hook was given, in order."""
        log = self.folder / "told.jsonl"
        told = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        assert all(words == ["hook"] for words, _payload in told)
        return [payload for _words, payload in told]

"""The house rules that no linter knows: sizes, names, light imports, who prints and reads, documented invariants."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.model.authority import Actor
from gitmem.model.record import Draft

from conftest import Desk

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gitmem"
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in MODULES]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
HEAVY_FOR_HOOKS = ("gitmem.service.memory", "gitmem.service.init", "subprocess", "tempfile", "shlex", "difflib")
HEAVY = ("pygit2", "jinja2", "sqlite3", "click", "ruamel.yaml", "filelock", "redact_secret", "fastjsonschema")


def test_modules_are_small() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in MODULES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_MODULE_LINES
    }
    assert too_long == {}


def test_functions_are_small() -> None:
    too_long = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    too_long[f"{path.relative_to(ROOT)}:{node.name}"] = lines
    assert too_long == {}


def test_no_module_has_an_empty_name() -> None:
    assert [str(path.relative_to(ROOT)) for path in MODULES if path.stem in EMPTY_NAMES] == []


@pytest.mark.parametrize(
    ("statement", "banned"),
    [
        ("import gitmem", HEAVY),
        ("import gitmem.wiring, gitmem.service.memory", HEAVY),
        ("import gitmem.__main__", HEAVY),
        ("import gitmem.hosts.hooks.run, gitmem.service.capture, gitmem.wiring", (*HEAVY, *HEAVY_FOR_HOOKS)),
        ("import gitmem.vault.manifest, gitmem.vault.registry, gitmem.vault.record_file", HEAVY),
        ("from gitmem.git import discover, head, index_file, lockfile, message, names", ("pygit2",)),
    ],
)
def test_imports_stay_light(statement: str, banned: tuple[str, ...]) -> None:
    program = f"import sys; {statement}; print(*[name for name in {banned!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


ON_THE_WAY = """
import io, json, os, sys
package, home, folder, prompt = sys.argv[1:]
sys.path.append(package)
os.environ["GITMEM_HOME"] = home
payload = {"session_id": "s", "cwd": folder, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode()))
from gitmem.__main__ import _run
_run(["hook", "--host", "claude-code"])
sys.stderr.write(" ".join(sys.modules))
"""
NOT_FOR_A_PROMPT = {
    *("dataclasses", "typing", "inspect", "pathlib", "subprocess", "ctypes", "tempfile", "shlex", "logging", "secrets"),
    *("gitmem.service.memory", "gitmem.service.context", "gitmem.service.standing", "gitmem.git.index_file"),
    *("gitmem.curator.commands", "gitmem.policy.vendor_rules", "gitmem.hosts.hooks.prompt_command"),
}
MOST_MODULES = 135


def test_a_prompt_is_answered_with_few_modules(desk: Desk, person: Actor) -> None:
    """What a hook loads is most of what it costs, see ADR 0035: whoever adds to it should know why."""
    with desk.open() as memory:
        memory.observe(Draft("Tests of the booking service run with two workers", tags=("tool/pytest",)), person)
    desk.git("gc", "-q")  # so that what is committed lies in a pack
    prompt = "How do the tests of the booking service run?"
    # Without the environment's packages: where one is needed, there is no answer.
    words = [sys.executable, "-E", "-P", "-S", "-c", ON_THE_WAY, str(ROOT), desk.home, str(desk.repo), prompt]
    for _ in range(2):
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        words[-1] += "?"  # told twice within seconds, it would be answered once
    assert "the same as shown last" in done.stdout
    loaded = set(done.stderr.split())
    assert loaded & NOT_FOR_A_PROMPT == set()
    assert sum(name.startswith("gitmem.") for name in loaded) <= MOST_MODULES


def test_only_one_module_reads_the_environment() -> None:
    found = [name for name in NAMES if re.search(r"\bos\.(environ|getenv)\b", TEXTS[name])]
    assert found == ["gitmem/hosts/environment.py"]


def test_only_hosts_print() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name in NAMES
        if not name.startswith("gitmem/hosts/")
        for node in ast.walk(ast.parse(TEXTS[name]))
        if (isinstance(node, ast.Name) and node.id in ("print", "input"))
        or (
            isinstance(node, ast.Attribute)
            and node.attr in ("stdout", "stderr", "stdin")
            # A program that is started has outputs, too; they are its own.
            and not (name == "gitmem/programs.py" and isinstance(node.value, ast.Name) and node.value.id == "process")
        )
    ]
    assert found == []


def test_each_invariant_stands_where_it_is_kept_and_in_a_test_name() -> None:
    page = (ROOT / "docs/invariants.md").read_text(encoding="utf-8")
    kept_in = dict(re.findall(r"^\| (INV-[A-Z-]+) \|.*\| `([\w/]+\.py)` \|$", page, re.MULTILINE))
    assert sorted(kept_in) == sorted(re.findall(r"^\| (INV-\S+) ", page, re.MULTILINE))
    assert kept_in
    assert {one: file for one, file in kept_in.items() if not re.search(rf"\b{one}\b", TEXTS[f"gitmem/{file}"])} == {}
    named = {one for text in TEXTS.values() for one in re.findall(r"\bINV-[A-Z-]+[A-Z]\b", text)}
    assert named == set(kept_in)
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    names = {one: "def test_" + one.lower().replace("-", "_") for one in kept_in}
    assert [one for one, name in names.items() if name not in tests] == []


def test_no_file_names_a_machine_path_or_leaves_work_undone() -> None:
    words = ("/wo" + "rk/", "/ro" + "ot/", "TO" + "DO", "FIX" + "ME")
    found = []
    for path in [*MODULES, *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "tests").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in words if word in text]
    assert found == []

"""The house rules that no linter knows: sizes, names, light imports, documented invariants, words of the glossary."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gitmem"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
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
    ],
)
def test_imports_stay_light(statement: str, banned: tuple[str, ...]) -> None:
    program = f"import sys; {statement}; print(*[name for name in {banned!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_only_named_places_print_or_read_the_environment() -> None:
    allowed = {"environment.py"}
    found = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if path.name not in allowed and re.search(r"\bos\.(environ|getenv)\b", path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_each_invariant_stands_in_a_source_comment_and_in_a_test_name() -> None:
    ids = re.findall(r"^\| (INV-[A-Z-]+) \|", (ROOT / "docs/invariants.md").read_text(encoding="utf-8"), re.MULTILINE)
    source = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert ids
    assert [one for one in ids if not re.search(rf"\b{one}\b", source)] == []
    names = {one: "def test_" + one.lower().replace("-", "_") for one in ids}
    assert [one for one, name in names.items() if name not in tests] == []


def test_no_file_names_a_machine_path_or_leaves_work_undone() -> None:
    words = ("/wo" + "rk/", "/ro" + "ot/", "TO" + "DO", "FIX" + "ME")
    found = []
    for path in [*MODULES, *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "tests").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in words if word in text]
    assert found == []

"""Command lines in the words of a fixed vocabulary."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.curator.commands import MAX_LINE_CHARS, NOTHING, SCRIPTS, VOCABULARY, Command, find_command


def both(name: str) -> Command:
    return Command(name, tells_pass=True, tells_failure=True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pytest", both("pytest")),
        ("pytest -q -k 'secret name' tests/test_cart.py", both("pytest")),
        ("python3 -m pytest", both("pytest")),
        ("python3.11 -m unittest tests/test_cart.py", both("python -m unittest")),
        (".venv/bin/python manage.py migrate secret", both("python")),
        ("/usr/local/bin/pytest", both("pytest")),
        ("FOO=secret BAR=1 npm run build", both("npm run build")),
        ("npm run deploy-to-secret", both("npm run")),
        ("npm test -- --watch", both("npm test")),
        ("npx vitest run", both("vitest")),
        ("uv run pytest -q", both("pytest")),
        ("poetry run secret", both("poetry run")),
        ("bundle exec rspec", both("rspec")),
        ("timeout 60 cargo build --release", both("cargo build")),
        ("sudo -n make secret", both("make")),
        ("make -j4 test", both("make test")),
        ("git -C /secret commit -m 'secret: token'", both("git commit")),
        ("git secret-alias", both("git")),
        ("cd app && export A=1 && npm test", both("npm test")),
        ("cd app\npytest", both("pytest")),
        ("(cd app && pytest)", both("pytest")),
        ("bash -lc 'cd app && pytest -q'", both("pytest")),
        ("pytest;", both("pytest")),
        ("git add -A && git commit -m 'a && b; c | d'", Command("git commit", tells_pass=True)),
        ("ruff check . && pytest", Command("pytest", tells_pass=True)),
        ("secret-tool && pytest", Command("pytest", tells_pass=True)),
        ("pytest && echo done", both("pytest")),
        ("pytest && secret-tool", Command("pytest", tells_pass=True)),
        ("pytest | tail -5", Command("pytest")),
        ("pytest || true", Command("pytest")),
        ("pytest; echo done", Command("pytest")),
        ("pytest &", Command("pytest")),
        ("bash -c 'pytest | tail' ", Command("pytest")),
        ("pytest 2>&1 > /dev/null", both("pytest")),
        ("git commit -F - <<'EOF'\nmake it work\nEOF", Command("git commit")),
        ("pytest -k 'unclosed", Command("pytest")),
        ("secret-tool --password hunter2", NOTHING),
        ("rm -rf /", NOTHING),
        ("", NOTHING),
        ("   ", NOTHING),
        ("\0", NOTHING),
        ("&& && ;", NOTHING),
        ("cat pytest", NOTHING),
        ("pytest " + "x" * MAX_LINE_CHARS, Command("pytest")),
    ],
)
def test_a_line_is_about_a_command_and_its_exit_code_tells_of_it_or_not(line: str, expected: Command) -> None:
    assert find_command(line) == expected


_WORDS = st.sampled_from(
    ["git", "commit", "npm", "run", "bash", "-c", "&&", "|", "'", '"', "<<", "\n", "(", "env", "uv"]
)


@settings(derandomize=True, deadline=None, max_examples=400)
@given(st.lists(_WORDS | st.text(max_size=8), max_size=12).map(" ".join) | st.text(max_size=60))
def test_whatever_is_typed_only_words_of_the_vocabulary_come_out(line: str) -> None:
    name = find_command(line).name
    known = {"python", "-m", "unittest", "build", "venv", "compileall", "run", "run-script", "exec", "x", *SCRIPTS}
    for program, verbs in VOCABULARY.items():
        known |= {program, *verbs}
    assert set(name.split()) <= known
    assert name == "" or re.fullmatch(r"[a-z0-9][a-z0-9 ._+-]*", name)


def test_the_vocabulary_fits_what_an_event_may_hold() -> None:
    for program, verbs in VOCABULARY.items():
        for name in (program, *(f"{program} {verb}" for verb in verbs)):
            assert re.fullmatch(r"[a-z0-9][a-z0-9 ._+-]*", name), name
            assert len(name) <= 64

"""Which command a command line ran, in the words of a fixed vocabulary; what is not in it is nothing. Pure.

So no argument, name or secret of a command line can ever be kept: only the words below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gitmem.patterns import late
from gitmem.values import dataclass

MAX_LINE_CHARS = 4096
"""Of a longer command line, only so much is looked at, and how it went is not said of any command."""
_MAX_DEPTH = 3
_TARGETS = "all bench build check ci clean coverage dev docs e2e fmt format generate install lint package release run "
_TARGETS += "start test tests type-check typecheck unit verify watch"
_NODE = "add audit build ci init install link lint outdated pack publish remove start test uninstall update upgrade"
_VERBS: dict[str, str] = {
    "git": "add am apply bisect blame branch checkout cherry-pick clean clone commit diff fetch grep init log ls-files "
    "merge mv pull push rebase remote reset restore revert rm show stash status submodule switch tag worktree",
    "gh": "issue pr release repo run workflow",
    "glab": "ci issue mr release",
    "npm": _NODE,
    "pnpm": _NODE,
    "yarn": _NODE,
    "bun": _NODE,
    "deno": "bench check compile fmt lint run task test",
    "make": _TARGETS,
    "gmake": _TARGETS,
    "just": _TARGETS,
    "task": _TARGETS,
    "nox": "",
    "tox": "",
    "cargo": "add bench build check clean clippy doc fmt install nextest publish run test update",
    "go": "build fmt generate get install mod run test tool vet work",
    "rustc": "",
    "rustfmt": "",
    "cmake": "",
    "ctest": "",
    "ninja": "",
    "meson": "compile setup test",
    "bazel": "build query run test",
    "gradle": "assemble build check clean test",
    "gradlew": "assemble build check clean test",
    "mvn": "clean compile install package test verify",
    "mvnw": "clean compile install package test verify",
    "sbt": "compile run test",
    "dotnet": "build clean format pack publish restore run test",
    "swift": "build package run test",
    "xcodebuild": "build test",
    "pytest": "",
    "ruff": "check format",
    "mypy": "",
    "pyright": "",
    "pylint": "",
    "flake8": "",
    "black": "",
    "isort": "",
    "pip": "check download freeze install list uninstall",
    "pipx": "install run upgrade",
    "uv": "add build lock pip publish remove sync tree venv",
    "poetry": "add build check install lock publish remove update",
    "pdm": "add build install lock remove sync update",
    "hatch": "build env fmt publish run test",
    "pre-commit": "install run",
    "lint-imports": "",
    "python": "",
    "node": "",
    "ruby": "",
    "perl": "",
    "php": "",
    "java": "",
    "javac": "",
    "tsc": "",
    "eslint": "",
    "prettier": "",
    "jest": "",
    "vitest": "",
    "mocha": "",
    "playwright": "test install",
    "cypress": "open run",
    "vite": "build dev preview",
    "webpack": "",
    "next": "build dev lint start",
    "turbo": "build lint run test",
    "nx": "affected build lint run test",
    "bundle": "exec install update",
    "rake": "",
    "rspec": "",
    "rubocop": "",
    "rails": "",
    "composer": "install require test update",
    "phpunit": "",
    "mix": "compile deps format test",
    "docker": "build compose exec images logs ps pull push run stop",
    "docker-compose": "build down logs up",
    "podman": "build ps pull run",
    "kubectl": "apply delete describe get logs rollout",
    "helm": "install lint template upgrade",
    "terraform": "apply destroy fmt init plan validate",
    "ansible-playbook": "",
    "shellcheck": "",
    "shfmt": "",
    "hadolint": "",
    "gcc": "",
    "g++": "",
    "clang": "",
    "clang-format": "",
    "clang-tidy": "",
    "alembic": "downgrade revision upgrade",
    "sqlite3": "",
    "psql": "",
    "gitmem": "accept adopt check context curate declare diff doctor edit import inbox init journal list log observe "
    "promote propose recall reject restore retire review search show status tags timeline undo verify",
}
VOCABULARY = {program: frozenset(verbs.split()) for program, verbs in _VERBS.items()}
"""Each program and its verbs."""
SCRIPTS = frozenset(_TARGETS.split())
"""Names of scripts that many projects have; behind ``npm run`` they are kept as part of the command."""
_RUNNERS = {
    "npm": ("run", "run-script"),
    "pnpm": ("run", "exec"),
    "yarn": ("run", "exec"),
    "bun": ("run", "x"),
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "bundle": ("exec",),
    "pipx": ("run",),
}
"""Programs that run another one, and by which of their verbs."""
_WRAPPERS = frozenset(
    (
        *("env", "time", "nice", "nohup", "sudo", "doas", "command", "exec", "stdbuf", "timeout"),
        *("npx", "pnpx", "bunx", "uvx", "xvfb-run"),
    )
)
_SHELLS = frozenset((*("sh", "bash", "zsh", "dash", "ksh"),))
_QUIET = frozenset(
    (
        *("cd", "pushd", "popd", "export", "set", "source", ".", "true", ":", "echo", "printf"),
        *("mkdir", "touch", "test", "[", "sleep", "unset", "ulimit"),
    )
)
"""Commands beside which another one is what a line is about, and which hardly ever fail."""
_MODULES = {"pytest": "pytest", "unittest": "python -m unittest", "pip": "pip", "mypy": "mypy", "ruff": "ruff"}
_MODULES |= {
    "build": "python -m build",
    "venv": "python -m venv",
    "black": "black",
    "compileall": "python -m compileall",
}
_NUMBERED = late(r"(python|pip|node|ruby|php|gcc|clang)[0-9.]+")
_ASSIGNMENT = late(r"[A-Za-z_]\w*=")
_BETWEEN = late(r"[();|&\n]+")
_MAX_WORDS_BEFORE_VERB = 4


@dataclass(frozen=True)
class Command:
    """The command that a line is about, and whether the line's own exit code says that it passed, or failed."""

    name: str = ""
    tells_pass: bool = False
    tells_failure: bool = False


NOTHING = Command()


def find_command(line: str) -> Command:
    """Return the command that ``line`` is about: the last one that the vocabulary has, else ``NOTHING``.

    The exit code of a line is that of its last command, so it speaks for an earlier one only behind ``&&``, and for its
    failure only where nothing else is likely to have failed.
    """
    return _find(line, 0)


def _find(line: str, depth: int) -> Command:
    is_cut = len(line) > MAX_LINE_CHARS
    steps, is_whole = _split(line[:MAX_LINE_CHARS])
    if not is_cut and len(steps) == 1 and depth < _MAX_DEPTH and (script := _find_script(steps[0][0])) is not None:
        inner = _find(script, depth + 1)
        return inner if is_whole else Command(inner.name)
    named = [(number, name) for number, (words, _) in enumerate(steps) if (name := _name(words))]
    if not named:
        return NOTHING
    at, name = named[-1]
    if is_cut or not is_whole or any(after not in ("", "&&") for _, after in steps[at:]):
        return Command(name)
    is_alone = all(number == at or _is_quiet(words) for number, (words, _) in enumerate(steps))
    return Command(name, tells_pass=True, tells_failure=is_alone)


def _split(line: str) -> tuple[list[tuple[list[str], str]], bool]:
    """Return the commands of a line, each with what stands behind it, and whether all of the line was understood."""
    import shlex

    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    steps: list[tuple[list[str], str]] = []
    words: list[str] = []
    is_whole = True
    try:
        for token in lexer:
            if "<<" in token:  # what follows is text, not commands
                is_whole = False
                break
            if _BETWEEN.fullmatch(token):
                if words:
                    steps.append((words, _kind_of(token)))
                words = []
            else:
                words.append(token)
    except ValueError:
        is_whole = False
    if words:
        steps.append((words, ""))
    elif steps and steps[-1][1] == ";":
        steps[-1] = (steps[-1][0], "")
    return steps, is_whole


def _kind_of(token: str) -> str:
    """Return ``&&``, ``;`` for whatever lets the next command run anyway, or ``|`` where the exit code is not told."""
    plain = token.strip("\n();")
    return plain if plain == "&&" else "|" if plain else ";"


def _name(words: list[str]) -> str:
    """Return the words of the vocabulary that a command begins with, behind what only wraps it."""
    rest = _unwrap(words)
    if not rest:
        return ""
    program = _program(rest[0])
    arguments = [word for word in rest[1:] if not word.startswith("-")]
    if program == "python" and "-m" in rest[1:3]:
        module = rest[rest.index("-m") + 1 : rest.index("-m") + 2]
        return _MODULES.get(module[0], program) if module else program
    first = arguments[0] if arguments else ""
    if first in _RUNNERS.get(program, ()):
        inner = _name(rest[rest.index(first) + 1 :])
        script = arguments[1] if len(arguments) > 1 else ""
        return f"{program} {first} {script}" if script in SCRIPTS else inner or f"{program} {first}"
    if program not in VOCABULARY:
        return ""
    verb = next((word for word in _verbs_first(rest[1:]) if word in VOCABULARY[program]), "")
    return f"{program} {verb}" if verb else program


def _verbs_first(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of which one may be the verb: git and others take options with values before it."""
    for number, word in enumerate(words):
        if number > _MAX_WORDS_BEFORE_VERB or word == "--":
            return
        yield word


def _unwrap(words: list[str]) -> list[str]:
    """Return a command without what stands before it: assignments, and programs that start another."""
    rest = list(words)
    while rest:
        if _ASSIGNMENT.match(rest[0]):
            rest = rest[1:]
        elif _program(rest[0]) in _WRAPPERS:
            rest = rest[1:]
            while rest and (rest[0].startswith("-") or rest[0][:1].isdigit()):
                rest = rest[1:]
        else:
            break
    return rest


def _program(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd")
    numbered = _NUMBERED.fullmatch(name)
    return numbered[1] if numbered else name


def _find_script(words: list[str]) -> str | None:
    """Return the line that a command hands to a shell, ``None`` where it doesn't."""
    rest = _unwrap(words)
    if len(rest) > 2 and _program(rest[0]) in _SHELLS and re.fullmatch(r"-[a-z]*c", rest[1]):
        return rest[2]
    return None


def _is_quiet(words: list[str]) -> bool:
    rest = _unwrap(words)
    return not rest or rest[0] in _QUIET

"""The hosts' real programs, each with what it needs to run in a scratch home against the stand-in for models."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hosts.programs.standin import TOOL_SEARCH, Call, Standin, Turn, Until

PLACE = os.environ.get("GITMEM_TEST_HOSTS", "")
"""The folder below which `npm install --prefix` put the programs; without it these tests are skipped."""
MAX_S = 300
"""How long one run of a program may take."""
RECORD = "The staging database is called harbour-blue"
BOUNDARY = "Never push to the main branch"
PROMPT = "What is the staging database called?"
FILE = "out.txt"
NOWHERE = "http://127.0.0.1:9/"


@dataclass(frozen=True)
class Scene:
    """A scratch home with a project in it, which the programs are started in."""

    folder: Path
    models: Standin

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "shop"

    def variables(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of everything that runs here, with nothing of the person's who runs the tests."""
        node = shutil.which("node") or "node"
        path = os.pathsep.join(dict.fromkeys((os.path.dirname(node), "/usr/bin", "/bin")))
        return {"PATH": path, "HOME": str(self.home), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(more or {})}

    def run(
        self,
        words: list[str],
        more: Mapping[str, str] | None = None,
        *,
        errors: bool = True,
        may_fail: bool = False,
    ) -> str:
        """Run a program in the project and return what it said, with ``errors`` on both of its outputs."""
        done = subprocess.run(
            words,
            cwd=self.project,
            env=self.variables(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors else subprocess.DEVNULL,
            text=True,
            timeout=MAX_S,
            check=False,
        )
        assert may_fail or done.returncode == 0, done.stdout
        return done.stdout

    def gitmem(self, *words: str, may_fail: bool = False) -> str:
        """Run gitmem as a person's shell would, and return what it said."""
        return self.run([sys.executable, "-P", "-m", "gitmem", *words], may_fail=may_fail)

    def write(self, name: str, text: str) -> None:
        """Write a file below the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str) -> str:
        """Return a file below the home."""
        return (self.home / name).read_text()

    def files(self) -> dict[str, bytes]:
        """All files of the host below the home, by name; what gitmem itself keeps is left out."""
        found = (path for path in self.home.rglob("*") if path.is_file() and ".local" not in path.parts)
        return {str(path.relative_to(self.home)): path.read_bytes() for path in found}


_FOLDERS = {"dsh": ("env", "bin")}
"""Where programs lie that are no packages of npm's."""


@dataclass(frozen=True)
class Program:
    """One host's program. ``binary`` is its name; ``settle`` writes what a person has set up before gitmem comes.

    ``ask`` makes the words that give it one prompt; ``tool`` is the call with which its model writes ``FILE`` by a
    shell; ``variables`` are its own.
    """

    host: str
    binary: str
    settle: Callable[[Scene], None]
    ask: Callable[[str], list[str]]
    tool: Call
    variables: Callable[[Scene], Mapping[str, str]]
    looks: tuple[Turn, ...] = ()
    """What its model does to be told of the server's tools, where they are not offered unasked."""
    refuses_prompts: bool = False
    """Whether its way to keep a prompt from the model is that it fails."""
    find_shown: Callable[[Program, Scene, str], str | None] = lambda _program, _scene, said: said
    """What its person is shown of a prompt that went no further, from what it said; ``None`` where that is on its own
    screen alone."""

    @property
    def path(self) -> str:
        """Where it is, or would be."""
        return os.path.join(PLACE, *_FOLDERS.get(self.binary, ("node_modules", ".bin")), self.binary)

    def is_there(self) -> bool:
        """Tell whether it can be run."""
        return bool(PLACE) and os.path.exists(self.path)

    def prompt(self, scene: Scene, prompt: str) -> str:
        """Give it one prompt and return what it said."""
        words = [self.path, *self.ask(prompt)]
        return scene.run(words, self.variables(scene), may_fail=self.refuses_prompts)


def texts_of(value: object) -> str:
    """Return all strings in a request to a model, one a line, as they are."""
    if isinstance(value, str):
        return f"{value}\n"
    if isinstance(value, dict):
        return "".join(map(texts_of, value.values()))
    return "".join(map(texts_of, value)) if isinstance(value, list) else ""


def names_in(value: object) -> list[str]:
    """Return all names in a request to a model, those of the tools that it offers among them."""
    if isinstance(value, list):
        return [name for one in value for name in names_in(one)]
    if not isinstance(value, dict):
        return []
    own = [value["name"]] if isinstance(value.get("name"), str) else []
    return [*own, *names_in(list(value.values()))]


def _settle_claude(scene: Scene) -> None:
    scene.write(".claude/settings.json", '{\n  "model": "sonnet"\n}\n')


def _settle_codex(scene: Scene) -> None:
    config = (
        'model = "gpt-5.5"\nmodel_provider = "local"\n\n[model_providers.local]\nname = "local"\n'
        f'base_url = "{scene.models.url}/v1"\nwire_api = "responses"\nenv_key = "LOCAL_KEY"\n\n'
        f'[projects."{scene.project}"]\ntrust_level = "trusted"\n'
    )
    scene.write(".codex/config.toml", config)


def _settle_gemini(scene: Scene) -> None:
    settings = '{\n  // whoever reads this\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'
    scene.write(".gemini/settings.json", settings)


def _settle_opencode(scene: Scene) -> None:
    provider = {"anthropic": {"options": {"baseURL": f"{scene.models.url}/v1", "apiKey": "x"}}}
    model = "anthropic/claude-sonnet-4-5"
    config = {"$schema": "https://opencode.ai/config.json", "model": model, "small_model": model}
    config |= {"autoupdate": False, "share": "disabled", "provider": provider}
    scene.write(".config/opencode/opencode.json", json.dumps(config, indent=2) + "\n")


def _find_in_session(program: Program, scene: Scene, _said: str) -> str:
    """Return the one session of OpenCode that has a prompt of gitmem's, as it writes it out."""
    variables = program.variables(scene)
    listed = json.loads(scene.run([program.path, "session", "list", "--format", "json"], variables, errors=False))
    sessions = (scene.run([program.path, "export", one["id"]], variables, errors=False) for one in listed)
    return next((text for text in sessions if "gitmem status" in text), "")


def _settle_dsh(scene: Scene) -> None:
    program = next(one for one in PROGRAMS if one.host == "dsh")
    scene.run([program.path, "headless", "--dump-config"], program.variables(scene))
    patch = f"# whoever reads this\n- id: llm-deepseek\n  config:\n    baseURL: {scene.models.url}\n"
    scene.write(".dsh/profiles/headless/cordis.patch.yml", patch)


def _claude_variables(scene: Scene) -> Mapping[str, str]:
    offline = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "IS_SANDBOX")
    return {
        "ANTHROPIC_BASE_URL": scene.models.url,
        "ANTHROPIC_API_KEY": "sk-ant-test-000",
        **dict.fromkeys(offline, "1"),
    }


PROGRAMS = (
    Program(
        "claude-code",
        "claude",
        _settle_claude,
        lambda prompt: ["-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash"],
        Call("Bash", {"command": f"echo hi > {FILE}", "description": "Write it"}),
        _claude_variables,
        # On a busy machine it does not wait with the first turn for a server that is still starting.
        looks=(Until(Call("Bash", {"command": "sleep 0.1", "description": "Wait"}), "memory_search"),),
    ),
    Program(
        "codex",
        "codex",
        _settle_codex,
        lambda prompt: [
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
            prompt,
        ],
        Call("exec_command", {"cmd": f"echo hi > {FILE}"}),
        lambda _scene: {"LOCAL_KEY": "x"},
        # It starts servers beside the first turns, and tells of their tools when they are looked for.
        looks=(
            Until(Call("exec_command", {"cmd": "sleep 0.1"}), "mcp__gitmem"),
            Call(TOOL_SEARCH, {"query": "gitmem memory search", "limit": 20}),
        ),
        find_shown=lambda _program, _scene, _said: None,
    ),
    Program(
        "gemini",
        "gemini",
        _settle_gemini,
        lambda prompt: ["-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-p", prompt],
        Call("run_shell_command", {"command": f"echo hi > {FILE}", "description": "Write it"}),
        lambda scene: {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": scene.models.url},
    ),
    Program(
        "opencode",
        "opencode",
        _settle_opencode,
        # Its words are put together with spaces; one that holds a space would be quoted.
        lambda prompt: ["run", *prompt.split(" ")],
        Call("bash", {"command": f"echo hi > {FILE}", "description": "Write it"}),
        lambda _scene: {
            **dict.fromkeys(("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE"), "1"),
            # It wants to fetch a package for plugins, which ours does without.
            "npm_config_registry": NOWHERE,
            "npm_config_fetch_retries": "0",
        },
        refuses_prompts=True,
        find_shown=_find_in_session,
    ),
    Program(
        "dsh",
        "dsh",
        _settle_dsh,
        lambda prompt: ["headless", prompt],
        Call("bash", {"command": f"echo hi > {FILE}", "description": "Write it"}),
        lambda scene: {
            "DSH_HOME": str(scene.home / ".dsh"),
            "DEEPSEEK_API_KEY": "x",
            "DSH_TELEMETRY_MODE": "DISABLED",
            "DSH_PERMISSION_MODE": "danger-full-access",
        },
        refuses_prompts=True,
    ),
)

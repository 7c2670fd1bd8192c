"""The one reader of the process's surroundings: environment variables, working folder, login name, home folder."""

from __future__ import annotations

import os
import sys

from gitmem.errors import InputError, StateError, UnavailableError
from gitmem.text import find_hidden
from gitmem.values import dataclass

MAX_NAME_CHARS = 128
COMPLETION_VARIABLE = "_GITMEM_COMPLETE"
"""Set by the shell's completion script, never by people."""
PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")
"""In which hosts tell what they start where they work."""
_SIMPLE_TERMINALS = ("", "dumb", "emacs")
_OFF = ("", "0", "no", "off", "false")


@dataclass(frozen=True)
class HostFolders:
    """Where hosts keep what belongs to the person, as their own variables have it. All absolute, there or not.

    ``user`` is the person's home folder; ``claude_state`` is the one of ``.claude.json``; ``agents`` is what several
    hosts read.
    """

    user: str
    claude: str
    claude_state: str
    codex: str
    gemini: str
    cursor: str
    opencode: str
    dsh: str
    agents: str


@dataclass(frozen=True)
class Environment:
    """What the surroundings say, read once at the start. All paths are absolute.

    ``identity_files`` are the Git configuration files that may hold the person's name, the one that
    has the last word in Git first. ``failpoint`` is ``NAME`` or ``NAME:n``, for tests alone. ``pager`` tells whether
    the terminal can show long output page by page, and nobody turned that off. ``agent_socket`` is where the person's
    SSH agent listens, empty for none. ``project`` is the folder that a host says it works in, empty where none does.
    ``python`` is the interpreter that runs this, ``home_is_named`` tells that a variable says where the home is,
    ``host_folders`` where hosts keep what is the person's, ``None`` for nowhere.
    """

    home: str
    folder: str
    actor: str = "agent"
    host: str = "cli"
    session: str = ""
    login: str = "person"
    identity_files: tuple[str, ...] = ()
    memory_catalog: bool = False
    strict: bool = False
    failpoint: str = ""
    editor: str = "vi"
    color: bool = True
    pager: bool = False
    debug: bool = False
    completion: str = ""
    agent_socket: str = ""
    project: str = ""
    python: str = sys.executable
    home_is_named: bool = False
    host_folders: HostFolders | None = None


def read_environment() -> Environment:
    """Return what this process finds around it.

    Raises ``InputError`` (``bad-environment``) for a name that can't stand in a commit and for a setting that does not
    exist, ``UnavailableError`` (``no-working-folder``) when the working folder is gone.
    """
    get = os.environ.get
    return Environment(
        home=find_home(),
        folder=_find_folder(),
        actor=check_name("GITMEM_ACTOR", get("GITMEM_ACTOR") or "agent"),
        host=check_name("GITMEM_HOST", get("GITMEM_HOST") or "cli"),
        session=check_name("GITMEM_SESSION", get("GITMEM_SESSION", "")),
        login=_find_login(),
        identity_files=_find_identity_files(get("XDG_CONFIG_HOME", "")),
        memory_catalog=_is_memory(get("GITMEM_CATALOG", "")),
        strict=_is_on(get("GITMEM_STRICT", "")),
        failpoint=get("GITMEM_FAILPOINT", ""),
        editor=get("VISUAL") or get("EDITOR") or ("notepad" if os.name == "nt" else "vi"),
        color=not get("NO_COLOR") and get("TERM") != "dumb",
        pager=get("TERM", "") not in _SIMPLE_TERMINALS and get("PAGER", "less") not in ("", "cat"),
        debug=_is_on(get("GITMEM_DEBUG", "")),
        completion=get(COMPLETION_VARIABLE, ""),
        agent_socket=get("SSH_AUTH_SOCK", ""),
        project=next((folder for name in PROJECT_VARIABLES if os.path.isabs(folder := get(name, ""))), ""),
        home_is_named=bool(get("GITMEM_HOME")),
        host_folders=find_host_folders(),
    )


def find_home() -> str:
    """Return the home folder: ``GITMEM_HOME``, else the platform's own place. Absolute; there or not."""
    named = os.environ.get("GITMEM_HOME", "")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    import platformdirs

    return os.path.abspath(platformdirs.user_data_dir("gitmem", appauthor=False))


def check_home(home: str, folder: str) -> None:
    """Refuse a ``home`` that the project around ``folder`` may have brought along: for what a host starts there.

    Some hosts read variables from a file of the project's. A home that one of these names by a relative path, or
    within the project, would speak as the person. Raises ``StateError`` (``home-in-project``). Reads the disk.
    """
    named = next((name for name in ("GITMEM_HOME", "XDG_DATA_HOME") if os.environ.get(name)), "")
    if not named:
        return
    from gitmem.service.locate import find_project_root

    user = os.path.realpath(os.path.expanduser("~"))
    around = {os.path.realpath(folder), find_project_root(folder)}
    inside = any(_is_in(os.path.realpath(home), one) and not _is_in(user, one) for one in around)
    is_relative = named == "GITMEM_HOME" and not os.path.isabs(os.path.expanduser(os.environ[named]))
    if inside or is_relative:
        message = f"{named} names a home within the project, or by a relative path: a project must not bring its memory"
        raise StateError("home-in-project", message, "Name a folder elsewhere, by an absolute path.")


def check_name(variable: str, value: str) -> str:
    """Return ``value`` of ``variable``, a name that commits will bear. Raises ``InputError`` (``bad-environment``)."""
    # These become trailers and the author of commits: a line break or a bracket would forge one.
    if "\n" in value or "<" in value or ">" in value or find_hidden(value) or value != value.strip():
        raise InputError(
            "bad-environment", f"{variable} holds a character that can't stand in a name", "Use letters and digits."
        )
    if len(value) > MAX_NAME_CHARS:
        raise InputError(
            "bad-environment", f"{variable} is longer than {MAX_NAME_CHARS} characters", "Give a shorter name."
        )
    return value


def find_host_folders(user: str = "") -> HostFolders:
    """Return where hosts keep what belongs to the person whose home folder is ``user``, this process's by default."""
    get = os.environ.get
    user = user or os.path.expanduser("~")

    def place(variable: str, *names: str) -> str:
        named = get(variable, "")
        return os.path.abspath(os.path.expanduser(named)) if named else os.path.join(user, *names)

    claude = place("CLAUDE_CONFIG_DIR", ".claude")
    return HostFolders(
        user=user,
        claude=claude,
        claude_state=claude if get("CLAUDE_CONFIG_DIR") else user,
        codex=place("CODEX_HOME", ".codex"),
        gemini=os.path.join(place("GEMINI_CLI_HOME"), ".gemini"),
        cursor=os.path.join(user, ".cursor"),
        opencode=os.path.join(place("XDG_CONFIG_HOME", ".config"), "opencode"),
        dsh=place("DSH_HOME", ".dsh"),
        agents=os.path.join(user, ".agents"),
    )


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _is_on(setting: str) -> bool:
    return setting.strip().lower() not in _OFF


def _is_memory(setting: str) -> bool:
    if setting not in ("", "file", "memory"):
        raise InputError("bad-environment", "GITMEM_CATALOG is neither file nor memory", "Set it to memory, or not.")
    return setting == "memory"


def _find_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise UnavailableError(
            "no-working-folder", "the working folder is gone", "Change to a folder that exists."
        ) from None


def _find_login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "person"


def _find_identity_files(config_home: str) -> tuple[str, ...]:
    user = os.path.expanduser("~")
    shared = config_home if os.path.isabs(config_home) else os.path.join(user, ".config")
    return (os.path.join(user, ".gitconfig"), os.path.join(shared, "git", "config"))

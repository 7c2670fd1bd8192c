"""What hosts call things, as data: which payload is whose, what its events mean, where tools keep paths and commands.

As their own programs were seen to say it (``tests/hosts/payloads``), else from their documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitmem.model.event import EventKind
from gitmem.typed import Any
from gitmem.values import dataclass

Payload = Mapping[str, Any]

_CLAUDE_EVENTS: dict[str, EventKind | None] = {
    "SessionStart": EventKind.SESSION_START,
    "UserPromptSubmit": EventKind.PROMPT,
    "PostToolUse": EventKind.TOOL,
    "PostToolUseFailure": EventKind.TOOL,
    "PreCompact": EventKind.COMPACTION,
    "Stop": EventKind.STOP,
    "SessionEnd": EventKind.SESSION_END,
    # Known, and of no use for a memory.
    "PreToolUse": None,
    "PostCompact": None,
    "SubagentStart": None,
    "SubagentStop": None,
    "Notification": None,
    "PermissionRequest": None,
    "InstructionsLoaded": None,
    "FileChanged": None,
    "CwdChanged": None,
    "StopFailure": None,
    "ConfigChange": None,
    "TaskCreated": None,
    "TaskCompleted": None,
    "TeammateIdle": None,
    "WorktreeCreate": None,
    "WorktreeRemove": None,
    "Elicitation": None,
    "ElicitationResult": None,
    "Interrupt": None,
}
_GEMINI_EVENTS: dict[str, EventKind | None] = {
    "SessionStart": EventKind.SESSION_START,
    "BeforeAgent": EventKind.PROMPT,
    "AfterTool": EventKind.TOOL,
    "AfterAgent": EventKind.STOP,
    "SessionEnd": EventKind.SESSION_END,
    # Fired before every turn, whether anything is compressed or not: it tells nothing.
    "PreCompress": None,
    "BeforeTool": None,
    "BeforeModel": None,
    "AfterModel": None,
    "BeforeToolSelection": None,
    "Notification": None,
}
_CURSOR_EVENTS: dict[str, EventKind | None] = {
    "sessionStart": EventKind.SESSION_START,
    "beforeSubmitPrompt": EventKind.PROMPT,
    "postToolUse": EventKind.TOOL,
    "postToolUseFailure": EventKind.TOOL,
    "afterFileEdit": EventKind.TOOL,
    "preCompact": EventKind.COMPACTION,
    "stop": EventKind.STOP,
    "sessionEnd": EventKind.SESSION_END,
    # What these tell, postToolUse tells too, with the exit code.
    "afterShellExecution": None,
    "afterMCPExecution": None,
    "preToolUse": None,
    "beforeShellExecution": None,
    "beforeMCPExecution": None,
    "beforeReadFile": None,
    "subagentStart": None,
    "subagentStop": None,
    "afterAgentResponse": None,
    "afterAgentThought": None,
    "beforeTabFileRead": None,
    "afterTabFileEdit": None,
}
_OPENCODE_EVENTS: dict[str, EventKind | None] = {
    "session.created": EventKind.SESSION_START,
    "chat.message": EventKind.PROMPT,
    "tool.execute.after": EventKind.TOOL,
    "session.compacted": EventKind.COMPACTION,
    "session.idle": EventKind.STOP,
    "session.deleted": EventKind.SESSION_END,
}


@dataclass(frozen=True)
class Family:
    """One host. ``events`` says what its events mean, ``None`` for those that are known and not kept.

    ``owns`` recognises a payload of the host's. ``sessions`` are the members that may name the session, the first
    that is there counts; ``duration`` the member that holds milliseconds. ``puts_before`` is the tag in which it hands
    what hooks said at the start on as the beginning of the first prompt, empty where it doesn't.
    """

    host: str
    events: Mapping[str, EventKind | None]
    owns: Callable[[Payload], bool]
    sessions: tuple[str, ...] = ("session_id",)
    duration: str = "duration_ms"
    puts_before: str = ""

    def name_event(self, kind: EventKind) -> str:
        """Return what the host calls the first event that means ``kind``. Raises ``StopIteration`` if none does."""
        return next(name for name, meant in self.events.items() if meant is kind)


def _name_of(payload: Payload, member: str) -> str:
    value = payload.get(member)
    return value if isinstance(value, str) else ""


def _is_gemini(payload: Payload) -> bool:
    event = _name_of(payload, "hook_event_name")
    return event in _GEMINI_EVENTS and (event not in _CLAUDE_EVENTS or "timestamp" in payload)


def _is_codex(payload: Payload) -> bool:
    transcript = _name_of(payload, "transcript_path").replace("\\", "/")
    return "turn_id" in payload or transcript.rpartition("/")[2].startswith("rollout-")


def _is_dsh(payload: Payload) -> bool:
    return _name_of(payload, "session_id").startswith("session-") and "hook_event_name" in payload


FAMILIES = (
    Family("opencode", _OPENCODE_EVENTS, lambda payload: payload.get("host") == "opencode"),
    Family(
        "cursor",
        _CURSOR_EVENTS,
        lambda payload: "cursor_version" in payload or "conversation_id" in payload,
        sessions=("conversation_id", "session_id"),
        duration="duration",
    ),
    Family("gemini", _GEMINI_EVENTS, _is_gemini, puts_before="hook_context"),
    Family("dsh", _CLAUDE_EVENTS, _is_dsh),
    Family("codex", _CLAUDE_EVENTS, _is_codex),
    Family("claude-code", _CLAUDE_EVENTS, lambda payload: "hook_event_name" in payload),
)
"""In the order in which they are asked: the last takes what looks like its own and is nobody else's."""

COMMAND_TOOLS = frozenset(
    ("bash", "shell", "exec_command", "local_shell", "run_shell_command", "run_terminal_cmd", "powershell")
)
"""Tools that run a command line, in lower case."""
COMMAND_MEMBERS = ("command", "cmd")
PATCH_TOOLS = frozenset(("apply_patch", "patch"))
"""Tools whose input is a patch that names its files."""
PATCH_MEMBERS = ("command", "input", "patch", "patchText")
FILE_TOOLS = frozenset(
    (
        *("read", "write", "edit", "multiedit", "delete", "ls", "list", "glob", "grep", "view", "view_image"),
        *("notebookread", "notebookedit", "read_image", "read_file", "write_file", "edit_file", "delete_file"),
        *("replace", "search_replace", "list_dir", "list_directory", "search_file_content", "grep_search"),
        *("afterfileedit", "strreplace", "create_file"),
    )
)
"""Tools that work on files: of no other is a member called ``path`` taken for one."""
READING_TOOLS = frozenset(
    (
        *("read", "ls", "list", "glob", "grep", "view", "view_image", "notebookread", "read_image", "read_file"),
        *("list_dir", "list_directory", "search_file_content", "grep_search"),
    )
)
"""Those that change no file."""
PATH_MEMBERS = (
    *("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "target_notebook"),
    *("relative_workspace_path", "dir_path"),
)

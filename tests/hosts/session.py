"""A conversation with the real command in a terminal of its own: wait for what it shows, then type."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.hosts.environment import Environment

MAX_SILENCE_S = 60
CODE = re.compile(r"Type ([0-9a-z]{4}) to confirm: $")
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def open_terminal(columns: int, rows: int, typed_ahead: bytes = b"") -> tuple[int, int]:
    """Return both sides of a new terminal: that of a person, and that of a program."""
    main, side = os.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.write(main, typed_ahead)
    return main, side


@dataclass
class Session:
    """One running command. ``screen`` is all that it has shown, ``seen`` how much of that was waited for."""

    process: subprocess.Popen[bytes]
    main: int
    screen: str = ""
    seen: int = 0
    typed: int = 0
    painted: bool = False
    _pending: bytes = b""

    def until(self, wanted: str) -> str:
        """Wait until the command has shown ``wanted`` behind what was waited for before; return what it showed."""
        while (at := self.screen.find(wanted, self.seen)) < 0:
            if not self._read():
                raise AssertionError(f"it ended before it showed {wanted!r}:\n{self.screen[self.seen :]}")
        end = at + len(wanted)
        shown, self.seen = self.screen[self.seen : end], end
        return shown

    def type(self, keys: str | bytes) -> None:
        """Type ``keys`` as they are."""
        self.typed += len(keys)
        os.write(self.main, keys if isinstance(keys, bytes) else keys.encode())

    def say(self, line: str, prompt: str = "> ") -> str:
        """Wait for ``prompt``, type ``line`` and Enter, and return what was shown up to the prompt."""
        shown = self.until(prompt)
        self.type(f"{line}\n")
        return shown

    def confirm(self, answer: str | None = None) -> str:
        """Wait for the code, type it (or ``answer``) and Enter; return what was shown before."""
        shown = self.until(" to confirm: ")
        code = CODE.search(self.screen[: self.seen])
        assert code is not None
        self.type(f"{code[1] if answer is None else answer}\n")
        return shown

    def resize(self, columns: int, rows: int = 40) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self) -> tuple[bool, bool]:
        """Tell whether the terminal hands out whole lines, and whether it shows what is typed."""
        flags = termios.tcgetattr(self.main)[3]
        return bool(flags & termios.ICANON), bool(flags & termios.ECHO)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal."""
        os.kill(self.process.pid, number)

    def end(self) -> int:
        """Read what is still shown and return the exit code."""
        while self._read():
            pass
        return self.process.wait(MAX_SILENCE_S)

    def rest(self) -> str:
        """Return what was shown behind what was waited for last."""
        return self.screen[self.seen :]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.main)

    def _read(self) -> bool:
        if not select.select([self.main], [], [], MAX_SILENCE_S)[0]:
            raise AssertionError(f"it said nothing for {MAX_SILENCE_S} s:\n{self.screen[self.seen :]}")
        try:
            chunk = os.read(self.main, 65536)
        except OSError:  # the other side is closed
            chunk = b""
        if not chunk:
            return False
        text = (self._pending + chunk).decode(errors="surrogateescape")
        self._pending = b""
        if text.endswith("\r"):
            text, self._pending = text[:-1], b"\r"
        self.painted = self.painted or _COLOR.search(text) is not None
        self.screen += _COLOR.sub("", text.replace("\r\n", "\n"))
        return True


@dataclass
class Sessions:
    """Starts commands in terminals, over the home of ``gitmem``."""

    environment: Environment
    running: list[Session] = field(default_factory=list)

    def __call__(
        self, *args: str, columns: int = 80, rows: int = 40, typed_ahead: bytes = b"", **variables: str
    ) -> Session:
        from hosts.driving import IN_A_TERMINAL

        main, side = open_terminal(columns, rows, typed_ahead)
        folder = self.environment.folder
        found = {"PATH": os.environ["PATH"], "HOME": folder, "GITMEM_HOME": self.environment.home, "LOGNAME": "sam"}
        process = subprocess.Popen(
            [sys.executable, "-c", IN_A_TERMINAL, *args],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=folder,
            env={**found, "TERM": "xterm", "LC_ALL": "C.UTF-8", **variables},
            start_new_session=True,
        )
        os.close(side)
        session = Session(process, main)
        self.running.append(session)
        return session


def write_editor(folder: Path, text: str) -> str:
    """Return the command of an editor that leaves ``text``; what it was given is in ``folder/given``."""
    (folder / "wanted").write_text(text)
    script = folder / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "here, note = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[-1])\n"
        "(here / 'given').write_text(note.read_text())\n"
        "note.write_text((here / 'wanted').read_text())\n"
    )
    return f"{sys.executable} {script}"

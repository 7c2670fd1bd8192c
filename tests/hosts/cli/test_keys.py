"""One key at a time, and only what was typed in answer to the screen; the terminal is left as it was found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from hosts.session import Session, open_terminal

CONTROL = """
import fcntl, signal, termios
signal.signal(signal.SIGINT, signal.default_int_handler)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
"""
PROGRAM = """
import sys, termios
from gitmem.hosts.cli.keys import Keys, EndOfKeysError
from gitmem.hosts.cli.terminal import Terminal
terminal = Terminal(sys.stdout, 0)
try:
    with Keys(terminal) as keys:
        while True:
            key = keys.read("ready> ")
            terminal.show(f"[{key!r}]")
            if key == "q":
                break
            if key == "t":
                terminal.show(f"[{keys.read_text('text> ')}]")
except EndOfKeysError:
    terminal.show("[end]")
except KeyboardInterrupt:
    terminal.show("[interrupt]")
finally:
    terminal.show(f"[{bool(termios.tcgetattr(0)[3] & termios.ICANON)}]")
"""
Start = Callable[..., Session]


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[Session] = []

    def begin(*programs: str, typed_ahead: bytes = b"") -> Session:
        main, side = open_terminal(80, 24, typed_ahead)
        command = [sys.executable, "-c", CONTROL + (programs or (PROGRAM,))[0], *programs[1:]]
        process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, start_new_session=True)
        os.close(side)
        running.append(Session(process, main))
        return running[-1]

    yield begin
    for one in running:
        one.close()


def test_each_key_counts_without_enter_and_shows_nothing_by_itself(start: Start) -> None:
    session = start()
    for key, read in (("a", "'a'"), ("\n", "'\\n'"), ("\r", "'\\n'"), ("?", "'?'"), ("é", "'é'")):
        session.until("ready> ")
        session.type(key)
        assert session.until("]\n") == f"[{read}]\n"
    session.until("ready> ")
    session.type("q")
    assert session.end() == 0
    assert session.rest() == "['q']\n[True]\n"


def test_what_was_typed_ahead_is_no_answer(start: Start) -> None:
    session = start(typed_ahead=b"aaa\nq")
    session.until("ready> ")
    session.type("b")
    assert session.until("]\n") == "['b']\n"


@pytest.mark.parametrize("typed", ["aa", "\x1b[A", "\x1b[200~a\x1b[201~", "\x1b", "\x07", "a\n"])
def test_a_paste_or_another_key_means_nothing(typed: str, start: Start) -> None:
    session = start()
    session.until("ready> ")
    session.type(typed)
    assert session.until("]\n") == "['\\x00many']\n"


def test_a_text_is_typed_as_a_line(start: Start) -> None:
    session = start()
    session.until("ready> ")
    session.type("t")
    session.until("text> ")
    session.type(" why\x7fy not \n")
    assert session.until("]\n").endswith("[why not]\n")
    session.until("ready> ")
    session.type("q")
    assert session.end() == 0


def test_another_size_asks_for_a_new_screen(start: Start) -> None:
    session = start()
    session.until("ready> ")
    session.resize(40)
    assert session.until("]\n") == "['\\x00redraw']\n"


@pytest.mark.parametrize(
    ("leave", "code", "said"),
    [
        (lambda one: one.type("\x03"), 0, "[interrupt]\n[True]\n"),
        (lambda one: one.kill(signal.SIGTERM), 143, "[True]\n"),
        (lambda one: one.kill(signal.SIGHUP), 129, "[True]\n"),
    ],
    ids=["interrupt", "SIGTERM", "SIGHUP"],
)
def test_the_terminal_is_given_back_however_it_ends(
    leave: Callable[[Session], None], code: int, said: str, start: Start
) -> None:
    session = start()
    session.until("ready> ")
    leave(session)
    assert session.end() == code
    assert session.rest().removeprefix("^C") == said


SHELL = """
import os, signal, sys, termios
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
while True:
    _pid, status = os.waitpid(child, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    os.tcsetpgrp(0, os.getpgrp())
    print(f"[stopped {bool(termios.tcgetattr(0)[3] & termios.ICANON)}]", flush=True)
    sys.stdin.readline()
    os.tcsetpgrp(0, child)
    os.kill(child, signal.SIGCONT)
"""
"""A shell with one job. It takes the terminal when the job is stopped, and gives it back after a line."""


def test_a_stop_gives_the_terminal_back_and_goes_on_with_a_new_screen(start: Start) -> None:
    session = start(SHELL, PROGRAM)
    session.until("ready> ")
    assert session.modes() == (False, False)
    session.type("\x1a")
    session.until("[stopped True]\n")
    session.type("\n")
    assert session.until("]\n").endswith("['\\x00redraw']\n")
    session.until("ready> ")
    assert session.modes() == (False, False)
    session.type("q")
    assert session.end() == 0


def test_without_such_terminals_the_first_letter_of_a_line_counts(start: Start) -> None:
    session = start(PROGRAM.replace("from gitmem", "sys.modules['termios'] = None\nfrom gitmem", 1))
    session.until("ready> ")
    session.type("Accept\n")
    assert session.until("]\n") == "Accept\n['A']\n"
    session.until("ready> ")
    session.type("\n")
    assert session.until("]\n") == "\n['\\x00many']\n"
    session.until("ready> ")
    session.type("t\n")
    session.say("because", "text> ")
    assert session.until("]\n") == "because\n[because]\n"
    session.until("ready> ")
    session.type("\x04")
    assert session.end() == 0
    assert session.rest() == "[end]\n[True]\n"


def test_ctrl_d_ends_as_it_does_everywhere(start: Start) -> None:
    session = start()
    session.until("ready> ")
    session.type("\x04")
    assert session.end() == 0
    assert session.rest() == "[end]\n[True]\n"

"""Asking a person the questions of an onboarding, a line an answer, at any terminal that hands out lines.

What is typed while nobody asks is harmless: all of it is shown again before the code is asked for.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from gitmem.errors import GitmemError, InputError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.columns import safe_line
from gitmem.hosts.cli.editor import edit_text
from gitmem.hosts.cli.plain import count, format_error
from gitmem.hosts.cli.terminal import Terminal, read_line
from gitmem.service.onboard import Onboarding
from gitmem.text import make_visible

MAX_LINE_BYTES = 1 << 16
_COMMANDS = {
    "back": "to the question before this one",
    "drop": "N: take answer N out",
    "edit": "all answers, in your editor",
    "quit": "and keep the answers; `gitmem onboard` goes on with them",
    "help": "shows this",
}
_INTRO = """\
One line is one answer, as many as you like; Enter alone goes on to the next question.
+ before a line adds it to the text of the answer above.
:back  :drop N  :edit (all, in your editor)  :quit (what you answered is kept)  :help"""


class LeftError(Exception):
    """The person left before the end; the draft has what they answered."""


@dataclass
class Dialogue:
    """The questions put to a person at ``terminal``, one after another."""

    call: Call
    terminal: Terminal
    onboarding: Onboarding
    at: int = 0

    def run(self) -> None:
        """Ask until the person has gone through all questions. Raises ``LeftError`` where they leave."""
        self._begin()
        while True:
            while self.at < len(self.onboarding.questions):
                self._show_question()
                self._ask_question()
            number = count(len(self.onboarding.drafts), "answer")
            self.terminal.show(f"That was all: {number}. Enter shows them for you to confirm; or :back, :edit, :quit.")
            if self._finishes():
                return

    def _begin(self) -> None:
        vault, questions = self.onboarding.vault.entry, self.onboarding.questions
        resumed = "; going on with what you answered before" if self.onboarding.is_resumed else ""
        name = safe_line(vault.name)
        self.terminal.show(f"Onboarding of the vault {name!r}: {count(len(questions), 'question')}{resumed}.")
        self.terminal.show(f"Nothing is declared before you confirm it.\n{_INTRO}")

    def _show_question(self) -> None:
        question = self.onboarding.questions[self.at]
        lines = ["", f"{self.at + 1} of {len(self.onboarding.questions)}  {question.kind.value}"]
        lines += [f"  {line}" for line in make_visible(question.asks).split("\n")]
        known = [
            one.record for one in self.onboarding.declared if one.is_confirmed and one.record.kind is question.kind
        ]
        lines += ["  declared already:"] if known else []
        lines += [f"    {record.id}  {safe_line(record.title)}" for record in known]
        for number, draft in enumerate(question.answers, 1):
            lines.append(f"  {number}. {safe_line(draft.title)}")
            text = make_visible(draft.body.strip("\n"))
            lines += [f"     | {line}" for line in text.split("\n") if text]
        self.terminal.show("\n".join(lines))

    def _ask_question(self) -> None:
        at = self.at
        kind = self.onboarding.questions[at].kind.value
        while self.at == at:
            line = self._read(f"{kind}> ")
            if not line.strip():
                self.at += 1
            elif not self._obeys(line) and self.at == at:
                self._take(line.strip())

    def _finishes(self) -> bool:
        at = self.at
        while self.at == at:
            line = self._read("onboard> ")
            if not line.strip():
                return True
            if not self._obeys(line):
                self.terminal.show("Enter goes on; :back goes to the last question.")
        return False

    def _take(self, line: str) -> None:
        try:
            if line.startswith("+"):
                self.onboarding.extend(self.at, line[1:].strip())
                return
            bullet, _blank, rest = line.partition(" ")
            told = self.onboarding.add(self.at, rest if bullet in ("-", "*") and rest else line)
        except GitmemError as error:
            self._complain(error)
        else:
            self._tell(told)

    def _obeys(self, line: str) -> bool:
        """Tell whether ``line`` was a command, and do it; one that is not known is told, and no answer."""
        if not line.lstrip().startswith(":"):
            return False
        name, _blank, rest = line.strip()[1:].partition(" ")
        found = [one for one in _COMMANDS if name and one.startswith(name.lower())]
        command = found[0] if found else "help"
        if not found and name:
            self.terminal.show(f":{safe_line(name)} is no command.")
        if command == "quit":
            raise LeftError
        if command == "back":
            if self.at == 0:
                self.terminal.show("This is the first question.")
            self.at = max(0, self.at - 1)
        elif command == "drop":
            self._drop(rest)
        elif command == "edit":
            self._edit()
        else:
            self.terminal.show("\n".join(f"  :{one} {what}" for one, what in _COMMANDS.items()))
        return True

    def _drop(self, number: str) -> None:
        if self.at >= len(self.onboarding.questions):
            self.terminal.show("Go to its question first, with :back.")
            return
        if not number.strip().isdecimal():
            self.terminal.show("Say which answer by its number, as in :drop 2.")
            return
        try:
            dropped = self.onboarding.drop(self.at, int(number))
        except GitmemError as error:
            self._complain(error)
        else:
            self.terminal.show(f"  taken out: {safe_line(dropped.title)}")
            self._show_question()

    def _edit(self) -> None:
        """Let the person edit all, again and again until it can be read or they take back what they did."""
        text = self.onboarding.format()
        while True:
            try:
                text = edit_text(self.call.environment.editor, text)
                told = self.onboarding.replace(text)
            except InputError as error:
                self._complain(error)
                if error.code == "empty-text":
                    return
            except GitmemError as error:
                self._complain(error)
                if error.code == "editor-failed":
                    return
            else:
                self._tell(told)
                self.at = min(self.at, len(self.onboarding.questions) - 1)
                self._show_question()
                return
            answer = self._read("Enter opens the editor again with what you wrote; :drop leaves it, as it was before> ")
            if answer.strip().startswith(":d"):
                return

    def _read(self, prompt: str) -> str:
        self.terminal.show(prompt, ends="")
        line = read_line(self.terminal.keys, MAX_LINE_BYTES)
        if not line:
            self.terminal.show("")
            raise LeftError
        return line.decode(sys.stdin.encoding or "utf-8", "replace").rstrip("\r\n")

    def _tell(self, told: tuple[str, ...]) -> None:
        for line in told:
            self.terminal.show(f"  note: {safe_line(line)}")

    def _complain(self, error: GitmemError) -> None:
        self.terminal.show(format_error(error))

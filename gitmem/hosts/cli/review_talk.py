"""What a review says and asks at its terminal, in colours where there are some, as wide as it is."""

from __future__ import annotations

from dataclasses import dataclass

import click

from gitmem.errors import GitmemError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.keys import NOT_ONE_KEY, REDRAW, Keys
from gitmem.hosts.cli.plain import format_error
from gitmem.hosts.cli.review_screen import MIN_COLUMNS, Room

_DEFAULT_COLUMNS, _DEFAULT_ROWS = 80, 24


@dataclass(frozen=True)
class Talk:
    """The terminal of one review, and who runs it."""

    call: Call
    keys: Keys

    def say(self, text: str) -> None:
        """Show ``text``, which is fit to be shown."""
        self.keys.terminal.show(text if self.call.paints(self.keys.terminal.screen) else click.unstyle(text))

    def complain(self, error: GitmemError) -> None:
        """Show what went wrong, and what to do."""
        self.say(format_error(error))

    def ask_key(self, prompt: str) -> str:
        """Show ``prompt`` and return the one key that answers it, or ``REDRAW``. Raises ``EndOfKeysError``."""
        key = self.keys.read(prompt)
        while key == NOT_ONE_KEY:
            self.say("that is not one key: nothing was decided")
            key = self.keys.read(prompt)
        if key == REDRAW:
            self.say("")
        return key

    def ask_choice(self, prompt: str) -> str:
        """Do what ``ask_key`` does, and show the key as if it had been typed."""
        key = self.ask_key(prompt)
        self.say("" if key == REDRAW else key.strip())
        return key

    def room(self, *, whole: bool = False) -> Room:
        """Return how large the screen is now."""
        columns, rows = self.keys.size
        return Room(max(MIN_COLUMNS, columns or _DEFAULT_COLUMNS), rows or _DEFAULT_ROWS, whole)

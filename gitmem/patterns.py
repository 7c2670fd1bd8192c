"""Regular expressions that are compiled when they are first used: most processes use few of those that there are."""

from __future__ import annotations

import re

from gitmem.typed import TYPE_CHECKING

NEVER = "(?!)"
"""A pattern that matches nowhere."""

if TYPE_CHECKING:
    from typing import AnyStr

    def late(pattern: AnyStr, flags: int = 0, plain: AnyStr | None = None) -> re.Pattern[AnyStr]:
        """Return the pattern, see below."""
        raise NotImplementedError
else:
    _METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")

    def late(pattern: str | bytes, flags: int = 0, plain: str | bytes | None = None) -> object:
        """Return what does what the compiled ``pattern`` does.

        ``plain``, where it is given, finds the same in text that is ASCII, and is quicker to compile: large sets of
        other characters take long.
        """
        return _Late(pattern, flags) if plain is None else _Late2(pattern, _Late(pattern, flags), _Late(plain, flags))

    class _Late:
        def __init__(self, pattern: str | bytes, flags: int) -> None:
            self.pattern = pattern
            self._flags = flags

        def __getattr__(self, name: str) -> object:
            compiled = re.compile(self.pattern, self._flags)
            self.__dict__.update((one, getattr(compiled, one)) for one in _METHODS)
            return getattr(compiled, name)

    class _Late2:
        """One of two patterns, as the text is."""

        def __init__(self, pattern: str | bytes, whole: _Late, plain: _Late) -> None:
            self.pattern = pattern
            self._whole, self._plain = whole, plain

        def findall(self, text: str, *places: int) -> object:
            return (self._plain if text.isascii() else self._whole).findall(text, *places)

        def finditer(self, text: str, *places: int) -> object:
            return (self._plain if text.isascii() else self._whole).finditer(text, *places)

        def fullmatch(self, text: str, *places: int) -> object:
            return (self._plain if text.isascii() else self._whole).fullmatch(text, *places)

        def match(self, text: str, *places: int) -> object:
            return (self._plain if text.isascii() else self._whole).match(text, *places)

        def search(self, text: str, *places: int) -> object:
            return (self._plain if text.isascii() else self._whole).search(text, *places)

        def sub(self, by: object, text: str) -> object:
            return (self._plain if text.isascii() else self._whole).sub(by, text)

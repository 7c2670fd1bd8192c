"""The words of ``typing`` that gitmem uses, for a process that starts in no time. ADR 0035.

A type checker sees the standard module itself. At run time its import takes longer than a hook may take in all, and
almost every one of its words is for type checkers alone.
"""

from __future__ import annotations

__all__ = [
    "IO",
    "TYPE_CHECKING",
    "Any",
    "BinaryIO",
    "ClassVar",
    "Generic",
    "Literal",
    "NamedTuple",
    "NewType",
    "NoReturn",
    "Protocol",
    "Self",
    "TextIO",
    "TypeVar",
    "cast",
]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import (
        IO,
        Any,
        BinaryIO,
        ClassVar,
        Generic,
        Literal,
        NamedTuple,
        NewType,
        NoReturn,
        Protocol,
        Self,
        TextIO,
        TypeVar,
        cast,
    )
else:
    from collections import namedtuple

    Any = object

    class _Word:
        def __class_getitem__(cls, _item: object) -> type:
            return cls

    class Generic(_Word):
        """A class that is of other types; only type checkers look."""

    class Protocol(_Word):
        """What a value must be able to do; only type checkers look."""

    BinaryIO = ClassVar = IO = Literal = NoReturn = Self = TextIO = _Word

    def TypeVar(name: str, *_bounds: object, **_settings: object) -> str:  # noqa: N802 - as typing calls it
        """Return what stands for any type."""
        return name

    def cast(_kind: object, value: object) -> object:
        """Return ``value``."""
        return value

    class NewType:
        """A type of its own to type checkers; calling it gives back the value."""

        def __init__(self, name: str, base: object) -> None:
            self.__name__ = name
            self.__supertype__ = base

        def __call__(self, value: object) -> object:
            """Return ``value``."""
            return value

        def __or__(self, _other: object) -> NewType:
            return self

        __ror__ = __or__

    class _Maker(type):
        """Makes a tuple class of what is written as a class of ``NamedTuple``."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, object]) -> type:
            if not bases:
                return type.__new__(cls, name, bases, space)
            names = list(type(name, (), dict(space)).__annotations__)
            defaults = [space[one] for one in names if one in space]
            made = namedtuple(name, names, defaults=defaults, module=space["__module__"])  # noqa: PYI024
            for key in space.keys() - {*names, "__annotations__", "__module__", "__qualname__"}:
                setattr(made, key, space[key])
            return made

    class NamedTuple(metaclass=_Maker):
        """A tuple whose places have names, and perhaps defaults."""

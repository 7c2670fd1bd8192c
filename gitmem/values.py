"""Classes of values, as ``dataclasses`` makes them, for a process that starts in no time. ADR 0035.

A type checker sees the standard module itself. At run time that would import ``inspect``, and write, compile and run
the source of six methods for each class, which took a third of a whole recall. What is made here behaves the same as
far as gitmem uses it: no class of values is based on another, and every field is an argument. To others these classes
are dataclasses: ``dataclasses.fields``, ``asdict``, ``replace`` and ``inspect.signature`` take them.
"""

from __future__ import annotations

from gitmem.typed import TYPE_CHECKING

__all__ = ["dataclass", "field", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    from operator import attrgetter

    _ABSENT = object()

    class _Field:
        """What a field is where it is not given, and whether ``repr`` shows it."""

        def __init__(self, default: object, factory: object, *, is_shown: bool) -> None:
            self.default, self.factory, self.is_shown = default, factory, is_shown

    def field(*, default: object = _ABSENT, default_factory: object = _ABSENT, repr: bool = True) -> _Field:  # noqa: A002
        """Do what ``dataclasses.field`` does."""
        return _Field(default, default_factory, is_shown=repr)

    def replace(value: object, /, **changes: object) -> object:
        """Do what ``dataclasses.replace`` does."""
        return type(value)(**{name: getattr(value, name) for name in type(value).__match_args__} | changes)

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False) -> object:  # noqa: ARG001
        """Do what ``dataclasses.dataclass`` does; ``slots`` is for type checkers, which then know all attributes."""
        if cls is None:
            return lambda given: _make(given, frozen)
        return _make(cls, frozen)

    def _make(cls: type, is_frozen: bool) -> type:  # noqa: FBT001
        fields = {name: cls.__dict__.get(name, _ABSENT) for name in cls.__annotations__}
        fields = {
            name: one if isinstance(one, _Field) else _Field(one, _ABSENT, is_shown=True)
            for name, one in fields.items()
        }
        names = tuple(fields)
        for name, one in fields.items():
            if one.default is not _ABSENT:
                setattr(cls, name, one.default)
            elif name in cls.__dict__:
                delattr(cls, name)
        get = attrgetter(*names) if names else lambda _value: ()
        methods = {
            "__init__": _make_init(cls.__qualname__, fields),
            "__repr__": _make_repr([name for name, one in fields.items() if one.is_shown]),
            "__eq__": _make_eq(get),
            "__match_args__": names,
        }
        if is_frozen:
            methods |= {"__hash__": lambda self: hash(get(self)), "__setattr__": _refuse, "__delattr__": _refuse}
        elif "__eq__" not in cls.__dict__ and "__hash__" not in cls.__dict__:
            cls.__hash__ = None
        for name in methods.keys() - cls.__dict__.keys() | {"__init__"}:
            setattr(cls, name, methods[name])
        for name in ("__dataclass_fields__", "__dataclass_params__", "__signature__"):
            setattr(cls, name, _Late(name, cls, fields, is_frozen))
        return cls

    def _make_init(cls_name: str, fields: dict[str, _Field]) -> object:
        names, count = tuple(fields), len(fields)
        needed = [name for name, one in fields.items() if one.default is _ABSENT and one.factory is _ABSENT]
        start = {name: one.default for name, one in fields.items()}
        factories = [(name, one.factory) for name, one in fields.items() if one.factory is not _ABSENT]

        def __init__(self: object, /, *args: object, **given: object) -> None:  # noqa: N807
            made = self.__dict__
            made.update(start)  # so that all are there, in their order
            made.update(zip(names, args, strict=False))
            made.update(given)
            passed = len(args)
            if passed > count or len(made) > count or not given.keys().isdisjoint(names[:passed]):
                raise TypeError(f"{cls_name}() was given a field that it has not, or one field twice")
            if passed < len(needed) and not given.keys() >= set(needed[passed:]):
                raise TypeError(f"{cls_name}() lacks {', '.join(needed[passed:])}")
            for name, factory in factories:
                if made[name] is _ABSENT:
                    made[name] = factory()

        return __init__

    def _make_eq(get: object) -> object:
        def __eq__(self: object, other: object) -> bool:  # noqa: N807
            return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _make_repr(names: list[str]) -> object:
        def __repr__(self: object) -> str:  # noqa: N807
            shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            return f"{type(self).__qualname__}({shown})"

        return __repr__

    def _refuse(_self: object, name: str, *_value: object) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot change field {name!r}")

    class _Late:
        """What the standard module knows of a class by one ``name``, made once somebody asks for it."""

        def __init__(self, name: str, cls: type, fields: dict[str, _Field], is_frozen: bool) -> None:  # noqa: FBT001
            self._name, self._cls, self._fields, self._is_frozen = name, cls, fields, is_frozen

        def __get__(self, _value: object, _owner: type) -> object:
            import dataclasses
            import inspect

            fields = []
            for name, one in self._fields.items():
                given = {"default": one.default, "default_factory": one.factory}
                known = {key: value for key, value in given.items() if value is not _ABSENT}
                fields.append((name, self._cls.__annotations__[name], dataclasses.field(repr=one.is_shown, **known)))
            twin = dataclasses.make_dataclass(self._cls.__name__, fields, frozen=self._is_frozen)
            made = inspect.signature(twin) if self._name == "__signature__" else getattr(twin, self._name)
            setattr(self._cls, self._name, made)
            return made

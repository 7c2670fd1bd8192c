"""What stands for ``dataclasses`` and ``typing`` at run time behaves as they do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gitmem import typed, values


@values.dataclass(frozen=True)
class Shipped:
    """One of ours, known to ``pickle`` by its name."""

    name: str
    tags: tuple[str, ...] = ()
    members: dict[str, int] = values.field(default_factory=dict)
    hidden: int = values.field(default=3, repr=False)


def make(module: Any, **settings: bool) -> Any:
    @module.dataclass(**settings)
    class Sample:
        name: str
        count: int
        tags: tuple[str, ...] = ()
        members: dict[str, int] = module.field(default_factory=dict)
        hidden: int = module.field(default=3, repr=False)

        @property
        def twice(self) -> int:
            return 2 * self.count

    return Sample


def tell(work: Callable[[], object]) -> object:
    try:
        return work()
    except (TypeError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize("frozen", [True, False])
def test_a_class_of_values_behaves_as_the_standard_one(frozen: bool) -> None:
    assert describe(values, frozen) == describe(dataclasses, frozen)


def describe(module: Any, frozen: bool) -> list[object]:
    """Return all that a class made by ``module`` does."""
    sample = make(module, frozen=frozen)
    one, other = sample("a", 1), sample(count=1, name="a", members={})
    done = [
        lambda: sample("a"),
        lambda: sample(name="a"),
        lambda: sample("a", 1, (), {}, 3, 4),
        lambda: sample("a", 1, name="b"),
        lambda: sample("a", 1, other=2),
        lambda: vars(module.replace(one, count=2)),
        lambda: module.replace(one, other=2),
        lambda: hash(one),
        lambda: isinstance(hash(sample("a", 1, (), ())), int),
        lambda: setattr(one, "name", "b"),
        lambda: delattr(one, "tags"),
    ]
    return [
        repr(one),
        vars(one).copy(),
        list(vars(sample(hidden=5, count=2, name="b"))),
        (one == other, one == sample("a", 2), one == ("a", 1)),
        (one.members is other.members, one.twice, sample.tags, hasattr(sample, "members")),
        sample.__match_args__,
        *map(tell, done),
        vars(one),
        [(field.name, field.repr, field.type) for field in dataclasses.fields(sample)],
        dataclasses.asdict(other),
        vars(dataclasses.replace(other, count=3)),
        dataclasses.is_dataclass(sample),
        str(inspect.signature(sample)),
    ]


def test_equal_values_have_one_hash() -> None:
    sample = make(values, frozen=True)
    assert len({sample("a", 1, (), ()), sample("a", 1, (), ()), sample("a", 2, (), ())}) == 2


def test_values_are_copied_and_pickled() -> None:
    one = Shipped("a", ("b",), {"c": 1})
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one).members is not one.members


def test_a_frozen_value_says_so() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Shipped("a").name = "b"  # type: ignore[misc]


def test_a_method_of_the_class_itself_stays() -> None:
    @values.dataclass(frozen=True)
    class Own:
        name: str

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert (repr(Own("a")), Own("a") == 3, hash(Own("a"))) == ("mine", True, 7)


def test_a_named_tuple_behaves_as_the_standard_one() -> None:
    class Pair(typed.NamedTuple):
        """Two."""

        first: int
        second: str = "b"

        @property
        def both(self) -> str:
            return f"{self.first}{self.second}"

    assert (Pair(1), Pair(1).both, Pair(2, "c")._replace(first=3)) == ((1, "b"), "1b", (3, "c"))
    assert (repr(Pair(1)), Pair.__doc__, Pair._fields) == ("Pair(first=1, second='b')", "Two.", ("first", "second"))
    assert Pair.__module__ == __name__


def test_a_new_type_gives_back_the_value_and_stands_in_unions() -> None:
    name = typed.NewType("name", str)
    value = "a"
    assert name(value) is value
    assert (int | name) is not None

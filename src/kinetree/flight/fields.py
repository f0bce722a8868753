"""How the fields of flying parts are read: finite numbers, three of them, positive ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeAlias, get_origin, get_type_hints

import numpy as np

from kinetree.base.arguments import as_constant, as_finite, as_nonnegative, as_positive, as_real, as_share, read_fields
from kinetree.errors import ArgumentError, ArgumentTypeError, short

finite, positive, nonnegative = as_finite, as_positive, as_nonnegative


class ReadsFields:
    """A frozen dataclass whose annotations have the readers of its fields, such as `Annotated[float, finite]`."""

    def __post_init__(self) -> None:
        read_fields(self, **_readers(type(self)))  # type: ignore[arg-type]  # a class has a hash


@cache
def _readers(kind: type) -> dict[str, Callable[[str, Any], Any]]:
    hints = get_type_hints(kind, include_extras=True).items()
    return {name: hint.__metadata__[0] for name, hint in hints if get_origin(hint) is Annotated}


def some(name: str, value: Any, count: int | None = None) -> tuple[float, ...]:
    """Finite numbers as a tuple, `count` of them if it is given."""
    read = as_real(name, value, "an array of shape (n,)") if count is None else as_constant(name, value, (count,))
    if read.ndim != 1 or not np.isfinite(read).all():
        raise ArgumentError(f"{name} is {short(value)}; expected {count or 'some'} finite numbers")
    return tuple(read.tolist())


def numbers(count: int) -> Callable[[str, Any], tuple[float, ...]]:
    """A reader of so many finite numbers."""
    return lambda name, value: some(name, value, count)


def kind_of(kind: type, example: str) -> Callable[[str, Any], Any]:
    """A reader of objects of a class, or of anything that has the methods of a protocol."""

    def read(name: str, value: Any) -> Any:
        if isinstance(value, type) or not isinstance(value, kind):
            raise ArgumentTypeError(f"{name} is {short(value)}; expected such as kt.flight.{example}")
        return value

    return read


def turn(name: str, value: Any) -> int:
    """A sense of rotation: 1 counter-clockwise about the axis, -1 clockwise."""
    if isinstance(value, bool) or value not in (1, -1):
        raise ArgumentError(f"{name} is {short(value)}; expected 1, counter-clockwise about the axis, or -1")
    return int(value)


def text(name: str, value: Any) -> str:
    """A name."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected a name")
    return value


Finite: TypeAlias = Annotated[float, as_finite]
Positive: TypeAlias = Annotated[float, as_positive]
Nonnegative: TypeAlias = Annotated[float, as_nonnegative]
Fraction: TypeAlias = Annotated[float, as_share]
Three: TypeAlias = Annotated[Any, numbers(3)]
Text: TypeAlias = Annotated[str, text]
Turn: TypeAlias = Annotated[int, turn]

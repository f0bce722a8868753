"""Checks of arguments: array-likes become arrays of floats of the expected shape; anything else raises one sentence."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from kinetree.base.precision import FLOAT64
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array, is_registered

UNIT_TOLERANCE = 1e-6
"""The largest difference from 1 of the squared norm of a quaternion, or of a cosine and sine."""


def as_floats(name: str, value: object, core: tuple[int, ...], dtype: np.dtype[Any] = FLOAT64) -> Array:
    """`value` as numbers of this dtype, of shape (…, *core)."""
    if type(value) is np.ndarray and value.dtype is dtype and value.shape[-1:] == core:
        return value  # the common case
    array = as_real(name, value, f"an array of shape {_shape_words(core)}", dtype)
    if array.shape[array.ndim - len(core) :] != core or array.ndim < len(core):
        raise ArgumentError(f"{name} has shape {array.shape}; expected {_shape_words(core)}{_hint(array, core)}")
    return array


def as_constant(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """`value` as float64 of exactly this shape, without batch axes."""
    if type(value) is np.ndarray and value.dtype is FLOAT64 and value.shape == shape:
        return value  # the common case
    array = as_real(name, value, f"an array of shape {shape}")
    if array.shape != shape:
        raise ArgumentError(f"{name} has shape {array.shape}; expected {shape}")
    return array


def as_number(name: str, value: object) -> float:
    """`value` as a float; strings, booleans and lists are not numbers."""
    if type(value) is float:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ArgumentError(f"{name} is {short(value)}; expected a number that a float can hold") from None


def as_numbers(name: str, value: object) -> float | tuple[float, ...]:
    """`value` as a float; a sequence as a tuple of floats, unless it has only one."""
    if not isinstance(value, (list, tuple)) and not (isinstance(value, np.ndarray) and value.ndim > 0):
        return as_number(name, value)
    numbers = tuple(as_number(name, number) for number in value)
    return numbers[0] if len(numbers) == 1 else numbers


def as_flag(name: str, value: object) -> bool:
    """`value` as a bool, if it is True or False: a string such as "no" would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected True or False")
    return bool(value)


def as_listed(name: str, value: Any, kind: type | tuple[type, ...], example: str) -> tuple[Any, ...]:
    """`value` as a tuple: one object of a class, or an iterable of them."""
    listed = (
        tuple(value)
        if isinstance(value, Iterable)
        and not isinstance(value, kind | type if isinstance(kind, type) else (*kind, type))
        else (value,)
    )
    for item in listed:
        if not isinstance(item, kind):
            raise ArgumentTypeError(f"{name} has {short(item)}; expected for example {example}, or a list of them")
    return listed


def as_real(name: str, value: object, expected: str, dtype: np.dtype[Any] = FLOAT64) -> Array:
    """`value` as numbers of this dtype, of any shape; `expected` completes the sentence of the error."""
    if value is None or isinstance(value, (str, bytes)) or _is_masked(value):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected {expected}")
    try:
        array = np.asarray(value)
    except Exception as problem:  # an object's own __array__ may raise anything
        if isinstance(value, (list, tuple)) and isinstance(problem, ValueError):
            raise ArgumentError(f"{name} has rows of different lengths; expected {expected}") from None
        raise ArgumentTypeError(f"{name} cannot be read as {expected}: {problem}") from problem
    if array.dtype == object and array.ndim == 0:
        raise ArgumentTypeError(f"{name} is {short(value)}; expected {expected}")
    if array.dtype == object and any(map(is_registered, array.flat)):
        raise ArgumentTypeError(
            f"{name} holds traced values; expected numbers: this cannot be part of a compiled function, nor can "
            "solvers, searches and rollouts; call it outside, and pass its result to the function as an argument"
        )
    if array.dtype.kind not in "fiu":
        raise ArgumentTypeError(f"{name} has elements of type {array.dtype}; expected real numbers")
    try:
        with np.errstate(over="ignore" if dtype is FLOAT64 else "raise", under="ignore"):
            return array.astype(dtype, copy=False)
    except FloatingPointError:
        raise ArgumentError(f"{name} has a number that {dtype} cannot hold; expected numbers below 3.4e38") from None


def _is_masked(value: object) -> bool:
    """Whether it is a masked array. `numpy.ma` is slow to import: if nobody has imported it, there are none."""
    ma = sys.modules.get("numpy.ma")
    return ma is not None and isinstance(value, ma.MaskedArray)


def as_output(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any] = FLOAT64) -> Array:
    """`out`, if results of this shape can be written to it."""
    is_array = issubclass(type(out), np.ndarray)  # isinstance would trust a fake __class__
    if not is_array or out.dtype != dtype:
        kind = f"an array of {out.dtype}" if is_array else short(out)
        raise ArgumentTypeError(f"out is {kind}; expected an array of {dtype}")
    if out.shape != shape:
        raise ArgumentError(f"out has shape {out.shape}; expected {shape}")
    if not out.flags.writeable:
        raise ArgumentError("out is read-only; expected a writeable array")
    return out


def as_shape(name: str, value: object) -> tuple[int, ...]:
    """An int or a sequence of ints as the shape of an array."""
    try:
        shape = tuple(map(operator.index, value if isinstance(value, Iterable) else (value,)))
    except TypeError:
        shape = (-1,)
    if any(n < 0 for n in shape):
        raise ArgumentError(f"{name} is {short(value)}; expected a count or a tuple of counts")
    return shape


def as_count(name: str, value: object, least: int = 0) -> int:
    """An int of zero or more, or of `least` or more."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise ArgumentError(f"{name} is {short(value)}; expected a count")
    if value < least:
        raise ArgumentError(f"{name} is {value}; expected at least {least}")
    return int(value)


def as_generator(name: str, value: object) -> np.random.Generator:
    """A numpy Generator, or a new one from a seed of zero or more."""
    if isinstance(value, np.random.Generator):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return np.random.default_rng(int(value))
    raise ArgumentTypeError(f"{name} is {short(value)}; expected a numpy Generator or a seed")


def number_that(holds: Callable[[float], bool], expected: str) -> Callable[[str, object], float]:
    """A reader of numbers with this property, which is called with name and value."""

    def read(name: str, value: object) -> float:
        number = as_number(name, value)
        if not holds(number):
            raise ArgumentError(f"{name} is {number:g}; expected {expected}")
        return number

    return read


def positive(expected: str = "a positive number") -> Callable[[str, object], float]:
    """A reader of finite numbers above zero."""
    return number_that(lambda x: 0.0 < x < math.inf, expected)


as_finite = number_that(math.isfinite, "a finite number")
as_positive = positive()
as_nonnegative = number_that(lambda x: 0.0 <= x < math.inf, "zero or more, and finite")
as_share = number_that(lambda x: 0.0 <= x <= 1.0, "a number from 0 to 1")


def as_triple(name: str, value: object) -> tuple[float, ...]:
    """Three finite numbers."""
    vector = as_constant(name, value, (3,))
    if not np.isfinite(vector).all():
        raise ArgumentError(f"{name} is {short(value)}; expected three finite numbers")
    return tuple(vector.tolist())


def as_direction(name: str, value: object) -> tuple[float, ...]:
    """A vector that is not zero, made a unit one."""
    vector = as_constant(name, value, (3,))
    length = float(np.linalg.norm(vector))
    if not 0.0 < length < math.inf:
        raise ArgumentError(f"{name} is {short(value)}; expected a direction")
    return tuple((vector / length).tolist())


def optional(read: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """The reader, which leaves None as it is."""
    return lambda name, value: None if value is None else read(name, value)


def read_fields(instance: object, **readers: Callable[[str, Any], Any]) -> None:
    """Replaces fields of a frozen dataclass by what their readers make of them, each called with name and value."""
    for name, read in readers.items():
        object.__setattr__(instance, name, read(name, getattr(instance, name)))


def batch_shape(arguments: Mapping[str, tuple[Array, tuple[int, ...]]]) -> tuple[int, ...]:
    """The common leading axes of the arguments, given as name → (array, core shape)."""
    shapes = [array.shape[: array.ndim - len(core)] for array, core in arguments.values()]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0] if shapes else ()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in zip(arguments, shapes, strict=True))
        raise ArgumentError(f"the batch axes do not broadcast: {listed}") from None


def check_quaternions(name: str, q: Array, quaternions: Iterable[slice], order: str = "xyzw") -> None:
    """Raise for the first quaternion that is not of unit length."""
    for part in quaternions:
        entries = f"entries {part.start} to {part.stop - 1}, {order}"
        _check_unit(name, q, part, f"a quaternion ({entries})", "a unit quaternion")


def check_circles(name: str, q: Array, circles: Iterable[slice]) -> None:
    """Raise for the first pair (cos θ, sin θ) that is not on the unit circle."""
    for part in circles:
        entries = f"entries {part.start} and {part.stop - 1}"
        _check_unit(name, q, part, f"a cosine and sine ({entries})", "cos² + sin² = 1")


def _check_unit(name: str, q: Array, part: slice, what: str, expected: str) -> None:
    """Raise where |‖x‖² - 1| of this part of q is above the tolerance; NaN passes and shows in the result."""
    with np.errstate(over="ignore"):
        squared = np.einsum("...i,...i->...", q[..., part], q[..., part])
    wrong = np.argwhere(np.abs(squared - 1.0) > UNIT_TOLERANCE)
    if len(wrong):
        index = tuple(int(i) for i in wrong[0])
        where = f"{name}[{', '.join(map(str, index))}]" if index else name
        raise ArgumentError(f"{where} has {what} of norm {np.sqrt(squared[index]):.6g}; expected {expected}")


def _shape_words(core: Sequence[int]) -> str:
    return f"(…, {', '.join(map(str, core))})" if core else "(…)"


def _hint(array: Array, core: tuple[int, ...]) -> str:
    if len(core) == 1 and array.ndim == 2 and array.shape[0] == core[0]:
        return " (is it transposed?)"
    return ""


def if_given(**values: Any) -> dict[str, Any]:
    """Arguments by name without those that are None, for calls that need not know them."""
    return {name: value for name, value in values.items() if value is not None}

"""Reading arguments: anything array-like becomes float64 with the right last axis, or one clear sentence."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array


def as_floats(name: str, value: object, core: tuple[int, ...]) -> Array:
    """`value` as float64 of shape (…, *core)."""
    expected = f"an array of shape {_shape_words(core)}"
    if value is None or isinstance(value, (str, bytes, np.ma.MaskedArray)):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected {expected}")
    try:
        array = np.asarray(value)
    except ValueError:
        raise ArgumentError(f"{name} has rows of different lengths; expected {expected}") from None
    if array.dtype.kind not in "fiu":
        raise ArgumentTypeError(f"{name} has elements of type {array.dtype}; expected real numbers")
    if array.shape[array.ndim - len(core) :] != core or array.ndim < len(core):
        raise ArgumentError(f"{name} has shape {array.shape}; expected {_shape_words(core)}{_hint(array, core)}")
    return array.astype(np.float64, copy=False)


def as_output(out: object, shape: tuple[int, ...]) -> Array:
    """`out`, if results of this shape can be written to it."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        kind = f"an array of {out.dtype}" if isinstance(out, np.ndarray) else short(out)
        raise ArgumentTypeError(f"out is {kind}; expected an array of float64")
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


def batch_shape(arguments: Mapping[str, tuple[Array, tuple[int, ...]]]) -> tuple[int, ...]:
    """The common leading axes of the arguments, given as name → (array, core shape)."""
    leading = {name: array.shape[: array.ndim - len(core)] for name, (array, core) in arguments.items()}
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ArgumentError(f"the batch axes do not broadcast: {listed}") from None


def map_rows(function: Callable[..., Any], arguments: Mapping[str, tuple[Array, tuple[int, ...]]]) -> list[Any]:
    """`function` of every state of a batch, in C order of the batch axes."""
    batch = batch_shape(arguments)
    count = int(np.prod(batch))
    columns = [np.broadcast_to(a, batch + core).reshape((count, *core)) for a, core in arguments.values()]
    return [function(*(column[k] for column in columns)) for k in range(count)]


def check_quaternions(name: str, q: Array, quaternions: Iterable[slice], tolerance: float = 1e-6) -> None:
    """Raises for the first quaternion with |‖q‖² - 1| above the tolerance; NaN passes, to show in the result."""
    for part in quaternions:
        squared = np.sum(q[..., part] ** 2, axis=-1)
        wrong = np.argwhere(np.abs(squared - 1.0) > tolerance)
        if len(wrong):
            index = tuple(int(i) for i in wrong[0])
            where = f"{name}[{', '.join(map(str, index))}]" if index else name
            raise ArgumentError(
                f"{where} has a quaternion (entries {part.start} to {part.stop - 1}, xyzw) of norm "
                f"{np.sqrt(squared[index]):.6g}; expected a unit quaternion"
            )


def _shape_words(core: Sequence[int]) -> str:
    return f"(…, {', '.join(map(str, core))})" if core else "(…)"


def _hint(array: Array, core: tuple[int, ...]) -> str:
    if len(core) == 1 and array.ndim == 2 and array.shape[0] == core[0]:
        return " (is it transposed?)"
    return ""

"""Reading the parts of spatial values: arrays of numbers or of traced scalars pass at once, lists are converted.

Motions, forces and transforms may have leading axes, which broadcast; inertias are of one body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.base.arguments import as_constant, as_floats, as_number
from kinetree.errors import ArgumentError
from kinetree.ops import Array, is_registered, is_scalar_array


def are_vectors(a: Any, b: Any) -> bool:
    """Whether both are arrays of three numbers or traced scalars, as all that algorithms make are."""
    return (
        type(a) is np.ndarray
        and type(b) is np.ndarray
        and a.shape == b.shape == (3,)
        and a.dtype.char in "dO"
        and b.dtype.char in "dO"
    )


def operand(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """`value` as an array of this shape, of real or complex numbers or of traced scalars."""
    if type(value) is np.ndarray and value.shape == shape and value.dtype.char in "dO":
        return value
    if _holds_traced(value):
        value = np.array(value)
    if isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind in "cO":
        return value
    return as_constant(name, value, shape)


def operands(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """`value` as an array of this shape behind any leading axes."""
    if type(value) is np.ndarray and value.shape == shape and value.dtype.char in "dO":
        return value
    if _holds_traced(value):
        value = np.array(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "cO" and value.shape[-len(shape) :] == shape:
        return value
    return as_floats(name, value, shape)


def require_broadcast(name: str, a: Array, other: str, b: Array, of_b: int = 1) -> None:
    """Refuses vectors (…, 3) and vectors or matrices whose leading axes do not broadcast."""
    broadcast(name, a, 1, other, b, of_b)


def broadcast(name: str, a: Array, of_a: int, other: str, b: Array, of_b: int) -> tuple[Array, Array]:
    """Two parts of a spatial value with the leading axes of both, in front of `of_a` and `of_b` axes of their own."""
    axes_a, axes_b = a.shape[: a.ndim - of_a], b.shape[: b.ndim - of_b]
    if axes_a == axes_b:
        return a, b
    try:
        axes = np.broadcast_shapes(axes_a, axes_b)
    except ValueError:
        sentence = f"{name} has shape {a.shape} and {other} {b.shape}; expected leading axes that broadcast"
        raise ArgumentError(sentence) from None
    return np.broadcast_to(a, axes + a.shape[a.ndim - of_a :]), np.broadcast_to(b, axes + b.shape[b.ndim - of_b :])


def scalar(name: str, value: Any) -> Any:
    """`value` if it is a traced scalar or a complex number, otherwise as a float."""
    if type(value) is float or is_registered(value) or isinstance(value, complex):
        return value
    return as_number(name, value)


def is_scale(value: object) -> bool:
    """Whether it may scale a spatial value: a list or a vector would scale each part by another number."""
    return type(value) is float or not (
        value is None or isinstance(value, (list, tuple, str)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    )


def _holds_traced(value: Any) -> bool:
    """Whether a list, or one in it, has traced scalars, which np.asarray alone cannot tell from foreign objects."""
    if isinstance(value, (list, tuple)):
        return any(is_registered(entry) or is_scalar_array(entry) or _holds_traced(entry) for entry in value)
    return False

"""Reading the parts of spatial values: arrays of numbers or of traced scalars pass at once, lists are converted."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.arguments import as_constant, as_number
from kinetree.ops import Array, is_registered


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
    if isinstance(value, (list, tuple)) and any(map(is_registered, value)):
        value = np.array(value)
    if isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind in "cO":
        return value
    return as_constant(name, value, shape)


def scalar(name: str, value: Any) -> Any:
    """`value` if it is a traced scalar or a complex number, otherwise as a float."""
    if type(value) is float or is_registered(value) or isinstance(value, complex):
        return value
    return as_number(name, value)


def is_scale(value: object) -> bool:
    """Whether it may scale a spatial value: a list or a vector would scale each part by another number."""
    return type(value) is float or not (
        isinstance(value, (list, tuple, str)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    )

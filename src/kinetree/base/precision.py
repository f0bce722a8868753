"""The type of numbers that a formula is compiled for: float64, or float32 with half the digits.

Formulas are the same for both, except for tolerances: a matrix that float64 can divide by may be noise in float32.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, short

FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)


class _Precision(threading.local):
    dtype: np.dtype[Any] = FLOAT64


_precision = _Precision()


def tolerance(in_float64: float, in_float32: float) -> float:
    """The one of two tolerances that fits the numbers of the formula that is traced; on numbers, that of float64."""
    return in_float64 if _precision.dtype == FLOAT64 else in_float32


@contextmanager
def computing_in(dtype: np.dtype[Any]) -> Iterator[None]:
    """A context in which formulas are traced for numbers of this type."""
    before, _precision.dtype = _precision.dtype, dtype
    try:
        yield
    finally:
        _precision.dtype = before


def as_dtype(value: Any) -> np.dtype[Any]:
    """`value`, such as "float32" or np.float32, as a dtype, if robots can be computed in it."""
    try:
        dtype = None if value is None else np.dtype(value)  # NumPy takes None for float64
    except TypeError:
        dtype = None
    for known in (FLOAT64, FLOAT32):
        if dtype is not None and dtype == known:
            return known
    raise ArgumentError(f'dtype is {short(value)}; expected "float64" or "float32"')

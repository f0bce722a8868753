"""What plots are given: times, columns of numbers, names. Each is read once, with one sentence for what is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array


def as_times(t: ArrayLike) -> Array:
    """Instants, (n,) [s], at least one."""
    times = as_floats("t", t, (max(1, np.size(t)),) if np.ndim(t) else (1,))
    if times.ndim != 1:
        raise ArgumentError(f"t has shape {times.shape}; expected times, (n,)")
    if not np.isfinite(times).all():
        raise ArgumentError(f"t[{int(np.argmin(np.isfinite(times)))}] is not finite; expected times")
    return times


def as_columns(name: str, values: ArrayLike, count: int) -> Array:
    """Numbers for each of so many times, (n,) or (n, k), as (n, k)."""
    expected = f"({count},) or ({count}, k)"
    read = _array(name, values, expected)
    columns = read[:, None] if read.ndim == 1 else read
    if columns.ndim != 2 or len(columns) != count or not columns.shape[1]:
        raise ArgumentError(f"{name} has shape {read.shape}; expected {expected}")
    return columns


def as_points(points: ArrayLike) -> Array:
    """Points on the ground or in space, (k, 2) or (k, 3) [m]."""
    read = _array("points", points, "(k, 2) or (k, 3)")
    if read.ndim != 2 or read.shape[1] not in (2, 3):
        raise ArgumentError(f"points has shape {read.shape}; expected (k, 2) or (k, 3)")
    if not np.isfinite(read).all():
        raise ArgumentError("points are not finite; expected corners of a polygon")
    return read


def _array(name: str, values: ArrayLike, expected: str) -> Array:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name} is {short(values)}; expected {expected}") from None


def as_names(argument: str, names: Any) -> list[str]:
    """One name or several, as a list."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise ArgumentTypeError(f"{argument} is {short(names)}; expected names")
    return list(names)

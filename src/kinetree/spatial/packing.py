"""The order of a spatial 6-vector: the one place of the library that knows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from kinetree.errors import ArgumentError, one_of
from kinetree.ops import Array

SpatialOrder: TypeAlias = Literal["linear-first", "angular-first"]
SPATIAL_ORDERS: tuple[SpatialOrder, ...] = ("linear-first", "angular-first")
T = TypeVar("T")


def ordered(parts: Sequence[T], order: SpatialOrder) -> Sequence[T]:
    """What is given linear first, in this order."""
    return parts if _linear_first(order) else parts[::-1]


def halves(order: SpatialOrder) -> tuple[slice, slice]:
    """The entries of the linear and of the angular part of a 6-vector."""
    first, second = ordered((slice(0, 3), slice(3, 6)), order)
    return first, second


def pack(linear: Array, angular: Array, order: SpatialOrder) -> Array:
    """The 6-vector (or 6×n matrix) of a linear and an angular part (force and moment, for wrenches)."""
    for part, half in (("linear", linear), ("angular", angular)):
        if np.shape(half)[:1] != (3,):
            raise ArgumentError(f"the {part} part of a 6-vector has shape {np.shape(half)}; expected 3 entries")
    return np.concatenate(ordered((linear, angular), order))


def unpack(six: Array, order: SpatialOrder) -> tuple[Array, Array]:
    """The linear and the angular part of a 6-vector."""
    if np.shape(six)[:1] != (6,):
        raise ArgumentError(f"a 6-vector has shape {np.shape(six)}; expected 6 entries")
    return (six[:3], six[3:]) if _linear_first(order) else (six[3:], six[:3])


def pack_last(linear: Array, angular: Array, order: SpatialOrder) -> Array:
    """6-vectors along the last axis, of any number of states, from their parts (…, 3)."""
    return np.concatenate(ordered((linear, angular), order), axis=-1)


def unpack_last(sixes: Array, order: SpatialOrder) -> tuple[Array, Array]:
    """The linear and the angular parts of 6-vectors along the last axis."""
    first, second = sixes[..., :3], sixes[..., 3:]
    return (first, second) if _linear_first(order) else (second, first)


def block_matrix(ll: Array, la: Array, al: Array, aa: Array, order: SpatialOrder) -> Array:
    """Matrices between 6-vectors from their blocks, l for linear and a for angular rows and columns, (…, 6, 6)."""
    return np.block([[ll, la], [al, aa]] if _linear_first(order) else [[aa, al], [la, ll]])


def reordered(x: Array, axis: int, order: SpatialOrder, wanted: SpatialOrder) -> Array:
    """A copy of x with the 6-vectors along an axis, one or several in a row, in the wanted order."""
    if x.shape[axis] % 6:
        raise ArgumentError(f"axis {axis} has {x.shape[axis]} entries; expected a multiple of 6")
    if _linear_first(order) == _linear_first(wanted):
        return x.copy()
    halves = np.arange(x.shape[axis]).reshape(-1, 2, 3)
    return np.take(x, halves[:, ::-1].ravel(), axis=axis)


def _linear_first(order: SpatialOrder) -> bool:
    return one_of("order", order, SPATIAL_ORDERS) == "linear-first"

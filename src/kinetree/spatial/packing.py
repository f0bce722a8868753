"""The order of a spatial 6-vector: the one place of the library that knows it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from kinetree.ops import Array

SpatialOrder: TypeAlias = Literal["linear-first", "angular-first"]
SPATIAL_ORDERS: tuple[SpatialOrder, ...] = ("linear-first", "angular-first")


def pack(linear: Array, angular: Array, order: SpatialOrder) -> Array:
    """The 6-vector (or 6×n matrix) of a linear and an angular part (force and moment, for wrenches)."""
    halves = (linear, angular) if order == "linear-first" else (angular, linear)
    return np.concatenate(halves)


def unpack(six: Array, order: SpatialOrder) -> tuple[Array, Array]:
    """The linear and the angular part of a 6-vector."""
    return (six[:3], six[3:]) if order == "linear-first" else (six[3:], six[:3])

"""No motion at all: a fixed joint that was asked to stay a joint, so that its reaction can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.model.joints.joint import Joint
from kinetree.ops import Array
from kinetree.spatial import Motion, Transform


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Fixed(Joint):
    """S has no columns."""

    kind = "fixed"
    nq = 0
    nv = 0
    q_labels = ()
    urdf = "fixed"

    @property
    def turns(self) -> tuple[tuple[Array, int], ...] | None:
        return ()

    def transform(self, q: Array) -> Transform:
        return Transform.identity()

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        return ()

    def neutral(self) -> Array:
        return np.zeros(0)

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        return np.zeros((count, 0))

    def position_rates(self, q: Array) -> Array:
        return np.zeros((0, 0))

    def integrate(self, q: Array, dv: Array) -> Array:
        return np.zeros(0)

    def difference(self, q0: Array, q1: Array) -> Array:
        return np.zeros(0)

    def displacement(self, q: Array) -> Array:
        return np.zeros(0)

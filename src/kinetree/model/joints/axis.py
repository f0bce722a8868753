"""Joints along or about one axis, with one coordinate: what revolute and prismatic have in common, mimicry included."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kinetree.model.joints.joint import Joint
from kinetree.ops import Array

UNLIMITED_RANGE = 1.0
"""Half the range [m] a random coordinate without limits is drawn from."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AxisJoint(Joint, ABC):
    """A joint with a unit axis in body coordinates (the same in the joint's frame) and position ratio · q + offset.

    A joint that mimics a leader has the leader's iq and iv, and so follows it in every quantity.
    """

    axis: Array
    ratio: float = 1.0
    offset: float = 0.0
    leader: str | None = None

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    unlimited_range: ClassVar[float] = UNLIMITED_RANGE

    @property
    def owns_coordinates(self) -> bool:
        return self.leader is None

    def position(self, q: Array) -> Any:
        """The joint's own angle [rad] or displacement [m]."""
        return q[self.iq] if self.leader is None else self.ratio * q[self.iq] + self.offset

    @property
    def lever(self) -> float:
        return self.ratio

    def displacement(self, q: Array) -> Array:
        return np.array([self.position(q)])

    def neutral(self) -> Array:
        return np.zeros(1)

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        bound = self.unlimited_range
        low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * bound, -bound))
        high = np.where(np.isfinite(upper), upper, low + 2 * bound)
        step = rng.random((count, 1)) * (
            high / 2 - low / 2
        )  # in halves: the whole range may be more than a float holds
        return np.clip(low + step + step, low, high)

    def position_rates(self, q: Array) -> Array:
        return np.ones((1, 1))

    def integrate(self, q: Array, dv: Array) -> Array:
        return q[self.q_slice] + dv[self.v_slice]

    def difference(self, q0: Array, q1: Array) -> Array:
        return q1[self.q_slice] - q0[self.q_slice]

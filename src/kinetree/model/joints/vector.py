"""Joints whose positions are plain numbers with the velocities as their rates: q̇ = v."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kinetree.model.joints.joint import Joint, drawn_between
from kinetree.ops import Array

UNLIMITED_LENGTH = 1.0
"""Half the range [m] a random displacement without limits is drawn from."""
UNLIMITED_ANGLE = np.pi
"""Half the range [rad] a random angle without limits is drawn from."""


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorJoint(Joint, ABC):
    """A joint with nq = nv: its configurations are added and subtracted."""

    unlimited_range: ClassVar[tuple[float, ...]]
    """For each coordinate, half the range it is drawn from where it has no limits."""

    @property
    def rated(self) -> tuple[tuple[int, int], ...]:
        return tuple((self.iq + k, self.iv + k) for k in range(self.nq))

    def neutral(self) -> Array:
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        return drawn_between(rng, lower, upper, np.array(self.unlimited_range), count)

    def position_rates(self, q: Array) -> Array:
        return np.eye(self.nq)

    def integrate(self, q: Array, dv: Array) -> Array:
        return q[self.q_slice] + dv[self.v_slice]

    def difference(self, q0: Array, q1: Array) -> Array:
        return q1[self.q_slice] - q0[self.q_slice]

    def displacement(self, q: Array) -> Array:
        return q[self.q_slice] - self.dynamics.rest

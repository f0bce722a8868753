"""Joints whose positions are plain numbers with the velocities as their rates: q̇ = v."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

import numpy as np

from kinetree.model.joints.joint import Joint, drawn_between
from kinetree.ops import Array

UNLIMITED_LENGTH = 1.0
"""Half the range [m] a random displacement without limits is drawn from."""
UNLIMITED_ANGLE = np.pi
"""Half the range [rad] a random angle without limits is drawn from."""
UNLIMITED = {"m": UNLIMITED_LENGTH, "rad": UNLIMITED_ANGLE}


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorJoint(Joint, ABC):
    """A joint with nq = nv: its configurations are added and subtracted."""

    has_limits = True

    @property
    def rated(self) -> tuple[tuple[int, int], ...]:
        return tuple((self.iq + k, self.iv + k) for k in range(self.nq))

    def neutral(self) -> Array:
        return np.zeros(self.nq)

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        return drawn_between(rng, lower, upper, np.array([UNLIMITED[unit] for _, unit in self.q_labels]), count)

    def position_rates(self, q: Array) -> Array:
        return np.eye(self.nq)

    def integrate(self, q: Array, dv: Array) -> Array:
        return q[self.q_slice] + dv[self.v_slice]

    def difference(self, q0: Array, q1: Array) -> Array:
        return q1[self.q_slice] - q0[self.q_slice]

    def displacement(self, q: Array) -> Array:
        return q[self.q_slice] - self.dynamics.rest

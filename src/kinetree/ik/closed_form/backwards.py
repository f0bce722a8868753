"""An arm solved from the hand to the base: (E1 … E6)⁻¹ = E6⁻¹ … E1⁻¹."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.ik.closed_form.parallel import ParallelAxes
from kinetree.ik.closed_form.spherical import SphericalWrist
from kinetree.ops import Array


@dataclass(frozen=True, eq=False)
class Backwards:
    """The closed form of an arm whose lines are given from the last to the first, with directions turned round."""

    arm: SphericalWrist | ParallelAxes

    def branches(self, R: Array, p: Array) -> Array:
        """All eight q, (8, 6)."""
        return self.arm.branches(R.T, -(R.T @ p))[:, ::-1]

    def shortfall(self, R: Array, p: Array) -> float:
        """The distance by which a position is out of reach [m]."""
        return self.arm.shortfall(R.T, -(R.T @ p))

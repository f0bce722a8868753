"""The table of parameterisations: numbers χ for a position or a rotation, and how they change with time.

For positions, v = E_P(χ) χ̇ is the velocity of the point; for rotations, ω = E_R(χ) χ̇ is the angular velocity in world
axes. Their inverses give χ̇, where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kinetree.base.precision import tolerance
from kinetree.ops import Array, array, cross, less, skew
from kinetree.spatial import angle_axis, coordinates, euler, rotation_vector
from kinetree.spatial.rotation import matrix_from_quaternion, quaternion_from_matrix

SINGULAR = 1e-8
"""Rates of parameters are refused where they would be larger than the velocity by more than the inverse of this."""


@dataclass(frozen=True, eq=False)
class Parameterization:
    """One way to write a position (3 numbers) or a rotation (a 3×3 matrix) as parameters χ."""

    size: int
    value: Callable[[Array], Array]
    """The position or the matrix of χ."""
    parameters: Callable[[Array], Array]
    """χ of a position or a matrix."""
    E: Callable[[Array], Array]
    E_rate: Callable[[Array, Array], Array]
    inverse: Callable[[Array], Array]
    inverse_rate: Callable[[Array, Array], Array] | None = None
    """None if E is square: then it is -E⁻¹ Ė E⁻¹."""
    margin: Callable[[Array], Any] | None = None
    """The distance of χ from where E has no inverse; None if it always has one."""
    singularity: str = ""
    """The place where E has no inverse, in words."""

    def E_inverse_rate(self, chi: Array, rates: Array) -> Array:
        """d/dt of E⁻¹."""
        if self.inverse_rate is not None:
            return self.inverse_rate(chi, rates)
        inverse = self.inverse(chi)
        return -(inverse @ self.E_rate(chi, rates) @ inverse)

    def is_singular(self, chi: Array) -> Any:
        """Whether E has no inverse here."""
        return False if self.margin is None else less(self.margin(chi), tolerance(SINGULAR, 1e-4))


def quaternion_rates(xyzw: Array) -> Array:
    """E_R = 2 H(ξ), (3, 4)."""
    return H(xyzw) * 2.0


def quaternion_rates_inverse(xyzw: Array) -> Array:
    """E_R⁻¹ = ½ H(ξ)ᵀ, (4, 3)."""
    return H(xyzw).T * 0.5


def H(xyzw: Array) -> Array:
    """H(ξ), (3, 4), its columns in the order x, y, z, w; with the scalar first its last column would be the first."""
    x, y, z, w = xyzw
    return array([[w, -z, y, -x], [z, w, -x, -y], [-y, x, w, -z]])


def matrix_rates(nine: Array) -> Array:
    """E_R with ω = E_R d(R, row by row)/dt, (3, 9): ω = ½ Σ r × ṙ over the columns r of R."""
    rows = [skew(column) * 0.5 for column in nine.reshape(3, 3).T]
    return np.stack(rows, axis=2).reshape(3, 9)


def matrix_rates_inverse(nine: Array) -> Array:
    """The rate of R, row by row, of a unit angular velocity along each axis: [e]× R, (9, 3)."""
    R = nine.reshape(3, 3)
    columns = [[cross(axis, column) for column in R.T] for axis in np.eye(3)]
    return np.transpose(np.array(columns), (2, 1, 0)).reshape(9, 3)


def _euler(sequence: str) -> Parameterization:
    return Parameterization(
        size=3,
        value=partial(euler.matrix_from_euler, sequence=sequence),
        parameters=lambda R: euler.euler_from_quaternion(quaternion_from_matrix(R), sequence),
        E=partial(euler.euler_axes, sequence=sequence),
        E_rate=partial(euler.euler_axes_rate, sequence=sequence),
        inverse=partial(euler.euler_axes_inverse, sequence=sequence),
        margin=partial(euler.euler_lock, sequence=sequence),
        singularity="the first and the last axis are parallel",
    )


ROTATIONS: dict[str, Parameterization] = {
    "matrix": Parameterization(
        size=9,
        value=lambda nine: nine.reshape(3, 3),
        parameters=lambda R: R.reshape(9),
        E=matrix_rates,
        E_rate=lambda nine, rates: matrix_rates(rates),
        inverse=matrix_rates_inverse,
        inverse_rate=lambda nine, rates: matrix_rates_inverse(rates),
    ),
    "quaternion": Parameterization(
        size=4,
        value=matrix_from_quaternion,
        parameters=quaternion_from_matrix,
        E=quaternion_rates,
        E_rate=lambda xyzw, rates: quaternion_rates(rates),
        inverse=quaternion_rates_inverse,
        inverse_rate=lambda xyzw, rates: quaternion_rates_inverse(rates),
    ),
    "angle-axis": Parameterization(
        size=4,
        value=angle_axis.matrix_from_angle_axis,
        parameters=lambda R: angle_axis.angle_axis_from_quaternion(quaternion_from_matrix(R)),
        E=angle_axis.angle_axis_rates,
        E_rate=angle_axis.angle_axis_rates_rate,
        inverse=angle_axis.angle_axis_rates_inverse,
        inverse_rate=angle_axis.angle_axis_rates_inverse_rate,
        margin=angle_axis.no_axis,
        singularity="a rotation by nothing or a whole turn has no axis",
    ),
    "rotation-vector": Parameterization(
        size=3,
        value=rotation_vector.matrix_from_rotation_vector,
        parameters=rotation_vector.rotation_vector_from_matrix,
        E=rotation_vector.rotation_vector_rates,
        E_rate=rotation_vector.rotation_vector_rates_rate,
        inverse=rotation_vector.rotation_vector_rates_inverse,
        margin=rotation_vector.whole_turn,
        singularity="its length is that of a whole turn",
    ),
    **{sequence: _euler(sequence) for sequence in euler.SEQUENCES},
}

POSITIONS: dict[str, Parameterization] = {
    "cartesian": Parameterization(
        size=3,
        value=lambda xyz: xyz,
        parameters=lambda xyz: xyz,
        E=lambda xyz: np.eye(3),
        E_rate=lambda xyz, rates: np.zeros((3, 3)),
        inverse=lambda xyz: np.eye(3),
        inverse_rate=lambda xyz, rates: np.zeros((3, 3)),
    ),
    "cylindrical": Parameterization(
        size=3,
        value=coordinates.cartesian_from_cylindrical,
        parameters=coordinates.cylindrical_from_cartesian,
        E=coordinates.cylindrical_rates,
        E_rate=coordinates.cylindrical_rates_rate,
        inverse=coordinates.cylindrical_rates_inverse,
        margin=coordinates.distance_from_origin_axis,
        singularity="on the z-axis there is no angle",
    ),
    "spherical": Parameterization(
        size=3,
        value=coordinates.cartesian_from_spherical,
        parameters=coordinates.spherical_from_cartesian,
        E=coordinates.spherical_rates,
        E_rate=coordinates.spherical_rates_rate,
        inverse=coordinates.spherical_rates_inverse,
        margin=coordinates.distance_from_polar_axis,
        singularity="on the z-axis there is no angle about it",
    ),
}

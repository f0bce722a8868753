"""Which combinations of inertial parameters the motion of a robot depends on.

The columns of the regressor Y in τ = Y φ are not independent: no motion of an arm tells the mass of its base, and some
parameters matter only in sums. With independent columns Y_b and the others Y_d = Y_b K,

    τ = Y_b (φ_b + K φ_d)

so that φ_b + K φ_d are the base parameters, the most that measurements of q and τ can identify (Gautier 1991).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.base.arguments import as_count, as_generator, as_number
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot

TOLERANCE = 1e-9
"""Relative to its own length, what must be left of a column that the columns before it do not span."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The independent columns of a robot's regressor, and the map from all parameters to base parameters."""

    names: tuple[str, ...]
    """Of all parameters, in the order of φ."""
    independent: Array
    """Indices of the columns that are kept."""
    matrix: Array
    """B with base parameters B φ, (base parameters, parameters)."""

    def __len__(self) -> int:
        return len(self.independent)

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """Parameters that no motion depends on."""
        return tuple(name for name, column in zip(self.names, self.matrix.T, strict=True) if not column.any())

    def of(self, phi: Array) -> Array:
        """The base parameters of a vector of all parameters, such as `robot.parameters`."""
        return self.matrix @ phi

    def columns(self, Y: Array) -> Array:
        """Y_b of a regressor, (…, rows, base parameters)."""
        return Y[..., self.independent]

    def describe(self, digits: int = 4) -> list[str]:
        """Each base parameter as a sum, such as "link2.Izz + 0.16 link3.mass"."""
        sums = []
        for row, first in zip(self.matrix, self.independent, strict=True):
            terms = [self.names[first]]
            for j in np.flatnonzero(row):
                size = "" if abs(row[j]) == 1.0 else f"{abs(row[j]):.{digits}g} "
                terms += [f"{'+' if row[j] > 0 else '-'} {size}{self.names[j]}"] if j != first else []
            sums.append(" ".join(terms))
        return sums


def base_parameters(
    robot: Robot, states: int = 0, rng: np.random.Generator | int = 0, tolerance: float = TOLERANCE
) -> BaseParameters:
    """The base parameters of a robot, from its regressor at random states (enough of them unless `states` is given)."""
    robot = as_robot(robot)
    if robot.nv == 0:
        raise ArgumentError(f"{robot.name!r} has no joint that moves, so nothing depends on its parameters")
    generator, limit = as_generator("rng", rng), as_number("tolerance", tolerance)
    size = len(robot.parameters)
    count = as_count("states", states) or 2 * -(-size // robot.nv) + 10
    q = robot.random(generator, count)
    v, a = generator.normal(size=(2, count, robot.nv))
    Y = robot.regressor(q, v, a).reshape(-1, size)
    return independent_columns(robot.parameter_names, Y, limit)


def independent_columns(names: tuple[str, ...], Y: Array, tolerance: float = TOLERANCE) -> BaseParameters:
    """The base parameters of a regressor at many states, (rows, parameters), which span all that others could."""
    independent = _independent(Y, tolerance)
    K = np.linalg.lstsq(Y[:, independent], Y, rcond=None)[0] if len(independent) else np.zeros((0, len(names)))
    K[np.abs(K) < 1e-9 * max(1.0, np.abs(K).max(initial=0.0))] = 0.0
    nearest = np.round(K)
    K = np.where(np.abs(K - nearest) < 1e-9, nearest, K)
    return BaseParameters(names, independent, K)


def _independent(Y: Array, tolerance: float) -> Array:
    """The columns that those before them do not span, by Gram and Schmidt, twice against round-off."""
    basis: list[Array] = []
    found = []
    for k, column in enumerate(Y.T):
        length = np.linalg.norm(column)
        rest = column.copy()
        for _ in range(2):
            for direction in basis:
                rest -= (direction @ rest) * direction
        left = np.linalg.norm(rest)
        if length > 0 and left > tolerance * length:
            found.append(k)
            basis.append(rest / left)
    return np.array(found, dtype=int)

"""From one rotation to another about one axis, the shorter way (slerp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_constant, check_quaternions, read_fields
from kinetree.errors import ArgumentError
from kinetree.linalg import norm
from kinetree.ops import Array, cos, equal, is_scalar_array, sin, skew, where
from kinetree.spatial.rotation import is_rotation_matrix, matrix_from_quaternion
from kinetree.spatial.rotation_vector import rotation_error
from kinetree.trajectories.profiles import Profile
from kinetree.trajectories.trajectory import ProfiledMotion, TurnState, times


@final
@dataclass(frozen=True, eq=False)
class Turn(ProfiledMotion):
    """R = exp(s w) R_start with w = log(R_end R_startᵀ); start and end are matrices, or quaternions (xyzw)."""

    start: Any
    end: Any
    duration: float
    profile: Profile | str = "quintic"

    def __post_init__(self) -> None:
        read_fields(self, start=as_rotation, end=as_rotation)
        super().__post_init__()

    @property
    def angle(self) -> Any:
        """The angle of the whole turn [rad]."""
        return norm(self._vector)

    @property
    def _vector(self) -> Array:
        return rotation_error(self.end, self.start)

    def at(self, t: Any) -> TurnState:
        """The rotation by Rodrigues' formula, and its rates."""
        s, rate, second = self.timed(t)
        w = self._vector
        angle = norm(w)
        n = w / where(equal(angle, 0.0), 1.0, angle)
        along = np.multiply.outer(n, n)
        fixed, turned, ahead = along @ self.start, (np.eye(3) - along) @ self.start, skew(n) @ self.start
        rotation = fixed + times(cos(s * angle), turned) + times(sin(s * angle), ahead)
        return TurnState(rotation, times(rate, w), times(second, w))


def as_rotation(name: str, value: Any) -> Array:
    """A rotation matrix, given as one or as a unit quaternion; traced ones are taken as they are."""
    is_quaternion = np.shape(value) == (4,)
    if is_scalar_array(value):
        return matrix_from_quaternion(value) if is_quaternion else np.asarray(value)
    array = as_constant(name, value, (4,) if is_quaternion else (3, 3))
    if is_quaternion:
        check_quaternions(name, array, [slice(0, 4)])
        return matrix_from_quaternion(array)
    if not is_rotation_matrix(array):
        raise ArgumentError(f"{name} is no rotation matrix; expected one, or a unit quaternion (xyzw)")
    return array

"""Change of coordinates between two frames: X for motions, X* for forces, X* I X⁻¹ for inertias.

``X * y`` expresses y, whatever its type, in the other frame; ``X.transpose() * y`` brings forces and inertias back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, short
from kinetree.ops import Array, is_scalar_array, mirrored, skew, zeros
from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.force import Force
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.last_axes import times, transposed
from kinetree.spatial.motion import Motion
from kinetree.spatial.operands import broadcast, operands
from kinetree.spatial.packing import SpatialOrder, block_matrix
from kinetree.spatial.rotation import is_rotation_matrix


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """^B X_A, from the coordinates of frame A to those of frame B: ``[[R, -R [p]×], [0, R]]``, linear first.

    R = ^B R_A turns vectors from A's axes to B's; p is the position of B's origin in A [m]. (…, 3, 3) and
    (…, 3): one transform, or any leading axes of them, which broadcast in products with motions, forces and transforms.
    """

    R: Array
    p: Array

    def __post_init__(self) -> None:
        R, p = operands("R", self.R, (3, 3)), operands("p", self.p, (3,))
        if not is_scalar_array(R) and not is_rotation_matrix(R):  # symbols cannot be judged
            raise ArgumentError(f"R is {short(R)}; expected a 3×3 rotation matrix")
        R, p = broadcast("R", R, 2, "p", p, 1)
        object.__setattr__(self, "R", R)
        object.__setattr__(self, "p", p)

    @staticmethod
    def unchecked(R: Array, p: Array) -> Transform:
        """^B X_A of a matrix that is known to be a rotation, or as near to one as a configuration makes it: joints and
        algorithms call this."""
        X = object.__new__(Transform)
        object.__setattr__(X, "R", R)
        object.__setattr__(X, "p", p)
        return X

    @staticmethod
    def identity() -> Transform:
        return Transform.unchecked(np.eye(3), np.zeros(3))

    @staticmethod
    def from_pose(T_AB: ArrayLike) -> Transform:
        """^B X_A from the pose of B in A, 4×4 homogeneous matrices, (…, 4, 4)."""
        T_AB = operands("T_AB", T_AB, (4, 4))
        if not is_scalar_array(T_AB) and not (
            is_rotation_matrix(T_AB[..., :3, :3]) and (T_AB[..., 3, :] == (0.0, 0.0, 0.0, 1.0)).all()
        ):
            raise ArgumentError(f"T_AB is {short(T_AB)}; expected a pose, [[R, p], [0, 1]] with a rotation matrix R")
        return Transform.unchecked(transposed(T_AB[..., :3, :3]), T_AB[..., :3, 3])

    def pose(self) -> Array:
        """The pose of B in A, 4×4 homogeneous matrices, (…, 4, 4)."""
        T_AB = zeros((*self.p.shape[:-1], 4, 4), self.R, self.p)
        T_AB[..., :3, :3] = transposed(self.R)
        T_AB[..., :3, 3] = self.p
        T_AB[..., 3, 3] = 1.0
        return T_AB

    def inverse(self) -> Transform:
        return Transform.unchecked(transposed(self.R), -times(self.R, self.p))

    def motion_matrix(self, order: SpatialOrder = "linear-first") -> Array:
        """X, the matrix of ^B X_A for motions, (…, 6, 6): ``[[R, -R [p]×], [0, R]]``, linear first."""
        return block_matrix(self.R, -(self.R @ skew(self.p)), np.zeros(self.R.shape), self.R, order)

    def force_matrix(self, order: SpatialOrder = "linear-first") -> Array:
        """X* = X⁻ᵀ, the matrix of ^B X*_A for forces, (…, 6, 6): ``[[R, 0], [-R [p]×, R]]``, linear first."""
        return block_matrix(self.R, np.zeros(self.R.shape), -(self.R @ skew(self.p)), self.R, order)

    def transpose(self) -> Transposed:
        return Transposed(self)

    @overload
    def __mul__(self, other: Motion) -> Motion: ...
    @overload
    def __mul__(self, other: Force) -> Force: ...
    @overload
    def __mul__(self, other: Inertia) -> Inertia: ...
    @overload
    def __mul__(self, other: Transform) -> Transform: ...
    def __mul__(self, other: Motion | Force | Inertia | Transform) -> Motion | Force | Inertia | Transform:
        R, p = self.R, self.p
        if isinstance(other, (Motion, Force)):
            return other.moved(p).rotated(R)
        if isinstance(other, Transform):
            return Transform.unchecked(R @ other.R, other.p + times(transposed(other.R), p))
        if isinstance(other, Inertia):
            return self.inverse().transpose() * other  # which has no leading axes
        return NotImplemented


@dataclass(frozen=True, slots=True, eq=False)
class Transposed:
    """(^B X_A)ᵀ = ^A X*_B, which brings forces and inertias from B back to A."""

    X: Transform

    @overload
    def __mul__(self, other: Force) -> Force: ...
    @overload
    def __mul__(self, other: Inertia) -> Inertia: ...
    @overload
    def __mul__(self, other: ArticulatedInertia) -> ArticulatedInertia: ...
    def __mul__(self, other: Force | Inertia | ArticulatedInertia) -> Force | Inertia | ArticulatedInertia:
        """Xᵀ f of a force; Xᵀ I X of an inertia (which needs X on both sides, so one product does both)."""
        R, p = self.X.R, self.X.p
        if isinstance(other, Force):
            return other.rotated(transposed(R)).moved(-p)
        if isinstance(other, Inertia):
            if p.ndim > 1:
                raise ArgumentError(f"an inertia is moved by transforms of shape {p.shape[:-1]}; expected one")
            return other.placed(R.T, p)
        if isinstance(other, ArticulatedInertia):
            M = mirrored(R.T @ other.M @ R)
            H = R.T @ other.H @ R
            P = skew(p)
            PM = P @ M
            HP = H @ P
            return ArticulatedInertia(M, H + PM, mirrored(R.T @ other.I @ R - HP - HP.T - PM @ P))
        return NotImplemented

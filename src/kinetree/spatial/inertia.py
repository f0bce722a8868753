"""The spatial inertia of a rigid body, (m, h, I): mass, first moment and rotational inertia about the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_number
from kinetree.errors import ArgumentError, short
from kinetree.ops import Array, array, axial, cross, equal, is_registered, is_scalar_array, mirrored, skew, where, zeros
from kinetree.spatial.force import Force
from kinetree.spatial.last_axes import times
from kinetree.spatial.motion import Motion
from kinetree.spatial.operands import operand, scalar
from kinetree.spatial.packing import SpatialOrder
from kinetree.spatial.rotation import is_rotation_matrix

TOLERANCE = 1e-6
"""Relative, of what a body can have: files print inertias with six digits or so."""
ROUNDING = 1e-14
"""Rounding of an inertia about a far origin, relative to it, that a point mass may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Mass [kg], first moment h = m c [kg m] and rotational inertia about the *origin* [kg m²].

    As a matrix that maps a motion to a momentum, linear first: ``[[m 1, -[h]×], [[h]×, I]]``.
    """

    mass: Any
    h: Array
    I: Array  # noqa: E741 - the textbook's name

    def __post_init__(self) -> None:
        mass, h, rotational = scalar("mass", self.mass), operand("h", self.h, (3,)), operand("I", self.I, (3, 3))
        if mass is not self.mass or h is not self.h or rotational is not self.I:
            object.__setattr__(self, "mass", mass)
            object.__setattr__(self, "h", h)
            object.__setattr__(self, "I", rotational)

    @staticmethod
    def zero() -> Inertia:
        return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def from_com(mass: float, com: ArrayLike, rotational: ArrayLike) -> Inertia:
        """The inertia from the rotational inertia about the centre of mass `com`, (3, 3) and (3,) (parallel-axis
        theorem)."""
        m, c = as_number("mass", mass), as_constant("com", com, (3,))
        about_com = as_constant("rotational", rotational, (3, 3))
        with np.errstate(all="ignore"):  # what is not finite is refused where a link takes it
            return Inertia(m, m * c, about_com - m * (skew(c) @ skew(c)))

    @staticmethod
    def from_parameters(phi: ArrayLike) -> Inertia:
        """The inertia of φ = (m, m c_x, m c_y, m c_z, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) about the origin, (10,)."""
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = operand("phi", phi, (10,))
        return Inertia(m, array([hx, hy, hz]), array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))

    @staticmethod
    def from_pseudo_inertia(J: ArrayLike) -> Inertia:
        """The inertia of J = [[Σ, h], [hᵀ, m]], symmetric, (4, 4): I = tr(Σ) 1 - Σ."""
        J = operand("J", J, (4, 4))
        if not is_scalar_array(J) and np.abs(J - J.T).max() > TOLERANCE * np.abs(J).max():
            raise ArgumentError(f"J is {short(J)}; expected a symmetric matrix")
        return Inertia(J[3, 3], J[:3, 3].copy(), mirrored(np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]))

    # -- what it tells of the body -----------------------------------------------------------------------------

    @property
    def com(self) -> Array:
        """Centre of mass [m]; the origin for a massless body."""
        if is_registered(self.mass):
            massless = equal(self.mass, 0.0)
            return where(massless, 0.0, self.h / where(massless, 1.0, self.mass))
        return self.h / self.mass if self.mass else np.zeros(3)

    @property
    def about_com(self) -> Array:
        """Rotational inertia about the centre of mass [kg m²]."""
        c = skew(self.com)
        return self.I + self.mass * (c @ c)

    @property
    def second_moments(self) -> Array:
        """Σ = ∫ r rᵀ dm = ½ tr(I) 1 - I about the origin [kg m²], (3, 3)."""
        return 0.5 * np.trace(self.I) * np.eye(3) - self.I

    @property
    def principal_moments(self) -> Array:
        """The moments of inertia about the principal axes through the centre of mass [kg m²], ascending, (3,)."""
        return _symmetric_eigen(self.about_com)[0]

    @property
    def principal_axes(self) -> Array:
        """A rotation matrix R with the principal axes as columns, in the order of the moments, (3, 3).

        The inertia about the centre of mass is R diag(moments) Rᵀ. Signs, and axes of equal moments, are arbitrary.
        """
        x, y, _ = _symmetric_eigen(self.about_com)[1].T
        return np.stack([x, y, cross(x, y)], axis=1)

    def is_consistent(self, tolerance: float = TOLERANCE) -> bool:
        """Whether some body of positive density has this inertia: its pseudo-inertia is positive semidefinite.

        With the principal moments a ≤ b ≤ c that is m > 0 and a + b ≥ c, within `tolerance` of c (Wensing, Kim and
        Slotine 2018, Traversaro et al. 2016); where nothing weighs, h and I have to be zero too.
        """
        if not np.isfinite(self.parameters()).all() or self.mass < 0:
            return False
        if np.abs(self.I - self.I.T).max() > tolerance * np.abs(self.I).max():
            return False
        if self.mass == 0:
            return not (np.any(self.h) or np.any(self.I))
        a, b, c = map(float, self.principal_moments)
        return a + b >= c - tolerance * max(abs(a), abs(c)) - ROUNDING * float(np.abs(self.I).max())

    # -- other bodies, other places ----------------------------------------------------------------------------

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of both bodies as one, where both are about the same origin."""
        if not isinstance(other, Inertia):
            return NotImplemented
        return Inertia(self.mass + other.mass, self.h + other.h, self.I + other.I)

    def __sub__(self, other: Inertia) -> Inertia:
        """The inertia of what is left when the other body is cut out of this one; `is_consistent` says if it can be."""
        if not isinstance(other, Inertia):
            return NotImplemented
        return Inertia(self.mass - other.mass, self.h - other.h, self.I - other.I)

    def rotated(self, R: ArrayLike) -> Inertia:
        """The inertia of the body turned by the rotation matrix R about the origin: R I Rᵀ, R h."""
        R = operand("R", R, (3, 3))
        if not is_scalar_array(R) and not is_rotation_matrix(R):
            raise ArgumentError(f"R is {short(R)}; expected a 3×3 rotation matrix")
        return self.placed(R, np.zeros(3))

    def shifted(self, r: ArrayLike) -> Inertia:
        """The inertia of the body displaced by r [m], the origin staying where it is (parallel-axis theorem)."""
        return self.placed(np.eye(3), operand("r", r, (3,)))

    def about(self, point: ArrayLike) -> Inertia:
        """The inertia of the body where it is, about another point as the origin [m]."""
        return self.shifted(-operand("point", point, (3,)))

    def placed(self, R: Array, p: Array) -> Inertia:
        """The inertia of the body turned by R, then displaced by p [m]: I' = R I Rᵀ + 2(h'·p) 1 - h' pᵀ - p h'ᵀ - m
        [p]×².

        In other words, the inertia in a frame in which the body's frame sits at p with axes R. The parallel-axis
        theorem is the case of a centre of mass at the origin, h' = R h = 0. Nothing is checked: algorithms call this.
        """
        m, h = self.mass, R @ self.h
        P, hp = skew(p), np.outer(h, p)
        # -[h]×[p]× - [p]×[h]× = 2(h·p) 1 - h pᵀ - p hᵀ
        moved = 2.0 * (h @ p) * np.eye(3) - hp - hp.T - m * (P @ P)
        return Inertia(m, h + m * p, mirrored(R @ self.I @ R.T + moved))

    # -- dynamics ----------------------------------------------------------------------------------------------

    def __mul__(self, V: Motion) -> Force:
        """The momentum of the body moving with V, or with each of several; the net force, for an acceleration."""
        if not isinstance(V, Motion):
            return NotImplemented
        v, w = V.linear, V.angular
        return Force(v * self.mass + cross(w, self.h), times(self.I, w) + cross(self.h, v))

    def net_force(self, V: Motion, A: Motion) -> Force:
        """I a + v ×* I v, the force that moves the body so, summed over its points in the cheapest way known.

        The point at r accelerates by a' + W r with a' = a + ω × v and W = [α]× + [ω]×². With the second moments
        Σ = ∫ r rᵀ dm = ½ tr(I) 1 - I the force is m a' + W h, and the moment h × a' + ∫ r × W r dm, where the integral
        is the axial vector of W Σ - (W Σ)ᵀ.
        """
        linear = A.classical(V).linear
        w = skew(V.angular)
        W = skew(A.angular) + w @ w
        turning = axial(W @ self.second_moments)
        return Force(linear * self.mass + times(W, self.h), turning + cross(self.h, linear))

    def rate(self, V: Motion) -> Inertia:
        """V ×* I - I V×, how the inertia changes in coordinates that stand still while the body moves with V: no mass,
        ḣ = m v + ω × h, and İ = 2(v·h) 1 - v hᵀ - h vᵀ + [ω]× I - I [ω]×."""
        v, w = V.linear, V.angular
        if v.ndim > 1:
            raise ArgumentError(f"an inertia changes by motions of shape {v.shape[:-1]}; expected one")
        vh, turning = np.outer(v, self.h), skew(w) @ self.I
        rotational = 2.0 * (v @ self.h) * np.eye(3) - vh - vh.T + turning + turning.T
        return Inertia(0.0, v * self.mass + cross(w, self.h), mirrored(rotational))

    def matrix(self, order: SpatialOrder = "linear-first") -> Array:
        """The 6×6 matrix, (6, 6)."""
        units = (Motion.from_vector(e, order) for e in np.eye(6))
        return np.array([(self * unit).vector(order) for unit in units]).T

    def parameters(self) -> Array:
        """φ = (m, m c_x, m c_y, m c_z, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) about the origin, (10,).

        Dynamics is linear in them. Ixy is the element of the matrix, -∫ x y dm.
        """
        I = self.I  # noqa: E741
        return array([self.mass, *self.h, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])

    def pseudo_inertia(self) -> Array:
        """J = ∫ (r, 1)(r, 1)ᵀ dm = [[Σ, h], [hᵀ, m]], (4, 4), Σ the second moments (Wensing, Kim and Slotine 2018)."""
        J = zeros((4, 4), self.I, self.h, np.asarray(self.mass))
        J[:3, :3] = self.second_moments
        J[:3, 3] = J[3, :3] = self.h
        J[3, 3] = self.mass
        return J


def _symmetric_eigen(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors; NaN of what is not finite, where NumPy would raise."""
    if not np.isfinite(A).all():
        return np.full(len(A), np.nan), np.full(A.shape, np.nan)
    return np.linalg.eigh(A)

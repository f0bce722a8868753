"""The robot taken for one rigid body, as planners of jumps and gaits do: its joints locked where they are at some q.

    m c̈ = m g + Σ f                    L ω̇ + ω × L ω = Σ (x - c) × f,   L = R L_0 Rᵀ

R is how the base is turned, L_0 the locked inertia at that q in the axes of the base. The first equation is exact. The
second differs from L ω̄̇ + L̇ ω̄ = Σ (x - c) × f of the robot in three ways: L_0 is that of one q only, the motion of the
joints (gesticulation) is left out, and ω is taken for the angular velocity of the base, ω_b = ω̄ - L⁻¹ A_kj v_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.results.one_body_motion import OneBodyMotion
from kinetree.model.builder import ModelBuilder
from kinetree.model.joints import BaseVelocity
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.spatial import Inertia, SpatialOrder
from kinetree.spatial.last_axes import cross_last, solved, times, transposed


@dataclass(frozen=True, eq=False)
class SingleRigidBody:
    """One body, or one for every configuration of a batch."""

    mass: Any
    """[kg]; (…, 1) where states have masses of their own."""
    center: Array
    """The centre of mass from the base, in the axes of the base, (…, 3) [m]."""
    inertia: Array
    """L_0 about the centre of mass, in the axes of the base, (…, 3, 3) [kg m²]."""
    gravity: Array
    spatial_order: SpatialOrder = "linear-first"

    def inertia_in(self, axes: ArrayLike) -> Array:
        """L = R L_0 Rᵀ in world axes, where the axes of the base are R, (…, 3, 3) [kg m²]."""
        R = np.asarray(axes)
        return R @ self.inertia @ transposed(R)

    def forward_dynamics(
        self, center: ArrayLike, axes: ArrayLike, omega: ArrayLike, forces: ArrayLike, points: ArrayLike
    ) -> tuple[Array, Array]:
        """c̈ and ω̇ under forces at points, (…, 3) each, all in world axes [m/s², rad/s²].

        center   c, (…, 3) [m]; axes: those of the base, (…, 3, 3); omega: (…, 3) [rad/s]
        forces   of the environment on the body, (…, k, 3) [N]; points: where they act, (…, k, 3) [m]
        """
        f = np.asarray(forces)
        moment = cross_last(np.asarray(points) - np.asarray(center)[..., None, :], f).sum(-2)
        return self.gravity + f.sum(-2) / self.mass, self.angular_acceleration(axes, omega, moment)

    def angular_acceleration(self, axes: ArrayLike, omega: ArrayLike, moment: ArrayLike) -> Array:
        """ω̇ = L⁻¹ (M_G - ω × L ω), (…, 3) [rad/s²], under a moment about the centre of mass [N m]."""
        L, w = self.inertia_in(axes), np.asarray(omega)
        return solved(L, np.asarray(moment) - cross_last(w, times(L, w)))

    def error(self, motion: OneBodyMotion) -> Array:
        """The difference between ω̇ of this body and ω̄̇ of the robot, turned like its base and with the same ω̄ and
        forces, (…, 3) [rad/s²]; at the q it was made for, L⁻¹ times the gesticulation."""
        return self.angular_acceleration(motion.base_axes, motion.omega, motion.moment) - motion.omega_rate

    def model(self, base_velocity: BaseVelocity = "body") -> Model:
        """The model for `kt.Robot`: a floating link 'body' that lies where the base of the robot does."""
        builder = ModelBuilder("single rigid body")
        builder.link("body", Inertia.from_com(self.mass, self.center, self.inertia))
        return builder.build(
            "floating", gravity=self.gravity, spatial_order=self.spatial_order, base_velocity=base_velocity
        )

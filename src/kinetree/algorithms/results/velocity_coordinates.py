"""The equation of motion in other velocities, ν = T v, and the maps there and back; batch axes in front of all.

    ν = T v                   v = T⁻¹ ν
    ν̇ = T a + Ṫ v             a = T⁻¹ (ν̇ - Ṫ v)
    f_ν = T⁻ᵀ τ               τ = Tᵀ f_ν
    J_ν = J T⁻¹               J = J_ν T                    J̇_ν = (J̇ - J_ν Ṫ) T⁻¹

so that power νᵀ f_ν = vᵀ τ and the velocity J_ν ν = J v of any frame stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetree.ops import Array
from kinetree.spatial.last_axes import times, transposed_times
from kinetree.spatial.packing import SpatialOrder, halves


@dataclass(frozen=True, eq=False)
class VelocityCoordinates:
    """M ν̇ + C ν + G = T⁻ᵀ τ + J_νᵀ f of a floating robot at one state or a batch. ν has two parts for the base, in the
    robot's `spatial_order`, and the velocities of the joints; what the joints' motors do is the same in both."""

    T: Array
    """ν = T v, (…, nv, nv)."""
    T_inverse: Array
    T_rate: Array
    """Ṫ along v."""
    M: Array
    """T⁻ᵀ M T⁻¹, (…, nv, nv)."""
    C: Array
    """T⁻ᵀ (C - M T⁻¹ Ṫ) T⁻¹, (…, nv, nv); Ṁ - 2C is skew-symmetric."""
    G: Array
    """T⁻ᵀ G = [-m g, 0, 0], (…, nv): whatever the configuration."""
    v: Array
    """The robot's own velocity, (…, nv)."""
    spatial_order: SpatialOrder

    # -- its parts ---------------------------------------------------------------------------------------------

    @property
    def linear(self) -> slice:
        """The entries of ν that are ċ."""
        return halves(self.spatial_order)[0]

    @property
    def angular(self) -> slice:
        """The entries of ν that are the rotation: ω_b, or ω̄ if diagonalized."""
        return halves(self.spatial_order)[1]

    @property
    def joints(self) -> slice:
        """The entries of ν that are the joints."""
        return slice(6, None)

    @property
    def nu(self) -> Array:
        """ν = T v, (…, nv)."""
        return times(self.T, self.v)

    @property
    def h(self) -> Array:
        """C ν + G, (…, nv) [N, N m]."""
        return times(self.C, self.nu) + self.G

    @property
    def locked_inertia(self) -> Array:
        """L, (…, 3, 3) [kg m²]."""
        return self.M[..., self.angular, self.angular]

    @property
    def joint_inertia(self) -> Array:
        """The block of M of the joints, decoupled if diagonalized, (…, nv - 6, nv - 6)."""
        return self.M[..., 6:, 6:]

    # -- there -------------------------------------------------------------------------------------------------

    def velocity(self, v: ArrayLike) -> Array:
        """ν = T v, (…, nv)."""
        return times(self.T, np.asarray(v))

    def acceleration(self, a: ArrayLike) -> Array:
        """ν̇ = T a + Ṫ v, (…, nv)."""
        return times(self.T, np.asarray(a)) + times(self.T_rate, self.v)

    def force(self, tau: ArrayLike) -> Array:
        """T⁻ᵀ τ, (…, nv); joint torques stay as they are."""
        return transposed_times(self.T_inverse, np.asarray(tau))

    def jacobian(self, J: ArrayLike) -> Array:
        """J T⁻¹ of the Jacobian of a frame or of contacts, (…, k, nv)."""
        return np.asarray(J) @ self.T_inverse

    def jacobian_rate(self, J: ArrayLike, J_rate: ArrayLike) -> Array:
        """(J̇ - J T⁻¹ Ṫ) T⁻¹, the rate of the Jacobian in ν, (…, k, nv)."""
        return (np.asarray(J_rate) - self.jacobian(J) @ self.T_rate) @ self.T_inverse

    # -- and back ----------------------------------------------------------------------------------------------

    def robot_velocity(self, nu: ArrayLike) -> Array:
        """v = T⁻¹ ν, (…, nv)."""
        return times(self.T_inverse, np.asarray(nu))

    def robot_acceleration(self, nu_rate: ArrayLike) -> Array:
        """a = T⁻¹ (ν̇ - Ṫ v), (…, nv)."""
        return times(self.T_inverse, np.asarray(nu_rate) - times(self.T_rate, self.v))

    def robot_force(self, force: ArrayLike) -> Array:
        """τ = Tᵀ f_ν, (…, nv)."""
        return transposed_times(self.T, np.asarray(force))

    def robot_jacobian(self, J: ArrayLike) -> Array:
        """J T of a Jacobian in ν, (…, k, nv)."""
        return np.asarray(J) @ self.T

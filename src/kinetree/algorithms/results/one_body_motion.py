"""The motion of a robot as one body, and both sides of its equations in three forms; batch axes in front of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.ops import Array, skew
from kinetree.spatial.last_axes import cross_last, times, transposed


class Balance(NamedTuple):
    """Both sides of Newton's and of Euler's equation, (…, 3) each [N, N m]."""

    newton: Array
    force: Array
    euler: Array
    moment: Array

    @property
    def residuals(self) -> tuple[Array, Array]:
        """Left minus right side of both: zero where the forces are those of the motion."""
        return self.newton - self.force, self.euler - self.moment


@dataclass(frozen=True, eq=False)
class OneBodyMotion:
    """The motion of the robot as one body and the forces on it, in world axes; batch axes in front of all."""

    mass: Any
    """[kg]; (…, 1) where states have masses of their own."""
    center: Array
    """c, (…, 3) [m], and ċ and c̈."""
    velocity: Array
    acceleration: Array
    inertia: Array
    """L about the centre of mass, (…, 3, 3) [kg m²], and L̇."""
    inertia_rate: Array
    omega: Array
    """ω̄, (…, 3) [rad/s], and ω̄̇."""
    omega_rate: Array
    base_axes: Array
    """R of the base, (…, 3, 3), and its angular velocity ω_b, (…, 3) [rad/s]."""
    base_omega: Array
    force: Array
    """F, (…, 3) [N], and M_G [N m]."""
    moment: Array

    def in_world_axes(self) -> Balance:
        """m c̈ = F and L ω̄̇ + L̇ ω̄ = M_G."""
        euler = times(self.inertia, self.omega_rate) + times(self.inertia_rate, self.omega)
        return Balance(self.mass * self.acceleration, self.force, euler, self.moment)

    def seen_from(self, axes: ArrayLike | None = None, omega: ArrayLike | None = None) -> OneBodyMotion:
        """This motion along axes R, (…, 3, 3), that turn with Ω, (…, 3) in world axes [rad/s], those of the base if not
        given: ċ°, ω̄° and L° are the rates that are seen from there."""
        R = self.base_axes if axes is None else np.asarray(axes)
        turn = self.base_omega if omega is None else np.asarray(omega)
        R_T = transposed(R)
        velocity, w, Omega, L = times(R_T, self.velocity), times(R_T, self.omega), times(R_T, turn), self.inertia
        return OneBodyMotion(
            mass=self.mass,
            center=times(R_T, self.center),
            velocity=velocity,
            acceleration=times(R_T, self.acceleration) - cross_last(Omega, velocity),
            inertia=R_T @ L @ R,
            inertia_rate=R_T @ (self.inertia_rate - skew(turn) @ L + L @ skew(turn)) @ R,
            omega=w,
            omega_rate=times(R_T, self.omega_rate) - cross_last(Omega, w),
            base_axes=R_T @ self.base_axes,
            base_omega=times(R_T, self.base_omega),
            force=times(R_T, self.force),
            moment=times(R_T, self.moment),
        )

    def in_turning_axes(self, axes: ArrayLike | None = None, omega: ArrayLike | None = None) -> Balance:
        """m (ċ° + Ω × ċ) = F and L ω̄° + L° ω̄ + Ω × L ω̄ = M_G, along axes as in `seen_from`."""
        seen = self.seen_from(axes, omega)
        turn = self.base_omega if omega is None else np.asarray(omega)
        Omega = times(transposed(self.base_axes if axes is None else np.asarray(axes)), turn)
        newton, force, euler, moment = seen.in_world_axes()
        spin = times(seen.inertia, seen.omega)
        return Balance(
            newton + cross_last(Omega, seen.mass * seen.velocity), force, euler + cross_last(Omega, spin), moment
        )

    def about_point(self, point: ArrayLike, velocity: ArrayLike = (0.0, 0.0, 0.0)) -> Balance:
        """m c̈ = F and k̇_P + ẋ_P × m ċ = M_P about a point, (…, 3) [m], that may move itself, in world axes."""
        r = self.center - np.asarray(point)
        moving = np.asarray(velocity)
        newton, force, spin_rate, moment = self.in_world_axes()
        momentum = self.mass * self.velocity
        rate = spin_rate + cross_last(self.velocity - moving, momentum) + cross_last(r, newton)  # k̇_P
        return Balance(newton, force, rate + cross_last(moving, momentum), moment + cross_last(r, force))

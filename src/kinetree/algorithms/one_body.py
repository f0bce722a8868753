"""The robot as one body whose inertia changes: Newton's and Euler's equations of the whole, in three forms.

    world axes          m c̈ = F                         L ω̄̇ + L̇ ω̄ = M_G
    turning axes        m (ċ° + Ω × ċ) = F              L ω̄° + L° ω̄ + Ω × L ω̄ = M_G
    about a point P     m c̈ = F                         L ω̄̇ + L̇ ω̄ + r × m c̈ = M_P,   r = c - x_P

F is the sum of all external forces, weight included, M_G and M_P = M_G + r × F their moments. x° is the rate of x as it
is seen from axes that turn with Ω: ω̄° = ω̄̇ - Ω × ω̄ and L° = L̇ - [Ω]× L + L [Ω]×. Of one rigid body L° = 0 in its own
axes, which leaves the textbook's L ω° + ω × L ω. Of a robot, with Ω = ω̄, L° ω̄ is its gesticulation. About P, the left
side is k̇_P + ẋ_P × m ċ with k_P = L ω̄ + r × m ċ.

Instead of ω̄ often the angular velocity of the base is taken. They differ by what the joints do:

    ω̄ - ω_b = L⁻¹ A_kj v_j

with A_kj the moments in the joints' columns of A_G.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.centroidal import centroidal_momentum_matrix
from kinetree.algorithms.composite import Composite
from kinetree.algorithms.locked import locked_inertia, per_inertia
from kinetree.algorithms.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.model.tree import Model
from kinetree.ops import Array, skew
from kinetree.spatial import Force
from kinetree.spatial.last_axes import cross_last, times, transposed
from kinetree.spatial.packing import unpack


@of_one_state
def centroidal_wrench(model: Model, q: Array, f_ext: ExternalForces = NO_FORCES) -> Force:
    """[F, M_G]: the sum of wrenches and weight, and of their moments about the centre of mass [N, N m]."""
    weight = Force(model.mass * model.gravity, np.zeros(3))
    on_robot = {i: f for i, f in f_ext.items() if i in model.moving}
    if not on_robot:
        return weight
    composite = Composite.of(model, q)
    return composite.at_center(composite.summed(on_robot, Force.zero())[composite.home]) + weight


@of_one_state
def average_rotation_by_joints(model: Model, q: Array) -> Array:
    """L⁻¹ A_kj, (3, nv - 6): ω̄ = ω_b + L⁻¹ A_kj v_j, in world axes."""
    _, A_k = unpack(centroidal_momentum_matrix(model, q), model.spatial_order)
    return per_inertia(locked_inertia(model, q), A_k[:, 6:])


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
    """How the robot moves as one body and what acts on it, in world axes; batch axes in front of all."""

    mass: float
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
        """The same along axes R, (…, 3, 3), that turn with Ω, (…, 3) in world axes [rad/s], those of the base if not
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

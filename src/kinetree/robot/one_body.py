"""The robot as one body: equations of motion in centroidal coordinates, Newton-Euler equations, a single rigid body."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms import centroidal_coordinates as coordinates
from kinetree.algorithms import locked, one_body
from kinetree.algorithms.centroidal_coordinates import Equation
from kinetree.algorithms.results.one_body_motion import OneBodyMotion
from kinetree.algorithms.results.single_rigid_body import SingleRigidBody
from kinetree.algorithms.results.velocity_coordinates import VelocityCoordinates
from kinetree.base.arguments import as_floats
from kinetree.compiler import is_traced
from kinetree.ops import Array
from kinetree.robot import shapes
from kinetree.robot.centroidal import CentroidalQuantities, of_mass
from kinetree.robot.quantity import Named, NamedOut
from kinetree.robot.wrench import Wrenches
from kinetree.spatial.last_axes import transposed, transposed_times
from kinetree.spatial.packing import unpack_last


class OneBodyQuantities(CentroidalQuantities):
    """Quantities of a `Robot` as one body under external wrenches. Saccon et al. 2017, Traversaro 2017."""

    # -- velocity coordinates ----------------------------------------------------------------------------------

    def centroidal_coordinates(
        self, q: ArrayLike, v: ArrayLike, *, parameters: ArrayLike | None = None
    ) -> VelocityCoordinates:
        """The equation of motion in ν = ^G T_B v = [ċ, ω_b, v_j], world axes: .T .T_inverse .T_rate .M .C .G, and maps
        of velocities, accelerations, forces and Jacobians. M is diag(m 1, M̄), and G is constant."""
        return self._coordinates(self._centroidal_coordinates(q, v, parameters=parameters), v)

    def diagonalized_coordinates(
        self, q: ArrayLike, v: ArrayLike, *, parameters: ArrayLike | None = None
    ) -> VelocityCoordinates:
        """The equation of motion in ν = ^Ḡ T_B v = [ċ, ω̄, v_j], with the average angular velocity ω̄, as for
        `centroidal_coordinates`. M is diag(m 1, L, M̄_j). It is NaN if all mass lies on one line."""
        return self._coordinates(self._diagonalized_coordinates(q, v, parameters=parameters), v)

    @of_mass(coordinates.centroidal_coordinates, shapes.equation, 6, needs_floating_base=True, is_large=True)
    def _centroidal_coordinates(self, q: ArrayLike, v: ArrayLike, **named: Unpack[Named]) -> Equation:
        """T, T⁻¹, Ṫ, M, C and G as they are computed."""

    @of_mass(coordinates.diagonalized_coordinates, shapes.equation, 6, needs_floating_base=True, is_large=True)
    def _diagonalized_coordinates(self, q: ArrayLike, v: ArrayLike, **named: Unpack[Named]) -> Equation:
        """T, T⁻¹, Ṫ, M, C and G as they are computed."""

    def _coordinates(self, equation: Equation, v: ArrayLike) -> VelocityCoordinates:
        own = np.asarray(v) if is_traced(v) else as_floats("v", v, (self.model.nv,)).copy()
        return VelocityCoordinates(*equation, own, self.model.spatial_order)

    # -- Newton and Euler --------------------------------------------------------------------------------------

    @of_mass(locked.average_acceleration, shapes.six)
    def average_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """[c̈, ω̄̇], the rate of the average spatial velocity, (…, 6) [m/s², rad/s²]; ω̄̇ is NaN if all mass lies on one
        line."""

    @of_mass(one_body.centroidal_wrench, shapes.six)
    def centroidal_wrench(self, q: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]) -> Array:
        """[F, M_G], the sum of wrenches and weight, and of their moments about the centre of mass, (…, 6) [N, N m].

        For a floating robot it is the rate of centroidal momentum; the reaction at a fixed base is not included.
        """

    def one_body_motion(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, *,
        parameters: ArrayLike | None = None,
    ) -> OneBodyMotion:  # fmt: skip
        """Motion and forces of the whole robot, .mass .center .inertia .omega …, with Newton-Euler equations
        .in_world_axes(), .in_turning_axes(…) and .about_point(…). Their residuals are zero for a floating base if the
        wrenches cause the motion."""
        order, own = self.model.spatial_order, Named(parameters=parameters)
        velocity, omega = unpack_last(self.average_velocity(q, v, **own), order)
        acceleration, omega_rate = unpack_last(self.average_acceleration(q, v, a, **own), order)
        force, moment = unpack_last(self.centroidal_wrench(q, wrenches, **own), order)
        base = self._robot.frame(self.model.frames[0].name)
        return OneBodyMotion(
            mass=self._mass(parameters), center=self.center_of_mass(q, **own), velocity=velocity,
            acceleration=acceleration, inertia=self.locked_inertia(q, **own),
            inertia_rate=self.locked_inertia_rate(q, v, **own), omega=omega, omega_rate=omega_rate,
            base_axes=base.pose(q, **own)[..., :3, :3], base_omega=unpack_last(base.velocity(q, v, **own), order)[1],
            force=force, moment=moment,
        )  # fmt: skip

    # -- one rigid body ----------------------------------------------------------------------------------------

    def single_rigid_body(self, q: ArrayLike, *, parameters: ArrayLike | None = None) -> SingleRigidBody:
        """The robot with its joints locked at q: .mass, .center and .inertia in the axes of the base,
        .forward_dynamics(…) under contact forces, .error(…) relative to the robot, and a .model() for `kt.Robot`."""
        own = Named(parameters=parameters)
        pose = self._robot.frame(self.model.frames[0].name).pose(q, **own)
        R = pose[..., :3, :3]
        return SingleRigidBody(
            mass=self._mass(parameters),
            center=transposed_times(R, self.center_of_mass(q, **own) - pose[..., :3, 3]),
            inertia=transposed(R) @ self.locked_inertia(q, **own) @ R,
            gravity=self.model.gravity,
            spatial_order=self.model.spatial_order,
        )

    @of_mass(one_body.average_rotation_by_joints, shapes.rows_of_joints, needs_floating_base=True)
    def average_rotation_by_joints(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """L⁻¹ A_kj, (…, 3, nv - 6), with ω̄ - ω_b = L⁻¹ A_kj v_j: the error of using the base's angular velocity for the
        whole robot."""

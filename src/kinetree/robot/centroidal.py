"""The robot as a whole: centre of mass, momentum, inertia with locked joints, and the blocks of a floating base."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms import center_of_mass as centers
from kinetree.algorithms import center_of_mass_derivatives, centroidal, centroidal_derivatives, locked
from kinetree.algorithms.results.floating_base_blocks import FloatingBaseBlocks
from kinetree.base.arguments import as_floats
from kinetree.compiler import is_traced
from kinetree.errors import ArgumentError, one_of
from kinetree.model.joints import Free
from kinetree.model.parametric import moving_mass, parameters_of
from kinetree.ops import Array
from kinetree.robot import shapes
from kinetree.robot.quantity import HasQuantities, Named, NamedOut, quantity
from kinetree.spatial.last_axes import cross_last
from kinetree.spatial.packing import pack_last, unpack_last

Point: TypeAlias = Literal["world", "base", "center-of-mass"]
POINTS: tuple[Point, ...] = ("world", "base", "center-of-mass")
of_mass = partial(quantity, needs_mass=True, any_frames=True)
"""Declares a quantity that depends on the centre of mass."""


class CentroidalQuantities(HasQuantities):
    """Quantities of a `Robot` as a whole, of all moving links. 6-vectors are about the centre of mass G, in world axes,
    in the robot's `spatial_order`. Orin, Goswami and Lee 2013."""

    # -- centre of mass ----------------------------------------------------------------------------------------

    @of_mass(centers.center_of_mass, shapes.point)
    def center_of_mass(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The centre of mass c of all moving links in the world, (…, 3) [m]."""

    @of_mass(centers.center_of_mass_velocity, shapes.point)
    def center_of_mass_velocity(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The velocity ċ of the centre of mass, (…, 3) [m/s]."""

    @of_mass(centers.center_of_mass_acceleration, shapes.point)
    def center_of_mass_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The acceleration c̈ of the centre of mass, without gravity, (…, 3) [m/s²]."""

    @of_mass(centers.center_of_mass_jacobian, shapes.three_rows)
    def center_of_mass_jacobian(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The Jacobian J of the centre of mass, ċ = J v, (…, 3, nv)."""

    @of_mass(center_of_mass_derivatives.center_of_mass_velocity_derivatives, shapes.three_rows, 2, is_large=True)
    def center_of_mass_velocity_derivatives(
        self, q: ArrayLike, v: ArrayLike, **named: Unpack[Named]
    ) -> tuple[Array, Array]:
        """∂ċ/∂q and ∂ċ/∂v, (…, 3, nv) each; the first is on the tangent space (q ⊕ dv), the second is the Jacobian."""

    @of_mass(center_of_mass_derivatives.center_of_mass_acceleration_derivatives, shapes.three_rows, 3, is_large=True)
    def center_of_mass_acceleration_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[Named]
    ) -> tuple[Array, Array, Array]:
        """∂c̈/∂q, ∂c̈/∂v and ∂c̈/∂a, (…, 3, nv) each; the first is on the tangent space (q ⊕ dv), the third is the
        Jacobian."""

    # -- momentum ----------------------------------------------------------------------------------------------

    @of_mass(centroidal.centroidal_momentum, shapes.six)
    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """h_G = [m ċ, k_G], linear momentum and angular momentum about the centre of mass, (…, 6) [N s, N m s]."""

    @of_mass(centroidal.centroidal_momentum_matrix, shapes.six_rows)
    def centroidal_momentum_matrix(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The centroidal momentum matrix A_G, h_G = A_G v, (…, 6, nv)."""

    @of_mass(centroidal.centroidal_momentum_bias, shapes.six)
    def centroidal_momentum_bias(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """Ȧ_G v, the rate of centroidal momentum at a = 0, (…, 6) [N, N m]."""

    @of_mass(centroidal.centroidal_momentum_rate, shapes.six)
    def centroidal_momentum_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """ḣ_G = A_G a + Ȧ_G v, (…, 6) [N, N m]: the sum of all external forces, including weight, and of their moments
        about G."""

    @of_mass(centroidal_derivatives.centroidal_momentum_matrix_rate, shapes.six_rows)
    def centroidal_momentum_matrix_rate(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """Ȧ_G, the time derivative of A_G along v, (…, 6, nv)."""

    @of_mass(centroidal_derivatives.centroidal_dynamics_derivatives, shapes.six_rows, 4, is_large=True)
    def centroidal_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[Named]
    ) -> tuple[Array, Array, Array, Array]:
        """∂h_G/∂q, ∂ḣ_G/∂q, ∂ḣ_G/∂v and ∂ḣ_G/∂a, (…, 6, nv) each; ∂/∂q is on the tangent space (q ⊕ dv), the last is
        A_G, and so is ∂h_G/∂v."""

    # -- as one body -------------------------------------------------------------------------------------------

    @of_mass(locked.locked_inertia, shapes.three_by_three)
    def locked_inertia(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """L, the rotational inertia of the robot with locked joints about its centre of mass, in world axes, (…, 3, 3)
        [kg m²]."""

    @of_mass(locked.locked_inertia_rate, shapes.three_by_three)
    def locked_inertia_rate(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """L̇, the time derivative of the locked inertia along v, (…, 3, 3) [kg m²/s]."""

    @of_mass(locked.average_velocity, shapes.six)
    def average_velocity(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """[ċ, ω̄], the average spatial velocity, (…, 6) [m/s, rad/s]: that of one body with the locked inertia and the
        momentum of the robot. ω̄ is NaN if all mass lies on one line."""

    @of_mass(locked.gesticulation, shapes.point)
    def gesticulation(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The moment of internal motion (gesticulation) L̇ ω̄ - ω̄ × L ω̄, (…, 3) [N m]: the difference of
        k̇_G = L ω̄̇ + L̇ ω̄ from Euler's equation of one rigid body."""

    def average_angular_velocity(self, q: ArrayLike, v: ArrayLike, *, parameters: ArrayLike | None = None) -> Array:
        """ω̄ = L⁻¹ k_G in world axes, (…, 3) [rad/s]; in general it is not the angular velocity of any frame."""
        return unpack_last(self.average_velocity(q, v, parameters=parameters), self.model.spatial_order)[1]

    def locked_velocity(self, q: ArrayLike, v: ArrayLike, *, parameters: ArrayLike | None = None) -> Array:
        """v_b + M_b⁻¹ M_bj v_j, (…, 6) [m/s, rad/s]: the base velocity, in the convention of v, at which the robot with
        locked joints has the same momentum. It is the average velocity at the base."""
        joint, order = self._floating_base("locked velocity"), self.model.spatial_order
        linear, angular = unpack_last(self.average_velocity(q, v, parameters=parameters), order)
        pose = self._robot.frame(self.model.frames[0].name).pose(q, parameters=parameters)
        linear = linear + cross_last(angular, pose[..., :3, 3] - self.center_of_mass(q, parameters=parameters))
        if joint.frame == "body":
            linear, angular = ((x[..., None, :] @ pose[..., :3, :3])[..., 0, :] for x in (linear, angular))
        return pack_last(linear, angular, order)

    def _floating_base(self, wanted: str) -> Free:
        joint = self.model.floating_base
        if not isinstance(joint, Free):
            raise ArgumentError(f"{self.model.name!r} has a fixed base, so it has no {wanted}")
        return joint

    # -- about other points ------------------------------------------------------------------------------------

    def momentum(
        self, q: ArrayLike, v: ArrayLike, about: Point | ArrayLike = "world", *, parameters: ArrayLike | None = None
    ) -> Array:
        """The total linear momentum, and the angular momentum about a point, in world axes, (…, 6) [N s, N m s].

        about   "world" (its origin), "base" (origin of the root link), "center-of-mass", or a point (…, 3) [m]
        """
        order = self.model.spatial_order
        linear, spin = unpack_last(self.centroidal_momentum(q, v, parameters=parameters), order)
        return pack_last(linear, spin + self._orbital(q, linear, about, parameters), order)

    def angular_momentum_parts(
        self, q: ArrayLike, v: ArrayLike, about: Point | ArrayLike = "world", *, parameters: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """The angular momentum about a point p, split (König) into spin k_G about the centre of mass and orbital
        momentum (c - p) × m ċ, (…, 3) each [N m s]."""
        momentum = self.centroidal_momentum(q, v, parameters=parameters)
        linear, spin = unpack_last(momentum, self.model.spatial_order)
        return spin, self._orbital(q, linear, about, parameters)

    def kinetic_energy_parts(
        self, q: ArrayLike, v: ArrayLike, *, parameters: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """The kinetic energy, split (König) into ½ m ċ² and the part about the centre of mass, (…) each [J]."""
        velocity = self.center_of_mass_velocity(q, v, parameters=parameters)
        mass = self._mass(parameters)
        of_center = 0.5 * (mass[..., 0] if np.ndim(mass) else mass) * (velocity * velocity).sum(-1)
        return of_center, self._robot.kinetic_energy(q, v, parameters=parameters) - of_center

    def _orbital(self, q: ArrayLike, linear: Array, about: Point | ArrayLike, parameters: ArrayLike | None) -> Array:
        """The orbital momentum (c - p) × m ċ."""
        if isinstance(about, str) and one_of("about", about, POINTS) == "center-of-mass":
            return 0.0 * linear
        r = self.center_of_mass(q, parameters=parameters)
        if not isinstance(about, str):
            r = r - (about if is_traced(about) else as_floats("about", about, (3,)))
        elif about == "base":
            r = r - self._robot.frame(self.model.frames[0].name).pose(q, parameters=parameters)[..., :3, 3]
        return cross_last(r, linear)

    def _mass(self, parameters: ArrayLike | None) -> Any:
        """The mass of all that moves [kg]; (…, 1) for parameters with batch axes."""
        if parameters is None:
            return self.model.mass
        is_known = is_traced(parameters) or self.model.parametric is None  # others are refused there
        given: Any = parameters if is_known else as_floats("parameters", parameters, (len(parameters_of(self.model)),))
        return moving_mass(self.model, given)

    # -- blocks ------------------------------------------------------------------------------------------------

    def floating_base_blocks(
        self, q: ArrayLike, v: ArrayLike, *, parameters: ArrayLike | None = None
    ) -> FloatingBaseBlocks:
        """The blocks of mass matrix and bias forces for base and joints: .M_b .M_bj .M_j .h_b .h_j, the selection .S_b;
        and results of these blocks: .mass, .center, .centroidal_momentum_matrix, .centroidal_momentum_bias."""
        joint, robot = self._floating_base("blocks of a floating one"), self._robot
        axes = np.eye(3)
        if joint.frame == "body":
            axes = robot.frame(self.model.frames[0].name).pose(q, parameters=parameters)[..., :3, :3]
        M, h = robot.mass_matrix(q, parameters=parameters), robot.bias_forces(q, v, parameters=parameters)
        return FloatingBaseBlocks(M, h, axes, self.model.gravity, self.model.spatial_order)

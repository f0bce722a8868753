"""A robot: its model, and methods that compute quantities of one state or of a batch (leading axes broadcast)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kinetree.algorithms import coriolis, crba, derivatives, energy, factorization, forward_dynamics, joint_forces, rnea
from kinetree.algorithms import newton_euler as vector_recursion
from kinetree.algorithms.arguments.references import AccelerationKind, Point, Reference
from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT64, as_dtype
from kinetree.base.unpickled_once import reduced_once
from kinetree.compiler import is_traced
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.compiled_function import Place, one_state
from kinetree.model.constraints import Constraint
from kinetree.model.findings import Finding
from kinetree.model.parametric import applied, parameters_of, redescribed
from kinetree.model.tree import Limits, Model
from kinetree.ops import Array
from kinetree.robot import shapes, trees
from kinetree.robot.actuators import Actuators
from kinetree.robot.applications import Applications
from kinetree.robot.bodies import BodyQuantities
from kinetree.robot.configurations import Configurations
from kinetree.robot.frame import Frame
from kinetree.robot.one_body import OneBodyQuantities
from kinetree.robot.parameters import ParameterQuantities
from kinetree.robot.quantity import Named, NamedOut, prepare, quantity
from kinetree.robot.tendons import Tendons
from kinetree.robot.textbook_methods import TextbookMethods
from kinetree.robot.wrench import Wrenches
from kinetree.robot.writing import Writing

EAGER = "KINETREE_EAGER"
"""An environment variable: with the value 1, every quantity is computed by the textbook path."""
_in_blocks = partial(quantity, any_frames=True, by_trees=trees.put_blocks)
"""Declares matrices (nv, nv) with a block for each tree on the world."""


@final
@dataclass(frozen=True)
class Robot(
    Configurations, OneBodyQuantities, ParameterQuantities, BodyQuantities, TextbookMethods, Applications, Writing
):
    """The kinematics and dynamics of a robot. Immutable, hashable, picklable.

    `kt.load` returns a robot; `kt.Robot(model)` makes one of a model that was built in code. Each quantity is compiled
    for the robot on its first call, and takes one state or a batch: leading axes are batch axes. With `textbook`,
    quantities run as Python, which is much slower.
    """

    model: Model
    textbook: bool = False
    dtype: np.dtype[Any] = FLOAT64

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype(self.dtype))
        if not isinstance(self.model, Model):
            hint = "; call .build() on a ModelBuilder" if hasattr(self.model, "build") else ""
            raise ArgumentTypeError(f"model is {short(self.model)}; expected a kinetree.Model{hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced_once(self, Robot, self.model, self.textbook, self.dtype)

    @property
    def eager(self) -> Robot:
        """The same robot on the textbook path, in float64, for debugging and comparison."""
        return Robot(self.model, textbook=True)

    def astype(self, dtype: DTypeLike) -> Robot:
        """The same robot, whose quantities are computed and returned in this dtype, "float64" or "float32"."""
        return self if as_dtype(dtype) == self.dtype else Robot(self.model, self.textbook, as_dtype(dtype))

    @lazy
    def baked(self) -> Robot:
        """The same robot with all its numbers as part of its code: it takes no parameters."""
        if self.model.parametric is None:
            return self
        options = self.model.options and replace(self.model.options, parametric={})
        return Robot(replace(self.model, parametric=None, options=options), self.textbook, self.dtype)

    def with_parameters(self, parameters: ArrayLike) -> Robot:
        """The same robot with other parameters, (n,), as in `parameters`; in a compiled function also traced values.

        Its code is that of this robot: other numbers compile nothing.
        """
        size = len(parameters_of(self.model))
        numbers = one_state("parameters", parameters, (size,))
        if is_traced(numbers):
            return self.at_parameters(numbers)
        if not np.isfinite(numbers).all():
            name = self.parameter_names[int(np.argmin(np.isfinite(numbers)))]
            raise ArgumentError(f"parameter {name!r} is not finite; expected finite numbers")
        return Robot(redescribed(applied(self.model, numbers.copy())), self.textbook, self.dtype)

    def at_parameters(self, parameters: Array) -> Robot:
        """`with_parameters` without any check, for one evaluation of a formula; it cannot be edited or written."""
        return Robot(replace(applied(self.model, parameters), description=None), self.textbook, self.dtype)

    @lazy
    def _frames(self) -> dict[str, Frame]:
        return {}

    @property
    def _subject(self) -> tuple[Robot, None]:
        return self, None

    @property
    def is_eager(self) -> bool:
        """Whether quantities are computed by their algorithms as they are written."""
        return self.textbook or os.environ.get(EAGER, "") not in ("", "0")

    # -- properties --------------------------------------------------------------------------------------------

    @property
    def mass(self) -> float:
        """The mass of all moving links [kg]; links fixed to the world do not count."""
        return self.model.mass

    @property
    def gravity(self) -> Array:
        """The gravitational acceleration in world axes, (3,) [m/s²]."""
        return self.model.gravity

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that own coordinates, in the order of q and v, without a floating base."""
        return tuple(joint.name for joint in self.model.owners if joint is not self.model.floating_base)

    @property
    def actuated_joints(self) -> tuple[str, ...]:
        """The joints with a motor, in the order of v: all but free joints, such as a floating base."""
        return tuple(joint.name for joint in self.model.owners if joint.has_motor)

    @property
    def selection_matrix(self) -> Array:
        """S with M a + C v + G = Sᵀ τ, (motors, nv): the rows of the identity for the entries of v that have a motor.

        `S.T @ tau` maps the efforts of the motors to nv entries, with zeros where there is no motor.
        """
        return selection(self.nv, self.model.actuated)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies, in the order of `poses`: links that a joint moves, and those that `keep_fixed` keeps."""
        return self.model.names[1:]

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The names of all links and sites."""
        return tuple(frame.name for frame in self.model.frames)

    @property
    def limits(self) -> Limits:
        """Position bounds .lower and .upper (nq), .velocity and .effort (nv)."""
        return self.model.limits

    @property
    def loops(self) -> tuple[Constraint, ...]:
        """The constraints that close loops of the tree, such as <connect> and <weld> of MJCF. `constrained` and
        rollouts hold them; other quantities are those of the tree."""
        return self.model.loops

    @lazy
    def actuators(self) -> Actuators:
        """The map from controls to efforts, such as motors and servos of MJCF; `len(robot.actuators)` is zero if the
        file has none."""
        return Actuators(self)

    @lazy
    def tendons(self) -> Tendons:
        """Lengths and moment arms of tendons; `len(robot.tendons)` is zero if there are none."""
        return Tendons(self)

    def frame(self, name: str) -> Frame:
        """The kinematics of a named frame."""
        known = self._frames.get(name) if isinstance(name, str) else None
        if known is None:
            known = self._frames.setdefault(name, Frame(self, self.model.frame(name).name))
        return known

    def check(self) -> tuple[Finding, ...]:
        """What was found in the model: implausible inertias, massless moving links, ignored tags, each with a severity
        "note", "warning" or "error", file and line."""
        return self.model.findings

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {self.nq} positions, {self.nv} velocities, {len(self.body_names)} bodies>"

    # -- dynamics ----------------------------------------------------------------------------------------------

    @quantity(rnea.inverse_dynamics, shapes.velocities, any_frames=True, by_trees=True)
    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]
    ) -> Array:
        """τ = M a + C v + G + F - Σ Jᵀ w, (…, nv) [N m or N], by RNEA; F are the `passive_forces` of the joints."""

    @quantity(forward_dynamics.forward_dynamics, shapes.velocities, any_frames=True, by_trees=True)
    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]
    ) -> Array:
        """a with M a + C v + G + F = τ + Σ Jᵀ w, (…, nv) [rad/s² or m/s²]; F are the `passive_forces` of the joints.

        The algorithm is ABA (articulated bodies); for few joints, or with mimic joints, a factorization of M.
        """

    @_in_blocks(crba.mass_matrix, shapes.square)
    def mass_matrix(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The mass matrix M(q), (…, nv, nv), by CRBA."""

    @_in_blocks(factorization.inverse_mass_matrix, shapes.square)
    def inverse_mass_matrix(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The inverse mass matrix M(q)⁻¹, (…, nv, nv)."""

    @quantity(rnea.bias_forces, shapes.velocities, any_frames=True, by_trees=True)
    def bias_forces(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]
    ) -> Array:
        """C v + G - Σ Jᵀ w, (…, nv) [N m or N], without `passive_forces`."""

    @quantity(joint_forces.passive_forces, shapes.velocities, by_trees=True)
    def passive_forces(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """F = damping · ẋ + friction · ẋ / √(ẋ² + w²) + stiffness · (x - rest) of all joints and tendons, less gravity
        compensation and the forces of a fluid, (…, nv) [N m or N]: the efforts that motors have to overcome, for
        positions or lengths x and the `friction_width` w of `kt.load`. They are zero for a model with passive=False."""

    @quantity(rnea.gravity_forces, shapes.velocities, any_frames=True, by_trees=True)
    def gravity_forces(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The gravity forces G(q), (…, nv) [N m or N]."""

    @_in_blocks(derivatives.gravity_forces_derivative, shapes.square, is_large=True)
    def gravity_forces_derivative(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """∂G/∂q of gravity forces, (…, nv, nv), on the tangent space: of G(q ⊕ dv) with respect to dv."""

    @_in_blocks(coriolis.coriolis_matrix, shapes.square)
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The Coriolis matrix C(q, v), (…, nv, nv): C v are the bias forces without gravity, and Ṁ - 2C is
        skew-symmetric."""

    @_in_blocks(coriolis.mass_matrix_rate, shapes.square)
    def mass_matrix_rate(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """Ṁ = C + Cᵀ, the time derivative of the mass matrix along v, (…, nv, nv)."""

    @quantity(coriolis.christoffel_symbols, shapes.cube, is_large=True, any_frames=True)
    def christoffel_symbols(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The Christoffel symbols Γ with C_ij = Σ_k Γ_ijk v_k, (…, nv, nv, nv)."""

    @quantity(vector_recursion.joint_reactions, shapes.body_sixes, by_trees=trees.put_bodies)
    def joint_reactions(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]
    ) -> Array:
        """The force and moment of the parent on every body, in the body's axes at the joint's origin, (…, nbodies, 6)
        [N, N m], in the order of `body_names`. It is the load of the joint, including the effort of its motor."""

    @quantity(vector_recursion.static_reactions, shapes.body_sixes, by_trees=trees.put_bodies)
    def static_reactions(self, q: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]) -> Array:
        """The `joint_reactions` at rest, (…, nbodies, 6) [N, N m]: the loads of gravity and wrenches."""

    @_in_blocks(derivatives.inverse_dynamics_derivatives, shapes.square, 2, keeps_references=True, is_large=True)
    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[Named]
    ) -> tuple[Array, Array]:
        """∂τ/∂q and ∂τ/∂v of inverse dynamics, (…, nv, nv) each; ∂τ/∂a is the mass matrix.

        ∂/∂q is on the tangent space: of τ(q ⊕ dv) with respect to dv. Wrenches are constant in their reference.
        """

    @_in_blocks(derivatives.forward_dynamics_derivatives, shapes.square, 3, keeps_references=True, is_large=True)
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[Named]
    ) -> tuple[Array, Array, Array]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ of forward dynamics, (…, nv, nv) each.

        ∂/∂q is on the tangent space: of a(q ⊕ dv) with respect to dv. Wrenches are constant in their reference.
        """

    @quantity(energy.kinetic_energy, shapes.scalar, any_frames=True, by_trees=trees.add)
    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The kinetic energy ½ vᵀ M v, (…) [J], including that of rotors."""

    @quantity(energy.potential_energy, shapes.scalar, any_frames=True)
    def potential_energy(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The potential energy U = -Σ m gᵀ c + ½ Σ stiffness · (x - rest)², (…) [J], of gravity, zero at the height of
        the world's origin, and of springs in joints, if the model has any."""

    # -- ahead of time -----------------------------------------------------------------------------------------

    def prepare(
        self,
        *quantities: str,
        wrenches: Iterable[str | Place] = (),
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        point: Point = "origin",
        batch: bool = False,
    ) -> None:
        """Compile quantities ahead of their first call, for one state or for batches, and for these options if they
        have them.

        `wrenches` lists frames at which wrenches may act, or (frame, reference) pairs. Calls with wrenches at only some
        of them run the same code, with zero wrenches at the others.
        """
        prepare(self, quantities, wrenches, {"reference": reference, "kind": kind, "point": point}, batch)


def selection(nv: int, entries: Iterable[int]) -> Array:
    """The rows of the identity for these entries of v, (len(entries), nv)."""
    return np.eye(nv)[list(entries)]


def as_robot(robot: Any) -> Robot:
    """The argument if it is a robot; raises otherwise."""
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(f"robot is {short(robot)}; expected a robot, such as kt.load returns")
    return robot

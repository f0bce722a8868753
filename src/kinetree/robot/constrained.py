"""A robot under constraints: contacts with the world and closed loops. Every quantity takes one state or a batch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms import constraint_derivatives, support_consistent
from kinetree.algorithms import constraints as constrained_dynamics
from kinetree.algorithms.passes.contact_rows import place
from kinetree.base.arguments import number_that
from kinetree.base.lazy_imports import importing
from kinetree.errors import ArgumentError, ArgumentTypeError, known, short
from kinetree.model.constraints import CONSTRAINTS, EXPECTED, Constraint, ConstraintSet, Contact, misfit
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.robot.quantity import HasQuantities, Named, NamedOut, prepare, quantity
from kinetree.robot.robot import Robot, selection
from kinetree.robot.wrench import Wrenches

if TYPE_CHECKING:
    from kinetree.simulation.trajectory import Trajectory


def constrained(
    robot: Robot,
    constraints: Constraint | Iterable[Constraint],
    damping: float,
    frequency: float,
    damping_ratio: float,
    actuated: Iterable[str] | None,
    loops: bool,
) -> Constrained:
    """The robot with these constraints; see `Robot.constrained`."""
    given = (constraints,) if isinstance(constraints, CONSTRAINTS) else tuple(constraints)
    for constraint in given:
        if not isinstance(constraint, CONSTRAINTS):
            raise ArgumentTypeError(f"constraints has {short(constraint)}; expected {EXPECTED}")
        if problem := misfit(robot.model, constraint):
            raise ArgumentError(problem)
    listed = (*(loop for loop in robot.loops if loops and loop not in given), *given)
    if not listed:
        raise ArgumentError(f"constraints is empty, and {robot.name!r} has no loops; expected a {EXPECTED}")
    epsilon = number_that(lambda x: 1e-12 <= x <= 1.0, "a number from 1e-12 to 1")("damping", damping)
    rate = number_that(lambda x: 0.0 <= x < math.inf, "a finite number, not below zero")
    omega, zeta = rate("frequency", frequency), rate("damping_ratio", damping_ratio)
    return Constrained(robot, ConstraintSet(listed, epsilon, omega, zeta, motors(robot, actuated)))


def motors(robot: Robot, actuated: Iterable[str] | None) -> tuple[int, ...]:
    """The entries of v of the named joints, or by default of all joints with a motor."""
    if actuated is None:
        return robot.model.actuated
    names = (actuated,) if isinstance(actuated, str) else tuple(actuated)
    joints = {joint.name: joint for joint in robot.model.owners if joint is not robot.model.floating_base}
    entries: set[int] = set()
    for name in names:
        joint = joints[known("joint", name, joints)]
        entries.update(range(joint.iv, joint.iv + joint.nv))
    return tuple(sorted(entries))


_ranked = partial(quantity, lacks_rank=constrained_dynamics.lacks_rank, any_frames=True)
"""Declares a quantity of constraints that may repeat each other."""


def _motion_and_forces(model: Model, k: int) -> tuple[tuple[int, ...], ...]:
    """The shapes (nv,) and (k,)."""
    return (model.nv,), (k,)


@final
@dataclass(frozen=True)
class Constrained(HasQuantities):
    """A robot under constraints with k equations in all. Immutable, hashable, picklable.

    The equations of a constraint, at its `rows`, are in world axes at the origin of its frame: linear, then angular if
    it has six. Forces f act on the robot at that frame; those of a loop act on `frame_a`, and -f on `frame_b`. That of
    a coupling is the effort on its joint.
    """

    robot: Robot
    equations: ConstraintSet

    def __post_init__(self) -> None:
        self.robot.require_float64("a robot under constraints")

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return self.equations.constraints

    @property
    def size(self) -> int:
        """The number of equations k."""
        return self.equations.size

    @property
    def rows(self) -> tuple[slice, ...]:
        """The rows of each constraint among the k equations."""
        return self.equations.rows

    @property
    def selection_matrix(self) -> Array:
        """S with M a + C v + G = Sᵀ τ + Jᵀ f, (motors, nv), for the motors of the robot or the joints in `actuated`."""
        return selection(self.robot.nv, self.equations.actuated)

    def __repr__(self) -> str:
        return f"<Constrained {self.robot.name!r}: {len(self.constraints)} constraints, {self.size} equations>"

    def pinned(self, q: ArrayLike) -> Constrained:
        """The same constraints with every contact fixed at the pose of its frame at q, (nq,); quantities that depend
        on these poses are compiled again."""
        pinned = []
        for constraint in self.constraints:
            if isinstance(constraint, Contact):
                pose = self.robot.frame(constraint.frame).pose(q)
                constraint = replace(constraint, at=place(constraint, pose))
            pinned.append(constraint)
        return Constrained(self.robot, replace(self.equations, constraints=tuple(pinned)))

    # -- kinematics --------------------------------------------------------------------------------------------

    @quantity(constrained_dynamics.jacobian, lambda model, k: (k, model.nv), any_frames=True)
    def jacobian(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The Jacobian J of the constraints, ṙ = J v, (…, k, nv)."""

    @quantity(constrained_dynamics.bias, lambda model, k: (k,), any_frames=True)
    def bias(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The bias acceleration J̇ v, (…, k) [m/s², rad/s²]."""

    @quantity(constrained_dynamics.position_error, lambda model, k: (k,), any_frames=True)
    def position_error(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The position error r, (…, k) [m, rad], from the pose `at` of a contact, or from `frame_b` of a loop, to the
        frame; zero for contacts without `at`."""

    # -- dynamics ----------------------------------------------------------------------------------------------

    @quantity(constrained_dynamics.forward_dynamics, _motion_and_forces, 2, any_frames=True)
    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[Named]
    ) -> tuple[Array, Array]:
        """a, (…, nv) [rad/s² or m/s²], and the forces f of the constraints on the robot, (…, k) [N, N m]:
        M a + C v + G = τ + Jᵀ f + Σ Jᵀ w and J a + J̇ v = 0."""

    @quantity(
        constraint_derivatives.forward_dynamics_derivatives,
        lambda model, k: ((model.nv, model.nv),) * 3 + ((k, model.nv),) * 3,
        6,
        keeps_references=True,
        is_large=True,
        any_frames=True,
    )
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[Named]
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """∂a/∂q, ∂a/∂v, ∂a/∂τ, (…, nv, nv) each, then ∂f/∂q, ∂f/∂v, ∂f/∂τ, (…, k, nv) each.

        ∂/∂q is on the tangent space (q ⊕ dv). Wrenches are constant in their reference. If constraints are redundant,
        ∂f is one of several with the same effect.
        """

    @quantity(support_consistent.inverse_dynamics, _motion_and_forces, 2, any_frames=True)
    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[Named]
    ) -> tuple[Array, Array]:
        """τ, (…, nv) [N m or N], and forces f, (…, k) [N, N m], for accelerations a that the constraints allow:
        M a + C v + G = τ + Jᵀ f + Σ Jᵀ w with the least ‖τ‖, (N_cᵀ Sᵀ)⁺ N_cᵀ (M a + C v + G - Σ Jᵀ w).

        τ is zero at entries without a motor if the motors can produce a. If they cannot, τ minimizes the residual
        N_cᵀ (M a + C v + G - Σ Jᵀ w - Sᵀ τ), whose entries without a motor are added to τ.
        """

    @quantity(support_consistent.nearest_torques, _motion_and_forces, 2, any_frames=True)
    def nearest_torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        **named: Unpack[Named],
    ) -> tuple[Array, Array]:
        """The torques that produce a and are nearest to given ones, (…, nv), and forces f, (…, k).

        For tau = 0 they are those of `inverse_dynamics`. Entries without a motor do not count.
        """

    def impact(
        self, q: ArrayLike, v: ArrayLike, restitution: ArrayLike = 0.0, *, parameters: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """The velocity v⁺ after an impact, (…, nv), and impulses p on the robot, (…, k) [N s, N m s], when frames that
        move at v reach their constraints: M (v⁺ - v) = Jᵀ p and J v⁺ = -e J v, with restitution e from 0 (plastic) to
        1 (elastic)."""
        e = np.asarray(restitution)
        if e.dtype.kind in "fiu" and not np.all((e >= 0.0) & (e <= 1.0)):
            raise ArgumentError(f"restitution is {short(restitution)}; expected numbers from 0 to 1")
        return self._impact(q, v, e[..., None], parameters=parameters)

    @quantity(constrained_dynamics.impact, _motion_and_forces, 2, any_frames=True)
    def _impact(
        self, q: ArrayLike, v: ArrayLike, restitution: ArrayLike, **named: Unpack[Named]
    ) -> tuple[Array, Array]:
        """v⁺ and impulses, with the coefficient of restitution as an array (…, 1)."""

    @_ranked(constrained_dynamics.projector, lambda model, k: (model.nv, model.nv))
    def projector(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The projector N = 1 - M⁻¹ Jᵀ Λ J, (…, nv, nv), on velocities that the constraints allow: J N = 0 and
        N N = N."""

    @quantity(constrained_dynamics.projected, lambda model, k: ((model.nq,), (model.nv,)), 2, any_frames=True)
    def projected(self, q: ArrayLike, v: ArrayLike, **named: Unpack[Named]) -> tuple[Array, Array]:
        """A configuration nearer to the constraints, (…, nq), and the part N v of the velocity that they allow,
        (…, nv). It is one step of Newton's method, r + J dq = 0 with the least dqᵀ M dq: one step closes small errors,
        a few steps close large ones."""

    @_ranked(constrained_dynamics.constraint_inertia, lambda model, k: (k, k))
    def constraint_inertia(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (…, k, k): the apparent inertia in the directions of the constraints. If they are
        redundant, it is the pseudo-inverse, which is symmetric and positive semidefinite."""

    # -- simulation --------------------------------------------------------------------------------------------

    def rollout(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        law_or_controls: Any,
        dt: float,
        steps: int,
        integrator: str = "semi-implicit-euler",
        **others: Any,
    ) -> Trajectory:
        """The motion from q0, v0 under the constraints, with the result and the other arguments of `Robot.rollout`.

        With a `frequency`, errors decay as in forward dynamics. Without, every step ends with `projected`, so that
        loops, and contacts with a pose `at`, stay closed.
        """
        importing("kinetree.simulation.dynamics")
        from kinetree.simulation.dynamics import Dynamics, constrained_dynamics  # noqa: PLC0415 - it imports robots

        importing("kinetree.simulation.rollout")
        from kinetree.simulation.rollout import rollout  # noqa: PLC0415 - it imports robots

        def dynamics(robot: Robot) -> Dynamics:
            return constrained_dynamics(self if robot is self.robot else Constrained(robot, self.equations))

        return rollout(self.robot, q0, v0, law_or_controls, dt, steps, integrator, dynamics=dynamics, **others)

    # -- ahead of time -----------------------------------------------------------------------------------------

    def prepare(self, *quantities: str, wrenches: Iterable[Any] = (), batch: bool = False) -> None:
        """Compile quantities ahead of their first call, as `Robot.prepare` does."""
        prepare(self, quantities, wrenches, batch=batch)

    @property
    def _subject(self) -> tuple[Robot, ConstraintSet]:
        return self.robot, self.equations

    def __reduce__(self) -> tuple[Any, ...]:
        return Constrained, (self.robot, self.equations)

"""A robot under constraints: contacts with the world and closed loops. Every quantity takes one state or a batch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms import constraint_derivatives, support_consistent
from kinetree.algorithms import constraints as constrained_dynamics
from kinetree.algorithms.passes.contact_rows import place
from kinetree.base.arguments import as_number
from kinetree.base.lazy_imports import importing
from kinetree.errors import ArgumentError, ArgumentTypeError, short, unknown
from kinetree.model.constraints import Constraint, ConstraintSet, Contact, Loop
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.robot.quantity import HasQuantities, prepare, quantity
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
) -> Constrained:
    """The robot with these constraints; see `Robot.constrained`."""
    listed = (constraints,) if isinstance(constraints, (Contact, Loop)) else tuple(constraints)
    for constraint in listed:
        if not isinstance(constraint, (Contact, Loop)):
            raise ArgumentTypeError(f"constraints has {short(constraint)}; expected kt.Contact or kt.Loop")
        _check(robot, constraint)
    if not listed:
        raise ArgumentError("constraints is empty; expected at least one kt.Contact or kt.Loop")
    epsilon = as_number("damping", damping)
    if not 1e-12 <= epsilon <= 1.0:
        raise ArgumentError(f"damping is {epsilon:g}; expected a number from 1e-12 to 1")
    omega, zeta = as_number("frequency", frequency), as_number("damping_ratio", damping_ratio)
    for name, rate in (("frequency", omega), ("damping_ratio", zeta)):
        if not 0.0 <= rate < math.inf:
            raise ArgumentError(f"{name} is {rate:g}; expected a finite number, not below zero")
    return Constrained(robot, ConstraintSet(listed, epsilon, omega, zeta, motors(robot, actuated)))


def _check(robot: Robot, constraint: Constraint) -> None:
    bodies = {robot.model.frame(name).body for name in constraint.frames}
    names = " and ".join(map(repr, constraint.frames))
    if not bodies & {*robot.model.moving}:
        raise ArgumentError(f"no joint moves {names}; expected a frame that can move")
    if isinstance(constraint, Loop) and len(bodies) == 1:
        raise ArgumentError(f"{names} are fixed to the same body; expected frames that can move against each other")


def motors(robot: Robot, actuated: Iterable[str] | None) -> tuple[int, ...]:
    """The entries of v that belong to joints with a motor: the named ones, or those of the robot."""
    if actuated is None:
        return robot.model.actuated
    names = (actuated,) if isinstance(actuated, str) else tuple(actuated)
    joints = {joint.name: joint for joint in robot.model.owners if joint is not robot.model.floating_base}
    entries: set[int] = set()
    for name in names:
        if name not in joints:
            raise unknown("joint", name, joints)
        entries.update(range(joints[name].iv, joints[name].iv + joints[name].nv))
    return tuple(sorted(entries))


def _motion_and_forces(model: Model, k: int) -> tuple[tuple[int, ...], ...]:
    """(nv,) and (k,)."""
    return (model.nv,), (k,)


@final
@dataclass(frozen=True)
class Constrained(HasQuantities):
    """A robot under constraints, k equations in all. Immutable, hashable, picklable.

    The rows of each constraint, `rows`, are in world axes at the origin of its frame: linear, and of constraints with
    six equations angular. Forces are those on the robot at that frame; of a loop, on `frame_a`, and -f on `frame_b`.
    """

    robot: Robot
    equations: ConstraintSet

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return self.equations.constraints

    @property
    def size(self) -> int:
        """k, the number of equations."""
        return self.equations.size

    @property
    def rows(self) -> tuple[slice, ...]:
        """For each constraint, which of the k equations are its own."""
        return self.equations.rows

    @property
    def selection_matrix(self) -> Array:
        """S with M a + C v + G = Sᵀ τ + Jᵀ f, (motors, nv): that of the robot, or of the joints in `actuated`."""
        return selection(self.robot.nv, self.equations.actuated)

    def __repr__(self) -> str:
        return f"<Constrained {self.robot.name!r}: {len(self.constraints)} constraints, {self.size} equations>"

    def pinned(self, q: ArrayLike) -> Constrained:
        """The same with every contact held where its frame is at q, (nq,); code that holds positions is made anew."""
        held = []
        for constraint in self.constraints:
            if isinstance(constraint, Contact):
                pose = self.robot.frame(constraint.frame).pose(q)
                constraint = replace(constraint, at=place(constraint, pose))
            held.append(constraint)
        return Constrained(self.robot, replace(self.equations, constraints=tuple(held)))

    # -- kinematics --------------------------------------------------------------------------------------------

    @quantity(constrained_dynamics.jacobian, lambda model, k: (k, model.nv))
    def jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """J with ṙ = J v, (…, k, nv)."""

    @quantity(constrained_dynamics.bias, lambda model, k: (k,))
    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """J̇ v, (…, k) [m/s², rad/s²]."""

    @quantity(constrained_dynamics.position_error, lambda model, k: (k,))
    def position_error(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """r, (…, k) [m, rad]: from where a contact is held, or from frame b of a loop, to the frame; zero for contacts
        without `at`."""

    # -- dynamics ----------------------------------------------------------------------------------------------

    @quantity(constrained_dynamics.forward_dynamics, _motion_and_forces, 2)
    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array]:
        """a, (…, nv), and the forces f of the constraints on the robot, (…, k) [N, N m]:
        M a + C v + G = τ + Jᵀ f + Σ Jᵀ w and J a + J̇ v = 0."""

    @quantity(
        constraint_derivatives.forward_dynamics_derivatives,
        lambda model, k: ((model.nv, model.nv),) * 3 + ((k, model.nv),) * 3,
        6,
        keeps_references=True,
        is_large=True,
    )
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """∂a/∂q, ∂a/∂v, ∂a/∂τ, (…, nv, nv) each, then ∂f/∂q, ∂f/∂v, ∂f/∂τ, (…, k, nv) each, q moved by `integrate`.

        Wrenches are held constant in their reference. Where constraints repeat each other, ∂f is one of those with the
        same effect.
        """

    @quantity(support_consistent.inverse_dynamics, _motion_and_forces, 2)
    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array]:
        """τ, (…, nv), and forces f, (…, k), for accelerations that the constraints allow:
        M a + C v + G = τ + Jᵀ f + Σ Jᵀ w with the least ‖τ‖, (N_cᵀ Sᵀ)⁺ N_cᵀ (M a + C v + G - Σ Jᵀ w).

        τ is zero where there is no motor, if torques lead to a at all. If not, τ leaves the least residual
        N_cᵀ (M a + C v + G - Σ Jᵀ w - Sᵀ τ), of which the entries without a motor are put into τ.
        """

    @quantity(support_consistent.nearest_torques, _motion_and_forces, 2)
    def nearest_torques(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array]:
        """Of all torques that lead to a, those nearest to given ones, (…, nv), and forces f, (…, k).

        With zeros they are those of `inverse_dynamics`. Torques where there is no motor do not count.
        """

    def impact(self, q: ArrayLike, v: ArrayLike, restitution: ArrayLike = 0.0) -> tuple[Array, Array]:
        """v⁺, (…, nv), and impulses p on the robot, (…, k) [N s, N m s], when frames that move at v meet what holds
        them: M (v⁺ - v) = Jᵀ p and J v⁺ = -e J v, with restitution e from 0, plastic, to 1, elastic."""
        e = np.asarray(restitution)
        if e.dtype.kind in "fiu" and not np.all((e >= 0.0) & (e <= 1.0)):
            raise ArgumentError(f"restitution is {short(restitution)}; expected numbers from 0 to 1")
        return self._impact(q, v, e[..., None])

    @quantity(constrained_dynamics.impact, _motion_and_forces, 2)
    def _impact(self, q: ArrayLike, v: ArrayLike, restitution: ArrayLike) -> tuple[Array, Array]:
        """v⁺ and impulses, with the coefficient as an array (…, 1)."""

    @quantity(
        constrained_dynamics.projector,
        lambda model, k: (model.nv, model.nv),
        lacks_rank=constrained_dynamics.lacks_rank,
    )
    def projector(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """N = 1 - M⁻¹ Jᵀ Λ J, (…, nv, nv): J N = 0 and N N = N."""

    @quantity(constrained_dynamics.projected, lambda model, k: ((model.nq,), (model.nv,)), 2)
    def projected(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """A configuration nearer to where the constraints hold, (…, nq), and the part N v of a velocity that they
        allow, (…, nv). One step of Newton's method, r + J dq = 0 with the least dqᵀ M dq: what is nearly closed is then
        closed, and a few steps close what is not."""

    @quantity(
        constrained_dynamics.constraint_inertia, lambda model, k: (k, k), lacks_rank=constrained_dynamics.lacks_rank
    )
    def constraint_inertia(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (…, k, k): the inertia felt in the constraints. Where they repeat each other it is the
        pseudo-inverse, which is symmetric and positive semidefinite."""

    # -- over time ---------------------------------------------------------------------------------------------

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
        """The motion from q0, v0 under the constraints, as `Robot.rollout` gives it, and with its other arguments.

        With `frequency` errors decay as they do in forward dynamics; without, every step ends with `projected`, so that
        loops, and contacts that know where, stay closed however long it takes.
        """
        importing("kinetree.simulation.dynamics")
        from kinetree.simulation.dynamics import Dynamics  # noqa: PLC0415 - it knows robots

        importing("kinetree.simulation.rollout")
        from kinetree.simulation.rollout import rollout  # noqa: PLC0415 - it knows laws, which know robots

        settled = None if self.equations.frequency else self.projected
        dynamics = Dynamics(lambda q, v, tau: self.forward_dynamics(q, v, tau)[0], settled, (self.equations,))
        return rollout(self.robot, q0, v0, law_or_controls, dt, steps, integrator, dynamics=dynamics, **others)

    # -- ahead of time -----------------------------------------------------------------------------------------

    def prepare(self, *quantities: str, wrenches: Iterable[Any] = (), batch: bool = False) -> None:
        """Compile quantities before they are first asked for, as `Robot.prepare` does."""
        prepare(self, quantities, wrenches, batch=batch)

    @property
    def _subject(self) -> tuple[Robot, ConstraintSet]:
        return self.robot, self.equations

    def __reduce__(self) -> tuple[Any, ...]:
        return Constrained, (self.robot, self.equations)

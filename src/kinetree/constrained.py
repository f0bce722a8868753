"""A robot under constraints: contacts with the world and closed loops. Every quantity takes one state or a batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.contact_rows import place
from kinetree.arguments import as_number
from kinetree.binding import native
from kinetree.engine import Request
from kinetree.errors import ArgumentError, ArgumentTypeError, short, unknown
from kinetree.later import importing
from kinetree.model.constraints import Constraint, ConstraintSet, Contact, Loop
from kinetree.ops import Array
from kinetree.quantities import OF_CONSTRAINTS
from kinetree.robot import Robot, selection
from kinetree.wrench import Wrench

if TYPE_CHECKING:
    from kinetree.simulation.trajectory import Trajectory

Wrenches = Mapping[str, "ArrayLike | Wrench"]


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


@final
@dataclass(frozen=True)
class Constrained:
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

    @native
    def jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """J with ṙ = J v, (…, k, nv)."""
        return self._call("jacobian", (q,), out)

    @native
    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """J̇ v, (…, k) [m/s², rad/s²]."""
        return self._call("bias", (q, v), out)

    @native
    def position_error(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """r, (…, k) [m, rad]: from where a contact is held, or from frame b of a loop, to the frame; zero for contacts
        without `at`."""
        return self._call("position_error", (q,), out)

    # -- dynamics ----------------------------------------------------------------------------------------------

    @native
    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array]:
        """a, (…, nv), and the forces f of the constraints on the robot, (…, k) [N, N m]:
        M a + C v + G = τ + Jᵀ f + Σ Jᵀ w and J a + J̇ v = 0."""
        return self._pair("forward_dynamics", (q, v, tau), wrenches)

    @native
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """∂a/∂q, ∂a/∂v, ∂a/∂τ, (…, nv, nv) each, then ∂f/∂q, ∂f/∂v, ∂f/∂τ, (…, k, nv) each, q moved by `integrate`.

        Wrenches are held constant in their reference. Where constraints repeat each other, ∂f is one of those with the
        same effect.
        """
        slopes: tuple[Array, Array, Array, Array, Array, Array] = self.robot._engine.evaluate(
            OF_CONSTRAINTS["forward_dynamics_derivatives"], (q, v, tau), wrenches=wrenches, subject=self.equations
        )
        return slopes

    @native
    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array]:
        """τ, (…, nv), and forces f, (…, k), for accelerations that the constraints allow:
        M a + C v + G = τ + Jᵀ f + Σ Jᵀ w with the least ‖τ‖, (N_cᵀ Sᵀ)⁺ N_cᵀ (M a + C v + G - Σ Jᵀ w).

        τ is zero where there is no motor, if torques lead to a at all. If not, τ leaves the least residual
        N_cᵀ (M a + C v + G - Σ Jᵀ w - Sᵀ τ), of which the entries without a motor are put into τ.
        """
        return self._pair("inverse_dynamics", (q, v, a), wrenches)

    @native
    def nearest_torques(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike, wrenches: Wrenches | None = None
    ) -> tuple[Array, Array]:
        """Of all torques that lead to a, those nearest to given ones, (…, nv), and forces f, (…, k).

        With zeros they are those of `inverse_dynamics`. Torques where there is no motor do not count.
        """
        return self._pair("nearest_torques", (q, v, a, tau), wrenches)

    def impact(self, q: ArrayLike, v: ArrayLike, restitution: ArrayLike = 0.0) -> tuple[Array, Array]:
        """v⁺, (…, nv), and impulses p on the robot, (…, k) [N s, N m s], when frames that move at v meet what holds
        them: M (v⁺ - v) = Jᵀ p and J v⁺ = -e J v, with restitution e from 0, plastic, to 1, elastic."""
        e = np.asarray(restitution)
        if e.dtype.kind in "fiu" and not np.all((e >= 0.0) & (e <= 1.0)):
            raise ArgumentError(f"restitution is {short(restitution)}; expected numbers from 0 to 1")
        return self._pair("impact", (q, v, e[..., None]))

    @native
    def projector(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """N = 1 - M⁻¹ Jᵀ Λ J, (…, nv, nv): J N = 0 and N N = N."""
        return self._call("projector", (q,), out)

    @native
    def projected(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """A configuration nearer to where the constraints hold, (…, nq), and the part N v of a velocity that they
        allow, (…, nv). One step of Newton's method, r + J dq = 0 with the least dqᵀ M dq: what is nearly closed is then
        closed, and a few steps close what is not."""
        return self._pair("projected", (q, v))

    @native
    def constraint_inertia(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (…, k, k): the inertia felt in the constraints. Where they repeat each other it is the
        pseudo-inverse, which is symmetric and positive semidefinite."""
        return self._call("constraint_inertia", (q,), out)

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
        listed = [wrenches] if isinstance(wrenches, str) else list(wrenches)
        places = tuple(sorted({self.robot._place(item) for item in listed}))
        for name in quantities:
            if not isinstance(name, str) or name not in OF_CONSTRAINTS:
                raise unknown("quantity", name, OF_CONSTRAINTS)
            if places and not OF_CONSTRAINTS[name].takes_wrenches:
                raise ArgumentError(f"{name} takes no wrenches")
        for name in quantities:
            self.robot._engine.prepare(Request(OF_CONSTRAINTS[name], self.equations, (), places), batch)

    def __reduce__(self) -> tuple[Any, ...]:
        return Constrained, (self.robot, self.equations)

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        return self.robot._engine.native_call(self, OF_CONSTRAINTS[method.__name__], self.equations, method)

    def _call(self, name: str, values: tuple[Any, ...], out: Array | None) -> Array:
        result: Array = self.robot._engine.evaluate(OF_CONSTRAINTS[name], values, out, subject=self.equations)
        return result

    def _pair(self, name: str, values: tuple[Any, ...], wrenches: Wrenches | None = None) -> tuple[Array, Array]:
        pair: tuple[Array, Array] = self.robot._engine.evaluate(
            OF_CONSTRAINTS[name], values, wrenches=wrenches, subject=self.equations
        )
        return pair

"""Whole-body control: torques from a quadratic program in accelerations and contact forces, one native call a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_count, as_listed, as_number, if_given
from kinetree.base.unpickled_once import reduced_once
from kinetree.control.whole_body.compiled import Compiled
from kinetree.control.whole_body.contacts import GroundContact
from kinetree.control.whole_body.dynamics import Dynamics
from kinetree.control.whole_body.fallback import FALLBACKS, Fallback, Safe
from kinetree.control.whole_body.limits import TorqueLimits, WholeBodyLimit
from kinetree.control.whole_body.pack_references import packed, switched
from kinetree.control.whole_body.problem import Problem
from kinetree.control.whole_body.whole_body_step import WholeBodyStep
from kinetree.errors import ArgumentError, one_of
from kinetree.functions.binding import native as native_method
from kinetree.functions.binding import text_of
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot
from kinetree.robot.constrained import motors
from kinetree.solvers import active_set
from kinetree.tasks import Task

OWN = (TorqueLimits(),)
"""Limits unless others are given: the robot's."""


@final
class WholeBody:
    """Torques that achieve the tasks of a robot as well as contacts and limits allow.

    Of all accelerations a, contact forces f and torques τ with M a + b = Sᵀ τ + Σ J_cᵀ f, contacts in place, f in their
    cones and within limits, a step finds those with the least Σ ‖w · residual‖² + λ² (‖a‖² + ‖f / m‖²). Several
    priorities are strict: a later level never changes the residuals of earlier ones.

    limits             `TorqueLimits()`, of the robot, unless others are given
    dt                 over which motion limits look ahead [s]: the time from step to step, or more
    actuated           names of joints with a motor; by default `robot.actuated_joints`, all but free ones
    regularization     λ
    iterations         the most changes of the active set a step may take; with priorities, each of them
    fallback           what a step without a solution gives: None for an error, "gravity-compensation" or "damping"
    fallback_damping   d of the fallback's -d v [N m s/rad]

    A step is pure: the same arguments give the same numbers, and what a step learns for the next is in its `state`.
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Task | Iterable[Task],
        contacts: GroundContact | Iterable[GroundContact] = (),
        limits: WholeBodyLimit | Iterable[WholeBodyLimit] = OWN,
        *,
        dt: float = 0.01,
        actuated: Iterable[str] | None = None,
        regularization: float = 1e-3,
        iterations: int = 1000,
        fallback: Fallback | None = None,
        fallback_damping: float = 1.0,
    ) -> None:
        robot = as_robot(robot)
        robot.require_float64("whole-body control")
        listed = as_listed("tasks", tasks, Task, "Pose('tool0')")
        held = as_listed("contacts", contacts, GroundContact, "SurfaceContact('left_foot')")
        bounded = as_listed("limits", limits, WholeBodyLimit, "TorqueLimits()")
        kinds = [type(limit) for limit in bounded]
        if len(set(kinds)) != len(kinds):
            raise ArgumentError("limits has two of a kind; expected one of TorqueLimits and one of MotionLimits")
        for contact in held:
            robot.frame(contact.frame)
            contact.check(robot)
        _unique("contact", [str(contact.name) for contact in held])
        _unique("task", [str(task.name) for task in listed])
        numbers = {"dt": dt, "regularization": regularization, "fallback_damping": fallback_damping}
        read = {name: as_number(name, number) for name, number in numbers.items()}
        for name, number in read.items():
            if not 0.0 <= number < np.inf or (name != "fallback_damping" and number == 0.0):
                raise ArgumentError(f"{name} is {number:g}; expected a positive number")
        self.limit = as_count("iterations", iterations)
        if not self.limit:
            raise ArgumentError("iterations is 0; expected at least one")
        driven = None if actuated is None else as_listed("actuated", actuated, str, "'left_knee'")
        dynamics = Dynamics(robot, held, motors(robot, driven))
        self.problem = Problem(dynamics, listed, bounded, read["dt"], read["regularization"])
        if not self.problem.task_rows:
            raise ArgumentError("tasks is empty; expected at least one task")
        for limit in bounded:
            limit.check(dynamics)
        self.robot, self.tasks, self.contacts, self.limits = robot, listed, held, bounded
        self.fallback = None if fallback is None else one_of("fallback", fallback, FALLBACKS)
        self._safe = Safe(self.problem, self.fallback or "damping", read["fallback_damping"])  # type: ignore[arg-type]
        self._given = (robot, listed, held, bounded), {
            **read, "actuated": driven, "iterations": self.limit, "fallback": self.fallback
        }  # fmt: skip
        self._compiled = Compiled(self.problem, self.limit, self._safe if self.fallback is not None else None)
        self._all_on = switched(self.problem, None, None)
        self._cold = np.zeros(self._compiled.state_size)
        self._places = {name: slice(at.start - robot.nv, at.stop - robot.nv) for name, at in dynamics.forces.items()}

    def __repr__(self) -> str:
        names = ", ".join(str(task.name) for task in self.tasks)
        return f"<WholeBody of {self.robot.name!r}: {names}; {len(self.contacts)} contacts>"

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced_once(self, _again, *self._given)

    def __call__(
        self, q: ArrayLike, v: ArrayLike, reference: Any = None, *, parameters: ArrayLike | None = None
    ) -> Array:
        """τ, (…, nv), of a step that starts from nothing, all contacts and tasks on."""
        known = if_given(parameters=parameters)
        return self.solve(q, v, packed(self.problem, reference), self._all_on, self._cold, **known)[0]

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Any = None,
        contacts: Any = None,
        weights: Any = None,
        state: Array | None = None,
        *,
        parameters: ArrayLike | None = None,
    ) -> WholeBodyStep:
        """A step for one state of the robot.

        reference   a dict with a target for every task that needs one, or with (target, velocity, acceleration) for
                    those with feed-forward; or what `pack` made of that
        contacts    a dict from names to whether they are on, or a number for each; those not named are on
        weights     a dict from names of tasks to factors of their weights, zero for off; or a number for each
        state       that of the last step, for speed
        parameters  those of a parametric robot, by name; its own unless given
        """
        r = reference if type(reference) is np.ndarray else packed(self.problem, reference)
        s = self._all_on if contacts is None and weights is None else switched(self.problem, contacts, weights)
        last = self._cold if state is None else state
        tau, a, forces, new, info = self.solve(q, v, r, s, last, **if_given(parameters=parameters))
        if tau.ndim > 1:
            raise ArgumentError(f"step takes one state and got a batch {tau.shape[:-1]}; solve takes batches")
        error = None
        if info[active_set.STATUS] != active_set.SOLVED:
            values = self._compiled.with_parameters((q, v, r, s, last), parameters)
            error = self._compiled.why(int(info[active_set.STATUS]), [np.asarray(x, dtype=float) for x in values])
        return WholeBodyStep(tau, a, forces, new, int(info[active_set.ITERATIONS]), self._places, error)

    def pack(self, reference: Any) -> Array:
        """References by name as the vector that `solve` takes, (…, r); made once, entries may be changed in place."""
        return packed(self.problem, reference)

    def switches(self, contacts: Any = None, weights: Any = None) -> Array:
        """Contacts and weights by name as the vector that `solve` takes, (s,)."""
        return switched(self.problem, contacts, weights)

    @native_method
    def solve(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: ArrayLike,
        switches: ArrayLike,
        state: ArrayLike,
        *,
        parameters: ArrayLike | None = None,
    ) -> tuple[Array, Array, Array, Array, Array]:
        """A step of arrays alone, whose leading axes are batch axes: τ, a, forces, the next state, and info: how it
        ended, 0 for a solution, and how many changes it took. `step` is the same with names."""
        values = self._compiled.with_parameters((q, v, reference, switches, state), parameters)
        return self._compiled.evaluate(values)

    def prepare(self) -> None:
        """Compile ahead: the step, and its fallback if there is one."""
        self._compiled.prepare()
        if self.fallback == "gravity-compensation":
            self._safe.torques(self.robot.neutral(), np.zeros(self.robot.nv), self._all_on)

    def wrenches(self, q: ArrayLike, forces: ArrayLike, *, parameters: ArrayLike | None = None) -> dict[str, Array]:
        """Forces of a step as wrenches on frames, in world axes at their origins, (6,): as `inverse_dynamics` of the
        robot and of a simulator takes them. Those of contacts at the same frame are summed."""
        q = as_constant("q", q, (self.robot.nq,))
        f = as_constant("forces", forces, (self.problem.dynamics.held,))
        found: dict[str, Array] = {}
        for contact in self.contacts:
            wrench = contact.wrench(self.robot, q, f[self._places[str(contact.name)]], parameters)
            found[contact.frame] = found.get(contact.frame, 0.0) + wrench
        return found

    @property
    def _compiled_function(self) -> Compiled:
        """What exporters take."""
        if self.fallback is not None:
            raise ArgumentError(
                f"WholeBody has the fallback {self.fallback!r}, which runs as Python; expected one with fallback=None, "
                "whose exported function returns a code where there is no solution"
            )
        return self._compiled

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        return self._compiled.native_call(self, "solve", text_of(method), method, __name__)


def _unique(kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"two {kind}s are called {name!r}; expected a different name= for each")


def _again(args: tuple[Any, ...], options: dict[str, Any]) -> WholeBody:
    """From a pickle."""
    return WholeBody(*args, **options)

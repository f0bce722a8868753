"""Velocities that meet tasks within limits: formulas in one kernel, then a solver, all in one native call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats, as_listed, as_number, batch_shape, if_given
from kinetree.base.lazy import lazy
from kinetree.base.unpickled_once import reduced_once
from kinetree.compiler import Buffer, Numbers, Operand, Result, Stage
from kinetree.errors import (
    ArgumentError,
    ArgumentTypeError,
    InfeasibleError,
    NotFiniteError,
    QuadraticProgramError,
    short,
    unknown,
)
from kinetree.functions.binding import native as native_method
from kinetree.functions.bound_law import BoundLaw, law_of_method
from kinetree.functions.identity import identity
from kinetree.functions.parameters import Parameters
from kinetree.functions.pipeline import Pipeline
from kinetree.ik.limits import Limits
from kinetree.ik.problem import Problem
from kinetree.model.constraints import Contact
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot
from kinetree.solvers import active_set, hierarchical_qp, qp
from kinetree.solvers.stages import PROGRAM, SHARED_PROGRAM
from kinetree.tasks import MotionTask, Task

_INFO = 4


@dataclass(frozen=True, eq=False)
class Step:
    """A velocity v, (nv,), the residual J v - rate of every task, and which limits hold it, (nv,): -1 lower, 1 upper, 2
    where both are the same, as those of a joint whose velocity limit is zero."""

    v: Array
    residuals: tuple[Array, ...]
    at_limit: Array


@final
class DifferentialIK:
    """Joint velocities that achieve tasks as well as limits and contacts allow.

    Tasks of one priority are weighted: v minimises Σ ‖w (J v - ẋ* - gain · error)‖² + λ² ‖v‖². Several priorities are
    strict: a later level never changes the residuals of earlier ones. Contacts are satisfied exactly, or, with several
    priorities, at the first level.

    dt             the length of a step [s], for limits
    damping        λ: velocities stay bounded where the robot is singular
    levenberg      adds that times Σ ‖w error‖² to λ²: more damping far from the targets
    contact_gain   with which contacts that have a place (`kt.Contact(…, at=…)`) return to it [1/s]
    """

    def __init__(
        self,
        robot: Robot,
        tasks: MotionTask | Iterable[MotionTask],
        limits: Limits | None = Limits(),  # noqa: B008 - it is immutable
        *,
        dt: float = 0.01,
        contacts: Contact | Iterable[Contact] = (),
        damping: float = 1e-3,
        levenberg: float = 0.0,
        contact_gain: float = 10.0,
    ) -> None:
        listed = as_listed("tasks", tasks, Task, "kt.ik.Pose('tool0')")
        held = as_listed("contacts", contacts, Contact, "kt.Contact('left_foot')")
        robot = as_robot(robot)
        robot.require_float64("differential inverse kinematics")
        for task in listed:
            _refuse(task)
            task.check(robot)
        for contact in held:
            robot.frame(contact.frame)
        if limits is not None:
            if not isinstance(limits, Limits):
                raise ArgumentTypeError(f"limits is {short(limits)}; expected kt.ik.Limits(), or None")
            limits.check(robot)
        if not listed:
            raise ArgumentError("tasks is empty; expected at least one task")
        numbers = {"dt": dt, "damping": damping, "levenberg": levenberg, "contact_gain": contact_gain}
        read = {name: as_number(name, number) for name, number in numbers.items()}
        for name, number in read.items():
            if not 0.0 <= number < np.inf or (name == "dt" and number == 0.0):
                raise ArgumentError(f"{name} is {number:g}; expected a positive number{' or zero' * (name != 'dt')}")
        self.problem = Problem(robot, listed, held, limits, **read)
        self.robot, self.tasks, self.limits, self.contacts = robot, listed, limits, held

    def __repr__(self) -> str:
        return f"<DifferentialIK of {self.robot.name!r}: {', '.join(type(task).__name__ for task in self.tasks)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        p = self.problem
        numbers = (p.damping, p.levenberg, p.contact_gain)
        return reduced_once(self, _again, p.robot, p.tasks, p.limits, p.dt, p.contacts, *numbers)

    def __call__(self, *given: ArrayLike, **named: Any) -> Array:
        """`velocity`."""
        return self.velocity(*given, **named) if named else self.velocity(*given)  # which takes 40 ns less

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of `velocity`: q, then those of each task, then the last v if accelerations are limited."""
        return tuple(self.problem.arguments)

    @property
    def is_strict(self) -> bool:
        """Whether there are several priorities."""
        return len(self.problem.priorities) > 1

    @native_method
    def velocity(
        self, *given: ArrayLike, parameters: ArrayLike | None = None, out: Array | None = None, **named: ArrayLike
    ) -> Array:
        """v, (…, nv), for the `arguments` and the parameters of a parametric robot, whose leading axes are batch
        axes."""
        values = [array for array, _ in self._read(given, named, parameters).values()]
        return self._velocity.evaluate(values, out=out)

    def step(self, *given: ArrayLike, parameters: ArrayLike | None = None, **named: ArrayLike) -> Step:
        """The velocity for one state with what became of the tasks and limits: for looking at, not for speed."""
        arguments = self._read(given, named, parameters)
        batch = batch_shape(arguments)
        if batch:
            raise ArgumentError(f"step takes one state and got a batch {batch}; velocity takes batches")
        state = {name: array for name, (array, _) in arguments.items()}
        v: Array = self._velocity.evaluate(list(state.values()))
        eager = self.robot.eager
        if "parameters" in state:
            eager = eager.at_parameters(state.pop("parameters"))
        rows = self.problem.rows(eager, state)
        lower, upper = self.problem._bounds(eager, state)
        at_lower, at_upper = (np.abs(v - bound) < 1e-9 for bound in (lower, upper))
        at_limit = np.select([at_lower & at_upper, at_lower, at_upper], [2.0, -1.0, 1.0], 0.0)
        return Step(v, tuple(J @ v - rate for J, rate, _ in rows), at_limit)

    # -- compiled ----------------------------------------------------------------------------------------------

    @lazy
    def _velocity(self) -> Velocity:
        return Velocity(self.problem)

    @property
    def _compiled_function(self) -> Velocity:
        """What exporters take."""
        return self._velocity

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        by_name = ["out=None"] if self._velocity.parameters is None else ["parameters=None", "out=None"]
        parameters = ", ".join(["$self", *self.problem.arguments, "*", *by_name])
        text = f"velocity({parameters})\n--\n\n{inspect.getdoc(method)}"
        return self._velocity.native_call(self, "velocity", text, method, __name__)

    @lazy
    def _reader(self) -> Parameters:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in self.problem.arguments]
        return Parameters("velocity", inspect.Signature(parameters))

    def _read(
        self, given: tuple[Any, ...], named: dict[str, Any], parameters: Any
    ) -> dict[str, tuple[Array, tuple[int, ...]]]:
        own = list(self._reader.bound(given, named).values())
        values = zip(self._velocity.arrays.items(), self._velocity.with_parameters(own, parameters), strict=True)
        return {name: (as_floats(name, value, core), core) for (name, core), value in values}


class Velocity(Pipeline):
    """v as stages: the formula, then a solver."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.robot = problem, problem.robot
        super().__init__("velocity", problem.arguments, {"v": (problem.robot.nv,)}, problem.robot)
        of_rows = ("J", "e", "damping", "D") if problem.by_levels else ("H", "g", "C")
        self.between = (*of_rows, "lower", "upper")

    @lazy
    def first(self) -> BoundLaw:
        """What the solver is given, as a law."""
        problem = self.problem
        method = problem.levels if problem.by_levels else problem.program
        own = identity("differential IK", problem.by_levels, problem)
        return law_of_method("formula", method, problem.arguments, self.robot, own)

    @property
    def _is_hard(self) -> bool:
        """Whether contacts are equations, which limits may contradict, and not the first of several priorities."""
        return self.problem.held > 0 and len(self.problem.priorities) <= 1

    def stages(self, operands: Mapping[str, Operand]) -> list[Stage]:
        """From what the formula gives to v."""
        p, n, held, info = self.problem, self.robot.nv, self.problem.held, Buffer("info", _INFO)
        given = tuple(operands[name] for name in self.between)
        if p.by_levels:
            count = (n + p.places) * len(p.level_sizes)
            inputs, outputs = (*given, Numbers((0.0,) * count)), (Result(0), Buffer("active", count), info)
            shared, since = held if self._is_hard else 0, (-1,) * p.places
            return [hierarchical_qp.stage(n, p.level_sizes, since, inputs, outputs, hard=self._is_hard, shared=shared)]
        m = held + p.places
        method = SHARED_PROGRAM if held else PROGRAM
        inputs = (*given, Numbers((0.0,) * (n + m)), Numbers((0.0, float(held))))
        ended = (Result(0), Buffer("multipliers", n + m), Buffer("active", n + m), info)
        return [method.stage(n, m, inputs, ended, own=True)]

    def refuse(self, status: int, given: list[Array], results: list[Array]) -> NoReturn:
        """Say why a step has no velocity: the formula refuses the state, or the solver refuses the formula."""
        for name, array in zip(self.arrays, given, strict=True):
            if not np.isfinite(array).all():
                index = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
                raise NotFiniteError(f"{name} has {array[index]} at {list(index)}; expected finite numbers")
        parts = [np.asarray(part, dtype=float) for part in self.formula_at(given)]
        n, held = self.robot.nv, self.problem.held
        if self.problem.by_levels:
            J, e, _, D, lower, upper = parts
            if not self._is_hard or status != active_set.INFEASIBLE or not np.isfinite(J).all():
                hierarchical_qp.refuse(status, parts)
            C, rates = np.concatenate([J[:held], D]), e[:held]
        else:
            _, _, C, lower, upper = parts
            if status != active_set.INFEASIBLE or not np.isfinite(C).all():
                qp.refuse(status, parts, np.ones(len(lower)))
            rates = lower[n : n + held]
            lower, upper = (np.delete(bound, slice(n, n + held)) for bound in (lower, upper))
        conflict = qp.conflict(C, rates, held, lower, upper)
        if not conflict:
            raise QuadraticProgramError(f"no velocity was found; the solver ended with status {status}")
        error = InfeasibleError(f"no velocity keeps all contacts within limits: {self._named(conflict)}")
        error.rows = conflict
        raise error

    def _named(self, rows: tuple[int, ...]) -> str:
        problem, joints = self.problem, dict[int, str]()
        for joint in self.robot.model.owners:
            joints |= dict.fromkeys(range(joint.iv, joint.iv + joint.nv), f"limits of {joint.name!r}")
        end = self.robot.nv
        for contact in problem.contacts:
            joints |= dict.fromkeys(range(end, end + contact.size), f"contact of {contact.frame!r}")
            end += contact.size
        places = [] if problem.limits is None else problem.limits.places(self.robot)
        joints |= {end + k: f"limits of {joint.name!r}" for k, (joint, _) in enumerate(places)}
        return ", ".join(dict.fromkeys(joints[row] for row in rows)) + " contradict each other"


def _refuse(task: Task) -> None:
    """Raise for what a task asks of accelerations, forces and torques, which velocities do not have."""
    if not isinstance(task, MotionTask):
        raise ArgumentTypeError(
            f"task {task.name!r} is a task of forces or torques, for kt.control.WholeBody; expected tasks of motion"
        )
    if task.hard:
        raise ArgumentError(
            f"task {task.name!r} is hard; differential IK has no hard tasks: give it a smaller priority= than all "
            "others, or hold the frame by contacts=[kt.Contact(…)]"
        )


def _again(
    robot: Robot, tasks: tuple[MotionTask, ...], limits: Limits | None, dt: float, contacts: tuple[Contact, ...],
    damping: float, levenberg: float, contact_gain: float,
) -> DifferentialIK:  # fmt: skip
    """From a pickle."""
    return DifferentialIK(
        robot, tasks, limits, dt=dt, contacts=contacts, damping=damping, levenberg=levenberg,
        contact_gain=contact_gain,
    )  # fmt: skip


def velocity(
    robot: Robot,
    q: ArrayLike,
    tasks: Iterable[tuple[MotionTask, Any]],
    *,
    parameters: ArrayLike | None = None,
    **options: Any,
) -> Array:
    """v, (nv,), for pairs of a task and its target, or of a task with feed-forward and (target, velocity).

    Options are those of DifferentialIK, which is made once for the same tasks and options.
    """
    pairs = [(pair if isinstance(pair, tuple) else (pair,)) for pair in tasks]
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], Task):
            raise ArgumentTypeError(f"tasks has {short(pair)}; expected pairs of a task and its target")
    for name in options:
        if name not in inspect.signature(DifferentialIK).parameters:
            raise unknown("option", name, list(inspect.signature(DifferentialIK).parameters)[2:])
    if isinstance(options.get("contacts"), Iterable):
        options["contacts"] = tuple(options["contacts"])
    key = ("differential ik", tuple(task for task, _ in pairs), *sorted(options.items(), key=lambda option: option[0]))
    known = robot._functions.get(key)
    if known is None:
        known = robot._functions.setdefault(key, DifferentialIK(robot, [task for task, _ in pairs], **options))
    values: list[Any] = []
    for task, target in pairs:
        given = target if "velocity" in task.references(robot) else (target,)
        values += [value for value in given if value is not None]
    return known.velocity(q, *values, **if_given(parameters=parameters))

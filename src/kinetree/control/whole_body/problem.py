"""Tasks, contacts and limits of a robot as one formula: what the solver of a step of whole-body control is given.

In the variables of `Dynamics`, equations are contacts that hold, those of motion without motors, and hard tasks. A
contact that is off has the equation f = 0 in place of that of its motion, so that sizes never change. Contacts of one
body contradict each other while it turns; those come first, and are met in the sense of least squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.base.lazy import lazy
from kinetree.control.whole_body.dynamics import Dynamics, State
from kinetree.control.whole_body.limits import MotionLimits, TorqueLimits, WholeBodyLimit
from kinetree.control.whole_body.task_rows import TaskRows, task_rows
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.tasks import Task

Shape = tuple[int, ...]
Rows = list[tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class Problem:
    """All of a step but its state."""

    dynamics: Dynamics
    tasks: tuple[Task, ...]
    limits: tuple[WholeBodyLimit, ...]
    dt: float
    regularization: float

    # -- sizes and names ---------------------------------------------------------------------------------------

    @lazy
    def task_rows(self) -> tuple[TaskRows, ...]:
        """Of every task, each of which fits the robot."""
        return tuple(task_rows(task, self.dynamics) for task in self.tasks)

    @lazy
    def references(self) -> dict[str, dict[str, tuple[slice, Shape]]]:
        """Where in the vector of references each task has its own, and in which shapes."""
        places: dict[str, dict[str, tuple[slice, Shape]]] = {}
        end = 0
        for rows in self.task_rows:
            own = places[str(rows.task.name)] = {}
            for name, shape in rows.references.items():
                own[name] = (slice(end, end + prod(shape)), shape)
                end += prod(shape)
        return places

    @lazy
    def arguments(self) -> dict[str, Shape]:
        """Names and shapes of what the formula takes. Switches are of contacts, then of tasks."""
        robot = self.dynamics.robot
        ends = [at.stop for own in self.references.values() for at, _ in own.values()]
        switches = len(self.dynamics.contacts) + len(self.tasks)
        return {"q": (robot.nq,), "v": (robot.nv,), "reference": (max(ends, default=0),), "switches": (switches,)}

    @lazy
    def priorities(self) -> list[int]:
        """Of tasks that are not hard, and of limits that have one; the first first."""
        of_limits = {limit.priority for limit in self.limits if limit.priority is not None}
        return sorted({task.priority for task in self.tasks if not task.hard} | of_limits)

    @property
    def is_strict(self) -> bool:
        """Whether there is an order."""
        return len(self.priorities) > 1 or any(limit.priority is not None for limit in self.limits)

    @lazy
    def torque_limits(self) -> TorqueLimits:
        """Those that there are, or such that limit nothing."""
        return next((limit for limit in self.limits if isinstance(limit, TorqueLimits)), TorqueLimits(np.inf))

    @lazy
    def motion_limits(self) -> MotionLimits | None:
        return next((limit for limit in self.limits if isinstance(limit, MotionLimits)), None)

    @lazy
    def equation_names(self) -> list[str]:
        """What every equation is of."""
        d = self.dynamics
        names: list[str] = []
        for contact in d.contacts:
            names += [f"contact {contact.name!r}"] * contact.size
        names += [f"equation of motion of {joint}" for joint in (_joint(d.robot, k) for k in d.idle)]
        for rows in self.task_rows:
            names += [f"task {rows.task.name!r}"] * (rows.size if rows.task.hard else 0)
        return names

    @lazy
    def variable_names(self) -> list[str]:
        """What the bounds of every variable are of."""
        d = self.dynamics
        names = [f"motion limits of {_joint(d.robot, k)}" for k in range(d.robot.nv)]
        for contact in d.contacts:
            names += [f"normal force of {contact.name!r}"] * contact.size
        return names

    @lazy
    def row_names(self) -> list[str]:
        """What every inequality is of: torques, cones, and motion limits that have a priority."""
        d = self.dynamics
        names = [f"torque limit of {_joint(d.robot, k)}" for k in d.motors]
        for contact in d.contacts:
            names += [f"friction cone of {contact.name!r}"] * len(contact.cone)
        return names + [self.variable_names[k] for k in self._soft_motions]

    @lazy
    def since(self) -> tuple[int, ...]:
        """For every inequality the level at which it begins, -1 for those that hold always; level 0 are equations."""
        motions, torques = self.motion_limits, self.torque_limits
        begin = -1 if torques.priority is None else 1 + self.priorities.index(torques.priority)
        cones = sum(len(contact.cone) for contact in self.dynamics.contacts)
        levels = (begin,) * len(self.dynamics.motors) + (-1,) * cones
        if motions is None or motions.priority is None:
            return levels
        return levels + (1 + self.priorities.index(motions.priority),) * len(self._soft_motions)

    @lazy
    def level_sizes(self) -> tuple[int, ...]:
        """Rows of every level: equations, then tasks by priority."""
        sizes = [len(self.equation_names)]
        for priority in self.priorities:
            sizes.append(sum(self.task_rows[k].size for k in self._of(priority)))
        return tuple(sizes)

    @lazy
    def stacked(self) -> tuple[TaskRows, ...]:
        """Tasks whose rows are many variables: they are stacked; of others, squares and slopes are enough."""
        return tuple(rows for rows in self.task_rows if not rows.task.hard and rows.entries is None)

    # -- formulas ----------------------------------------------------------------------------------------------

    def program(self, robot: Robot, q: Array, v: Array, reference: Array, switches: Array) -> tuple[Array, ...]:
        """J, e, squares, slopes, C, lower, upper, h, m of the weighted step: Σ ‖w (A x - b)‖² + λ² ‖x‖² in bounds."""
        d, state = self.dynamics, self.dynamics.at(robot, q, v)
        rows = self._rows(state, reference)
        factors = switches[len(d.contacts) :]
        J, e = [ops.zeros((0, d.n), q)], [ops.zeros(0, q)]
        squares, slopes = ops.zeros(d.n, q) + self.regularization**2, ops.zeros(d.n, q)
        for own, (A, b), factor in zip(self.task_rows, rows, factors, strict=True):
            w = own.weights * factor
            if own in self.stacked:
                J.append(w[:, None] * A)
                e.append(w * b)
            elif not own.task.hard and own.entries is not None:
                for k, weight, wanted in zip(own.entries, w, b, strict=True):
                    squares[k] = squares[k] + weight * weight
                    slopes[k] = slopes[k] + weight * weight * wanted
        A, b = self._equations(state, rows, switches)
        D, low, high = self._inequalities(state)
        lower, upper = self._bounds(state, switches)
        bounds = np.concatenate([lower, b, low]), np.concatenate([upper, b, high])
        C, m = np.concatenate([A, D]), ops.array([state.m])
        return np.concatenate(J), np.concatenate(e), squares, slopes, C, *bounds, state.h, m

    def levels(self, robot: Robot, q: Array, v: Array, reference: Array, switches: Array) -> tuple[Array, ...]:
        """J, e, D, lower, upper, h, m of a step in strict order, equations first."""
        d, state = self.dynamics, self.dynamics.at(robot, q, v)
        rows = self._rows(state, reference)
        factors = switches[len(d.contacts) :]
        A, b = self._equations(state, rows, switches)
        J, e = [A], [b]
        for priority in self.priorities:
            for k in self._of(priority):
                w = self.task_rows[k].weights * factors[k]
                J.append(w[:, None] * rows[k][0])
                e.append(w * rows[k][1])
        D, low, high = self._inequalities(state)
        lower, upper = self._bounds(state, switches)
        bounds = np.concatenate([lower, low]), np.concatenate([upper, high])
        return np.concatenate(J), np.concatenate(e), D, *bounds, state.h, ops.array([state.m])

    def results(self, rows: Array, x: Array, h: Array, m: Any) -> tuple[Array, Array, Array]:
        """τ, (nv,), a, (nv,), and forces, from the solution; `rows` are those of torques, first of the inequalities."""
        d = self.dynamics
        tau = ops.zeros(d.robot.nv, x)
        for row, k in zip(rows, d.motors, strict=True):
            tau[k] = (row @ x + h[k]) * m
        return tau, x[: d.robot.nv] * 1.0, x[d.robot.nv :] * m

    # -- parts -------------------------------------------------------------------------------------------------

    def _of(self, priority: int) -> list[int]:
        """Which tasks have a priority, and are not hard."""
        return [k for k, task in enumerate(self.tasks) if task.priority == priority and not task.hard]

    def _rows(self, state: State, reference: Array) -> Rows:
        """A and b of every task."""
        rows = []
        for task, own in zip(self.task_rows, self.references.values(), strict=True):
            rows.append(task.at(state, [reference[at].reshape(shape) for at, shape in own.values()]))
        return rows

    def _equations(self, state: State, rows: Rows, switches: Array) -> tuple[Array, Array]:
        d = self.dynamics
        A, b = [ops.zeros((0, d.n), state.q)], [ops.zeros(0, state.q)]
        for (J, wanted), contact, switch in zip(state.motions, d.contacts, switches, strict=False):
            is_on = ops.less(0.5, switch)
            held, right = ops.zeros((contact.size, d.n), state.q), ops.zeros(contact.size, state.q)
            at, friction = d.forces[str(contact.name)].start, contact.friction_rows(J @ state.v)
            for i in range(contact.size):
                if friction is not None and i != contact.normal_row:  # kinetic friction in place of what it holds
                    for k in range(contact.size):
                        held[i, at + k] = ops.where(is_on, friction[i, k], float(i == k))
                    continue
                for k in range(d.robot.nv):
                    held[i, k] = ops.where(is_on, J[i, k], 0.0)
                held[i, at + i] = ops.where(is_on, 0.0, 1.0)
                right[i] = ops.where(is_on, wanted[i], 0.0)
            A.append(held)
            b.append(right)
        A.append(state.T[list(d.idle)])
        b.append(-state.h[list(d.idle)])
        for task, (A_task, b_task), factor in zip(self.tasks, rows, switches[len(d.contacts) :], strict=True):
            if task.hard:
                A.append(A_task * factor)
                b.append(b_task * factor)
        return np.concatenate(A), np.concatenate(b)

    def _inequalities(self, state: State) -> tuple[Array, Array, Array]:
        """Rows of torques and cones, and of motion limits that have a priority, and their bounds."""
        d, motors = self.dynamics, list(self.dynamics.motors)
        efforts = self.torque_limits.efforts(d)[motors] / state.m
        lower, upper = (side * efforts - state.h[motors] for side in (-1.0, 1.0))
        cones = np.zeros((sum(len(contact.cone) for contact in d.contacts), d.n))
        row = 0
        for contact in d.contacts:
            cones[row : row + len(contact.cone), d.forces[str(contact.name)]] = contact.cone
            row += len(contact.cone)
        soft = self._soft_motions
        rows = np.concatenate([state.T[motors], cones, np.eye(d.n)[soft]])
        low, high = self._motion_bounds(state)
        least = [contact.cone_least / state.m for contact in d.contacts]
        lower = np.concatenate([lower, *least, np.array([low[k] for k in soft])])
        upper = np.concatenate([upper, np.full(len(cones), np.inf), np.array([high[k] for k in soft])])
        return rows, lower, upper

    def _bounds(self, state: State, switches: Array) -> tuple[Array, Array]:
        """Of x: hard motion limits, and normal forces."""
        d = self.dynamics
        lower, upper = (ops.zeros(d.n, state.q) + bound for bound in (-np.inf, np.inf))
        if self.motion_limits is not None and not self._soft_motions:
            low, high = self._motion_bounds(state)
            lower[: d.robot.nv], upper[: d.robot.nv] = low, high
        for contact, switch in zip(d.contacts, switches, strict=False):
            normal = d.forces[str(contact.name)].start + contact.normal_row
            if contact.min_force > 0.0:
                lower[normal] = ops.where(ops.less(0.5, switch), contact.min_force / state.m, 0.0)
            upper[normal] = contact.max_force / state.m
        return lower, upper

    def _motion_bounds(self, state: State) -> tuple[Any, Any]:
        if self.motion_limits is None:
            return [], []
        return self.motion_limits.bounds(self.dynamics, state, self.dt)

    @lazy
    def _soft_motions(self) -> list[int]:
        """Accelerations whose limits have a priority."""
        limits, robot = self.motion_limits, self.dynamics.robot
        base = robot.model.floating_base
        first = 0 if base is None else base.nv
        return [] if limits is None or limits.priority is None else list(range(first, robot.nv))


def _joint(robot: Robot, k: int) -> str:
    """The joint of an entry of v."""
    for joint in robot.model.owners:
        if joint.iv <= k < joint.iv + joint.nv:
            return "the base" if joint is robot.model.floating_base else repr(joint.name)
    return f"entry {k}"

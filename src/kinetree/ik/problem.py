"""Tasks, contacts and limits of a robot as one formula: what the solver of a step is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.algorithms.passes.contact_rows import contact_rows
from kinetree.base.lazy import lazy
from kinetree.ik.limits import Limits
from kinetree.linalg import RANK_TOLERANCE
from kinetree.model.constraints import Contact
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.rotation_vector import rotation_error
from kinetree.tasks import MotionTask
from kinetree.tasks.frame import linear_and_angular
from kinetree.tasks.task import snake

Shape = tuple[int, ...]
SMALL_DAMPING = 1e-6
"""λ relative to the largest weight below which JᵀJ + λ² 1 is not formed."""


@dataclass(frozen=True, eq=False)
class Problem:
    """All of a step but its state. Contacts are equations J v = gain · (where the frame is held - where it is)."""

    robot: Robot
    tasks: tuple[MotionTask, ...]
    contacts: tuple[Contact, ...]
    limits: Limits | None
    dt: float
    damping: float
    levenberg: float
    contact_gain: float

    @lazy
    def arguments(self) -> dict[str, Shape]:
        """Names and shapes of what a step takes: q, targets, velocities of targets, and the last v if need be."""
        shapes: dict[str, Shape] = {"q": (self.robot.nq,)}
        for k, task in enumerate(self.tasks):
            name = f"{snake(type(task).__name__)}_{k}"
            for part, shape in _references(task, self.robot).items():
                shapes[name if part == "target" else f"{name}_{part}"] = shape
        if self.limits is not None and self.limits.acceleration is not None:
            shapes["v"] = (self.robot.nv,)
        return shapes

    @lazy
    def priorities(self) -> list[int]:
        """The priorities of all tasks, ascending."""
        return sorted({task.priority for task in self.tasks})

    @lazy
    def level_sizes(self) -> tuple[int, ...]:
        """Rows of every level: contacts, if there are any, tasks by priority, and v itself if that is to be least."""
        sizes = [self.held] if self.contacts else []
        for priority in self.priorities:
            sizes.append(sum(task.size(self.robot) for task in self.tasks if task.priority == priority))
        if self._is_least_norm:
            sizes.append(self.robot.nv)
        return tuple(sizes)

    @lazy
    def by_levels(self) -> bool:
        """Whether a step is solved level by level: there are several priorities, or λ is too small for JᵀJ + λ² 1, in
        which small singular values of J are lost."""
        largest = max(float(task.weights(self.robot).max(initial=0.0)) for task in self.tasks)
        return len(self.priorities) > 1 or self.damping < SMALL_DAMPING * largest

    @lazy
    def _is_least_norm(self) -> bool:
        """Whether a last level makes v as small as all others allow: without damping, a level that meets limits says
        nothing of directions that it does not need."""
        return self.damping == 0.0 and self.limits is not None

    @lazy
    def places(self) -> int:
        """The number of position limits that are rows, of several entries of v."""
        return 0 if self.limits is None else len(self.limits.places(self.robot))

    @property
    def held(self) -> int:
        """Equations of all contacts."""
        return sum(contact.size for contact in self.contacts)

    # -- formulas ----------------------------------------------------------------------------------------------

    def rows(self, robot: Robot, given: dict[str, Any]) -> list[tuple[Array, Array, Array]]:
        """J, the velocity ẋ* + gain · error that J v is to be, and the error, of every task."""
        values, q = iter(list(given.values())[1:]), given["q"]
        return [task.velocity_rows(robot, q, [next(values) for _ in _references(task, robot)]) for task in self.tasks]

    def program(self, robot: Robot, *values: Any) -> tuple[Array, ...]:
        """H, g, C, lower and upper of the weighted step: Σ ‖w (J v - rate)‖² + λ² ‖v‖² within limits, contacts held."""
        given = dict(zip(self.arguments, values, strict=True))
        n, q = robot.nv, given["q"]
        rows = self.rows(robot, given)
        H, g = ops.zeros((n, n), q), ops.zeros(n, q)
        for task, (J, rate, _) in zip(self.tasks, rows, strict=True):
            scaled = (task.weights(robot) ** 2)[:, None] * J
            for i in range(n):
                H[i, i:] = H[i, i:] + scaled[:, i] @ J[:, i:]
            g = g - scaled.T @ rate
        damping = self._damping(robot, rows)
        for i in range(n):
            H[i, i] = H[i, i] + damping
        C, held = self._held(robot, q)
        lower, upper = self._bounds(robot, given)
        D, low, high = self._placed(robot, q)
        bounds = np.concatenate([lower, held, low]), np.concatenate([upper, held, high])
        return H, g, np.concatenate([C, D]), *bounds

    def levels(self, robot: Robot, *values: Any) -> tuple[Array, ...]:
        """J, e, λ² of every level, D, lower and upper of a step in strict order, contacts first and not damped."""
        given = dict(zip(self.arguments, values, strict=True))
        rows = self.rows(robot, given)
        C, held = self._held(robot, given["q"])
        J, e = [C], [held]
        for priority in self.priorities:
            for task, (J_task, rate, _) in zip(self.tasks, rows, strict=True):
                if task.priority == priority:
                    w = task.weights(robot)
                    J.append(w[:, None] * self._without_rounding(robot, given["q"], task, J_task))
                    e.append(w * rate)
        lower, upper = self._bounds(robot, given)
        damping = [self._damping(robot, rows)] * len(self.priorities)
        if self.contacts:
            damping.insert(0, 0.0)
        if self._is_least_norm:
            J.append(np.eye(robot.nv))
            e.append(np.zeros(robot.nv))
            damping.append(0.0)
        D, low, high = self._placed(robot, given["q"])
        bounds = np.concatenate([lower, low]), np.concatenate([upper, high])
        return np.concatenate(J), np.concatenate(e), ops.array(damping), D, *bounds

    def _without_rounding(self, robot: Robot, q: Array, task: MotionTask, J: Array) -> Array:
        """J of a task, of which rows that are small beside all rows of its frames are zero."""
        w = task.weights(robot)
        if not task.frames or (len(J) == 6 and w.min() > 1e-3 * w.max()):  # all directions are in the level
            return J
        return _counting(J, _square(*(part for frame in task.frames for part in linear_and_angular(robot, frame, q))))

    def _damping(self, robot: Robot, rows: list[tuple[Array, Array, Array]]) -> Any:
        """λ² + levenberg Σ ‖w error‖²."""
        total: Any = self.damping**2
        if self.levenberg > 0.0:
            for task, (_, _, error) in zip(self.tasks, rows, strict=True):
                weighted = task.weights(robot) * error
                total = total + self.levenberg * (weighted @ weighted)
        return total

    def _bounds(self, robot: Robot, given: dict[str, Any]) -> tuple[Array, Array]:
        if self.limits is None:
            return np.full(robot.nv, -np.inf), np.full(robot.nv, np.inf)
        return self.limits.bounds(robot, given["q"], given.get("v"), self.dt)

    def _placed(self, robot: Robot, q: Array) -> tuple[Array, Array, Array]:
        """D and bounds of D v."""
        if not self.places or self.limits is None:
            return ops.zeros((0, robot.nv), q), np.zeros(0), np.zeros(0)
        return self.limits.rows(robot, q, self.dt)

    def _held(self, robot: Robot, q: Array) -> tuple[Array, Array]:
        """J and the rate of all contacts."""
        rows, rates = [ops.zeros((0, robot.nv), q)], [np.zeros(0)]
        for contact in self.contacts:
            J, at, T = linear_and_angular(robot, contact.frame, q), contact.target, robot.frame(contact.frame).pose(q)
            special = contact_rows(contact, T[:3, :3])
            rates.append(np.zeros(contact.size))
            if special is not None:
                rows.append(_counting(special.of(*J), _square(*J)))
                if at is not None:
                    rates[-1] = special.error(T[:3, 3], at.p, at.R.T) * -self.contact_gain
                continue
            rows += J if contact.size == 6 else [_counting(J[0], _square(*J))]
            if at is not None:
                error = [at.p - T[:3, 3], rotation_error(at.R.T, T[:3, :3])][: contact.size // 3]
                rates[-1] = np.concatenate(error) * self.contact_gain
        return np.concatenate(rows), np.concatenate(rates)


def _references(task: MotionTask, robot: Robot) -> dict[str, Shape]:
    """What a task is given: its target and the target's velocity, as far as it has them."""
    return {name: shape for name, shape in task.references(robot).items() if name in ("target", "velocity")}


def _square(*parts: Array) -> Any:
    """The sum of the squares of all entries."""
    return sum((part * part).sum() for part in parts)


def _counting(J: Array, size: Any) -> Array:
    """J with zeros for rows below `RANK_TOLERANCE` of a size, given squared: they are rounding, which a level that has
    no other rows could not tell."""
    least = RANK_TOLERANCE * RANK_TOLERANCE * size
    return np.array([row * ops.where(ops.less(least, row @ row), 1.0, 0.0) for row in J])

"""Tasks in the variables of whole-body control: rows A x = b of accelerations, contact forces or torques."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.control.whole_body.dynamics import Dynamics, State
from kinetree.errors import ArgumentTypeError, short, unknown
from kinetree.ops import Array, zeros
from kinetree.tasks import Force, MotionTask, Task, Torque

Shape = tuple[int, ...]
Rows = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class TaskRows:
    """A task is met where A x = b."""

    task: Task
    size: int
    """How many rows it has."""
    references: dict[str, Shape]
    """What a step is given for it, and in which shapes."""
    at: Callable[[State, list[Array]], Rows]
    """A, (size, n), and b, (size,), for a state and what `references` says."""
    entries: list[int] | None = None
    """If every row is one variable alone, which; A is then not needed in full."""

    @lazy
    def weights(self) -> Array:
        """Of every row."""
        return self.task.per_row("weight", self.size)


def task_rows(task: Task, dynamics: Dynamics) -> TaskRows:
    """The rows of a task; it raises where the task does not fit the robot and its contacts."""
    for kind, rows in KINDS.items():
        if isinstance(task, kind):
            made: TaskRows = rows(task, dynamics)
            task.per_row("weight", made.size)
            return made
    raise ArgumentTypeError(f"tasks has {short(task)}; expected a kt.control.MotionTask, Force or Torque")


def _of_motion(task: MotionTask, dynamics: Dynamics) -> TaskRows:
    """J a is the acceleration that is asked for less J̇ v."""
    robot = dynamics.robot
    task.check(robot)

    def at(state: State, given: list[Array]) -> Rows:
        J, wanted = task.acceleration_rows(state.robot, state.q, state.v, given)
        return dynamics.of_accelerations(J, state.q), wanted

    return TaskRows(task, task.size(robot), task.references(robot), at, task.entries(robot))


def _of_force(task: Force, dynamics: Dynamics) -> TaskRows:
    """f / m of a contact is as given."""
    if not isinstance(task.contact, str) or task.contact not in dynamics.forces:
        raise unknown("contact", task.contact, dynamics.forces)
    place = dynamics.forces[task.contact]
    entries = list(range(place.start, place.stop))
    if task.part == "normal":
        (contact,) = (each for each in dynamics.contacts if each.name == task.contact)
        entries = [entries[contact.normal_row]]

    def at(state: State, given: list[Array]) -> Rows:
        return np.eye(dynamics.n)[entries], given[0] * (1.0 / state.m)

    return TaskRows(task, len(entries), {"target": (len(entries),)}, at, entries)


def _of_torque(task: Torque, dynamics: Dynamics) -> TaskRows:
    """τ / m = T x + h of the motors is as given, or zero."""
    motors = list(dynamics.motors)

    def at(state: State, given: list[Array]) -> Rows:
        wanted = given[0][motors] * (1.0 / state.m) if task.as_given else zeros(len(motors), state.q)
        return state.T[motors], wanted - state.h[motors]

    return TaskRows(task, len(motors), {"target": (dynamics.robot.nv,)} if task.as_given else {}, at)


KINDS: dict[type[Task], Callable[[Any, Dynamics], TaskRows]] = {
    MotionTask: _of_motion,
    Force: _of_force,
    Torque: _of_torque,
}

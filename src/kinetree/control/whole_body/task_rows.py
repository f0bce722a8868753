"""Tasks in the variables of whole-body control: rows A x = b of accelerations, contact forces or torques."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.control.whole_body.dynamics import Dynamics, State
from kinetree.errors import ArgumentTypeError, short, unknown
from kinetree.ops import Array, zeros
from kinetree.tasks import Force, MotionTask, Task, Torque

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TaskRows(ABC):
    """A task is met where A x = b."""

    task: Any
    dynamics: Dynamics

    @property
    @abstractmethod
    def size(self) -> int:
        """How many rows it has."""

    @property
    @abstractmethod
    def references(self) -> dict[str, Shape]:
        """What a step is given for it, and in which shapes."""

    @abstractmethod
    def at(self, state: State, given: list[Array]) -> tuple[Array, Array]:
        """A, (size, n), and b, (size,), for what `references` says."""

    @property
    def entries(self) -> list[int] | None:
        """If every row is one variable alone, which; A is then not needed in full."""
        return None

    @lazy
    def weights(self) -> Array:
        """Of every row."""
        return self.task.per_row("weight", self.size)

    def check(self) -> None:
        """Raise where names or sizes do not fit."""
        self.task.per_row("weight", self.size)


@final
class MotionRows(TaskRows):
    """J a is the acceleration that is asked for less J̇ v."""

    task: MotionTask

    @property
    def size(self) -> int:
        return self.task.size(self.dynamics.robot)

    def check(self) -> None:
        self.task.check(self.dynamics.robot)

    @property
    def references(self) -> dict[str, Shape]:
        return self.task.references(self.dynamics.robot)

    @property
    def entries(self) -> list[int] | None:
        return self.task.entries(self.dynamics.robot)

    def at(self, state: State, given: list[Array]) -> tuple[Array, Array]:
        J, wanted = self.task.acceleration_rows(state.robot, state.q, state.v, given)
        return self.dynamics.of_accelerations(J, state.q), wanted


@final
class ForceRows(TaskRows):
    """f / m of a contact is as given."""

    task: Force

    @property
    def size(self) -> int:
        return len(self.entries)

    @property
    def references(self) -> dict[str, Shape]:
        return {"target": (self.size,)}

    @property
    def entries(self) -> list[int]:
        forces, name = self.dynamics.forces, self.task.contact
        if not isinstance(name, str) or name not in forces:
            raise unknown("contact", name, forces)
        if self.task.part == "normal":
            (contact,) = (each for each in self.dynamics.contacts if each.name == name)
            return [forces[name].start + contact.normal_row]
        return list(range(forces[name].start, forces[name].stop))

    def at(self, state: State, given: list[Array]) -> tuple[Array, Array]:
        return np.eye(self.dynamics.n)[self.entries], given[0] * (1.0 / self.dynamics.scale)


@final
class TorqueRows(TaskRows):
    """τ / m = T x + h of the motors is as given, or zero."""

    task: Torque

    @property
    def size(self) -> int:
        return len(self.dynamics.motors)

    @property
    def references(self) -> dict[str, Shape]:
        return {"target": (self.dynamics.robot.nv,)} if self.task.as_given else {}

    def at(self, state: State, given: list[Array]) -> tuple[Array, Array]:
        motors = list(self.dynamics.motors)
        share = 1.0 / self.dynamics.scale
        wanted = given[0][motors] * share if self.task.as_given else zeros(len(motors), state.q)
        return state.T[motors], wanted - state.h[motors]


KINDS: dict[type[Task], type[TaskRows]] = {MotionTask: MotionRows, Force: ForceRows, Torque: TorqueRows}


def task_rows(task: Task, dynamics: Dynamics) -> TaskRows:
    """The rows of a task that fits the robot and its contacts."""
    for kind, rows in KINDS.items():
        if isinstance(task, kind):
            return rows(task, dynamics)
    raise ArgumentTypeError(f"tasks has {short(task)}; expected a kt.control.MotionTask, Force or Torque")

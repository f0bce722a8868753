"""The equation of motion in the variables of whole-body control, with torques eliminated.

    M a + b = Sᵀ τ + Σ J_cᵀ f_c,     x = (a, f / m),     T x + b / m = Sᵀ τ / m     with T = (M / m, -J_cᵀ)

All is divided by the robot's mass m, so that variables are accelerations, of about the same size. Rows of T without a
motor are equations, of zero torque; the others give τ, which need no variables of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.control.whole_body.contacts import GroundContact
from kinetree.ops import Array, zeros
from kinetree.robot import Robot
from kinetree.tasks.momentum import mass_or_one


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Which variables there are: nv accelerations, then the forces of every contact."""

    robot: Robot
    contacts: tuple[GroundContact, ...]
    motors: tuple[int, ...]
    """Entries of τ that have a motor."""

    @lazy
    def forces(self) -> dict[str, slice]:
        """Variables that are the forces of each contact, by its name."""
        places, end = {}, self.robot.nv
        for contact in self.contacts:
            places[str(contact.name)] = slice(end, end + contact.size)
            end += contact.size
        return places

    @lazy
    def n(self) -> int:
        """Of variables."""
        return self.robot.nv + self.held

    @lazy
    def held(self) -> int:
        """How many directions contacts hold."""
        return sum(contact.size for contact in self.contacts)

    @lazy
    def idle(self) -> tuple[int, ...]:
        """Entries of τ without a motor."""
        return tuple(k for k in range(self.robot.nv) if k not in self.motors)

    def of_accelerations(self, A: Array, q: Array) -> Array:
        """Rows of a alone as rows of x."""
        return np.concatenate([A, zeros((len(A), self.held), q)], axis=1)

    def at(self, robot: Robot, q: Array, v: Array) -> State:
        """What tasks and limits need of one state."""
        m = mass_or_one(robot)
        share = 1.0 / m
        motions = [contact.motion(robot, q, v) for contact in self.contacts]
        T = np.concatenate([robot.mass_matrix(q) * share, *(-J.T for J, _ in motions)], axis=1)
        return State(robot, q, v, T, robot.inverse_dynamics(q, v, np.zeros(robot.nv)) * share, motions, m)


@dataclass(frozen=True, eq=False)
class State:
    """A state of the robot: T and h = b / m of the equation of motion, J and the wanted acceleration less J̇ v of
    every contact, and m."""

    robot: Robot
    q: Array
    v: Array
    T: Array
    h: Array
    motions: list[tuple[Array, Array]]
    m: Any

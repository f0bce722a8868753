"""Forces that act on a robot by where it is and how fast it moves: springs between frames, and stops at limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from kinetree import ops
from kinetree.algorithms.passes.tendon_paths import tendon_states
from kinetree.base.arguments import as_nonnegative, number_that, read_fields
from kinetree.equations.lagrange import Lagrange, Spring
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array, Scalar
from kinetree.robot import Robot


class Force(Protocol):
    """Anything that knows its efforts on the coordinates of a robot. It must be hashable: equal ones are compiled
    once, with the numbers they have then, so that other numbers need another force."""

    def efforts(self, robot: Robot, q: Array, v: Array, t: Scalar) -> Array:
        """(nv,) [N m or N], of one state, which is a traced one."""
        ...


@final
@dataclass(frozen=True)
class LimitStops:
    """Limits of joints and of tendons as bumpers: beyond a limit by x > 0, moving outwards at ẋ, it is pushed back with

        stiffness · x + damping · ẋ · x / (x + width), and never pulled.

    Only joints with one coordinate have such stops, and tendons that have a range. Without a branch: it runs in all
    lanes at once.
    """

    stiffness: float = 1e4
    """[N m/rad or N/m]"""
    damping: float = 10.0
    """[N m s/rad or N s/m]"""
    width: float = 1e-3
    """Depth over which damping sets in [rad or m]."""

    def __post_init__(self) -> None:
        above_zero = number_that(lambda x: 0.0 < x < np.inf, "more than zero, and finite")
        read_fields(self, stiffness=as_nonnegative, damping=as_nonnegative, width=above_zero)

    def efforts(self, robot: Robot, q: Array, v: Array, t: Scalar) -> Array:
        """The efforts of all stops, (nv,) [N m or N]."""
        tau = ops.zeros(robot.nv, q, v)
        lower, upper = robot.limits.lower, robot.limits.upper
        for joint in robot.model.owners:
            if (joint.nq, joint.nv) == (1, 1):
                at, iq = joint.iv, joint.iq
                if np.isfinite(lower[iq]):
                    tau[at] = tau[at] + self._push(lower[iq] - q[iq], -v[at])
                if np.isfinite(upper[iq]):
                    tau[at] = tau[at] - self._push(q[iq] - upper[iq], v[at])
        limited = tuple(each for each in robot.model.tendons if np.isfinite(each.length_range).any())
        for tendon, length, J in tendon_states(robot.model, limited, q):
            least, most = tendon.length_range
            if np.isfinite(least):
                tau = tau + J * self._push(least - length, -(J @ v))
            if np.isfinite(most):
                tau = tau - J * self._push(length - most, J @ v)
        return tau

    def _push(self, depth: Scalar, speed: Scalar) -> Scalar:
        x = ops.maximum(depth, 0.0)
        return ops.maximum(0.0, self.stiffness * x + self.damping * speed * x / (x + self.width))


def as_forces(robot: Robot, forces: Any) -> tuple[Any, ...]:
    """One force or several, checked against the robot."""
    single = isinstance(forces, Spring) or hasattr(forces, "efforts")
    listed: tuple[Any, ...] = (forces,) if single else tuple(forces) if isinstance(forces, Iterable) else (forces,)
    for force in listed:
        if isinstance(force, Spring):
            Lagrange(robot, (force,))  # says so if a frame does not exist
        elif isinstance(force, type) or not callable(getattr(force, "efforts", None)):
            raise ArgumentTypeError(
                f"forces has {short(force)}; expected kt.Spring, kt.LimitStops or anything with a method efforts"
            )
        try:
            hash(force)
        except TypeError:
            raise ArgumentTypeError(f"forces has {short(force)}; expected something hashable") from None
    return listed


def efforts_of(robot: Robot, forces: tuple[Any, ...], q: Array, v: Array, t: Scalar) -> Array | None:
    """The efforts of all forces together, (nv,); None if there are none."""
    total: Any = None
    springs = tuple(force for force in forces if isinstance(force, Spring))
    if springs:
        total = Lagrange(robot, springs).spring_forces(q)
    for force in forces:
        if not isinstance(force, Spring):
            effort = force.efforts(robot, q, v, t)
            if np.shape(effort) != (robot.nv,):
                raise ArgumentError(f"{short(force)} gives efforts of shape {np.shape(effort)}; expected ({robot.nv},)")
            total = effort if total is None else total + effort
    return None if total is None else np.asarray(total)

"""What joints can bear: torques, and motion that stays within positions and velocities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_number, as_numbers
from kinetree.control.whole_body.dynamics import Dynamics, State
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ik import Limits
from kinetree.ops import Array

APPROACH = 4.0
"""Limits of positions are approached with a time constant T of this many dt. v follows its bound, d / T at a distance
d, with one of dt: d'' + d' / dt + d / (T dt) = 0 does not overshoot from T = 4 dt on, however short steps are."""


@dataclass(frozen=True, kw_only=True)
class WholeBodyLimit(ABC):
    """Bounds of some rows of x. Without a `priority` they are hard; with one they are treated like the tasks of that
    priority."""

    priority: int | None = None

    def __post_init__(self) -> None:
        if self.priority is not None:
            if isinstance(self.priority, bool) or not isinstance(self.priority, (int, np.integer)):
                raise ArgumentTypeError(f"priority is {short(self.priority)}; expected an integer, or None")
            object.__setattr__(self, "priority", int(self.priority))

    @abstractmethod
    def check(self, dynamics: Dynamics) -> None:
        """Raise where sizes do not fit."""


@final
@dataclass(frozen=True)
class TorqueLimits(WholeBodyLimit):
    """|τ| ≤ the robot's effort limits, or `max_torque`: one number, or one for every entry of τ, (nv,).

    `scale` multiplies these limits. If the limit has a priority, its violation is divided by the robot's mass.
    """

    max_torque: float | tuple[float, ...] | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "scale", as_number("scale", self.scale))
        if not 0.0 < self.scale < np.inf:
            raise ArgumentError(f"scale is {self.scale:g}; expected a positive factor")
        if self.max_torque is not None:
            object.__setattr__(self, "max_torque", as_numbers("max_torque", self.max_torque))
            if not np.all(np.asarray(self.max_torque) >= 0.0):
                raise ArgumentError(f"max_torque is {short(self.max_torque)}; expected numbers of zero or more")

    def check(self, dynamics: Dynamics) -> None:
        efforts = self.efforts(dynamics)
        for joint in dynamics.robot.model.owners:
            if (efforts[joint.v_slice] < 0.0).any():
                least = efforts[joint.v_slice].min()
                raise ArgumentError(f"the effort limit of joint {joint.name!r} is {least:g}; expected zero or more")

    def efforts(self, dynamics: Dynamics) -> Array:
        """The maximum torque of every entry, (nv,)."""
        nv = dynamics.robot.nv
        most = dynamics.robot.limits.effort if self.max_torque is None else np.asarray(self.max_torque, dtype=float)
        if most.ndim and most.shape != (nv,):
            raise ArgumentError(f"max_torque has {len(most)} numbers; expected one, or {nv} for the entries of tau")
        return self.scale * np.broadcast_to(most, (nv,))


@final
@dataclass(frozen=True)
class MotionLimits(WholeBodyLimit):
    """Bounds of accelerations with which joints stay within their positions and velocities over `dt`.

    position, velocity, slower   as of `kt.ik.Limits`
    acceleration                 the most that a joint accelerates and brakes [rad/s² or m/s²], a number, of all but
                                 free joints, or one for every velocity; joints then brake in time for their position
                                 limits
    """

    acceleration: float | tuple[float, ...] | None = 50.0
    position: bool = True
    velocity: bool = True
    slower: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        limits = Limits(self.position, self.velocity, self.acceleration, self.slower)
        for name in ("position", "velocity", "acceleration", "slower"):
            object.__setattr__(self, name, getattr(limits, name))

    def check(self, dynamics: Dynamics) -> None:
        limits, robot = self._limits(dynamics), dynamics.robot
        places = limits.places(robot)
        if places:
            raise ArgumentError(
                f"joint {places[0][0].name!r} has position limits, and its velocity is in body axes, where motion "
                "limits cannot keep them; expected position=False, or base_velocity='mixed' in kt.load"
            )
        limits.check(robot)

    def bounds(self, dynamics: Dynamics, state: State, dt: float) -> tuple[Any, Any]:
        """Of accelerations, (nv,) each: (bound of v at the end of dt - v) / dt."""
        lower, upper = self._limits(dynamics).bounds(state.robot, state.q, state.v, dt, APPROACH * dt)
        return tuple(
            [(bound[k] - state.v[k]) / dt if not _is_infinite(bound[k]) else bound[k] for k in range(state.robot.nv)]
            for bound in (lower, upper)
        )  # type: ignore[return-value]

    def _limits(self, dynamics: Dynamics) -> Limits:
        limits = Limits(self.position, self.velocity, self.acceleration, self.slower)
        model = dynamics.robot.model
        if len(model.actuated) == model.nv or not isinstance(self.acceleration, float):
            return limits
        most = np.full(model.nv, np.inf)
        most[list(model.actuated)] = self.acceleration
        return replace(limits, acceleration=tuple(most))


def _is_infinite(bound: Any) -> bool:
    return isinstance(bound, float) and np.isinf(bound)

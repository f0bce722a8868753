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
    """Bounds of some rows of x. Without a `priority` they hold always; with one they are kept as well as the tasks of
    that priority are met, and those of later ones leave that as it is."""

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
    """|τ| ≤ the robot's effort limits, or `most`: one number, or one for every entry of τ, (nv,); `scale` scales them.

    Where it has a priority, what goes beyond is divided by the robot's mass.
    """

    most: float | tuple[float, ...] | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "scale", as_number("scale", self.scale))
        if not 0.0 < self.scale < np.inf:
            raise ArgumentError(f"scale is {self.scale:g}; expected a positive factor")
        if self.most is not None:
            object.__setattr__(self, "most", as_numbers("most", self.most))
            if not np.all(np.asarray(self.most) >= 0.0):
                raise ArgumentError(f"most is {short(self.most)}; expected numbers of zero or more")

    def check(self, dynamics: Dynamics) -> None:
        efforts = self.efforts(dynamics)
        for joint in dynamics.robot.model.owners:
            if (efforts[joint.v_slice] < 0.0).any():
                least = efforts[joint.v_slice].min()
                raise ArgumentError(f"the effort limit of joint {joint.name!r} is {least:g}; expected zero or more")

    def efforts(self, dynamics: Dynamics) -> Array:
        """The maximum torque of every entry, (nv,)."""
        nv = dynamics.robot.nv
        most = dynamics.robot.limits.effort if self.most is None else np.asarray(self.most, dtype=float)
        if most.ndim and most.shape != (nv,):
            raise ArgumentError(f"most has {len(most)} numbers; expected one, or {nv} for the entries of tau")
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

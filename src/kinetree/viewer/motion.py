"""A motion to be played: samples of time, configuration, velocity and forces, and the states in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.viewer.stage import State

SAMPLES_PER_SECOND = 60


@dataclass(frozen=True, eq=False)
class Motion:
    """Times (n,) [s] that rise, configurations (n, nq), velocities (n, nv), and wrenches by frame, (n, 6) or (n, 3)."""

    robot: Robot
    t: Array
    q: Array
    v: Array
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    pause: float = 0.0
    """How long it stays where it ends [s]."""

    @property
    def duration(self) -> float:
        """The duration [s]."""
        return float(self.t[-1] - self.t[0]) + self.pause

    def held(self, duration: float) -> Motion:
        """The same motion, which stays where it ends until so long after its start [s]."""
        return replace(self, pause=max(self.pause, duration - float(self.t[-1] - self.t[0])))

    def at(self, time: float) -> State:
        """The state at a time after the start [s], on the shortest way between samples; forces are held."""
        clock = min(max(self.t[0] + time, self.t[0]), self.t[-1])
        k = int(np.clip(np.searchsorted(self.t, clock, side="right") - 1, 0, len(self.t) - 1))
        wrenches = {name: rows[k] for name, rows in self.wrenches.items()}
        if k == len(self.t) - 1:
            return State(self.q[k], self.v[k] if self.pause == 0.0 else np.zeros_like(self.v[k]), wrenches)
        part = (clock - self.t[k]) / (self.t[k + 1] - self.t[k])
        q = self.robot.integrate(self.q[k], part * self.robot.difference(self.q[k], self.q[k + 1]))
        return State(q, (1.0 - part) * self.v[k] + part * self.v[k + 1], wrenches)


def as_motion(robot: Robot, motion: Any, wrenches: Mapping[str, ArrayLike] | None = None) -> Motion:
    """A motion from what has .t, .q and maybe .v, as a rollout; from (t, q) or (t, q, v); from a joint trajectory."""
    if isinstance(motion, Motion) and motion.robot == robot and wrenches is None:
        return motion
    if callable(motion) and hasattr(motion, "duration"):
        t: Any = np.linspace(0.0, motion.duration, max(2, round(SAMPLES_PER_SECOND * motion.duration) + 1))
        state = motion(t)
        q, v = getattr(state, "position", None), getattr(state, "velocity", None)
    elif hasattr(motion, "t") and hasattr(motion, "q"):
        t, q, v = motion.t, motion.q, getattr(motion, "v", None)
    elif isinstance(motion, (tuple, list)) and len(motion) in (2, 3):
        t, q, v = (*motion, None)[:3]
    else:
        raise ArgumentTypeError(
            f"motion is {short(motion)}; expected a rollout, a trajectory of joints or (t, q), and q=… for one state"
        )
    return _checked(robot, t, q, v, wrenches)


def _checked(robot: Robot, t: Any, q: Any, v: Any, wrenches: Mapping[str, ArrayLike] | None) -> Motion:
    q = as_floats("q", q, (robot.nq,))
    if q.ndim != 2 or not len(q):
        raise ArgumentError(f"q has shape {q.shape}; expected one motion, ({'n'}, {robot.nq}): take one of a batch")
    t = as_floats("t", t, (len(q),))
    if t.shape != (len(q),):
        raise ArgumentError(f"t has shape {t.shape}; expected {len(q)} times")
    rises = np.isfinite(t) & (np.diff(t, prepend=-np.inf) > 0.0)
    if not rises.all():
        raise ArgumentError(f"t[{int(np.argmin(rises))}] is {t[np.argmin(rises)]:g}; expected finite times that rise")
    if not np.isfinite(q).all():
        raise ArgumentError(f"q[{int(np.argwhere(~np.isfinite(q))[0, 0])}] is not finite; expected a motion")
    v = _rates(robot, t, q) if v is None else as_floats("v", v, (len(q), robot.nv))
    robot.poses(q)  # refuses quaternions that are none
    forces = {}
    for name, rows in by_frame(wrenches).items():
        robot.frame(name)
        size = 3 if np.shape(rows)[-1:] == (3,) else 6
        forces[name] = as_floats(f"wrenches[{name!r}]", rows, (len(q), size))
    return Motion(robot, t, q, v, forces)


def by_frame(wrenches: Mapping[str, ArrayLike] | None) -> Mapping[str, ArrayLike]:
    """Forces by the name of the frame they act on; none if there are none."""
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentTypeError(f"wrenches is {short(wrenches)}; expected a dictionary of forces by frame")
    return wrenches or {}


def _rates(robot: Robot, t: Array, q: Array) -> Array:
    """Velocities from one sample to the next."""
    if len(t) == 1:
        return np.zeros((1, robot.nv))
    v = robot.difference(q[:-1], q[1:]) / np.diff(t)[:, None]
    return np.concatenate([v, v[-1:]])

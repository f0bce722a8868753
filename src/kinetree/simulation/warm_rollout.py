"""Rollouts of one state under efforts or a law, from their second call on: what does not depend on numbers is kept.

A rollout that succeeded leaves a `WarmRollout` with the robot, under its law and options. The next of its kind checks
its numbers and runs. What is unusual (lists, batches, numbers that are not finite, a motion that diverges) it leaves to
`rollout`, which checks everything and says what is wrong.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np

from kinetree.base.arguments import UNIT_TOLERANCE
from kinetree.base.precision import FLOAT64
from kinetree.base.progress import Progress
from kinetree.compiler import PreparedLoop, empty
from kinetree.functions.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.labels import names_and_units
from kinetree.simulation.step import MOST_STEPS, Step
from kinetree.simulation.trajectory import Trajectory

KIND = "warm rollout"


class WarmRollout:
    """A compiled step of a robot, with all that a rollout of one state needs beside numbers."""

    def __init__(self, step: Step, wanted: tuple[str, ...]) -> None:
        robot = step.efforts.robot
        kernel, shapes = step.compiled()
        recorded = ["q" in wanted, "v" in wanted, *(False,) * (len(step.sizes) - 2), *(True,) * len(step.told)]
        self._loop = PreparedLoop(kernel, step.carry, recorded)
        self._wanted, self._told = wanted, dict(zip(step.told, shapes, strict=True))
        self._nq, self._nv, self._quaternions = robot.nq, robot.nv, robot.model.quaternions
        self._labels = names_and_units(robot, dict.fromkeys(wanted, np.empty(0)), step.dynamics.labels)

    def run(self, q: Array, v: Array, controls: Array | None, dt: float, steps: int, every: int) -> Trajectory | None:
        """The motion, unless it diverges or a quaternion is not clearly of unit length."""
        for part in self._quaternions:
            if abs(np.vdot(q[part], q[part]) - 1.0) > 0.5 * UNIT_TOLERANCE:
                return None
        records, series, written = steps // every, {}, []
        for name, start in (("q", q), ("v", v)):
            if name in self._wanted:
                series[name] = array = empty((records + 1, len(start)))
                array[0] = start
                written.append(array[1:])
        for name, shape in self._told.items():
            series[name] = array = empty((records, *shape))
            written.append(array)
        state, inputs = ((0, q), (self._nq, v)), (dt,) if controls is None else (dt, controls)
        if steps <= self._loop.at_once:
            after = self._loop.run(state, inputs, written, steps, every)
        else:
            with Progress(steps, "rollout") as progress:
                after = self._loop.run(state, inputs, written, steps, every, progress.tell)
        if after[self._nq + self._nv] != steps:
            return None
        names, units = self._labels
        return Trajectory(
            dt * every * np.arange(records + 1),
            {name: series[name] for name in self._wanted},
            diverged=np.array(False),
            steps=np.array(steps, dtype=np.int64),
            names=names,
            units=units,
        )


def again(
    robot: Robot, q0: Any, v0: Any, acting: Any, dt: Any, steps: Any, integrator: Any, record: Any, every: Any
) -> Trajectory | None:
    """The motion of one state, if a rollout of this kind was made before and nothing about this one is unusual."""
    if not (type(dt) is float and 0.0 < dt < inf and type(steps) is type(every) is int and 0 < every <= steps):
        return None
    if steps > MOST_STEPS or steps % every or not (_is_row(q0, robot.nq) and _is_row(v0, robot.nv)):
        return None
    law, moving, controls = None, None, None
    if type(acting) is np.ndarray:
        controls, moving = acting, acting.ndim == 2
        if acting.dtype is not FLOAT64 or acting.shape != ((steps, robot.nv) if moving else (robot.nv,)):
            return None
        if not (acting.flags.carray and isfinite(np.vdot(acting, acting))):
            return None
    elif type(acting) is Law:
        law = acting
    elif acting is not None:
        return None
    try:
        made: WarmRollout | None = robot._functions.get(_key(law, moving, integrator, record))
    except TypeError:  # a list is not hashable
        return None
    return None if made is None else made.run(q0, v0, controls, dt, steps, every)


def keep(step: Step, record: Any, wanted: tuple[str, ...]) -> None:
    """Keep what `again` needs, as long as the robot and the law exist."""
    efforts, robot = step.efforts, step.efforts.robot
    if type(record) is not tuple or efforts.function is not None or robot.model.parametric is not None or not robot.nv:
        return
    moving = efforts.given["controls"].moving if "controls" in efforts.given else None
    key = _key(efforts.law, moving, step.integrator, record)
    if key not in robot._functions:
        made = WarmRollout(step, wanted)
        if efforts.law is not None:
            efforts.law.kept(robot, key[1:], lambda: made)
        else:
            robot._functions.setdefault(key, made)


def _key(law: Law | None, moving: bool | None, integrator: str, record: tuple[str, ...]) -> tuple[Any, ...]:
    """In the cache of a robot; `moving` says of controls whether they have a row for every step."""
    return (KIND if law is None else law._key, KIND, moving, integrator, record)


def _is_row(array: Any, size: int) -> bool:
    """Whether it is an ordinary array (size,) of finite float64."""
    if type(array) is not np.ndarray or array.dtype is not FLOAT64 or array.shape != (size,):
        return False
    return isfinite(np.vdot(array, array))

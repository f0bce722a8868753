"""Sliders that move the joints, one for every coordinate; a joint with a quaternion has those of a rotation vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.model.joints import Joint
from kinetree.ops import Array
from kinetree.viewer.shown import ShownRobot

TURN = float(np.pi)
"""Range of an angle without limits [rad]."""
WAY = 2.0
"""Range of a slide without limits [m]."""
LARGE = 1e3
"""Limits beyond are none."""


def by_user(action: Callable[[], None]) -> Callable[[Any], None]:
    """A callback that acts on what is done in the page, not on what is set from here. What a page sends may be
    anything: a value that the control does not offer changes nothing."""

    def act(event: Any) -> None:
        if event.client is not None:
            with suppress(KinetreeError, TypeError, ValueError):
                action()

    return act


class Slider:
    """One coordinate of the tangent space: position = value along it from neutral."""

    def __init__(self, shown: ShownRobot, joint: Joint, k: int) -> None:
        self.shown, self.joint, self.k = shown, joint, k
        self.lower, self.upper = lower, upper = _range(shown, joint, k)
        ending, unit = _label(joint, k)
        name = f"{joint.name} {ending}" if ending else joint.name
        label = name.replace("_joint", "") or name
        value = float(np.clip(self.value(shown.stage.state.q), lower, upper))
        step = 10.0 ** np.floor(np.log10(max(upper - lower, 1e-9) / 500.0))
        self.handle = shown.stage.server.gui.add_slider(
            label,
            min=lower,
            max=upper,
            step=float(step),
            initial_value=value,
            hint=f"{name}: {lower:.4g} to {upper:.4g} {unit}",
        )
        self.handle.on_update(by_user(lambda: self.move(float(self.handle.value))))

    def value(self, q: Array) -> float:
        """Its coordinate in q."""
        if self.joint.quaternion is None:
            return float(q[self.joint.iq + self.k])
        robot = self.shown.robot
        return float(robot.difference(robot.neutral(), q)[self.joint.iv + self.k])

    def move(self, value: float) -> None:
        """Moves the robot there, as far as the slider reaches: the page need not have kept to its ends."""
        if np.isnan(value):
            return
        value = min(max(value, self.lower), self.upper)
        with self.shown._lock:
            q, robot = self.shown.q, self.shown.robot
            if self.joint.quaternion is None:
                q[self.joint.iq + self.k] = value
            else:
                along = robot.difference(robot.neutral(), q)
                along[self.joint.iv + self.k] = value
                q[self.joint.q_slice] = robot.integrate(robot.neutral(), along)[self.joint.q_slice]
            self.shown.move_to(q)

    def update(self) -> None:
        """To where the joint is."""
        value = self.value(self.shown.stage.state.q)
        self.handle.value = min(max(value, self.lower), self.upper)


def sliders(shown: ShownRobot) -> Iterator[Slider]:
    """Of all joints but a floating base."""
    for joint in shown.robot.model.owners:
        if joint is not shown.robot.model.floating_base and (joint.quaternion is None or joint.nv == 3):
            for k in range(joint.nv):
                yield Slider(shown, joint, k)


def _label(joint: Joint, k: int) -> tuple[str, str]:
    """Ending of its name, and unit: of a position, or of a part of a rotation vector."""
    ending, unit = joint.q_labels[k] if joint.quaternion is None else ("xyz"[k], "rad")
    return ending.removeprefix("."), unit


def _range(shown: ShownRobot, joint: Joint, k: int) -> tuple[float, float]:
    if joint.quaternion is not None:
        return -TURN, TURN
    free = WAY if _label(joint, k)[1] == "m" else TURN
    lower, upper = (float(bound[joint.iq + k]) for bound in (shown.robot.limits.lower, shown.robot.limits.upper))
    lower, upper = (lower if lower > -LARGE else -free), (upper if upper < LARGE else free)
    if upper - lower < 1e-6:
        return lower, lower + 1e-6
    tick = 10.0 ** np.floor(np.log10(upper - lower) - 3.0)  # ends within limits that can be read
    low, high = np.ceil(lower / tick - 1e-6) * tick, np.floor(upper / tick + 1e-6) * tick
    return round(float(low), 9), round(float(high), 9)

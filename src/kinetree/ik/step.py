"""One step of the search for a pose: Levenberg-Marquardt within joint limits, as a formula.

With the stacked error e of all frames, its Jacobian J and λ = 0.02 ‖e‖² (after Chan and Lawrence 1988), the step is

    Δq = W Jᵀ (J W Jᵀ + λ I)⁻¹ e = (Jᵀ J + λ W⁻¹)⁻¹ Jᵀ e,

whichever is smaller to solve: long steps far away are damped, and near the target it becomes Newton's. Lengths are
measured in those of the robot's links. W is 1 for angles, and 1 + ‖gap‖² for lengths, in which positions are linear:
however far a target is, rails and floating bases go there in a few steps, and angles, of which no step changes any by
more than one radian, are left to what remains. Joints that are at a limit and would go beyond are held (their columns
of J vanish), and what still goes beyond is cut off (Bertsekas 1982).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree import linalg, ops
from kinetree.base.lazy import lazy
from kinetree.ik.coordinates import in_own_axes, in_parent_axes, limited, translations, within_limits
from kinetree.ik.reach import Reach
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.tasks.frame import linear_and_angular

DAMPING = 0.02
"""λ as a part of ‖e‖²."""
SMALLEST = 1e-12
"""The least λ, so that singular poses stay solvable."""
LONGEST = 1.0
"""The most that an angle changes in one step [rad]."""


@dataclass(frozen=True)
class LevenbergMarquardtStep:
    """A step for frames of a robot; `turns` says whether their axes count too, not only where their origins are."""

    robot: Robot
    frames: tuple[str, ...]
    turns: bool

    @property
    def target_size(self) -> int:
        """Numbers of all targets: rows of [R p], or p alone."""
        return len(self.frames) * (12 if self.turns else 3)

    @lazy
    def length(self) -> float:
        """The unit of lengths [m]: the power of ten that is nearest to the length of the links, 1 m for most robots."""
        size = max(Reach(self.robot, name).size for name in self.frames)
        return 10.0 ** round(math.log10(size)) if size > 0.0 else 1.0

    def __call__(self, robot: Robot, q: Array, target: Array) -> tuple[Array, Array]:
        """q after the step, and the greatest squared errors of position and rotation before it."""
        e, J, squares = self.error(robot, q, target)
        if self.length != 1.0:
            units = np.tile([1.0 / self.length] * 3 + [1.0] * 3 * self.turns, len(self.frames))
            e, J = e * units, J * units[:, None]
        J = in_parent_axes(robot, q, J)
        J = self._hold(robot, q, J.T @ e, J)
        rows, columns = J.shape
        damping = ops.maximum(DAMPING * (e @ e), SMALLEST)
        slides = translations(robot)
        W = ops.array([self.length**2 + squares[0] if slide else 1.0 for slide in slides])
        if rows <= columns:
            dq = W * (J.T @ linalg.solve((J * W) @ J.T + damping * np.eye(rows), e, positive_definite=True))
        else:
            dq = linalg.solve(J.T @ J + np.diag(damping / W), J.T @ e, positive_definite=True)
        longest: Any = LONGEST
        for number in dq[~slides]:
            longest = ops.maximum(longest, ops.absolute(number))
        moved = robot.integrate(q, in_own_axes(robot, q, dq * (LONGEST / longest)))
        return within_limits(robot, moved), squares

    def error(
        self, robot: Robot, q: Array, target: Array, rotation: Callable[[Array, Array], Array] | None = None
    ) -> tuple[Array, Array, Array]:
        """e and J of all frames, and the greatest squared errors of position and of rotation among them; errors of
        rotation are `chord`, or as `rotation` gives them from the target's axes and the frame's."""
        errors, rows = [], []
        farthest: Any = 0.0
        widest: Any = 0.0
        size = self.target_size // len(self.frames)
        for k, name in enumerate(self.frames):
            T, wanted = robot.frame(name).pose(q), target[k * size : (k + 1) * size]
            linear, angular = linear_and_angular(robot, name, q)
            wanted = wanted.reshape(3, 4) if self.turns else wanted.reshape(3, 1)
            gap = wanted[:, -1] - T[:3, 3]
            errors.append(gap)
            rows.append(linear)
            farthest = ops.maximum(farthest, gap @ gap)
            if self.turns:
                turn = (rotation or chord)(wanted[:, :3], T[:3, :3])
                errors.append(turn)
                rows.append(angular)
                widest = ops.maximum(widest, turn @ turn)
        return np.concatenate(errors), np.concatenate(rows), ops.array([farthest, widest])

    def _hold(self, robot: Robot, q: Array, gradient: Array, J: Array) -> Array:
        J = J.copy()
        for iq, iv, low, high in limited(robot):
            below = ops.logical_and(ops.less_equal(q[iq], low), ops.less(gradient[iv], 0.0))
            above = ops.logical_and(ops.less_equal(high, q[iq]), ops.less(0.0, gradient[iv]))
            held = ops.logical_or(below, above)
            for row in range(len(J)):
                J[row, iv] = ops.where(held, 0.0, J[row, iv])
        return J


def chord(R_target: Array, R: Array) -> Array:
    """2 sin(θ/2) times the axis of the rotation that takes R to the target, in world axes: θ where it is small, no
    function but one root, and, unlike sin θ, growing all the way to half a turn."""
    D = R_target @ R.T
    twice_sine = ops.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]])
    return twice_sine / ops.sqrt(ops.maximum(1.0 + D[0, 0] + D[1, 1] + D[2, 2], 1e-12))

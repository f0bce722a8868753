"""All configurations in which an arm of six revolute joints has its hand at a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import ops
from kinetree.base.arguments import as_floats
from kinetree.base.lazy import lazy
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.definition import Definition
from kinetree.ik.closed_form.polish import persistent, polished
from kinetree.ik.closed_form.recognition import Arm, Family, arm_of, check_freedom, family_of
from kinetree.ik.closed_form.selection import RESIDUAL, selected
from kinetree.ops import Array, logical_not, require
from kinetree.robot import Robot, as_robot

BRANCHES = 8
NEAR, NEARLY_NEAR = 1e-5, 1e-2
"""Branches that lead nearer to the target than this, [m] + [rad], are worth more than the usual steps: of arms whose
axes meet exactly, and nearly."""
DAMPING = 1e-6
NOT_A_POSE = 1e-6
"""Largest deviation of a rotation's columns from orthonormal ones."""


def closed_form(robot: Robot, frame: str, target: ArrayLike, limits: bool = True) -> Array:
    """All q for which a frame is at a pose, (k, nq), k = 0 … 8; for a batch of poses, (…, 4, 4), always eight rows,
    (…, 8, nq), with NaN in those that are no solutions.

    For six revolute joints between the base and the frame, of which the last three axes meet in one point, or the first
    three do, or three in the middle are parallel and the two beyond them meet (as UR arms); other joints are at
    neutral. Anything else is refused, and the error says what does not fit. Axes that are off by less than 1e-5 m or
    1e-5 rad are taken to meet or to be parallel, and every solution is then brought to the robot as it is: frame and
    target differ by less than 1e-10 [m] + [rad].

    Angles are between -π and π; with `limits` those outside are tried a turn less and a turn more, and solutions that
    still are outside are dropped. Rows keep the order of branches: both wrists of one elbow, the other elbow, then the
    other shoulder. Where two branches meet there is one row for both. Where two joints turn alike, as 4 and 6 of a
    straight wrist, the first of them (of a UR arm, the last) is at zero, or at the limit next to it; where the target
    does not depend on a joint, it is at zero.
    """
    return _solver(robot, frame).solve(target, limits)


def out_of_reach(robot: Robot, frame: str, target: ArrayLike) -> float:
    """The distance of a pose from the workspace of such an arm, (…) [m], without joint limits: from the centre of the
    wrist to the nearest point that it can reach, zero within reach.

    Zero and yet no solution means that the wrist cannot turn so, or that limits forbid it.
    """
    return _solver(robot, frame).out_of_reach(target)


def _solver(robot: Robot, frame: str) -> ClosedForm:
    """The closed form of a robot and a frame, made once and kept with the robot."""
    robot = as_robot(robot).baked
    robot.require_float64("inverse kinematics")
    key = ("closed form", robot.frame(frame).name)
    return robot._functions.get(key) or robot._functions.setdefault(key, ClosedForm(robot, key[1]))


@final
@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The closed form of one arm and frame; `closed_form` creates it on first use and keeps it."""

    robot: Robot
    frame: str

    def __post_init__(self) -> None:
        _ = self._recognised
        check_freedom(self.robot, self._arm)

    def __reduce__(self) -> tuple[Any, ...]:
        return ClosedForm, (self.robot, self.frame)

    def solve(self, target: ArrayLike, limits: bool = True) -> Array:
        """`kt.ik.closed_form`."""
        first, goals = self._branches(target)
        x, away, before = self._polished(first, goals, np.full(first.shape[:-1], DAMPING))
        near = (away > RESIDUAL) & (np.minimum(away, before) < (NEAR if self._recognised[1] else NEARLY_NEAR))
        if near.any():
            starts = np.where((before < away)[..., None], first, x)[near]
            number = np.broadcast_to(np.arange(BRANCHES), away.shape)[near]
            x[near], away[near] = persistent(self._polished, self._jacobians, starts, goals[near], number)
        x, found = (self._selected if limits else self._unlimited)(x, away)
        if x.ndim == 2:
            return self._whole(x[found != 0.0])
        q = self._whole(x)
        q[found == 0.0] = np.nan
        return q

    def _whole(self, x: Array) -> Array:
        """Configurations, (…, nq), of six angles, (…, 6)."""
        if self._arm.iq == tuple(range(self.robot.nq)):
            return x
        q = np.empty((*x.shape[:-1], self.robot.nq))
        q[...] = self.robot.neutral()
        q[..., list(self._arm.iq)] = x
        return q

    def out_of_reach(self, target: ArrayLike) -> Any:
        """`kt.ik.out_of_reach`."""
        poses = as_floats("target", target, (4, 4))
        self._branches(poses)  # refuses what is no pose
        short = np.empty(poses.shape[:-2])
        for index in np.ndindex(short.shape):
            short[index] = self._family.shortfall(*self._moved(poses[index]))
        return short[()]

    # -- what it is made of ------------------------------------------------------------------------------------

    @lazy
    def _arm(self) -> Arm:
        return arm_of(self.robot, self.frame)

    @lazy
    def _recognised(self) -> tuple[Family, bool]:
        limits, iq = self.robot.limits, list(self._arm.iq)
        return family_of(self._arm, np.clip(0.0, limits.lower[iq], limits.upper[iq]))

    @property
    def _family(self) -> Family:
        return self._recognised[0]

    def _moved(self, target: Array) -> tuple[Array, Array]:
        """(R, p) that takes the frame from where it is at zero to the target."""
        R = target[:3, :3] @ self._arm.zero[:3, :3].T
        return R, target[:3, 3] - R @ self._arm.zero[:3, 3]

    def _law(self, name: str, function: Any, **shapes: tuple[int, ...]) -> Any:
        function.__name__ = function.__qualname__ = name
        return BoundLaw(Definition(function, shapes), {"robot": self.robot}, {}).call

    @lazy
    def _branches(self) -> Any:
        """Eight candidates, (8, 6), and for each the target with exactly orthonormal columns, (8, 4, 4)."""

        def branches(robot: Robot, target: Array) -> tuple[Array, Array]:
            clean = _orthonormal(target)
            found = self._family.branches(*self._moved(clean))
            return found, np.stack([clean] * BRANCHES)

        return self._law("closed_form", branches, target=(4, 4))

    @lazy
    def _polished(self) -> Any:
        steps = 1 if self._recognised[1] else 2

        def of_one(robot: Robot, x: Array, target: Array, damping: Any) -> tuple[Array, Any, Any]:
            return polished(robot, self._arm, x, target, damping, steps)

        return self._law("polished", of_one, x=(6,), target=(4, 4), damping=())

    def _jacobians(self, x: Array) -> Array:
        """Jacobians of the frame, (…, 6, 6), for six angles."""
        return self.robot.frame(self.frame).jacobian(self._whole(x))[..., list(self._arm.iv)]

    @lazy
    def _selected(self) -> Any:
        limits, iq = self.robot.limits, list(self._arm.iq)
        return self._selection(limits.lower[iq], limits.upper[iq])

    @lazy
    def _unlimited(self) -> Any:
        return self._selection(np.full(6, -np.inf), np.full(6, np.inf))

    def _selection(self, lower: Array, upper: Array) -> Any:
        def of_branches(robot: Robot, x: Array, away: Array) -> tuple[Array, Array]:
            return selected(x, away, lower, upper)

        return self._law("selected", of_branches, x=(BRANCHES, 6), away=(BRANCHES,))


def _orthonormal(target: Array) -> Array:
    """A pose whose rotation has its last digits right, by R ← ½ R (3 - Rᵀ R) twice; what is no pose is refused."""
    R = target[:3, :3]
    off: Any = ops.less(R[:, 0] @ ops.cross(R[:, 1], R[:, 2]), 0.0)
    for i, j in zip(*np.triu_indices(3), strict=True):
        off = ops.logical_or(off, ops.less(NOT_A_POSE, ops.absolute(R[:, i] @ R[:, j] - float(i == j))))
    for entry, expected in zip(target[3], (0.0, 0.0, 0.0, 1.0), strict=True):
        off = ops.logical_or(off, ops.less(NOT_A_POSE, ops.absolute(entry - expected)))
    require(logical_not(off), "target is no pose; expected [[R, p], [0, 1]] with a rotation matrix R")
    for _ in range(2):
        R = R @ (np.eye(3) * 3.0 - R.T @ R) * 0.5
    clean = ops.zeros((4, 4), R)
    clean[:3, :3], clean[:3, 3], clean[3, 3] = R, target[:3, 3], 1.0
    return clean

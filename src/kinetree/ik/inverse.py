"""Inverse kinematics to poses: configurations of a robot that bring frames to where they are wanted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from kinetree import ops
from kinetree.arguments import as_count, as_floats, as_number, as_real
from kinetree.bound_law import BoundLaw
from kinetree.compiler.jit import lazy_code
from kinetree.definition import Definition
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.identity import identity
from kinetree.ik.lanes import Lanes
from kinetree.ik.search import ANGLE, GAP, REPORT, SOLVED, STARTED, STATUS, TURNS
from kinetree.ik.solution import Solution
from kinetree.ik.step import Step, limited
from kinetree.lazy import lazy
from kinetree.model.joints import Free
from kinetree.ops import Array
from kinetree.robot import Robot

SEEDS = 1024
"""Starts to choose from, the same for all problems."""
MOST_TURNS = 40.0
"""Steps of one attempt; most that arrive do so within twelve."""
ORTHONORMAL = 1e-6
"""How far a target's axes may be from that."""
LARGEST = 1e150
"""Of what is squared."""


class InverseKinematics:
    """The search for given frames of a robot, compiled; with `turns`, their axes count as well as their origins."""

    def __init__(self, robot: Robot, frames: tuple[str, ...], turns: bool) -> None:
        for name in frames:
            robot.frame(name)
        self.robot, self.frames, self.turns = robot, frames, turns
        self.step = Step(robot, frames, turns)
        self.core = (*(() if len(frames) == 1 else (len(frames),)), *((4, 4) if turns else (3,)))

    @lazy_code
    def _lanes(self) -> Lanes:
        step = self.step

        def advance(robot: Robot, q: Array, target: Array) -> tuple[Array, Array]:
            return step(robot, q, target)

        shapes, own = {"target": (step.target_size,)}, identity("step of IK", step)
        law = BoundLaw(Definition(advance, shapes, identity=own), {"robot": self.robot}, {})
        seeds = self.robot.random(np.random.default_rng(0), SEEDS)
        return Lanes(law.traced.kernel, seeds, self._free())

    def _free(self) -> Array:
        """Which coordinates a start may choose: those of joints that move the frames, but not a floating base's."""
        model, rng = self.robot.model, np.random.default_rng(1)
        moves = np.zeros(self.robot.nv, dtype=bool)
        for q in self.robot.random(rng, 2):
            for name in self.frames:
                moves |= np.abs(self.robot.frame(name).jacobian(q)).max(axis=0) > 1e-12
        free = np.zeros(self.robot.nq)
        for joint in model.owners:
            if not isinstance(joint, Free) and moves[joint.iv : joint.iv + joint.nv].any():
                free[joint.iq : joint.iq + joint.nq] = 1.0
        return free

    def solve(self, target: Any, q0: Any, position: float, rotation: float, attempts: int) -> Solution:
        """Search for every target, (…, *core), from q0, (…, nq), or None."""
        starts, rows, off = self._prepare.call(self._middle if q0 is None else q0, target)
        chord = 2.0 * math.sin(0.5 * min(rotation, math.pi))
        settings = (position * position, chord * chord, float(attempts), MOST_TURNS, float(q0 is not None))
        if type(off) is np.float64:
            if not off <= ORTHONORMAL:
                self._refuse(q0, target)
            return self._one(target, *self._lanes.one(rows, starts, settings))
        if not (off <= ORTHONORMAL).all():
            self._refuse(q0, target)
        batch = off.shape
        nt, nq = self.step.target_size, self.robot.nq
        found, report = self._lanes.run(rows.reshape(off.size, nt), starts.reshape(off.size, nq), settings)
        return self._many(batch, target, found.reshape((*batch, nq)), report.reshape((*batch, REPORT)))

    @lazy
    def _prepare(self) -> BoundLaw:
        """A start within limits, the rows of [R p] of all targets, or p, and how far they are from being poses."""
        step, count = self.step, len(self.frames)

        def prepare(robot: Robot, q0: Array, target: Array) -> tuple[Array, Array, Any]:
            numbers = q0 @ q0 + target.ravel() @ target.ravel()
            off: Any = ops.where(ops.less(numbers, np.inf), 0.0, np.inf)
            for part in robot.model.quaternions:
                off = ops.maximum(off, ops.absolute(q0[part] @ q0[part] - 1.0))
            if not step.turns:
                return step.cut(robot, q0), target.ravel(), off
            for T in target.reshape(count, 4, 4):
                R = T[:3, :3]
                products = (R.T @ R - np.eye(3))[np.triu_indices(3)]
                for number in (*products, *(T[3] - np.array([0.0, 0.0, 0.0, 1.0]))):
                    off = ops.maximum(off, ops.absolute(number))
                off = off + ops.where(ops.less(R[:, 0] @ ops.cross(R[:, 1], R[:, 2]), 0.0), 2.0, 0.0)
            return step.cut(robot, q0), target.reshape(count, 4, 4)[:, :3].ravel(), off

        shapes, own = {"q0": (self.robot.nq,), "target": self.core}, identity("start of IK", step)
        return BoundLaw(Definition(prepare, shapes, identity=own), {"robot": self.robot}, {})

    def _refuse(self, q0: Any, target: Any) -> NoReturn:
        """Say what is wrong with the first target, or the first start, that is not one."""
        targets = as_floats("target", target, self.core)
        starts = as_floats("q0", self._middle if q0 is None else q0, (self.robot.nq,))
        for name, array, inner in (("q0", starts, 1), ("target", targets, len(self.core))):
            if not np.isfinite(array).all():
                raise ArgumentError(f"{name}{_where(~np.isfinite(array), inner)} has entries that are not finite")
            if (np.abs(array) > LARGEST).any():
                raise ArgumentError(f"{name}{_where(np.abs(array) > LARGEST, inner)} has entries beyond {LARGEST:g}")
        self.robot.integrate(starts, np.zeros(self.robot.nv))  # refuses quaternions that are not of unit length
        R, last = targets[..., :3, :3], targets[..., 3, :]
        wrong = np.asarray((np.abs(last - (0.0, 0.0, 0.0, 1.0)) > ORTHONORMAL).any(-1))
        if wrong.any():
            raise ArgumentError(f"target{_where(wrong, len(self.core) - 2)} does not end in a row 0, 0, 0, 1")
        off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max((-1, -2))
        turned = (R[..., 0] * np.cross(R[..., 1], R[..., 2])).sum(-1) < 0.0
        wrong = (off > ORTHONORMAL) | turned
        raise ArgumentError(
            f"target{_where(wrong, len(self.core) - 2)} is not a pose: its axes are not orthonormal and right-handed "
            f"(off by {off.max():.2g})"
        )

    @lazy
    def _middle(self) -> Array:
        """Neutral, or the middle between limits where neutral is beyond them."""
        q: Array = self.robot.neutral()
        for iq, _, low, high in limited(self.robot):
            if not low <= q[iq] <= high:
                q[iq] = low if high == np.inf else high if low == -np.inf else 0.5 * (low + high)
        return q

    # -- what came of it ---------------------------------------------------------------------------------------

    def _one(self, target: Any, q: Array, row: list[float]) -> Solution:
        gap, angle = math.sqrt(row[GAP]), 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(row[ANGLE])))

        def explain(index: tuple[int, ...]) -> str:
            return self._reason(q, np.asarray(target, dtype=float), gap, angle)

        return Solution(q, row[STATUS] == SOLVED, gap, angle, int(row[TURNS]), int(row[STARTED]), explain)

    def _many(self, batch: tuple[int, ...], target: Any, q: Array, report: Array) -> Solution:
        gaps, chords = np.sqrt(report[..., GAP]), np.sqrt(report[..., ANGLE])
        angles = 2.0 * np.arcsin(np.minimum(1.0, 0.5 * chords))

        def explain(index: tuple[int, ...]) -> str:
            wanted = np.broadcast_to(np.asarray(target, dtype=float), batch + self.core)
            return self._reason(q[index], wanted[index], float(gaps[index]), float(angles[index]))

        solved, counts = report[..., STATUS] == SOLVED, report[..., [TURNS, STARTED]].astype(np.int64)
        return Solution(q, solved, gaps, angles, counts[..., 0], counts[..., 1], explain)

    def _reason(self, q: Array, target: Array, gap: float, angle: float) -> str:
        """Why the best configuration is not better."""
        what = f"{self.frames[0]!r}" if len(self.frames) == 1 else f"of {', '.join(map(repr, self.frames))}, one"
        numbers = (target.reshape(-1, 4, 4)[:, :3] if self.turns else target).ravel()
        e, J, _ = self.step.error(self.robot.eager, q, numbers)
        slope = J.T @ e
        joints = self.robot.model.owners
        held = []
        for iq, iv, low, high in limited(self.robot):
            at_low, at_high = q[iq] <= low and slope[iv] < 0.0, q[iq] >= high and slope[iv] > 0.0
            if at_low or at_high:
                name = next(joint.name for joint in joints if joint.iv <= iv < joint.iv + joint.nv)
                held.append(f"{name!r} at its {'lower' if at_low else 'upper'} limit {low if at_low else high:.4g}")
        short_of = f"{gap:.3g} m" + (f" and {angle:.3g} rad" if self.turns else "")
        text = f"{what} stays {short_of} short of its target"
        if self.turns:
            reach = search(self.robot, self.frames, turns=False)
            at = reach.solve(target[..., :3, 3], q, 1e-4, 1.0, 32)
            if at.success:
                text += ": its position can be reached, but not with this orientation"
            else:
                text += f": its position is out of reach by {min(gap, at.position_error):.3g} m"
        else:
            text += ": out of reach"
        return f"{text}; {', '.join(held)}" if held else text


def _where(wrong: Array, inner: int) -> str:
    """The index of the first wrong one, without its `inner` last axes."""
    index = np.argwhere(wrong)[0][: wrong.ndim - inner] if wrong.ndim > inner else ()
    return f"[{', '.join(map(str, index))}]" if len(index) else ""


def search(robot: Robot, frames: tuple[str, ...], turns: bool) -> InverseKinematics:
    """The search for these frames, made once for a robot."""
    key = ("inverse kinematics", frames, turns)
    known: InverseKinematics | None = robot._laws.get(key)
    if known is None:
        known = robot._laws.setdefault(key, InverseKinematics(robot, frames, turns))
    return known


def ik(
    robot: Robot,
    frame: str | Sequence[str],
    target: Any,
    q0: Any = None,
    position_tolerance: float = 1e-6,
    rotation_tolerance: float = 1e-6,
    attempts: int = 300,
) -> Solution:
    """See Robot.ik."""
    frames = (frame,) if isinstance(frame, str) else _names(frame)
    if type(target) is not np.ndarray:
        try:
            target = np.asarray(target, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"target is {short(target)}; expected a pose (4, 4) or a position (3,)") from None
    for name, value in (("target", target), ("q0", q0)):
        if isinstance(value, np.ndarray) and value.dtype == object:
            as_real(name, value, "numbers")
    turns = target.shape[-2:] == (4, 4)
    if not turns and target.shape[-1:] != (3,):
        many = f"{len(frames)}, " if len(frames) > 1 else ""
        raise ArgumentError(
            f"target has shape {target.shape}; expected poses (…, {many}4, 4) or positions (…, {many}3)"
        )
    limits = []
    for name, value in (("position_tolerance", position_tolerance), ("rotation_tolerance", rotation_tolerance)):
        number = value if type(value) is float else as_number(name, value)
        if not number > 0.0:
            raise ArgumentError(f"{name} is {number:g}; expected a positive number")
        limits.append(number)
    if type(attempts) is not int or attempts < 1:
        attempts = as_count("attempts", attempts)
        if attempts == 0:
            raise ArgumentError("attempts is 0; expected 1 or more")
    return search(robot, frames, turns).solve(target, q0, limits[0], limits[1], attempts)


def _names(frames: Any) -> tuple[str, ...]:
    names = tuple(frames) if isinstance(frames, (list, tuple)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"frame is {short(frames)}; expected a frame's name, or a list of names")
    if len(set(names)) < len(names):
        raise ArgumentError(f"frame names {short(frames)} twice; expected different ones")
    return names

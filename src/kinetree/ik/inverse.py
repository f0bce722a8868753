"""Inverse kinematics to poses: configurations of a robot that bring frames to where they are wanted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from kinetree import ops
from kinetree.base.arguments import as_count, as_floats, as_number, as_real
from kinetree.base.lazy import lazy
from kinetree.compiler import lazy_code
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.definition import Definition
from kinetree.functions.identity import identity
from kinetree.ik.coordinates import limited, within_limits
from kinetree.ik.lanes import Lanes
from kinetree.ik.local_minimum import LocalMinimum
from kinetree.ik.reach import ROUNDING, Reach
from kinetree.ik.reasons import Explanation
from kinetree.ik.search import ANGLE, CHOSEN, GAP, ITERATIONS, MOST_ATTEMPTS, REPORT, SOLVED, STARTED, STATUS
from kinetree.ik.solution import Solution
from kinetree.ik.step import LevenbergMarquardtStep
from kinetree.model.joints import Free
from kinetree.model.parametric import representative
from kinetree.ops import Array
from kinetree.robot import Robot

MOST_TURNS = 40.0
"""Steps of one attempt; most that arrive do so within twelve."""
ORTHONORMAL = 1e-6
"""Largest deviation of a target's axes from orthonormal ones."""
LARGEST = 1e150
"""Largest entry of q0 and targets: they are squared."""
HOPELESS = 8.0
"""Attempts at a target that is proven to be out of reach."""
BEYOND = 1e-6
"""Distance beyond the length of all links [m] from which a target counts as that."""


class Limits(NamedTuple):
    """The caller's tolerances [m, rad] and attempts, and whether he chose the start."""

    position: float
    rotation: float
    attempts: int
    chosen: bool


class InverseKinematics:
    """The search for given frames of a robot, compiled; with `turns`, their axes count as well as their origins."""

    def __init__(self, robot: Robot, frames: tuple[str, ...], turns: bool) -> None:
        robot.require_float64("inverse kinematics")
        for name in frames:
            robot.frame(name)
        self.robot, self.frames, self.turns = robot, frames, turns
        self.step = LevenbergMarquardtStep(robot, frames, turns)
        inputs = robot.model.parametric
        self.row_size = self.step.target_size + (0 if inputs is None else inputs.size)
        self.core = (*(() if len(frames) == 1 else (len(frames),)), *((4, 4) if turns else (3,)))

    @lazy_code
    def _lanes(self) -> Lanes:
        step = self.step

        def advance(robot: Robot, q: Array, target: Array) -> tuple[Array, Array]:
            return step(robot, q, target)

        shapes, own = {"target": (step.target_size,)}, identity("step of IK", step, step.length)
        law = BoundLaw(Definition(advance, shapes, identity=own), {"robot": self.robot}, {})
        seeds = self.robot.random(np.random.default_rng(0), 1024)  # starts to choose from, the same for all problems
        return Lanes(law.specialization().kernel, seeds, self._free())

    def _free(self) -> Array:
        """The coordinates that a start may choose, (nq,) of 0 and 1: those of joints that move the frames, with the
        robot's own placements or others that are inputs, but not a floating base's."""
        model, rng = self.robot.model, np.random.default_rng(1)
        moves = np.zeros(self.robot.nv, dtype=bool)
        robots = [self.robot.eager]
        if model.parametric is not None and (model.parametric.placement or model.parametric.frames):
            robots.append(Robot(representative(model), textbook=True))
        for robot in robots:
            for q in self.robot.random(rng, 2):
                for name in self.frames:
                    moves |= np.abs(robot.frame(name).jacobian(q)).max(axis=0) > 1e-12
        free = np.zeros(self.robot.nq)
        for joint in model.owners:
            if not isinstance(joint, Free) and moves[joint.iv : joint.iv + joint.nv].any():
                free[joint.iq : joint.iq + joint.nq] = 1.0
        return free

    def solve(
        self, target: Any, q0: Any, position: float, rotation: float, attempts: int, parameters: Any = None
    ) -> Solution:
        """Search for every target, (…, *core), from q0, (…, nq), or None, with parameters (…, n) or its own."""
        known = {} if parameters is None else {"parameters": parameters}
        starts, rows, off, beyond = self._prepare.call(self._middle if q0 is None else q0, target, **known)
        chord = 2.0 * math.sin(0.5 * min(rotation, math.pi))
        settings: tuple[float, ...] = (
            position * position,
            chord * chord,
            float(attempts),
            MOST_TURNS,
            float(q0 is not None),
        )
        limits = Limits(position, rotation, attempts, q0 is not None)
        if type(off) is np.float64:
            if not off <= ORTHONORMAL:
                self._refuse(q0, target, parameters)
            q, row = self._lanes.one(rows, starts, self._fewer(settings) if beyond else settings)
            return self._one(target, rows, starts, q, row, limits)
        if not (off <= ORTHONORMAL).all():
            self._refuse(q0, target, parameters)
        rows, starts = rows.reshape(off.size, self.row_size), starts.reshape(off.size, self.robot.nq)
        found, report = self._search(rows, starts, settings, beyond.ravel() != 0.0)
        return self._many(off.shape, target, rows, starts, found, report, limits)

    def _search(self, rows: Array, starts: Array, settings: tuple[float, ...], beyond: Array) -> tuple[Array, Array]:
        """Solutions and reports of all targets; those that are proven to be out of reach get few attempts."""
        if not beyond.any():
            return self._lanes.run(rows, starts, settings)
        found, report = np.empty(starts.shape), np.empty((len(rows), REPORT))
        for group, given in ((~beyond, settings), (beyond, self._fewer(settings))):
            found[group], report[group] = self._lanes.run(rows[group], starts[group], given)
        return found, report

    def _fewer(self, settings: tuple[float, ...]) -> tuple[float, ...]:
        """Settings of a search without a solution: enough attempts to find a place to descend from."""
        most = 1.0 if settings[CHOSEN] > 0.0 else min(settings[MOST_ATTEMPTS], HOPELESS)
        return (*settings[:MOST_ATTEMPTS], most, *settings[MOST_ATTEMPTS + 1 :])

    @lazy
    def _prepare(self) -> BoundLaw:
        """A start within limits, the rows of [R p] of all targets, or p, followed by the parameters of a parametric
        robot, how far they are from being poses, and whether one is further away than all links are long."""
        step, count, frames = self.step, len(self.frames), self.frames

        def prepare(robot: Robot, q0: Array, target: Array) -> tuple[Array, Array, Any, Any]:
            phi = np.zeros(0) if robot.model.parametric is None else robot.model.parametric.values
            numbers = q0 @ q0 + target.ravel() @ target.ravel() + phi @ phi
            off: Any = ops.where(ops.less(numbers, np.inf), 0.0, np.inf)
            for part in robot.model.quaternions:
                off = ops.maximum(off, ops.absolute(q0[part] @ q0[part] - 1.0))
            beyond: Any = 0.0
            places = target.reshape(count, 4, 4)[:, :3, 3] if step.turns else target.reshape(count, 3)
            for name, place in zip(frames, places, strict=True):
                reach = Reach(robot, name)
                if reach.is_bounded:
                    gap, most = place - reach.center, reach.radius * (1.0 + ROUNDING) + BEYOND
                    beyond = ops.where(ops.less(most * most, gap @ gap), 1.0, beyond)
            if not step.turns:
                return within_limits(robot, q0), np.concatenate([target.ravel(), phi]), off, beyond
            for T in target.reshape(count, 4, 4):
                R = T[:3, :3]
                products = (R.T @ R - np.eye(3))[np.triu_indices(3)]
                for number in (*products, *(T[3] - np.array([0.0, 0.0, 0.0, 1.0]))):
                    off = ops.maximum(off, ops.absolute(number))
                off = off + ops.where(ops.less(R[:, 0] @ ops.cross(R[:, 1], R[:, 2]), 0.0), 2.0, 0.0)
            rows = np.concatenate([target.reshape(count, 4, 4)[:, :3].ravel(), phi])
            return within_limits(robot, q0), rows, off, beyond

        shapes, own = {"q0": (self.robot.nq,), "target": self.core}, identity("start of IK", step)
        law = BoundLaw(Definition(prepare, shapes, identity=own), {"robot": self.robot}, {})
        law.title = f"ik of {self.robot.name!r}"
        return law

    def _refuse(self, q0: Any, target: Any, parameters: Any = None) -> NoReturn:
        """Say what is wrong with the first target, the first start, or the first parameters that are none."""
        targets = as_floats("target", target, self.core)
        starts = as_floats("q0", self._middle if q0 is None else q0, (self.robot.nq,))
        numbers = np.asarray(() if parameters is None else parameters, dtype=float)
        for name, array, inner in (("q0", starts, 1), ("target", targets, len(self.core)), ("parameters", numbers, 1)):
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
        skewed, inner = off > ORTHONORMAL, len(self.core) - 2
        if skewed.any():
            worst = f"{off[skewed].flat[0]:.2g}"
            raise ArgumentError(
                f"target{_where(skewed, inner)} is not a pose: its axes are not orthonormal (off by {worst})"
            )
        mirrored = np.asarray((R[..., 0] * np.cross(R[..., 1], R[..., 2])).sum(-1) < 0.0)
        raise ArgumentError(
            f"target{_where(mirrored, inner)} is not a pose: its axes are left-handed (the determinant of R is -1); "
            "expected right-handed ones"
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

    @lazy
    def _minimum(self) -> LocalMinimum:
        return LocalMinimum(self.step)

    def _one(self, target: Any, rows: Array, start: Array, q: Array, row: list[float], limits: Limits) -> Solution:
        gap, angle = math.sqrt(row[GAP]), 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(row[ANGLE])))
        solved, turns, started = row[STATUS] == SOLVED, int(row[ITERATIONS]), int(row[STARTED])
        if not solved:
            q, gap, angle, further = self._minimum.run(start if limits.chosen else q, rows)
            solved, turns = gap <= limits.position and angle <= limits.rotation, turns + further
        explain = None if solved else self._explanation(np.array(target, dtype=float), rows, q, gap, angle, limits)
        return Solution(q, solved, gap, angle, turns, started, explain)

    def _many(
        self, batch: tuple[int, ...], target: Any, rows: Array, starts: Array, q: Array, report: Array, limits: Limits
    ) -> Solution:
        gaps, chords = np.sqrt(report[:, GAP]), np.sqrt(report[:, ANGLE])
        angles = 2.0 * np.arcsin(np.minimum(1.0, 0.5 * chords))
        solved, counts = report[:, STATUS] == SOLVED, report[:, [ITERATIONS, STARTED]].astype(np.int64)
        for k in np.flatnonzero(~solved).tolist():
            q[k], gap, angle, further = self._minimum.run(starts[k] if limits.chosen else q[k], rows[k])
            gaps[k], angles[k], counts[k, 0] = gap, angle, counts[k, 0] + further
            solved[k] = gap <= limits.position and angle <= limits.rotation
        q = q.reshape(*batch, self.robot.nq)
        gaps, angles, solved = (each.reshape(batch) for each in (gaps, angles, solved))
        explain = None
        if not solved.all():
            wanted = np.broadcast_to(np.asarray(target, dtype=float), batch + self.core)
            explain = self._explanation(wanted, rows, q, gaps, angles, limits)
        turns, started = (column.reshape(batch) for column in counts.T)
        return Solution(q, solved, gaps, angles, turns, started, explain)

    def _explanation(self, target: Array, rows: Array, q: Array, gap: Any, angle: Any, limits: Limits) -> Explanation:
        tolerances, parameters = (limits.position, limits.rotation), None
        if self.robot.model.parametric is not None:
            parameters = rows[..., self.step.target_size :].reshape(*q.shape[:-1], -1)
        known = (self.robot, self.frames, self.turns, target, q, gap, angle)
        return Explanation(*known, limits.attempts, limits.chosen, tolerances, parameters)


def _where(wrong: Array, inner: int) -> str:
    """The index of the first wrong one, without its `inner` last axes."""
    index = np.argwhere(wrong)[0][: wrong.ndim - inner] if wrong.ndim > inner else ()
    return f"[{', '.join(map(str, index))}]" if len(index) else ""


def search(robot: Robot, frames: tuple[str, ...], turns: bool) -> InverseKinematics:
    """The search for these frames, made once for a robot."""
    key = ("inverse kinematics", frames, turns)
    known: InverseKinematics | None = robot._functions.get(key)
    return known or robot._functions.setdefault(key, InverseKinematics(robot, frames, turns))


def ik(
    robot: Robot,
    frame: str | Sequence[str],
    target: Any,
    q0: Any = None,
    position_tolerance: float = 1e-6,
    rotation_tolerance: float = 1e-6,
    attempts: int = 300,
    parameters: ArrayLike | None = None,
) -> Solution:
    """See Robot.ik."""
    if robot.is_symbolic:
        raise ArgumentError("ik cannot be part of a compiled function; call it outside")
    frames = (frame,) if isinstance(frame, str) else _names(frame)
    if type(target) is not np.ndarray:
        try:
            target = np.asarray(target, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"target is {short(target)}; expected a pose (4, 4) or a position (3,)") from None
    if target.dtype.char == "O":
        as_real("target", target, "numbers")
    if type(q0) is np.ndarray and q0.dtype.char == "O":
        as_real("q0", q0, "numbers")
    turns = target.shape[-2:] == (4, 4)
    if not turns and target.shape[-1:] != (3,):
        many = f"{len(frames)}, " if len(frames) > 1 else ""
        raise ArgumentError(
            f"target has shape {target.shape}; expected poses (…, {many}4, 4) or positions (…, {many}3)"
        )
    if target.shape == (3, 3) and np.allclose(target @ target.T, np.eye(3), rtol=0.0, atol=1e-9):
        raise ArgumentError(
            "target is a rotation matrix (3, 3); expected a pose (4, 4) or positions (…, 3): kt.ik.DifferentialIK with "
            "kt.tasks.Orientation follows rotations"
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
    return search(robot, frames, turns).solve(target, q0, limits[0], limits[1], attempts, parameters)


def _names(frames: Any) -> tuple[str, ...]:
    names = tuple(frames) if isinstance(frames, (list, tuple)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"frame is {short(frames)}; expected a frame's name, or a list of names")
    if len(set(names)) < len(names):
        raise ArgumentError(f"frame names {short(frames)} twice; expected different ones")
    return names

"""Why a search for poses did not arrive, in a sentence that says no more than is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.lazy_imports import importing
from kinetree.ik.coordinates import in_parent_axes, limited
from kinetree.ik.reach import Reach
from kinetree.ik.step import LevenbergMarquardtStep
from kinetree.ops import Array
from kinetree.robot import Robot

TIGHT = 1e-3
"""Part by which an error may exceed the least that is proven, and still count as that."""


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """The facts about problems that were not solved: their targets and the errors that are left, all with the batch
    axes of a solution. `attempts` were allowed; `chosen` says whether the start was given."""

    robot: Robot
    frames: tuple[str, ...]
    turns: bool
    target: Array
    q: Array
    position_error: Any
    rotation_error: Any
    attempts: int
    chosen: bool
    tolerances: tuple[float, float]
    parameters: Array | None = None
    """Those of a parametric robot."""

    def __call__(self, index: tuple[int, ...]) -> str:
        """The reason of the problem at this index of the batch."""
        q, robot = self.q[index], self.robot.eager
        if self.parameters is not None:
            robot = robot.at_parameters(self.parameters[index])
        target = np.asarray(self.target, dtype=float)[index]
        gap, angle = (float(np.asarray(error)[index]) for error in (self.position_error, self.rotation_error))
        what = f"{self.frames[0]!r}" if len(self.frames) == 1 else f"of {', '.join(map(repr, self.frames))}, one"
        stays = f"{what} stays {gap:.3g} m" + (f" and {angle:.3g} rad" if self.turns else "") + " short of its target"
        proof = self._proof(robot, q, target, gap)
        if proof:
            text = f"{stays}: {proof}"
        else:
            found = "the local minimum that q0 leads to" if self.chosen else "the closest"
            text = f"no solution was found within {self.attempts} attempts; at {found}, {stays}"
            if self.turns and self._reaches_position(robot, target, q):
                text += "; its position alone can be reached"
        held = self._held(robot, q, target)
        return f"{text}; {', '.join(held)}" if held else text

    def _proof(self, robot: Robot, q: Array, target: Array, gap: float) -> str:
        """The proof that it is impossible, or an empty text."""
        alone = len(self.frames) == 1
        targets = target.reshape(len(self.frames), *((4, 4) if self.turns else (3,)))
        for name, wanted in zip(self.frames, targets, strict=True):
            reach, its = Reach(robot, name), "its" if alone else f"that of {name!r}, whose"
            place = wanted[:3, 3] if self.turns else wanted
            bound = reach.out_of_reach(place, robot.frame(name).pose(q)[:3, 3])
            if bound > self.tolerances[0]:
                by = "" if alone and gap <= bound * (1.0 + TIGHT) else f" by at least {bound:.3g} m"
                return f"{its} position is out of reach{by}" if self.turns or not alone else f"out of reach{by}"
            bound = reach.never_turned_to(wanted[:3, :3]) if self.turns else 0.0
            if bound > self.tolerances[1]:
                kept = f"{its} orientation is out of reach"
                if alone and self._reaches_position(robot, target, q):
                    kept = "its position can be reached, but not with this orientation"
                return f"{kept}, by at least {bound:.3g} rad"
        return ""

    def _reaches_position(self, robot: Robot, target: Array, q: Array) -> bool:
        """Whether a search for positions alone arrives."""
        importing("kinetree.ik.inverse")
        from kinetree.ik.inverse import search  # noqa: PLC0415 - it makes explanations

        position = max(1e-6, self.tolerances[0])
        parameters = None if self.parameters is None else robot.parameters
        alone = search(self.robot, self.frames, turns=False)
        solution = alone.solve(target[..., :3, 3], q, position, 1.0, 32, parameters)
        return bool(solution.success)

    def _held(self, robot: Robot, q: Array, target: Array) -> list[str]:
        """The joints that their limits keep from going on."""
        numbers = (target.reshape(-1, 4, 4)[:, :3] if self.turns else target).ravel()
        e, J, _ = LevenbergMarquardtStep(self.robot, self.frames, self.turns).error(robot, q, numbers)
        gradient = in_parent_axes(robot, q, J).T @ e
        held = []
        for iq, iv, low, high in limited(self.robot):
            at_low, at_high = q[iq] <= low and gradient[iv] < 0.0, q[iq] >= high and gradient[iv] > 0.0
            if at_low or at_high:
                joints = self.robot.model.owners
                name = next(joint.name for joint in joints if joint.iv <= iv < joint.iv + joint.nv)
                held.append(f"{name!r} at its {'lower' if at_low else 'upper'} limit {low if at_low else high:.4g}")
        return held

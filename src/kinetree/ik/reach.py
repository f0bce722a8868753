"""Places that a frame cannot reach, proven by the lengths of links, the limits of rails and the angles between axes.

The way from the world to a frame is a series of moves (fixed offsets), slides (a direction with limits) and turns (an
axis; any angle). All are written down in world axes at one reference configuration, the neutral one. What comes after
turns about one direction a keeps its component along a and its distance from it; what comes after turns about several
keeps its length. Two bounds follow, each of which holds for every configuration:

    u·p ≤ h(u)                        for every direction u, with h the sum of the greatest u·s of all parts s
    ‖p - c‖ ≥ ℓ_k - Σ_{i≠k} ℓ_i       for the longest part k, with c where the first turn is

Axes are arcs on a sphere in the same way: the angle between the first, fixed in the world, and the last, fixed to the
frame, is at most the sum of the angles between neighbours, and at least the greatest of them minus all others. Limits
of angles are not used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.base.lazy import lazy
from kinetree.ik.coordinates import limited
from kinetree.ops import Array
from kinetree.robot import Robot

PARALLEL = 1e-12
"""Sine of the angle below which two axes are the same direction."""
ROUNDING = 1e-9
"""Part of the lengths added up below which a distance proves nothing."""
CORNERS = 6
"""Slides between two turns of which all combinations of ends are looked at; of further ones, their lengths."""


@dataclass(eq=False)
class Segment:
    """A part of the way between two turns, in world axes at the reference: offset + Σ q_k slide_k, low ≤ q ≤ high."""

    offset: Array
    slides: list[tuple[Array, float, float]] = field(default_factory=list)

    @property
    def is_bounded(self) -> bool:
        return all(np.isfinite((low, high)).all() for _, low, high in self.slides)

    @lazy
    def corners(self) -> tuple[Array, Any]:
        """Vectors (m, 3) that have all others as averages, and a length [m] that may be added to them."""
        if not self.is_bounded:
            return self.offset[None], np.inf
        near, further = self.slides[:CORNERS], self.slides[CORNERS:]
        ends = product(*((axis * low, axis * high) for axis, low, high in near))
        added = sum(_length(axis) * max(abs(low), abs(high)) for axis, low, high in further)
        return np.array([self.offset + sum(chosen, np.zeros(3)) for chosen in ends]), added

    @lazy
    def longest(self) -> Any:
        """The greatest length [m]."""
        vectors, added = self.corners
        return reduce(ops.maximum, map(_length, vectors)) + added

    @property
    def shortest(self) -> float:
        """A length that it is never below [m]."""
        slack = sum(float(np.linalg.norm(axis)) * max(abs(low), abs(high)) for axis, low, high in self.slides)
        return max(0.0, float(np.linalg.norm(self.offset)) - slack)


class Reach:
    """Bounds of the place and the axes of one frame. In a compiled function of a parametric robot, where numbers are
    traced values, `center` and `radius` are too."""

    def __init__(self, robot: Robot, frame: str) -> None:
        self.segments, self.axes = [Segment(np.zeros(3))], list[Array]()
        """Segment k comes after k turns."""
        model, neutral = robot.model, robot.neutral()
        ends = {iv: (low - neutral[iq], high - neutral[iq]) for iq, iv, low, high in limited(robot)}
        placement = model.frame(frame)
        R = np.eye(3)  # from the axes of the body at hand to the world's
        for i in model.support(placement.body):
            joint, X_parent = model.joints[i], model.placements[i]
            X = joint.transform(neutral)
            self._move(R @ X_parent.p)
            R = R @ X_parent.R.T
            self._move(R @ X.p)
            R = R @ X.R.T
            columns = list(enumerate(joint.motion_subspace(neutral), joint.iv))
            for iv, column in sorted(columns, key=lambda pair: bool(np.any(pair[1].angular))):  # slides before turns
                if np.any(column.linear):
                    low, high = ends.get(iv, (-np.inf, np.inf))
                    self.segments[-1].slides.append((R @ column.linear, low, high))
                if np.any(column.angular):
                    self.axes.append(R @ (column.angular / np.linalg.norm(column.angular)))
                    self.segments.append(Segment(np.zeros(3)))
        self._move(R @ placement.X.p)
        self.R = R @ placement.X.R.T
        """The frame's axes at the reference."""

    def _move(self, offset: Array) -> None:
        self.segments[-1].offset = self.segments[-1].offset + offset

    @lazy
    def center(self) -> Array:
        """The point that all configurations turn and slide about, (3,) [m]."""
        return self.segments[0].offset

    @property
    def is_bounded(self) -> bool:
        """Whether all slides have limits."""
        return all(segment.is_bounded for segment in self.segments)

    @lazy
    def radius(self) -> Any:
        """The frame is never further from `center` [m]; infinite where a slide has no limit."""
        slides = Segment(np.zeros(3), self.segments[0].slides)
        return slides.longest + sum(segment.longest for segment in self.segments[1:])

    @lazy
    def size(self) -> float:
        """The length of links that turns move, slides not counted [m]."""
        return sum(float(np.linalg.norm(segment.offset)) for segment in self.segments[1:])

    # -- proofs ------------------------------------------------------------------------------------------------

    def out_of_reach(self, target: Array, nearest: Array) -> float:
        """A distance [m] that the frame never gets nearer to a target, (3,): zero where nothing is proven. `nearest` is
        where it was brought; the direction from there to the target is most telling."""
        gaps = [self._beyond(target, direction) for direction in (target - nearest, target - self.center)]
        bound = max(*gaps, self._within(target))
        lengths = float(np.linalg.norm(target)) + sum(s.longest for s in self.segments if s.is_bounded)
        return bound if bound > ROUNDING * lengths else 0.0

    def _beyond(self, target: Array, direction: Array) -> float:
        """The distance that a target is beyond the plane u·p = h(u), where that is known."""
        first, *others = self.segments
        for axis, low, high in first.slides:
            if not np.isfinite(high if direction @ axis > 0.0 else low):
                direction = direction - axis * (axis @ direction) / (axis @ axis)
        length = float(np.linalg.norm(direction))
        if not length > 0.0:
            return 0.0
        u = direction / length
        slides: Any = 0.0
        for axis, low, high in first.slides:
            end = high if u @ axis > 0.0 else low
            if np.isfinite(end):
                slides += u @ axis * end
            elif abs(u @ axis) > PARALLEL * np.linalg.norm(axis):
                return 0.0  # several axes without limits, not at right angles
        height = u @ first.offset + slides
        for k, segment in enumerate(others, 1):
            vectors, added = segment.corners
            if self._is_one_direction(k):
                a = self.axes[0]
                across = np.linalg.norm(vectors - np.outer(vectors @ a, a), axis=1)
                height += float((u @ a * (vectors @ a) + np.linalg.norm(u - a * (u @ a)) * across).max()) + added
            else:
                height += segment.longest
        return float(u @ target - height) if np.isfinite(height) else 0.0

    def _within(self, target: Array) -> float:
        """The distance that a target is within a hole about `center`, where that is known."""
        if not np.isfinite(self.radius):
            return 0.0
        slides = Segment(np.zeros(3), self.segments[0].slides)
        lengths = [slides.longest, *(segment.longest for segment in self.segments[1:])]
        longest = int(np.argmax([0.0, *(segment.shortest for segment in self.segments[1:])]))
        if longest == 0:
            return 0.0
        others = sum(lengths) - lengths[longest]
        return self.segments[longest].shortest - others - float(np.linalg.norm(target - self.center))

    def _is_one_direction(self, turns: int) -> bool:
        """Whether the first so many axes are parallel."""
        return all(np.linalg.norm(np.cross(self.axes[0], axis)) <= PARALLEL for axis in self.axes[1:turns])

    def never_turned_to(self, R: Array) -> float:
        """An angle [rad] that the frame's axes never get nearer to those of a target, (3, 3); zero where nothing is
        proven."""
        turned = R @ self.R.T
        if not self.axes:
            cosine = 0.5 * (np.trace(turned) - 1.0)
            bound = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
            return bound if bound > 1e-7 else 0.0
        arcs = []
        last = self.axes[0]
        for axis in self.axes[1:]:
            nearer = axis if axis @ last >= 0.0 else -axis
            arcs.append(_angle(last, nearer))
            last = nearer
        there = _angle(self.axes[0], turned @ last)
        bound = max(there - sum(arcs), 2.0 * max(arcs, default=0.0) - sum(arcs) - there)
        return bound if bound > ROUNDING * (1.0 + len(arcs)) else 0.0


def _length(a: Array) -> Any:
    """‖a‖, of numbers or traced values."""
    return ops.sqrt(a @ a)


def _angle(a: Array, b: Array) -> float:
    """Between two unit vectors [rad]."""
    return float(2.0 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))

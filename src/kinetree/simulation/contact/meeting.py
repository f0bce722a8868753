"""Where spheres of a robot meet obstacles: gaps, normals, and the Jacobians of points that may touch.

Of a sphere with centre c and radius r, and an obstacle at signed distance d(c) with outward normal n,

    gap = d(c) - r,     contact point p = c - r n,     u = J v,  the velocity of p on the robot against the obstacle.

Rows of J, velocities and forces of one contact are in its own axes (t₁, t₂, n), n last; t₁ and t₂ are any two that
make them right-handed, and turn with n without jumps except where n points straight down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.algorithms.common_frame import CommonFrame
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.lazy import lazy
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros
from kinetree.simulation.contact.obstacles import Obstacle
from kinetree.simulation.contact.touch import Touch, touches

FLAT = 1e-14
"""The squared sine of the angle below which a circle counts as lying flat."""


@dataclass(frozen=True)
class Pair:
    """A sphere of the robot and an obstacle it may touch."""

    touch: Touch
    obstacle: Obstacle
    friction: float
    restitution: float

    @property
    def name(self) -> str:
        """Of the frame that touches."""
        return self.touch.frame


def pairs(
    model: Model, touching: Iterable[str | Touch], obstacles: Iterable[Obstacle], friction: float, restitution: float
) -> tuple[Pair, ...]:
    """Every sphere with every obstacle that is not fixed to the same body."""
    found = []
    spheres = touches(model, touching)
    for obstacle in obstacles:
        if not isinstance(obstacle, Obstacle):
            raise ArgumentTypeError(f"obstacles has {short(obstacle)}; expected Ground, Block or Terrain")
        carrier = 0 if obstacle.frame is None else model.frame(obstacle.frame).body
        for touch in spheres:
            if model.frame(touch.frame).body != carrier:
                mu = _first(touch.friction, obstacle.friction, friction)
                found.append(Pair(touch, obstacle, mu, _first(touch.restitution, obstacle.restitution, restitution)))
    if not found:
        raise ArgumentError("nothing of the robot can touch anything; expected at least one pair of touch and obstacle")
    return tuple(found)


def _first(*numbers: float | None) -> float:
    return next(number for number in numbers if number is not None)


@dataclass(frozen=True)
class Meeting:
    """One pair at one configuration; point and axes are in the common frame of all bodies."""

    gap: Scalar
    point: Array
    axes: Array
    """Rows t₁, t₂, n."""
    world_axes: Array
    """The same in the world's axes."""


@dataclass(frozen=True)
class Meetings:
    """All pairs at one configuration."""

    model: Model
    pairs: tuple[Pair, ...]
    q: Array

    @lazy
    def common(self) -> CommonFrame:
        return CommonFrame.of(self.model, self.q)

    @lazy
    def each(self) -> tuple[Meeting, ...]:
        return tuple(map(self._meeting, self.pairs))

    @lazy
    def gaps(self) -> Array:
        """(n,) [m]."""
        return np.array([meeting.gap for meeting in self.each])

    @lazy
    def J(self) -> Array:
        """(3 n, nv): the velocities of contact points on the robot against their obstacles, in axes of each contact."""
        J = zeros((3 * len(self.pairs), self.model.nv), self.q)
        for k, (pair, meeting) in enumerate(zip(self.pairs, self.each, strict=True)):
            supports = self._supports(pair)
            shared = set.intersection(*map(set, supports)) if supports[1:] else set()
            for support, sign in zip(supports, (1.0, -1.0), strict=False):
                for i in support:
                    if i not in shared:  # what moves both does not move them against each other
                        for column, s in enumerate(self.common.S[i], start=self.model.joints[i].iv):
                            velocity = s.moved(meeting.point).linear
                            J[3 * k : 3 * k + 3, column] += sign * (meeting.axes @ velocity)
        return J

    def columns(self, pair: Pair) -> Array:
        """The entries of v that move the bodies of a pair."""
        joints = [self.model.joints[i] for support in self._supports(pair) for i in support]
        return np.array(sorted({column for joint in joints for column in range(joint.iv, joint.iv + joint.nv)}))

    def _supports(self, pair: Pair) -> list[tuple[int, ...]]:
        frames = [name for name in (pair.touch.frame, pair.obstacle.frame) if name is not None]
        return [self.model.support(self.model.frame(name).body) for name in frames]

    def in_world_axes(self, f: Array) -> Array:
        """(n, 3) from vectors in the axes of each contact, (3 n,)."""
        return np.array([at.world_axes.T @ f[3 * k : 3 * k + 3] for k, at in enumerate(self.each)])

    def in_contact_axes(self, f: Array) -> Array:
        """(3 n,) from vectors in the world's axes, (n, 3)."""
        return np.concatenate([meeting.world_axes @ row for meeting, row in zip(self.each, f, strict=True)])

    def world_point(self, k: int) -> Array:
        """Where a contact is, (3,) [m]."""
        return self._in_world(self.each[k].point)

    def _in_world(self, point: Array) -> Array:
        return self.common.p + self.common.R.T @ point

    def _meeting(self, pair: Pair) -> Meeting:
        frame, touch = self.model.frame(pair.touch.frame), pair.touch
        X = frame.X * self.common.X[frame.body]  # from the common frame to the touch's
        centre = X.p + X.R.T @ np.array(touch.at)
        if pair.obstacle.frame is None:
            R, place = self.common.R, self._in_world
        else:
            carrier = self.model.frame(pair.obstacle.frame)
            fixed = carrier.X * self.common.X[carrier.body]
            R, place = fixed.R.T, lambda point: fixed.R @ (point - fixed.p)
        radius = touch.radius
        distance, normal = pair.obstacle.nearest(place(centre))
        if touch.axis is not None:
            centre, radius = _deepest(centre, radius, X.R.T @ np.array(touch.axis), R @ normal), 0.0
            distance, normal = pair.obstacle.nearest(place(centre))
        axes = contact_axes(normal)
        in_common = axes @ R.T
        world_axes = axes if pair.obstacle.frame is None else in_common @ self.common.R
        point = centre - radius * in_common[2] if radius else centre
        return Meeting(distance - radius, point, in_common, world_axes)


def _deepest(centre: Array, radius: float, axis: Array, normal: Array) -> Array:
    """Of a circle, the point that lies furthest against a normal; its centre where it lies flat."""
    across = normal - (normal @ axis) * axis
    return centre - radius * across * ops.divide(1.0, ops.sqrt(across @ across + FLAT))


def contact_axes(normal: Array) -> Array:
    """Rows t₁, t₂, n of a rotation matrix, for a unit vector n (Duff and others 2017)."""
    x, y, z = normal
    side: Any = ops.where(ops.less(z, 0.0), -1.0, 1.0)
    a = ops.divide(-1.0, side + z)
    b = x * y * a
    return np.array([[1.0 + side * x * x * a, side * b, -side * x], [b, side + y * y * a, -y], [x, y, z]])

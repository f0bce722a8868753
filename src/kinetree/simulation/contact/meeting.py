"""Where spheres of a robot meet obstacles: gaps, normals, and the Jacobians of points that may touch.

Of a sphere with centre c and radius r, and an obstacle at signed distance d(c) with outward normal n,

    gap = d(c) - r,     contact point p = c - r n,     u = J v,  the velocity of p on the robot against the obstacle.

Rows of J, velocities and forces of one contact are in its own axes (t₁, t₂, n), n last; t₁ and t₂ are any two that
make them right-handed, and turn with n without jumps except where n points straight down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from kinetree import ops
from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros
from kinetree.simulation.contact.box_pair import POINTS, manifold
from kinetree.simulation.contact.obstacles import Block, Obstacle
from kinetree.simulation.contact.touch import RoundedShape, Touch, TouchingBox, TouchingShape, touching_shapes
from kinetree.spatial.rotation import matrix_from_rpy

FLAT = 1e-14
"""The squared sine of the angle below which a circle counts as lying flat."""


@dataclass(frozen=True)
class Pair:
    """A sphere or a box of the robot and an obstacle it may touch."""

    touch: Touch | TouchingBox
    obstacle: Obstacle
    friction: float
    restitution: float
    point: int = 0
    """Which of the points where two boxes touch it is."""

    @property
    def name(self) -> str:
        """The name of the frame that touches."""
        return self.touch.frame

    @property
    def key(self) -> tuple[str, str, int]:
        """Something to sort pairs by, whatever the order they are given in."""
        return repr(self.obstacle), repr(self.touch), self.point


def pairs(
    model: Model, touching: Iterable[str | Touch], obstacles: Iterable[Obstacle], friction: float, restitution: float
) -> tuple[Pair, ...]:
    """Everything that can touch with every obstacle that is not fixed to the same body; two boxes meet once."""
    found: list[Pair] = []
    for shape, obstacle in _meeting_once(_combinations(model, touching, obstacles)):
        for number, touch in enumerate(_against(shape, obstacle)):
            mu = _first(touch.friction, obstacle.friction, friction)
            e = _first(touch.restitution, obstacle.restitution, restitution)
            found.append(Pair(touch, obstacle, mu, e, number if isinstance(touch, TouchingBox) else 0))
    if not found:
        raise ArgumentError("nothing of the robot can touch anything; expected at least one pair of touch and obstacle")
    return tuple(found)


def _combinations(
    model: Model, touching: Iterable[str | Touch], obstacles: Iterable[Obstacle]
) -> list[tuple[TouchingShape, Obstacle]]:
    """Shapes and obstacles of different bodies, in the order of obstacles, and for each in that of shapes."""
    found = []
    shapes = touching_shapes(model, touching)
    for obstacle in obstacles:
        if not isinstance(obstacle, Obstacle):
            raise ArgumentTypeError(f"obstacles has {short(obstacle)}; expected Ground, Block or Terrain")
        carrier = 0 if obstacle.frame is None else model.frame(obstacle.frame).body
        only = None if obstacle.only is None else {model.frame(name).name for name in obstacle.only}
        for shape in shapes:
            if model.frame(shape.frame).body != carrier and (only is None or shape.frame in only):
                found.append((shape, obstacle))
    return found


def _meeting_once(both: list[tuple[TouchingShape, Obstacle]]) -> list[tuple[TouchingShape, Obstacle]]:
    """Without those of two boxes that meet the other way round as well, where each touches and is an obstacle; which
    of the two ways is kept does not depend on the order in which they are given."""
    keys = [
        (_key(x.frame, x.size, x.at, x.axes), _key(y.frame, y.size, y.position, matrix_from_rpy(y.rpy)))
        if isinstance(x, TouchingBox) and isinstance(y, Block)
        else None
        for x, y in both
    ]
    known = set(keys)
    return [pair for pair, key in zip(both, keys, strict=True) if not key or key <= key[::-1] or key[::-1] not in known]


def _key(frame: str | None, size: Any, at: Any, axes: Any) -> tuple[str, ...]:
    numbers = np.round(np.concatenate([size, at, np.ravel(axes)]), 12) + 0.0  # no negative zeros
    return (str(frame), *map(str, numbers.tolist()))


def _against(shape: TouchingShape, obstacle: Obstacle) -> Sequence[Touch | TouchingBox]:
    """What of a shape meets an obstacle, once for every point."""
    if isinstance(shape, Touch) or not obstacle.has_edges:
        return shape.spheres
    if not isinstance(shape, TouchingBox) or not isinstance(obstacle, Block):
        kind, other = shape.kind if isinstance(shape, RoundedShape) else "Box", type(obstacle).__name__
        raise ArgumentError(
            f"link {shape.frame!r} collides as {kind}, which does not feel the edges of a {other}; expected "
            + ("every Block as an obstacle of its own, or a " if kind == "Box" else "a sphere, a box, or a ")
            + "Touch for every point that can touch"
        )
    if not min(shape.size) > 0.0:
        raise ArgumentError(f"link {shape.frame!r} collides as a box of size {shape.size}; expected positive lengths")
    return [shape] * POINTS


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
        found: list[Meeting] = []
        for pair in self.pairs:
            if isinstance(pair.touch, Touch):
                found.append(self._meeting(pair.touch, pair.obstacle))
            elif pair.point == 0:
                found += self._box_meetings(pair.touch, cast(Block, pair.obstacle))
        return tuple(found)

    @lazy
    def gaps(self) -> Array:
        """The gaps of all pairs, (n,) [m]."""
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

    def _meeting(self, touch: Touch, obstacle: Obstacle) -> Meeting:
        frame = self.model.frame(touch.frame)
        X = frame.X * self.common.X[frame.body]  # from the common frame to the touch's
        centre = X.p + X.R.T @ np.array(touch.at)
        R, place = self._carrier(obstacle)
        radius = touch.radius
        distance, normal = obstacle.nearest(place(centre))
        if touch.axis is not None:
            centre, radius = _deepest(centre, radius, X.R.T @ np.array(touch.axis), R @ normal), 0.0
            distance, normal = obstacle.nearest(place(centre))
        in_common, world_axes = self._axes(obstacle, R, normal)
        point = centre - radius * in_common[2] if radius else centre
        return Meeting(distance - radius, point, in_common, world_axes)

    def _box_meetings(self, box: TouchingBox, block: Block) -> list[Meeting]:
        """All points of two boxes."""
        frame = self.model.frame(box.frame)
        X = frame.X * self.common.X[frame.body]
        centre = X.p + X.R.T @ np.array(box.at)
        R, place = self._carrier(block)
        turn = matrix_from_rpy(block.rpy)
        to_common = R @ turn  # from the axes of the block
        t = turn.T @ (place(centre) - np.array(block.position))
        halves = [tuple(0.5 * side for side in size) for size in (box.size, block.size)]
        normal, gaps, points = manifold(to_common.T @ (X.R.T @ np.array(box.axes)), t, *halves)
        axes = self._axes(block, R, turn @ normal)
        return [Meeting(gap, centre + to_common @ (point - t), *axes) for gap, point in zip(gaps, points, strict=True)]

    def _carrier(self, obstacle: Obstacle) -> tuple[Array, Callable[[Array], Array]]:
        """The rotation from an obstacle's carrier to common axes, (3, 3), and the map from these to its own."""
        if obstacle.frame is None:
            return self.common.R, self._in_world
        carrier = self.model.frame(obstacle.frame)
        fixed = carrier.X * self.common.X[carrier.body]
        return fixed.R.T, lambda point: fixed.R @ (point - fixed.p)

    def _axes(self, obstacle: Obstacle, R: Array, normal: Array) -> tuple[Array, Array]:
        """Rows t₁, t₂, n for a normal in the axes of what carries an obstacle: in common axes, and in the world's."""
        axes = contact_axes(normal)
        in_common = axes @ R.T
        return in_common, axes if obstacle.frame is None else in_common @ self.common.R


def _deepest(centre: Array, radius: float, axis: Array, normal: Array) -> Array:
    """The point of a circle that lies furthest against a normal; its centre where it lies flat."""
    across = normal - (normal @ axis) * axis
    return centre - radius * across * ops.divide(1.0, ops.sqrt(across @ across + FLAT))


def contact_axes(normal: Array) -> Array:
    """Rows t₁, t₂, n of a rotation matrix, for a unit vector n (Duff and others 2017)."""
    x, y, z = normal
    side: Any = ops.where(ops.less(z, 0.0), -1.0, 1.0)
    a = ops.divide(-1.0, side + z)
    b = x * y * a
    return np.array([[1.0 + side * x * x * a, side * b, -side * x], [b, side + y * y * a, -y], [x, y, z]])

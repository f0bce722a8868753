"""The courses of tendons: lengths, rates by v, and how these change with q.

A string between two points, seen from a body r that it lies on or starts at, grows with an end at x, on body b, by

    ℓ̇ = w · (V_b - V_r),        w = (g, x × g),        g = ∂ℓ/∂x

where w is its line, as a spatial force. So only joints between r and b count: J_k = ± wᵀ S_k, with + on the way to b
and - on the way to r. Moved along S_l, w changes with the second derivatives of ℓ by what x moves relative to r, and
both w and S_k are carried along by the joints before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.algorithms.passes.forward_pass import ForwardPass
from kinetree.algorithms.passes.taut_strings import TautString, straight, wrapped
from kinetree.linalg import norm
from kinetree.model.joints import AxisJoint
from kinetree.model.tendons import Tendon, Wrap
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, cross, zeros
from kinetree.spatial import Force, Motion, Transform


def tendon_states(model: Model, tendons: tuple[Tendon, ...], q: Array) -> Iterator[tuple[Tendon, Scalar, Array]]:
    """Tendons, their lengths, and the rates of these by v, (nv,)."""
    common = CommonFrame.of(model, q) if any(tendon.path for tendon in tendons) else None
    for tendon in tendons:
        length, J = over_joints(model, tendon.joints, q)
        if tendon.path and common is not None:
            J = J + zeros(model.nv, q)
            for course in courses(model, tendon, common):
                length = length + course.string.length / course.divisor
                for end in course.ends:
                    for k, s, sign in between(model, common, course.on, end.body):
                        J[k] += s.dot(end.line) * (sign / course.divisor)
        yield tendon, length, J


def over_joints(model: Model, geared: tuple[tuple[str, float], ...], q: Array) -> tuple[Any, Array]:
    """Σ gear · x over the positions x of joints, and the rates of that by v, (nv,)."""
    joints = {joint.name: joint for joint in model.joints if isinstance(joint, AxisJoint)} if geared else {}
    length: Any = 0.0
    J = np.zeros(model.nv)
    for name, gear in geared:
        length = length + gear * joints[name].given_position(q)
        J[joints[name].iv] += gear * joints[name].lever
    return length, J


@dataclass(frozen=True)
class End:
    """An end of a string on a body: the point x, g = ∂ℓ/∂x, and its line w, a force at the common origin."""

    body: int
    x: Array
    g: Array

    @property
    def line(self) -> Force:
        return Force(self.g, cross(self.x, self.g))


@dataclass(frozen=True)
class Course:
    """A strand in the common frame, seen from the body that it lies on or, if straight, starts at."""

    on: int
    ends: tuple[End, ...]
    string: TautString
    divisor: float


def courses(model: Model, tendon: Tendon, common: CommonFrame) -> Iterator[Course]:
    """Those of all strands of a tendon."""

    def place(name: str) -> tuple[int, Transform]:
        return placed(model, common, name)

    for start, end, over, divisor in tendon.strands:
        (i, X_a), (j, X_b) = place(start), place(end)
        if over is None:
            string = straight(X_a.p, X_b.p)
            yield Course(i, (End(j, X_b.p, string.by_end),), string, divisor)
        else:
            on, X = place(over.frame)
            side = None if over.side is None else place(over.side)[1].p
            is_sphere, inside = over.shape == "sphere", _is_inside(model, over)
            string = wrapped(X_a.p, X_b.p, X, over.radius, is_sphere, side, inside)
            yield Course(on, (End(i, X_a.p, string.by_start), End(j, X_b.p, string.by_end)), string, divisor)


def placed(model: Model, common: CommonFrame, name: str) -> tuple[int, Transform]:
    """The body of a frame, and ^F X_C."""
    frame = model.frame(name)
    X = common.X[frame.body] if frame.body else Transform.unchecked(common.R.T, -(common.R @ common.p))
    return frame.body, frame.X * X


def _is_inside(model: Model, over: Wrap) -> bool | None:
    """Whether the side of a surface is within its radius; None, if that depends on the state or on parameters."""
    if over.side is None:
        return False
    surface, side = model.frame(over.frame), model.frame(over.side)
    distance = norm(side.X.p - surface.X.p) if side.body == surface.body else None
    return bool(distance < over.radius) if isinstance(distance, float) else None


def between(model: Model, common: CommonFrame, start: int, end: int) -> Iterator[tuple[int, Motion, float]]:
    """Places in v, columns and signs of joints that move one body relative to another."""
    to_start, to_end = model.support(start), model.support(end)
    for i in {*to_start} ^ {*to_end}:
        for k, s in enumerate(common.S[i], start=model.joints[i].iv):
            yield k, s, 1.0 if i in to_end else -1.0


# -- derivatives ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column of a joint: its place in v, and in the tree."""

    at: int
    S: Motion
    body: int
    step: int
    sign: float


def jacobian_slope(moving: ForwardPass, tendon: Tendon, q: Array) -> Array:
    """D_kl = ∂J_k/∂q_l, (nv, nv), for velocities of free joints in their own axes."""
    model = moving.model
    D = zeros((model.nv, model.nv), q)
    for course in courses(model, tendon, moving.common):
        second = course.string.second()[-len(course.ends) :, -len(course.ends) :] if course.ends else None
        ways = [list(_way(moving, course.on, end.body)) for end in course.ends]
        moves: dict[tuple[int, int, int], _Column] = {(c.body, c.step, c.at): c for way in ways for c in way}
        for column in moves.values():
            shifts = [_shift(moving, column, course.on, end) for end in course.ends]
            for i, (end, way) in enumerate(zip(course.ends, ways, strict=True)):
                assert second is not None
                dg = sum((second[i, j] @ shift for j, shift in enumerate(shifts)), np.zeros(3))
                change = Force(dg, cross(end.x, dg) + cross(shifts[i], end.g))
                if column.body in model.support(course.on):
                    change = change + column.S.cross(end.line)
                for other in way:
                    slope = other.S.dot(change)
                    if _carries(model, column, other):
                        slope = slope + column.S.cross(other.S).dot(end.line)
                    D[other.at, column.at] += slope * (other.sign / course.divisor)
    return D


def _way(moving: ForwardPass, start: int, end: int) -> Iterator[_Column]:
    to_start, to_end = moving.model.support(start), moving.model.support(end)
    for body in sorted({*to_start} ^ {*to_end}):
        for number, step in enumerate(moving.steps[body]):
            for k, s in enumerate(step.S, start=step.at.start):
                yield _Column(k, s, body, number, 1.0 if body in to_end else -1.0)


def _shift(moving: ForwardPass, column: _Column, on: int, end: End) -> Array:
    """How an end moves relative to the body that the string is on."""
    is_on, is_end = (column.body in moving.model.support(body) for body in (on, end.body))
    velocity = column.S.linear + cross(column.S.angular, end.x)
    return velocity * (float(is_end) - float(is_on))


def _carries(model: Model, column: _Column, other: _Column) -> bool:
    """Whether the second column moves with the first."""
    if column.body == other.body:
        return column.step <= other.step
    return column.body in model.support(other.body)

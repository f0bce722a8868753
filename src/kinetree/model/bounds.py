"""Limits of a joint as its author gives them: a number for all of its coordinates, or one for each."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kinetree.base.arguments import as_numbers
from kinetree.errors import ArgumentError
from kinetree.model.description import Bounds
from kinetree.model.joints import JOINTS
from kinetree.model.joints.dynamics import PerCoordinate

NO_LIMIT = 1e10
"""In files, a limit of this size stands for none: they have no word for infinity that every reader knows. It is
MuJoCo's mjMAXVAL, the largest number it works with."""
AS_GOOD_AS_ZERO = 1e-300
"""In files, a limit of this size stands for zero, where zero would be read as none."""


def checked_bounds(kind: str, lower: object, upper: object, velocity: object, effort: object) -> Bounds:
    """Limits of positions [rad or m], speeds and efforts for a joint of this kind, or an error."""
    joint = JOINTS[kind]
    low, high = (_read(kind, name, value, joint.nq) for name, value in (("lower", lower), ("upper", upper)))
    speed, force = (_read(kind, name, value, joint.nv) for name, value in (("velocity", velocity), ("effort", effort)))
    if any(math.isnan(bound) if type(bound) is float else np.isnan(bound).any() for bound in (low, high, speed, force)):
        raise ArgumentError("a limit is NaN")
    for name, bound in (("lower", low), ("upper", high)):
        _refuse_on_quaternion(kind, name, bound)
    for a, b in _pairs(low, high):
        if a == np.inf or b == -np.inf:
            raise ArgumentError(f"its limits {a:g} to {b:g} leave it no position")
        if a > b:
            raise ArgumentError(f"lower limit {a:g} is above upper limit {b:g}")
    return low, high, speed, force


def written_bound(value: float) -> float:
    """A limit as files have it: finite."""
    return min(max(value, -NO_LIMIT), NO_LIMIT)


def read_bound(value: float) -> float:
    """A limit as files mean it."""
    return value if abs(value) < NO_LIMIT else float(np.copysign(np.inf, value))


def bound_doubts(bounds: Bounds) -> Iterator[str]:
    """What no limits should be, in words."""
    for name, bound in zip(("velocity", "effort"), bounds[2:], strict=True):
        if np.min(bound, initial=0.0) < 0:
            yield f"its {name} limit {np.min(bound):g} is negative"


def _read(kind: str, name: str, value: object, count: int) -> PerCoordinate:
    numbers = as_numbers(name, value)
    if not isinstance(numbers, tuple):
        return numbers
    if len(numbers) != count or not numbers:
        several = f", or {count} for a {kind} joint" if count > 1 else ""
        raise ArgumentError(f"{name} has {len(numbers)} numbers; expected one{several}")
    return numbers


def _refuse_on_quaternion(kind: str, name: str, bound: PerCoordinate) -> None:
    """A number for all positions of a free joint limits those that are not part of its quaternion."""
    start = JOINTS[kind].quaternion_start
    if start is None or (not isinstance(bound, tuple) and start > 0):
        return
    entries = bound[start : start + 4] if isinstance(bound, tuple) else (bound,)
    limited = [number for number in entries if np.isfinite(number)]
    if limited:
        raise ArgumentError(f"{name} is {limited[0]:g} for the quaternion of a {kind} joint, which has no limits")


def _pairs(lower: PerCoordinate, upper: PerCoordinate) -> Iterator[tuple[float, float]]:
    if type(lower) is type(upper) is float:
        return iter(((lower, upper),))
    low, high = np.broadcast_arrays(np.atleast_1d(lower), np.atleast_1d(upper))
    return zip(map(float, low), map(float, high), strict=True)

"""Following of straight lines and orbits: the nonlinear guidance of Park, Deyst and How ("L1", 2004) and vector fields
(Nelson et al. 2007; Beard, McLain 2012, chapter 10).

Places are in the world's horizontal plane, (x, y) [m]; courses χ are counter-clockwise from x [rad].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree import ops
from kinetree.flight.atmosphere import GRAVITY
from kinetree.ops import Array

NEAR = 1e-9


def wrapped(angle: Any) -> Any:
    """The same angle between -π and π."""
    return ops.atan2(ops.sin(angle), ops.cos(angle))


def line_error(position: Any, start: Any, course: Any) -> Any:
    """The distance of a point to the left of a line through `start` along χ [m]."""
    c, s = ops.cos(course), ops.sin(course)
    return -s * (position[0] - start[0]) + c * (position[1] - start[1])


def line_course(position: Any, start: Any, course: Any, approach: float = 1.2, gain: float = 0.03) -> Any:
    """χ* = χ - χ∞ (2/π) atan(k e): towards the line at χ∞ from afar, along it on the line."""
    e = line_error(position, start, course)
    return wrapped(course - approach * (2.0 / np.pi) * ops.atan2(gain * e, 1.0 + 0.0 * e))


def orbit_course(position: Any, center: Any, radius: Any, direction: int = 1, gain: float = 2.0) -> Any:
    """χ* = φ + λ (π/2 + atan(k (d - R)/R)): about a centre, counter-clockwise with direction λ = 1."""
    x, y = position[0] - center[0], position[1] - center[1]
    d = ops.sqrt(x * x + y * y)
    inward = ops.atan2(gain * (d - radius) / radius, 1.0 + 0.0 * d)
    return wrapped(ops.atan2(y, x) + direction * (np.pi / 2 + inward))


def bank_for_course(
    course: Any, wanted: Any, speed: Any, gain: float = 1.0, max_bank: float = 0.8, path_rate: Any = 0.0
) -> Any:
    """The bank φ [rad] for a coordinated turn towards a course: tan φ = V χ̇*/g with χ̇* = k (χ* - χ) + χ̇_p [rad/s],
    where χ̇_p is the turn rate of the path: λ V/R on an orbit.

    Banks are positive to the right, courses to the left.
    """
    rate = gain * wrapped(wanted - course) + path_rate
    return ops.clip(-ops.atan2(speed * rate, GRAVITY + 0.0 * rate), -max_bank, max_bank)


def guidance_acceleration(position: Any, velocity: Any, target: Any) -> Any:
    """a = 2 V²/L₁ sin η [m/s²], to the left, towards a point at the distance L₁ on the path, at an angle η to the
    velocity: the circle through both, along the velocity."""
    x, y = target[0] - position[0], target[1] - position[1]
    squared = ops.maximum(x * x + y * y, NEAR)
    speed = ops.sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1])
    return 2.0 * speed * (velocity[0] * y - velocity[1] * x) / squared


def bank_for_acceleration(acceleration: Any, max_bank: float = 0.8) -> Any:
    """φ [rad], positive to the right, for an acceleration to the left: tan φ = -a/g."""
    return ops.clip(-ops.atan2(acceleration, GRAVITY + 0.0 * acceleration), -max_bank, max_bank)


def target_on_line(position: Any, start: Any, course: Any, ahead: float) -> Array:
    """The point (2,) of a line at the distance L₁ from a place, forward; the nearest if the line is further away."""
    c, s = ops.cos(course), ops.sin(course)
    along = c * (position[0] - start[0]) + s * (position[1] - start[1])
    e = line_error(position, start, course)
    on = along + ops.sqrt(ops.maximum(ahead * ahead - e * e, NEAR))
    return np.array([start[0] + on * c, start[1] + on * s])


def target_on_orbit(position: Any, center: Any, radius: Any, ahead: float, direction: int = 1) -> Array:
    """The point (2,) of a circle about L₁ further on."""
    x, y = position[0] - center[0], position[1] - center[1]
    angle = ops.atan2(y, x) + direction * ahead / radius
    return np.array([center[0] + radius * ops.cos(angle), center[1] + radius * ops.sin(angle)])

"""Trim: the attitude and the inputs with which an aircraft flies steadily, straight or in a coordinated turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import as_count
from kinetree.errors import ArgumentError, KinetreeError, known
from kinetree.flight.aerospace import body_rates, robot_state, state_rates
from kinetree.flight.fields import finite, positive, some
from kinetree.flight.flyers import without_joints
from kinetree.flight.part import Aircraft
from kinetree.functions.derivatives import jacobian
from kinetree.functions.law import Law, compile
from kinetree.ops import Array
from kinetree.robot import Robot

UNKNOWN_ANGLES = 3
"""Of the unknowns, the first are α, θ and φ."""
STEEP = np.radians(80.0)


@final
@dataclass(frozen=True, eq=False)
class Trim:
    """A steady flight, or the nearest state that the search found."""

    success: bool
    reason: str
    """In words, why there is none; empty where there is one."""
    residual: float
    """The largest of the accelerations that are left [m/s², rad/s²]."""
    iterations: int
    inputs: Mapping[str, float]
    """By name."""
    u: Array
    """The same in the order of the aircraft's inputs."""
    x: Array
    """The twelve numbers of `kinetree.flight.aerospace`."""
    q: Array
    v: Array
    alpha: float
    """Angle of attack [rad]."""
    theta: float
    """Pitch [rad]."""
    phi: float
    """Bank [rad]."""
    frame: str

    @property
    def airspeed(self) -> float:
        """V [m/s]."""
        return float(np.linalg.norm(self.x[6:9]))

    def __repr__(self) -> str:
        found = "trim" if self.success else f"no trim ({self.reason})"
        angles = f"α {np.degrees(self.alpha):.3g}°, θ {np.degrees(self.theta):.3g}°, φ {np.degrees(self.phi):.3g}°"
        return f"<{found}: {angles}, {', '.join(f'{name} {value:.4g}' for name, value in self.inputs.items())}>"


def trim(
    robot: Robot,
    aircraft: Aircraft,
    airspeed: float,
    *,
    climb: float = 0.0,
    turn_rate: float = 0.0,
    radius: float | None = None,
    height: float = 0.0,
    sideslip: float = 0.0,
    frame: str = "aero",
    bounds: Mapping[str, tuple[float, float]] | None = None,
    held: Mapping[str, float] | None = None,
    iterations: int = 60,
    tolerance: float = 1e-10,
) -> Trim:
    """Steady flight at an airspeed [m/s]: all accelerations in body axes are zero, and so are φ̇ and θ̇.

    climb       γ, the angle of the path above the horizon [rad]
    turn_rate   ψ̇ [rad/s], positive to the right; or the `radius` [m] of the turn, negative to the left
    sideslip    β [rad]: 0 in a coordinated turn
    frame       of the aircraft, x forward, y right, z down
    bounds      of inputs by name, (lower, upper); 0 to 1 for what is called throttle, ±0.6 rad for other inputs
    held        inputs that are not searched for, by name

    Unknowns are α, θ, φ and the inputs; equations are the six accelerations and the angle of the path. They are solved
    by Newton's method on their exact derivatives, with steps shortened where the residual grows. Without a solution
    inside of the bounds, `success` is False and `reason` says what is in the way. The wind plays no part: velocities
    of the result are those through the air, to which a rollout in a wind adds it.
    """
    robot = without_joints(robot, "trim")
    V, gamma = positive("airspeed", airspeed), finite("climb", climb)
    if abs(gamma) > STEEP:
        raise ArgumentError(f"climb is {gamma:g} rad; expected a path of at most 80° (1.4 rad)")
    rate = finite("turn_rate", turn_rate)
    if radius is not None:
        if rate or not finite("radius", radius):
            raise ArgumentError(f"radius is {radius!r} and turn_rate {turn_rate!r}; expected one of them")
        rate = V * np.cos(gamma) / radius
    names, least, count = aircraft.inputs, positive("tolerance", tolerance), as_count("iterations", iterations)
    fixed = {_input(names, name): finite(name, value) for name, value in (held or {}).items()}
    free = [k for k in range(len(names)) if k not in fixed]
    lower, upper = _bounds(names, bounds or {})
    for k, value in fixed.items():
        lower[k] = upper[k] = value
    given = np.array([V, gamma, rate, finite("sideslip", sideslip), finite("height", height)])
    residual, slope = (
        partial(law, robot, given=given) for law in _equations(aircraft.in_still_air, robot.frame(frame).name)
    )
    z = np.concatenate([[0.05, 0.05 + gamma, np.arctan2(rate * V, 9.81)], 0.5 * (lower + upper)])
    moving = [0, 1, 2, *(UNKNOWN_ANGLES + k for k in free)]
    low, high = np.concatenate([[-1.5] * UNKNOWN_ANGLES, lower]), np.concatenate([[1.5] * UNKNOWN_ANGLES, upper])
    done, error = 0, residual(z)
    for done in range(1, count + 1):  # noqa: B007 - it is told
        if np.abs(error).max() < least:
            break
        step = np.zeros(len(z))
        step[moving] = -np.linalg.lstsq(slope(z)[:, moving], error, rcond=1e-12)[0]
        z, error = _shortened(residual, z, step, error, low, high)
    largest, u, x, reason = float(np.abs(error).max()), z[UNKNOWN_ANGLES:], _state(z, given), ""
    if not largest < max(least, 1e-9):
        at = [f"{names[k]} is at {u[k]:.4g}" for k in free if min(u[k] - lower[k], upper[k] - u[k]) < 1e-9]
        blame = f", and {', '.join(at)}, its bound" if at else ""
        reason = f"accelerations of {largest:.3g} are left at {V:g} m/s{blame}"
    q, v = robot_state(robot, frame, x)
    inputs, (alpha, theta, phi) = dict(zip(names, u.tolist(), strict=True)), z[:UNKNOWN_ANGLES].tolist()
    return Trim(not reason, reason, largest, done, inputs, u, x, q, v, alpha, theta, phi, frame)


def _shortened(
    residual: Callable[[Array], Array], z: Array, step: Array, error: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """The first of the step and its halves, within bounds, that makes the residual smaller; the last one anyway."""
    for k in range(12):
        trial = np.clip(z + step * 0.5**k, low, high)
        found = residual(trial)
        if np.linalg.norm(found) < np.linalg.norm(error):
            break
    return trial, found


def _input(names: tuple[str, ...], name: str) -> int:
    """The number of an input by its name, or by the last word of it."""
    short_names = [each.split(" ", 1)[1] for each in names]
    if name in short_names and short_names.count(name) == 1:
        return short_names.index(name)
    return names.index(known("input", name, names))


def _bounds(names: tuple[str, ...], bounds: Mapping[str, Any]) -> tuple[Array, Array]:
    ranges = [(0.0, 1.0) if name.endswith(("throttle", "power")) else (-0.6, 0.6) for name in names]
    lower, upper = np.array(ranges).reshape(-1, 2).T.copy()
    for name, pair in bounds.items():
        k = _input(names, name)
        lower[k], upper[k] = some(f"bounds of {name!r}", pair, 2)
        if lower[k] > upper[k]:
            raise ArgumentError(f"bounds of {name!r} are {lower[k]:g} and {upper[k]:g}; expected the lower one first")
    return lower, upper


def _state(z: Any, given: Any) -> Array:
    """The twelve numbers of unknowns (α, θ, φ, …) and of (V, γ, ψ̇, β, h)."""
    alpha, theta, phi = z[:3]
    V, beta, h = given[0], given[3], given[4]
    along, side = V * ops.cos(beta), V * ops.sin(beta)
    zero = 0.0 * alpha
    rates = body_rates(phi, theta, np.array([zero, zero, zero + given[2]]))
    velocity = np.array([along * ops.cos(alpha), side + zero, along * ops.sin(alpha)])
    place = np.array([zero, zero, zero + h, phi, theta, zero])
    return np.concatenate([place, velocity, rates])


@lru_cache(maxsize=64)
def _equations(aircraft: Aircraft, frame: str) -> tuple[Law, Law]:
    """The residual (7,) of unknowns z and conditions, and its derivative by z."""

    def residual(robot: Any, z: Any, given: Any) -> Array:
        x = _state(z, given)
        rates = state_rates(robot, aircraft, frame, x, z[UNKNOWN_ANGLES:])
        path = rates[2] - given[0] * ops.sin(given[1])  # ḣ = V sin γ
        return np.concatenate([rates[6:12], np.array([path])])

    law = compile(residual, shapes={"z": (UNKNOWN_ANGLES + len(aircraft.inputs),), "given": (5,)})
    return law, jacobian(law, wrt="z")


class NoTrimError(KinetreeError, ValueError):
    """A steady flight was needed, and the aircraft has none."""


def required(found: Trim) -> Trim:
    """The trim, if there is one; raises otherwise."""
    if not found.success:
        raise NoTrimError(f"there is no steady flight: {found.reason}")
    return found

"""Bounds on the velocities of a robot's joints in the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_flag, as_numbers, positive, read_fields
from kinetree.errors import ArgumentError
from kinetree.model.joints import Free
from kinetree.ops import Array, clip, maximum, minimum, sqrt, zeros
from kinetree.robot import Robot


@final
@dataclass(frozen=True)
class Limits:
    """Bounds of v that keep positions, velocities and accelerations within their limits over a step of dt.

    position       whether joints stop at the robot's position limits; beyond one, they come back as fast as the others
                   allow. Quaternions have no limits
    velocity       whether the robot's velocity limits hold, none of which may be negative; `slower` scales them. A
                   joint whose limit is zero does not move; in URDF files zero stands for no limit, and is read so
    acceleration   the most [rad/s² or m/s²], a number or one for every velocity: v then changes by no more than that,
                   and joints brake in time for their position limits; the last v becomes an argument
    """

    position: bool = True
    velocity: bool = True
    acceleration: float | tuple[float, ...] | None = None
    slower: float = 1.0

    def __post_init__(self) -> None:
        read_fields(self, position=as_flag, velocity=as_flag, slower=positive("a positive factor"))
        if self.acceleration is not None:
            most = as_numbers("acceleration", self.acceleration)
            object.__setattr__(self, "acceleration", most)
            if not np.all(np.asarray(most) > 0.0):
                raise ArgumentError(f"acceleration is {most}; expected positive numbers")

    def bounds(
        self, robot: Robot, q: Array, v: Array | None, dt: float, approach: float | None = None
    ) -> tuple[Array, Array]:
        """Lower and upper bounds of the next v, (nv,) each; v is the last one, if accelerations are limited.

        Position limits at distance d allow d / T, or what can be braked within d: v T + v² / 2a ≤ d; T is dt, or
        `approach`. Velocity limits cut that, and acceleration limits have the last word, so that lower ≤ upper always.
        """
        T = dt if approach is None else approach
        model, most = robot.model, self.accelerations(robot)
        lower, upper = (zeros(robot.nv, q) + bound for bound in (-np.inf, np.inf))
        for iq, iv in (pair for joint in model.owners for pair in joint.rated if self.position):
            low, high = model.limits.lower[iq], model.limits.upper[iq]
            a = None if most is None else most[iv]
            if np.isfinite(low):
                lower[iv] = -_approach(q[iq] - low, a, T)
            if np.isfinite(high):
                upper[iv] = _approach(high - q[iq], a, T)
        if self.velocity:
            fastest = self.slower * model.limits.velocity
            for k in np.flatnonzero(np.isfinite(fastest)):
                lower[k], upper[k] = (_clipped(bound[k], -fastest[k], fastest[k]) for bound in (lower, upper))
        if most is not None and v is not None:
            for k in np.flatnonzero(np.isfinite(most)):
                slow, fast = v[k] - most[k] * dt, v[k] + most[k] * dt
                lower[k], upper[k] = (_clipped(bound[k], slow, fast) for bound in (lower, upper))
        return lower, upper

    def places(self, robot: Robot) -> list[tuple[Free, int]]:
        """Coordinates x, y, z of free joints with position limits whose rates are no entries of v, which is in body
        axes: ẋ = R v."""
        found: list[tuple[Free, int]] = []
        for joint in robot.model.owners:
            if self.position and isinstance(joint, Free) and joint.frame == "body":
                ends = (robot.limits.lower, robot.limits.upper)
                found += [(joint, k) for k in range(3) if any(np.isfinite(end[joint.iq + k]) for end in ends)]
        return found

    def rows(self, robot: Robot, q: Array, dt: float) -> tuple[Array, Array, Array]:
        """For every one of `places` a row D and its bounds in lower ≤ D v ≤ upper: position limits at distance d allow
        d / dt, and ask for no more than velocity limits allow in any direction."""
        places = self.places(robot)
        D = zeros((len(places), robot.nv), q)
        lower, upper = (zeros(len(places), q) + bound for bound in (-np.inf, np.inf))
        for row, (joint, k) in enumerate(places):
            D[row, joint.linear_slice] = joint.transform(q).R.T[k]
            back = np.inf
            if self.velocity:
                back = self.slower * float(robot.limits.velocity[joint.linear_slice].min()) / np.sqrt(3.0)
            low, high = (bound[joint.iq + k] for bound in (robot.limits.lower, robot.limits.upper))
            if np.isfinite(low):
                lower[row] = (low - q[joint.iq + k]) * (1.0 / dt)
            if np.isfinite(high):
                upper[row] = (high - q[joint.iq + k]) * (1.0 / dt)
            if np.isfinite(back):
                lower[row], upper[row] = minimum(lower[row], back), maximum(upper[row], -back)
        return D, lower, upper

    def check(self, robot: Robot) -> None:
        """Raise where these limits and those of the robot do not fit together."""
        self.accelerations(robot)
        for joint in robot.model.owners if self.velocity else ():
            fastest = robot.limits.velocity[joint.v_slice]
            if (fastest < 0.0).any():
                raise ArgumentError(
                    f"the velocity limit of joint {joint.name!r} is {fastest.min():g}; expected zero or more"
                )
        if self.acceleration is not None and self.places(robot):
            raise ArgumentError(
                f"joint {self.places(robot)[0][0].name!r} has position limits, and its velocity is in body axes, where "
                "acceleration limits cannot keep them; expected acceleration=None, or base_velocity='mixed' in kt.load"
            )

    def accelerations(self, robot: Robot) -> Array | None:
        """The most of every velocity, (nv,), if there are limits; raises where their number does not fit."""
        if self.acceleration is None:
            return None
        if isinstance(self.acceleration, tuple) and len(self.acceleration) != robot.nv:
            raise ArgumentError(
                f"acceleration has {len(self.acceleration)} numbers; expected one, or {robot.nv} for the velocities of "
                f"{robot.name!r}"
            )
        return np.broadcast_to(np.asarray(self.acceleration, dtype=float), (robot.nv,))


def _approach(distance: Any, a: float | None, T: float) -> Any:
    """The fastest velocity towards a limit at this distance; beyond it, the negative one that leads back at once."""
    direct = distance / T
    if a is None or not np.isfinite(a):
        return direct
    far = maximum(distance, 0.0)
    braking = sqrt(far * (2.0 * a) + (a * T) ** 2) - a * T
    return minimum(direct, braking)


def _clipped(bound: Any, low: Any, high: Any) -> Any:
    """A bound brought between two others; infinite ones are known before anything is computed."""
    if isinstance(bound, float) and np.isinf(bound):
        return low if bound < 0.0 else high
    return clip(bound, low, high)

"""A reference that gives way: what is pushed moves like a mass on a spring and a damper."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree import linalg
from kinetree.base.arguments import positive
from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain
from kinetree.errors import ArgumentError, one_of
from kinetree.ops import Array, cross, zeros
from kinetree.rotations.checks import target_pose
from kinetree.spatial.packing import SPATIAL_ORDERS, SpatialOrder, pack, unpack
from kinetree.spatial.rotation_vector import (
    matrix_from_rotation_vector,
    rotation_vector_rates,
    rotation_vector_rates_rate,
)


@final
class Admittance(Controller):
    """M ë + D ė + K e = f, for the way e from a target to where it is pushed by f, the wrench *on the robot*:
    `state, pose, velocity, acceleration = admittance(state, force, (pose, velocity, acceleration))`.

    The result is a reference for a motion controller. The state, (2, 6), is e and ė: three coordinates [m] and a
    rotation vector [rad] in world axes; `admittance.start` has none of both. It goes in and comes out, nothing is kept.
    Steps are of the implicit Euler method, stable for every dt.

    mass, damping, stiffness   M, D, K: numbers, six, or matrices, linear before angular
    dt                         the length of a step [s]

    Where velocity and acceleration of the target are not given, they are zero.
    """

    start: Array

    def __init__(
        self, mass: Any, damping: Any, stiffness: Any, dt: float, spatial_order: SpatialOrder = "linear-first"
    ) -> None:
        gains = {"mass": mass, "damping": damping, "stiffness": stiffness}
        settings = {name: as_gain(name, value, 6) for name, value in gains.items()}
        if np.linalg.eigvalsh(_matrix(settings["mass"]))[0] <= 0.0:
            raise ArgumentError("mass has a direction without inertia; expected more than zero in all six")
        self.order = one_of("spatial_order", spatial_order, SPATIAL_ORDERS)
        settings["dt"] = np.array(positive("a time above zero")("dt", dt))
        self.start = np.zeros((2, 6))
        self.start.setflags(write=False)
        arguments: dict[str, Any] = {"state": (2, 6), "force": (6,)}
        arguments |= {"pose": (4, 4), "velocity": (6,), "acceleration": (6,)}
        still = {"velocity": np.zeros(6), "acceleration": np.zeros(6)}
        self._prepare(None, arguments, still, settings, (self.order,))

    def formula(
        self, robot: None, state: Array, force: Array, pose: Array, velocity: Array, acceleration: Array, mass: Any,
        damping: Any, stiffness: Any, dt: Any,
    ) -> tuple[Array, ...]:  # fmt: skip
        """(M + D dt + K dt²) ë = f - D ė - K (e + ė dt), then ė and e."""
        pose = target_pose(pose, "pose")
        M, D, K = _matrix(mass), _matrix(damping), _matrix(stiffness)
        e, rate = state
        f = np.concatenate(unpack(force, self.order))
        second = linalg.solve(M + D * dt + K * (dt * dt), f - D @ rate - K @ (e + rate * dt), positive_definite=True)
        rate = rate + second * dt
        e = e + rate * dt
        return np.stack([e, rate]), *self._pushed(e, rate, second, pose, velocity, acceleration)

    def _pushed(
        self, e: Array, rate: Array, second: Array, pose: Array, velocity: Array, acceleration: Array
    ) -> tuple[Array, Array, Array]:
        """The target moved by e: p + e and exp(e) R, with their velocities and accelerations."""
        (v, w), (a, alpha) = unpack(velocity, self.order), unpack(acceleration, self.order)
        turn, E = matrix_from_rotation_vector(e[3:]), rotation_vector_rates(e[3:])
        T = zeros((4, 4), e, pose)
        T[:3, :3], T[:3, 3], T[3, 3] = turn @ pose[:3, :3], pose[:3, 3] + e[:3], 1.0
        own, carried = E @ rate[3:], turn @ w
        twist = pack(v + rate[:3], own + carried, self.order)
        alpha = E @ second[3:] + rotation_vector_rates_rate(e[3:], rate[3:]) @ rate[3:] + turn @ alpha
        return T, twist, pack(a + second[:3], alpha + cross(own, carried), self.order)


def _matrix(gain: Any) -> Array:
    """A gain as a matrix of six by six."""
    return np.asarray(gain) if np.ndim(gain) == 2 else np.diag(gain)

"""robot.actuators: from controls to efforts and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.passes.frame_drives import drive_states
from kinetree.algorithms.passes.tendon_paths import over_joints, tendon_states
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError
from kinetree.functions.law import Law, compile
from kinetree.linalg import pseudo_inverse
from kinetree.model.actuators import Actuator
from kinetree.model.tendons import Tendon
from kinetree.ops import Array, atan2, clip, cos, divide, sin, where, zeros

if TYPE_CHECKING:
    from kinetree.robot.robot import Robot


@final
@dataclass(frozen=True)
class Actuators:
    """The actuators of a robot, in the order of its file: n controls u, and a state w of activation for each.

    Their functions take one state or a batch, and work inside compiled functions, so that a law may return
    `robot.actuators.efforts(q, v, u)`.
    """

    robot: Robot

    def __len__(self) -> int:
        return len(self.listed)

    @property
    def listed(self) -> tuple[Actuator, ...]:
        return self.robot.model.actuators

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(actuator.name for actuator in self.listed)

    @lazy
    def lower(self) -> Array:
        """The least controls, (n,)."""
        return np.array([actuator.control_range[0] for actuator in self.listed])

    @lazy
    def upper(self) -> Array:
        """The largest controls, (n,)."""
        return np.array([actuator.control_range[1] for actuator in self.listed])

    @lazy
    def gears(self) -> Array:
        """R, (n, nv): the rates of lengths are R v, and forces f give the efforts Rᵀ f. Of actuators on frames, and
        where a tendon has a path, R depends on q, and `moment_arms` gives it."""
        odd = next((actuator for actuator in self.listed if self._is_bent(actuator)), None)
        if odd is not None:
            what = "acts on frames" if odd.drives else "pulls on a path"
            raise ArgumentError(f"actuator {odd.name!r} {what}, so that its gears depend on q; expected moment_arms(q)")
        return self._transmission(np.zeros(self.robot.nq))[1]

    def moment_arms(self, q: ArrayLike) -> Array:
        """R(q), (…, n, nv): the rates of lengths are R v, and forces f give the efforts Rᵀ f."""
        return self._law("moment_arms")(self.robot, q)

    def lengths(self, q: ArrayLike) -> Array:
        """ℓ, (…, n), of every actuator, gears included."""
        return self._law("lengths")(self.robot, q)

    def efforts(self, q: ArrayLike, v: ArrayLike, u: ArrayLike, activation: ArrayLike | None = None) -> Array:
        """τ = Rᵀ f, (…, nv) [N m or N], of controls u, (…, n), within ranges of controls, forces and joints.

        `activation`, (…, n), is the state w of actuators that have one; by default they have settled, w = u.
        """
        return self._law("efforts")(self.robot, q, v, u, u if activation is None else activation)

    def controls(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """The controls u, (…, n), within their ranges, that give efforts tau, (…, nv) [N m or N], or those nearest to
        them; of several, those with the least forces. Entries of tau that no actuator moves do not count."""
        return self._law("controls")(self.robot, q, v, tau)

    def activation_rates(self, u: ArrayLike, activation: ArrayLike) -> Array:
        """ẇ, (…, n): u of an integrator, (u - w) / time constant of a filter, that of a `kt.Muscle`, zero without
        activation."""
        return self._law("rates")(self.robot, u, activation)

    # -- formulas ----------------------------------------------------------------------------------------------

    def _law(self, kind: str) -> Law:
        if not len(self):
            raise ArgumentError(f"{self.robot.name!r} has no actuators")
        return _laws(len(self))[kind]

    @lazy
    def _tendons(self) -> dict[str, Tendon]:
        return {tendon.name: tendon for tendon in self.robot.model.tendons}

    def _is_bent(self, actuator: Actuator) -> bool:
        return bool(actuator.drives) or any(self._tendons[name].path for name, _ in actuator.tendons)

    def _transmission(self, q: Array) -> tuple[Array, Array]:
        """Lengths of the actuators, (n,), and R, (n, nv); constant numbers, unless it depends on q."""
        model = self.robot.model
        used = {name for actuator in self.listed for name, _ in actuator.tendons}
        tendons = tuple(tendon for tendon in model.tendons if tendon.name in used)
        pulled = {tendon.name: (length, J) for tendon, length, J in tendon_states(model, tendons, q)}
        driven = drive_states(model, tuple(drive for actuator in self.listed for drive in actuator.drives), q)
        bent = any(map(self._is_bent, self.listed))
        lengths, R = zeros(len(self), q), zeros((len(self), model.nv), *([q] if bent else []))
        for i, actuator in enumerate(self.listed):
            lengths[i], R[i] = over_joints(model, actuator.joints, q)
            for name, gear in actuator.tendons:
                lengths[i] = lengths[i] + gear * pulled[name][0]
                R[i] = R[i] + gear * pulled[name][1]
            for length, row in islice(driven, len(actuator.drives)):
                lengths[i], R[i] = lengths[i] + length, R[i] + row
        return lengths, R

    def _gains(self, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Gain, bias and length of every actuator, (n,) each, and R."""
        lengths, R = self._transmission(q)
        rates = R @ v
        gains, biases = zeros(len(self), q, v), zeros(len(self), q, v)
        for i, actuator in enumerate(self.listed):
            if actuator.muscle is not None:
                gains[i] = actuator.muscle.gain(lengths[i], rates[i])
                biases[i] = actuator.muscle.bias(lengths[i])
                continue
            for value, (constant, by_length, by_rate) in ((gains, actuator.gain), (biases, actuator.bias)):
                value[i] = constant + by_length * lengths[i] + by_rate * rates[i]
        return gains, biases, lengths, R

    def _efforts(self, q: Array, v: Array, u: Array, activation: Array) -> Array:
        gains, biases, lengths, R = self._gains(q, v)
        forces = zeros(len(self), q, v, u, activation)
        for i, actuator in enumerate(self.listed):
            w = clip(u[i], *actuator.control_range)
            if actuator.activation != "none":
                w = clip(activation[i], *actuator.activation_range)
            if actuator.period is not None:
                turn = (2.0 * math.pi / actuator.period) * (w - lengths[i])
                w = lengths[i] + (actuator.period / (2.0 * math.pi)) * atan2(sin(turn), cos(turn))
            forces[i] = clip(gains[i] * w + biases[i], *actuator.force_range)
        limit = self.robot.limits.effort
        return clip(R.T @ forces, -limit, limit)

    def _controls(self, q: Array, v: Array, tau: Array) -> Array:
        gains, biases, lengths, R = self._gains(q, v)
        forces = (np.linalg.pinv(R.T) if R.dtype != object else pseudo_inverse(R.T)) @ tau
        u = zeros(len(self), q, v, tau)
        for i, actuator in enumerate(self.listed):
            force = clip(forces[i], *actuator.force_range)
            is_dead = abs(gains[i]) < 1e-12  # a force that changes by less with its control cannot be controlled
            wanted = divide(force - biases[i], where(is_dead, 1.0, gains[i]))
            if actuator.period is not None:
                wanted = lengths[i] + clip(wanted - lengths[i], -0.5 * actuator.period, 0.5 * actuator.period)
            u[i] = clip(wanted, *actuator.control_range)
            u[i] = where(is_dead, clip(0.0 * u[i], *actuator.control_range), u[i])
        return u

    def _rates(self, u: Array, activation: Array) -> Array:
        rates = zeros(len(self), u, activation)
        for i, actuator in enumerate(self.listed):
            control = clip(u[i], *actuator.control_range)
            if actuator.activation == "integrator":
                rates[i] = control
            elif actuator.activation == "filter":
                rates[i] = (control - activation[i]) / actuator.time_constant
            elif actuator.muscle is not None:
                rates[i] = actuator.muscle.activation_rate(control, activation[i])
        return rates


@lru_cache
def _laws(count: int) -> dict[str, Law]:
    """The functions of robots with so many actuators."""

    @compile(shapes={"u": (count,), "activation": (count,)})
    def efforts(robot: Robot, q: Any, v: Any, u: Any, activation: Any) -> Array:
        return Actuators(robot)._efforts(q, v, u, activation)

    @compile
    def controls(robot: Robot, q: Any, v: Any, tau: Any) -> Array:
        return Actuators(robot)._controls(q, v, tau)

    @compile(shapes={"u": (count,), "activation": (count,)})
    def rates(robot: Robot, u: Any, activation: Any) -> Array:
        return Actuators(robot)._rates(u, activation)

    @compile
    def moment_arms(robot: Robot, q: Any) -> Array:
        return Actuators(robot)._transmission(q)[1] + zeros((count, robot.nv), q)

    @compile
    def lengths(robot: Robot, q: Any) -> Array:
        return Actuators(robot)._transmission(q)[0]

    return {
        "efforts": efforts, "controls": controls, "rates": rates, "moment_arms": moment_arms, "lengths": lengths,
    }  # fmt: skip

"""What turns a rotor: a motor as a first-order lag, or as a DC machine on a battery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree import ops
from kinetree.errors import ArgumentError
from kinetree.flight.fields import Nonnegative, Positive, ReadsFields


@final
@dataclass(frozen=True)
class FirstOrderMotor(ReadsFields):
    """ω̇ = (ω* - ω)/T: a speed controller and its motor in one constant."""

    time_constant: Positive
    """T [s]"""

    def rate(self, speed: Any, command: Any) -> Any:
        """ω̇ [rad/s²]."""
        return (command - speed) * (1.0 / self.time_constant)

    def after(self, speed: Any, command: Any, dt: Any) -> Any:
        """ω [rad/s] after dt [s] of a constant command: ω* + (ω - ω*) e^(-dt/T), exactly."""
        return command + (speed - command) * ops.exp(-dt * (1.0 / self.time_constant))

    def mean(self, speed: Any, command: Any, dt: Any) -> Any:
        """The mean speed over these dt: a rollout that holds it during a step is of second order in dt."""
        decay = (1.0 - ops.exp(-dt * (1.0 / self.time_constant))) * self.time_constant / dt
        return command + (speed - command) * decay


@final
@dataclass(frozen=True)
class DCMotor(ReadsFields):
    """A direct-current machine: U = R i + K ω, torque K (i - i₀), J ω̇ = K (i - i₀) - Q."""

    torque_constant: Positive
    """K [N m/A], which is also the voltage constant [V s/rad]."""
    resistance: Positive
    """R [Ω]"""
    no_load_current: Nonnegative = 0.0
    """i₀ [A]"""
    inertia: Nonnegative = 0.0
    """J of motor and rotor [kg m²]; 0 if it is only used at its steady speed."""

    def current(self, speed: Any, voltage: Any) -> Any:
        """i = (U - K ω)/R [A]."""
        return (voltage - self.torque_constant * speed) * (1.0 / self.resistance)

    def torque(self, speed: Any, voltage: Any) -> Any:
        """K (i - i₀) [N m]."""
        return self.torque_constant * (self.current(speed, voltage) - self.no_load_current)

    def rate(self, speed: Any, voltage: Any, load: Any) -> Any:
        """ω̇ [rad/s²] against a load torque [N m]."""
        if not self.inertia:
            raise ArgumentError("inertia is 0; expected that of motor and rotor, without which its speed has no rate")
        return (self.torque(speed, voltage) - load) * (1.0 / self.inertia)

    def steady_speed(self, voltage: Any, square: Any, linear: Any = 0.0, constant: Any = 0.0) -> Any:
        """ω [rad/s] at which the torque equals a load Q = k₂ ω² + k₁ ω + k₀; zero if the motor cannot turn it."""
        K, R = self.torque_constant, self.resistance
        b = linear + K * K / R
        c = constant + K * self.no_load_current - K * voltage * (1.0 / R)
        root = ops.sqrt(ops.maximum(b * b - 4.0 * square * c, 0.0))
        return ops.maximum(-2.0 * c / (b + root), 0.0)


@final
@dataclass(frozen=True)
class Battery(ReadsFields):
    """A battery whose voltage falls with its charge s C and with the current: U = U₀ + (U₁ - U₀) s - R i."""

    full: Positive
    """U₁ [V] when it is charged."""
    empty: Positive
    """U₀ [V] when it is not."""
    capacity: Positive
    """C [A s]"""
    resistance: Nonnegative = 0.0
    """R [Ω]"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.empty > self.full:
            raise ArgumentError(f"empty is {self.empty:g} V, full {self.full:g} V; expected less when it is empty")

    def voltage(self, charge: Any, current: Any = 0.0) -> Any:
        """U [V] at a charge [A s] under a current [A]."""
        s = ops.clip(charge * (1.0 / self.capacity), 0.0, 1.0)
        return self.empty + (self.full - self.empty) * s - self.resistance * current

    def after(self, charge: Any, current: Any, dt: Any) -> Any:
        """The charge [A s] after dt [s]."""
        return ops.maximum(charge - current * dt, 0.0)

"""Wind: the velocity of the air in world axes, by place and time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from kinetree import ops
from kinetree.flight.fields import Finite, Positive, ReadsFields, Three
from kinetree.ops import Array, Scalar


@runtime_checkable
class Wind(Protocol):
    """The interface of a wind field. Implementations must be hashable, and their operations traceable."""

    def velocity(self, position: Array, t: Scalar) -> Array:
        """The velocity of the air in world axes, (3,) [m/s], at a place in the world (3,) [m] and a time [s]."""
        ...


@final
@dataclass(frozen=True)
class UniformWind(ReadsFields):
    """A wind that is constant in space and time; zero is still air."""

    speed: Three = (0.0, 0.0, 0.0)
    """In world axes, (3,) [m/s]."""

    def velocity(self, position: Array, t: Scalar) -> Array:
        """w."""
        return np.array(self.speed)


@final
@dataclass(frozen=True)
class WindShear(ReadsFields):
    """Wind that grows with the height z above the ground by a power law, w (z/z₀)^n; zero at the ground and below."""

    speed: Three
    """At the reference height z₀, in world axes, (3,) [m/s]."""
    reference: Positive = 10.0
    """z₀ [m]"""
    exponent: Finite = 0.143
    """n: 1/7 over open land."""

    def velocity(self, position: Array, t: Scalar) -> Array:
        """w (z/z₀)^n."""
        z = position[2]
        above = ops.where(ops.less(0.0, z), z, self.reference)
        factor = ops.exp(self.exponent * ops.log(above / self.reference))
        return np.array(self.speed) * ops.where(ops.less(0.0, z), factor, 0.0)


@final
@dataclass(frozen=True)
class DiscreteGust(ReadsFields):
    """The gust of MIL-F-8785C: w (1 - cos(π (t - t₀)/T))/2 from t₀ to t₀ + T, and w from then on."""

    speed: Three
    """At its end, in world axes, (3,) [m/s]."""
    start: Finite = 0.0
    """t₀ [s]"""
    duration: Positive = 1.0
    """T [s]"""

    def velocity(self, position: Array, t: Scalar) -> Array:
        """w (1 - cos(π s))/2 with s = (t - t₀)/T between 0 and 1."""
        s = ops.clip((t - self.start) * (1.0 / self.duration), 0.0, 1.0)
        return np.array(self.speed) * (0.5 * (1.0 - ops.cos(np.pi * s)))


@final
@dataclass(frozen=True)
class Winds:
    """The sum of several winds."""

    winds: tuple[Wind, ...]

    def velocity(self, position: Array, t: Scalar) -> Array:
        """Σ w."""
        total: Array = np.zeros(3)
        for wind in self.winds:
            total = total + wind.velocity(position, t)
        return total

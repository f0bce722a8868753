"""How a motion is spread over its time: s from 0 to 1 while u = t / duration goes from 0 to 1."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

from kinetree.base.arguments import as_number
from kinetree.errors import ArgumentError, ArgumentTypeError, known, short
from kinetree.ops import less, where


class Profile(ABC):
    """The path parameter s(u) with its first and second derivative, from rest to rest by default."""

    @property
    @abstractmethod
    def peaks(self) -> tuple[float, float]:
        """The largest s' and the largest |s''|."""

    @abstractmethod
    def __call__(self, u: Any) -> tuple[Any, Any, Any]:
        """(s, s', s'') at u between 0 and 1."""


@final
@dataclass(frozen=True)
class PolynomialProfile(Profile):
    """s = Σ c_k u^k."""

    coefficients: tuple[float, ...]
    fastest: float
    steepest: float

    @property
    def peaks(self) -> tuple[float, float]:
        """The largest s' and the largest |s''|, as given."""
        return self.fastest, self.steepest

    def __call__(self, u: Any) -> tuple[Any, Any, Any]:
        """(s, s', s'')."""
        c = self.coefficients
        first = tuple(k * value for k, value in enumerate(c))[1:]
        second = tuple(k * value for k, value in enumerate(first))[1:]
        return _horner(c, u), _horner(first, u), _horner(second, u)


LINEAR = PolynomialProfile((0.0, 1.0), 1.0, 0.0)
"""At a steady rate: the velocity jumps at both ends."""
CUBIC = PolynomialProfile((0.0, 0.0, 3.0, -2.0), 1.5, 6.0)
"""3u² - 2u³: velocity zero at both ends; the acceleration jumps there."""
QUINTIC = PolynomialProfile((0.0, 0.0, 0.0, 10.0, -15.0, 6.0), 1.875, 10.0 / math.sqrt(3.0))
"""10u³ - 15u⁴ + 6u⁵: velocity and acceleration zero at both ends."""


@final
@dataclass(frozen=True)
class Trapezoid(Profile):
    """Constant acceleration, constant velocity, constant deceleration; each ramp takes this fraction of the time."""

    ramp: float = 1.0 / 3.0

    def __post_init__(self) -> None:
        if not 0.0 < as_number("ramp", self.ramp) <= 0.5:
            raise ArgumentError(f"ramp is {self.ramp!r}; expected a part of the time above 0, up to 0.5")

    @property
    def peaks(self) -> tuple[float, float]:
        """1/(1 - r) and 1/(r (1 - r))."""
        return 1.0 / (1.0 - self.ramp), 1.0 / (self.ramp * (1.0 - self.ramp))

    def __call__(self, u: Any) -> tuple[Any, Any, Any]:
        """(s, s', s'')."""
        top, steep = self.peaks
        left = 1.0 - u
        speeding, braking = less(u, self.ramp), less(left, self.ramp)
        s = where(
            speeding, 0.5 * steep * u * u, where(braking, 1.0 - 0.5 * steep * left * left, (u - 0.5 * self.ramp) * top)
        )
        first = where(speeding, steep * u, where(braking, steep * left, top))
        return s, first, where(speeding, steep, where(braking, -steep, 0.0))


PROFILES: dict[str, Profile] = {"linear": LINEAR, "cubic": CUBIC, "quintic": QUINTIC, "trapezoid": Trapezoid()}


def as_profile(profile: Profile | str) -> Profile:
    """A profile, or the one of this name."""
    if isinstance(profile, str):
        return PROFILES[known("profile", profile, PROFILES)]
    if not isinstance(profile, Profile):
        raise ArgumentTypeError(f"profile is {short(profile)}; expected a Profile or one of {', '.join(PROFILES)}")
    return profile


def shortest_duration(
    length: float, velocity: float, acceleration: float = math.inf, profile: Profile | str = "quintic"
) -> float:
    """The minimum time [s] in which a profile covers a length [m or rad] within limits of speed and acceleration."""
    fastest, steepest = as_profile(profile).peaks
    distance = abs(as_number("length", length))
    limits = {"velocity": as_number("velocity", velocity), "acceleration": as_number("acceleration", acceleration)}
    for name, limit in limits.items():
        if not limit > 0.0:
            raise ArgumentError(f"{name} is {limit!r}; expected a limit above zero")
    return max(distance * fastest / limits["velocity"], math.sqrt(distance * steepest / limits["acceleration"]))


def _horner(coefficients: tuple[float, ...], u: Any) -> Any:
    value = 0.0 * u
    for coefficient in reversed(coefficients):
        value = value * u + coefficient
    return value

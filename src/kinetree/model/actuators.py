"""What turns controls into efforts: motors, servos, cylinders and muscles, on joints and on tendons."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

from kinetree.base.arguments import as_number, as_numbers, read_fields
from kinetree.errors import ArgumentError, one_of, short
from kinetree.model.muscles import Muscle
from kinetree.model.tendons import UNLIMITED, as_geared

Activation: TypeAlias = Literal["none", "integrator", "filter", "muscle"]
ACTIVATIONS: tuple[Activation, ...] = ("none", "integrator", "filter", "muscle")


@final
@dataclass(frozen=True)
class Actuator:
    """At the length ℓ = Σ gear · x over the positions x of its joints and the lengths x of its tendons, it gives a
    force

        f = (g₀ + g₁ ℓ + g₂ ℓ̇) w + b₀ + b₁ ℓ + b₂ ℓ̇            within `force_range`

    and efforts of ∂ℓ/∂q · f. Here w is the control u within `control_range`, or with an activation a state
    within `activation_range`: ẇ = u of an "integrator", ẇ = (u - w) / time_constant of a "filter". A `muscle` has its
    own force and activation instead.

    A motor has gain (1, 0, 0); a position servo gain (k, 0, 0) and bias (0, -k, -d); a velocity servo gain (d, 0, 0)
    and bias (0, 0, -d).
    """

    name: str
    joints: tuple[tuple[str, float], ...] = ()
    """Joints with one coordinate, and the gear of each."""
    gain: tuple[float, float, float] = (1.0, 0.0, 0.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    control_range: tuple[float, float] = UNLIMITED
    force_range: tuple[float, float] = UNLIMITED
    activation: Activation = "none"
    time_constant: float = 0.0
    """[s]"""
    activation_range: tuple[float, float] = UNLIMITED
    tendons: tuple[tuple[str, float], ...] = ()
    """Tendons of the robot, and the gear of each."""
    muscle: Muscle | None = None

    def __post_init__(self) -> None:
        for name, size in (
            ("gain", 3), ("bias", 3), ("control_range", 2), ("force_range", 2), ("activation_range", 2),
        ):  # fmt: skip
            given = as_numbers(name, getattr(self, name))
            if not isinstance(given, tuple) or len(given) != size or any(map(math.isnan, given)):
                raise ArgumentError(f"{name} is {short(getattr(self, name))}; expected {size} numbers")
            if size == 2 and given[0] > given[1]:
                raise ArgumentError(f"{name} is {given[0]:g} to {given[1]:g}; expected the lower bound first")
            object.__setattr__(self, name, given)
        one_of("activation", self.activation, ACTIVATIONS)
        constant = as_number("time_constant", self.time_constant)
        if not 0.0 <= constant < math.inf or (self.activation == "filter" and not constant):
            raise ArgumentError(f"time_constant is {constant:g}; expected a time above zero")
        object.__setattr__(self, "time_constant", constant)
        if (self.activation == "muscle") != (self.muscle is not None):
            raise ArgumentError(f"activation is {self.activation!r} and muscle {self.muscle}; expected both or none")
        read_fields(self, joints=as_geared, tendons=as_geared)
        if not self.joints and not self.tendons:
            raise ArgumentError(f"joints of actuator {self.name!r} is empty, and so is tendons; expected one of them")

    def renamed(self, joint: Callable[[str], str]) -> Actuator:
        """The actuator with other names of joints."""
        return replace(self, joints=tuple((joint(name), gear) for name, gear in self.joints))

"""What a joint does besides moving its body: rotor inertia, damping, friction, a spring."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from kinetree.base.arguments import as_numbers
from kinetree.errors import ArgumentError
from kinetree.ops import is_registered

PerCoordinate: TypeAlias = float | tuple[float, ...]
"""One number for all coordinates of a joint, or one for each."""


def of_coordinate(value: PerCoordinate, k: int) -> float:
    """The number for the coordinate k."""
    return value[k] if isinstance(value, tuple) else value


def is_present(value: PerCoordinate) -> bool:
    """Whether there is a number that is not zero, or a symbol."""
    return any(is_registered(number) or number != 0.0 for number in (value if isinstance(value, tuple) else (value,)))


@dataclass(frozen=True, kw_only=True)
class JointDynamics:
    """Effort of a joint at position x, velocity ẋ and acceleration ẍ, for each of its coordinates:

        armature · ẍ + damping · ẋ + friction · ẋ / √(ẋ² + w²) + stiffness · (x - rest)

    Each is a number, or for joints with several coordinates a number for each entry of v. The width w of the smoothed
    step from -friction to +friction belongs to the model. The linear armature of a free joint is a mass without weight
    at the origin of its body. Of a spherical or free joint, x - rest of the rotation is the
    rotation vector from exp(rest) to the body, and the effort is the slope of the energy ½ Σ stiffness · (x - rest)².
    """

    armature: PerCoordinate = 0.0
    """Inertia of the rotor as the joint feels it, gear ratio² · rotor inertia [kg m² or kg]."""
    damping: PerCoordinate = 0.0
    """Viscous friction [N m s/rad or N s/m]."""
    friction: PerCoordinate = 0.0
    """Coulomb friction [N m or N]."""
    stiffness: PerCoordinate = 0.0
    """Of a spring [N m/rad or N/m]."""
    rest: PerCoordinate = 0.0
    """Position at which the spring is slack [rad or m]."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = as_numbers(field.name, getattr(self, field.name))
            for number in value if isinstance(value, tuple) else (value,):
                if not abs(number) < float("inf") or (number < 0.0 and field.name != "rest"):
                    expected = "a finite number" if field.name == "rest" else "zero or more, and finite"
                    raise ArgumentError(f"{field.name} is {number:g}; expected {expected}")
            object.__setattr__(self, field.name, value)

    def unchecked(self, **changes: Any) -> JointDynamics:
        """The same with other numbers, whatever they are, or symbols: formulas call this."""
        other = object.__new__(JointDynamics)
        other.__dict__.update(self.__dict__, **changes)
        return other

    @property
    def is_passive(self) -> bool:
        """Whether the joint has damping, friction or a spring."""
        return is_present(self.damping) or is_present(self.friction) or is_present(self.stiffness)

    @property
    def is_isotropic(self) -> bool:
        """Whether all coordinates have the same numbers, and the spring is slack at zero."""
        numbers = [getattr(self, field.name) for field in fields(self)]
        return not any(isinstance(number, tuple) for number in numbers) and self.rest == 0.0

    def of_coordinate(self, k: int) -> JointDynamics:
        """Those of one of its coordinates."""
        return JointDynamics(**{field.name: of_coordinate(getattr(self, field.name), k) for field in fields(self)})

    def misfit(self, nv: int) -> str | None:
        """Why it does not fit a joint with so many velocities, or None."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, tuple) and len(value) != nv:
                return f"{field.name} of its dynamics has {len(value)} numbers; expected one, or {nv}"
        return None


NONE = JointDynamics()

"""What a joint does besides moving its body: rotor inertia, damping, friction, a spring."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kinetree.arguments import as_number
from kinetree.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class JointDynamics:
    """Effort of a joint at position x, velocity ẋ and acceleration ẍ, for each of its coordinates:

        armature · ẍ + damping · ẋ + friction · ẋ / √(ẋ² + w²) + stiffness · (x - rest)

    The width w of the smoothed step from -friction to +friction belongs to the model.
    """

    armature: float = 0.0
    """Inertia of the rotor as the joint feels it, gear ratio² · rotor inertia [kg m² or kg]."""
    damping: float = 0.0
    """Viscous friction [N m s/rad or N s/m]."""
    friction: float = 0.0
    """Coulomb friction [N m or N]."""
    stiffness: float = 0.0
    """Of a spring [N m/rad or N/m]."""
    rest: float = 0.0
    """Position at which the spring is slack [rad or m]."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = as_number(field.name, getattr(self, field.name))
            if not abs(value) < float("inf") or (value < 0.0 and field.name != "rest"):
                expected = "a finite number" if field.name == "rest" else "zero or more, and finite"
                raise ArgumentError(f"{field.name} is {value:g}; expected {expected}")
            object.__setattr__(self, field.name, value)

    @property
    def is_passive(self) -> bool:
        """Whether the joint has damping, friction or a spring."""
        return bool(self.damping or self.friction or self.stiffness)


NONE = JointDynamics()

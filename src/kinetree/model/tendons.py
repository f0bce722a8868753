"""Tendons that run over several joints, and pull by themselves: springs, dampers and friction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

from kinetree.base.arguments import as_number, as_numbers
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import clip


def as_geared_joints(whose: str, joints: Any) -> tuple[tuple[str, float], ...]:
    """Names of joints, and a number for each."""
    try:
        read = tuple((str(joint), as_number("gear", gear)) for joint, gear in joints)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"joints is {short(joints)}; expected pairs of a name and a gear") from None
    if not read:
        raise ArgumentError(f"joints of {whose} is empty; expected one or more")
    return read


@final
@dataclass(frozen=True)
class Tendon:
    """Of the length ℓ = Σ gear · x over the positions x of its joints. It takes the force

        f = stiffness · s + damping · ℓ̇ + friction · ℓ̇ / √(ℓ̇² + w²)

    and of every joint the effort gear · f to move against it, with s by how much ℓ is outside of `rest`, and w the
    width of friction of the model.
    """

    name: str
    joints: tuple[tuple[str, float], ...]
    """Joints with one coordinate, and the gear of each."""
    stiffness: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    """Lengths between which the spring is slack."""

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping", "friction"):
            value = as_number(name, getattr(self, name))
            if not 0.0 <= value < math.inf:
                raise ArgumentError(f"{name} is {value:g}; expected zero or more, and finite")
            object.__setattr__(self, name, value)
        rest = as_numbers("rest", self.rest)
        if not isinstance(rest, tuple) or len(rest) != 2 or not rest[0] <= rest[1]:
            raise ArgumentError(f"rest is {short(self.rest)}; expected two lengths, the lower one first")
        object.__setattr__(self, "rest", rest)
        object.__setattr__(self, "joints", as_geared_joints(f"tendon {self.name!r}", self.joints))

    def stretch(self, length: Any) -> Any:
        """By how much a length is outside of `rest`."""
        lower, upper = self.rest
        return length - (lower if lower == upper else clip(length, lower, upper))

    def renamed(self, joint: Callable[[str], str]) -> Tendon:
        """With other names of joints."""
        return replace(self, joints=tuple((joint(name), gear) for name, gear in self.joints))

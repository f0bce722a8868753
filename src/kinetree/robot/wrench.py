"""A wrench of the environment on the robot, with its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from numpy.typing import ArrayLike

from kinetree.algorithms.arguments.references import REFERENCES, Reference
from kinetree.errors import ArgumentTypeError, one_of
from kinetree.spatial import Force, Motion


@final
@dataclass(frozen=True, eq=False)
class Wrench:
    """A force [N] and moment [N m], (…, 6): at a frame's origin in world axes ('world-aligned') or in the frame's axes
    ('local'), or about the world's origin in world axes ('world')."""

    value: Any
    reference: Reference = "world-aligned"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", one_of("reference", self.reference, REFERENCES))
        if isinstance(self.value, (Force, Motion)):  # the order of the six numbers is not known
            kind = type(self.value).__name__
            raise ArgumentTypeError(f"the value of a wrench is a {kind}; expected a 6-vector, as from force.vector()")


Wrenches: TypeAlias = Mapping[str, ArrayLike | Wrench]
"""Wrenches by the name of the frame at which they act."""

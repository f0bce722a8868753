"""A wrench of the environment on the robot, with the reference it is expressed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree.algorithms.references import REFERENCES, Reference
from kinetree.errors import one_of


@final
@dataclass(frozen=True, eq=False)
class Wrench:
    """Force [N] and moment [N m], (…, 6), at a frame's origin in world axes ('world-aligned'), in the frame's axes
    ('local'), or about the world's origin in world axes ('world')."""

    value: Any
    reference: Reference = "world-aligned"

    def __post_init__(self) -> None:
        one_of("reference", self.reference, REFERENCES)

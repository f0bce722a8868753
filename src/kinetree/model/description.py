"""What a robot's author writes down: links, joints and frames by name, before the tree is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kinetree.arguments import as_number
from kinetree.errors import ArgumentTypeError, ModelError, short
from kinetree.model.joints import AxisJoint, Continuous, Prismatic, Revolute
from kinetree.model.tree import Finding
from kinetree.ops import Array
from kinetree.spatial import Inertia, Transform

AXIS_JOINTS: Mapping[str, Callable[..., AxisJoint]] = {
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
}
JOINT_TYPES = (*AXIS_JOINTS, "fixed", "free")


@dataclass(frozen=True)
class Mimic:
    """Position = multiplier · leader's position + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise ArgumentTypeError(f"the joint to mimic is {short(self.joint)}; expected its name")
        object.__setattr__(self, "multiplier", as_number("multiplier", self.multiplier))
        object.__setattr__(self, "offset", as_number("offset", self.offset))


@dataclass(frozen=True, eq=False)
class JointDescription:
    """A joint as its author wrote it."""

    name: str
    kind: str
    parent: str
    child: str
    axis: Array
    placement: Transform
    bounds: tuple[float, float, float, float]
    """Lower and upper position, speed and effort."""
    mimic: Mimic | None
    line: int | None


class Description(Protocol):
    """A finished description and a way to complain about it."""

    @property
    def name(self) -> str: ...
    @property
    def links(self) -> Mapping[str, Inertia]: ...
    @property
    def joints(self) -> Mapping[str, JointDescription]: ...
    @property
    def sites(self) -> Mapping[str, tuple[str, Transform]]: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...
    def note(self, element: str, message: str, line: int | None = None) -> None: ...
    def warn(self, element: str, message: str, line: int | None = None) -> None: ...
    def error(self, element: str, message: str, line: int | None = None) -> ModelError: ...

"""What a robot's author writes down: links, joints and frames by name, before the tree is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from kinetree.arguments import as_number
from kinetree.errors import ArgumentTypeError, ModelError, short
from kinetree.model.geometry import Geometry
from kinetree.model.joints import AxisJoint, BaseVelocity, Continuous, JointDynamics, Prismatic, Revolute
from kinetree.model.joints.dynamics import NONE
from kinetree.ops import Array
from kinetree.spatial import Inertia, SpatialOrder, Transform

AXIS_JOINTS: Mapping[str, Callable[..., AxisJoint]] = {
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
}
JOINT_TYPES = (*AXIS_JOINTS, "fixed", "free")


@dataclass(frozen=True)
class Finding:
    """Something suspicious in a model that loads."""

    message: str
    element: str = ""
    line: int | None = None

    def __str__(self) -> str:
        where = self.element + (f" (line {self.line})" if self.line is not None else "")
        return f"{where}: {self.message}" if where else self.message


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


@dataclass(frozen=True)
class Safety:
    """URDF's safety controller: softer position limits, and the gains with which efforts keep to them."""

    soft_lower: float = 0.0
    soft_upper: float = 0.0
    k_position: float = 0.0
    k_velocity: float = 0.0

    def scaled(self, length: float) -> Safety:
        """With the limits times a factor."""
        return replace(self, soft_lower=length * self.soft_lower, soft_upper=length * self.soft_upper)


@dataclass(frozen=True, eq=False)
class LinkDescription:
    """A link as its author wrote it."""

    inertia: Inertia
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()
    line: int | None = None


@dataclass(frozen=True, eq=False)
class JointDescription:
    """A joint as its author wrote it."""

    name: str
    kind: str
    parent: str
    child: str
    axis: Array
    placement: Transform
    """From the parent's frame to the joint's."""
    bounds: tuple[float, float, float, float]
    """Lower and upper position, speed and effort."""
    mimic: Mimic | None = None
    dynamics: JointDynamics = NONE
    safety: Safety | None = None
    line: int | None = None

    def scaled(self, length: float) -> JointDescription:
        """With all lengths times a factor."""
        placement = Transform(self.placement.R, length * self.placement.p)
        if self.kind != "prismatic":
            return replace(self, placement=placement)
        lower, upper, velocity, effort = self.bounds
        bounds = (length * lower, length * upper, length * velocity, effort)
        return replace(self, placement=placement, bounds=bounds, safety=self.safety and self.safety.scaled(length))


@dataclass(frozen=True, eq=False)
class Options:
    """How a description becomes a model."""

    base: str
    gravity: Array
    spatial_order: SpatialOrder
    base_velocity: BaseVelocity
    keep_fixed: tuple[str, ...]
    passive: bool
    friction_width: float


@dataclass(frozen=True, eq=False)
class Description:
    """All that an author wrote, by name, in order. Editing starts from it, and so does writing to a file."""

    name: str
    source: str = ""
    links: Mapping[str, LinkDescription] = field(default_factory=dict)
    joints: Mapping[str, JointDescription] = field(default_factory=dict)
    sites: Mapping[str, tuple[str, Transform]] = field(default_factory=dict)
    """Named frames: the link they are fixed to, and where, ^site X_link."""
    findings: tuple[Finding, ...] = ()


class Draft(Protocol):
    """A description and a way to complain about it."""

    @property
    def name(self) -> str: ...
    @property
    def links(self) -> Mapping[str, LinkDescription]: ...
    @property
    def joints(self) -> Mapping[str, JointDescription]: ...
    @property
    def sites(self) -> Mapping[str, tuple[str, Transform]]: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...
    def note(self, element: str, message: str, line: int | None = None) -> None: ...
    def warn(self, element: str, message: str, line: int | None = None) -> None: ...
    def error(self, element: str, message: str, line: int | None = None) -> ModelError: ...
    def description(self) -> Description: ...

"""What a robot's author writes down: links, joints and frames by name, before the tree is known."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from kinetree.base.arguments import as_number, as_numbers, read_fields
from kinetree.errors import ArgumentTypeError, short
from kinetree.model.actuators import Actuator
from kinetree.model.constraints import Constraint
from kinetree.model.findings import Finding
from kinetree.model.fluid import NO_FLUID, DragShape, Fluid
from kinetree.model.geometry import Geometry
from kinetree.model.joints import JOINTS, AxisJoint, BaseVelocity, Joint, JointDynamics
from kinetree.model.joints.dynamics import NONE, PerCoordinate, of_coordinate
from kinetree.model.semantics import Semantics
from kinetree.model.tendons import Tendon
from kinetree.ops import Array
from kinetree.spatial import Inertia, SpatialOrder, Transform

Bounds: TypeAlias = tuple[PerCoordinate, PerCoordinate, PerCoordinate, PerCoordinate]
"""Lower and upper position, speed and effort, each one number for all coordinates of a joint, or one for each."""
UNBOUNDED: Bounds = (-np.inf, np.inf, np.inf, np.inf)


def free_name(name: str, *taken: Container[str], ending: str = "_") -> str:
    """The name, with as many endings as it takes to be none of those that are taken."""
    while any(name in each for each in taken):
        name += ending
    return name


@dataclass(frozen=True)
class Mimic:
    """Position = multiplier · leader's position + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise ArgumentTypeError(f"the joint to mimic is {short(self.joint)}; expected its name")
        read_fields(self, multiplier=as_number, offset=as_number)


SAFETY = ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")
"""What URDF calls the fields of a safety controller."""


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
    compensated: Inertia | None = None
    """The part of the inertia that forces hold up against gravity."""
    drag: tuple[DragShape, ...] = ()
    """What a fluid acts on; by default the box of the inertia."""


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
    bounds: Bounds
    mimic: Mimic | None = None
    dynamics: JointDynamics = NONE
    safety: Safety | None = None
    line: int | None = None
    own: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of its kind: `axis2` of a universal joint, `pitch` of a helical one [m/rad]."""

    @property
    def joint_class(self) -> type[Joint]:
        """The class of joints of its kind."""
        return JOINTS[self.kind]

    @property
    def has_one_axis(self) -> bool:
        """Whether it has one coordinate along or about an axis, so that it can mimic and be mimicked."""
        return issubclass(self.joint_class, AxisJoint)

    def joint(self, mimic: Mimic | None = None, **options: Any) -> Joint:
        """The joint itself; `options` of the model go to kinds that have fields of these names."""
        kind = self.joint_class
        given: dict[str, Any] = {"axis": self.axis, **options, **self.own}
        if kind.nv:
            given["dynamics"] = self.dynamics
        if mimic is not None:
            given |= {"ratio": mimic.multiplier, "offset": mimic.offset, "leader": mimic.joint}
        known = kind.__dataclass_fields__
        return kind(name=self.name, **{name: value for name, value in given.items() if name in known})

    def series(self) -> list[JointDescription]:
        """The revolute and prismatic joints that do the same one after the other, each with its part of limits and
        dynamics, all between the same two links; none if there are no such joints."""
        endings = [ending.replace(".", "_") for ending, _ in self.joint_class.q_labels]
        parts = []
        for k, (kind, axis) in enumerate(self.joint().series):
            lower, upper, velocity, effort = (of_coordinate(bound, k) for bound in self.bounds)
            bounds, dynamics = (lower, upper, velocity, effort), self.dynamics.of_coordinate(k)
            part = replace(self, name=self.name + endings[k], kind=kind, axis=axis, bounds=bounds, dynamics=dynamics)
            parts.append(replace(part, mimic=None, own={}))
        return parts

    @property
    def limits(self) -> tuple[float, float, float, float]:
        """The bounds of a joint with one coordinate."""
        lower, upper, velocity, effort = (float(np.ravel(bound)[0]) for bound in self.bounds)
        return lower, upper, velocity, effort

    def scaled(self, length: float) -> JointDescription:
        """With all lengths times a factor; limits of free joints stay as they are."""
        placement = Transform(self.placement.R, length * self.placement.p)
        lengths = {each.name for each in self.joint_class.parameters if each.unit.startswith("m")}
        own = {name: length * value if name in lengths else value for name, value in self.own.items()}
        scaled = replace(self, placement=placement, own=own)
        slides = [unit == "m" for _, unit in self.joint_class.q_labels]
        if not any(slides) or self.joint_class.nq != self.joint_class.nv:
            return scaled
        factors = length if all(slides) else np.where(slides, length, 1.0)
        lower, upper, velocity = (as_numbers("limit", np.multiply(factors, bound)) for bound in self.bounds[:3])
        bounds = (lower, upper, velocity, self.bounds[3])
        return replace(scaled, bounds=bounds, safety=self.safety and self.safety.scaled(length))


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
    parametric: Mapping[str, bool | tuple[str, ...]]
    """Which numbers are inputs of code, by kind: all, or those of these names."""


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
    postures: Mapping[str, Mapping[str, PerCoordinate]] = field(default_factory=dict)
    """Named postures: positions of some of the joints, by name."""
    base_dynamics: JointDynamics = NONE
    """Of the joint between the world and a floating base."""
    loops: tuple[Constraint, ...] = ()
    """What holds besides the joints of the tree."""
    actuators: tuple[Actuator, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    semantics: Semantics = field(default_factory=Semantics)
    fluid: Fluid = NO_FLUID
    """What surrounds the links."""

"""What there is to know about a robot, as plain numbers and words: the content of `kinetree info`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

import kinetree as kt
from kinetree.model import joints as kinds
from kinetree.model.geometry import Mesh, Shape


@dataclass(frozen=True)
class Mimicry:
    """Position = multiplier · position of the joint + offset."""

    joint: str
    multiplier: float
    offset: float


Bound: TypeAlias = float | list[float | None] | None
PASSIVE = ("armature", "damping", "friction", "stiffness")
"""What a joint does besides moving."""


@dataclass(frozen=True)
class Joint:
    """A joint between two links. None for a bound that is not there; no indices or bounds without own coordinates.

    A bound is a number, or a list where the coordinates of the joint have different ones.
    """

    name: str
    type: str
    parent: str | None
    """None for the world, where the base floats."""
    child: str
    axis: list[float] | None
    """The first one of a universal joint, normal to the plane of a planar one."""
    unit: str | None
    q_index: int | None
    q_size: int
    v_index: int | None
    v_size: int
    lower: Bound
    upper: Bound
    velocity: Bound
    effort: Bound
    armature: Bound
    damping: Bound
    friction: Bound
    stiffness: Bound
    mimics: Mimicry | None


@dataclass(frozen=True)
class Body:
    """What one joint moves: its link and all that is fixed to it."""

    name: str
    joint: str
    parent: str | None
    """None for the world."""
    mass: float
    share: float
    """Of all that moves."""


@dataclass(frozen=True)
class Frame:
    """A link, and the body it is fixed to; None if it is bolted to the world."""

    name: str
    body: str | None


@dataclass(frozen=True)
class Robot:
    """Everything `kinetree info` shows; the keys of its JSON are these fields."""

    name: str
    base: str
    nq: int
    nv: int
    mass: float
    gravity: list[float]
    passive: bool
    """Whether damping, friction and springs of joints are part of the dynamics."""
    root: str
    joints: list[Joint]
    bodies: list[Body]
    frames: list[Frame]
    visuals: int
    """Shapes to look at."""
    collisions: int
    """Shapes to collide with."""
    missing_meshes: list[str]
    """As the file has them; each once."""
    findings: list[kt.Finding]
    warnings: list[str]

    def content(self) -> dict[str, Any]:
        """All of it for JSON."""
        return asdict(self) | {"findings": list(map(told, self.findings))}


def told(finding: kt.Finding) -> dict[str, Any]:
    """A finding for JSON."""
    return {name: getattr(finding, name) for name in ("severity", "element", "line", "message")}


def facts_of(robot: kt.Robot, warnings: Sequence[str] = ()) -> Robot:
    """The facts of a robot; joints depth first, those with coordinates in the order of q and v."""
    model = robot.model
    edges: list[tuple[str, str | None, str]] = [(edge.joint, edge.parent, edge.child) for edge in model.edges]
    if model.floating_base is not None:
        edges.insert(0, (model.floating_base.name, None, model.frames[0].name))
    limits = robot.limits
    links = model.description.links.values() if model.description is not None else ()
    visuals = [visual for link in links for visual in link.visuals]
    collisions = [collision for link in links for collision in link.collisions]
    moving = dict(zip(model.names[1:], model.joints[1:], strict=True))  # by the link that each joint moves
    return Robot(
        name=robot.name,
        base="fixed" if model.floating_base is None else "floating",
        nq=robot.nq,
        nv=robot.nv,
        mass=robot.mass,
        gravity=[float(x) for x in robot.gravity],
        passive=model.passive,
        root=model.frames[0].name,
        joints=[
            _joint(moving.get(child) or kinds.Fixed(name=name), limits, parent, child) for name, parent, child in edges
        ],
        bodies=[_body(robot, i, p) for i, p in model.root_to_tips()],
        frames=[Frame(frame.name, model.names[frame.body] if frame.body else None) for frame in model.frames],
        visuals=len(visuals),
        collisions=len(collisions),
        missing_meshes=_missing([geometry.shape for geometry in (*visuals, *collisions)]),
        findings=list(robot.check()),
        warnings=list(warnings),
    )


def _joint(joint: kinds.Joint, limits: kt.Limits, parent: str | None, child: str) -> Joint:
    owns, along = joint.owns_coordinates, joint if isinstance(joint, kinds.AxisJoint) else None
    axis = getattr(joint, "axis", None)
    return Joint(
        name=joint.name,
        type=joint.kind,
        parent=parent,
        child=child,
        axis=None if axis is None else [float(x) for x in axis],
        unit=_unit(joint),
        q_index=joint.iq if owns else None,
        q_size=joint.nq if owns else 0,
        v_index=joint.iv if owns else None,
        v_size=joint.nv if owns else 0,
        **{name: _bound(getattr(limits, name)[joint.q_slice]) if owns else None for name in ("lower", "upper")},
        **{name: _bound(getattr(limits, name)[joint.v_slice]) if owns else None for name in ("velocity", "effort")},
        **{name: _bound(np.atleast_1d(getattr(joint.dynamics, name))) for name in PASSIVE},
        mimics=None if along is None or along.leader is None else Mimicry(along.leader, along.ratio, along.offset),
    )


def _unit(joint: kinds.Joint) -> str | None:
    """Of its positions, or of what moves them: one for all, or one for each."""
    units = [unit.removesuffix("/s") for _, unit in joint.v_labels]
    if len(set(units)) == 1:
        return units[0]
    return ", ".join(units) if units and joint.nq == joint.nv else None


def _missing(shapes: Sequence[Shape]) -> list[str]:
    """Meshes that have neither a file nor triangles."""
    meshes = [shape for shape in shapes if isinstance(shape, Mesh)]
    return list(dict.fromkeys(mesh.written for mesh in meshes if mesh.path is None and mesh.vertices is None))


def _bound(values: Iterable[float]) -> Bound:
    """One number where all are the same."""
    finite = [float(value) if math.isfinite(value) else None for value in values]
    return finite[0] if len(set(finite)) == 1 else finite


def _body(robot: kt.Robot, i: int, p: int) -> Body:
    model = robot.model
    mass = float(model.inertias[i].mass)
    counts = mass if i in model.moving else 0.0
    share = counts / robot.mass if robot.mass else 0.0
    return Body(model.names[i], model.joints[i].name, model.names[p] if p else None, mass, share)

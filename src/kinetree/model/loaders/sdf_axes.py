"""Axes of SDFormat's joints, with their limits, dynamics and whom they follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.model.description import Mimic
from kinetree.model.joints import JointDynamics
from kinetree.model.joints.dynamics import NONE
from kinetree.model.loaders.sdf_frames import MODEL, WORLD, Frames
from kinetree.model.loaders.sdf_values import Values
from kinetree.model.loaders.xml import Element
from kinetree.ops import Array

KNOWN = ("xyz", "limit", "dynamics", "use_parent_model_frame", "mimic")
LOWER_UPPER = (("lower", -1.0), ("upper", 1.0))
FAR = 1e10
"""Limits beyond are none: SDFormat's defaults are ±1e16."""


@dataclass(frozen=True, eq=False)
class SdfJoint:
    """A joint as it stands in the document, with the full names of its ends."""

    element: Element
    name: str
    scope: str
    kind: str
    parent: str
    child: str
    version: tuple[int, ...]


def named(scope: str, name: str) -> str:
    """The full name of a frame that is called so in a model."""
    return name if name == WORLD else f"{scope}{name}"


def axes_of(values: Values, frames: Frames, joint: SdfJoint, kind: str) -> dict[str, Any]:
    """Axes, limits and dynamics, as the builder takes them."""
    label = f"joint {joint.name!r}"
    axes = [axis for tag in ("axis", "axis2") for axis in joint.element.all(tag)]
    if len(axes) < (2 if kind == "universal" else 1):
        raise values.error(label, "it has too few <axis> elements", joint.element)
    axes = axes[: 2 if kind == "universal" else 1]
    directions, bounds, dynamics = [], [], []
    for axis in axes:
        values.note_others(axis, KNOWN)
        directions.append(_direction(values, frames, joint, label, axis))
        limits = [-math.inf, math.inf, math.inf, math.inf]
        with values.tolerating("it counts as unlimited"):
            limits = _limits(values, label, axis, kind)
        bounds.append(limits)
        dynamics.append(_dynamics(values, label, axis))
    several = {name: [each[k] for each in bounds] for k, name in enumerate(("lower", "upper", "velocity", "effort"))}
    found: dict[str, Any] = {"axis": directions[0], "mimic": _mimic(values, joint, label, axes[0])}
    found |= several if kind == "universal" else {name: each[0] for name, each in several.items()}
    terms = {name: tuple(each[name] for each in dynamics) for name in dynamics[0]}
    if any(any(each) for each in terms.values()):
        with values.builder.located(label, joint.element.line):
            found["dynamics"] = JointDynamics(**{name: v if len(v) > 1 else v[0] for name, v in terms.items()})
    else:
        found["dynamics"] = NONE
    if kind == "universal":
        found["axis2"] = directions[1]
    if kind == "helical":
        found["pitch"] = _pitch(values, joint, label)
    return found


def _direction(values: Values, frames: Frames, joint: SdfJoint, label: str, axis: Element) -> Array:
    """In the joint's frame; in old files, or if they say so, it is given in that of the model or another."""
    element = values.single(label, axis, "xyz")
    given = np.array([0.0, 0.0, 1.0] if element is None else values.numbers(label, element, 3))
    frame = "" if element is None else element.attributes.get("expressed_in", "")
    in_model = values.flag(axis, "use_parent_model_frame", default=joint.version < (1, 5))
    if not frame and not in_model:
        return given
    other = frames.pose(named(joint.scope, frame) if frame else f"{joint.scope}{MODEL}")
    turned: Array = np.linalg.inv(frames.pose(joint.name))[:3, :3] @ (other[:3, :3] @ given)
    return turned


def _limits(values: Values, label: str, axis: Element, kind: str) -> list[float]:
    limit = values.single(label, axis, "limit")
    if limit is None or kind == "continuous":
        lower, upper = -math.inf, math.inf
    else:
        lower, upper = (values.value(label, limit, tag, sign * math.inf) for tag, sign in LOWER_UPPER)
        lower, upper = (bound if abs(bound) < FAR else math.copysign(math.inf, bound) for bound in (lower, upper))
    if lower > upper:
        values.doubt(label, f"lower limit {lower:g} is above upper limit {upper:g}; they are exchanged", axis)
        lower, upper = upper, lower
    velocity, effort = (values.value(label, limit, tag, math.inf) for tag in ("velocity", "effort"))
    return [lower, upper, *(bound if 0.0 <= bound < FAR else math.inf for bound in (velocity, effort))]


def _dynamics(values: Values, label: str, axis: Element) -> dict[str, float]:
    found = values.single(label, axis, "dynamics")
    names = {"damping": "damping", "friction": "friction", "stiffness": "spring_stiffness", "rest": "spring_reference"}
    terms = {name: values.value(label, found, tag, 0.0) for name, tag in names.items()}
    return terms if terms["stiffness"] else terms | {"rest": 0.0}


def _mimic(values: Values, joint: SdfJoint, label: str, axis: Element) -> Mimic | None:
    """Position = multiplier · (leader - reference) + offset."""
    element = values.single(label, axis, "mimic")
    if element is None:
        return None
    leader = values.required(element, "joint", f"{label}, <mimic>")
    ratio, offset, reference = (
        values.value(label, element, tag, default)
        for tag, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
    )
    return Mimic(named(joint.scope, leader), ratio, offset - ratio * reference)


def _pitch(values: Values, joint: SdfJoint, label: str) -> float:
    """[m/rad]: <screw_thread_pitch> is in m for a turn; the older <thread_pitch> is -2π over that."""
    if joint.element.all("screw_thread_pitch"):
        return values.value(label, joint.element, "screw_thread_pitch", 1.0) / (2.0 * math.pi)
    old = values.value(label, joint.element, "thread_pitch", 1.0)
    if not old:
        raise values.error(label, "<thread_pitch> is 0; expected another number", joint.element)
    return -1.0 / old

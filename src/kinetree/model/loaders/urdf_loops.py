"""Loops in URDF, which itself has only trees, by the two ways in which files have them: a <joint> of SDFormat in a
<gazebo> element, at a pose in its child; and Drake's <loop_joint>, at an <origin>-like pose in each of its links."""

from __future__ import annotations

import numpy as np

from kinetree.model.builder import ModelBuilder
from kinetree.model.loaders.closing_joints import CLOSING, close_loop
from kinetree.model.loaders.reading import Reading
from kinetree.model.loaders.xml import Element
from kinetree.ops import Array
from kinetree.spatial.rotation import matrix_from_rpy

AHEAD = (1.0, 0.0, 0.0)
UP = (0.0, 0.0, 1.0)
KINDS = {"ball": "spherical"}
"""Words for a kind of joint that are not URDF's."""
CONSTRAINTS = ("ball_constraint", "distance_constraint", "weld_constraint", "tendon_constraint", "linear_bushing_rpy")
"""Elements of Drake's that hold or push links."""


def add_loops(reading: Reading, robot: Element) -> None:
    """The loops of a document whose links and joints have been added."""
    for element in robot.all("loop_joint"):
        _add(reading.builder, element, *_drake(reading, element))
    for gazebo in robot.all("gazebo"):
        joints = [child for child in gazebo.children if child.tag == "joint"]
        for joint in joints:
            _add(reading.builder, joint, *_gazebo(reading, joint))
        if joints and len(joints) == len(gazebo.children):
            reading.ignored["gazebo"] -= 1
    for element in robot.children:
        if element.tag.partition(":")[0] == "drake" and element.tag.partition(":")[2] in CONSTRAINTS:
            reading.builder.warn(f"<{element.tag}>", "it was ignored, so that links move apart", element.line)


def _add(builder: ModelBuilder, element: Element, ends: list[tuple[str, Array]], axis: Array) -> None:
    name = element.attributes.get("name", "loop")
    kind = element.attributes.get("type", "")
    kind = KINDS.get(kind, kind)
    missing = [link for link, _ in ends if link not in builder.links]
    problem = None
    if missing:
        problem = f"link {missing[0]!r} does not exist"
    elif kind not in CLOSING:
        words = ", ".join((*(each for each in CLOSING if each != "spherical"), *KINDS))
        problem = f"its type is {kind!r}; expected one of {words}"
    elif not np.linalg.norm(axis):
        problem = "its axis is zero"
    if problem:
        builder.warn(f"joint {name!r}", f"it closes a loop and was left out: {problem}", element.line)
    else:
        close_loop(builder, name, kind, (ends[0], ends[1]), axis)


def _drake(reading: Reading, element: Element) -> tuple[list[tuple[str, Array]], Array]:
    label, ends = f"loop_joint {element.attributes.get('name', '')!r}", list[tuple[str, Array]]()
    for tag in ("link1", "link2"):
        link = reading.single(label, element, tag)
        if link is None:
            raise reading.error(label, f"it has no <{tag}>", element)
        xyz, rpy = reading.triple(label, link, "xyz"), reading.triple(label, link, "rpy")
        ends.append((reading.required(link, "link", f"{label}, <{tag}>"), _pose(reading, label, link, [*xyz, *rpy])))
    axis = reading.single(label, element, "axis")
    return ends, np.array(AHEAD if axis is None else reading.triple(label, axis, "xyz", AHEAD))


def _gazebo(reading: Reading, element: Element) -> tuple[list[tuple[str, Array]], Array]:
    label = f"joint {element.attributes.get('name', '')!r}"
    links = [_text(reading, label, element, tag) for tag in ("parent", "child")]
    numbers, place = [0.0] * 6, element
    for place in element.all("pose")[:1]:
        numbers = reading.parsed(label, place, "text", place.text, 6)
    axis = [each for axis in element.all("axis") for each in axis.all("xyz")]
    direction = reading.parsed(label, axis[0], "text", axis[0].text, 3) if axis else UP
    poses = [_at_zero(reading.builder, link) for link in links]
    at = poses[1] @ _pose(reading, label, place, numbers)
    return [(link, np.linalg.inv(T) @ at) for link, T in zip(links, poses, strict=True)], np.array(direction)


def _text(reading: Reading, label: str, element: Element, tag: str) -> str:
    found = reading.single(label, element, tag)
    if found is None or not found.text.strip():
        raise reading.error(label, f"it has no <{tag}>", element)
    return found.text.strip()


def _pose(reading: Reading, label: str, element: Element, numbers: list[float]) -> Array:
    if not np.isfinite(numbers).all():
        raise reading.error(label, f"<{element.tag}> has a pose that is not finite", element)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = matrix_from_rpy(numbers[3:]), numbers[:3]
    return T


def _at_zero(builder: ModelBuilder, link: str) -> Array:
    """The pose of a link in its root when all joints are at zero, (4, 4)."""
    T = np.eye(4)
    above = {joint.child: (joint.parent, joint.placement.pose()) for joint in builder.joints.values()}
    for _ in range(len(above)):
        if link not in above:
            break
        link, pose = above[link]
        T = pose @ T
    return T

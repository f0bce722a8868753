"""URDF: the kinematic, inertial and limit content of a robot description file.

Nothing is dropped without a trace: tags, attributes and text that do not enter the model are listed by `robot.check()`.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from kinetree.errors import short
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import Mimic
from kinetree.model.loaders.xml import Element, parse
from kinetree.ops import Array
from kinetree.spatial import Inertia
from kinetree.spatial.rotation import matrix_from_rpy

KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
CHILDREN = {
    "robot": {"link", "joint"},
    "link": {"inertial"},
    "inertial": {"origin", "mass", "inertia"},
    "joint": {"origin", "parent", "child", "axis", "limit", "mimic"},
}
"""The tags that enter the model, by the element they stand in."""
ATTRIBUTES = {
    "robot": {"name", "version"},
    "link": {"name"},
    "inertial": set(),
    "origin": {"xyz", "rpy"},
    "mass": {"value"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "joint": {"name", "type"},
    "parent": {"link"},
    "child": {"link"},
    "axis": {"xyz"},
    "limit": {"lower", "upper", "velocity", "effort"},
    "mimic": {"joint", "multiplier", "offset"},
}
"""The attributes that are known, by the element they belong to."""


def read_urdf(text: bytes | str, source: str = "URDF") -> ModelBuilder:
    """The links and joints of a URDF document; `source` names it in errors."""
    robot = parse(text, source)
    reader = _Reader(ModelBuilder(robot.attributes.get("name", "robot"), source))
    reader.robot(robot)
    return reader.builder


class _Reader:
    def __init__(self, builder: ModelBuilder) -> None:
        self.builder = builder
        self.ignored: Counter[str] = Counter()
        self.first_line: dict[str, int] = {}

    def robot(self, robot: Element) -> None:
        if robot.tag != "robot":
            raise self.builder.error(f"<{robot.tag}>", "the root element is not <robot>", robot.line)
        for element in robot.children:
            if element.tag.startswith("xacro:"):
                raise self.builder.error(
                    f"<{element.tag}>", "this is a xacro file; expand it to URDF first", element.line
                )
        self.note_unread("robot", robot)
        for link in robot.all("link"):
            self.link(link)
        for joint in robot.all("joint"):
            self.joint(joint)
        for tag, count in self.ignored.items():
            plural = "s were" if count > 1 else " was"
            self.builder.note(f"<{tag}>", f"{count} element{plural} ignored", self.first_line[tag])

    def link(self, link: Element) -> None:
        name = self.required(link, "name", "link")
        label = f"link {name!r}"
        self.note_unread(label, link)
        self.builder.link(name, self.inertia(label, self.single(label, link, "inertial")), line=link.line)

    def inertia(self, label: str, inertial: Element | None) -> Inertia | None:
        if inertial is None:
            return None
        mass_element = self.single(label, inertial, "mass")
        if mass_element is None:
            raise self.builder.error(label, "<inertial> has no <mass>", inertial.line)
        mass = self.number(label, mass_element, "value")
        com, rpy = self.origin(label, inertial)
        rotational = np.zeros((3, 3))
        tensor = self.single(label, inertial, "inertia")
        if tensor is None:
            self.builder.note(label, "<inertial> has no <inertia>; its rotational inertia is zero", inertial.line)
        else:
            for i, j, key in ((0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz")):
                rotational[i, j] = rotational[j, i] = self.number(label, tensor, key)
        R = matrix_from_rpy(rpy)
        return Inertia.from_com(mass, com, R @ rotational @ R.T)

    def joint(self, joint: Element) -> None:
        name = self.required(joint, "name", "joint")
        label = f"joint {name!r}"
        self.note_unread(label, joint)
        kind = self.required(joint, "type", label)
        if kind not in KINDS:
            message = f"type is {kind!r}; expected one of {', '.join(map(repr, KINDS))}"
            raise self.builder.error(label, message, joint.line)
        ends = []
        for role in ("parent", "child"):
            element = self.single(label, joint, role)
            if element is None:
                raise self.builder.error(label, f"it has no <{role}>", joint.line)
            ends.append(self.required(element, "link", f"{label}, <{role}>"))
        xyz, rpy = self.origin(label, joint)
        axis_element = self.single(label, joint, "axis")
        axis = np.array([1.0, 0.0, 0.0])
        if axis_element is not None and kind not in ("fixed", "floating"):
            axis = self.numbers(label, axis_element, "xyz", axis)
        lower, upper, velocity, effort = self.limits(label, kind, joint)
        self.builder.joint(
            name,
            KINDS[kind],
            *ends,
            axis=axis,
            xyz=xyz,
            rpy=rpy,
            lower=lower,
            upper=upper,
            velocity=velocity,
            effort=effort,
            mimic=self.mimic(label, joint),
            line=joint.line,
        )

    def limits(self, label: str, kind: str, joint: Element) -> tuple[float, float, float, float]:
        limit = self.single(label, joint, "limit")
        if limit is None:
            if kind in ("revolute", "prismatic"):
                self.builder.note(label, f"a {kind} joint without <limit>; it is unlimited", joint.line)
            return -math.inf, math.inf, math.inf, math.inf
        lower, upper = self.number(label, limit, "lower", 0.0), self.number(label, limit, "upper", 0.0)
        given = [bound for bound in ("lower", "upper") if bound in limit.attributes]
        if kind not in ("revolute", "prismatic"):
            if kind == "continuous" and given:
                self.builder.note(
                    label, f"it is continuous, so its <limit> {' and '.join(given)} was ignored", limit.line
                )
            lower, upper = -math.inf, math.inf
        elif not given:
            self.builder.note(label, "<limit> has neither lower nor upper, so both are 0", limit.line)
        velocity = self.number(label, limit, "velocity", math.inf)
        effort = self.number(label, limit, "effort", math.inf)
        return lower, upper, velocity, effort

    def mimic(self, label: str, joint: Element) -> Mimic | None:
        mimic = self.single(label, joint, "mimic")
        if mimic is None:
            return None
        leader = self.required(mimic, "joint", f"{label}, <mimic>")
        return Mimic(leader, self.number(label, mimic, "multiplier", 1.0), self.number(label, mimic, "offset", 0.0))

    def origin(self, label: str, element: Element) -> tuple[Array, Array]:
        origin = self.single(label, element, "origin")
        if origin is None:
            return np.zeros(3), np.zeros(3)
        return self.numbers(label, origin, "xyz", np.zeros(3)), self.numbers(label, origin, "rpy", np.zeros(3))

    # -- elements and attributes -------------------------------------------------------------------------------

    def single(self, label: str, element: Element, tag: str) -> Element | None:
        found = list(element.all(tag))
        if len(found) > 1:
            raise self.builder.error(label, f"it has {len(found)} <{tag}> elements; expected one", found[1].line)
        return found[0] if found else None

    def note_unread(self, label: str, element: Element) -> None:
        """Record everything in an element that nobody will read; links and joints of the robot do so themselves."""
        unknown = [key for key in element.attributes if key not in ATTRIBUTES[element.tag] and key[:5] != "xmlns"]
        if unknown:
            self.builder.note(label, f"<{element.tag}> has {', '.join(unknown)}, which was ignored", element.line)
        if text := element.text.strip():
            self.builder.note(
                label, f"<{element.tag}> contains the text {short(text)}, which was ignored", element.line
            )
        for child in element.children:
            if child.tag not in CHILDREN.get(element.tag, ()):
                tag = child.tag if element.tag == "robot" else f"{element.tag}/{child.tag}"
                self.ignored[tag] += 1
                self.first_line.setdefault(tag, child.line)
            elif element.tag != "robot":
                self.note_unread(label, child)

    def required(self, element: Element, attribute: str, label: str) -> str:
        value = element.attributes.get(attribute)
        if not value:
            raise self.builder.error(label, f"it has no {attribute}", element.line)
        return value

    def number(self, label: str, element: Element, attribute: str, default: float | None = None) -> float:
        text = element.attributes.get(attribute)
        if text is None and default is not None:
            return default
        if text is None:
            raise self.builder.error(label, f"<{element.tag}> has no {attribute}", element.line)
        return self.parsed(label, element, attribute, text, 1)[0]

    def numbers(self, label: str, element: Element, attribute: str, default: Array) -> Array:
        text = element.attributes.get(attribute)
        return default if text is None else np.array(self.parsed(label, element, attribute, text, 3))

    def parsed(self, label: str, element: Element, attribute: str, text: str, count: int) -> list[float]:
        expected = "a number" if count == 1 else f"{count} numbers"
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) != count or "_" in text or any(map(math.isnan, values)):
            message = f"<{element.tag}> {attribute} is {text!r}; expected {expected}"
            raise self.builder.error(label, message, element.line)
        return values

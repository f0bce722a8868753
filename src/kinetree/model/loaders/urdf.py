"""URDF: all that a robot description file says about a robot.

Nothing is dropped without a trace: tags, attributes and text that do not enter the model are listed by `robot.check()`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinetree.errors import short
from kinetree.model.bounds import AS_GOOD_AS_ZERO, NO_LIMIT, read_bound
from kinetree.model.builder import ModelBuilder
from kinetree.model.description import SAFETY, Mimic, Safety
from kinetree.model.joints import JOINTS
from kinetree.model.joints.dynamics import NONE
from kinetree.model.joints.kinds import kinds_by_word
from kinetree.model.loaders import urdf_geometry
from kinetree.model.loaders.reading import MOMENTS, ZERO, Reading
from kinetree.model.loaders.resources import Resources
from kinetree.model.loaders.urdf_geometry import GeometryReader
from kinetree.model.loaders.urdf_loops import add_loops
from kinetree.model.loaders.xml import Element, parse, without_space_before
from kinetree.spatial import Inertia
from kinetree.spatial.rotation import matrix_from_rpy

CHILDREN = urdf_geometry.CHILDREN | {
    "robot": {"link", "joint", "material", "loop_joint"},
    "link": {"inertial", "visual", "collision"},
    "inertial": {"origin", "mass", "inertia"},
    "joint": {"origin", "parent", "child", "axis", "limit", "mimic", "dynamics", "safety_controller"},
}
"""The tags that are read, by the element they stand in."""
ATTRIBUTES = urdf_geometry.ATTRIBUTES | {
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
    "dynamics": {"damping", "friction"},
    "safety_controller": set(SAFETY),
}
"""The attributes that are read, by the element they belong to."""
FOREIGN = {
    "sdf": "an SDF file",
    "gazebo": "an SDF file",
    "mujoco": "an MJCF file",
    "mujocoinclude": "a part of an MJCF file",
    "html": "a page of HTML",
    "collada": "a mesh",
    "svg": "a picture",
    "launch": "a launch file",
    "package": "a package's manifest",
}
"""Files that are mistaken for URDF, by their root element."""


def read_urdf(
    text: bytes | str, source: str = "URDF", resources: Resources | None = None, repair: bool = False
) -> ModelBuilder:
    """The links and joints of a URDF document; `source` names it in errors, `resources` finds its meshes."""
    robot = parse(text, source, lambda tag: FOREIGN.get(tag.lower()))
    builder = ModelBuilder(robot.attributes.get("name", "robot"), source, repair)
    begun, _ = without_space_before(text)
    if begun != text and begun[:5] in ("<?xml", b"<?xml"):
        builder.note("<?xml>", "there is space before it; expected it to come first", 1, "warning")
    reader = _Reader(builder, resources or Resources())
    reader.robot(robot)
    return reader.builder


class _Reader(Reading):
    def __init__(self, builder: ModelBuilder, resources: Resources) -> None:
        super().__init__(builder, CHILDREN, ATTRIBUTES)
        self.geometry = GeometryReader(self, resources)
        self.kinds = kinds_by_word("urdf")

    def robot(self, robot: Element) -> None:
        if robot.tag != "robot":
            raise self.error(f"<{robot.tag}>", "the root element is not <robot>", robot)
        self.note_unread("robot", robot)
        self.geometry.collect_materials(robot)
        for link in robot.all("link"):
            self.link(link)
        for joint in robot.all("joint"):
            self.joint(joint)
        add_loops(self, robot)
        self.geometry.note_missing()
        self.note_ignored()

    def link(self, link: Element) -> None:
        name = self.required(link, "name", "link")
        label = f"link {name!r}"
        self.note_unread(label, link)
        self.builder.link(
            name,
            self.inertia(label, self.single(label, link, "inertial")),
            visuals=self.geometry.shapes(label, link.all("visual")),
            collisions=self.geometry.shapes(label, link.all("collision")),
            line=link.line,
        )

    def inertia(self, label: str, inertial: Element | None) -> Inertia | None:
        if inertial is None:
            return None
        mass_element = self.single(label, inertial, "mass")
        if mass_element is None:
            self.fault(label, "<inertial> has no <mass>", inertial, "it has no mass and no inertia")
            return None
        mass = self.number(label, mass_element, "value")
        com, rpy = self.origin(label, inertial)
        if not all(map(math.isfinite, (*com, *rpy))):
            self.fault(label, "<inertial> has an <origin> that is not finite", inertial, "it counts as zero")
            com = rpy = ZERO
        rotational = np.zeros((3, 3))
        tensor = self.single(label, inertial, "inertia")
        if tensor is None:
            self.doubt(label, "<inertial> has no <inertia>; its rotational inertia is zero", inertial)
        else:
            for i, j, key in MOMENTS:
                rotational[i, j] = rotational[j, i] = self.number(label, tensor, key)
        if rpy != ZERO:
            R = matrix_from_rpy(rpy)
            with np.errstate(all="ignore"):  # the builder refuses what is not finite
                rotational = R @ rotational @ R.T
        return Inertia.from_com(mass, com, rotational)

    def joint(self, joint: Element) -> None:
        name = self.required(joint, "name", "joint")
        label = f"joint {name!r}"
        self.note_unread(label, joint)
        kind = self.required(joint, "type", label)
        if kind not in self.kinds:
            message = f"type is {short(kind)}; expected one of {', '.join(map(repr, self.kinds))}"
            raise self.error(label, message, joint)
        ends = []
        for role in ("parent", "child"):
            element = self.single(label, joint, role)
            if element is None:
                raise self.error(label, f"it has no <{role}>", joint)
            ends.append(self.required(element, "link", f"{label}, <{role}>"))
        xyz, rpy = self.origin(label, joint)
        axis_element = self.single(label, joint, "axis")
        axis = (1.0, 0.0, 0.0)
        if axis_element is not None and JOINTS[self.kinds[kind]].has_axis():
            axis = self.triple(label, axis_element, "xyz", axis)
        limits: dict[str, Any] = {}
        with self.tolerating("it counts as unlimited"):
            limits = self.limits(label, kind, joint)
        dynamics = self.single(label, joint, "dynamics")
        self.builder.joint(
            name,
            self.kinds[kind],
            *ends,
            axis=axis,
            xyz=xyz,
            rpy=rpy,
            mimic=self.mimic(label, joint),
            dynamics=NONE if dynamics is None else self.dynamics(label, dynamics),
            safety=self.safety(label, joint),
            line=joint.line,
            **limits,
        )

    def limits(self, label: str, kind: str, joint: Element) -> dict[str, Any]:
        """Bounds of its position, speed and effort, as the builder takes them; none where it is unlimited."""
        limit = self.single(label, joint, "limit")
        has_range = JOINTS[self.kinds[kind]].has_urdf_range()
        if limit is None:
            if has_range:
                self.note(label, f"a {kind} joint without <limit>; it is unlimited", joint)
            return {}
        lower, upper = self.bound(label, limit, "lower", 0.0), self.bound(label, limit, "upper", 0.0)
        given = [bound for bound in ("lower", "upper") if bound in limit.attributes]
        if not has_range:
            if kind != "fixed" and given:
                self.note(label, f"it is {kind}, so its <limit> {' and '.join(given)} was ignored", limit)
            lower, upper = -math.inf, math.inf
        elif not given:
            self.note(label, "<limit> has neither lower nor upper, so both are 0", limit)
        elif lower > upper:
            self.doubt(label, f"lower limit {lower:g} is above upper limit {upper:g}; they are exchanged", limit)
            lower, upper = upper, lower
        velocity = self.bound(label, limit, "velocity", math.inf)
        if velocity == 0.0:  # exporters write that where they know none; nobody means a joint that cannot move
            self.note(label, "its velocity limit is 0, as of one that is not known; it counts as none", limit)
            velocity = math.inf
        if velocity == AS_GOOD_AS_ZERO:
            velocity = 0.0
        effort = self.bound(label, limit, "effort", math.inf)
        return {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}

    def bound(self, label: str, limit: Element, attribute: str, default: float) -> float:
        """A limit; those that no joint reaches are none."""
        value = self.number(label, limit, attribute, default)
        if NO_LIMIT < abs(value) < math.inf:
            self.note(label, f"its {attribute} limit {value:g} is out of reach, so it counts as none", limit)
        return read_bound(value)

    def mimic(self, label: str, joint: Element) -> Mimic | None:
        mimic = self.single(label, joint, "mimic")
        if mimic is None:
            return None
        leader = self.required(mimic, "joint", f"{label}, <mimic>")
        return Mimic(leader, self.number(label, mimic, "multiplier", 1.0), self.number(label, mimic, "offset", 0.0))

    def safety(self, label: str, joint: Element) -> Safety | None:
        safety = self.single(label, joint, "safety_controller")
        if safety is None:
            return None
        if "k_velocity" not in safety.attributes:
            self.note(label, "<safety_controller> has no k_velocity, so it is 0", safety)
        with self.tolerating("its <safety_controller> is left out"):
            return Safety(*(self.number(label, safety, name, 0.0) for name in SAFETY))
        return None

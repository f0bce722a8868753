"""URDF from a description, such that reading it again gives the same dynamics.

Frames that are not links become links without mass. A joint that URDF does not have becomes a series of those it has, a
universal one two revolute ones. What URDF has no words for is refused, unless the loss is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.description import Description, JointDescription, LinkDescription, free_name
from kinetree.model.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from kinetree.model.joints.dynamics import of_coordinate
from kinetree.model.loaders.xml import Element, number, numbers, written
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.rotation import rpy_from_matrix


def urdf(description: Description, lossy: bool = False) -> str:
    """The document; with `lossy`, without what URDF cannot say."""
    description = _split(description)
    lost = list(_inexpressible(description))
    if lost and not lossy:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise ModelError(f"URDF has no words for {lost[0]}{more}; lossy=True leaves it out")
    robot = Element("robot", {"name": description.name})
    for name, link in description.links.items():
        robot.children.append(_link(name, link))
    for joint in description.joints.values():
        robot.children += _joint(joint)
    for name, (on, X) in description.sites.items():
        robot.children.append(Element("link", {"name": name}))
        ends = [Element("parent", {"link": on}), Element("child", {"link": name})]
        fixed = Element("joint", {"name": free_name(f"{name}_site", description.joints), "type": "fixed"})
        fixed.children += [*_origin(X), *ends]
        robot.children.append(fixed)
    return written(robot)


def _split(description: Description) -> Description:
    """With a series of joints and massless links between them in place of each joint that URDF does not have."""
    links, joints = dict(description.links), {}
    taken = {*description.joints, *description.links, *description.sites}
    for name, joint in description.joints.items():
        parts = joint.series() if joint.joint_class.urdf is None else [joint]
        parent, placement = joint.parent, joint.placement
        for k, part in enumerate(parts or [joint], 1):
            own = name if k == 1 else free_name(f"{name}_{k}", taken)
            child = joint.child if k >= len(parts) else free_name(f"{name}_cross", taken)
            taken |= {own, child}
            links.setdefault(child, LinkDescription(Inertia.zero()))
            joints[own] = replace(part, name=own, parent=parent, child=child, placement=placement)
            parent, placement = child, Transform.identity()
    return replace(description, links=links, joints=joints)


def _inexpressible(description: Description) -> Iterable[str]:
    for name, joint in description.joints.items():
        kind = joint.joint_class
        if kind.urdf is None:
            raise ModelError(f"joint {name!r} is {joint.kind}, which URDF has no words for")
        own = joint.dynamics
        for what, value in (("armature", own.armature), ("stiffness", own.stiffness)):
            if np.any(value):
                yield f"the {what} {' '.join(f'{number:g}' for number in np.ravel(value))} of joint {name!r}"
        lower, upper, velocity, effort = joint.bounds
        if kind.nq and not kind.has_urdf_range() and np.isfinite([*np.ravel(lower), *np.ravel(upper)]).any():
            yield f"the position limits of joint {name!r}"
        several = {"velocity limit": velocity, "effort limit": effort, "damping": own.damping, "friction": own.friction}
        for what, value in several.items():
            if len(set(np.ravel(value))) > 1:
                yield f"the {what} of each coordinate of joint {name!r}"
    for name, link in description.links.items():
        for geometry in (*link.visuals, *link.collisions):
            if _shape(geometry.shape) is None:
                yield f"the {type(geometry.shape).__name__.lower()} of link {name!r}"


def _link(name: str, link: LinkDescription) -> Element:
    element = Element("link", {"name": name})
    inertia = link.inertia
    if inertia.mass or np.any(inertia.I):
        about_com = inertia.about_com
        tensor = {
            f"i{'xyz'[i]}{'xyz'[j]}": number(about_com[i, j])
            for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        }
        inertial = Element("inertial")
        inertial.children += [
            Element("origin", {"xyz": numbers(inertia.com)}),
            Element("mass", {"value": number(inertia.mass)}),
            Element("inertia", tensor),
        ]
        element.children.append(inertial)
    for tag, geometries in (("visual", link.visuals), ("collision", link.collisions)):
        element.children += [_geometry(tag, geometry) for geometry in geometries if _shape(geometry.shape) is not None]
    return element


def _geometry(tag: str, geometry: Geometry) -> Element:
    element = Element(tag, {"name": geometry.name} if geometry.name else {})
    shape = _shape(geometry.shape)
    assert shape is not None
    holder = Element("geometry", children=[shape])
    element.children += [*_origin(geometry.placement), holder]
    if tag == "visual" and (geometry.color is not None or geometry.texture is not None):
        material = Element("material", {"name": ""})
        if geometry.color is not None:
            material.children.append(Element("color", {"rgba": numbers(geometry.color)}))
        if geometry.texture is not None:
            material.children.append(Element("texture", {"filename": geometry.texture}))
        element.children.append(material)
    return element


def _shape(shape: Shape) -> Element | None:
    match shape:
        case Box(size=size):
            return Element("box", {"size": numbers(size)})
        case Sphere(radius=radius):
            return Element("sphere", {"radius": number(radius)})
        case Cylinder(radius=radius, length=length):
            return Element("cylinder", {"radius": number(radius), "length": number(length)})
        case Capsule(radius=radius, length=length):
            return Element("capsule", {"radius": number(radius), "length": number(length)})
        case Mesh(path=path, written=name, scale=scale) if name or path:
            at_scale = {} if tuple(scale) == (1.0, 1.0, 1.0) else {"scale": numbers(scale)}
            return Element("mesh", {"filename": name or str(path), **at_scale})
    return None


def _joint(joint: JointDescription) -> list[Element]:
    element = Element("joint", {"name": joint.name, "type": str(joint.joint_class.urdf)})
    element.children += [
        *_origin(joint.placement),
        Element("parent", {"link": joint.parent}),
        Element("child", {"link": joint.child}),
    ]
    if joint.joint_class.has_axis():
        element.children.append(Element("axis", {"xyz": numbers(joint.axis)}))
    element.children += _limit(joint)
    own, mimic, safety = joint.dynamics, joint.mimic, joint.safety
    damping, friction = of_coordinate(own.damping, 0), of_coordinate(own.friction, 0)
    if damping or friction:
        values = {"damping": number(damping), "friction": number(friction)}
        element.children.append(Element("dynamics", values))
    if mimic is not None:
        values = {"joint": mimic.joint, "multiplier": number(mimic.multiplier), "offset": number(mimic.offset)}
        element.children.append(Element("mimic", values))
    if safety is not None:
        values = {
            "soft_lower_limit": number(safety.soft_lower),
            "soft_upper_limit": number(safety.soft_upper),
            "k_position": number(safety.k_position),
            "k_velocity": number(safety.k_velocity),
        }
        element.children.append(Element("safety_controller", values))
    return [element]


SLOWEST = 1e-300
"""The velocity limit [rad/s or m/s] of a joint that cannot move: in URDF, zero is read as none."""


def _limit(joint: JointDescription) -> list[Element]:
    """Infinite limits are written as such, which Python and C++ readers understand."""
    lower, upper, velocity, effort = (of_coordinate(bound, 0) for bound in joint.bounds)
    if not np.isfinite([lower, upper, velocity, effort]).any():
        return []
    velocity = velocity if velocity != 0.0 else SLOWEST
    values = {"effort": number(effort), "velocity": number(velocity)}
    if joint.joint_class.has_urdf_range():
        values = {"lower": number(lower), "upper": number(upper), **values}
    return [Element("limit", values)]


def _origin(X: Transform) -> list[Element]:
    """Where the frame that X leads to sits in the one it comes from."""
    rpy = rpy_from_matrix(X.R.T)
    if not rpy.any() and not X.p.any():
        return []
    return [Element("origin", {"xyz": numbers(X.p), "rpy": numbers(rpy)})]

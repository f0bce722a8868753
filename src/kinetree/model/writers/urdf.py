"""URDF from a description, such that reading it again gives the same dynamics, here and in other readers.

Frames that are not links become links without mass. A joint that URDF does not have becomes a series of those it has, a
universal one two revolute ones; a capsule becomes a cylinder and two spheres. Limits are finite, as urdfdom asks for;
1e10 stands for none. What URDF has no words for is refused, unless the loss is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, replace

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.bounds import AS_GOOD_AS_ZERO, written_bound
from kinetree.model.description import SAFETY, Description, JointDescription, LinkDescription, free_name
from kinetree.model.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from kinetree.model.joints.dynamics import of_coordinate
from kinetree.model.loaders.reading import MOMENTS
from kinetree.model.loaders.xml import Element, number, numbers, written
from kinetree.model.tree import Model
from kinetree.model.writers.losses import check_losses, common_losses, description_of, split
from kinetree.model.writers.mesh_points import MeshFiles, mesh_name
from kinetree.spatial import Transform
from kinetree.spatial.rotation import rpy_from_matrix


def urdf(model: Model, lossy: bool = False, files: MeshFiles | None = None) -> str:
    """The document; with `lossy`, without what URDF cannot say. Meshes that have no file get one of `files`."""
    description = split(description_of(model), lambda joint: joint.joint_class.urdf is not None)
    check_losses("URDF", list(_inexpressible(description, files)), lossy)
    robot = Element("robot", {"name": description.name})
    for name, link in description.links.items():
        robot.children.append(_link(name, link, files))
    for joint in description.joints.values():
        robot.children.append(_joint(joint))
    taken = set(description.joints)
    for name, (on, X) in description.sites.items():
        robot.children.append(Element("link", {"name": name}))
        ends = [Element("parent", {"link": on}), Element("child", {"link": name})]
        fixed = Element("joint", {"name": free_name(f"{name}_site", taken), "type": "fixed"})
        fixed.children += [*_origin(X), *ends]
        taken.add(fixed.attributes["name"])
        robot.children.append(fixed)
    return written(robot)


def _inexpressible(description: Description, files: MeshFiles | None) -> Iterable[str]:
    yield from common_losses(description)
    for name, joint in description.joints.items():
        kind = joint.joint_class
        if kind.urdf is None:
            raise ModelError(f"joint {name!r} is {joint.kind}, which URDF cannot express")
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
            if not isinstance(geometry.shape, Capsule) and _shape(geometry.shape, files) is None:
                has_triangles = isinstance(geometry.shape, Mesh) and geometry.shape.triangles is not None
                why = ", which has no file and gets one only beside a document with a path" if has_triangles else ""
                yield f"the {type(geometry.shape).__name__.lower()} of link {name!r}{why}"


def _link(name: str, link: LinkDescription, files: MeshFiles | None) -> Element:
    element = Element("link", {"name": name})
    inertia = link.inertia
    if inertia.mass or np.any(inertia.I):
        about_com = inertia.about_com
        origin = Element("origin", {"xyz": numbers(inertia.com)})
        mass = Element("mass", {"value": number(inertia.mass)})
        tensor = Element("inertia", {name: number(about_com[i, j]) for i, j, name in MOMENTS})
        element.children.append(Element("inertial", children=[origin, mass, tensor]))
    for tag, geometries in (("visual", link.visuals), ("collision", link.collisions)):
        for geometry in (part for each in geometries for part in _parts(each)):
            if (shape := _shape(geometry.shape, files)) is not None:
                element.children.append(_geometry(tag, geometry, shape))
    return element


def _geometry(tag: str, geometry: Geometry, shape: Element) -> Element:
    element = Element(tag, {"name": geometry.name} if geometry.name else {})
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


def _parts(geometry: Geometry) -> list[Geometry]:
    """The shape, or a cylinder and two spheres for a capsule: where urdfdom meets one in a document of version 1.0, it
    drops all shapes of the link that come after, and versions before 5 read no other document."""
    if not isinstance(geometry.shape, Capsule):
        return [geometry]
    radius, length, X = geometry.shape.radius, geometry.shape.length, geometry.placement
    parts = [replace(geometry, shape=Cylinder(radius, length))]
    for ending, z in (("_top", 0.5 * length), ("_bottom", -0.5 * length)):
        placement = Transform(X.R, X.p + X.R.T @ np.array([0.0, 0.0, z]))
        name = geometry.name and geometry.name + ending
        parts.append(replace(geometry, shape=Sphere(radius), placement=placement, name=name))
    return parts


def _shape(shape: Shape, files: MeshFiles | None) -> Element | None:
    match shape:
        case Box() | Sphere() | Cylinder():
            sizes = {name: numbers(np.ravel(size)) for name, size in vars(shape).items()}
            return Element(type(shape).__name__.lower(), sizes)
        case Mesh(scale=scale):
            name = mesh_name(shape, files)
            at_scale = {} if tuple(scale) == (1.0, 1.0, 1.0) else {"scale": numbers(scale)}
            return Element("mesh", {"filename": name, **at_scale}) if name else None
    return None


def _joint(joint: JointDescription) -> Element:
    element = Element("joint", {"name": joint.name, "type": str(joint.joint_class.urdf)})
    ends = [Element("parent", {"link": joint.parent}), Element("child", {"link": joint.child})]
    element.children += [*_origin(joint.placement), *ends]
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
        values = {name: number(value) for name, value in zip(SAFETY, astuple(safety), strict=True)}
        element.children.append(Element("safety_controller", values))
    return element


def _limit(joint: JointDescription) -> list[Element]:
    """urdfdom asks for limits of revolute and prismatic joints, and cannot read infinity. A velocity limit of zero is
    read as none, so that of a joint that cannot move is nearly zero."""
    bounds = [of_coordinate(bound, 0) for bound in joint.bounds]
    has_range = joint.joint_class.has_urdf_range()
    if not np.isfinite(bounds).any() and not has_range:
        return []
    lower, upper, velocity, effort = map(written_bound, bounds)
    values = {"effort": number(effort), "velocity": number(velocity or AS_GOOD_AS_ZERO)}
    if has_range:
        values = {"lower": number(lower), "upper": number(upper), **values}
    return [Element("limit", values)]


def _origin(X: Transform) -> list[Element]:
    """Where the frame that X leads to sits in the one it comes from."""
    rpy = rpy_from_matrix(X.R.T)
    if not rpy.any() and not X.p.any():
        return []
    return [Element("origin", {"xyz": numbers(X.p), "rpy": numbers(rpy)})]

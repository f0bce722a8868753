"""Shapes in SDFormat; those that cannot be read are left out, and listed."""

from __future__ import annotations

import math
from collections.abc import Callable

from kinetree.model.geometry import Box, Capsule, Color, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from kinetree.model.loaders.resources import Resources
from kinetree.model.loaders.sdf_values import Values
from kinetree.model.loaders.xml import Element
from kinetree.spatial import Transform


def shapes(values: Values, label: str, elements: list[Element], resources: Resources) -> list[Geometry]:
    """The shapes of <visual> or <collision> elements."""
    found = []
    for element in elements:
        with values.tolerating(f"its <{element.tag}> is left out"):
            holder = values.single(label, element, "geometry")
            known = [] if holder is None else [child for child in holder.children if child.tag in SHAPES]
            if not known:
                kinds = ", ".join(child.tag for child in holder.children) if holder is not None else ""
                values.note(label, f"<{element.tag}> has no shape that is known ({kinds}), so it was left out", element)
                continue
            shape = SHAPES[known[0].tag](values, label, known[0], resources)
            placement = Transform.from_pose(values.pose(label, element))
            found.append(Geometry(shape, placement, element.attributes.get("name", ""), _color(values, label, element)))
    return found


def _color(values: Values, label: str, element: Element) -> Color | None:
    for material in element.all("material"):
        for diffuse in material.all("diffuse"):
            given = values.numbers(label, diffuse, 3, 4)
            red, green, blue, *opacity = (min(max(value, 0.0), 1.0) for value in given)
            return red, green, blue, opacity[0] if opacity else 1.0
    return None


def _size(values: Values, label: str, element: Element, tag: str, count: int = 1) -> tuple[float, ...]:
    child = values.single(label, element, tag)
    if child is None:
        raise values.error(label, f"<{element.tag}> has no <{tag}>", element)
    sizes = values.numbers(label, child, count)
    if not all(0.0 <= size < math.inf for size in sizes):
        raise values.error(label, f"<{tag}> is {child.text.strip()!r}; expected zero or more, and finite", child)
    return tuple(sizes)


def _box(values: Values, label: str, element: Element, resources: Resources) -> Box:
    x, y, z = _size(values, label, element, "size", 3)
    return Box((x, y, z))


def _sphere(values: Values, label: str, element: Element, resources: Resources) -> Sphere:
    return Sphere(*_size(values, label, element, "radius"))


def _cylinder(values: Values, label: str, element: Element, resources: Resources) -> Cylinder:
    return Cylinder(*_size(values, label, element, "radius"), *_size(values, label, element, "length"))


def _capsule(values: Values, label: str, element: Element, resources: Resources) -> Capsule:
    return Capsule(*_size(values, label, element, "radius"), *_size(values, label, element, "length"))


def _ellipsoid(values: Values, label: str, element: Element, resources: Resources) -> Ellipsoid:
    x, y, z = _size(values, label, element, "radii", 3)
    return Ellipsoid((x, y, z))


def _plane(values: Values, label: str, element: Element, resources: Resources) -> Plane:
    for normal in element.all("normal"):
        if list(values.numbers(label, normal, 3)) != [0.0, 0.0, 1.0]:
            raise values.error(label, f"<plane> has the normal {normal.text.strip()!r}; expected 0 0 1", normal)
    return Plane()


def _mesh(values: Values, label: str, element: Element, resources: Resources) -> Mesh:
    uri = values.single(label, element, "uri")
    if uri is None or not uri.text.strip():
        raise values.error(label, "<mesh> has no <uri>", element)
    written = uri.text.strip()
    path = resources.find(written)
    if path is None:
        values.note(label, f"mesh {written!r} was not found", uri)
    x, y, z = values.numbers_in(label, element, "scale", 3, (1.0, 1.0, 1.0))
    return Mesh(path, written, (x, y, z))


SHAPES: dict[str, Callable[[Values, str, Element, Resources], Shape]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "drake:capsule": _capsule,
    "ellipsoid": _ellipsoid,
    "drake:ellipsoid": _ellipsoid,
    "plane": _plane,
    "mesh": _mesh,
}

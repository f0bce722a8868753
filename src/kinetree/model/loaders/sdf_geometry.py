"""Shapes in SDFormat; those that cannot be read are left out, and listed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from kinetree.model.geometry import PRIMITIVES, Color, Geometry, Mesh, Plane, Primitive, Shape
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


def _primitive(values: Values, label: str, element: Element, resources: Resources) -> Primitive:
    kind = PRIMITIVES[element.tag.removeprefix("drake:")]
    return kind(*(_size(values, label, element, size.name) for size in fields(kind)))


def _size(values: Values, label: str, element: Element, tag: str) -> Any:
    """One number, or three."""
    child = values.single(label, element, tag)
    if child is None:
        raise values.error(label, f"<{element.tag}> has no <{tag}>", element)
    sizes = values.numbers(label, child, 3 if tag in ("size", "radii") else 1)
    if not all(0.0 <= size < math.inf for size in sizes):
        raise values.error(label, f"<{tag}> is {child.text.strip()!r}; expected zero or more, and finite", child)
    return sizes[0] if len(sizes) == 1 else tuple(sizes)


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
    x, y, z = values.numbers_in(label, element, "scale", (1.0, 1.0, 1.0))
    return Mesh(path, written, (x, y, z))


SHAPES: dict[str, Callable[[Values, str, Element, Resources], Shape]] = {
    **dict.fromkeys((*PRIMITIVES, "drake:capsule", "drake:ellipsoid"), _primitive),
    "plane": _plane,
    "mesh": _mesh,
}

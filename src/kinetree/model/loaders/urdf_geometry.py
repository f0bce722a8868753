"""The shapes in a URDF: what a link looks like (<visual>) and collides with (<collision>).

No mesh is read here: its file is looked for, and what is missing is listed by `robot.check()`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kinetree.model.geometry import PRIMITIVES, Color, Geometry, Mesh, Primitive, Shape
from kinetree.model.loaders.reading import Reading
from kinetree.model.loaders.resources import Resources
from kinetree.model.loaders.xml import Element
from kinetree.spatial import Transform
from kinetree.spatial.rotation import matrix_from_rpy

CHILDREN: dict[str, set[str]] = {
    "visual": {"origin", "geometry", "material"},
    "collision": {"origin", "geometry", "material"},
    "geometry": {"box", "cylinder", "sphere", "capsule", "drake:capsule", "mesh"},
    "material": {"color", "texture"},
}
ATTRIBUTES: dict[str, set[str]] = {
    "visual": {"name"},
    "collision": {"name"},
    "geometry": set(),
    "box": {"size"},
    "cylinder": {"radius", "length"},
    "sphere": {"radius"},
    "capsule": {"radius", "length"},
    "drake:capsule": {"radius", "length"},
    "mesh": {"filename", "scale"},
    "material": {"name"},
    "color": {"rgba"},
    "texture": {"filename"},
}
ONE = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Material:
    """A colour, a picture, or neither."""

    color: Color | None = None
    texture: str | None = None
    says_something: bool = False
    """Also if its picture was not found."""


@dataclass(frozen=True)
class Missing:
    """A file that was not found."""

    what: str
    written: str
    label: str
    line: int


class GeometryReader:
    """Reads shapes for the reader of a document."""

    def __init__(self, reading: Reading, resources: Resources) -> None:
        self.reading = reading
        self.resources = resources
        self.materials: dict[str, Material] = {}
        self.missing: dict[str, Missing] = {}
        self.undefined: set[str] = set()

    # -- shapes ------------------------------------------------------------------------------------------------

    def shapes(self, label: str, elements: Iterable[Element]) -> list[Geometry]:
        """The shapes of <visual> or <collision> elements, where they have one."""
        found = []
        for element in elements:
            with self.reading.tolerating(f"its <{element.tag}> is left out"):
                shape = self.shape(label, element)
                if shape is not None:
                    placement, material = self.placement(label, element), Material()
                    with self.reading.tolerating("its material is left out"):
                        material = self.material(label, element)
                    name = element.attributes.get("name", "")
                    found.append(Geometry(shape, placement, name, material.color, material.texture))
        return found

    def shape(self, label: str, element: Element) -> Shape | None:
        geometry = self.reading.single(label, element, "geometry")
        if geometry is None:
            self.reading.note(label, f"<{element.tag}> has no <geometry>, so it was left out", element)
            return None
        known = [child for child in geometry.children if child.tag in SHAPES]
        if not known:
            self.reading.note(label, f"<{element.tag}> has no shape that is known, so it was left out", geometry)
            return None
        if len(known) > 1:
            self.reading.doubt(
                label, f"<geometry> has {len(known)} shapes; expected one, and the first counts", known[1]
            )
        return SHAPES[known[0].tag](self, label, known[0])

    def placement(self, label: str, element: Element) -> Transform:
        """^shape X_link from the pose of the shape in the link."""
        xyz, rpy = self.reading.origin(label, element)
        if not all(map(math.isfinite, (*xyz, *rpy))):
            raise self.reading.error(label, f"<{element.tag}> has an <origin> that is not finite", element)
        return Transform(matrix_from_rpy(rpy).T, np.array(xyz))

    def primitive(self, label: str, element: Element) -> Primitive:
        kind = PRIMITIVES[element.tag.removeprefix("drake:")]
        return kind(*(self.size(label, element, size.name) for size in fields(kind)))

    def mesh(self, label: str, element: Element) -> Mesh:
        written = self.reading.required(element, "filename", f"{label}, <mesh>").strip()
        scale = self.scale(label, element)
        if not all(map(math.isfinite, scale)):
            raise self.reading.error(label, "<mesh> scale is not finite", element)
        if 0.0 in scale:
            self.reading.note(label, "<mesh> scale is zero along an axis", element)
        return Mesh(self.found(label, element, "mesh", written), written, scale)

    def scale(self, label: str, element: Element) -> tuple[float, float, float]:
        text = element.attributes.get("scale", "")
        if len(text.split()) != 1:
            return self.reading.triple(label, element, "scale", ONE)
        factor = self.reading.number(label, element, "scale")
        self.reading.doubt(label, f"<mesh> scale is {text!r}; expected 3 numbers, and it counts for all axes", element)
        return factor, factor, factor

    def size(self, label: str, element: Element, attribute: str) -> Any:
        """Three lengths of a box, or one."""
        read = self.reading
        size: Any = read.triple(label, element, attribute, None) if attribute == "size" else None
        values = (read.number(label, element, attribute),) if size is None else size
        if not all(0.0 <= value < math.inf for value in values):
            written = element.attributes[attribute]
            message = f"<{element.tag}> {attribute} is {written!r}; expected zero or more, and finite"
            raise self.reading.error(label, message, element)
        if 0.0 in values:
            self.reading.note(label, f"<{element.tag}> {attribute} is zero", element)
        return values[0] if size is None else size

    # -- materials ---------------------------------------------------------------------------------------------

    def collect_materials(self, robot: Element) -> None:
        """Those that stand in the robot itself, to be used by name."""
        for element in robot.all("material"):
            name = self.reading.required(element, "name", "material")
            label = f"material {name!r}"
            self.reading.note_unread(label, element)
            if name in self.materials:
                self.reading.note(label, "it is defined twice; the first counts", element)
            else:
                with self.reading.tolerating("it is left out"):
                    self.materials[name] = self.defined(label, element)

    def material(self, label: str, element: Element) -> Material:
        """What the shape's own <material> says, otherwise what that of the same name says."""
        own = self.reading.single(label, element, "material")
        if own is None:
            return Material()
        name, material = own.attributes.get("name", ""), self.defined(label, own)
        if material.says_something:
            if name:
                self.materials.setdefault(name, material)
            return material
        if name and name not in self.materials and name not in self.undefined:
            self.undefined.add(name)
            self.reading.note(label, f"material {name!r} is not defined here or before", own)
        return self.materials.get(name, material)

    def defined(self, label: str, element: Element) -> Material:
        color, texture = (self.reading.single(label, element, tag) for tag in ("color", "texture"))
        rgba = None if color is None else self.color(label, color)
        written = "" if texture is None else texture.attributes.get("filename", "").strip()
        if texture is None or not written:
            return Material(rgba, None, rgba is not None)
        return Material(rgba, self.found(label, texture, "texture", written), True)

    def color(self, label: str, element: Element) -> Color:
        text = element.attributes.get("rgba")
        if text is None:
            raise self.reading.error(label, "<color> has no rgba", element)
        given = self.reading.parsed(label, element, "rgba", text, 4)
        red, green, blue, opacity = (min(max(value, 0.0), 1.0) for value in given)
        if [red, green, blue, opacity] != given:
            self.reading.note(label, f"<color> rgba is {text!r}; it was clipped to 0 to 1", element)
        return red, green, blue, opacity

    # -- files -------------------------------------------------------------------------------------------------

    def found(self, label: str, element: Element, what: str, written: str) -> str | None:
        path = self.resources.find(written)
        if path is None:
            self.missing.setdefault(written, Missing(what, written, label, element.line))
        return path

    def note_missing(self) -> None:
        """One remark for each file that was not found, or for all of a package that was not."""
        absent: dict[str, list[Missing]] = {}
        for missing in self.missing.values():
            package = self.resources.package_of(missing.written)
            if package is None or self.resources.package(package) is not None:
                message = f"{missing.what} {missing.written!r} was not found"
                self.reading.builder.note(missing.label, message, missing.line)
            else:
                absent.setdefault(package, []).append(missing)
        for package, files in absent.items():
            first, count = files[0], len(files)
            which = f"{count} of its files, the first" if count > 1 else "its file"
            message = f"package {package!r} was not found, and so {which} {first.written!r}"
            self.reading.builder.note(first.label, f"{message}; name its folder in package_dirs", first.line)


SHAPES: dict[str, Callable[[GeometryReader, str, Element], Shape]] = {
    **dict.fromkeys(("box", "sphere", "cylinder", "capsule", "drake:capsule"), GeometryReader.primitive),
    "mesh": GeometryReader.mesh,
}

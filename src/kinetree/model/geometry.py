"""What a link looks like and what it collides with: shapes, placed in the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from kinetree.ops import Array
from kinetree.spatial import Transform

Triple: TypeAlias = tuple[float, float, float]
Color: TypeAlias = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""


@dataclass(frozen=True)
class Box:
    """Full side lengths [m], centred at the origin."""

    size: Triple


@dataclass(frozen=True)
class Sphere:
    """About the origin; radius in m."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid:
    """About the origin; half axes in m."""

    radii: Triple


@dataclass(frozen=True)
class Cylinder:
    """Along z, centred at the origin; in m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half spheres at both ends; `length` is that of the cylinder alone [m]."""

    radius: float
    length: float


Primitive: TypeAlias = Box | Sphere | Ellipsoid | Cylinder | Capsule
PRIMITIVES: dict[str, type[Primitive]] = {
    kind.__name__.lower(): kind for kind in (Box, Sphere, Ellipsoid, Cylinder, Capsule)
}
"""By name; URDF and SDFormat have the same names for them and for their sizes, one number or three."""


@dataclass(frozen=True)
class Plane:
    """z = 0, without end, or a rectangle of these half lengths [m]."""

    half_size: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles from a file, or given as vertices (n, 3) [m] and corner indices (m, 3)."""

    path: str | None = None
    """The file where it was found; None if the mesh has none, or it was not found."""
    written: str = ""
    """As the model's author wrote it, such as package://arm/meshes/elbow.stl."""
    scale: Triple = (1.0, 1.0, 1.0)
    vertices: Array | None = None
    triangles: Array | None = None


Shape: TypeAlias = Primitive | Plane | Mesh


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape fixed to a link."""

    shape: Shape
    placement: Transform = field(default_factory=Transform.identity)
    """^shape X_link."""
    name: str = ""
    color: Color | None = None
    texture: str | None = None


def scaled(geometry: Geometry, length: float) -> Geometry:
    """With all lengths times a factor."""
    X, shape = geometry.placement, geometry.shape
    return replace(geometry, shape=_scaled(shape, length), placement=Transform(X.R, length * X.p))


def _scaled(shape: Shape, s: float) -> Shape:
    match shape:
        case Plane(half_size=half):
            return Plane(half and (s * half[0], s * half[1]))
        case Mesh(scale=(x, y, z)):
            return replace(shape, scale=(s * x, s * y, s * z))
    sizes: list[Any] = [
        tuple(s * x for x in size) if isinstance(size, Sequence) else s * size for size in vars(shape).values()
    ]
    return type(shape)(*sizes)

"""What a robot stands on: the lowest points of what it collides with, and their convex hull."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.geometry.surfaces import plain_surfaces
from kinetree.model.geometry import Capsule, Geometry, Plane, Sphere
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array
from kinetree.robot import Robot

TOUCHING = 0.01
"""How far above the lowest point others may be to count as touching the ground [m]."""
DIRECTIONS = 100
"""In which the farthest points of a mesh are kept."""


class Ground:
    """The points of a robot that touch the ground: those of its collision shapes, or of its visuals if it has none.

    `links` are the frames whose link may touch it; all, if not given.
    """

    def __init__(self, robot: Robot, links: Iterable[str] | None = None) -> None:
        self.robot = robot
        names = None if links is None else set(links)
        bodies, points, radii = [], [], []
        for frame, pose, geometry in placed_shapes(robot.model, "collision") or placed_shapes(robot.model, "visual"):
            if not isinstance(geometry.shape, Plane) and (names is None or frame.name in names):
                local, radius = _extreme(geometry)
                bodies += [frame.body] * len(local)
                points.append(local @ pose[:3, :3].T + pose[:3, 3])
                radii.append(np.full(len(local), radius))
        self.bodies = np.array(bodies, dtype=int)
        self.points = np.vstack(points) if points else np.zeros((0, 3))
        self.radii = np.concatenate(radii) if radii else np.zeros(0)

    def lowest(self, q: Array) -> Array:
        """The lowest point of every corner of every shape, in the world, (n, 3) [m]."""
        poses = np.concatenate([np.eye(4)[None], self.robot.poses(q)])[self.bodies]
        world = np.einsum("nij,nj->ni", poses[:, :3, :3], self.points) + poses[:, :3, 3]
        world[:, 2] -= self.radii
        return world

    def height(self, q: Array) -> float:
        """The height of the lowest point of what moves [m]; infinite where nothing does."""
        moving = np.isin(self.bodies, self.robot.model.moving)
        return float(self.lowest(q)[moving, 2].min(initial=np.inf))

    def touching(self, q: Array, tolerance: float = TOUCHING) -> Array:
        """The points at most `tolerance` above the lowest one, (n, 3) [m]."""
        world = self.lowest(q)
        moving = np.isin(self.bodies, self.robot.model.moving)
        world = world[moving] if moving.any() else world
        return world[world[:, 2] <= world[:, 2].min(initial=np.inf) + tolerance]

    def polygon(self, q: Array, tolerance: float = TOUCHING) -> Array:
        """The support polygon: the convex hull of `touching` seen from above, counter-clockwise, (k, 2) [m]."""
        return convex_hull(self.touching(q, tolerance)[:, :2])


def convex_hull(points: Array) -> Array:
    """The corners of the convex hull of points in a plane, (n, 2), counter-clockwise (Andrew 1979)."""
    ordered = np.unique(np.round(points, 9), axis=0)
    if len(ordered) < 3:
        return ordered
    chains = []
    for points_of_chain in (ordered, ordered[::-1]):
        chain: list[Array] = []
        for p in points_of_chain:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    return np.array([*chains[0], *chains[1]])


def _turn(a: Array, b: Array, c: Array) -> float:
    """Positive for a turn to the left on the way from a by b to c."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def placed_shapes(model: Model, kind: str) -> list[tuple[FramePlacement, Array, Geometry]]:
    """Every "visual" or "collision" shape of the links, with its frame and its pose in the frame's body, (4, 4)."""
    links = {} if model.description is None else model.description.links
    return [
        (model.frame(name), (geometry.placement * model.frame(name).X).pose(), geometry)
        for name, link in links.items()
        for geometry in (link.visuals if kind == "visual" else link.collisions)
    ]


def margin(polygon: Array, point: Array) -> float:
    """The distance of a point to the edges of a convex polygon, counter-clockwise (k, 2) [m]; negative outside."""
    if len(polygon) < 3:
        return -float(np.min(np.linalg.norm(polygon - point, axis=1))) if len(polygon) else -np.inf
    edges = np.roll(polygon, -1, axis=0) - polygon
    lengths = np.linalg.norm(edges, axis=1)
    to = point - polygon
    inward = (edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0]) / lengths
    if inward.min() >= 0.0:
        return float(inward.min())
    part = np.clip(np.einsum("ij,ij->i", to, edges) / lengths**2, 0.0, 1.0)
    return -float(np.linalg.norm(to - part[:, None] * edges, axis=1).min())


def _extreme(geometry: Geometry) -> tuple[Array, float]:
    """Points whose hull a shape is, in its frame, and a radius around them."""
    match geometry.shape:
        case Sphere(radius=r):
            return np.zeros((1, 3)), r
        case Capsule(radius=r, length=length):
            return np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]]), r
    try:
        vertices = np.vstack([surface.vertices for surface in plain_surfaces(geometry.shape)])
    except KinetreeError:  # a mesh that is missing, which the viewer warns of
        return np.zeros((0, 3)), 0.0
    if len(vertices) > DIRECTIONS:
        heights = vertices.astype(np.float32) @ _sphere(DIRECTIONS).astype(np.float32).T
        vertices = vertices[np.unique(np.argmax(heights, axis=0))]
    return vertices, 0.0


def _sphere(count: int) -> Array:
    """Directions spread evenly (a Fibonacci lattice), (count, 3)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    around = np.pi * (1.0 + np.sqrt(5.0)) * k
    return np.stack([np.sqrt(1.0 - z * z) * np.cos(around), np.sqrt(1.0 - z * z) * np.sin(around), z], axis=1)

"""Joints that close a kinematic loop, as constraints between frames on both links.

A fixed one holds frames together, a ball their origins. A hinge holds two points of its axis: six equations, of which
one is redundant.
"""

from __future__ import annotations

import numpy as np

from kinetree.model.builder import ModelBuilder
from kinetree.model.constraints import Loop
from kinetree.model.description import free_name
from kinetree.ops import Array

CLOSING = ("fixed", "spherical", "revolute", "continuous")
"""Kinds of joints that can close a loop."""
APART = 0.1
"""The distance of two points on the axis of a hinge [m]."""


def close_loop(
    builder: ModelBuilder, name: str, kind: str, ends: tuple[tuple[str, Array], tuple[str, Array]], axis: Array
) -> None:
    """Adds the loops of a joint that is at these poses on two links, with its axis in its own frame."""
    points = [np.zeros(3)]
    if kind in ("revolute", "continuous"):
        points.append(APART * np.asarray(axis) / np.linalg.norm(axis))
    for k, point in enumerate(points):
        names = [f"{name}{'_axis' * k}_{i}" for i in (1, 2)]
        frames = [add_frame(builder, own, link, T, point) for own, (link, T) in zip(names, ends, strict=True)]
        builder.loop(Loop(frames[0], frames[1], "rigid" if kind == "fixed" else "point"))


def add_frame(builder: ModelBuilder, name: str, link: str, T: Array, point: Array | None = None) -> str:
    """A new frame at a pose in a link, or at a point of it; its name, which may be another."""
    name = free_name(name, builder.links, builder.sites)
    xyz = T[:3, 3] if point is None else T[:3, 3] + T[:3, :3] @ point
    builder.frame(name, link, xyz=xyz, rotation=orthonormal(T[:3, :3]))
    return name


def orthonormal(R: Array) -> Array:
    """Without what products of several rotations leave of rounding."""
    U, _, V = np.linalg.svd(R)
    closest: Array = U @ V
    return closest

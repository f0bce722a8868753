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
        frames = [_frame(builder, f"{name}{'_axis' * k}_{i}", link, T, point) for i, (link, T) in enumerate(ends, 1)]
        builder.loop(Loop(frames[0], frames[1], "rigid" if kind == "fixed" else "point"))


def _frame(builder: ModelBuilder, name: str, link: str, T: Array, point: Array) -> str:
    """A new frame at a point of a pose in a link."""
    name = free_name(name, builder.links, builder.sites)
    U, _, V = np.linalg.svd(T[:3, :3])  # without what products of several rotations leave of rounding
    builder.frame(name, link, xyz=T[:3, 3] + T[:3, :3] @ point, rotation=U @ V)
    return name

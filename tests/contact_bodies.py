"""Bodies for tests of contact: balls, boxes, stacks of boxes, and inclined ground."""

from functools import cache

import numpy as np

import kinetree as kt
from kinetree.model.geometry import Box, Geometry, Sphere
from kinetree.simulation import Touch

ALL = ("contact_forces", "contact_gaps", "contact_residual")


def one_body(inertia, shape, **options):
    """A free body, named 'body', that collides as a shape."""
    builder = kt.ModelBuilder("body")
    builder.link("body", inertia, collisions=[Geometry(shape)])
    return kt.Robot(builder.build(base="floating", **options))


@cache
def ball(mass=1.0, radius=0.1, **options):
    return one_body(kt.solids.sphere(radius, mass=mass), Sphere(radius), **options)


@cache
def box(size=(0.4, 0.3, 0.2), mass=2.0, **options):
    return one_body(kt.solids.box(size, mass=mass), Box(size), **options)


@cache
def stack(sizes, masses):
    """Boxes that float free of each other, 'box0' below."""
    builder = kt.ModelBuilder("stack")
    builder.link("ground")
    for k, (size, mass) in enumerate(zip(sizes, masses, strict=True)):
        builder.link(f"box{k}", kt.solids.box(size, mass=mass), collisions=[Geometry(Box(size))])
        builder.joint(f"free{k}", "free", "ground", f"box{k}")
    return kt.Robot(builder.build())


def bottom(size=(0.4, 0.3, 0.2)):
    """The four lower corners of a box: code for them is made in a third of the time."""
    x, y, z = 0.5 * np.array(size)
    return [Touch("body", (a, b, -z)) for a in (-x, x) for b in (-y, y)]


def placed(robot, position, angle=0.0, axis=(0.0, 1.0, 0.0)):
    """q of one free body, turned about an axis."""
    q = robot.neutral()
    q[:3] = position
    q[3:7] = [*(np.sin(0.5 * angle) * np.array(axis)), np.cos(0.5 * angle)]
    return q


def incline(angle):
    """The normal of ground that goes down along x."""
    return np.sin(angle), 0.0, np.cos(angle)


def energy(robot, path):
    return robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)

"""Shapes of links, larger or smaller: each point goes as far from the origin as the factor says."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.geometry.surfaces import plain_surfaces
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere, scaled
from kinetree.spatial import Transform

TETRAHEDRON = Mesh(
    scale=(1.0, -2.0, 0.5),
    vertices=np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    triangles=np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)
SHAPES = [
    *(Box((0.2, 0.4, 0.6)), Sphere(0.3), Ellipsoid((0.1, 0.2, 0.3)), Cylinder(0.2, 0.5), Capsule(0.2, 0.5)),
    *(Plane((2.0, 3.0)), TETRAHEDRON),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_scaled(shape):
    X = Transform(np.diag([1.0, -1.0, -1.0]), np.array([0.1, -0.2, 0.3]))
    before = Geometry(shape, X, "cover", (1.0, 0.0, 0.0, 1.0), "wood.png")
    after = scaled(before, 3.0)
    (small,), (large,) = plain_surfaces(before.shape), plain_surfaces(after.shape)
    np.testing.assert_allclose(large.vertices, 3.0 * small.vertices, atol=1e-12)
    np.testing.assert_array_equal(large.triangles, small.triangles)
    np.testing.assert_allclose(after.placement.p, [0.3, -0.6, 0.9])
    np.testing.assert_array_equal(after.placement.R, X.R)
    assert (after.name, after.color, after.texture) == (before.name, before.color, before.texture)


def test_a_plane_without_end_has_none():
    assert scaled(Geometry(Plane()), 2.0).shape == Plane()


def test_what_is_seen_of_a_scaled_robot_grows_with_it():
    small = kt.load("arm6")
    large = kt.edit.scale(small, 2.0)
    pairs = [
        (one, other)
        for name, link in small.model.description.links.items()
        for kind in ("visuals", "collisions")
        for one, other in zip(getattr(link, kind), getattr(large.model.description.links[name], kind), strict=True)
    ]
    assert pairs
    for one, other in pairs:
        np.testing.assert_allclose(other.placement.p, 2.0 * np.asarray(one.placement.p))
        assert type(other.shape) is type(one.shape)

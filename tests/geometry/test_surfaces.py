"""Triangles of shapes: closed, outward, of the right volume; those of files beside coal's loader (assimp)."""

import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.geometry import surfaces
from kinetree.geometry.surfaces import Surface, creased, plain_surfaces
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from peers import urdf

SOLIDS = {
    Box((0.2, 0.4, 0.6)): 0.048,
    Sphere(0.3): 4 / 3 * np.pi * 0.3**3,
    Ellipsoid((0.1, 0.2, 0.3)): 4 / 3 * np.pi * 0.006,
    Cylinder(0.2, 0.5): np.pi * 0.04 * 0.5,
    Capsule(0.2, 0.5): np.pi * 0.04 * 0.5 + 4 / 3 * np.pi * 0.008,
}


def volume(vertices, triangles):
    return np.linalg.det(vertices[triangles]).sum() / 6


@pytest.mark.parametrize("shape", SOLIDS, ids=lambda shape: type(shape).__name__)
def test_solids_are_closed_and_of_the_right_volume(shape):
    (plain,), (smooth,) = plain_surfaces(shape), surfaces(shape)
    inertia = kt.solids.mesh(plain.vertices, plain.triangles, density=1.0)  # refuses what is open or inside out
    assert inertia.mass == pytest.approx(SOLIDS[shape], rel=0.02)
    assert volume(smooth.vertices, smooth.triangles) == pytest.approx(inertia.mass, rel=1e-5)
    np.testing.assert_allclose(smooth.vertices.max(axis=0), plain.vertices.max(axis=0), atol=1e-6)


def test_sharp_edges_are_doubled_and_round_ones_are_not():
    assert len(surfaces(Box((1.0, 1.0, 1.0)))[0].vertices) == 24, "four for each side"
    assert len(surfaces(Sphere(1.0))[0].vertices) == len(plain_surfaces(Sphere(1.0))[0].vertices)
    cylinder = surfaces(Cylinder(1.0, 1.0))[0]
    assert len(cylinder.vertices) == len(plain_surfaces(Cylinder(1.0, 1.0))[0].vertices) + 2 * 32, "the rims"


def test_smooth_patches_grow_over_long_strips():
    n = 500
    strip = np.array([[k, y, 0.0] for k in range(n) for y in (0.0, 1.0)])
    quads = [((2 * k, 2 * k + 2, 2 * k + 3), (2 * k, 2 * k + 3, 2 * k + 1)) for k in range(n - 1)]
    triangles = np.array([three for pair in quads for three in pair])
    assert len(creased(Surface(strip, np.random.default_rng(0).permutation(triangles))).vertices) == 2 * n


def test_a_plane_is_a_rectangle():
    np.testing.assert_array_equal(np.abs(surfaces(Plane((2.0, 3.0)))[0].vertices).max(axis=0), [2.0, 3.0, 0.0])
    assert np.abs(surfaces(Plane())[0].vertices).max() > 1.0


def test_a_mirrored_mesh_stays_outward():
    (box,) = plain_surfaces(Box((1.0, 2.0, 3.0)))
    mesh = Mesh(vertices=box.vertices, triangles=box.triangles, scale=(1.0, -0.5, 1.0))
    (mirrored,) = surfaces(mesh)
    assert volume(mirrored.vertices, mirrored.triangles) == pytest.approx(3.0)


def test_missing_and_damaged_files_say_so(tmp_path):
    with pytest.raises(kt.KinetreeError, match=r"mesh 'package://a/b\.stl' was not found"):
        surfaces(Mesh(None, "package://a/b.stl"))
    for name in ("bad.stl", "bad.dae", "bad.obj", "bad.xyz"):
        (tmp_path / name).write_bytes(b"nothing\x00 of use")
        with pytest.raises(kt.KinetreeError, match=name):
            surfaces(Mesh(str(tmp_path / name), name))


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "talos_reduced.urdf", "panda.urdf", "g1_29dof_rev_1_0.urdf"])
@pytest.mark.sampled(2)
def test_files_are_read_as_assimp_reads_them(name):
    coal = pytest.importorskip("coal")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(urdf(name))
    loader, seen = coal.MeshLoader(), {}
    for link in robot.model.description.links.values():
        for geometry in (*link.visuals, *link.collisions):
            if isinstance(geometry.shape, Mesh):
                seen.setdefault(geometry.shape.path, geometry.shape)
    assert len(seen) > 5
    for shape in list(seen.values())[:10]:
        peer = loader.load(shape.path, np.array(shape.scale))
        peer.computeLocalAABB()
        vertices = np.vstack([surface.vertices for surface in plain_surfaces(shape)])
        np.testing.assert_allclose(vertices.min(axis=0), peer.aabb_local.min_, atol=1e-5, err_msg=shape.path)
        np.testing.assert_allclose(vertices.max(axis=0), peer.aabb_local.max_, atol=1e-5, err_msg=shape.path)


def test_a_mesh_with_materials_keeps_their_colours():
    robot = kt.load(urdf("ur5_robot.urdf"))
    colors = set()
    for link in robot.model.description.links.values():
        for geometry in link.visuals:
            colors |= {surface.color for surface in surfaces(geometry.shape)}
    assert len(colors) >= 3 and None not in colors

"""Inertias of solids against textbook formulas, points drawn inside them, each other and MuJoCo's geoms.

Covers: model/triangles.py.
"""

import mujoco
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import solids
from kinetree.spatial.rotation import matrix_from_quaternion, random_quaternion
from peers import close

lengths = st.floats(0.05, 20.0)
seeds = st.integers(0, 2**32 - 1)

SOLIDS = {
    "box": lambda **weight: solids.box((0.3, 0.5, 0.8), **weight),
    "cylinder": lambda **weight: solids.cylinder(0.3, 0.9, **weight),
    "sphere": lambda **weight: solids.sphere(0.4, **weight),
    "ellipsoid": lambda **weight: solids.ellipsoid((0.2, 0.5, 0.3), **weight),
    "capsule": lambda **weight: solids.capsule(0.3, 0.7, **weight),
    "cone": lambda **weight: solids.cone(0.4, 0.9, **weight),
}
INSIDE = {  # whether points (n, 3) are in the solid, which a cube of edge 1.4 holds
    "box": lambda p: (np.abs(p) <= (0.15, 0.25, 0.4)).all(axis=1),
    "cylinder": lambda p: (np.hypot(p[:, 0], p[:, 1]) <= 0.3) & (np.abs(p[:, 2]) <= 0.45),
    "sphere": lambda p: np.linalg.norm(p, axis=1) <= 0.4,
    "ellipsoid": lambda p: np.linalg.norm(p / (0.2, 0.5, 0.3), axis=1) <= 1,
    "capsule": lambda p: np.linalg.norm(p - np.clip(p, (0, 0, -0.35), (0, 0, 0.35)), axis=1) <= 0.3,
    "cone": lambda p: (p[:, 2] >= -0.225) & (np.hypot(p[:, 0], p[:, 1]) <= 0.4 * (0.675 - p[:, 2]) / 0.9),
}


def of_points(masses, points):
    """Of point masses, from the definition."""
    J = np.column_stack([points, np.ones(len(points))])
    return kt.Inertia.from_pseudo_inertia(J.T * masses @ J)


def same(one, two, tolerance=1e-12):
    """Mass, first moment and inertia, each to the same part of the largest it could be in a body so large."""
    size = np.sqrt(np.trace(two.I) / two.mass)
    for x, y, scale in ((one.mass, two.mass, 1), (one.h, two.h, size), (one.I, two.I, size**2)):
        assert np.abs(x - y).max() <= tolerance * two.mass * scale, (x, y)


# -- the textbook ----------------------------------------------------------------------------------------------


def test_cube_about_its_corner():
    """2/3 m a² on the diagonal and products of inertia of m a²/4, which enter the matrix with a minus."""
    m, a = 3.0, 0.7
    cube = solids.box((a, a, a), mass=m)
    close(cube.I, m * a**2 / 6 * np.eye(3), 1e-15)
    corner = cube.about((-a / 2, -a / 2, -a / 2))
    close(corner.com, [a / 2] * 3, 1e-15)
    close(corner.I, m * a**2 * (2 / 3 * np.eye(3) - (np.ones((3, 3)) - np.eye(3)) / 4), 1e-15)
    along_diagonal = np.ones(3) / np.sqrt(3)
    close(along_diagonal @ corner.I @ along_diagonal, m * a**2 / 6, 1e-15)  # the diagonal goes through the centre
    close(np.linalg.eigvalsh(corner.I), m * a**2 * np.array([1 / 6, 11 / 12, 11 / 12]), 1e-15)


@given(lengths, lengths, lengths, st.floats(0.01, 100.0))
def test_closed_forms(a, b, c, m):
    def diagonal(*moments):
        return kt.Inertia(m, np.zeros(3), np.diag(moments))

    same(solids.box((a, b, c), mass=m), diagonal(*(m / 12 * np.array([b * b + c * c, c * c + a * a, a * a + b * b]))))
    across = m * (3 * a * a + b * b) / 12
    same(solids.cylinder(a, b, mass=m), diagonal(across, across, m * a * a / 2))
    same(solids.sphere(a, mass=m), diagonal(*[0.4 * m * a * a] * 3))
    same(
        solids.ellipsoid((a, b, c), mass=m),
        diagonal(m / 5 * (b**2 + c**2), m / 5 * (a**2 + c**2), m / 5 * (a**2 + b**2)),
    )
    across = 3 / 20 * m * a * a + 3 / 80 * m * b * b
    same(solids.cone(a, b, mass=m), diagonal(across, across, 0.3 * m * a * a))
    from_tip = solids.cone(a, b, mass=m).about((0, 0, 0.75 * b))
    close(from_tip.I[0, 0] / m, 3 / 20 * a * a + 3 / 5 * b * b, 1e-13)


@given(lengths, lengths, st.floats(0.1, 5000.0))
def test_volumes(a, b, density):
    expected = {
        "box": (solids.box((a, b, a), density=density), a * b * a),
        "cylinder": (solids.cylinder(a, b, density=density), np.pi * a**2 * b),
        "sphere": (solids.sphere(a, density=density), 4 / 3 * np.pi * a**3),
        "ellipsoid": (solids.ellipsoid((a, b, b), density=density), 4 / 3 * np.pi * a * b**2),
        "capsule": (solids.capsule(a, b, density=density), np.pi * a**2 * b + 4 / 3 * np.pi * a**3),
        "cone": (solids.cone(a, b, density=density), np.pi * a**2 * b / 3),
    }
    for solid, volume in expected.values():
        assert np.isclose(solid.mass, density * volume, rtol=1e-14)


@given(lengths, lengths, st.floats(0.1, 5000.0))
def test_capsule_is_a_cylinder_and_two_half_balls(r, length, density):
    """A half ball about the centre of its ball has half its inertia, and its centre of mass 3/8 r away."""
    ball = solids.sphere(r, density=density)
    half = kt.Inertia(ball.mass / 2, ball.mass / 2 * np.array([0, 0, 3 / 8 * r]), ball.I / 2)
    upper = half.shifted((0, 0, length / 2))
    lower = half.rotated(np.diag([1.0, -1.0, -1.0])).shifted((0, 0, -length / 2))
    same(solids.capsule(r, length, density=density), solids.cylinder(r, length, density=density) + upper + lower)


# -- points drawn inside ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOLIDS)
def test_points_inside(name):
    """One random point in each of a million cells that fill a cube."""
    n, edge, rng = 100, 1.4, np.random.default_rng(6)
    cells = np.stack(np.meshgrid(*[np.arange(n)] * 3), axis=-1).reshape(-1, 3)
    points = edge * ((cells + rng.random((n**3, 3))) / n - 0.5)
    inside = points[INSIDE[name](points)]
    expected = of_points(np.full(len(inside), (edge / n) ** 3), inside)
    found = SOLIDS[name](density=1.0)
    assert abs(found.mass - expected.mass) < 3e-3 * found.mass
    assert np.abs(found.com - expected.com).max() < 5e-4
    assert np.abs(found.I - expected.I).max() < 5e-3 * np.abs(found.I).max()


@pytest.mark.parametrize("name", SOLIDS)
def test_mass_or_density(name):
    by_density = SOLIDS[name](density=700.0)
    same(SOLIDS[name](mass=by_density.mass), by_density, 1e-14)
    assert by_density.is_consistent()
    assert not by_density.h.any()
    close(by_density.I, np.diag(np.diag(by_density.I)), 0.0)


# -- solids of solids ------------------------------------------------------------------------------------------


def test_halves_make_the_whole():
    half = solids.box((1.0, 2.0, 1.5), density=3.0)
    same(half.shifted((0, 0, 0.75)) + half.shifted((0, 0, -0.75)), solids.box((1.0, 2.0, 3.0), density=3.0))


def test_a_tube():
    """m/2 (R² + r²) about its axis."""
    R, r, length = 0.05, 0.04, 0.3
    tube = solids.cylinder(R, length, density=2700) - solids.cylinder(r, length, density=2700)
    assert tube.is_consistent()
    close(tube.I[2, 2], tube.mass / 2 * (R**2 + r**2), 1e-15)
    close(tube.I[0, 0], tube.mass / 12 * (3 * (R**2 + r**2) + length**2), 1e-15)
    assert not (solids.cylinder(r, length, density=1.0) - solids.cylinder(R, length, density=1.0)).is_consistent()


def test_a_truncated_cone():
    """The tip of a cone is a cone: about the axis, 3/10 m (R⁵ - r⁵)/(R³ - r³)."""
    R, r, h = 0.5, 0.2, 0.9  # the tip above radius r is 0.36 tall
    whole, tip = solids.cone(R, h, density=1.0), solids.cone(r, h * r / R, density=1.0)
    rest = whole.about((0, 0, 0.75 * h)) - tip.about((0, 0, 0.75 * h * r / R))  # both from their tips
    assert rest.is_consistent()
    close(rest.I[2, 2], 0.3 * rest.mass * (R**5 - r**5) / (R**3 - r**3), 1e-15)
    close(rest.com[2], -0.75 * h * (1 - (r / R) ** 4) / (1 - (r / R) ** 3), 1e-15)


# -- meshes ----------------------------------------------------------------------------------------------------

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
CUBE = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])
TETRAHEDRON = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def icosphere(levels):
    """A ball of radius one, by splitting the faces of an icosahedron."""
    g = (1 + np.sqrt(5)) / 2
    points = [np.roll((0.0, s, t * g), k) for k in range(3) for s in (1, -1) for t in (1, -1)]
    points = [p / np.linalg.norm(p) for p in points]
    near = min(np.linalg.norm(points[0] - p) for p in points[1:]) * 1.01
    faces = []
    for i, a in enumerate(points):
        for j in range(i + 1, 12):
            for k in range(j + 1, 12):
                b, c = points[j], points[k]
                if max(np.linalg.norm(a - b), np.linalg.norm(b - c), np.linalg.norm(c - a)) < near:
                    faces.append((i, j, k) if np.linalg.det([a, b, c]) > 0 else (i, k, j))
    for _ in range(levels):
        middle = {}
        for a, b, c in faces:
            for edge in (frozenset((a, b)), frozenset((b, c)), frozenset((c, a))):
                if edge not in middle:
                    i, j = edge
                    middle[edge] = len(points)
                    points.append((points[i] + points[j]) / np.linalg.norm(points[i] + points[j]))
        split = []
        for a, b, c in faces:
            ab, bc, ca = middle[frozenset((a, b))], middle[frozenset((b, c))], middle[frozenset((c, a))]
            split += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = split
    return np.array(points), np.array(faces)


def soup(vertices, triangles):
    """As an STL file has it: every triangle with its own corners."""
    return vertices[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)


@given(lengths, lengths, lengths, seeds)
def test_mesh_of_a_box(a, b, c, seed):
    rng = np.random.default_rng(seed)
    R, p = matrix_from_quaternion(random_quaternion(rng)), rng.normal(size=3) * 10
    vertices = (CORNERS - 0.5) * (a, b, c) @ R.T + p
    expected = solids.box((a, b, c), density=2.0).rotated(R).shifted(p)
    found = solids.mesh(vertices, CUBE, density=2.0)
    same(found, expected, 1e-11)
    assert found.is_consistent()
    same(solids.mesh(vertices, CUBE, mass=expected.mass), expected, 1e-11)


@given(seeds)
def test_mesh_of_a_tetrahedron(seed):
    """∫ over the corners' simplex, here by the rule of degree two on its four points of Hammer and Stroud."""
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(4, 3))
    volume = np.linalg.det(corners[1:] - corners[0]) / 6
    assume(abs(volume) > 1e-3)
    if volume < 0:
        corners[[2, 3]] = corners[[3, 2]]
    inner, outer = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
    points = (np.full((4, 4), inner) + np.eye(4) * (outer - inner)) @ corners
    expected = of_points(np.full(4, abs(volume) / 4), points)
    same(solids.mesh(corners, TETRAHEDRON, density=1.0), expected, 1e-11)


def test_mesh_of_a_ball():
    """Nearer by four with every split, since its faces have half the size."""
    errors = []
    for levels in range(4):
        found = solids.mesh(*icosphere(levels), density=1.0)
        close(found.h, np.zeros(3), 1e-14)
        close(found.I, np.eye(3) * found.I[0, 0], 1e-14)  # an icosahedron turns like a ball
        errors.append(1 - found.I[0, 0] / solids.sphere(1.0, density=1.0).I[0, 0])
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (np.diff(ratios) > 0).all() and 3.8 < ratios[-1] < 4, ratios
    assert errors[-1] < 0.02
    vertices, triangles = icosphere(3)
    stretched = solids.mesh(vertices * (0.2, 0.5, 0.3), triangles, mass=1.0)
    same(stretched, solids.ellipsoid((0.2, 0.5, 0.3), mass=1.0), 2e-2)


def test_mesh_with_a_cavity():
    outer, inner = (CORNERS - 0.5) * 2, CORNERS - 0.5
    triangles = np.concatenate([CUBE, CUBE[:, ::-1] + 8])
    found = solids.mesh(np.concatenate([outer, inner]), triangles, density=1.0)
    same(found, solids.box((2, 2, 2), density=1.0) - solids.box((1, 1, 1), density=1.0))


def test_meshes_that_touch():
    """Two cubes that share an edge: four triangles meet there, two in each direction."""
    both = np.concatenate([CORNERS, CORNERS + np.array([1, 1, 0])])
    found = solids.mesh(both, np.concatenate([CUBE, CUBE + 8]), density=1.0)
    cube = solids.box((1, 1, 1), density=1.0).shifted((0.5, 0.5, 0.5))
    same(found, cube + cube.shifted((1, 1, 0)))


def test_mesh_as_files_have_it():
    expected = solids.mesh(CORNERS, CUBE, density=1.0)
    same(solids.mesh(*soup(CORNERS, CUBE), density=1.0), expected)
    same(solids.mesh(CORNERS.astype(np.float32), CUBE.astype(np.uint32), density=1.0), expected)
    same(solids.mesh(CORNERS.tolist(), CUBE.astype(float).tolist(), density=1.0), expected)
    signed = np.where(CORNERS == 0, -0.0, CORNERS)
    vertices = np.concatenate([CORNERS, signed])  # half of the triangles on zeros with a minus
    same(solids.mesh(vertices, CUBE + 8 * (np.arange(12) % 2)[:, None], density=1.0), expected)
    sliver = np.concatenate([CORNERS, CORNERS[:1], [[np.pi] * 3]])  # two corners in one place, and a corner of nothing
    same(solids.mesh(sliver, np.concatenate([CUBE, [(0, 8, 1)]]), density=1.0), expected)


def test_mesh_far_away():
    """What the tetrahedra lose if they start at the origin is 10¹⁰ times their volume."""
    vertices = CORNERS * 2.0**-7 + 1024.0  # exact
    found = solids.mesh(vertices, CUBE, mass=1.0)
    close(found.about((1024 + 2.0**-8,) * 3).I, solids.box([2.0**-7] * 3, mass=1.0).I, 1e-9)
    close(found.com, [1024 + 2.0**-8] * 3, 1e-15)


def test_shell_of_a_box():
    """Six plates of two kilograms a square metre."""
    a, b, c = 0.3, 0.5, 0.8
    expected = kt.Inertia.zero()
    for size, at in (((0, b, c), (a, 0, 0)), ((a, 0, c), (0, b, 0)), ((a, b, 0), (0, 0, c))):
        area = np.prod([x for x in size if x])
        x, y, z = np.square(size) / 12
        plate = kt.Inertia.from_com(2 * area, (0, 0, 0), 2 * area * np.diag([y + z, z + x, x + y]))
        expected += plate.shifted(np.array(at) / 2) + plate.shifted(-np.array(at) / 2)
    vertices = (CORNERS - 0.5) * (a, b, c)
    same(solids.shell(vertices, CUBE, density=2.0), expected)
    same(solids.shell(vertices, CUBE, mass=3.0), kt.Inertia.from_parameters(expected.parameters() * 3 / expected.mass))


def test_shell_need_not_be_closed():
    square = solids.shell([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 3, 2)], mass=12.0)
    close(square.com, [0.5, 0.5, 0], 1e-15)
    close(square.about_com, np.diag([1.0, 1.0, 2.0]), 1e-14)
    ball = solids.shell(*icosphere(4), mass=1.0)
    close(ball.I, np.eye(3) * 2 / 3, 5e-3)


# -- MuJoCo ----------------------------------------------------------------------------------------------------


def mujoco_body(geom, asset=""):
    """The inertia that MuJoCo gives to a body of one geom, about that body's origin."""
    body = f'<body><freejoint/><geom {geom} density="700"/></body>'
    xml = f"<mujoco><asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, model.body_iquat[1])
    turned = kt.Inertia.from_com(model.body_mass[1], (0, 0, 0), np.diag(model.body_inertia[1]))
    return turned.rotated(axes.reshape(3, 3)).shifted(model.body_ipos[1])


@pytest.mark.parametrize(
    ("name", "geom"),
    [
        ("box", 'type="box" size="0.15 0.25 0.4"'),
        ("cylinder", 'type="cylinder" size="0.3 0.45"'),
        ("sphere", 'type="sphere" size="0.4"'),
        ("ellipsoid", 'type="ellipsoid" size="0.2 0.5 0.3"'),
        ("capsule", 'type="capsule" size="0.3 0.35"'),
    ],
)
def test_geoms_of_mujoco(name, geom):
    same(SOLIDS[name](density=700.0), mujoco_body(geom), 1e-9)


def test_a_placed_geom_of_mujoco():
    quaternion = random_quaternion(np.random.default_rng(4))
    x, y, z, w = quaternion
    theirs = mujoco_body(f'type="capsule" size="0.3 0.35" pos="1 -2 0.5" quat="{w} {x} {y} {z}"')
    ours = SOLIDS["capsule"](density=700.0).rotated(matrix_from_quaternion(quaternion)).shifted((1, -2, 0.5))
    same(ours, theirs, 1e-9)


@pytest.mark.parametrize("kind", ["exact", "shell"])
def test_meshes_of_mujoco(kind):
    """An L-shaped prism, not convex; MuJoCo keeps vertices in single precision."""
    outline = np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]) * 0.1
    vertices = np.array([(x, y, z) for z in (0.0, 0.25) for x, y in outline])
    cover = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    sides = [t for i in range(6) for j in [(i + 1) % 6] for t in ((i, j, j + 6), (i, j + 6, i + 6))]
    triangles = np.concatenate([cover[:, ::-1], cover + 6, sides])
    numbers = {"vertex": vertices, "face": triangles}
    data = " ".join(f'{key}="{" ".join(map(str, value.ravel()))}"' for key, value in numbers.items())
    theirs = mujoco_body('type="mesh" mesh="L"', f'<mesh name="L" inertia="{kind}" {data}/>')
    ours = (solids.mesh if kind == "exact" else solids.shell)(vertices, triangles, density=700.0)
    same(ours, theirs, 1e-6)
    if kind == "exact":
        bars = solids.box((0.3, 0.1, 0.25), density=700.0).shifted((0.15, 0.05, 0.125))
        same(ours, bars + solids.box((0.1, 0.1, 0.25), density=700.0).shifted((0.05, 0.15, 0.125)))


def test_on_a_robot():
    """A rod swings about its end with 1/3 m l²."""
    builder = kt.ModelBuilder("pendulum")
    builder.link("stand")
    builder.link("rod", solids.capsule(1e-6, 2.0, mass=3.0).shifted((0, 0, -1)))
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0))
    robot = kt.Robot(builder.build())
    close(robot.mass_matrix(np.zeros(1)), [[4.0]], 1e-5)
    assert not robot.check()


# -- wrong arguments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: solids.sphere(1.0), "neither mass nor density is given; expected one of them"),
        (lambda: solids.sphere(1.0, mass=1, density=1), "both mass and density are given; expected one of them"),
        (lambda: solids.sphere(1.0, mass=0), "mass is 0; expected a mass above zero"),
        (lambda: solids.sphere(1.0, mass=np.nan), "mass is nan; expected a mass above zero"),
        (lambda: solids.sphere(1.0, density=-5.0), "density is -5.0; expected a density above zero"),
        (lambda: solids.sphere(1.0, mass="1"), "mass is '1'; expected a number"),
        (lambda: solids.sphere(-1.0, mass=1), "radius is -1.0; expected a length above zero"),
        (lambda: solids.sphere(1e-120, density=1), "the solid has a mass of 0 kg or an inertia that no float can hold"),
        (lambda: solids.sphere(1e150, mass=1), "the solid has a mass of .* or an inertia that no float can hold"),
        (lambda: solids.cylinder(1.0, np.inf, mass=1), "length is inf; expected a length above zero"),
        (lambda: solids.cylinder(1.0, [2.0], mass=1), r"length is \[2.0\]; expected a number"),
        (lambda: solids.capsule(1.0, 0, mass=1), "length is 0; expected a length above zero"),
        (lambda: solids.cone(1.0, None, mass=1), "height is None; expected a number"),
        (lambda: solids.box((1, 2), mass=1), r"size has shape \(2,\); expected \(3,\)"),
        (lambda: solids.box((1, 2, 0), mass=1), r"size is \(1, 2, 0\); expected three lengths above zero"),
        (lambda: solids.ellipsoid((1, np.nan, 1), mass=1), r"radii is \(1, nan, 1\); expected three lengths above .*"),
    ],
)
def test_wrong_solids(wrong, sentence):
    with pytest.raises(kt.KinetreeError, match=f"^{sentence}$"):
        wrong()


def cube_with(row, value):
    vertices = CORNERS.copy()
    vertices[row] = value
    return vertices


def turned(k):
    triangles = CUBE.copy()
    triangles[k] = triangles[k, ::-1]
    return triangles


@pytest.mark.parametrize(
    ("vertices", "triangles", "sentence"),
    [
        (CORNERS, CUBE[1:], "the mesh is open: 1 triangle at the edge between vertices 0 and 1; expected a closed"),
        (*soup(CORNERS, CUBE[:-1]), "the mesh is open: 1 triangle at the edge between vertices"),
        (np.concatenate([CORNERS, CORNERS + 1e-9]), CUBE + 8 * (CUBE == 3) * (np.arange(12) < 1)[:, None], "open"),
        (CORNERS, np.concatenate([CUBE, CUBE[:1]]), "the mesh is open: 3 triangles at the edge between vertices 0 and"),
        (CORNERS, turned(0), "triangles 0 and 5 both run from vertex 1 to vertex 0; expected the corners of every"),
        (CORNERS, CUBE[:, ::-1], r"the mesh is inside out: its volume is -1 m³; expected .* \(triangles\[:, ::-1\]"),
        (CORNERS * (1, 1, 0), CUBE, "the mesh is flat: its surface encloses no volume"),
        (CORNERS * (1, 1, 0) @ matrix_from_quaternion(np.full(4, 0.5)) + 3, CUBE, "the mesh is flat"),
        (CORNERS * 0, CUBE, "vertices span 0 m; expected the vertices of a body"),
        (CORNERS * 1e70, CUBE, r"vertices span 1e\+70 m; expected the vertices of a body"),
        (cube_with(5, np.nan), CUBE, r"vertices\[5\] is \[nan, nan, nan\]; expected three finite numbers"),
        (cube_with(2, (0, np.inf, 0)), CUBE, r"vertices\[2\] is \[0.0, inf, 0.0\]; expected three finite numbers"),
        (CORNERS, CUBE + 1, r"triangles\[2\] is \(5, 7, 8\); expected indices of vertices, 0 to 7"),
        (CORNERS, CUBE - 1, r"triangles\[0\] is \(-1, 0, 2\); expected indices of vertices, 0 to 7"),
        (CORNERS, CUBE * 0.5, r"triangles\[0\] is \(0, 0.5, 1.5\); expected indices of vertices, 0 to 7"),
        (CORNERS, [(0, 1, 1)], r"triangles\[0\] is \(0, 1, 1\); expected three different vertices"),
        (CORNERS, np.zeros((0, 3), int), r"triangles has shape \(0, 3\); expected \(n, 3\) with one row or more"),
        (CORNERS, CUBE[0], r"triangles has shape \(3,\); expected \(n, 3\) with one row or more"),
        (CORNERS[:, :2], CUBE, r"vertices has shape \(8, 2\); expected \(…, 3\)"),
        (CORNERS, QUADS, r"triangles has shape \(6, 4\); expected \(…, 3\)"),
        (CORNERS, "CUBE", "triangles is 'CUBE'; expected an array"),
    ],
)
def test_wrong_meshes(vertices, triangles, sentence):
    with pytest.raises(kt.KinetreeError, match=sentence):
        solids.mesh(vertices, triangles, density=1.0)


def test_parts_that_are_inside_out():
    """A cube beside another one cannot be its cavity."""
    both = np.concatenate([CORNERS * 1.2, CORNERS + np.array([3, 0, 0])])
    with pytest.raises(kt.ArgumentError, match="the inertia of the mesh is not that of a body; expected no part of it"):
        solids.mesh(both, np.concatenate([CUBE, CUBE[:, ::-1] + 8]), density=1.0)


def test_wrong_shells():
    line = [(0, 0, 0), (1, 1, 1), (2, 2, 2)]
    with pytest.raises(kt.ArgumentError, match="the triangles have no area: their corners lie on a line"):
        solids.shell(line, [(0, 1, 2)], mass=1.0)

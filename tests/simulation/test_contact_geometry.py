"""What touches what: spheres of shapes, distances to obstacles, Jacobians of contact points, and what is refused.

Covers: simulation/contact/contact_model.py, simulation/contact/meeting.py, simulation/contact/obstacles.py,
simulation/contact/touch.py.
"""

import numpy as np
import pytest

import kinetree as kt
from contact_bodies import ball, box, one_body, placed
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Sphere
from kinetree.simulation import Block, CompliantContact, Ground, RigidContact, Terrain, Touch
from kinetree.simulation.contact.meeting import Meetings, contact_axes
from kinetree.simulation.contact.touch import touching_shapes
from kinetree.spatial import Transform
from kinetree.spatial.rotation import matrix_from_rpy
from peers import close

PLACED = Transform(matrix_from_rpy((0.3, -0.2, 0.5)).T, np.array([0.1, 0.2, 0.3]))


def lowest(shape, normal):
    """How far a shape reaches against a direction, by its support function, in its own axes."""
    match shape:
        case Sphere(radius=r):
            return -r
        case Capsule(radius=r, length=length):
            return -r - 0.5 * length * abs(normal[2])
        case Box(size=size):
            return -0.5 * np.abs(normal) @ np.array(size)
        case Cylinder(radius=r, length=length):
            return -r * np.hypot(*normal[:2]) - 0.5 * length * abs(normal[2])


@pytest.mark.parametrize("shape", [Sphere(0.2), Capsule(0.1, 0.4), Box((0.2, 0.3, 0.5)), Cylinder(0.2, 0.5)])
def test_the_spheres_of_a_shape_reach_as_far_as_it_does(shape):
    """In any direction."""
    builder = kt.ModelBuilder("one")
    builder.link("link", kt.solids.sphere(0.1, mass=1.0), collisions=[Geometry(shape, PLACED)])
    robot = kt.Robot(builder.build("floating"))
    for normal in np.random.default_rng(0).normal(size=(50, 3)):
        normal /= np.linalg.norm(normal)
        reach = Meetings(robot.model, RigidContact("link", Ground(normal)).pairs(robot), robot.neutral()).gaps.min()
        close(reach, normal @ PLACED.p + lowest(shape, PLACED.R @ normal), 1e-12)


def test_a_link_touches_by_its_shapes_and_a_frame_by_its_origin():
    robot = kt.load("quadruped", base="floating")
    assert touching_shapes(robot.model, ["front_left_foot"]) == [Touch("front_left_foot")]
    shapes = touching_shapes(robot.model, ["front_left_shank_link"])
    shank = [sphere for shape in shapes for sphere in shape.spheres]
    assert len(shank) == 10 + 10 + 1 and {touch.frame for touch in shank} == {"front_left_shank_link"}
    assert max(touch.radius for touch in shank if touch.axis is None) == 0.028


def test_distances_to_a_block_are_those_to_its_surface():
    """Against a fine sampling of the surface, outside and inside; normals lead straight away from it."""
    block = Block((0.4, 0.6, 1.0), (0.1, -0.2, 0.3), (0.4, 0.3, -0.8))
    R, half = matrix_from_rpy(block.rpy), 0.5 * np.array(block.size)
    rng = np.random.default_rng(1)
    for point in rng.uniform(-1.0, 1.0, (200, 3)):
        distance, normal = block.nearest(point)
        local = R.T @ (point - block.position)
        clamped = np.clip(local, -half, half)
        if np.all(np.abs(local) < half):
            assert distance == pytest.approx(-(half - np.abs(local)).min(), abs=1e-12)
        else:
            assert distance == pytest.approx(np.linalg.norm(local - clamped), abs=1e-12)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        moved, _ = block.nearest(point + 1e-6 * normal)
        assert moved - distance == pytest.approx(1e-6, rel=1e-3)


def test_of_a_terrain_the_nearest_part_counts():
    steps = [Block((1.0, 1.0, 0.2), (0.5, 0.0, 0.1)), Block((1.0, 1.0, 0.4), (1.5, 0.0, 0.2)), Ground()]
    terrain = Terrain(steps)
    for point in np.random.default_rng(2).uniform((-0.5, -0.3, 0.0), (2.0, 0.3, 0.8), (100, 3)):
        distance, normal = terrain.nearest(point)
        parts = [part.nearest(point) for part in steps]
        best = min(parts, key=lambda part: part[0])
        assert distance == best[0]
        close(normal, best[1], 1e-12)


def test_contact_axes_are_right_handed():
    for normal in [*np.random.default_rng(3).normal(size=(50, 3)), (0.0, 0.0, -1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)]:
        normal = np.array(normal) / np.linalg.norm(normal)
        axes = contact_axes(normal)
        close(axes @ axes.T, np.eye(3), 1e-12)
        close(axes[2], normal, 1e-15)
        assert np.linalg.det(axes) > 0.0
    close(contact_axes(np.array([0.0, 0.0, 1.0])), np.eye(3), 0.0)


@pytest.mark.parametrize(
    "options", [{}, {"base_velocity": "mixed"}, {"spatial_order": "angular-first"}], ids=["body", "mixed", "angular"]
)
def test_jacobians_are_slopes_of_gaps_and_of_contact_points(options):
    """n of a foot against a tilted plane, a block, and a block that the robot itself carries."""
    robot = kt.load("quadruped", base="floating", **options)
    obstacles = [Ground((0.1, -0.2, 1.0), -0.1), Block((1.0, 1.0, 0.2), (0.1, 0.1, -0.8), (0.1, 0.2, 0.3))]
    obstacles.append(Block((0.2, 0.2, 0.2), (0.4, 0.1, 0.3), frame="base_link"))
    contact = RigidContact(Touch("front_left_foot", (0.01, 0.02, -0.03), 0.05), obstacles)
    pairs = contact.pairs(robot)
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, v, h = robot.random(rng), rng.normal(size=robot.nv), 1e-6
        meetings = Meetings(robot.model, pairs, q)
        u = (meetings.J @ v).reshape(-1, 3)
        ahead, behind = (contact.gaps(robot, robot.integrate(q, sign * h * v)) for sign in (1.0, -1.0))
        close(u[:, 2], (ahead - behind) / (2 * h), 1e-6)
        foot = robot.frame("front_left_foot")
        V = kt.Motion.from_vector(foot.velocity(q, v), robot.model.spatial_order)
        lever = meetings.world_point(0) - foot.pose(q)[:3, 3]
        world = meetings.each[0].world_axes.T @ u[0]
        close(world, V.linear + np.cross(V.angular, lever), 1e-9)
        unmoved = set(range(robot.nv)) - set(meetings.columns(pairs[0]))
        assert not meetings.J[:, sorted(unmoved)].any() and len(unmoved) == 9


def test_friction_of_touch_before_obstacle_before_model():
    robot = ball()
    touching = [Touch("body", friction=0.1), Touch("body", restitution=0.3)]
    found = RigidContact(touching, [Ground(friction=0.5), Ground(restitution=0.9)], friction=0.7).pairs(robot)
    assert [pair.friction for pair in found] == [0.1, 0.5, 0.1, 0.7]
    assert [pair.restitution for pair in found] == [0.0, 0.3, 0.9, 0.3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Touch("a", radius=-1.0), "radius is -1; expected a finite number, not below 0"),
        (lambda: Touch("a", (1.0, 2.0)), "at has shape (2,); expected (3,)"),
        (lambda: Touch(3), "frame of a touch is 3; expected the name of a frame"),
        (lambda: Ground((0.0, 0.0, 0.0)), "normal is (0.0, 0.0, 0.0); expected a direction"),
        (lambda: Ground(restitution=1.5), "restitution is 1.5; expected a number from 0 to 1"),
        (lambda: Block((1.0, 0.0, 1.0)), "size is (1.0, 0.0, 1.0); expected three positive lengths"),
        (lambda: Touch("a", (0.0, 0.0, np.nan)), "at is (0.0, 0.0, nan); expected three finite numbers"),
        (lambda: Ground(height=np.inf), "height is inf; expected a finite number"),
        (lambda: Block((1.0, 1.0, np.inf)), "size is (1.0, 1.0, inf); expected three finite numbers"),
        (lambda: Block((1.0, 1.0, 1.0), rpy=(np.nan, 0.0, 0.0)), "rpy is (nan, 0.0, 0.0); expected three finite"),
        (lambda: Terrain(3), "parts is 3; expected Ground or Block"),
        (lambda: RigidContact(None), "touching is None; expected names of frames, or Touch"),
        (lambda: RigidContact("body", Ground), "obstacles is <class"),
        (lambda: RigidContact("body", held=3), "held is 3; expected kt.Contact, kt.Loop, kt.Coupling or"),
        (lambda: RigidContact("body", stops="yes"), "stops is 'yes'; expected True or False"),
        (lambda: kt.LimitStops(damping=-1.0), "damping is -1; expected zero or more, and finite"),
        (lambda: Terrain([]), "parts is empty; expected at least one Ground or Block"),
        (lambda: Terrain([Ground(friction=1.0)]), "a part of a terrain has friction"),
        (lambda: RigidContact("body", friction=-1.0), "friction is -1; expected a finite number, not below 0"),
        (lambda: RigidContact("body", sweeps=0), "sweeps is 0; expected at least one"),
        (lambda: RigidContact("body", correction=2.0), "correction is 2; expected a number from 0 to 1"),
        (lambda: CompliantContact("body", stiffness=0.0), "stiffness is 0; expected a positive number"),
        (lambda: RigidContact("bdy").pairs(ball()), "frame 'bdy' does not exist; did you mean 'body'?"),
        (lambda: RigidContact([], [Ground()]).pairs(ball()), "nothing of the robot can touch anything"),
        (lambda: RigidContact([3]).pairs(ball()), "touching has 3; expected a frame name or a Touch"),
        (lambda: RigidContact("body", [3]).pairs(ball()), "obstacles has 3; expected Ground, Block or Terrain"),
        (
            lambda: RigidContact("base_link").pairs(kt.load("arm6")),
            "no joint moves 'base_link'; expected a frame that can move",
        ),
        (
            lambda: RigidContact("body").pairs(one_body(kt.solids.sphere(0.1, mass=1.0), Ellipsoid((0.1, 0.1, 0.2)))),
            "link 'body' collides as Ellipsoid, which has no corners to touch with",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError, kt.UnknownNameError)) as error:
        make()
    assert str(error.value).startswith(message)


def test_a_terrain_may_be_of_planes_alone():
    """Numbers are chosen by traced conditions: a valley of two slopes."""
    robot, valley = ball(), Terrain([Ground((1.0, 0.0, 1.0)), Ground((-1.0, 0.0, 1.0))])
    contact = RigidContact("body", valley)
    q = np.stack([placed(robot, (x, 0.0, 1.0)) for x in (-0.5, 0.3)])
    close(contact.gaps(robot, q)[:, 0], (1.0 - np.array([0.5, 0.3])) / np.sqrt(2.0) - 0.1, 1e-12)


def test_gaps_of_a_batch():
    robot = box()
    contact = RigidContact("body")
    q = np.stack([placed(robot, (0.0, 0.0, z), 0.1 * z) for z in (0.1, 0.5, 1.0)])
    gaps = contact.gaps(robot, q)
    assert gaps.shape == (3, 8)
    close(gaps, np.stack([contact.gaps(robot, each) for each in q]), 0.0)

"""Boxes carry boxes, by faces, corners and edges, as they do in MuJoCo; what cannot be honoured is refused.

Covers: simulation/contact/box_pair.py.
"""

from functools import cache

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from contact_bodies import one_body, stack
from kinetree.model.geometry import Box, Capsule, Cylinder
from kinetree.simulation import Block, CompliantContact, Ground, RigidContact, Terrain
from kinetree.simulation.contact.box_pair import manifold
from peers import close

CUBE, BEAM = (0.2, 0.2, 0.2), (0.8, 0.1, 0.1)
TABLE = Block((3.0, 3.0, 0.5), (0.0, 0.0, -0.25))
DT, STEPS, SETTLED = 2e-3, 2500, 1500
TOLD = ("q", "contact_forces", "contact_gaps", "contact_residual")
G = 9.81


def on_table(sizes, model=RigidContact, **options):
    """Boxes on a table: each may touch the table and the box before it."""
    robot = stack(sizes, (1.0,) * len(sizes))
    names = [f"box{k}" for k in range(len(sizes))]
    blocks = [Block(size, frame=name, only=after) for size, name, after in zip(sizes, names, names[1:], strict=False)]
    table = Block(TABLE.size, TABLE.position, only=names[:1])
    return robot, model(names, [table, *blocks], friction=0.6, **options)


def poses(robot, *places):
    """q of boxes at positions, turned by rotation vectors."""
    q = robot.neutral()
    for k, (position, turn) in enumerate(places):
        q[7 * k : 7 * k + 3], q[7 * k + 3 : 7 * k + 7] = position, Rotation.from_rotvec(turn).as_quat()
    return q


def column(offset=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    """Three cubes, each a little further than the one below."""
    up = np.array([0.0, 0.0, 0.2])
    return [(0.5 * up + k * (up + offset), k * np.array(turn)) for k in range(3)]


STANDING = {
    "aligned": column(),
    "1e-12 m aside": column((1e-12, -1e-12, 0.0)),
    "1e-12 m above": column((0.0, 0.0, 1e-12)),
    "1e-12 m inside": column((0.0, 0.0, -1e-12)),
    "turned by 1e-12": column(turn=(0.0, 0.0, 1e-12)),
    "turned by 1e-6": column((1e-9, 0.0, 0.0), (0.0, 0.0, 1e-6)),
    "tilted by 1e-9": column((0.0, 0.0, 1e-9), (1e-9, 1e-9, 0.0)),
    "turned by half a degree": column(turn=(0.0, 0.0, 0.01)),
    "turned by 45 degrees": column(turn=(0.0, 0.0, np.pi / 4)),
    "turned by 90 degrees": column(turn=(0.0, 0.0, np.pi / 2)),
    "stairs": column((0.03, 0.0, 0.0)),
    "a corner over a corner": column((0.03, 0.03, 0.0)),
    "dropped": column((0.005, 0.0, 0.02), (0.0, 0.0, 0.2)),
}


@cache
def columns():
    robot, contact = on_table((CUBE,) * 3)
    q = np.stack([poses(robot, *places) for places in STANDING.values()])
    return robot, robot.rollout(q, np.zeros(robot.nv), None, DT, STEPS, contact=contact, record=TOLD)


def in_mujoco(sizes, q, steps=STEPS):
    """Positions of boxes after so many steps, with MuJoCo's default settings."""
    bodies = "".join(
        f'<body pos="{x[0]} {x[1]} {x[2]}" quat="{x[6]} {x[3]} {x[4]} {x[5]}"><freejoint/>'
        f'<geom type="box" mass="1" size="{s[0] / 2} {s[1] / 2} {s[2] / 2}"/></body>'
        for s, x in zip(sizes, q.reshape(-1, 7), strict=True)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{DT}"/><default><geom friction="0.6 0.005 0.0001"/></default><worldbody>'
        f'<geom type="plane" size="0 0 1"/>{bodies}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, steps)
    return data.qpos.reshape(-1, 7)[:, :3]


@pytest.mark.parametrize("name", STANDING)
@pytest.mark.sampled(15)
def test_a_column_of_equal_boxes_stands_for_five_seconds(name):
    _, path = columns()
    k = list(STANDING).index(name)
    q = path.q[k].reshape(-1, 3, 7)
    close(q[-1, :, 2], np.array([0.1, 0.3, 0.5]), 1e-9)
    assert np.abs(q[-1] - q[SETTLED]).max() < 1e-12  # two seconds
    assert np.abs(q[-1, :, :2] - q[0, :, :2]).max() < (5e-3 if name == "dropped" else 1e-4)
    forces = path["contact_forces"][k, -1, :, 2].reshape(3, 4).sum(axis=1)
    close(forces, np.array([3.0, 2.0, 1.0]) * G, 1e-9)
    assert path["contact_residual"][k, -1] < 1e-12
    assert path["contact_gaps"][k].min() > -2e-4


@pytest.mark.parametrize("name", STANDING)
def test_it_stands_as_high_as_in_mujoco(name):
    _, path = columns()
    k = list(STANDING).index(name)
    theirs = in_mujoco((CUBE,) * 3, path.q[k, 0])
    close(path.q[k, -1].reshape(3, 7)[:, 2], theirs[:, 2], 1e-3)


BEAMS = {
    "crossed": [((0.0, 0.0, 0.05), (0.0, 0.0, 0.0)), ((0.0, 0.0, 0.15), (0.0, 0.0, np.pi / 2))],
    "crossed at 30 degrees": [((0.0, 0.0, 0.05), (0.0, 0.0, 0.0)), ((0.02, 0.01, 0.15), (0.0, 0.0, np.pi / 6))],
    "one on the other": [((0.0, 0.0, 0.05), (0.0, 0.0, 0.0)), ((0.0, 0.0, 0.15), (0.0, 0.0, 0.0))],
}


@pytest.mark.sweep
def test_beams_stand_on_beams():
    robot, contact = on_table((BEAM, BEAM))
    q = np.stack([poses(robot, *places) for places in BEAMS.values()])
    path = robot.rollout(q, np.zeros(robot.nv), None, DT, STEPS, contact=contact, record=TOLD)
    moved = np.abs(path.q[:, -1] - path.q[:, 0]).reshape(len(q), 2, 7)
    assert moved[..., :3].max() < 1e-4
    assert np.abs(path.q[:, -1] - path.q[:, SETTLED]).max() < 1e-6  # two seconds
    for k, places in enumerate(BEAMS.values()):
        heights = np.array([position[2] for position, _ in places])
        close(path.q[k, -1].reshape(2, 7)[:, 2], heights, 1e-6)
        close(in_mujoco((BEAM, BEAM), q[k])[:, 2], heights, 1e-3)


@cache
def two():
    return on_table((CUBE, CUBE))


@pytest.mark.sweep
def test_a_box_stands_over_an_edge_as_far_as_its_centre_and_falls_beyond():
    robot, contact = two()
    q = np.stack([poses(robot, ((0.0, 0.0, 0.1), (0.0,) * 3), ((x, 0.0, 0.3), (0.0,) * 3)) for x in (0.095, 0.105)])
    path = robot.rollout(q, np.zeros(robot.nv), None, DT, 500, contact=contact, record=TOLD)
    close(path.q[0, -1, 9], 0.3, 1e-6)
    assert path.q[1, -1, 9] < 0.25


@pytest.mark.sweep
def test_a_box_inside_another_comes_out_without_speed():
    """5 cm deep, and at the same place, where it leaves by the shortest way."""
    robot, contact = two()
    upright = ((0.0, 0.0, 0.1), (0.0,) * 3)
    q = np.stack([poses(robot, upright, ((0.0, 0.0, 0.25), (0.0,) * 3)), poses(robot, upright, upright)])
    path = robot.rollout(q, np.zeros(robot.nv), None, DT, 1000, contact=contact, record=("v", *TOLD))
    close(path.q[0, -1].reshape(2, 7)[:, 2], np.array([0.1, 0.3]), 1e-9)
    assert np.abs(path.v[0]).max() < 0.05
    apart = np.abs(path.q[1, 100, 7:10] - path.q[1, 100, :3]).max()
    assert apart > 0.199 and np.isfinite(path.q).all()


@pytest.mark.sweep
def test_a_box_slides_over_the_seam_of_two_equal_blocks():
    """It does not run against the side of the second by the rounding that it may be lower: v falls by μ g t."""
    robot = stack((CUBE,), (1.0,))
    blocks = [Block((1.0, 1.0, 0.5), (x, 0.0, -0.25)) for x in (0.0, 1.0)]
    contact = RigidContact("box0", blocks, friction=0.2)
    v = np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    path = robot.rollout(poses(robot, ((0.2, 0.0, 0.1), (0.0,) * 3)), v, None, 1e-3, 300, contact=contact)
    close(path.v[-1, 0], 2.0 - 0.2 * G * 0.3, 1e-6)
    close(path.q[-1, 2], 0.1, 1e-9)


def test_edges_meet_edges():
    """A beam turned by 45 degrees about its length falls on the edge of a block turned the same way across it: it is
    stopped there, at the height at which edges touch."""
    robot = stack((BEAM,), (1.0,))
    block = Block(BEAM, (0.0, 0.0, 0.0), (np.pi / 4, 0.0, 0.0))
    contact = RigidContact("box0", block, friction=1.0)
    turn = (Rotation.from_rotvec((0.0, 0.0, np.pi / 2)) * Rotation.from_rotvec((np.pi / 4, 0.0, 0.0))).as_rotvec()
    touching = 0.1 * np.sqrt(2.0)
    q = poses(robot, ((0.0, 0.0, touching + 0.01), turn))
    path = robot.rollout(q, np.zeros(6), None, 1e-3, 100, contact=contact, record=TOLD)
    close(path.q[-1, 2], touching, 1e-4)
    close(path["contact_forces"][-1, :, 2].sum(), G, 1e-2)
    assert (path["contact_forces"][-1, 1:] == 0.0).all()  # one point


def test_the_normal_is_that_of_least_overlap_and_points_lie_in_both_boxes():
    """Of boxes at random, moved until they overlap by a centimetre, beside all 15 axes and all corners."""
    rng, kinds = np.random.default_rng(3), set()
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    for _ in range(300):
        a, b = rng.uniform(0.1, 0.6, (2, 3))
        R, t = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
        axes = [*np.eye(3), *R.T, *(np.cross(e, f) for e in np.eye(3) for f in R.T)]
        axes = np.array([sign * n / np.linalg.norm(n) for n in axes for sign in (-1.0, 1.0)])
        apart = (t + corners * a @ R.T) @ axes.T
        separations = apart.min(axis=0) - (corners * b @ axes.T).max(axis=0)
        best = int(separations.argmax())
        t = t - (separations[best] + 0.01) * axes[best]
        apart = (t + corners * a @ R.T) @ axes.T
        separations = apart.min(axis=0) - (corners * b @ axes.T).max(axis=0)
        if separations.max() > -0.0099:
            continue  # another axis separates them now
        normal, gaps, points = manifold(R, t, tuple(a), tuple(b))
        own = ((t + corners * a @ R.T) @ normal).min() - (corners * b @ normal).max()
        assert own > separations.max() - 1e-4
        there = [k for k, gap in enumerate(gaps) if gap < np.linalg.norm(a) + np.linalg.norm(b)]
        assert there and min(gaps) > own - 1e-9
        kinds.add("edge" if best >= 12 else "face")
        for k in there:
            outside = max((np.abs(points[k]) - b).max(), (np.abs(R.T @ (points[k] - t)) - a).max())
            assert outside < max(gaps[k], 0.0) + 0.0101
    assert kinds == {"edge", "face"}


def test_compliant_boxes_stand_on_boxes_too():
    robot, contact = on_table((CUBE, CUBE), CompliantContact, stiffness=2e4)
    q = poses(robot, ((0.0, 0.0, 0.1), (0.0,) * 3), ((1e-12, 0.0, 0.3), (0.0,) * 3))
    path = robot.rollout(q, np.zeros(robot.nv), None, 2e-4, 5000, contact=contact)
    weights, k = np.array([2.0, 1.0]) * G, 4 * 2e4
    sunk = weights / k
    close(path.q[-1, [2, 9]], np.array([0.1 - sunk[0], 0.3 - sunk.sum()]), 1e-5)


def test_the_residual_tells_where_sweeps_are_not_enough():
    """A thousand times its own mass is more than a box carries by twelve sweeps: it is said, in every step."""
    names, worst = ["box0", "box1"], {}
    for heavy in (1.0, 1000.0):
        robot = stack((CUBE, CUBE), (1.0, heavy))
        blocks = [Block(TABLE.size, TABLE.position, only="box0"), Block(CUBE, frame="box0", only="box1")]
        q, v, forces = poses(robot, ((0.0, 0.0, 0.1), (0.0,) * 3), ((0.0, 0.0, 0.3), (0.0,) * 3)), np.zeros(12), None
        step = RigidContact(names, blocks).dynamics(robot).step
        forces, told = np.zeros((8, 3)), {}
        for _ in range(20):
            q, v, told = step(q, v, np.zeros(12), DT, contact_forces=forces)
            forces = told["contact_forces"]
        worst[heavy] = told["contact_residual"]
    assert worst[1000.0] > 1e-3
    assert worst[1.0] < 1e-4


def test_boxes_that_are_obstacles_to_each_other_meet_once():
    robot, names = stack((CUBE,) * 3, (1.0,) * 3), ["box0", "box1", "box2"]
    contact = RigidContact(names, [Ground(), *(Block(CUBE, frame=name) for name in names)])
    found = contact.pairs(robot)
    assert len(found) == 3 * 8 + 3 * 4
    meeting = {(pair.touch.frame, pair.obstacle.frame) for pair in found if pair.obstacle.frame}
    again = RigidContact(names[::-1], [*(Block(CUBE, frame=name) for name in names[::-1]), Ground()]).pairs(robot)
    assert len(meeting) == 3
    assert meeting == {(pair.touch.frame, pair.obstacle.frame) for pair in again if pair.obstacle.frame}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: RigidContact("body", Terrain([Ground(), Block(CUBE)])).pairs(shape(Box(CUBE))),
            "link 'body' collides as Box, which does not feel the edges of a Terrain; expected every Block as an obst",
        ),
        (
            lambda: RigidContact("body", Block(CUBE)).pairs(shape(Capsule(0.1, 0.3))),
            "link 'body' collides as Capsule, which does not feel the edges of a Block; expected a sphere, a box, or a",
        ),
        (
            lambda: CompliantContact("body", Block(CUBE)).pairs(shape(Cylinder(0.1, 0.3))),
            "link 'body' collides as Cylinder, which does not feel the edges of a Block",
        ),
        (
            lambda: RigidContact("body", Block(CUBE)).pairs(shape(Box((0.1, 0.1, 0.0)))),
            "link 'body' collides as a box of size (0.1, 0.1, 0.0); expected positive lengths",
        ),
        (lambda: RigidContact(["body", "body"]), "touching has 'body' twice; expected every one once"),
        (lambda: RigidContact("body", [Ground(), Ground()]), "obstacles has Ground("),
        (lambda: Block(CUBE, only=3), "only is 3; expected names of frames"),
        (lambda: Block(CUBE, only=[3]), "only has 3; expected the name of a frame"),
        (lambda: Ground(frame=3), "frame of an obstacle is 3; expected the name of a frame"),
        (
            lambda: RigidContact("body", Ground(only="bdy")).pairs(shape(Box(CUBE))),
            "frame 'bdy' does not exist; did you mean 'body'?",
        ),
        (lambda: RigidContact("body", Ground(frame="bdy")).pairs(shape(Box(CUBE))), "frame 'bdy' does not exist"),
        (
            lambda: each_with_all(10),
            "contact has 260 pairs and 12 sweeps, and all of it is compiled; expected at most 250 pairs",
        ),
    ],
)
def test_what_cannot_be_honoured_is_refused(make, message):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError, kt.UnknownNameError)) as error:
        make()
    assert str(error.value).startswith(message)


def shape(collides):
    return one_body(kt.solids.box(CUBE, mass=1.0), collides)


def each_with_all(count):
    """Boxes, each of which may touch all others and the ground."""
    robot, names = stack((CUBE,) * count, (1.0,) * count), [f"box{k}" for k in range(count)]
    contact = RigidContact(names, [Ground(), *(Block(CUBE, frame=name) for name in names)])
    robot.rollout(robot.neutral(), np.zeros(robot.nv), None, DT, 1, contact=contact)

"""The viewer without a browser: addresses, states, targets, motions, numbers, and what is refused.

Covers: viewer/base.py, viewer/camera.py, viewer/export.py, viewer/follow.py, viewer/layers.py, viewer/motion.py,
viewer/overlays.py, viewer/panel.py, viewer/readout.py, viewer/server.py, viewer/shown.py, viewer/sliders.py,
viewer/stage.py, viewer/target.py, viewer/together.py.
"""

import contextlib
import io
import socket
import threading
import time
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.geometry.ground import margin, placed_shapes
from kinetree.viewer import Viewer
from kinetree.viewer.layers import ellipsoid
from kinetree.viewer.motion import as_motion
from kinetree.viewer.readout import Readout
from kinetree.viewer.stage import State
from kinetree.viewer.together import differences

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="module")
def viewer(arm):
    with arm.view() as viewer:
        yield viewer


def shown_pose(viewer, body):
    """Of a body as the scene has it."""
    node = viewer.first.stage.bodies[body]
    pose = np.eye(4)
    pose[:3, :3] = kt.rotations.matrix_from_quaternion(np.roll(node.wxyz, -1))
    pose[:3, 3] = node.position
    return pose


def crouching(robot):
    """The quadruped with bent knees."""
    q = robot.neutral()
    for k, name in enumerate(robot.joint_names, start=7):
        q[k] = {"haa": 0.0, "hfe": 0.6, "kfe": -1.2}[name[-3:]]
    return q


def settle(target):
    assert target.wait(20.0) and target.settled


def listens(host, port):
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((host, port)) == 0


# -- addresses ---------------------------------------------------------------------------------------------------


def test_it_listens_at_the_loopback_only_and_prints_nothing(arm):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), arm.view() as viewer:
        assert viewer.url.startswith(f"http://127.0.0.1:{viewer.port}/?token=") and listens("127.0.0.1", viewer.port)
        assert viewer.server.get_host() == "127.0.0.1"
    assert not printed.getvalue()


def test_closing_frees_the_port_and_ends_the_threads(arm):
    before = set(threading.enumerate())
    viewer = arm.view()
    port = viewer.port
    viewer.close()
    viewer.close()
    assert not listens("127.0.0.1", port)
    again = arm.view(port=port)
    assert again.port == port
    again.close()
    end = time.monotonic() + 5.0
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(0.05)
    assert not set(threading.enumerate()) - before
    assert again.wait(0.0) and "closed" in repr(again)


def test_several_at_once_and_a_port_that_is_taken(arm, viewer):
    with arm.view() as other:
        assert other.port != viewer.port
        other.q = np.full(6, 0.1)
        assert not np.allclose(viewer.q, other.q)
    with pytest.raises(kt.KinetreeError, match=rf"port {viewer.port} of 127\.0\.0\.1 is taken"):
        arm.view(port=viewer.port)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"port": "80"}, "port is '80'; expected a number from 1 to 65535"),
        ({"port": 70000}, "port is 70000"),
        ({"host": "no.such.host.invalid"}, "no address of this machine"),
        ({"host": "192.0.2.1"}, "no address of this machine"),
        ({"q": np.zeros(5)}, r"q has shape \(5,\); expected"),
        ({"q": np.full(6, np.nan)}, "q is not finite"),
        ({"show": ["visuals"]}, "did you mean 'visual'"),
        ({"contacts": ["foot"]}, "frame 'foot' does not exist"),
        ({"contacts": [3]}, "contacts has 3; expected names of frames"),
        ({"contacts": 3}, "contacts is 3; expected names of frames"),
        ({"light": "dark"}, "light is 'dark'; expected 'studio' or 'plain'"),
        ({"motion": 3}, "motion is 3; expected a rollout"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_and_nothing_stays_open(arm, options, sentence):
    before = threading.active_count()
    with pytest.raises(kt.KinetreeError, match=sentence):
        arm.view(**options)
    end = time.monotonic() + 5.0
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.05)
    assert threading.active_count() <= before


def test_only_robots_are_shown(arm):
    for robots in ("arm6", [arm, "arm6"], [], 3):
        with pytest.raises(kt.KinetreeError, match="robots"):
            Viewer(robots)


# -- states ------------------------------------------------------------------------------------------------------


def test_bodies_are_where_the_robot_has_them(arm, viewer):
    for seed in range(3):
        viewer.q = arm.random(seed)
        for k, pose in enumerate(arm.poses(viewer.q), start=1):
            np.testing.assert_allclose(shown_pose(viewer, k), pose, atol=1e-6)


def test_every_shape_is_placed_as_its_file_says(arm, viewer):
    """The pose of a shape in its body, times that of the body, is what Pinocchio places."""
    pin = pytest.importorskip("pinocchio")
    text = arm.to_urdf()
    model = pin.buildModelFromXML(text)
    shapes = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.VISUAL)
    q = arm.random(5)
    viewer.q = q
    data, placed = model.createData(), shapes.createData()
    pin.updateGeometryPlacements(model, data, shapes, placed, q)
    listed = placed_shapes(arm.model, "visual")
    assert len(listed) == len(placed.oMg) > 6
    world = [np.eye(4), *arm.poses(q)]
    ours = np.array([world[frame.body] @ pose for frame, pose, _ in listed])
    theirs = np.array([each.homogeneous for each in placed.oMg])
    for pose in theirs:
        assert np.abs(ours - pose).max(axis=(1, 2)).min() < 1e-9


def test_a_floating_robot_is_put_on_the_ground():
    robot = kt.load("humanoid", base="floating")
    with robot.view() as viewer:
        assert viewer.q[2] == pytest.approx(0.97)
        assert viewer.first.ground.height(viewer.q) == pytest.approx(0.0, abs=1e-9)


def test_layers_are_made_when_asked_for(arm, viewer):
    inertia = viewer.first.layers["inertia"]
    assert not inertia.nodes
    viewer.show("inertia", "com", "frames", "names", "skeleton", "support", "collision")
    assert len(inertia.nodes) == len(arm.body_names) and all(node.visible for node in inertia.nodes)
    viewer.show("inertia", visible=False)
    assert not any(node.visible for node in inertia.nodes)
    viewer.q = arm.random(2)
    np.testing.assert_allclose(viewer.first.layers["com"].nodes[0].position, arm.center_of_mass(viewer.q), atol=1e-6)
    with pytest.raises(kt.UnknownNameError, match="did you mean 'frames'"):
        viewer.show("frame")


def test_a_robot_without_shapes_gets_sticks():
    with kt.load("puma560").view() as viewer:
        assert viewer.first.layers["skeleton"].visible and viewer.first.layers["skeleton"].nodes


def test_a_missing_mesh_is_a_warning_and_the_rest_is_shown():
    text = """<robot name="r"><link name="a"><visual><geometry><mesh filename="package://no/no.stl"/></geometry></visual>
    <visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = kt.load(text)
    with pytest.warns(kt.ModelWarning, match=r"r: mesh 'package://no/no\.stl' was not found; the rest is shown"):
        viewer = robot.view()
    with viewer:
        assert len(viewer.first.layers["visual"].nodes) == 1


def test_the_ellipsoid_of_inertia_is_that_of_the_body():
    radii, turned = np.array([0.1, 0.25, 0.4]), kt.rotations.matrix_from_euler([0.3, 0.4, 0.5], "xyz")
    body = kt.solids.ellipsoid(radii, mass=2.0).rotated(turned).shifted([0.1, 0.2, 0.3])
    found, pose = ellipsoid(body)
    np.testing.assert_allclose(np.sort(found), radii)
    np.testing.assert_allclose(pose[:3, 3], [0.1, 0.2, 0.3])
    shape = pose[:3, :3] @ np.diag(found**2) @ pose[:3, :3].T
    np.testing.assert_allclose(shape, turned @ np.diag(radii**2) @ turned.T, atol=1e-12)


def test_several_robots_side_by_side(arm):
    with Viewer([arm, arm, kt.load("arm7")], q=[np.zeros(6), np.full(6, 0.2), None]) as viewer:
        assert list(viewer.robots) == ["arm6", "arm6 2", "arm7"]
        edges = [np.add(shown.stage.extent(), shown.stage.offset)[:, 1] for shown in viewer.robots.values()]
        assert edges[0][1] < edges[1][0] and edges[1][1] < edges[2][0]
        np.testing.assert_array_equal(viewer["arm6 2"].q, np.full(6, 0.2))
        with pytest.raises(kt.UnknownNameError, match="robot 'arm8' does not exist"):
            viewer["arm8"]
    with pytest.raises(kt.ArgumentError, match="q has 1 entries; expected one for each of 2 robots"):
        Viewer([arm, arm], q=[np.zeros(6)])


# -- targets -----------------------------------------------------------------------------------------------------


def test_motions_play_together_and_the_shorter_waits(arm):
    q = np.zeros((3, 6))
    q[:, 1] = [0.0, 0.4, 0.8]
    short, long = (np.array([3.0, 3.5, 4.0]), q), (np.array([0.0, 1.0, 5.0]), q)
    with arm.view({"short": short, "long": long}, show="skeleton") as viewer:
        assert list(viewer.robots) == ["short", "long"]
        assert all(shown.playing and shown.motion.duration == 5.0 for shown in viewer.robots.values())
        time.sleep(0.2)
        with viewer.lock:
            now = time.monotonic()
            one, other = (shown.tick(now) and shown.time for shown in viewer.robots.values())
        assert abs(one - other) < 1e-9, "they have one clock"
        for shown in viewer.robots.values():
            shown.pause()
            shown.seek(3.0)
        np.testing.assert_allclose(viewer["short"].q[1], 0.8)
        np.testing.assert_allclose(viewer["long"].q[1], 0.6)
        assert not viewer["short"].stage.state.v.any(), "it waits"
        rows = list(differences(viewer["short"], viewer["long"]))
        assert "long: shoulder_lift" in rows[0] and "-0.200 rad" in rows[0] and "m apart" in rows[1]
        viewer.play({"long": short}, start=False)
        assert viewer["long"].motion.duration == 1.0 and not viewer["long"].playing
        with pytest.raises(kt.ArgumentError, match="robot 'longer' does not exist; did you mean 'long'"):
            viewer.play({"longer": short})
        with pytest.raises(kt.ArgumentError, match="motions is empty"):
            viewer.play({})
        with pytest.raises(kt.ArgumentError, match="q has shape"):
            viewer.play({"short": short, "long": (short[0], q[:, :5])})
        assert viewer["short"].motion.duration == 5.0, "nothing has changed"


def test_names_of_strangers_stay_names(arm):
    builder = kt.ModelBuilder("a/b")
    builder.link("base")
    builder.link("x/<b>#1", kt.Inertia.from_com(1.0, (0, 0, 0.1), np.eye(3)))
    builder.joint("j", "revolute", "base", "x/<b>#1")
    with kt.Robot(builder.build()).view(show=["skeleton", "inertia", "frames"]) as viewer:
        paths = [node.name for layer in viewer.first.layers.values() for node in layer.nodes]
    assert "/a_b/1_x_<b>#1/inertia of x_<b>#1, 1 kg #inertia" in paths
    assert "/a_b/1_x_<b>#1/j, revolute joint #axis" in paths


def test_the_robot_follows_its_target(arm):
    q0 = np.array([0.3, -0.8, 1.2, -0.4, 1.0, 0.0])
    with arm.view(q=q0) as viewer:
        target = viewer.follow("tool0")
        np.testing.assert_allclose(target.pose, arm.frame("tool0").pose(q0))
        goal = target.pose
        goal[:3, 3] += [0.05, 0.1, -0.1]
        target.pose = goal
        settle(target)
        assert target.gap.closed
        pose = arm.frame("tool0").pose(viewer.q)
        assert np.linalg.norm(pose[:3, 3] - goal[:3, 3]) < 1e-3
        assert np.all(viewer.q >= arm.limits.lower - 1e-9) and np.all(viewer.q <= arm.limits.upper + 1e-9)
        np.testing.assert_allclose(shown_pose(viewer, 6), arm.poses(viewer.q)[5], atol=1e-6)
        goal[:3, 3] = [3.0, 0.0, 0.5]
        target.pose = goal
        settle(target)
        assert not target.gap.closed and target.gap.distance > 1.0
        assert target.status == f"not reached: {target.gap}" and target.label.visible
        assert target.label.text == target.status
        assert viewer.follow(None) is None and viewer.first.target is None


def test_a_search_finds_what_steps_do_not(arm):
    rng = np.random.default_rng(1)
    with arm.view() as viewer:
        for _ in range(6):
            goal = arm.frame("tool0").pose(arm.random(rng))
            viewer.q = arm.random(rng)
            target = viewer.follow("tool0")
            target.pose = goal
            settle(target)
            assert target.gap.closed, str(target.gap)


def test_feet_stay_while_the_trunk_is_dragged():
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    with robot.view(q=crouching(robot), contacts=feet) as viewer:
        before = [robot.frame(name).pose(viewer.q)[:3, 3] for name in feet]
        target = viewer.follow("base_link")
        goal = target.pose
        goal[:3, 3] += [0.05, 0.04, -0.06]
        target.pose = goal
        settle(target)
        assert target.gap.closed
        for name, place in zip(feet, before, strict=True):
            assert np.abs(robot.frame(name).pose(viewer.q)[:3, 3] - place).max() < 1e-3
        viewer.first.q = crouching(robot)
        goal[:3, 3] += [0.0, 0.0, 2.0]
        target.pose = goal
        settle(target)
        assert not target.gap.closed
        assert np.abs(robot.frame(feet[0]).pose(viewer.q)[:3, 3] - before[0]).max() < 5e-3
        with pytest.raises(kt.UnknownNameError, match="did you mean 'base_link'"):
            viewer.follow("base_lnk")


def test_without_contacts_a_floating_base_stays():
    robot = kt.load("quadruped", base="floating")
    with robot.view(q=crouching(robot)) as viewer:
        q = viewer.q
        foot = next(name for name in robot.frame_names if name.endswith("foot"))
        target = viewer.follow(foot)
        goal = target.pose
        goal[:3, 3] += [0.05, 0.0, 0.1]
        target.pose = goal
        settle(target)
        np.testing.assert_allclose(viewer.q[:7], q[:7], atol=1e-6)
        assert target.gap.closed and np.abs(viewer.q - q).max() > 0.05


# -- motions -----------------------------------------------------------------------------------------------------


def test_a_motion_goes_the_shortest_way_between_its_samples():
    robot = kt.load("quadruped", base="floating")
    rng = np.random.default_rng(0)
    t, q = np.array([1.0, 1.5, 3.0]), robot.random(rng, 3)
    motion = as_motion(robot, (t, q), {"base_link": np.ones((3, 3))})
    assert motion.duration == 2.0
    for k in range(3):
        np.testing.assert_allclose(motion.at(t[k] - 1.0).q, q[k], atol=1e-12)
    between = motion.at(0.2).q
    np.testing.assert_allclose(robot.difference(q[0], between), 0.4 * robot.difference(q[0], q[1]), atol=1e-9)
    np.testing.assert_allclose(motion.v[0], robot.difference(q[0], q[1]) / 0.5)
    np.testing.assert_array_equal(motion.at(9.0).q, q[-1])


@pytest.mark.parametrize(
    ("motion", "sentence"),
    [
        ((np.arange(3.0), np.zeros((2, 6))), "t has shape"),
        ((np.zeros(3), np.zeros((3, 6))), r"t\[1\] is 0; expected finite times that rise"),
        ((np.array([0.0, 1.0, np.nan]), np.zeros((3, 6))), r"t\[2\] is nan; expected finite times that rise"),
        ((np.arange(3.0), np.zeros((2, 3, 6))), "expected one motion"),
        ((np.arange(2.0), np.full((2, 6), np.nan)), r"q\[0\] is not finite"),
        ((np.arange(2.0), np.zeros((2, 5))), "q has shape"),
    ],
    ids=range(6),
)
def test_what_is_no_motion_is_refused(arm, motion, sentence):
    with pytest.raises(kt.ArgumentError, match=sentence):
        as_motion(arm, motion)


def test_nothing_is_shown_that_is_none(arm, viewer):
    target = viewer.follow("tool0")
    for pose in (np.eye(3), np.full((4, 4), np.nan), np.zeros((4, 4)), "up"):
        with pytest.raises(kt.KinetreeError, match=r"^pose "):
            target.pose = pose
    viewer.follow(None)
    with pytest.raises(kt.ArgumentTypeError, match="wrenches is 3; expected a dictionary of forces by frame"):
        viewer.set(np.zeros(6), wrenches=3)
    viewer.play((np.arange(2.0), np.zeros((2, 6))), start=False)
    with pytest.raises(kt.ArgumentError, match="seconds is nan"):
        viewer.first.seek(np.nan)
    with pytest.raises(kt.ArgumentTypeError, match="path is None; expected the name of a file"):
        viewer.export(None)


def test_after_closing_nothing_can_be_shown(arm):
    viewer = arm.view()
    viewer.play((np.arange(2.0), np.zeros((2, 6))))  # closed while it plays
    viewer.close()
    viewer.close()
    assert viewer.q.shape == (6,)
    for late in (lambda: viewer.set(np.zeros(6)), lambda: viewer.play((0, 1)), lambda: viewer.follow("tool0")):
        with pytest.raises(kt.KinetreeError, match="the viewer is closed"):
            late()


def test_a_rollout_is_played(arm):
    rolled = arm.rollout(np.full(6, 0.3), np.zeros(6), None, 0.01, 100)
    with arm.view(rolled) as viewer:
        shown = viewer.first
        assert shown.playing
        end = time.monotonic() + 5.0
        while shown.time < 0.3 and time.monotonic() < end:
            time.sleep(0.02)
        shown.pause()
        np.testing.assert_allclose(viewer.q, shown.motion.at(shown.time).q)
        assert np.abs(viewer.q - 0.3).max() > 0.01
        shown.seek(0.5)
        np.testing.assert_allclose(viewer.q, rolled.q[50], atol=1e-12)
        np.testing.assert_allclose(shown.stage.state.v, rolled.v[50], atol=1e-12)
        shown.play(rolled, speed=50.0, loop=False)
        while shown.playing and time.monotonic() < end:
            time.sleep(0.02)
        np.testing.assert_array_equal(viewer.q, rolled.q[-1])
        with pytest.raises(kt.ArgumentError, match="speed is 0"):
            shown.play(rolled, speed=0.0)


def test_a_trajectory_of_joints_is_played(arm):
    from kinetree.trajectories import JointMove  # noqa: PLC0415

    move = JointMove(arm, np.zeros(6), np.full(6, 0.5), 2.0)
    motion = as_motion(arm, move)
    np.testing.assert_allclose(motion.at(1.0).q, move(1.0).position, atol=1e-12)


def test_forces_are_arrows_from_where_they_act():
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    q = crouching(robot)
    with robot.view(q=q, contacts=feet) as viewer:
        viewer.first.stand()
        layer, state = viewer.first.layers["forces"], viewer.first.stage.state
        arrows = layer.arrows(state)
        weight = robot.mass * 9.81
        total = (arrows[:, 1] - arrows[:, 0]).sum(axis=0) / layer.metres_per_newton
        np.testing.assert_allclose(total, [0.0, 0.0, weight], atol=1e-2)
        for foot, arrow in zip(feet, arrows, strict=True):
            np.testing.assert_allclose(arrow[0], robot.frame(foot).pose(q)[:3, 3], atol=1e-6)
        assert layer.nodes[0].visible
        viewer.q = q
        assert not layer.nodes[0].visible, "another state, no forces"


# -- numbers -----------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_robot(arm):
    rng = np.random.default_rng(4)
    q, v = arm.random(rng), rng.normal(size=6)
    numbers = Readout(arm, ()).numbers(State(q, v), "tool0")
    J = arm.frame("tool0").jacobian(q)
    assert numbers.manipulability == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)))
    assert numbers.condition == pytest.approx(np.linalg.cond(J))
    np.testing.assert_allclose(numbers.holding, arm.gravity_forces(q))
    np.testing.assert_allclose(numbers.momentum[:3], arm.mass * arm.center_of_mass_velocity(q, v))
    assert numbers.kinetic_energy == pytest.approx(0.5 * v @ arm.mass_matrix(q) @ v)


def test_numbers_that_are_zero_look_so(arm):
    readout = Readout(arm, ())
    numbers = readout.numbers(State(np.zeros(6), np.zeros(6)), "tool0")  # stretched out, straight up
    assert "0 <small>(condition ∞)" in readout.facts(numbers)
    assert "-0.00" not in readout.efforts(numbers)


def test_on_contacts_holding_efforts_carry_the_weight():
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    tau, forces = Readout(robot, tuple(kt.Contact(foot) for foot in feet)).holding(robot.neutral())
    np.testing.assert_allclose(tau[:6], 0.0, atol=1e-6)
    assert sum(force[2] for force in forces.values()) == pytest.approx(robot.mass * 9.81, rel=1e-6)


def test_efforts_are_listed_for_every_joint_and_overload_is_marked(arm):
    def table(robot):
        readout = Readout(robot, ())
        return readout.efforts(readout.numbers(State(np.array([0.0, 1.5, 0.0, 0.0, 0.0, 0.0]), np.zeros(6)), "tool0"))

    assert all(name in table(arm) for name in arm.joint_names) and "#dc2626" not in table(arm)
    assert "#dc2626" in table(kt.edit.attach(arm, "tool0", kt.solids.box((0.1, 0.1, 0.1), mass=200.0)))


def test_inside_and_outside_of_a_polygon():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert margin(square, np.array([0.5, 0.5])) >= 0.0 > margin(square, np.array([1.5, 0.5]))
    assert margin(square[:2], np.array([0.5, 0.0])) < 0.0

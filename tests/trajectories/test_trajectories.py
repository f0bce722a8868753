"""Trajectories against difference quotients, closed forms and SciPy; tracking by closing the loop.

Covers: trajectories/joints.py, trajectories/points.py, trajectories/poses.py, trajectories/profiles.py,
trajectories/tracking.py, trajectories/trajectory.py, trajectories/turns.py.
"""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

import kinetree as kt
from kinetree import rotations as rot
from kinetree import trajectories as tr
from peers import close

H = 1e-5
PROFILES = ["linear", "cubic", "quintic", "trapezoid", tr.Trapezoid(0.1), tr.Trapezoid(0.5)]
START, END = np.array([0.1, -0.2, 0.3]), np.array([1.0, 0.5, -0.4])


def pose(seed):
    T = np.eye(4)
    T[:3, :3] = rot.matrix_from_quaternion(rot.random(seed))
    T[:3, 3] = np.random.default_rng(seed).normal(size=3)
    return T


def robot_move():
    robot = kt.load("quadruped", base="floating")
    rng = np.random.default_rng(0)
    return tr.JointMove(robot, robot.random(rng), robot.random(rng), 2.0)


MOTIONS = {
    "line": tr.Line(START, END, 2.0),
    "cubic line": tr.Line(START, END, 2.0, "cubic"),
    "arc": tr.Arc.through(START, [0.5, 0.6, 0.2], END, 2.0),
    "more than a turn": tr.Arc(START, [0.0, 0.0, 1.0], [1.0, 2.0, 3.0], 8.0, 2.0),
    "polynomial": tr.Polynomial.between(
        tr.PointState(START, END, START), tr.PointState(END, START, np.array([1.0, 2.0, -3.0])), 2.0
    ),
    "spline": tr.spline([START, END, -START, END], [0.0, 0.5, 1.4, 2.0]),
    "stops": tr.Sequence([tr.Line(START, END, 0.7), tr.Line(END, -END, 1.3)]),
    "joints": tr.Line(np.arange(7.0), np.ones(7), 2.0),
}
SAMPLES = np.array([0.1, 0.3, 0.45, 0.69, 0.8, 1.2, 1.39, 1.9])


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles(profile):
    move = tr.Line([0.0], [1.0], 1.0, profile)
    t = np.linspace(0.0, 1.0, 2001)
    s, rate, second = (x[:, 0] for x in move(t))
    assert s[0] == 0.0 and abs(s[-1] - 1.0) < 1e-15 and np.all(np.diff(s) >= 0.0)
    close(np.gradient(s, t)[1:-1], rate[1:-1], 3e-3)
    close(np.cumsum(rate[:-1] + rate[1:]) * 0.5 * (t[1] - t[0]), s[1:], 1e-5)
    made = move.profile
    close(np.array([rate.max(), np.abs(second).max()]), np.array(made.peaks), 1e-4)
    if profile != "linear":
        close(rate[[0, -1]], np.zeros(2), 1e-15)
    if profile == "quintic":
        close(second[[0, -1]], np.zeros(2), 1e-13)
    duration = tr.shortest_duration(0.8, 0.5, 2.0, profile)
    fast = tr.Line([0.0], [0.8], duration, profile)(np.linspace(0.0, duration, 2001))
    used = [np.abs(fast.velocity).max() / 0.5, np.abs(fast.acceleration).max() / 2.0]
    assert max(used) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", MOTIONS)
def test_velocity_and_acceleration_are_derivatives(name):
    motion = MOTIONS[name]
    state, ahead, behind = motion(SAMPLES), motion(SAMPLES + H), motion(SAMPLES - H)
    scale = 1.0 + np.abs(state.acceleration).max()
    close(state.velocity, (ahead.position - behind.position) / (2 * H), 1e-7 * scale)
    close(state.acceleration, (ahead.velocity - behind.velocity) / (2 * H), 1e-6 * scale)
    for k, t in enumerate(SAMPLES):
        for one, many in zip(motion(t), state, strict=True):
            assert one.shape == many.shape[1:]
            close(one, many[k], 1e-14 * scale)
    assert motion(SAMPLES.reshape(2, 4)).velocity.shape == (2, 4, len(motion(0.0).position))


@pytest.mark.parametrize("name", MOTIONS)
def test_it_rests_before_and_after(name):
    motion = MOTIONS[name]
    for t, at in ((-1.0, 0.0), (motion.duration + 1.0, motion.duration)):
        outside, end = motion(t), motion.at(at)
        assert np.array_equal(outside.position, end.position)
        assert not outside.velocity.any() and not outside.acceleration.any()
    assert motion.duration == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["line", "arc", "spline", "stops", "polynomial"])
def test_inside_a_compiled_function(name):
    motion = MOTIONS[name]
    law = kt.compile(motion.__call__, shapes={"t": ()})
    t = np.concatenate([SAMPLES, [-0.3, 0.0, 2.0, 2.5]])
    for ours, theirs in zip(law(t), motion(t), strict=True):
        close(ours, theirs, 1e-12)


def test_a_line_is_straight_and_an_arc_is_round():
    t = np.linspace(0.0, 2.0, 50)
    p = MOTIONS["line"](t).position
    close(np.cross(p - START, END - START), np.zeros((50, 3)), 1e-15)
    arc = MOTIONS["arc"]
    p, via = arc(t).position, np.array([0.5, 0.6, 0.2])
    radius = np.linalg.norm(START - arc.center)
    close(np.linalg.norm(p - arc.center, axis=1), np.full(50, radius), 1e-14)
    close(p[[0, -1]], np.array([START, END]), 1e-14)
    assert np.linalg.norm(arc(np.linspace(0, 2, 20001)).position - via, axis=1).min() < 1e-3
    fine = arc(np.linspace(0.0, 2.0, 5001)).position
    assert np.linalg.norm(np.diff(fine, axis=0), axis=1).sum() == pytest.approx(arc.length, rel=1e-6)


@pytest.mark.parametrize("angle", [0.4, 2.0, 3.5, 6.0])
def test_arcs_through_three_points_go_by_the_middle_one(angle):
    given = tr.Arc(START, [0.0, 0.0, 1.0], [1.0, 2.0, 3.0], angle, 2.0, "linear")
    found = tr.Arc.through(START, given(0.5).position, given(2.0).position, 2.0, "linear")
    assert found.angle == pytest.approx(angle, abs=1e-12)
    close(found(SAMPLES).position, given(SAMPLES).position, 1e-12)


def test_the_spline_is_that_of_scipy():
    points, instants = np.random.default_rng(1).normal(size=(6, 4)), np.array([0.0, 0.4, 1.0, 1.1, 2.0, 2.7])
    ends = np.array([0.3, -1.0, 0.2, 0.0]), np.array([1.0, 0.5, 0.0, -0.7])
    ours = tr.spline(points, instants, *ends)
    theirs = CubicSpline(instants, points, bc_type=((1, ends[0]), (1, ends[1])))
    t = np.linspace(0.0, 2.7, 300)
    for derivative, part in enumerate(ours(t)):
        close(part, theirs(t, derivative), 1e-9)
    close(ours(instants).position, points, 1e-13)
    two = tr.spline(points[:2], [0.0, 1.5])
    close(two(t).position, tr.Line(points[0], points[1], 1.5, "cubic")(t).position, 1e-13)


@pytest.mark.parametrize("as_matrices", [True, False])
def test_turns_are_slerps(as_matrices):
    a, b = rot.random(1), rot.random(2)
    given = (rot.matrix_from_quaternion(a), rot.matrix_from_quaternion(b)) if as_matrices else (a, b)
    turn = tr.Turn(*given, 2.0, "linear")
    t = np.linspace(0.0, 2.0, 21)
    theirs = Slerp([0.0, 2.0], Rotation.from_quat([a, b]))(t)
    close(turn(t).rotation, theirs.as_matrix(), 1e-14)
    smooth = tr.Turn(*given, 2.0)
    state, ahead, behind = smooth(SAMPLES), smooth(SAMPLES + H), smooth(SAMPLES - H)
    turned = Rotation.from_matrix(ahead.rotation) * Rotation.from_matrix(behind.rotation).inv()
    close(state.velocity, turned.as_rotvec() / (2 * H), 1e-8)
    close(state.acceleration, (ahead.velocity - behind.velocity) / (2 * H), 1e-7)
    assert smooth.angle == pytest.approx(rot.distance(a, b))
    still = tr.Turn(a, -a, 1.0)(0.3)
    close(still.rotation, rot.matrix_from_quaternion(a), 1e-15)
    close(still.velocity, np.zeros(3), 1e-15)


@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
def test_poses(order):
    motion = tr.pose_line(pose(1), pose(2), 2.0, spatial_order=order)
    state = motion(SAMPLES)
    assert state.pose.shape == (8, 4, 4) and state.velocity.shape == state.acceleration.shape == (8, 6)
    linear, angular = (slice(0, 3), slice(3, 6)) if order == "linear-first" else (slice(3, 6), slice(0, 3))
    line, turn = tr.Line(pose(1)[:3, 3], pose(2)[:3, 3], 2.0), tr.Turn(pose(1)[:3, :3], pose(2)[:3, :3], 2.0)
    close(state.velocity[:, linear], line(SAMPLES).velocity, 1e-15)
    close(state.velocity[:, angular], turn(SAMPLES).velocity, 1e-15)
    close(state.acceleration[:, angular], turn(SAMPLES).acceleration, 1e-15)
    close(state.pose[:, :3, :3], turn(SAMPLES).rotation, 1e-15)
    close(motion(2.0).pose, pose(2), 1e-14)
    both = tr.Sequence([motion, tr.pose_line(pose(2), pose(3), 1.0, "trapezoid", order)])
    close(both(np.array([2.0, 2.5, 9.0])).pose[2], pose(3), 1e-14)
    law = kt.compile(both.__call__, shapes={"t": ()})
    for ours, theirs in zip(law(SAMPLES * 1.5), both(SAMPLES * 1.5), strict=True):
        close(ours, theirs, 1e-13)


def test_joints_with_quaternions():
    move = robot_move()
    robot, t = move.robot, np.array([0.2, 0.9, 1.5])
    state, ahead, behind = move(t), move(t + H), move(t - H)
    close(state.velocity, robot.difference(behind.position, ahead.position) / (2 * H), 1e-7)
    close(state.acceleration, (ahead.velocity - behind.velocity) / (2 * H), 1e-6)
    close(robot.difference(move(2.0).position, move.end), np.zeros(robot.nv), 1e-13)
    law = kt.compile(lambda robot, t: tr.JointMove(robot, move.start, move.end, 2.0)(t), shapes={"t": ()})
    close(law(robot, t).position, state.position, 1e-13)


def test_tracking_lets_errors_decay():
    """A frame that moves as it is told comes to the target as exp(-k t), though the target moves and turns."""
    target, T, dt = tr.pose_line(pose(3), pose(4), 2.0), pose(5), 1e-3
    k_position, k_rotation = 4.0, 2.0

    def errors(t):
        wanted = target(t).pose
        return np.array(
            [np.linalg.norm(wanted[:3, 3] - T[:3, 3]), np.linalg.norm(rot.rotation_error(wanted[:3, :3], T[:3, :3]))]
        )

    first = errors(0.0)
    for k in range(1000):
        middle = target((k + 0.5) * dt)
        twist = tr.tracking_twist(T, middle.pose, middle.velocity, k_position, k_rotation)
        T[:3, 3] += dt * twist[:3]
        T[:3, :3] = rot.matrix_from_rotation_vector(dt * twist[3:]) @ T[:3, :3]
    np.testing.assert_allclose(errors(1.0), first * np.exp([-k_position, -k_rotation]), rtol=0.02)


@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
def test_tracking_in_a_law(order):
    robot = kt.load("arm6", spatial_order=order)
    start = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.1])
    end = robot.frame("tool0").pose(start + 0.3)
    motion = tr.pose_line(robot.frame("tool0").pose(start), end, 1.0, spatial_order=order)

    @kt.compile(shapes={"t": ()})
    def track(robot, q, t):
        tool, wanted = robot.frame("tool0"), motion(t)
        twist = tr.tracking_twist(tool.pose(q), wanted.pose, wanted.velocity, 20.0, 20.0, order)
        return kt.linalg.solve(tool.jacobian(q), twist)

    q, dt = start + 0.01, 0.005  # not on the way, at first
    for k in range(350):
        q = q + dt * track(robot, q, k * dt)
    close(robot.frame("tool0").pose(q), end, 1e-6)
    assert np.abs(robot.frame("tool0").pose(start) - end).max() > 0.1


def test_what_is_wrong_is_said():
    with pytest.raises(kt.UnknownNameError, match="profile 'quintics' does not exist; did you mean 'quintic'"):
        tr.Line(START, END, 1.0, "quintics")
    with pytest.raises(kt.ArgumentError, match=r"duration is 0.0; expected a time above zero"):
        tr.Line(START, END, 0.0)
    with pytest.raises(kt.ArgumentError, match=r"end has shape \(2,\); expected \(3,\)"):
        tr.Line(START, END[:2], 1.0)
    with pytest.raises(kt.ArgumentError, match="are on a line; expected three points of a circle"):
        tr.Arc.through(START, START + END, START + 2 * END, 1.0)
    with pytest.raises(kt.ArgumentError, match=r"pieces\[1\] starts 0.1 away from where pieces\[0\] ends"):
        tr.Sequence([tr.Line(START, END, 1.0), tr.Line(END + np.array([0.0, 0.1, 0.0]), START, 1.0)])
    with pytest.raises(kt.ArgumentError, match="expected one of the same kind"):
        tr.Sequence([tr.Line(START, END, 1.0), tr.Turn(np.eye(3), np.eye(3), 1.0)])
    with pytest.raises(kt.ArgumentError, match=r"instants is .*; expected times that grow, from 0 on"):
        tr.spline([START, END], [0.0, 0.0])
    with pytest.raises(kt.ArgumentError, match="start is no rotation matrix"):
        tr.Turn(2 * np.eye(3), np.eye(3), 1.0)
    with pytest.raises(kt.ArgumentError, match=r"ramp is 0.6"):
        tr.Trapezoid(0.6)
    with pytest.raises(kt.ArgumentError, match=r"velocity is 0.0; expected a limit above zero"):
        tr.shortest_duration(1.0, 0.0)
    with pytest.raises(kt.ArgumentTypeError, match=r"rotation is .*; expected a trajectory of rotations"):
        tr.PoseMotion(tr.Line(START, END, 1.0), tr.Line(START, END, 1.0))
    with pytest.raises(kt.ArgumentError, match="the rotation of target has columns"):
        tr.tracking_twist(np.eye(4), np.diag([2.0, 1.0, 1.0, 1.0]), np.zeros(6), 1.0, 1.0)

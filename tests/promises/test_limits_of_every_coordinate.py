"""Differential IK keeps the limits of every coordinate that has them, and says so where it cannot."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import MotionLimits, TorqueLimits, WholeBody
from kinetree.ik import DifferentialIK, Limits, Pose, Position, Posture


def robot_of(kind, base_velocity="body", spatial_order="linear-first", **joint):
    """One joint that moves a tool half a metre away."""
    builder = kt.ModelBuilder("one")
    for link in ("base", "arm"):
        builder.link(link, kt.solids.box((0.3, 0.2, 0.1), mass=1.0))
    builder.joint("joint", kind, "base", "arm", **joint)
    builder.frame("tool", "arm", xyz=(0.5, 0.0, 0.2))
    return kt.Robot(builder.build(base_velocity=base_velocity, spatial_order=spatial_order))


def farthest(robot, tasks, targets, steps=120, **options):
    """How far q gets beyond its limits on the way, and where it ends."""
    ik = DifferentialIK(robot, tasks, dt=0.01, **options)
    q, worst = robot.neutral(), 0.0
    for _ in range(steps):
        q = robot.integrate(q, 0.01 * ik(q, *targets))
        worst = max(worst, (robot.limits.lower - q).max(), (q - robot.limits.upper).max())
    return worst, q


CASES = {
    "universal": dict(kind="universal", axis=(0, 0, 1), axis2=(0, 1, 0), lower=-0.2, upper=(0.2, 0.1)),
    "planar": dict(kind="planar", axis=(0, 0, 1), lower=(-0.1, -0.2, -0.3), upper=(0.1, 0.2, 0.3)),
    "helical": dict(kind="helical", axis=(0, 0, 1), pitch=0.1, lower=-0.2, upper=0.2),
}


@pytest.mark.parametrize("damping", [1e-3, 0.0])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(4)
@pytest.mark.sweep
def test_every_coordinate_stops_at_its_position_limits(case, damping):
    robot = robot_of(**CASES[case])
    target = robot.frame("tool").pose(robot.neutral())[:3, 3] + [1.0, 2.0, -3.0]
    worst, q = farthest(robot.eager, Position("tool"), [target], damping=damping)
    assert worst < 1e-9
    at = np.minimum(np.abs(q - robot.limits.lower), np.abs(robot.limits.upper - q))
    assert np.count_nonzero(at < 1e-6) >= robot.nv - 1  # and it does get there


@pytest.mark.parametrize("strict", [False, True], ids=["weighted", "strict"])
@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
@pytest.mark.parametrize("frame", ["mixed", "body"])
@pytest.mark.sampled(8)
def test_a_free_joint_stays_where_its_limits_let_it(frame, order, strict):
    robot = robot_of("free", frame, order, lower=(-0.1, -np.inf, -0.3, *[-np.inf] * 4), upper=(0.1, 0.2, *[np.inf] * 5))
    target = robot.frame("tool").pose(robot.neutral()).copy()
    target[:3, :3] = kt.rotations.matrix_from_rotation_vector([0.4, -0.3, 0.8])
    target[:3, 3] += [1.0, 1.0, -1.0]
    tasks = [Pose("tool"), Position("arm", priority=1)] if strict else [Pose("tool")]
    targets = [target, np.array([1.0, 1.0, -1.0])][: len(tasks)]
    worst, q = farthest(robot.eager, tasks, targets)
    assert worst < (1e-9 if frame == "mixed" else 2e-3)  # on the arc of a turning body, limits hold to second order
    np.testing.assert_allclose(q[:3], [0.1, 0.2, -0.3], atol=2e-3)


def test_a_free_joint_beyond_its_limits_comes_back_as_fast_as_velocity_limits_allow():
    robot = robot_of("free", lower=(-0.1, -0.1, -0.1, *[-np.inf] * 4), upper=(0.1, 0.1, 0.1, *[np.inf] * 4),
                     velocity=(0.3, 0.3, 0.3, 9.0, 9.0, 9.0))  # fmt: skip
    q = robot.neutral()
    q[:3] = [0.5, -0.6, 0.7]
    for damping in (1e-3, 0.0):
        v = DifferentialIK(robot.eager, Position("arm"), damping=damping)(q, q[:3])
        assert v[0] < -0.17 and v[1] > 0.17 and v[2] < -0.17 and np.abs(v[:3]).max() < 0.3 + 1e-9


def test_what_cannot_be_kept_is_refused():
    robot = robot_of("free", lower=(-0.1, -0.1, -0.1, *[-np.inf] * 4), upper=np.inf)
    with pytest.raises(kt.ArgumentError, match=r"joint 'joint' has position limits.*base_velocity='mixed'"):
        DifferentialIK(robot, Position("arm"), Limits(acceleration=1.0))
    with pytest.raises(kt.ArgumentError, match=r"joint 'joint' has position limits.*base_velocity='mixed'"):
        WholeBody(robot, Posture(), (), MotionLimits())
    with pytest.raises(kt.ModelError, match="quaternion"):
        robot_of("spherical", lower=-0.1, upper=0.1)


@pytest.mark.parametrize("damping", [1e-3, 0.0])
def test_a_joint_whose_velocity_limit_is_zero_stays_and_a_step_says_so(damping):
    robot = robot_of("planar", axis=(0, 0, 1), velocity=(0.0, 1.0, 1.0)).eager
    ik = DifferentialIK(robot, Position("arm"), damping=damping)
    step = ik.step(robot.neutral(), np.array([1.0, 1.0, 0.0]))
    np.testing.assert_allclose(step.v, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(step.at_limit, [2.0, 1.0, 0.0])
    locked = robot_of("revolute", axis=(0, 0, 1), lower=0.3, upper=0.3).eager
    step = DifferentialIK(locked, Posture(), dt=0.1).step(np.array([0.2]), np.array([0.0]))
    np.testing.assert_allclose(step.v, 1.0)
    assert step.at_limit == [2.0]


def test_negative_limits_are_refused_with_the_name_of_the_joint():
    slow = robot_of("planar", axis=(0, 0, 1), velocity=(1.0, -0.5, 1.0))
    assert any("velocity limit -0.5 is negative" in str(finding) for finding in slow.check())
    sentence = "the velocity limit of joint 'joint' is -0.5; expected zero or more"
    with pytest.raises(kt.ArgumentError, match=sentence):
        DifferentialIK(slow, Position("arm"))
    with pytest.raises(kt.ArgumentError, match=sentence):
        WholeBody(slow, Posture(), (), MotionLimits())
    DifferentialIK(slow, Position("arm"), Limits(velocity=False))
    weak = robot_of("revolute", axis=(0, 0, 1), effort=-3.0)
    with pytest.raises(kt.ArgumentError, match="the effort limit of joint 'joint' is -3; expected zero or more"):
        WholeBody(weak, Posture())
    WholeBody(weak, Posture(), (), TorqueLimits(1.0))


@pytest.mark.sweep
def test_whole_body_motion_limits_hold_for_every_coordinate():
    robot = robot_of(**CASES["universal"], velocity=2.0, effort=100.0)
    controller = WholeBody(robot.eager, Posture(stiffness=400.0), (), (MotionLimits(), TorqueLimits()), dt=0.01)
    q, v = robot.neutral(), np.zeros(2)
    for _ in range(200):
        v = v + 0.01 * controller.step(q, v, {"posture": np.array([1.0, -1.0])}).a
        q = q + 0.01 * v
        assert (q < robot.limits.upper + 1e-6).all() and (q > robot.limits.lower - 1e-6).all()
    assert np.abs(q - [0.2, -0.2]).max() < 1e-2


URDF = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="{}"/></joint></robot>"""


def test_a_velocity_limit_of_zero_in_urdf_is_none():
    """Exporters write it where they know none: of joints that move, nobody means that they cannot."""
    robot = kt.load(URDF.format(0))
    assert robot.limits.velocity[0] == np.inf
    assert any("velocity limit is 0" in str(finding) for finding in robot.check())
    v = DifferentialIK(robot.eager, Posture(), dt=1e-3)([0.0], [0.5])
    np.testing.assert_allclose(v, 5.0, rtol=1e-5)
    assert kt.load(URDF.format(0.25)).limits.velocity[0] == 0.25


def test_a_joint_that_cannot_move_is_written_to_urdf_as_one():
    robot = robot_of("revolute", axis=(0, 0, 1), lower=-1.0, upper=1.0, velocity=0.0)
    again = kt.load(robot.to_urdf()).eager
    step = DifferentialIK(again, Posture()).step([0.0], [0.5])
    assert abs(step.v[0]) < 1e-9 and step.at_limit == [2.0]


def robot_with_follower(mimic, **limits):
    builder = kt.ModelBuilder("pair")
    for link in ("base", "arm", "finger"):
        builder.link(link, kt.solids.box((0.3, 0.2, 0.1), mass=1.0))
    builder.joint("leader", "revolute", "base", "arm", axis=(0, 0, 1), lower=-1.0, upper=1.0, velocity=2.0)
    builder.joint("follower", "revolute", "arm", "finger", axis=(0, 0, 1), mimic=mimic, **limits)
    return kt.Robot(builder.build())


@pytest.mark.parametrize(
    ("mimic", "word"),
    [
        (kt.Mimic("leader", 1.0, 5.0), "its limits -0.5 to 0.5 exclude all of 4 to 6, where its leader 'leader' may"),
        (kt.Mimic("leader", -2.0, 5.0), "its limits -0.5 to 0.5 exclude all of 3 to 7"),
        (kt.Mimic("leader", 0.0, 0.8), "it stays at 0.8, outside its limits -0.5 to 0.5, wherever its leader"),
        (kt.Mimic("leader", 1.0, 0.0), "its limits -0.5 to 0.5 are stricter than -1 to 1"),
    ],
)
def test_limits_that_a_follower_cannot_keep_are_reported(mimic, word):
    assert any(word in str(finding) for finding in robot_with_follower(mimic, lower=-0.5, upper=0.5).check())
    assert not robot_with_follower(mimic, lower=-10.0, upper=10.0).check()


def test_a_negative_velocity_limit_of_a_follower_is_refused_as_that_of_a_leader():
    robot = robot_with_follower(kt.Mimic("leader", -2.0), velocity=-1.0)
    assert any("its velocity limit -1 is negative" in str(finding) for finding in robot.check())
    assert robot.limits.velocity[0] == -0.5
    with pytest.raises(kt.ArgumentError, match=r"velocity limit of joint 'leader' is -0\.5; expected zero or more"):
        DifferentialIK(robot.eager, Posture())([0.0], [0.5])

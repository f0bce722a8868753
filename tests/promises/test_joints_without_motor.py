"""A free joint has no motor, be it the floating base or anywhere in the tree, and S says which entries have one."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import (
    CartesianImpedance,
    CentroidalMomentum,
    ComputedTorque,
    GravityCompensation,
    HybridMotionForce,
    JointImpedance,
    MotionLimits,
    OperationalSpace,
    PointContact,
    Posture,
    SupportConsistent,
    WholeBody,
)
from kinetree.simulation import MujocoWorld

HOPPER = """<mujoco><worldbody><body name="trunk" pos="0 0 1"><freejoint name="loose"/>
<geom type="box" size=".1 .1 .1" mass="5"/><body name="leg" pos="0 0 -.1"><joint name="hip" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass="1"/><site name="foot" pos="0 0 -.3"/>
<body name="hand"><joint name="ball" type="ball"/><geom size=".05" mass="1" pos=".2 0 0"/></body></body></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def inner():
    return kt.load(HOPPER)


@pytest.fixture(scope="module")
def floating():
    return kt.load(HOPPER, base="floating")


def test_an_inner_free_joint_is_reported_and_a_floating_base_is_not(inner, floating):
    (finding,) = inner.check()
    assert "loose" in str(finding) and "no motor" in str(finding) and "base='floating'" in str(finding)
    assert floating.check() == ()
    builder = kt.ModelBuilder("named like a base")
    builder.link("ground")
    builder.link("box", kt.solids.box((1, 1, 1), mass=1.0))
    builder.joint("floating_base", "free", "ground", "box")
    assert len(kt.Robot(builder.build()).check()) == 1


def test_the_selection_matrix_says_which_entries_of_v_have_a_motor(inner, floating):
    for robot in (inner, floating):
        S = robot.selection_matrix
        assert robot.actuated_joints == ("hip", "ball")  # of ball joints all three
        np.testing.assert_array_equal(S, np.eye(10)[6:])
        stance = robot.constrained(kt.Contact("foot"), actuated=["hip"])
        np.testing.assert_array_equal(stance.selection_matrix, np.eye(10)[6:7])
        np.testing.assert_array_equal(robot.constrained(kt.Contact("foot")).selection_matrix, S)
    arm = kt.load("arm6")
    assert arm.actuated_joints == arm.joint_names
    np.testing.assert_array_equal(arm.selection_matrix, np.eye(6))


def test_the_support_consistent_torques_are_those_of_the_printed_formula_with_this_selection():
    """(N_cᵀ Sᵀ)⁺ N_cᵀ (M a + b + g) of the lecture notes."""
    robot = kt.load("quadruped", base="floating").eager
    stance = robot.constrained([kt.Contact(name) for name in robot.frame_names if name.endswith("_foot")])
    q, rng = robot.random(np.random.default_rng(0)), np.random.default_rng(1)
    N, S = stance.projector(q), robot.selection_matrix
    v, a = N @ rng.normal(size=robot.nv), N @ rng.normal(size=robot.nv)
    a = a - np.linalg.pinv(stance.jacobian(q)) @ (stance.jacobian(q) @ a + stance.bias(q, v))
    tau = np.linalg.pinv(N.T @ S.T, rcond=1e-10) @ (N.T @ robot.inverse_dynamics(q, v, a))
    np.testing.assert_allclose(stance.inverse_dynamics(q, v, a)[0], S.T @ tau, atol=1e-7)


@pytest.mark.parametrize(
    "make",
    [
        lambda robot: ComputedTorque(robot, 100.0),
        GravityCompensation,
        lambda robot: JointImpedance(robot, 10.0, 1.0),
        lambda robot: CartesianImpedance(robot, "foot", 10.0, 1.0),
        lambda robot: OperationalSpace(robot, "foot", 10.0),
        lambda robot: HybridMotionForce(robot, "foot", 10.0),
    ],
    ids=["ComputedTorque", "GravityCompensation", "JointImpedance", "CartesianImpedance", "OperationalSpace", "Hybrid"],
)
def test_controllers_that_need_all_motors_name_the_free_joint(inner, floating, make):
    with pytest.raises(kt.ArgumentError, match="the free joint 'loose' of 'robot' has no"):
        make(inner)
    with pytest.raises(kt.ArgumentError, match="the floating base of 'robot' has no"):
        make(floating)


def test_no_controller_puts_effort_into_a_free_joint(inner, floating):
    q, v, rng = inner.neutral(), np.zeros(10), np.random.default_rng(0)
    q[2], q[7], v[:] = 1.0, 0.2, 0.1 * rng.normal(size=10)
    goal = inner.integrate(q, 0.1 * rng.normal(size=10))
    results = []
    for robot in (inner.eager, floating.eager):
        stance = robot.constrained(kt.Contact("foot"))
        center = robot.center_of_mass(q)
        whole = WholeBody(
            robot, Posture(joints=("hip", "ball")), PointContact("foot"), MotionLimits(20.0, position=False)
        )
        results.append(
            [
                JointImpedance(robot, np.arange(1.0, 5.0), np.eye(4), gravity=False)(q, v, goal),
                SupportConsistent(stance, 10.0)(q, v, goal),
                CentroidalMomentum(stance, 10.0, angular_gain=1.0, posture=q, posture_stiffness=1.0)(q, v, center),
                whole(q, v, {"posture": goal}),
            ]
        )
    for own, other in zip(*results, strict=True):
        assert not own[:6].any() and np.abs(own[6:]).max() > 1e-3
        np.testing.assert_allclose(own, other, atol=1e-9)  # the same as of a floating base


def test_a_free_joint_has_a_motor_where_it_is_named(inner):
    stance = inner.constrained(kt.Contact("foot"), actuated=["loose"])
    assert stance.equations.actuated == (0, 1, 2, 3, 4, 5)


def test_a_simulated_world_refuses_efforts_of_free_joints(inner):
    with pytest.raises(kt.ArgumentError, match="efforts of joint 'loose', which has no motor"):
        MujocoWorld(inner).run(lambda now: np.ones(10), inner.neutral(), duration=0.01)

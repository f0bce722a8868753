"""Joint impedance, computed torque and gravity compensation: closed forms, closed loops, and Pinocchio.

Covers: control/computed_torque.py, control/gains.py, control/gravity.py, control/joint_impedance.py.
"""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.control import ComputedTorque, GravityCompensation, JointImpedance
from kinetree.trajectories import JointMove
from peers import close, pin_from_tree

G, MASS, LENGTH = 9.81, 2.0, 0.5


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm7")


def pendulum(passive=False):
    """A point mass on a rod that turns about y: τ = m l² a - m g l sin q, with q = 0 upright."""
    builder = kt.ModelBuilder("pendulum")
    builder.link("base")
    builder.link("rod", kt.Inertia.from_com(MASS, (0.0, 0.0, LENGTH), np.zeros((3, 3))))
    friction = kt.JointDynamics(damping=0.3, friction=0.7)
    builder.joint("turn", "revolute", "base", "rod", axis=(0, 1, 0), dynamics=friction, lower=-9, upper=9)
    return kt.Robot(builder.build(passive=passive))


def regulation(controller, goal):
    return kt.compile(lambda robot, q, v: controller(q, v, goal))


def states(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.normal(size=(2, robot.nv)), robot.random(rng), rng.normal(size=robot.nv)


def test_one_joint_in_closed_form():
    robot = pendulum()
    q, v, goal, rate, a = (np.array([x]) for x in (0.4, -0.7, 1.1, 0.2, 3.0))
    spring = 30.0 * (goal - q) + 4.0 * (rate - v)
    weight = -MASS * G * LENGTH * np.sin(q)
    np.testing.assert_allclose(JointImpedance(robot, 30.0, 4.0, gravity=False)(q, v, (goal, rate)), spring, rtol=1e-14)
    np.testing.assert_allclose(JointImpedance(robot, 30.0, 4.0)(q, v, (goal, rate)), spring + weight, rtol=1e-14)
    inertia = MASS * LENGTH**2
    np.testing.assert_allclose(
        ComputedTorque(robot, 30.0, 4.0)(q, v, (goal, rate, a)), inertia * (a + spring) + weight, rtol=1e-14
    )


def test_impedance_without_gravity_compensation_sags_by_what_gravity_says():
    """At rest k (q* - q) = G(q); with compensation there is no offset."""
    robot = pendulum()
    rest, goal, stiffness = np.zeros(1), np.array([1.0]), 40.0
    ends = []
    for gravity in (False, True):
        controller = JointImpedance(robot, stiffness, 8.0, gravity)
        ends.append(robot.rollout(goal, rest, regulation(controller, goal), 1e-3, 8000).q[-1])
    sag, still = ends
    np.testing.assert_allclose(stiffness * (goal - sag), robot.gravity_forces(sag), atol=1e-6)
    assert np.abs(sag - goal) > 0.2
    np.testing.assert_allclose(still, goal, atol=1e-9)


def test_agreement_with_pinocchio(arm):
    peer = pin_from_tree(arm.model)
    model, data = peer.model, peer.data()
    rng = np.random.default_rng(3)
    stiffness, damping = rng.uniform(10.0, 100.0, 7), rng.uniform(1.0, 10.0, 7)
    impedance, computed = JointImpedance(arm, stiffness, damping), ComputedTorque(arm, stiffness, damping)
    for seed in range(20):
        q, v, rate, goal, a = states(arm, seed)
        spring = stiffness * (goal - q) + damping * (rate - v)
        close(impedance(q, v, goal, rate), spring + pin.computeGeneralizedGravity(model, data, q))
        close(computed(q, v, goal, rate, a), pin.rnea(model, data, q, v, a + spring))


def test_computed_torque_gives_the_commanded_closed_loop(arm):
    """ë + k_d ė + k_p e = 0: through forward dynamics at once, and over time as the solution of that equation."""
    K = np.diag(np.linspace(20.0, 80.0, 7)) + 3.0
    controller = ComputedTorque(arm, K, 12.0)
    q, v, rate, goal, a = states(arm, 7)
    got = arm.forward_dynamics(q, v, controller(q, v, (goal, rate, a)))
    np.testing.assert_allclose(got, a + K @ (goal - q) + 12.0 * (rate - v), atol=1e-9)
    critical = ComputedTorque(arm, 25.0)  # damping 10
    goal = np.full(7, 0.4)
    law = kt.compile(lambda robot, q, v: critical(q, v, goal))
    motion = arm.rollout(np.zeros(7), np.zeros(7), law, 1e-3, 1000, "rk4")
    expected = 0.4 * (1.0 - (1.0 + 5.0 * motion.t) * np.exp(-5.0 * motion.t))
    np.testing.assert_allclose(motion.q, np.broadcast_to(expected[:, None], motion.q.shape), atol=1e-9)


def test_a_trajectory_is_a_reference(arm):
    """Without any error at the start there is none later: the trajectory's acceleration is what is needed."""
    move = JointMove(arm, np.full(7, 0.1), np.linspace(-0.6, 0.8, 7), 1.0)
    controller = ComputedTorque(arm, 100.0)
    state = move(0.3)
    np.testing.assert_array_equal(
        controller(state.position, state.velocity, state), controller(state.position, state.velocity, *state)
    )
    law = kt.compile(lambda robot, q, v, t: controller(q, v, move(t)))
    motion = arm.rollout(move.start, np.zeros(7), law, 1e-3, 1000, "rk4")
    np.testing.assert_allclose(motion.q, move(motion.t).position, atol=1e-8)


def test_a_floating_base_gets_no_effort():
    dog = kt.load("quadruped", base="floating")
    rng = np.random.default_rng(2)
    q, goal, v = dog.random(rng), dog.random(rng), rng.normal(size=dog.nv)
    tau = JointImpedance(dog, 20.0, np.full(12, 0.5), gravity=False)(q, v, goal)
    np.testing.assert_array_equal(tau[:6], 0.0)
    np.testing.assert_allclose(tau[6:], 20.0 * (goal - q)[7:] - 0.5 * v[6:], atol=1e-12)
    with pytest.raises(kt.ArgumentError, match="carried by contacts"):
        JointImpedance(dog, 20.0, 0.5)
    with pytest.raises(kt.ArgumentError, match="ComputedTorque needs a motor for every entry of v"):
        ComputedTorque(dog, 20.0)


def test_gravity_and_friction_are_carried():
    """What is left is -C v: an arm at rest stays, a moving pendulum goes on at its speed."""
    robot = pendulum(passive=True)
    controller = GravityCompensation(robot)
    q, v = np.array([0.8]), np.array([0.5])
    np.testing.assert_allclose(robot.forward_dynamics(q, v, controller(q, v)), 0.0, atol=1e-13)
    step = 0.7 * 0.5 / np.hypot(0.5, 0.01)
    weight = -MASS * G * LENGTH * np.sin(0.8)
    np.testing.assert_allclose(controller(q, v), [weight + 0.3 * 0.5 + step], rtol=1e-13)
    np.testing.assert_allclose(GravityCompensation(robot, 0.0, 0.0)(q, v), [weight], rtol=1e-13)
    np.testing.assert_allclose(controller(q, v, coulomb=np.zeros(1)), [weight + 0.15], rtol=1e-13)
    plain = GravityCompensation(pendulum())  # the model's own friction, also where it is not in its dynamics
    np.testing.assert_array_equal(plain(q, v), controller(q, v))


def test_wrong_gains_say_so(arm):
    with pytest.raises(kt.ArgumentError, match=r"stiffness has shape \(3,\); expected a number, 7 numbers"):
        ComputedTorque(arm, [1.0, 2.0, 3.0])
    with pytest.raises(kt.ArgumentError, match=r"damping is -2.0; expected zero or more"):
        JointImpedance(arm, 1.0, -2.0)
    with pytest.raises(kt.ArgumentError, match="stiffness is not symmetric"):
        ComputedTorque(arm, np.triu(np.ones((7, 7))))
    with pytest.raises(kt.ArgumentError, match="negative eigenvalue"):
        ComputedTorque(arm, np.diag([1.0, 1, 1, 1, 1, 1, -1]))
    with pytest.raises(kt.ArgumentError, match="expected finite numbers"):
        ComputedTorque(arm, np.nan)
    with pytest.raises(kt.ArgumentTypeError, match="robot is 'arm7'"):
        ComputedTorque("arm7", 1.0)
    with pytest.raises(kt.ArgumentError, match="width is 0"):
        GravityCompensation(arm, width=0.0)
    with pytest.raises(kt.ArgumentError, match="viscous has shape"):
        GravityCompensation(arm, np.eye(7))

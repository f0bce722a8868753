"""Whole-body control: closed forms, the equation of motion, conditions of optimality, contacts switched, batches.

Covers: control/whole_body/compiled.py, control/whole_body/controller.py, control/whole_body/dynamics.py,
control/whole_body/task_rows.py, control/whole_body/problem.py, control/whole_body/whole_body_step.py,
solvers/least_squares.py.
"""

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import (
    CenterOfMass,
    Force,
    Momentum,
    MotionLimits,
    Orientation,
    PointContact,
    Pose,
    Position,
    Posture,
    SurfaceContact,
    Torque,
    TorqueLimits,
    WholeBody,
)
from whole_bodies import equations_left, outside_cones, standing

G = 9.81


def pendulum(length=0.7, mass=2.0):
    builder = kt.ModelBuilder("pendulum")
    builder.link("stand")
    builder.link("rod", kt.Inertia.from_com(mass, (0, 0, -length), np.zeros((3, 3))))
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0))
    builder.frame("end", "rod", xyz=(0, 0, -length))
    return kt.Robot(builder.build())


def box(mass=3.0, half=0.2):
    """A free body without joints; its frame 'under' is on its lower face."""
    builder = kt.ModelBuilder("box")
    builder.link("body", kt.Inertia.from_com(mass, (0, 0, 0), 0.01 * np.eye(3)))
    builder.frame("under", "body", xyz=(0, 0, -half))
    for name, x in (("fore", 0.3), ("aft", -0.1)):
        for side, y in (("left", 0.2), ("right", -0.2)):
            builder.frame(f"{name}_{side}", "body", xyz=(x, y, -half))
    return kt.Robot(builder.build("floating"))


# -- closed forms ------------------------------------------------------------------------------------------------------


def test_one_joint_is_computed_torque_until_the_motor_is_at_its_limit():
    robot = pendulum()
    free = WholeBody(robot, Posture(stiffness=50.0, damping=3.0, feedforward=True), limits=(), regularization=1e-6)
    weak = WholeBody(robot, Posture(stiffness=50.0, damping=3.0, feedforward=True), limits=TorqueLimits(max_torque=4.0))
    for q, v, target, speed, more in ((0.3, 0.5, 0.4, 0.1, 0.7), (-1.0, 0.0, 1.0, 0.0, 0.0)):
        a = 50.0 * (target - q) + 3.0 * (speed - v) + more
        tau = 2.0 * 0.7**2 * a + 2.0 * G * 0.7 * np.sin(q)
        given = {"posture": ([target], [speed], [more])}
        assert free([q], [v], given)[0] == pytest.approx(tau, rel=1e-9)
        step = weak.step([q], [v], given)
        assert step.tau[0] == pytest.approx(np.clip(tau, -4.0, 4.0), rel=1e-5)
        np.testing.assert_allclose(robot.forward_dynamics([q], [v], step.tau), step.a, atol=1e-9)


def test_two_tasks_share_by_the_squares_of_their_weights():
    """Of one acceleration that two tasks want differently, a = Σ w² a_i / Σ w²."""
    robot = pendulum()
    tasks = [Posture(weight=2.0, name="one"), Posture(weight=1.0, name="other")]
    step = WholeBody(robot, tasks, limits=(), regularization=1e-6).step([0.0], [0.0], {"one": [0.1], "other": [-0.2]})
    assert step.a[0] == pytest.approx((4 * 10.0 + 1 * -20.0) / 5, rel=1e-9)


def test_a_box_on_the_ground_weighs_what_it_weighs():
    robot = box()
    controller = WholeBody(robot, Momentum(), SurfaceContact("under", length=0.5, width=0.5, friction=0.5))
    step = controller.step(robot.neutral(), np.zeros(6), {"momentum": np.zeros(6)})
    np.testing.assert_allclose(step.force("under"), [0, 0, 3 * G, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(step.a, 0.0, atol=1e-9)


def test_four_feet_share_a_box_by_the_lever_rule():
    """The centre of mass is 0.1 before the hind feet and 0.3 behind the front ones: they carry 3 : 1."""
    robot = box()
    feet = ("fore_left", "fore_right", "aft_left", "aft_right")
    controller = WholeBody(robot, Momentum(), [PointContact(foot) for foot in feet])
    step = controller.step(robot.neutral(), np.zeros(6), {"momentum": np.zeros(6)})
    normal = [step.force(foot)[2] for foot in feet]
    np.testing.assert_allclose(normal, np.array([1, 1, 3, 3]) * 3 * G / 8, atol=1e-9)


def test_a_box_that_would_tip_cannot_be_held():
    """Its centre of mass is outside the contact, which can only push."""
    robot = box()
    controller = WholeBody(robot, Momentum(), SurfaceContact("under", at=(0.3, 0, 0), length=0.1, width=0.1))
    with pytest.raises(kt.InfeasibleError) as caught:
        controller.step(robot.neutral(), np.zeros(6), {"momentum": np.zeros(6)})
    assert "friction cone of 'under'" in caught.value.conflicting


def test_a_push_against_a_wall_is_the_force_on_the_wall_reversed():
    """An arm pushes the wall with 10 N along x: the force on the robot is -10 N."""
    robot = kt.load("arm7")
    q = np.array([0.1, 0.7, 0.1, -1.2, 0.1, 0.9, 0.0])
    wall = PointContact("tool0", normal=(-1, 0, 0), friction=0.5)
    controller = WholeBody(robot, [Force("tool0", weight=10.0), Posture(weight=0.1)], wall)
    step = controller.step(q, np.zeros(7), {"force of tool0": [0, 0, 10.0], "posture": q})
    wrench = controller.wrenches(q, step.forces)["tool0"]
    np.testing.assert_allclose(wrench, [-10, 0, 0, 0, 0, 0], atol=1e-4)
    gravity = robot.gravity_forces(q)
    np.testing.assert_allclose(step.tau, gravity - robot.frame("tool0").jacobian(q).T @ wrench, atol=1e-4)


# -- real robots -------------------------------------------------------------------------------------------------------


def full_control(stander, priorities=(0, 0, 0, 0), **options):
    robot = stander.robot
    trunk = robot.frame_names[0]
    tasks = [
        CenterOfMass(priority=priorities[0], feedforward=True),
        Orientation(trunk, weight=0.7, priority=priorities[1]),
        Momentum(part="angular", weight=0.3, priority=priorities[2]),
        Posture(weight=0.1, priority=priorities[3]),
    ]
    return WholeBody(robot, tasks, stander.contacts, **options)


def wishes(stander, rng, size=1.0):
    robot, q = stander.robot, stander.q
    moved = robot.integrate(q, 0.05 * size * rng.normal(size=robot.nv))
    trunk = robot.frame_names[0]
    return {
        "center_of_mass": (robot.center_of_mass(moved), 0.1 * rng.normal(size=3), size * rng.normal(size=3)),
        trunk: robot.frame(trunk).pose(moved)[:3, :3],
        "momentum": rng.normal(size=3),
        "posture": moved,
    }


def written_out(controller, stander, q, v, given):
    """The same program in all of (a, f, τ) from robot quantities: J and b of residuals, equations, rows ≤ bounds."""
    robot, nv = controller.robot, controller.robot.nv
    sizes = [contact.size for contact in controller.contacts]
    k, m = sum(sizes), robot.mass
    n = nv + k + nv - 6
    com, spin, trunk = (np.zeros((3, n)) for _ in range(3))
    com[:, :nv] = robot.center_of_mass_jacobian(q)
    target, speed, more = given["center_of_mass"]
    c, rate = robot.center_of_mass(q), robot.center_of_mass_velocity(q, v)
    of_com = more + 100 * (target - c) + 20 * (speed - rate) - robot.center_of_mass_acceleration(q, v, np.zeros(nv))
    name = robot.frame_names[0]
    frame = robot.frame(name)
    trunk[:, :nv] = frame.jacobian(q)[3:]
    turn = kt.rotations.rotation_vector_from_matrix(given[name] @ frame.pose(q)[:3, :3].T)
    of_trunk = 100 * turn - 20 * frame.velocity(q, v)[3:] - frame.bias_acceleration(q, v)[3:]
    spin[:, :nv] = robot.centroidal_momentum_matrix(q)[3:] / m
    h, bias = robot.centroidal_momentum(q, v)[3:], robot.centroidal_momentum_bias(q, v)[3:]
    of_spin = (10 * (given["momentum"] - h) - bias) / m
    joints = np.eye(n)[6:nv]
    of_joints = (100 * robot.difference(q, given["posture"]) - 20 * v)[6:]
    small = np.diag(np.concatenate([np.full(nv, 1e-3), np.full(k, 1e-3 / m), np.zeros(nv - 6)]))
    J = np.concatenate([com, 0.7 * trunk, 0.3 * spin, 0.1 * joints, small])
    b = np.concatenate([of_com, 0.7 * of_trunk, 0.3 * of_spin, 0.1 * of_joints, np.zeros(n)])
    motion = np.zeros((nv, n))
    motion[:, :nv], motion[6:, nv + k :] = robot.mass_matrix(q), -np.eye(nv - 6)
    rows, right, cones, at = [motion], [-robot.bias_forces(q, v)], [], nv
    for contact, size in zip(controller.contacts, sizes, strict=True):
        J_c, wanted = contact.motion(robot.eager, q, v)
        motion[:, at : at + size] = -J_c.T
        rows.append(np.concatenate([J_c, np.zeros((size, n - nv))], axis=1))
        right.append(wanted)
        cone = np.zeros((len(contact.cone), n))
        cone[:, at : at + size] = -contact.cone
        cones.append(cone)
        at += size
    torques = np.eye(n)[nv + k :]
    effort = controller.limits[0].scale * robot.limits.effort[6:]
    C = np.concatenate([*cones, torques, -torques])
    d = np.concatenate([np.zeros(sum(map(len, cones))), effort, effort])
    return J, b, np.concatenate(rows), np.concatenate(right), C, d


@pytest.mark.parametrize("name", ["humanoid", "quadruped", "g1", "talos"])
@pytest.mark.sampled(4)
@pytest.mark.sweep
def test_steps_keep_the_equation_of_motion_and_are_optimal(name):
    """Residuals of equations to 1e-8; the gradient is a sum of rows that hold, with factors of the right sign."""
    stander, rng = standing(name), np.random.default_rng(5)
    controller = full_control(stander, limits=TorqueLimits(scale=0.5))
    solved = at_cones = at_torques = 0
    state = None
    for _ in range(25):
        q, v = stander.near(rng)
        given = wishes(stander, rng, size=1.5)
        try:
            step = controller.step(q, v, given, state=state)
        except kt.InfeasibleError:
            continue
        state = step.state
        solved += 1
        assert equations_left(controller, q, v, step) < 1e-8
        assert outside_cones(controller, step) < 1e-8
        J, b, A, right, C, d = written_out(controller, stander, q, v, given)
        x = np.concatenate([step.a, step.forces, step.tau[6:]])
        assert np.abs(A @ x - right).max() < 1e-8
        assert (C @ x - d).max() < 1e-8
        holds = d - C @ x < 1e-8 * (1 + np.abs(d))
        gradient = J.T @ (J @ x - b)
        normals = np.concatenate([A, C[holds]]).T
        factors = np.linalg.lstsq(normals, -gradient, rcond=None)[0]
        scale = np.abs(J.T @ b).max()
        assert np.abs(gradient + normals @ factors).max() < 1e-8 * scale
        cones = sum(len(contact.cone) for contact in controller.contacts)
        at_cones += holds[:cones].sum()
        at_torques += holds[cones:].sum()
        if np.linalg.matrix_rank(normals) == normals.shape[1]:
            assert (factors[len(A) :] > -1e-7 * scale).all()
    print(name, solved, at_cones, at_torques)
    assert solved > 15 and at_cones > 5  # else the test says little


def test_warm_and_cold_steps_agree_and_steps_are_pure():
    stander, rng = standing("quadruped"), np.random.default_rng(6)
    controller = full_control(stander)
    state, fewer = None, 0
    q, v = stander.near(rng)
    given = wishes(stander, rng, size=2.0)
    for _ in range(10):
        q = controller.robot.integrate(q, 1e-3 * v)
        cold, warm = controller.step(q, v, given), controller.step(q, v, given, state=state)
        np.testing.assert_allclose(warm.tau, cold.tau, atol=1e-8)
        fewer += warm.iterations < cold.iterations
        again = controller.step(q, v, given, state=state)
        for one, other in zip(warm[:4], again[:4], strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(controller(q, v, given), cold.tau)
        state = warm.state
    assert fewer >= 8


@pytest.mark.sweep
def test_contacts_and_tasks_are_switched_without_compiling():
    stander, rng = standing("quadruped"), np.random.default_rng(7)
    robot = stander.robot
    foot = stander.contacts[0].name
    swing = Position(stander.contacts[0].frame, name="swing", weight=3.0)
    tasks = [CenterOfMass(weight=0.5), swing, Posture(weight=0.1)]
    controller = WholeBody(robot, tasks, stander.contacts)
    fewer = WholeBody(robot, tasks[::2], stander.contacts[1:])
    q, v = stander.near(rng, 0.005)
    over = robot.center_of_mass(q) + np.array([-0.02, -0.02, 0.0])
    target = robot.frame(foot).pose(q)[:3, 3] + [0, 0, 0.05]
    given = {"center_of_mass": over, "posture": stander.q, "swing": target}
    on = controller.step(q, v, given, weights={"swing": 0.0})
    assert on.force(foot)[2] > 5.0
    assert equations_left(controller, q, v, on) < 1e-8
    off = controller.step(q, v, given, contacts={foot: False}, weights={"swing": 0.0}, state=on.state)
    assert equations_left(controller, q, v, off, off=(foot,)) < 1e-8
    alone = fewer.step(q, v, {name: given[name] for name in ("center_of_mass", "posture")})
    np.testing.assert_allclose(off.tau, alone.tau, atol=1e-7)
    lifted = controller.step(q, v, given, contacts=[0, 1, 1, 1], state=off.state)
    frame = robot.frame(foot)
    assert frame.acceleration(q, v, lifted.a)[2] > 1.0 > abs(frame.acceleration(q, v, on.a)[2])
    np.testing.assert_allclose(controller.step(q, v, given, weights=[1, 0, 1]).tau, on.tau, atol=1e-8)


def test_hard_tasks_are_met_exactly_and_torques_are_kept_small():
    robot = kt.load("arm7")
    q, v = np.array([0.1, 0.7, 0.1, -1.2, 0.1, 0.9, 0.0]), 0.2 * np.ones(7)
    target = robot.frame("tool0").pose(robot.integrate(q, 0.05 * np.ones(7)))
    controller = WholeBody(robot, [Pose("tool0", hard=True), Torque()], limits=())
    step = controller.step(q, v, {"tool0": target})
    error, J = Pose("tool0").evaluate(robot.eager, q, target)
    wanted = 100 * error - 20 * (J @ v) - robot.frame("tool0").bias_acceleration(q, v)
    np.testing.assert_allclose(J @ step.a, wanted, atol=1e-10)
    M, h = robot.mass_matrix(q), robot.bias_forces(q, v)
    null = np.linalg.svd(J)[2][6:]
    assert abs(null @ (M @ step.tau)).max() < 1e-3 * np.abs(M @ step.tau).max()  # the gradient of ½‖τ‖² along the rest
    given = WholeBody(robot, Torque(as_given=True), limits=(), regularization=1e-6)
    np.testing.assert_allclose(given.step(q, v, {"torques": h}).tau, h, atol=1e-6)


def test_motion_limits_stop_joints_in_time():
    """Driven against their limits, joints brake before them and keep to velocities and accelerations."""
    robot = kt.load("arm6")
    dt = 0.005
    limits = [TorqueLimits(max_torque=np.inf), MotionLimits(acceleration=40.0)]
    controller = WholeBody(robot, Posture(stiffness=400.0), limits=limits, dt=dt)
    q, v = robot.neutral(), np.zeros(6)
    goal = robot.limits.upper + 0.5
    state = None
    for _ in range(600):
        step = controller.step(q, v, {"posture": goal}, state=state)
        state = step.state
        assert (np.abs(step.a) <= 40.0 + 1e-6).all()
        v = v + dt * step.a
        assert (np.abs(v) <= robot.limits.velocity + 1e-9).all()
        q = robot.integrate(q, dt * v)
        assert (q <= robot.limits.upper + 1e-9).all()
    np.testing.assert_allclose(q, robot.limits.upper, atol=1e-3)


def test_normal_forces_stay_between_minimum_and_maximum():
    robot = box()
    feet = ("fore_left", "fore_right", "aft_left", "aft_right")
    for options, expected in (({"max_force": 10.0}, 10.0), ({"min_force": 12.0}, 12.0)):
        contacts = [PointContact(foot) for foot in feet[:3]] + [PointContact(feet[3], **options)]
        controller = WholeBody(robot, Momentum(), contacts)
        step = controller.step(robot.neutral(), np.zeros(6), {"momentum": np.zeros(6)})
        normal = np.array([step.force(foot)[2] for foot in feet])
        more = expected - 3 * 3 * G / 8  # than the lever rule gives that foot; the others make up for it
        lever = np.array([1, 1, 3, 3]) * 3 * G / 8
        np.testing.assert_allclose(normal, lever + more * np.array([1, -1, -1, 1]), atol=1e-8)


@pytest.mark.parametrize("priorities", [(0, 0, 0, 0), (0, 0, 1, 2)])
def test_the_textbook_python_batches_and_pickles_agree(priorities, monkeypatch):
    stander, rng = standing("quadruped"), np.random.default_rng(8)
    controller = full_control(stander, priorities)
    states = [stander.near(rng, 0.01) for _ in range(3)]
    q, v = (np.array(column) for column in zip(*states, strict=True))
    given = wishes(stander, rng, 0.3)
    taus = controller(q, v, given)
    textbook = WholeBody(controller.robot.eager, controller.tasks, controller.contacts)
    again = pickle.loads(pickle.dumps(controller))
    monkeypatch.setenv("KINETREE_NATIVE", "0")
    python = full_control(stander, priorities)
    for k in range(3):
        np.testing.assert_array_equal(controller(q[k], v[k], given), taus[k])
        np.testing.assert_array_equal(again(list(q[k]), v[k], controller.pack(given)), taus[k])
        np.testing.assert_array_equal(python(q[k], v[k], given), taus[k])
    np.testing.assert_allclose(textbook(q[0], v[0], given), taus[0], atol=1e-7)


@pytest.mark.sweep
def test_conventions_do_not_matter():
    """With angular parts first and the base's velocity in world axes, joints get the same torques."""
    plain = standing("quadruped")
    other = kt.load("quadruped", base="floating", spatial_order="angular-first", base_velocity="mixed")
    rng = np.random.default_rng(9)
    q, v = plain.near(rng, 0.05)
    given = wishes(plain, rng, 0.3)
    R = plain.robot.frame(plain.robot.frame_names[0]).pose(q)[:3, :3]
    turned = np.concatenate([R @ v[3:6], R @ v[:3], v[6:]])
    controllers = [full_control(plain), full_control(type(plain)(other, plain.contacts, plain.q))]
    one, two = (controller.step(q, w, given) for controller, w in zip(controllers, (v, turned), strict=True))
    np.testing.assert_allclose(two.tau[6:], one.tau[6:], atol=1e-4)  # λ weighs another base acceleration
    np.testing.assert_allclose(two.forces, one.forces, atol=1e-2)
    assert (
        np.abs(other.inverse_dynamics(q, turned, two.a, controllers[1].wrenches(q, two.forces)) - two.tau).max() < 1e-8
    )

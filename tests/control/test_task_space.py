"""Control of frames: decoupling, impedance, hybrid force and motion; closed forms, simulation, Pinocchio and NumPy.

Covers: control/cartesian_impedance.py, control/frame_controller.py, control/frame_directions.py, control/hybrid.py,
control/operational_space.py, control/rest_posture.py.
"""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.control import CartesianImpedance, HybridMotionForce, OperationalSpace
from kinetree.trajectories import Arc, ForceProfile, Line, PoseMotion, Turn
from peers import close, pin_from_tree

Q = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm7")


def near(robot, rng, size=0.2):
    """A state away from singularities, and a pose, velocity and acceleration to go for."""
    q = Q + 0.1 * rng.normal(size=7)
    return q, rng.normal(size=7), (robot.frame("tool0").pose(q + size), *rng.normal(size=(2, 6)))


def error_of(target, pose):
    return np.concatenate([target[:3, 3] - pose[:3, 3], pin.log3(target[:3, :3] @ pose[:3, :3].T)])


def tool_acceleration(robot, q, v, tau, wrenches=None):
    return robot.frame("tool0").acceleration(q, v, robot.forward_dynamics(q, v, tau, wrenches))


class Peer:
    """Λ and what goes with it by Pinocchio and NumPy."""

    def __init__(self, robot, q, v):
        peer = pin_from_tree(robot.model)
        model, data, tool = peer.model, peer.data(), peer.frame_id("tool0")
        upper = np.triu(pin.crba(model, data, q))
        self.M = upper + np.triu(upper, 1).T
        self.J = pin.computeFrameJacobian(model, data, q, tool, pin.LOCAL_WORLD_ALIGNED)
        self.h = pin.nonLinearEffects(model, data, q, v).copy()
        pin.forwardKinematics(model, data, q, v, np.zeros(7))
        self.drift = pin.getFrameClassicalAcceleration(model, data, tool, pin.LOCAL_WORLD_ALIGNED).vector
        pose = pin.updateFramePlacement(model, data, tool)
        self.pose = pose.homogeneous

    def inertia(self, rows):
        J = self.J[rows]
        return np.linalg.inv(J @ np.linalg.solve(self.M, J.T))


# -- operational space -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("posture", [{}, {"posture_damping": 3.0}, {"posture": np.zeros(7), "posture_stiffness": 9.0}])
def test_the_frame_accelerates_as_commanded(arm, posture):
    """To 1e-9 through forward dynamics, whatever the rest of the arm does."""
    rng, tool = np.random.default_rng(0), arm.frame("tool0")
    K = np.diag([50.0, 60, 70, 20, 30, 40]) + 2.0
    controller = OperationalSpace(arm, "tool0", K, 11.0, **posture)
    for _ in range(20):
        q, v, (pose, rate, a) = near(arm, rng)
        wanted = a + K @ error_of(pose, tool.pose(q)) + 11.0 * (rate - tool.velocity(q, v))
        tau = controller(q, v, (pose, rate, a))
        np.testing.assert_allclose(tool_acceleration(arm, q, v, tau), wanted, atol=1e-9)


def test_agreement_with_pinocchio_and_numpy(arm):
    """All three controllers of a frame, with a posture, against the equations written out."""
    rng = np.random.default_rng(1)
    rest = {"posture": np.linspace(-0.3, 0.3, 7), "posture_stiffness": 9.0, "posture_damping": 5.0}
    R = pin.exp3(np.array([0.3, -0.5, 0.2]))
    X = np.kron(np.eye(2), R.T)
    motion = OperationalSpace(arm, "tool0", 40.0, 9.0, **rest)
    impedance = CartesianImpedance(arm, "tool0", 300.0, 20.0, **rest)
    hybrid = HybridMotionForce(arm, "tool0", 40.0, 9.0, force_directions=("z", "rx"), axes=R, **rest)
    free = np.diag([1.0, 1, 0, 0, 1, 1])
    for _ in range(10):
        q, v, (pose, rate, a) = near(arm, rng)
        f, peer = rng.normal(size=6), Peer(arm, q, v)
        Lambda, e, de = peer.inertia(slice(None)), error_of(pose, peer.pose), rate - peer.J @ v
        a_0 = 9.0 * (rest["posture"] - q) - 5.0 * v
        N = np.eye(7) - np.linalg.solve(peer.M, peer.J.T) @ Lambda @ peer.J
        common = N.T @ peer.M @ a_0 + peer.h
        command = a + 40.0 * e + 9.0 * de
        close(motion(q, v, (pose, rate, a)), common + peer.J.T @ Lambda @ (command - peer.drift))
        force = 300.0 * e + 20.0 * de + Lambda @ (a - peer.drift)
        close(impedance(q, v, (pose, rate, a)), common + peer.J.T @ force)
        S_M, S_F = X.T @ free @ X, X.T @ (np.eye(6) - free) @ X
        force = Lambda @ (S_M @ command - peer.drift) - S_F @ f
        close(hybrid(q, v, (pose, rate, a, f)), common + peer.J.T @ force)


def test_it_is_the_formula_of_the_lecture_notes():
    """τ = Jᵀ (Λ ẇ + μ + p) for six joints, where the task leaves nothing over."""
    arm = kt.load("arm6")
    q, tool = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.1]), arm.frame("tool0")
    v, w = np.linspace(-1.0, 1.0, 6), np.arange(6.0)
    tau = OperationalSpace(arm, "tool0", 0.0)(q, v, (tool.pose(q), tool.velocity(q, v), w))
    mu, p = tool.operational_space_bias(q, v), tool.operational_space_gravity(q)
    close(tau, tool.jacobian(q).T @ (tool.operational_space_inertia(q) @ w + mu + p), 1e-9)


@pytest.mark.parametrize(
    ("task", "rows"), [("position", [0, 1, 2]), ("orientation", [3, 4, 5]), (("x", "rz"), [0, 5]), ("y", [1])]
)
def test_some_directions_only(arm, task, rows):
    rng, tool = np.random.default_rng(2), arm.frame("tool0")
    controller = OperationalSpace(arm, "tool0", 30.0, task=task)
    q, v, (pose, rate, a) = near(arm, rng)
    wanted = (a + 30.0 * error_of(pose, tool.pose(q)) + 2 * 30.0**0.5 * (rate - tool.velocity(q, v)))[rows]
    reference = (pose, rate, a)
    if set(rows) <= {0, 1, 2}:
        reference = (pose[:3, 3].copy(), rate[:3], a[:3])
    elif set(rows) <= {3, 4, 5}:
        reference = (pose[:3, :3].copy(), rate[3:], a[3:])
    tau = controller(q, v, reference)
    np.testing.assert_allclose(tool_acceleration(arm, q, v, tau)[rows], wanted, atol=1e-9)


def test_two_joints_in_closed_form():
    """A planar arm with point masses at elbow and tip (m₁ = m₂ = 1, l₁ = l₂ = 1): M and J by hand."""
    builder = kt.ModelBuilder("two")
    builder.link("base")
    for k in (1, 2):
        builder.link(f"link{k}", kt.Inertia.from_com(1.0, (1.0, 0.0, 0.0), np.zeros((3, 3))))
    builder.joint("a", "revolute", "base", "link1", axis=(0, 0, 1))
    builder.joint("b", "revolute", "link1", "link2", axis=(0, 0, 1), xyz=(1.0, 0, 0))
    builder.frame("tip", "link2", xyz=(1.0, 0, 0))
    robot = kt.Robot(builder.build())
    (q1, q2), v = (0.3, 0.9), np.array([0.4, -0.7])
    s, c = np.sin, np.cos
    M = np.array([[3.0 + 2.0 * c(q2), 1.0 + c(q2)], [1.0 + c(q2), 1.0]])
    b = s(q2) * np.array([-(2.0 * v[0] + v[1]) * v[1], v[0] ** 2])
    J = np.array([[-s(q1) - s(q1 + q2), -s(q1 + q2)], [c(q1) + c(q1 + q2), c(q1 + q2)]])
    w = v[0] + v[1]
    drift = -np.array([c(q1) * v[0] ** 2 + c(q1 + q2) * w**2, s(q1) * v[0] ** 2 + s(q1 + q2) * w**2])
    a = np.array([0.5, -0.2])
    tau = M @ np.linalg.solve(J, a - drift) + b
    controller = OperationalSpace(robot, "tip", 0.0, 0.0, task=("x", "y"))
    got = controller(np.array([q1, q2]), v, np.zeros(3), np.zeros(3), np.array([*a, 0.0]))
    np.testing.assert_allclose(got, tau, atol=1e-12)


def test_torques_stay_bounded_through_a_singular_pose(arm):
    """Pulled along the stretched arm, where it cannot go: without damping there is no bound."""
    tool, q = arm.frame("tool0"), np.zeros(7)
    torques = {}
    for regularization in (1e-4, 0.0):
        controller = OperationalSpace(arm, "tool0", 100.0, regularization=regularization)
        path = [controller(q + s * Q, np.zeros(7), tool.pose(Q)) for s in np.geomspace(1e-1, 1e-6, 200)]
        torques[regularization] = np.abs(path).max()
    assert torques[1e-4] < 1e4 and torques[0.0] > 1e6
    assert np.isfinite(OperationalSpace(arm, "tool0", 100.0)(q, q, tool.pose(Q))).all()
    flat = kt.load("planar2")  # six directions, two joints: as good as it gets
    tau = OperationalSpace(flat, "tip", 100.0)(np.array([0.3, 0.8]), np.zeros(2), flat.frame("tip").pose([0.5, 0.6]))
    assert np.isfinite(tau).all() and np.abs(tau).max() < 1e3


def test_a_circle_is_tracked(arm):
    """Trajectory, controller and robot in one compiled loop: errors at the start decay as exp(-k_d t / 2)."""
    tool = arm.frame("tool0")
    T = tool.pose(Q)
    circle = PoseMotion(
        Arc(T[:3, 3], T[:3, 3] - [0.1, 0.0, 0.0], [0, 0, 1], 2 * np.pi, 2.0), Turn(T[:3, :3], T[:3, :3], 2.0)
    )
    controller = OperationalSpace(arm, "tool0", 100.0, posture=Q, posture_stiffness=10.0)
    law = kt.compile(lambda robot, q, v, t: controller(q, v, circle(t)))
    motion = arm.rollout(Q + 0.02, np.zeros(7), law, 1e-3, 2000, "rk4")
    apart = np.linalg.norm(tool.pose(motion.q)[:, :3, 3] - circle(motion.t).pose[:, :3, 3], axis=1)
    assert apart[0] > 0.005 and apart[-1] < 1e-6
    np.testing.assert_allclose(apart[500] / apart[0], 6.0 * np.exp(-5.0), rtol=0.1)  # (1 + 10 t) exp(-10 t)


# -- impedance ---------------------------------------------------------------------------------------------------------


def test_a_push_moves_it_as_a_mass_on_a_spring(arm):
    """Λ (ẇ - ẇ*) = K e + D ė + f."""
    rng, tool = np.random.default_rng(3), arm.frame("tool0")
    K, D = np.diag([400.0, 300, 200, 9, 8, 7]), np.array([40.0, 40, 40, 2, 2, 2])
    controller = CartesianImpedance(arm, "tool0", K, D, posture=np.zeros(7), posture_stiffness=4.0)
    for _ in range(10):
        q, v, (pose, rate, a) = near(arm, rng)
        f = rng.normal(size=6)
        w = tool_acceleration(arm, q, v, controller(q, v, (pose, rate, a)), {"tool0": f})
        left = tool.operational_space_inertia(q) @ (w - a)
        right = K @ error_of(pose, tool.pose(q)) + D * (rate - tool.velocity(q, v)) + f
        np.testing.assert_allclose(left, right, atol=1e-9 * np.abs(right).max())


def test_pushed_at_rest_it_gives_way_by_f_over_k(arm):
    tool, push = arm.frame("tool0"), np.array([8.0, -6.0, 4.0, 0.0, 0.0, 0.0])
    T = tool.pose(Q)
    controller = CartesianImpedance(
        arm, "tool0", [400.0] * 3 + [20.0] * 3, [60.0] * 3 + [0.5] * 3, posture=Q, posture_stiffness=20.0
    )
    law = kt.compile(lambda robot, q, v: controller(q, v, T) + robot.frame("tool0").jacobian(q).T @ push)
    end = arm.rollout(Q, np.zeros(7), law, 2e-4, 30000).q[-1]
    np.testing.assert_allclose(tool.pose(end)[:3, 3] - T[:3, 3], push[:3] / 400.0, atol=1e-6)


# -- hybrid ------------------------------------------------------------------------------------------------------------


def test_on_a_rigid_wall_force_and_motion_are_as_commanded(arm):
    """The exact equations of a frame that cannot move along n: M a + h = τ + Jᵀ n λ and nᵀ (J a + J̇ v) = 0."""
    rng, tool = np.random.default_rng(4), arm.frame("tool0")
    R = pin.exp3(np.array([0.4, -0.2, 0.7]))
    n = np.concatenate([R[:, 2], np.zeros(3)])
    controller = HybridMotionForce(arm, "tool0", 60.0, axes=R, posture=np.zeros(7), posture_stiffness=4.0)
    np.testing.assert_array_equal(controller.S_F, np.diag([0.0, 0, 1, 0, 0, 0]))
    np.testing.assert_array_equal(controller.S_M + controller.S_F, np.eye(6))
    for _ in range(10):
        q, v, (pose, rate, a) = near(arm, rng)
        J = tool.jacobian(q)
        v = v - np.linalg.pinv(n[None] @ J) @ (n[None] @ J @ v)  # along the wall
        f = 10.0 * n + rng.normal(size=6) * (1.0 - np.abs(n) > 2.0)
        tau = controller(q, v, (pose, rate, a, f))
        row = (J.T @ n)[:, None]
        system = np.block([[arm.mass_matrix(q), -row], [row.T, np.zeros((1, 1))]])
        drift = n @ tool.bias_acceleration(q, v)
        solution = np.linalg.solve(system, np.concatenate([tau - arm.bias_forces(q, v), [-drift]]))
        np.testing.assert_allclose(solution[-1], 10.0, atol=1e-9)
        command = a + 60.0 * error_of(pose, tool.pose(q)) + 2 * 60.0**0.5 * (rate - tool.velocity(q, v))
        moved = tool.acceleration(q, v, solution[:-1])
        along = np.eye(6) - np.outer(n, n)
        np.testing.assert_allclose(moved, along @ command, atol=1e-8)


def test_wiping_a_table_with_ten_newtons(arm):
    """A table as stiff springs, in simulation: 10 N while the tool draws a line, however the force gets there."""
    tool = arm.frame("tool0")
    T = tool.pose(Q)
    height = T[2, 3]
    wipe = PoseMotion(Line(T[:3, 3], T[:3, 3] + np.array([0.05, 0.08, 0.0]), 2.0), Turn(T[:3, :3], T[:3, :3], 2.0))
    push = ForceProfile([0.0, 0.5, 2.0], np.outer([2.0, 10.0, 10.0], [0.0, 0, 1, 0, 0, 0]))
    controller = HybridMotionForce(arm, "tool0", 100.0, posture=Q, posture_stiffness=10.0)

    def table(robot, q, v):
        """Its force on the robot [N]."""
        z, rate = robot.frame("tool0").pose(q)[2, 3], robot.frame("tool0").velocity(q, v)[2]
        return kt.maximum(2e4 * (height - z) - 200.0 * rate, 0.0)

    @kt.compile
    def law(robot, q, v, t):
        tau = controller(q, v, (*wipe(t), push(t).force))
        return tau + robot.frame("tool0").jacobian(q)[2] * table(robot, q, v)

    motion = arm.rollout(Q, np.zeros(7), law, 2e-4, 10000)
    forces = np.array([table(arm, q, v) for q, v in zip(motion.q[::100], motion.v[::100], strict=True)])
    times = motion.t[::100]
    np.testing.assert_allclose(forces[times > 0.6], 10.0, atol=0.05)
    places, wanted = tool.pose(motion.q[::100])[:, :2, 3], wipe(times).pose[:, :2, 3]
    assert np.abs(places - wanted).max() < 1e-3


def test_measured_forces_are_fed_back(arm):
    q, v = Q, np.zeros(7)
    tool = arm.frame("tool0")
    pose, f, measured = tool.pose(q), np.array([0.0, 0, 10, 0, 0, 0]), np.array([0.0, 0, 7, 0, 0, 0])
    still = np.zeros(6)
    closed = HybridMotionForce(arm, "tool0", 60.0, force_gain=0.5)
    opened = HybridMotionForce(arm, "tool0", 60.0)
    reference = (pose, still, still, f, measured)
    np.testing.assert_allclose(closed(q, v, reference), opened(q, v, (pose, still, still, f * 1.15)), atol=1e-12)
    with pytest.raises(kt.ArgumentTypeError, match="missing a required argument: 'velocity'"):
        closed(q, v, pose)


def test_what_is_wrong_is_said(arm):
    with pytest.raises(kt.UnknownNameError, match="did you mean 'tool0'"):
        OperationalSpace(arm, "tool", 10.0)
    with pytest.raises(kt.UnknownNameError, match="direction 'w' does not exist"):
        OperationalSpace(arm, "tool0", 10.0, task=("x", "w"))
    with pytest.raises(kt.UnknownNameError, match="task 'positions' does not exist; did you mean 'position'"):
        OperationalSpace(arm, "tool0", 10.0, task="positions")
    with pytest.raises(kt.ArgumentError, match=r"stiffness has shape \(6,\); expected a number, 3 numbers"):
        OperationalSpace(arm, "tool0", np.ones(6), task="position")
    with pytest.raises(kt.ArgumentError, match="posture is given and posture_stiffness is not"):
        OperationalSpace(arm, "tool0", 10.0, posture=Q)
    with pytest.raises(kt.ArgumentError, match="'z' is a direction of motion and of force"):
        HybridMotionForce(arm, "tool0", 10.0, motion_directions=("x", "z"))
    with pytest.raises(kt.ArgumentError, match=r"axes is .*; expected a rotation matrix"):
        HybridMotionForce(arm, "tool0", 10.0, axes=2.0 * np.eye(3))
    with pytest.raises(kt.ArgumentError, match="regularization is -1"):
        OperationalSpace(arm, "tool0", 10.0, regularization=-1.0)


def test_other_order_of_six_vectors():
    """With angular-first 6-vectors the same torques: gains stay in the order x y z rx ry rz."""
    first, second = kt.load("arm7"), kt.load("arm7", spatial_order="angular-first")
    q, v, (pose, rate, a) = near(first, np.random.default_rng(6))
    f, gains = np.arange(6.0), [9.0, 8, 7, 6, 5, 4]
    swap = [3, 4, 5, 0, 1, 2]
    for kind, extra in ((OperationalSpace, {}), (HybridMotionForce, {"axes": "tool0"})):
        sixes = (rate, a, f) if kind is HybridMotionForce else (rate, a)
        ours = kind(first, "tool0", gains, **extra)(q, v, (pose, *sixes))
        theirs = kind(second, "tool0", gains, **extra)(q, v, (pose, *(six[swap] for six in sixes)))
        np.testing.assert_allclose(ours, theirs, atol=1e-11)

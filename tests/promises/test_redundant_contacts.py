"""Contacts that repeat or contradict each other are held as well as they can be, at rest and in motion.

Covers: solvers/shared_equations.py.
"""

import numpy as np
import pytest

import kinetree as kt
from closed_loops import share_of_cone, share_of_limits
from kinetree.control import (
    CenterOfMass,
    LineContact,
    Orientation,
    PointContact,
    Pose,
    Posture,
    SurfaceContact,
    WholeBody,
)
from kinetree.linalg import RANK_TOLERANCE
from kinetree.simulation import MujocoWorld
from whole_bodies import standing

SPEEDS = (0.0, 1e-6, 1e-4, 1e-2, 1.0)


def corners(frame, at=(0.0, 0.0, 0.0), length=0.16, width=0.08, **options):
    """Four points of a sole."""
    return [
        PointContact(frame, friction=0.6, at=(at[0] + x, at[1] + y, at[2]), name=f"{frame} {x:g} {y:g}", **options)
        for x in (0.5 * length, -0.5 * length)
        for y in (0.5 * width, -0.5 * width)
    ]


def mixed(frame, at):
    """A surface, a line and a point of one sole."""
    kinds = {SurfaceContact: 0.0, LineContact: 0.05, PointContact: -0.07}
    x, y, z = at
    return [
        kind(frame, at=(x + ahead, y, z), friction=0.6, name=f"{kind.__name__} of {frame}")
        for kind, ahead in kinds.items()
    ]


def contacts_of(stander, case):
    feet = [contact.frame for contact in stander.contacts]
    at = stander.contacts[0].at or (0.0, 0.0, 0.0)
    return {
        "points of one sole": lambda: corners(feet[0], at),
        "points of all soles": lambda: [point for foot in feet for point in corners(foot, at)],
        "mixed kinds": lambda: [contact for foot in feet[:2] for contact in mixed(foot, at)],
        "a surface on every foot": lambda: [SurfaceContact(foot, at=at, friction=2.0) for foot in feet],  # tilted
        "every surface twice": lambda: [
            SurfaceContact(foot, at=at, friction=0.6, name=f"{foot} {k}") for foot in feet for k in range(2)
        ],
    }[case]()


def held(controller, q, v):
    """J and J̇ v of all contacts, in world axes, from frames alone."""
    robot, rows, drifts = controller.robot, [], []
    for contact in controller.contacts:
        frame = robot.frame(contact.frame)
        R, J, gamma = frame.pose(q)[:3, :3], frame.jacobian(q), frame.bias_acceleration(q, v)
        p = R @ np.array(contact.at or (0.0, 0.0, 0.0))
        omega = J[3:] @ v
        point = J[:3] + np.cross(J[3:].T, p).T
        drift = gamma[:3] + np.cross(gamma[3:], p) + np.cross(omega, np.cross(omega, p))
        directions = R.T @ J[3:], R.T @ gamma[3:]
        chosen = [row - 3 for row in contact.rows if row > 2]
        rows += [point if not chosen else R.T @ point, directions[0][chosen]]
        drifts += [drift if not chosen else R.T @ drift, directions[1][chosen]]
    return np.concatenate(rows), np.concatenate(drifts)


def controller_of(robot, contacts, strict):
    tasks = [CenterOfMass(weight=3.0), Posture(weight=0.3, priority=1 if strict else 0)]
    return WholeBody(robot.eager, tasks, contacts, limits=())  # without compiling a formula for each


@pytest.mark.parametrize("strict", [False, True], ids=["weighted", "strict"])
@pytest.mark.parametrize(
    "name, case",
    [
        ("humanoid", "points of one sole"),
        ("humanoid", "mixed kinds"),
        pytest.param("humanoid", "points of all soles", marks=pytest.mark.long),
        ("quadruped", "a surface on every foot"),
        pytest.param("humanoid", "every surface twice", marks=pytest.mark.long),
        pytest.param("quadruped", "mixed kinds", marks=pytest.mark.long),
        pytest.param("g1", "points of one sole", marks=pytest.mark.long),
        pytest.param("g1", "points of all soles", marks=pytest.mark.long),
        pytest.param("g1", "mixed kinds", marks=pytest.mark.long),
    ],
)
@pytest.mark.sampled(4)
def test_contacts_of_one_foot_are_held_in_the_sense_of_least_squares_at_any_speed(name, case, strict):
    stander = standing(name)
    robot = stander.robot
    controller = controller_of(robot, contacts_of(stander, case), strict)
    rng = np.random.default_rng(1)
    contradicted = 0
    for speed in SPEEDS:
        q = robot.integrate(stander.q, 0.02 * rng.normal(size=robot.nv))
        v = speed * rng.normal(size=robot.nv)
        goal = {"center_of_mass": robot.center_of_mass(q), "posture": q}
        try:
            step = controller.step(q, v, goal)
        except kt.InfeasibleError as error:  # held, but no forces within cones do it
            assert speed > 0.1 and "cone" in str(error)
            continue
        J, drift = held(controller, q, v)
        left = J @ step.a + drift
        assert np.linalg.matrix_rank(J, RANK_TOLERANCE * np.linalg.norm(J)) < len(J)
        assert np.abs(J.T @ left).max() < 1e-9 * (1.0 + np.abs(step.a).max())  # no other a leaves less
        contradicted += np.abs(left).max() > 1e-6
        torques = robot.inverse_dynamics(q, v, step.a, wrenches=controller.wrenches(q, step.forces))
        assert np.abs(torques - step.tau).max() < 1e-8 * (1.0 + np.abs(torques).max())
    assert (contradicted > 0) == (case != "every surface twice")  # equal contacts never contradict each other


def test_points_of_a_sole_ask_for_what_its_surface_asks_for():
    """Four corners, of which none can be still while the sole turns, hold its centre and its axes."""
    stander = standing("humanoid")
    robot, rng = stander.robot, np.random.default_rng(3)
    surface = controller_of(robot, [SurfaceContact("left_sole"), SurfaceContact("right_sole")], False)
    points = controller_of(robot, corners("left_sole") + corners("right_sole"), False)
    for speed in (1e-3, 0.3):
        v = speed * rng.normal(size=robot.nv)
        goal = {"center_of_mass": robot.center_of_mass(stander.q), "posture": stander.q}
        one, other = (controller.step(stander.q, v, goal).a for controller in (surface, points))
        for foot in ("left_sole", "right_sole"):
            frame = robot.frame(foot)
            a, b = (frame.acceleration(stander.q, v, acceleration) for acceleration in (one, other))
            np.testing.assert_allclose(a[:3], b[:3], atol=1e-7)
            np.testing.assert_allclose(a[3:], b[3:], atol=2.0 * speed**2 * robot.nv)


@pytest.mark.sweep
def test_contacts_that_are_off_and_what_cannot_be_done_are_still_told():
    stander = standing("humanoid")
    robot, v = stander.robot, 0.1 * np.random.default_rng(0).normal(size=stander.robot.nv)
    contacts = corners("left_sole") + corners("right_sole")
    goal = {"center_of_mass": robot.center_of_mass(stander.q), "posture": stander.q}
    controller = controller_of(robot, contacts, False)
    off = {contact.name: False for contact in contacts[:4]}
    step = controller.step(stander.q, v, goal, contacts=off)
    assert all(np.abs(step.force(name)).max() < 1e-9 for name in off)
    assert np.abs(robot.frame("left_sole").acceleration(stander.q, v, step.a)).max() > 0.1
    pushed = [Pose("left_sole", hard=True), Posture(), CenterOfMass()]
    target = robot.frame("left_sole").pose(stander.q).copy()
    target[2, 3] += 0.1
    for strict in (0, 1):
        tasks = [*pushed[:2], CenterOfMass(priority=strict)]
        impossible = WholeBody(robot.eager, tasks, contacts, limits=())
        with pytest.raises(kt.InfeasibleError) as caught:
            impossible.step(stander.q, v, {**goal, "left_sole": target})
        assert "task 'left_sole'" in caught.value.conflicting
        assert any(name.startswith("contact 'left_sole") for name in caught.value.conflicting)


@pytest.mark.parametrize("strict", [False, True], ids=["weighted", "strict"])
def test_contacts_that_ask_for_different_accelerations_share_what_they_ask_for(strict):
    """Of one foot, that come to rest at different rates; and of the base, which has no joint above it."""
    stander = standing("humanoid")
    robot, rng = stander.robot, np.random.default_rng(4)
    dampings = (20.0, 0.0, 5.0)
    for frame in ("left_sole", robot.frame_names[0]):
        contacts = [SurfaceContact(frame, friction=2.0, damping=d, name=f"{frame} {d:g}") for d in dampings]
        controller = controller_of(robot, contacts, strict)
        v = 0.02 * rng.normal(size=robot.nv)
        step = controller.step(stander.q, v, {"center_of_mass": robot.center_of_mass(stander.q), "posture": stander.q})
        velocity = robot.frame(frame).velocity(stander.q, v)
        acceleration = robot.frame(frame).acceleration(stander.q, v, step.a)
        assert np.abs(velocity).max() > 1e-2
        np.testing.assert_allclose(acceleration, -np.mean(dampings) * velocity, atol=1e-9)


def test_a_step_from_the_state_of_the_last_one_is_the_same():
    stander = standing("humanoid")
    robot = stander.robot
    controller = controller_of(robot, corners("left_sole") + corners("right_sole"), False)
    goal = {"center_of_mass": robot.center_of_mass(stander.q), "posture": stander.q}
    v = 0.1 * np.random.default_rng(2).normal(size=robot.nv)
    cold = controller.step(stander.q, v, goal)
    warm = controller.step(stander.q, v, goal, state=cold.state)
    np.testing.assert_allclose(warm.tau, cold.tau, atol=1e-7)
    assert warm.iterations <= cold.iterations


@pytest.mark.parametrize("damping", [1e-3, 0.0], ids=["damped", "undamped"])
def test_differential_ik_holds_contacts_that_contradict_each_other_as_well_as_it_can(damping):
    """Feet held twice, in places that differ a little, as drift leaves them."""
    robot = kt.load("humanoid", base="floating")
    q, rng = standing("humanoid").q, np.random.default_rng(0)
    places = {foot: robot.frame(foot).pose(q) for foot in ("left_sole", "left_foot_link", "right_sole")}
    places["left_foot_link"] = places["left_foot_link"].copy()
    places["left_foot_link"][:3, 3] += 1e-3 * rng.normal(size=3)
    contacts = [kt.Contact(foot, "surface", at=place) for foot, place in places.items()]
    ik = kt.ik.DifferentialIK(robot.eager, kt.ik.CenterOfMass(), contacts=contacts, damping=damping)
    v = ik(q, robot.center_of_mass(q) - [0.0, 0.0, 0.01])
    J = np.concatenate([robot.frame(foot).jacobian(q) for foot in places])
    rate = np.concatenate([np.r_[10.0 * (T[:3, 3] - robot.frame(foot).pose(q)[:3, 3]), 0, 0, 0]
                           for foot, T in places.items()])  # fmt: skip
    assert np.abs(J @ v - rate).max() > 1e-4
    np.testing.assert_allclose(J.T @ (J @ v - rate), 0.0, atol=1e-10)
    com = robot.center_of_mass_jacobian(q)
    assert (com @ v)[2] < -0.05  # and what is left does the task


@pytest.mark.sweep
def test_the_bundled_humanoid_stands_in_mujoco_on_eight_points_and_shifts_its_weight():
    robot = kt.load("humanoid", base="floating")
    q = standing("humanoid").q.copy()
    q[2] -= robot.frame("left_sole").pose(q)[2, 3]
    contacts = corners("left_sole", damping=20.0) + corners("right_sole", damping=20.0)
    tasks = [
        CenterOfMass(weight=10.0, stiffness=60.0),
        Orientation("chest_link", weight=0.5, stiffness=60.0, name="trunk"),
        Posture(weight=0.05, stiffness=40.0),
    ]
    controller = WholeBody(robot, tasks, contacts)
    start = robot.center_of_mass(q)
    start[0] = robot.frame("left_sole").pose(q)[0, 3]
    rest = {"trunk": robot.frame("chest_link").pose(q)[:3, :3], "posture": q}
    state = None

    def law(now):
        nonlocal state
        goal = start + np.array([0.0, 0.02, -0.02]) * min(1.0, now.t / 0.8)
        on = {contacts[int(now.t / 0.1) % 8].name: False}  # one point after the other is let go
        step = controller.step(now.q, now.v, rest | {"center_of_mass": goal}, contacts=on, state=state)
        state = step.state
        return step.tau

    recording = MujocoWorld(robot, feel=["left_sole", "right_sole"]).run(law, q, duration=2.0)
    assert np.linalg.norm(recording.center_of_mass[-1] - start - [0.0, 0.02, -0.02]) < 0.003
    assert share_of_limits(recording) < 1.0
    assert share_of_cone(recording.forces["left_sole"], 0.8) < 1.0


@pytest.mark.parametrize("speed", [0.0, 1.0, 100.0])
def test_forces_of_contacts_that_contradict_the_velocity_are_those_of_the_pseudo_inverse(speed):
    """Twelve equations for seven velocities, which forbid the one that the robot has. With W the mean of the diagonal
    of A = J M⁻¹ Jᵀ over each three directions, forces are -W^-½ (W^-½ A W^-½)⁺ W^-½ c, here by eigenvalues."""
    builder = kt.ModelBuilder("two bodies")
    box = kt.solids.box((0.1, 0.2, 0.3), mass=1.0)
    builder.link("body", box)
    builder.link("arm", box.shifted((0.2, 0, 0)))
    builder.joint("hinge", "revolute", "body", "arm", axis=(0, 1, 0), xyz=(0.1, 0, 0))
    builder.frame("tip", "arm", xyz=(0.3, 0, 0.1))
    robot = kt.Robot(builder.build("floating"))
    contacts = [kt.Contact("tip", "surface"), kt.Contact("body", "surface")]
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, tau, v = robot.random(rng), rng.normal(size=7), speed * rng.normal(size=7)
        eager = robot.eager.constrained(contacts)
        J, M = eager.jacobian(q), robot.mass_matrix(q)
        A = J @ np.linalg.solve(M, J.T)
        W = np.repeat(A.diagonal().reshape(-1, 3).mean(axis=1), 3)
        root = np.sqrt(W)
        c = J @ np.linalg.solve(M, tau - robot.bias_forces(q, v)) + eager.bias(q, v)
        expected = -np.linalg.pinv(A / np.outer(root, root), rcond=1e-10, hermitian=True) @ (c / root) / root
        for system in (eager, robot.constrained(contacts)):
            a, f = system.forward_dynamics(q, v, tau)
            assert np.abs(f - expected).max() <= 1e-5 * np.abs(expected).max()
            assert np.abs(M @ a + robot.bias_forces(q, v) - tau - J.T @ f).max() <= 1e-6 * np.abs(expected).max()

"""Searches, differential inverse kinematics and whole-body control of parametric robots, beside robots that are built
with their numbers."""

import pickle

import numpy as np
import pytest

import kinetree as kt
from peers import close
from processes import run

pytestmark = pytest.mark.calls
INERTIAL = ("inertial",)
ALL = ("inertial", "joint", "placement")
BOTH = [0, pytest.param(1, marks=pytest.mark.sweep)]


@pytest.fixture
def rng():
    return np.random.default_rng(24)


def drawn(robot, rng, count):
    """Parameters of so many robots near this one."""
    return robot.parameters * rng.uniform(0.8, 1.25, (count, len(robot.parameters)))


@pytest.mark.parametrize("turns", [True, pytest.param(False, marks=pytest.mark.sweep)])
def test_searches_with_the_placements_of_every_state(turns, rng):
    """Poses of other robots are met by their own solutions, which are those of a robot that is built like this."""
    robot = kt.load("arm6", parametric=("inertial", "placement"))
    P, q = drawn(robot, rng, 3), rng.uniform(-1.0, 1.0, (3, 6))
    target = robot.frame("tool0").pose(q, parameters=P)
    target = target if turns else target[..., :3, 3]
    q0 = q + rng.normal(scale=0.2, size=q.shape)
    found = robot.ik("tool0", target, q0, parameters=P)
    reached = robot.frame("tool0").pose(found.q, parameters=P)
    assert found.success.all()
    close(reached if turns else reached[..., :3, 3], target, 1e-5)
    assert np.abs(found.q - robot.ik("tool0", target, q0).q).max() > 1e-3
    other = robot.with_parameters(P[1]).baked
    close(found.q[1], other.ik("tool0", target[1], q0[1]).q, 1e-9)
    for given in (None, q0[1]):
        one, wanted = robot.ik("tool0", target[1], given, parameters=P[1]), other.ik("tool0", target[1], given)
        assert one.iterations == wanted.iterations
        close(one.q, wanted.q, 1e-9)
    many = robot.ik("tool0", target[1], q0[1], parameters=P[:, None])
    assert many.q.shape == (3, 1, 6)
    close(many.q[1, 0], found.q[1], 1e-12)
    assert robot.ik("tool0", target[1], parameters=P[:0]).q.shape == (0, 6)
    close(robot.ik("tool0", target[1], q0[1]).q, robot.baked.ik("tool0", target[1], q0[1]).q, 1e-9)


def test_searches_for_what_some_robots_cannot_reach(rng):
    robot = kt.load("arm6", parametric={"placement": ["elbow", "tool0"]})
    P = np.tile(robot.parameters, (2, 1))
    P[1, robot.parameter_names.index("tool0.x")] += 0.9
    P[1, robot.parameter_names.index("elbow.x")] -= 0.25
    longer = robot.with_parameters(P[1]).baked
    q = longer.random(rng, 100)
    places = longer.frame("tool0").pose(q)[:, :3, 3]
    target = places[np.argmax(np.linalg.norm(places, axis=1))]
    found = robot.ik("tool0", target, parameters=P)
    assert found.success.tolist() == [False, True]
    wanted = robot.baked.ik("tool0", target)
    close(found.residual[0], wanted.residual, 1e-7)
    assert found.reason[0] == wanted.reason and "out of reach" in wanted.reason
    away = np.array([5.0, 0.0, 0.0])
    for k, other in enumerate((robot.baked, longer)):
        assert robot.ik("tool0", away, parameters=P[k]).reason == other.ik("tool0", away).reason
    held = np.eye(4)
    held[:3, 3] = target
    assert robot.ik("tool0", held, parameters=P[1]).reason == longer.ik("tool0", held).reason
    with pytest.raises(kt.ArgumentError, match=r"parameters\[1\] has entries that are not finite"):
        robot.ik("tool0", target, parameters=np.where(np.arange(2)[:, None] == 1, np.nan, P))
    with pytest.raises(kt.ArgumentError, match=r"parameters has shape \(2, 11\); expected \(…, 12\)"):
        robot.ik("tool0", target, parameters=P[:, 1:])
    with pytest.raises(kt.ArgumentError, match="ik of 'arm6' takes no parameters"):
        robot.baked.ik("tool0", target, parameters=P)

    @kt.compile
    def inside(robot, q):
        return robot.ik("tool0", target).q

    with pytest.raises(kt.ArgumentError, match="cannot be part of a compiled function"):
        inside(robot, q[0])


def test_a_search_moves_joints_that_other_placements_let_move_the_frame(rng):
    """The last joint of an arm turns about the tool's origin, unless that is moved away from its axis."""
    robot = kt.load("arm6", parametric={"placement": ["tool0"]})
    P = robot.parameters.copy()
    P[:3] += (0.1, 0.05, 0.0)
    target = robot.with_parameters(P).baked.frame("tool0").pose(np.full(6, 0.5))[:3, 3]
    assert robot.ik("tool0", target, parameters=P).success


@pytest.mark.parametrize("priority", BOTH)
def test_differential_inverse_kinematics(priority, rng):
    robot = kt.load("arm6", parametric=ALL)
    P, q = drawn(robot, rng, 4), rng.uniform(-1.0, 1.0, (4, 6))
    tasks = (kt.ik.Position("tool0", gain=0.2), kt.ik.CenterOfMass(gain=0.2, priority=priority))
    step = kt.ik.DifferentialIK(robot, tasks)
    goals = (robot.frame("tool0").pose(q)[:, :3, 3] + 0.02, robot.center_of_mass(q))
    v = step(q, *goals, parameters=P)
    for k in (0, 3):
        given = (q[k], *(goal[k] for goal in goals))
        other = kt.ik.DifferentialIK(robot.with_parameters(P[k]).baked, tasks)
        close(v[k], other(*given), 1e-9)
        assert (step.velocity(*given, parameters=P[k]) == v[k]).all()
        assert np.abs(step(*given) - v[k]).max() > 1e-4
        mine, theirs = step.step(*given, parameters=P[k]), other.step(*given)
        for x, y in zip(mine.residuals, theirs.residuals, strict=True):
            close(x, y, 1e-9)
    close(step(q, *goals), kt.ik.DifferentialIK(robot.baked, tasks)(q, *goals), 1e-9)
    pairs = list(zip(tasks, (goal[0] for goal in goals), strict=True))
    close(kt.ik.velocity(robot, q[0], pairs, parameters=P[0]), v[0], 1e-12)
    eager = kt.ik.DifferentialIK(robot.eager, tasks)
    close(eager(q[0], *(goal[0] for goal in goals), parameters=P[0]), v[0], 1e-9)
    assert (pickle.loads(pickle.dumps(step))(q, *goals, parameters=P) == v).all()
    with pytest.raises(kt.errors.NotFiniteError, match=r"parameters has nan at \[0\]"):
        step(q[0], *(goal[0] for goal in goals), parameters=np.nan * P[0])
    with pytest.raises(kt.ArgumentError, match="takes no parameters"):
        kt.ik.DifferentialIK(robot.baked, tasks)(q, *goals, parameters=P)


@pytest.mark.parametrize("priority", BOTH)
def test_whole_body_control(priority, rng):
    """Torques, accelerations and forces of a robot that is built with these numbers; its mass is their unit."""
    robot = kt.load("planar2", "floating", parametric=ALL)
    P = drawn(robot, rng, 3) * np.linspace(0.5, 2.0, 3)[:, None]
    q, v = robot.random(rng), 0.1 * rng.normal(size=8)
    contact = kt.control.PointContact("tip", adhesion=np.inf)
    tasks = (
        kt.control.CenterOfMass(gain=10.0),
        kt.control.Momentum(part="angular", priority=priority, weight=0.3),
        kt.control.Force("tip", weight=0.01, priority=priority),
        kt.control.Torque(weight=0.1, priority=priority),
    )
    reference = {"center_of_mass": np.ones(3), "momentum": np.ones(3), "force of tip": np.ones(3)}
    limits = kt.control.TorqueLimits(30.0)
    options = {"contacts": contact, "limits": limits, "regularization": 0.1}
    control = kt.control.WholeBody(robot, tasks, **options)
    torques = control(q, v, reference, parameters=P)
    assert torques.shape == (3, 8)
    for k in (0, 2):
        other = kt.control.WholeBody(robot.with_parameters(P[k]).baked, tasks, **options)
        step, wanted = control.step(q, v, reference, parameters=P[k]), other.step(q, v, reference)
        close(torques[k], wanted.tau, 1e-8)
        for mine, theirs in ((step.tau, wanted.tau), (step.a, wanted.a), (step.forces, wanted.forces)):
            close(mine, theirs, 1e-8)
        push, pushed = control.wrenches(q, step.forces, parameters=P[k]), other.wrenches(q, wanted.forces)
        close(push["tip"], pushed["tip"], 1e-8)
    assert np.abs(torques - control(q, v, reference)).max() > 1e-2
    close(control(q, v, reference), kt.control.WholeBody(robot.baked, tasks, **options)(q, v, reference), 1e-8)
    with pytest.raises(kt.errors.NotFiniteError, match=r"parameters has nan at \[0\]"):
        control(q, v, reference, parameters=np.nan * P[0])


def test_the_fallback_of_whole_body_control(rng):
    robot = kt.load("arm6", parametric=INERTIAL)
    P, q = drawn(robot, rng, 1)[0], robot.random(rng)
    tasks = kt.control.Posture(gain=10.0)
    control = kt.control.WholeBody(robot, tasks, fallback="gravity-compensation")
    control.prepare()
    step = control.step(q, np.zeros(6), {"posture": np.full(6, np.nan)}, parameters=P)
    assert isinstance(step.error, kt.errors.NotFiniteError)
    close(step.tau, robot.gravity_forces(q, parameters=P), 1e-9)
    close(control(q, np.zeros(6), {"posture": q}, parameters=P), robot.gravity_forces(q, parameters=P), 1e-9)


# -- other numbers -----------------------------------------------------------------------------------------------------

EDITS = """
import sys
import numpy as np
import kinetree as kt

robot, q, v = kt.load("planar2", parametric=("inertial", "joint", "placement")), np.full(2, 0.3), np.full(2, 0.1)

def results(robot):
    target = robot.frame("tip").pose([0.4, 0.5])[:3, 3]
    yield robot.inverse_dynamics(q, v, v)
    yield robot.mass_matrix([q, q])
    yield kt.control.ComputedTorque(robot, 25.0)(q, v, v)
    yield robot.ik("tip", target, q).q
    yield kt.ik.DifferentialIK(robot, kt.ik.Position("tip", gain=0.1))(q, target)
    yield kt.control.WholeBody(robot, kt.control.Posture(gain=10.0))(q, v, {"posture": q})

def count(frame, event, argument):
    if event == "call" and frame.f_code.co_qualname in MADE:
        counted.append(frame.f_code.co_qualname)

MADE, counted = {"Specialization._trace", "Program.code"}, []
first = list(results(robot))
sys.setprofile(count)
heavier = kt.edit.set_mass(robot, robot.body_names[1], 5.0)
for other in (
    heavier,
    kt.edit.set_inertia(robot, robot.body_names[1], heavier.model.inertias[2]),
    kt.edit.set_dynamics(robot, robot.joint_names[1], armature=0.7),
    kt.edit.place_joint(robot, robot.joint_names[1], xyz=(0.9, 0.0, 0.0)),
    robot.with_parameters(1.1 * robot.parameters),
):
    assert any(np.abs(x - y).max() > 1e-3 for x, y in zip(results(other), first))
print(counted)
kt.edit.set_mass(robot.baked, robot.body_names[1], np.random.default_rng().uniform(1.0, 2.0)).mass_matrix(q)
print(sorted(counted))
"""


@pytest.mark.sweep
def test_controllers_with_the_inertias_of_the_call(rng):
    arm, walker = (
        kt.load(name, base, parametric="inertial") for name, base in (("arm6", "fixed"), ("quadruped", "floating"))
    )
    feet = [kt.Contact(name) for name in walker.frame_names if name.endswith("foot")]
    q, v, goal = arm.random(rng), rng.normal(size=6), arm.random(rng)
    pose = arm.frame("tool0").pose(goal)
    stance = walker.configuration(
        {name: {"haa": 0.0, "hfe": 0.6, "kfe": -1.2}[name[-3:]] for name in walker.joint_names}
    )
    for robot, make, given in (
        (arm, kt.control.GravityCompensation, (q, v)),
        (arm, lambda r: kt.control.JointImpedance(r, 10.0, 1.0), (q, v, goal)),
        (arm, lambda r: kt.control.OperationalSpace(r, "tool0", 10.0), (q, v, pose)),
        (arm, lambda r: kt.control.CartesianImpedance(r, "tool0", 10.0, 1.0), (q, v, pose)),
        (arm, lambda r: kt.control.HybridMotionForce(r, "tool0", 10.0), (q, v, pose)),
        (walker, lambda r: kt.control.SupportConsistent(r.constrained(feet), 10.0), (stance, np.zeros(18), stance)),
    ):
        P = robot.parameters * rng.uniform(0.7, 1.3, (2, 1))
        controller = make(robot)
        found = controller(*given, parameters=P)
        for k in range(2):
            np.testing.assert_allclose(found[k], make(robot.with_parameters(P[k]).baked)(*given), atol=1e-9)
        assert np.abs(found - controller(*given)).max() > 1e-2


def test_closed_forms_are_of_the_numbers_that_the_robot_has():
    robot = kt.load("arm6", parametric={"placement": ["elbow", "tool0"]})
    longer = robot.with_parameters(robot.parameters + np.eye(12)[6] * 0.01)
    target = robot.frame("tool0").pose([0.3, -0.8, 1.0, 0.2, 0.5, 0.0])
    for each in (robot, longer):
        solutions = kt.ik.closed_form(each, "tool0", target)
        assert len(solutions)
        poses = each.frame("tool0").pose(solutions)
        np.testing.assert_allclose(poses, np.broadcast_to(target, poses.shape), atol=1e-9)
    with pytest.raises(TypeError, match="parameters"):
        kt.ik.closed_form(robot, "tool0", target, parameters=longer.parameters)


def test_edits_of_numbers_trace_and_compile_nothing():
    """Quantities, controllers, searches and whole-body control of an edited robot run the code of the first; one with
    its numbers in the code is compiled."""
    assert run(EDITS).splitlines() == ["[]", "['Program.code', 'Specialization._trace']"]

"""What acts on a robot during a rollout: functions, parameters, springs, stops, wrenches, damping and friction.

Covers: simulation/efforts.py.
"""

import numpy as np
import pytest

import kinetree as kt
from peers import close


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="module")
def slider():
    """A mass of 2 kg on a vertical rail, with limits at 0 and 1 m."""
    builder = kt.ModelBuilder("slider")
    builder.link("rail")
    builder.link("mass", kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)))
    builder.joint("slide", "prismatic", "rail", "mass", axis=(0, 0, 1), lower=0.0, upper=1.0)
    return kt.Robot(builder.build())


@kt.compile(shapes={"gain": (), "goal": "q", "t": ()})
def towards(robot, q, v, t, gain, goal):
    error = goal - q
    return {"tau": robot.gravity_forces(q) + gain * error - 0.1 * v, "error": error, "late": kt.where(t > 0.005, 1, 0)}


def test_parameters_of_each_state_and_of_all(arm):
    rng = np.random.default_rng(0)
    q0, gains, goal = arm.random(rng, 11), rng.uniform(1, 5, 11), arm.random(rng)
    path = arm.rollout(
        q0,
        np.zeros(6),
        towards,
        1e-3,
        10,
        parameters={"gain": gains, "goal": goal},
        record=("q", "tau", "error", "late"),
    )
    assert path["tau"].shape == path["error"].shape == (11, 10, 6) and path["late"].shape == (11, 10)
    close(path["error"], goal - path.q[:, :-1], 1e-14)
    assert np.array_equal(path["late"][3], np.arange(10) > 5)
    alone = arm.rollout(
        q0[4], np.zeros(6), towards, 1e-3, 10, parameters={"gain": gains[4], "goal": goal}, record=("q", "tau")
    )
    assert np.array_equal(path.q[4], alone.q) and np.array_equal(path["tau"][4], alone["tau"])
    with pytest.raises(kt.ArgumentError, match="v was not recorded"):
        _ = path.v


def test_a_function_in_python_is_asked_before_every_step(arm):
    asked = []

    def effort(q, v, t):
        asked.append((q.shape, t))
        return arm.gravity_forces(q) - 2.0 * q - 0.01 * v

    @kt.compile
    def law(robot, q, v):
        return robot.gravity_forces(q) - 2.0 * q - 0.01 * v

    for q0 in (arm.random(1), arm.random(1, (2, 5))):
        asked.clear()
        slow, fast = (arm.rollout(q0, np.zeros(6), which, 1e-3, 20, record=("q", "tau")) for which in (effort, law))
        assert asked == [(q0.shape, 1e-3 * k) for k in range(20)]
        close(slow.q, fast.q, 1e-12)
        close(slow["tau"], fast["tau"], 1e-10)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "rk4", "dormand-prince"])
@pytest.mark.sampled(3)
def test_efforts_and_wrenches_that_are_held(arm, integrator):
    """One axis, or a single row of steps: as if given for every step."""
    rng = np.random.default_rng(2)
    q0, u, w = arm.random(rng, 6), rng.normal(size=6), rng.normal(size=6)

    def ends(efforts, wrench):
        return arm.rollout(q0, np.zeros(6), efforts, 1e-3, 6, integrator, wrenches={"tool0": wrench}).q

    every = ends(np.tile(u, (6, 1)), np.tile(w, (6, 1)))
    tolerance = 1e-9 if integrator == "dormand-prince" else 0.0
    for efforts, wrench in ((u, w), (u[None], kt.Wrench(w)), (np.tile(u, (6, 1, 1)), np.tile(w, (6, 1, 1)))):
        close(ends(efforts, wrench), every, tolerance)


def test_axes_decide_how_efforts_are_read_and_not_lengths(arm):
    """Six states, six steps and six joints: two axes are steps and joints, and states need a third."""
    q0, each = np.zeros((6, 6)), np.diag(np.arange(1.0, 7.0))
    by_step = arm.rollout(q0, np.zeros(6), each, 1e-3, 6, record="tau")["tau"]
    by_state = arm.rollout(q0, np.zeros(6), each[:, None], 1e-3, 6, record="tau")["tau"]
    assert np.array_equal(by_step, np.tile(each, (6, 1, 1))) and np.array_equal(by_state, by_step.swapaxes(0, 1))
    with pytest.raises(kt.ArgumentError, match=r"controls has shape \(6, 6\); expected \(…, 5, 6\), a row .* \(…, 1"):
        arm.rollout(q0, np.zeros(6), each, 1e-3, 5)
    with pytest.raises(kt.ArgumentError, match=r"wrenches\['tool0'\] has shape \(3,\); expected .* or \(6,\)"):
        arm.rollout(q0, np.zeros(6), None, 1e-3, 5, wrenches={"tool0": [0, 0, 1]})


@pytest.mark.parametrize("reference", ["world-aligned", "local", "world"])
def test_wrenches_over_time(arm, reference):
    """As forward dynamics with the wrench of each step."""
    rng = np.random.default_rng(3)
    q, v, w = arm.random(rng), rng.normal(size=6), rng.normal(size=(15, 6))
    path = arm.rollout(q, v, None, 1e-3, 15, wrenches={"tool0": kt.Wrench(w, reference)})
    for k in range(15):
        v = v + 1e-3 * arm.forward_dynamics(q, v, np.zeros(6), {"tool0": kt.Wrench(w[k], reference)})
        q = arm.integrate(q, 1e-3 * v)
    close(path.q[-1], q, 1e-12)


def test_wrenches_by_a_law_and_by_state():
    robot = kt.load("quadruped", base="floating")
    weight = robot.mass * 9.81
    base = robot.body_names[0]

    @kt.compile
    def lift(robot, q, v):
        return np.array([0.0, 0.0, weight, 0.0, 0.0, 0.0])

    by_law = robot.rollout(robot.neutral(), np.zeros(robot.nv), None, 1e-3, 20, wrenches={base: lift})
    strengths = np.linspace(0, 2, 9)[:, None, None] * np.array([0, 0, weight, 0, 0, 0])
    wrenches = {base: np.broadcast_to(strengths, (9, 20, 6))}
    by_array = robot.rollout(robot.neutral(), np.zeros(robot.nv), None, 1e-3, 20, wrenches=wrenches)
    close(by_law.q, by_array.q[4], 1e-12)
    assert by_array.q[8, -1, 2] > by_array.q[4, -1, 2] > by_array.q[0, -1, 2]


def test_a_spring_swings_with_its_period(slider):
    """A mass on a spring from the ceiling: q = l - m g / k + A cos(ω t), ω = √(k/m)."""
    spring = kt.Spring("mass", (0, 0, 3), 80.0, 1.0)
    middle, omega = 2.0 - 2.0 * 9.81 / 80.0, np.sqrt(80.0 / 2.0)
    path = slider.rollout([middle - 0.3], [0.0], None, 1e-3, 2000, "rk4", forces=spring)
    close(path.q[:, 0], middle - 0.3 * np.cos(omega * path.t), 1e-8)


def test_stops_hold_at_limits(slider):
    """Dropped on the lower stop it comes to rest m g / k below it; driven up, as far above the upper one."""
    stops = kt.LimitStops(stiffness=1e4, damping=200.0)
    weight = 2.0 * 9.81
    for push, rest in ((0.0, -weight / 1e4), (3.0 * weight, 1.0 + 2.0 * weight / 1e4)):
        path = slider.rollout([0.5], [0.0], np.full((5000, 1), push), 1e-3, 5000, forces=(stops,))
        close(path.q[-1], [rest], 1e-6)
        assert np.abs(path.v[-1]).max() < 1e-5
    free = slider.rollout([0.5], [0.0], None, 1e-3, 300, forces=stops)
    plain = slider.rollout([0.5], [0.0], None, 1e-3, 300)
    assert np.array_equal(free.q, plain.q) and free.q.min() > 0.0


def test_stops_never_pull(slider):
    stops = kt.LimitStops(stiffness=10.0, damping=1e3)
    leaving = stops.efforts(slider, np.array([1.1]), np.array([-5.0]), 0.0)
    assert np.array_equal(leaving, np.zeros(1))
    entering = stops.efforts(slider, np.array([1.1]), np.array([5.0]), 0.0)
    assert (entering < -1.0).all()
    with pytest.raises(kt.ArgumentError, match="stiffness is -1"):
        kt.LimitStops(stiffness=-1.0)


def damped(**dynamics):
    builder = kt.ModelBuilder("wheel")
    builder.link("stand")
    builder.link("wheel", kt.Inertia.from_com(1.0, (0, 0, 0), np.diag([0.5, 0.5, 0.5])))
    builder.joint("axle", "revolute", "stand", "wheel", axis=(0, 0, 1), dynamics=kt.JointDynamics(**dynamics))
    return kt.Robot(builder.build())


def test_damping_and_friction_of_joints():
    """ω = ω₀ exp(-d t / I); with Coulomb friction it comes to rest at about t = I ω₀ / f and stays."""
    path = damped(damping=0.4).rollout([0.0], [3.0], None, 1e-3, 1000, "rk4")
    close(path.v[:, 0], 3.0 * np.exp(-0.4 * path.t / 0.5), 1e-9)
    path = damped(friction=0.5).rollout([0.0], [1.0], None, 1e-3, 1500, "rk4")
    close(path.v[500], [0.5], 2e-3)
    assert np.abs(path.v[-1]).max() < 1e-4 and np.ptp(path.q[1200:]) < 1e-3


class Wind:
    """A force of one's own."""

    def __init__(self, size=1):
        self.size = size

    def efforts(self, robot, q, v, t):
        return 0.5 * kt.cos(t) * np.ones(self.size)


def test_forces_of_ones_own():
    robot = damped(damping=0.0)
    path = robot.rollout([0.0], [0.0], None, 1e-3, 1000, "rk4", forces=Wind())
    close(path.v[:, 0], np.sin(path.t), 1e-10)
    with pytest.raises(kt.ArgumentError, match=r"gives efforts of shape \(2,\); expected \(1,\)"):
        robot.rollout([0.0], [0.0], None, 1e-3, 10, forces=Wind(2))

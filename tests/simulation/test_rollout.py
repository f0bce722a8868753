"""Rollouts: as a loop of single steps, alone and in batches, under efforts and under laws.

Covers: compiler/codegen/step_loop.py, robot/applications.py, simulation/step.py.
"""

import gc
import weakref

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation import RigidContact
from peers import close


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@kt.compile
def spring(robot, q, v):
    return robot.gravity_forces(q) - 2.0 * q - 0.01 * v


@kt.compile(shapes={"t": ()})
def shaking(robot, q, v, t):
    return kt.sin(5.0 * t) * v


def by_hand(robot, q, v, effort, dt, steps):
    """Semi-implicit Euler in Python."""
    path = [(q, v)]
    for k in range(steps):
        v = v + dt * robot.forward_dynamics(q, v, effort(k, q, v))
        q = robot.integrate(q, dt * v)
        path.append((q, v))
    return [np.array(column) for column in zip(*path, strict=True)]


def test_efforts_for_every_step(arm):
    rng = np.random.default_rng(0)
    q0, v0, u = arm.random(rng), rng.normal(size=6), rng.normal(size=(50, 6))
    path = arm.rollout(q0, v0, u, 1e-3, 50)
    q, v = by_hand(arm, q0, v0, lambda k, q, v: u[k], 1e-3, 50)
    assert path.t.shape == (51,) and np.isclose(path.t[-1], 0.05)
    close(path.q, q, 1e-11)
    close(path.v, v, 1e-11)


@pytest.mark.parametrize(
    ("law", "effort"),
    [
        (spring, lambda robot, k, q, v: robot.gravity_forces(q) - 2.0 * q - 0.01 * v),
        (shaking, lambda robot, k, q, v: np.sin(5.0 * 1e-3 * k) * v),
        (None, lambda robot, k, q, v: 0 * v),
    ],
)
def test_laws(arm, law, effort):
    q0, v0 = arm.random(1), np.ones(6)
    path = arm.rollout(q0, v0, law, 1e-3, 40)
    q, v = by_hand(arm, q0, v0, lambda k, q, v: effort(arm, k, q, v), 1e-3, 40)
    close(path.q, q, 1e-11)
    close(path.v, v, 1e-11)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_what_a_function_is_given_is_its_own(arm, batch):
    seen = []

    def law(q, v, t):
        seen.append(q)
        v[...] = 0.0
        return np.ones(q.shape)

    start = np.broadcast_to(arm.random(1), (*batch, 6))
    path = arm.rollout(start, np.ones(6), law, 1e-3, 5)
    assert np.array_equal(np.stack(seen, axis=-2), path.q[..., :-1, :])
    assert np.array_equal(path.v, arm.rollout(start, np.ones(6), np.ones((5, 6)), 1e-3, 5).v)


def test_a_law_that_goes():
    robot = kt.load("planar2")
    law = kt.compile(lambda robot, q, v: -v)
    robot.rollout(np.zeros(2), np.ones(2), law, 1e-3, 2)
    gone = weakref.ref(law)
    del law
    gc.collect()
    assert gone() is None and not [
        function for function in robot._functions.values() if not hasattr(function, "declared")
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_batch_is_its_states_one_by_one(threads):
    robot = kt.load("quadruped", base="floating")
    rng = np.random.default_rng(2)
    q0, v0, u = robot.random(rng, (3, 7)), rng.normal(size=(7, robot.nv)), rng.normal(size=(30, robot.nv))
    before = kt.get_num_threads()
    kt.set_num_threads(threads)
    try:
        path = robot.rollout(q0, v0, u, 1e-3, 30)
    finally:
        kt.set_num_threads(before)
    assert path.q.shape == (3, 7, 31, robot.nq) and path.v.shape == (3, 7, 31, robot.nv)
    alone = robot.rollout(q0[2, 5], v0[5], u, 1e-3, 30)
    assert np.array_equal(path.q[2, 5], alone.q) and np.array_equal(path.v[2, 5], alone.v)
    close(np.linalg.norm(path.q[..., 3:7], axis=-1), np.ones((3, 7, 31)), 1e-12)


def test_energy_and_momentum_of_free_motion():
    robot = kt.Robot(kt.random_model(5, 4, ("revolute",), base="floating", gravity=(0, 0, 0)))
    rng = np.random.default_rng(0)
    path = robot.rollout(robot.random(rng), rng.normal(size=robot.nv), None, 1e-3, 2000, "rk4")
    energy = robot.kinetic_energy(path.q, path.v)
    assert np.ptp(energy) < 1e-7 * energy[0]
    momentum = robot.mass * robot.center_of_mass_velocity(path.q, path.v)
    assert np.ptp(momentum, axis=0).max() < 1e-7


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_energy_is_what_motors_give_and_damping_takes(base):
    """T + U = ∫ (τᵀ v - dissipated power) dt along the motion, the integral by Simpson's rule on the same steps."""
    model = kt.random_model(7, 4, ("revolute", "prismatic", "spherical"), base=base, joint_dynamics=True)
    robot = kt.Robot(model)
    assert model.passive
    rng = np.random.default_rng(1)
    u = np.repeat(rng.normal(size=(1, robot.nv)), 400, axis=0)
    path = robot.rollout(robot.random(rng), rng.normal(size=robot.nv), u, 1e-3, 400, "rk4")
    energy = robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)
    lost = [v @ passive_efforts(model, v) for v in path.v]
    power = path.v @ u[0] - lost
    weights = np.array([1.0, *[4.0, 2.0] * 199, 4.0, 1.0]) * 1e-3 / 3
    close(energy[-1] - energy[0], weights @ power, 1e-7)
    assert abs(energy[-1] - energy[0]) > 1e-3 and max(lost) > 1e-3


def passive_efforts(model, v):
    """Efforts of damping and friction, q being of no consequence."""
    effort = np.zeros(model.nv)
    for joint in model.joints:
        speed, own = joint.lever * v[joint.v_slice], joint.dynamics
        coulomb = np.asarray(own.friction) * speed / np.sqrt(speed**2 + model.friction_width**2)
        effort[joint.v_slice] += joint.lever * (np.asarray(own.damping) * speed + coulomb)
    return effort


def test_a_pendulum_swings_with_its_period():
    """T = 4 K(sin²(θ₀/2)) √(I/(m g l)), by the arithmetic-geometric mean."""
    builder = kt.ModelBuilder("pendulum")
    builder.link("stand")
    builder.link("rod", kt.Inertia.from_com(1.0, (0, 0, -0.5), np.diag([1 / 12, 1 / 12, 0])))
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0))
    robot = kt.Robot(builder.build())
    a, b = 1.0, np.cos(1.0 / 2)
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    period = 2 * np.pi / a * np.sqrt((1 / 12 + 0.25) / (9.81 * 0.5))
    path = robot.rollout([1.0], [0.0], None, period / 1000, 1000, "rk4")
    close(path.q[-1], [1.0], 1e-9)
    close(path.q[500], [-1.0], 1e-9)


def test_no_steps_and_no_states(arm):
    path = arm.rollout(arm.neutral(), np.zeros(6), None, 0.1, 0)
    assert path.q.shape == (1, 6) and np.array_equal(path.q[0], arm.neutral())
    empty = arm.rollout(np.zeros((0, 6)), np.zeros(6), None, 0.1, 4)
    assert empty.q.shape == (0, 5, 6)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"dt": 0.0}, "dt is 0; expected a finite number of seconds above zero"),
        ({"dt": -0.1}, "dt is -0.1; expected a finite number of seconds above zero"),
        ({"dt": np.nan}, "dt is nan; expected a finite number of seconds above zero"),
        ({"steps": -1}, "steps"),
        ({"law_or_controls": np.zeros((3, 6))}, r"controls has shape \(3, 6\); expected \(…, 4, 6\)"),
        ({"law_or_controls": [[0.0] * 6] * 3 + [[np.nan] * 6]}, r"controls\[3, 0\] is nan; expected finite numbers"),
        ({"q0": [0, 0, np.inf, 0, 0, 0]}, r"q0\[2\] is inf; expected finite numbers"),
        ({"v0": np.full((3, 6), np.nan)}, r"v0\[0, 0\] is nan; expected finite numbers"),
        ({"law_or_controls": lambda q, v, t: q[:2]}, r"the result of <lambda> has shape \(2,\); expected \(…, 6\)"),
        ({"law_or_controls": lambda q, v, t: np.zeros((2, 6))}, r"gives shape \(2, 6\); expected \(6,\)"),
        ({"law_or_controls": lambda robot, q, v: v}, r"<lambda>\(robot, q, v\) is not compiled; expected kt.compile"),
        ({"law_or_controls": lambda q, v: v}, r"<lambda> takes \(q, v\); expected a function of \(q, v, t\)"),
        ({"law_or_controls": lambda q, v, t: np.nan * v}, "first step of 0.1 s; efforts are not finite, or"),
        ({"contact": "tool0"}, "contact is 'tool0'; expected a contact model such as kt.simulation.RigidContact"),
        ({"integrator": "magic"}, "integrator is 'magic'; expected 'semi-implicit-euler' or 'midpoint' or"),
        ({"every": 3}, "every is 3; expected a divisor of the number of steps, 4"),
        ({"every": 0}, "every is 0; expected a divisor"),
        ({"steps": 2**70}, "steps is 1180591620717411303424; expected at most 1e"),
        ({"record": None}, "record has None; expected names such as 'q', 'v' and 'tau'"),
        ({"record": ("q", 3)}, "record has 3; expected names"),
        ({"law_or_controls": kt.compile(lambda robot, q: None)}, "<lambda> returns None; expected efforts of shape"),
        (
            {"law_or_controls": kt.compile(lambda robot, q: {"tau": q, "mode": "on"}), "record": "mode"},
            "record is 'mode', which is 'on'; expected numbers",
        ),
        ({"contact": RigidContact}, "contact is <class .*; expected a contact model"),
        ({"forces": kt.LimitStops}, "forces has <class .*; expected kt.Spring"),
        ({"record": ("q", "torque")}, "record is 'torque'; expected 'q' or 'v' or 'tau'"),
        ({"parameters": {"gain": 1.0}}, "parameter 'gain' does not exist"),
        ({"forces": [3.0]}, "forces has 3.0; expected kt.Spring, kt.LimitStops"),
        ({"forces": kt.Spring("tool", (0, 0, 0), 1.0)}, "frame 'tool' does not exist"),
        ({"wrenches": {"tool0": np.zeros((3, 6))}}, r"wrenches\['tool0'\] has shape \(3, 6\); expected \(…, 4, 6\)"),
        ({"wrenches": {"tool": np.zeros((4, 6))}}, "frame 'tool' does not exist; did you mean 'tool0'"),
        ({"q0": np.zeros(5)}, r"q0 has shape \(5,\)"),
        ({"law_or_controls": kt.compile(lambda robot, q: q[:2])}, r"returns shape \(2,\); expected efforts of shape"),
        ({"law_or_controls": kt.compile(lambda robot, q, k: q, shapes={"k": ()})}, "has an argument 'k'; a law of"),
        ({"law_or_controls": kt.compile(lambda robot, q: {"u": q})}, "returns a dict without 'tau'"),
    ],
)
def test_wrong_arguments(arm, arguments, sentence):
    right = {"q0": np.zeros(6), "v0": np.zeros(6), "law_or_controls": None, "dt": 0.1, "steps": 4}
    with pytest.raises(kt.KinetreeError, match=sentence):
        arm.rollout(**{**right, **arguments})


def test_a_singular_mass_matrix_is_named():
    builder = kt.ModelBuilder("nothing")
    builder.link("a")
    builder.link("b")
    builder.joint("hinge", "revolute", "a", "b")
    with pytest.raises(kt.SingularMassMatrixError, match="joint 'hinge' can move without moving any mass"):
        kt.Robot(builder.build()).rollout([0.0], [0.0], None, 0.1, 3)

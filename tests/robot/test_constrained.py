"""Constrained robots as users call them: compiled, batched, inside laws, pickled, and refused in one sentence."""

import inspect
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings

import kinetree as kt
from declared import OF_CONSTRAINTS
from natively import native_only
from peers import close
from states import State, states

pytestmark = pytest.mark.calls

N = 11


def walker(**options):
    robot = kt.load("quadruped", base="floating", **options)
    return robot, [name for name in robot.frame_names if name.endswith("foot")]


def standing(kind="point", **options):
    robot, feet = walker()
    return robot.constrained([kt.Contact(foot, kind) for foot in feet], **options)


def arguments(system, rng, n):
    q = system.robot.random(rng, n)
    v = np.einsum("nij,nj->ni", system.projector(q), rng.normal(size=(n, system.robot.nv)))
    return q, v, rng.normal(size=(n, system.robot.nv))


def calls(frame):
    wrench = {frame: kt.Wrench(np.arange(6.0), "local")}
    return {
        "jacobian": lambda s, q, v, x: s.jacobian(q),
        "bias": lambda s, q, v, x: s.bias(q, v),
        "position_error": lambda s, q, v, x: s.position_error(q),
        "forward_dynamics": lambda s, q, v, x: s.forward_dynamics(q, v, x),
        "forward_dynamics, pushed": lambda s, q, v, x: s.forward_dynamics(q, v, x, wrench),
        "inverse_dynamics": lambda s, q, v, x: s.inverse_dynamics(q, v, possible(s, q, v, x)),
        "inverse_dynamics, pushed": lambda s, q, v, x: s.inverse_dynamics(q, v, possible(s, q, v, x, wrench), wrench),
        "impact": lambda s, q, v, x: s.impact(q, x, 0.3),
        "projector": lambda s, q, v, x: s.projector(q),
        "projected": lambda s, q, v, x: s.projected(q, x),
        "constraint_inertia": lambda s, q, v, x: s.constraint_inertia(q),
    }


def possible(system, q, v, tau, wrenches=None):
    """The acceleration by these efforts, but for those on the base, which has no motor."""
    return system.forward_dynamics(q, v, np.concatenate([0 * tau[..., :6], tau[..., 6:]], axis=-1), wrenches)[0]


def parts(result):
    return result if isinstance(result, tuple) else (result,)


def compare(system, rng, tolerance=1e-10):
    """By the textbook, one by one, and in a batch, which is the same to the bit."""
    textbook = kt.Constrained(system.robot.eager, system.equations)
    values = arguments(system, rng, N)
    for name, call in calls(system.robot.frame_names[-1]).items():
        batch = parts(call(system, *values))
        for k in range(0, N, 5):
            state = tuple(value[k] for value in values)
            single, eager = parts(call(system, *state)), parts(call(textbook, *state))
            for many, one, reference in zip(batch, single, eager, strict=True):
                assert np.array_equal(many[k], one), name
                close(one, reference, tolerance)


@pytest.mark.sweep
def test_three_ways_to_the_same_numbers():
    rng = np.random.default_rng(0)
    robot, feet = walker()
    compare(robot.constrained([kt.Contact(foot) for foot in feet[:2]], frequency=10.0).pinned(robot.random(rng)), rng)
    robot, feet = walker(spatial_order="angular-first", base_velocity="mixed")
    compare(robot.constrained([kt.Contact(feet[0], "surface"), kt.Loop(feet[1], feet[2])]), rng)


@settings(max_examples=settings().max_examples // 5)
@given(states())
def test_random_trees(s: State):
    frames = [frame.name for frame in s.robot.model.frames if frame.body and s.robot.nv]
    assume(frames)
    contacts = [kt.Contact(str(name)) for name in s.rng.choice(np.array(frames), 2)]
    system = s.robot.constrained(contacts)
    textbook = s.robot.eager.constrained(contacts)
    v = system.projector(s.q) @ s.v
    ours, theirs = system.forward_dynamics(s.q, v, s.a), textbook.forward_dynamics(s.q, v, s.a)
    close(ours[0], theirs[0], 1e-7)
    close(system.jacobian(s.q).T @ ours[1], textbook.jacobian(s.q).T @ theirs[1], 1e-7)


@pytest.mark.sweep
def test_batches_broadcast():
    system = standing()
    rng = np.random.default_rng(1)
    q, v = system.robot.random(rng), np.zeros((3, 1, system.robot.nv))
    tau = rng.normal(size=(4, system.robot.nv))
    a, f = system.forward_dynamics(q, v, tau)
    assert a.shape == (3, 4, 18) and f.shape == (3, 4, 12)
    after, p = system.impact(q, tau, np.linspace(0, 1, 4))
    assert after.shape == (4, 18) and p.shape == (4, 12)
    close(after[3], system.impact(q, tau[3], 1.0)[0])
    assert system.jacobian(np.empty((0, 19))).shape == (0, 12, 18)
    out = np.empty((12, 18))
    assert system.jacobian(q, out=out) is out and np.array_equal(out, system.jacobian(q))


@native_only
def test_calls_of_one_state_are_built_in():
    system = standing()
    assert inspect.isbuiltin(system.forward_dynamics)
    assert list(inspect.signature(system.forward_dynamics).parameters) == ["q", "v", "tau", "wrenches", "parameters"]
    assert set(OF_CONSTRAINTS) <= set(dir(system))


def test_prepared_wrenches_serve_calls_without():
    system = standing()
    robot, feet = walker()
    system.prepare("forward_dynamics", wrenches=[feet[0]])
    q, v, tau = robot.neutral(), np.zeros(18), np.ones(18)
    plain = system.forward_dynamics(q, v, tau)
    close(plain[0], system.forward_dynamics(q, v, tau, {feet[0]: np.zeros(6)})[0])
    pushed = system.forward_dynamics(q, v, tau, {feet[0]: [5.0, 0, 0, 0, 0, 0]})
    close(pushed[0], plain[0])  # a push on a foot that stands is taken by the ground
    close(pushed[1][:3], plain[1][:3] - [5.0, 0, 0], 1e-8)
    with pytest.raises(kt.ArgumentError, match="jacobian takes no wrenches"):
        system.prepare("jacobian", wrenches=[feet[0]])
    with pytest.raises(kt.UnknownNameError, match="did you mean 'jacobian'"):
        system.prepare("jacobain")


def test_a_robot_that_stands_still():
    """The ground carries its weight, and at rest nothing moves that the right torques hold."""
    system = standing()
    robot = system.robot
    q, rest = robot.neutral(), np.zeros(robot.nv)
    tau, f = system.inverse_dynamics(q, rest, rest)
    close(tau[:6], np.zeros(6), 1e-9)
    close(f.reshape(4, 3).sum(axis=0), [0, 0, robot.mass * 9.81])
    a, forces = system.forward_dynamics(q, rest, tau)
    close(a, rest, 1e-8)
    close(forces, f, 1e-7)


def test_inside_a_law_and_its_derivative():
    robot, rng = kt.load("arm6"), np.random.default_rng(2)
    system = robot.constrained(kt.Contact("tool0"))
    q, v, tau = (x[0] for x in arguments(system, rng, 1))

    @kt.compile
    def acceleration(robot, q, v, tau):
        return robot.constrained(kt.Contact("tool0")).forward_dynamics(q, v, tau)[0]

    assert np.array_equal(acceleration(robot, q, v, tau), system.forward_dynamics(q, v, tau)[0])
    by_q, by_v = kt.jacobian(acceleration, wrt=("q", "v"))(robot, q, v, tau)

    def slope(function, h=1e-6):
        return np.column_stack([(function(step) - function(-step)) / (2 * h) for step in h * np.eye(6)])

    close(by_q, slope(lambda step: system.forward_dynamics(q + step, v, tau)[0]), 1e-6)
    close(by_v, slope(lambda step: system.forward_dynamics(q, v + step, tau)[0]), 1e-6)


def test_values():
    robot, feet = walker()
    system = robot.constrained([kt.Contact(feet[0], "surface"), kt.Loop(feet[1], feet[2])])
    assert system.size == 9 and system.rows == (slice(0, 6), slice(6, 9))
    again = pickle.loads(pickle.dumps(system))
    assert again == system and hash(again) == hash(system)
    q = robot.neutral()
    assert np.array_equal(again.jacobian(q), system.jacobian(q))
    assert "9 equations" in repr(system)
    pinned = system.pinned(q)
    assert pinned.constraints[0].at is not None and pinned.constraints[1] == system.constraints[1]
    assert robot.constrained(kt.Contact(feet[0])).size == 3
    loose = robot.constrained(kt.Contact(feet[0]))
    assert not loose.position_error(robot.random(0)).any()


def test_actuated_joints():
    robot, feet = walker()
    names = robot.joint_names[:-1]
    system = robot.constrained([kt.Contact(foot) for foot in feet], actuated=names)
    q, rest = robot.random(3), np.zeros(18)
    tau, f = system.inverse_dynamics(q, rest, rest)
    close(tau[-1], 0.0, 1e-7)
    close(robot.inverse_dynamics(q, rest, rest), tau + system.jacobian(q).T @ f, 1e-9)


def test_what_is_wrong_is_said():
    robot, feet = walker()
    contact = kt.Contact(feet[0])
    arm = kt.load("arm6")
    cases = [
        (lambda: robot.constrained([]), "constraints is empty"),
        (lambda: robot.constrained([feet[0]]), "expected kt.Contact, kt.Loop, kt.Coupling or kt.TendonCoupling"),
        (lambda: robot.constrained(kt.Contact("front_left_foo")), "did you mean 'front_left_foot'"),
        (lambda: kt.Contact(feet[0], "plane"), "kind is 'plane'; expected 'point' or 'surface'"),
        (lambda: kt.Loop(*feet[:2], "surface"), "kind is 'surface'; expected 'point' or 'rigid'"),
        (lambda: kt.Contact(feet[0], at=np.eye(4)), r"at has shape \(4, 4\); expected \(3,\)"),
        (lambda: kt.Contact(feet[0], "surface", at=2 * np.eye(4)), "expected a pose"),
        (lambda: arm.constrained(kt.Contact("base_link")), "no joint moves 'base_link'"),
        (lambda: robot.constrained(kt.Loop(feet[0], feet[0])), "fixed to the same body"),
        (lambda: robot.constrained(contact, damping=0), "damping is 0; expected a number from 1e-12 to 1"),
        (lambda: robot.constrained(contact, frequency=-1), "frequency is -1"),
        (lambda: robot.constrained(contact, actuated=["hip"]), "joint 'hip' does not exist"),
        (lambda: robot.constrained(contact).impact(robot.neutral(), np.zeros(18), 1.5), "restitution is 1.5"),
        (lambda: robot.constrained(contact).jacobian(np.zeros(18)), r"q has shape \(18,\); expected \(…, 19\)"),
        (lambda: robot.constrained(contact).jacobian(np.zeros(19)), "a quaternion"),
        (lambda: robot.constrained(contact).forward_dynamics(np.zeros(19), *np.zeros((2, 18))), "a quaternion"),
    ]
    for call, sentence in cases:
        with pytest.raises(kt.KinetreeError, match=sentence):
            call()


def test_not_a_number_stays_one():
    system = standing()
    a, f = system.forward_dynamics(system.robot.neutral(), np.full(18, np.nan), np.zeros(18))
    assert np.isnan(a).all() and np.isnan(f).all()

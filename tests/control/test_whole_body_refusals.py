"""Steps without a solution: errors that name what contradicts what, or the fallback that was chosen.

Covers: control/whole_body/fallback.py, control/whole_body/pack_references.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import (
    CenterOfMass,
    Force,
    Momentum,
    MotionLimits,
    PointContact,
    Pose,
    Position,
    Posture,
    Torque,
    TorqueLimits,
    WholeBody,
)
from whole_bodies import standing


@pytest.fixture(scope="module")
def stander():
    return standing("quadruped")


def control(stander, **options):
    tasks = [CenterOfMass(weight=1.0), Posture(weight=0.1)]
    return WholeBody(stander.robot, tasks, stander.contacts, **options)


def at_rest(stander):
    q = stander.q
    return q, np.zeros(stander.robot.nv), {"center_of_mass": stander.robot.center_of_mass(q), "posture": q}


@pytest.mark.sweep
def test_weak_motors_are_named(stander):
    controller = control(stander, limits=TorqueLimits(scale=0.002))
    q, v, given = at_rest(stander)
    with pytest.raises(kt.InfeasibleError, match="torque limit of") as caught:
        controller.step(q, v, given)
    assert "equation of motion of the base" in caught.value.conflicting
    strict = WholeBody(
        stander.robot, [CenterOfMass(), Posture(priority=1)], stander.contacts, TorqueLimits(scale=0.002)
    )
    with pytest.raises(kt.InfeasibleError, match="torque limit of"):
        strict.step(q, v, given)


def test_hard_tasks_that_contradict_each_other_are_named():
    robot = kt.load("arm6")
    q = 0.3 * np.ones(6)
    tasks = [Position("tool0", hard=True, name="here"), Position("tool0", hard=True, name="there"), Torque()]
    for more in ([], [Posture(priority=1)]):
        controller = WholeBody(robot, [*tasks, *more])
        here = robot.frame("tool0").pose(q)[:3, 3]
        given = {"here": here, "there": here + 0.1} | ({"posture": q} if more else {})
        with pytest.raises(kt.InfeasibleError) as caught:
            controller.step(q, np.zeros(6), given)
        assert {"task 'here'", "task 'there'"} <= set(caught.value.conflicting)
        controller.step(q, np.zeros(6), given, weights={"there": 0.0})


def test_nothing_holds_a_robot_whose_contacts_cannot(stander):
    """A hard task may ask for more than friction allows."""
    tasks = [Momentum(part="linear", hard=True), Posture()]
    controller = WholeBody(stander.robot, tasks, stander.contacts)
    q, v, _ = at_rest(stander)
    with pytest.raises(kt.InfeasibleError) as caught:
        controller.step(q, v, {"momentum": [40.0, 0.0, 0.0], "posture": q})
    assert any(name.startswith("friction cone") for name in caught.value.conflicting)
    assert "task 'momentum'" in caught.value.conflicting


@pytest.mark.parametrize("priority", [0, 1])
def test_not_finite(stander, priority):
    tasks = [CenterOfMass(), Posture(priority=priority)]
    controller = WholeBody(stander.robot, tasks, stander.contacts)
    q, v, given = at_rest(stander)
    for where in ("q", "v", "task"):
        states = {"q": q.copy(), "v": v.copy()}
        wrong = dict(given)
        if where == "task":
            wrong["center_of_mass"] = np.array([0.0, np.nan, 0.0])
        else:
            states[where][10] = np.nan
        word = "target of task 'center_of_mass'" if where == "task" else rf"{where} has nan at \[10\]"
        with pytest.raises(kt.NotFiniteError, match=word):
            controller.step(states["q"], states["v"], wrong)
    with pytest.raises(kt.QuadraticProgramError):
        controller.step(q, v, given | {"posture": np.where(np.arange(len(q)) == 9, np.inf, q)})


def test_a_limit_of_iterations(stander):
    q, v, given = at_rest(stander)
    given["center_of_mass"] = given["center_of_mass"] + [0.3, 0.0, 0.0]
    enough = control(stander).step(q, v, given)
    assert enough.iterations > 2
    with pytest.raises(kt.IterationLimitError, match="2 changes"):
        control(stander, iterations=2).step(q, v, given)
    assert control(stander, iterations=2).step(q, v, given, state=enough.state).iterations <= 2


@pytest.mark.parametrize("fallback", ["gravity-compensation", "damping"])
@pytest.mark.sampled(2)
def test_fallbacks(stander, fallback):
    robot = stander.robot
    controller = control(stander, limits=TorqueLimits(scale=0.4), iterations=1, fallback=fallback, fallback_damping=0.5)
    controller.prepare()
    q, v, given = at_rest(stander)
    v = 0.1 * np.random.default_rng(0).normal(size=robot.nv)
    given["center_of_mass"] = given["center_of_mass"] + [0.3, 0.0, 0.0]
    step = controller.step(q, v, given)
    assert isinstance(step.error, kt.IterationLimitError)
    assert np.isnan(step.a).all() and np.isnan(step.forces).all()
    expected = -0.5 * v
    if fallback == "gravity-compensation":
        feet = robot.constrained([kt.Contact(contact.frame) for contact in stander.contacts])
        held, forces = feet.inverse_dynamics(q, 0 * v, 0 * v)
        rough = step.tau - expected  # another choice of internal forces; both hold the robot still
        J = np.concatenate([robot.frame(contact.frame).jacobian(q)[:3] for contact in stander.contacts])
        left = (held - rough)[6:]
        assert (
            np.abs(left - J[:, 6:].T @ np.linalg.lstsq(J.T, np.concatenate([np.zeros(6), left]), rcond=None)[0]).max()
            < 1e-3
        )
        assert np.abs(rough[6:]).max() > 1.0 and len(forces) == 12
    else:
        np.testing.assert_allclose(step.tau[6:], expected[6:], atol=1e-12)
    assert (step.tau[:6] == 0.0).all()
    np.testing.assert_array_equal(controller(q, v, given), step.tau)
    lost = controller.step(np.full(robot.nq, np.nan), np.full(robot.nv, np.nan), given)
    assert isinstance(lost.error, kt.NotFiniteError)
    np.testing.assert_array_equal(lost.tau, 0.0)
    fast = controller.step(q, 1e6 * v, given)
    assert (np.abs(fast.tau) <= 0.4 * robot.limits.effort).all()
    fine = control(stander, fallback=fallback).step(*at_rest(stander))
    assert fine.error is None


@pytest.mark.parametrize(
    ("made", "error", "word"),
    [
        (lambda s: WholeBody(s.robot, []), kt.ArgumentError, "tasks is empty"),
        (lambda s: WholeBody(s.robot, [Posture(), Posture()]), kt.ArgumentError, "two tasks are called"),
        (lambda s: WholeBody(s.robot, "posture"), kt.ArgumentTypeError, "tasks has"),
        (lambda s: WholeBody(s.robot, Pose("tool")), kt.UnknownNameError, "frame 'tool'"),
        (lambda s: WholeBody(s.robot, Force("paw"), s.contacts), kt.UnknownNameError, "contact 'paw'"),
        (lambda s: WholeBody(s.robot, Posture(), PointContact("paw")), kt.UnknownNameError, "frame 'paw'"),
        (lambda s: WholeBody(s.robot, Posture(weight=(1.0, 2.0))), kt.ArgumentError, "12 for its rows"),
        (lambda s: WholeBody(s.robot, Posture(), limits=[TorqueLimits()] * 2), kt.ArgumentError, "two of a kind"),
        (lambda s: WholeBody(s.robot, Posture(), fallback="hope"), kt.ArgumentError, "fallback is 'hope'"),
        (lambda s: WholeBody(s.robot, Posture(), iterations=0), kt.ArgumentError, "iterations"),
        (lambda s: WholeBody(s.robot, Posture(), actuated=["tail"]), kt.UnknownNameError, "joint 'tail'"),
        (
            lambda s: PointContact("foot", friction=1e-9),
            kt.ArgumentError,
            "friction of contact 'foot' is 1e-09; expected 0",
        ),
        (
            lambda s: s.robot.rollout(s.q, np.zeros(s.robot.nv), control(s), dt=1e-3, steps=1),
            kt.ArgumentError,
            r"in a rollout, give a function of \(q, v, t\)",
        ),
        (lambda s: control(s)(*at_rest(s)[:2]), kt.ArgumentError, "reference is None; expected a dict with a target"),
        (lambda s: MotionLimits(acceleration=-1.0), kt.ArgumentError, "acceleration"),
        (
            lambda s: control(s).step(*at_rest(s)[:2], {"posture": s.q}),
            kt.ArgumentError,
            "nothing for task 'center_of_m",
        ),
        (lambda s: control(s).step(*at_rest(s)[:2], {"hand": s.q}), kt.UnknownNameError, "task 'hand'"),
        (lambda s: control(s).step(*at_rest(s), contacts={"paw": True}), kt.UnknownNameError, "contact 'paw'"),
        (lambda s: control(s).step(*at_rest(s), weights=[1.0, -1.0]), kt.ArgumentError, "weights"),
        (lambda s: control(s).step(*at_rest(s), state=np.zeros(3)), kt.ArgumentError, "state has shape"),
    ],
)
def test_wrong_input_is_refused(stander, made, error, word):
    with pytest.raises(error, match=word):
        made(stander)

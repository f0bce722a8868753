"""Whole-body control in a loop that must not stop: memory stays, steps are pure, and their cost is bounded."""

import gc
import pickle
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import CenterOfMass, Momentum, Posture, WholeBody
from natively import resident
from whole_bodies import standing


def loop(name, strict):
    """A controller, states about standing, and references that change."""
    stander, rng = standing(name), np.random.default_rng(11)
    tasks = [
        CenterOfMass(),
        Momentum(part="angular", weight=0.3, priority=int(strict)),
        Posture(weight=0.1, priority=2 * int(strict)),
    ]
    controller = WholeBody(stander.robot, tasks, stander.contacts)
    states = [stander.near(rng, 0.003) for _ in range(40)]
    com = stander.robot.center_of_mass(stander.q)
    wishes = [
        controller.pack({"center_of_mass": com + rng.uniform(-0.02, 0.02, 3), "momentum": np.zeros(3), "posture": q})
        for q, _ in states
    ]
    return controller, states, wishes


@pytest.fixture(scope="module", params=[False, True], ids=["weighted", "strict"])
def case(request):
    return loop("quadruped", request.param)


@pytest.mark.sampled(2)
def test_memory_does_not_grow(case):
    controller, states, wishes = case
    on = controller.switches()

    def steps(count):
        state = controller.step(*states[0], wishes[0]).state
        for k in range(count):
            (q, v), r = states[k % len(states)], wishes[k // 50 % len(wishes)]
            state = controller.solve(q, v, r, on, state)[3]
            if k % 10 == 0:
                state = controller.step(q, v, r, contacts={controller.contacts[0].name: k % 20 > 0}, state=state).state

    steps(2000)
    gc.collect()
    held = [*states[0], *wishes[:2], on]
    counts, blocks, memory = [sys.getrefcount(x) for x in held], sys.getallocatedblocks(), resident()
    steps(8000)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 200  # about one for every forty steps would be growth
    assert resident() - memory < 1 << 20
    assert [sys.getrefcount(x) for x in held] == counts


def test_the_same_loop_gives_the_same_bits(case):
    """Again, with another loop in between, and from another controller like it."""
    controller, states, wishes = case
    other = pickle.loads(pickle.dumps(controller))

    def run(by, disturbed=False):
        state, found = None, []
        for (q, v), r in zip(states, wishes, strict=True):
            step = by.step(q, v, r, state=state)
            found.append(np.concatenate(step[:4]))
            state = step.state
            if disturbed:
                by.step(states[3][0], states[5][1], wishes[7])
        return np.array(found)

    first = run(controller)
    assert np.array_equal(run(controller), first)
    assert np.array_equal(run(controller, disturbed=True), first)
    assert np.array_equal(run(other), first)


def test_arguments_are_left_as_they_are(case):
    controller, states, wishes = case
    (q, v), r, state = states[1], wishes[1], controller.step(*states[0], wishes[0]).state
    given = [q, v, r, controller.switches(), state]
    before = [x.copy() for x in given]
    result = controller.solve(*given)
    for x, y in zip(given, before, strict=True):
        assert np.array_equal(x, y)
        assert not any(np.shares_memory(x, part) for part in result)


def test_a_step_ends_after_as_many_changes_as_are_allowed():
    controller, states, wishes = loop("quadruped", False)
    (q, v), r = states[2], wishes[2]
    hasty = WholeBody(controller.robot, controller.tasks, controller.contacts, iterations=1, fallback="damping")
    far = controller.step(q, 30.0 * v, r)
    assert far.iterations > 1
    step = hasty.step(q, 30.0 * v, r)
    assert isinstance(step.error, kt.IterationLimitError) and step.iterations <= 1
    assert np.isfinite(step.tau).all()

"""Rollouts in the next process: steps of the library's own parts are known by what they are made of."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import cache
from kinetree.simulation import Block, CompliantContact, Ground, RigidContact
from kinetree.simulation.dynamics import own_dynamics
from kinetree.simulation.efforts import as_efforts
from kinetree.simulation.step import Step
from processes import run

WORK = """
import sys
import numpy as np
import kinetree as kt
from forbidden import forbid_tracing
from kinetree.simulation import RigidContact, next_state

if sys.argv[1] == "warm":
    forbid_tracing()

arm, cart = kt.load("planar2"), kt.load("cartpole", "floating")
q, v = np.array([0.3, -0.2]), np.zeros(2)
gust, push = {"tip": np.ones((5, 6))}, np.ones((5, 2))
held = arm.rollout(q, v, push, 0.01, 5, "rk4", forces=[kt.LimitStops(50.0)], wrenches=gust, record=("q", "v", "tau"))
fall = cart.rollout(cart.neutral(), np.zeros(8), lambda q, v, t: 0.1 * v, 0.01, 5, contact=RigidContact(["cart_link"]))
results = [held.q, held["tau"], fall.q, arm.rollout([q, v], v, None, 0.01, 3).v]
results += next_state(arm, q, v, q, 0.01, "heun")
print(*(np.asarray(result).tobytes().hex() for result in results))
"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    for name in (cache.SWITCH, cache.BOUND):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))


@pytest.mark.usefixtures("own_cache")
@pytest.mark.sweep
def test_the_next_process_traces_no_rollout():
    """The same bits, also where strings are hashed otherwise."""
    cold = run(WORK, "cold", PYTHONHASHSEED=1)
    assert run(WORK, "warm", PYTHONHASHSEED=2) == cold


# -- one name for one step ---------------------------------------------------------------------------------------------


def name_of(robot, controls=None, contact=None, integrator="semi-implicit-euler", told=(), dynamics=None, **others):
    moved_by = contact.dynamics(robot) if contact is not None else dynamics or own_dynamics(robot)
    return Step(as_efforts(robot, controls, 5, **others), moved_by, integrator, told)._identity


def test_names_tell_everything_that_a_step_freezes():
    robot = kt.load("cartpole", "floating")
    ground = RigidContact(["cart_link"])
    names = [
        name_of(robot),
        name_of(kt.load("cartpole", "floating", gravity=(0, 0, -1))),
        name_of(robot, integrator="rk4"),
        name_of(robot, told=("tau",)),
        name_of(robot, np.ones(8)),
        name_of(robot, np.ones((5, 8))),
        name_of(robot, lambda q, v, t: v),
        name_of(robot, forces=kt.LimitStops(1.0)),
        name_of(robot, forces=kt.LimitStops(2.0)),
        name_of(robot, wrenches={"cart_link": np.ones((5, 6))}),
        name_of(robot, wrenches={"cart_link": kt.Wrench(np.ones((5, 6)), "local")}),
        name_of(robot, contact=ground),
        name_of(robot, contact=replace(ground, friction=0.1)),
        name_of(robot, contact=replace(ground, sweeps=3)),
        name_of(robot, contact=RigidContact(["cart_link"], [Ground(height=0.1)])),
        name_of(robot, contact=RigidContact(["cart_link"], [Block((1, 1, 1))])),
        name_of(robot, contact=CompliantContact(["cart_link"])),
    ]
    assert None not in names and len(set(names)) == len(names)
    assert name_of(kt.load("cartpole", "floating"), contact=RigidContact(["cart_link"])) == name_of(
        robot, contact=ground
    )


def test_what_the_user_defines_has_no_name():
    @dataclass(frozen=True)
    class Wind:
        def efforts(self, robot, q, v, t):
            return 0.1 * v

    robot = kt.load("planar2")
    own = own_dynamics(robot)
    assert name_of(robot, forces=Wind()) is None
    assert name_of(robot, kt.compile(lambda robot, q, v: -v)) is None
    assert name_of(robot, dynamics=replace(own, acceleration=lambda q, v, tau: tau)) is None
    assert name_of(robot, dynamics=replace(own, settled=lambda q, v: (q, 0.5 * v))) is None
    assert name_of(robot, dynamics=own) is not None

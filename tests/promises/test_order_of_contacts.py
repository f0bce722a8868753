"""Motion does not depend on the order in which contacts are listed, nor on which of them is solved first.

Covers: simulation/contact/load_sharing.py.
"""

from itertools import permutations

import numpy as np
import pytest

import kinetree as kt
from contact_bodies import ALL, bottom, box, placed, stack
from kinetree.algorithms.constraints import DelassusOperator
from kinetree.simulation import Block, CompliantContact, Ground, RigidContact
from kinetree.simulation.contact.coupling import Place
from kinetree.simulation.contact.load_sharing import repeated, shared
from kinetree.simulation.contact.time_stepping import TimeStepping
from peers import close

SLIDING = np.array([2.0, 1.0, 0.0, 0.0, 0.0, 3.0])


def slid(contact, v=SLIDING, steps=500, dt=2e-3):
    robot = box()
    return robot.rollout(placed(robot, (0.0, 0.0, 0.1)), v, None, dt, steps, contact=contact, record=("q", *ALL))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 0, 3, 1)])
@pytest.mark.sampled(3)
def test_a_sliding_and_turning_box_goes_the_same_way_however_its_corners_are_listed(order):
    """To the bit; what is recorded comes in the order of the list."""
    points = bottom()
    usual = slid(RigidContact(points, friction=0.3))
    other = slid(RigidContact([points[k] for k in order], friction=0.3))
    assert (usual.q == other.q).all()
    assert (usual["contact_forces"][:, order] == other["contact_forces"]).all()
    assert (usual["contact_gaps"][:, order] == other["contact_gaps"]).all()


@pytest.mark.sweep
def test_the_order_in_which_contacts_are_solved_hardly_shows(monkeypatch):
    """A yaw of 0.8 rad is the same within 1e-4 in any order: load is shared by where contacts are."""
    points, yaws, states = bottom(), [], []
    robot = box()
    monkeypatch.setattr(TimeStepping, "step", TimeStepping._step)  # without an order of its own
    for order in list(permutations(range(4)))[::8]:
        contact = RigidContact([points[k] for k in order], friction=0.3)
        step, q, v = contact.dynamics(robot).step, placed(robot, (0.0, 0.0, 0.1)), SLIDING
        forces = np.zeros((4, 3))
        for _ in range(150):
            q, v, told = step(q, v, np.zeros(6), 4e-3, contact_forces=forces)
            forces = told["contact_forces"]
        yaws.append(2.0 * np.arctan2(q[5], q[6]))
        states.append(q)
    assert abs(yaws[0]) > 0.7
    assert np.ptp(yaws) < 5e-4
    assert np.ptp(states, axis=0).max() < 5e-4


def test_what_is_symmetric_moves_straight_on():
    """A box that slides along an axis of symmetry turns neither left nor right."""
    path = slid(RigidContact(bottom(), friction=0.3), np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 250)
    assert path.q[-1, 0] > 0.4
    assert np.abs(path.q[:, 1]).max() < 1e-6
    assert np.abs(path.q[:, 5]).max() < 1e-6


def test_load_is_shared_as_by_equal_springs():
    """Of a standing box, by where its corners are: a quarter each."""
    path = slid(RigidContact(bottom(), friction=0.5), np.zeros(6), 100)
    close(path["contact_forces"][-1, :, 2], np.full(4, 2.0 * 9.81 / 4), 1e-6)


@pytest.mark.sweep
def test_obstacles_may_be_listed_in_any_order():
    size = (0.2, 0.2, 0.2)
    robot, names = stack((size, size), (1.0, 2.0)), ["box0", "box1"]
    table = Block((2.0, 2.0, 0.2), (0.0, 0.0, -0.1))
    q = robot.neutral()
    q[[2, 9]], q[7] = (0.101, 0.303), 0.02
    ends = []
    for back in (1, -1):
        obstacles = [table, *(Block(size, frame=name) for name in names)][::back]
        contact = RigidContact(names[::back], obstacles, sweeps=4)
        ends.append(robot.rollout(q, np.zeros(12), None, 2e-3, 200, contact=contact).q)
    assert (ends[0] == ends[1]).all()


def test_compliant_forces_do_not_depend_on_order():
    points, robot = bottom(), box()
    q = placed(robot, (0.0, 0.0, 0.099), 0.01)
    usual = CompliantContact(points).forces(robot, q, SLIDING)
    other = CompliantContact(points[::-1]).forces(robot, q, SLIDING)
    close(other[::-1], usual, 1e-12)


def test_which_contacts_repeat_each_other():
    """Those of one body on one other; not those of legs, of which each can move by itself."""
    robot = box()
    assert repeated(robot.model, RigidContact("body", Ground()).pairs(robot)) == [tuple(range(8))]
    assert repeated(robot.model, RigidContact("body", Ground(), friction=0.0).pairs(robot)) == []
    quadruped = kt.load("quadruped", base="floating")
    feet = [name for name in quadruped.frame_names if name.endswith("foot")]
    assert repeated(quadruped.model, RigidContact(feet).pairs(quadruped)) == []


def test_shared_loads_have_the_same_effect_and_the_least_squares():
    """Against least squares by NumPy, for points of a plane at random: p = α + β x + γ y."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        at = rng.normal(size=(6, 2))
        rows = np.column_stack([np.zeros((6, 2)), np.ones(6), at[:, 1], -at[:, 0], np.zeros(6)])
        M = np.diag(rng.uniform(0.5, 2.0, 6))
        delassus, places = DelassusOperator(M, rows, 1.0), [Place(slice(k, k + 1), np.arange(6)) for k in range(6)]
        p = rng.uniform(1.0, 2.0, 6)
        out = np.array(shared(delassus, places, list(p), [0.0] * 6))
        close(rows.T @ out, rows.T @ p, 1e-9)
        assert out.min() >= 0.0
        least = np.linalg.pinv(rows.T) @ (rows.T @ p)
        if least.min() > 0.0:
            close(out, least, 1e-6)

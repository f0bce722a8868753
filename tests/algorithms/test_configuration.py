"""Moving along and between configurations."""

import numpy as np
import pinocchio as pin
from hypothesis import given

from peers import close
from states import State, states


def test_real_robots(case):
    robot, peer, q = case.robot, case.peer, case.q
    dv = case.rng.uniform(-1.0, 1.0, size=robot.nv)  # less than half a turn
    there = robot.integrate(q, dv)
    close(peer.q(there), pin.integrate(peer.model, peer.q(q), peer.G @ dv))
    close(peer.G @ robot.difference(q, there), pin.difference(peer.model, peer.q(q), peer.q(there)))


@given(states())
def test_integrate_and_difference_undo_each_other(s: State):
    robot, q = s.robot, s.q
    dv = s.rng.uniform(-1.5, 1.5, size=robot.nv)
    close(robot.difference(q, robot.integrate(q, dv)), dv, 1e-10)
    close(robot.integrate(q, 0 * dv), q, 1e-12)
    other = robot.random(s.rng)
    reached = robot.integrate(q, robot.difference(q, other))
    close(robot.poses(reached), robot.poses(other), 1e-10)
    assert not robot.difference(q, q).any()


@given(states())
def test_neutral_is_at_zero(s: State):
    robot = s.robot
    q = robot.neutral()
    quaternions = [k for part in robot.model.quaternions for k in range(part.start, part.stop)]
    assert np.all(np.delete(q, quaternions) == 0.0)
    for part in robot.model.quaternions:
        assert q[part].tolist() == [0.0, 0.0, 0.0, 1.0]

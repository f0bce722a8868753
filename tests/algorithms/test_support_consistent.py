"""Torques of standing robots beside the printed formula, by singular values."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import support_consistent
from support_formula import printed


@pytest.mark.parametrize("feet, regular, unsupported", [(4, True, False), (3, True, False), (2, False, True)])
def test_what_is_known_before_a_configuration_is(feet, regular, unsupported):
    robot = kt.load("quadruped", base="floating")
    names = [name for name in robot.frame_names if name.endswith("foot")]
    stance = robot.constrained([kt.Contact(name) for name in names[:feet]])
    assert support_consistent.is_regular(robot.model, stance.equations) == regular
    assert support_consistent.is_unsupported(robot.model, stance.equations) == unsupported
    twice = robot.constrained([kt.Contact(name) for name in [*names, names[0]]])
    assert not support_consistent.is_regular(robot.model, twice.equations)


def test_the_residual_says_whether_an_acceleration_can_be_had():
    robot = kt.load("quadruped", base="floating")
    stance = robot.constrained([kt.Contact("front_left_foot"), kt.Contact("hind_right_foot")])
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.normal(size=18)
    for tau, possible in ((np.concatenate([np.zeros(6), rng.normal(size=12)]), True), (rng.normal(size=18), False)):
        a, _ = stance.forward_dynamics(q, v, tau)
        torques, f = stance.inverse_dynamics(q, v, a)
        assert (np.abs(torques[:6]).max() < 1e-8) == possible
        np.testing.assert_allclose(torques[6:], printed(stance, q, v, a, np.zeros(18))[0], atol=1e-8)
        if possible:
            np.testing.assert_allclose(stance.jacobian(q).T @ f + torques, robot.inverse_dynamics(q, v, a), atol=1e-8)

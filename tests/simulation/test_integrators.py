"""Orders of convergence, on vector spaces and on rotations."""

import numpy as np
import pytest

import kinetree as kt


def errors(robot, q0, v0, integrator, steps=(20, 40, 80)):
    """At the end of one second, against steps that are far smaller."""
    exact = robot.rollout(q0, v0, None, 1 / 4000, 4000, "rk4")
    found = []
    for n in steps:
        end = robot.rollout(q0, v0, None, 1 / n, n, integrator)
        apart = robot.difference(exact.q[-1], end.q[-1])
        found.append(np.abs(np.concatenate([apart, end.v[-1] - exact.v[-1]])).max())
    return found


@pytest.mark.parametrize(("integrator", "order"), [("semi-implicit-euler", 1), ("rk4", 4)])
@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("joints", [("revolute", "prismatic"), ("free", "revolute")])
def test_errors_shrink_as_the_order_says(integrator, order, base_velocity, joints):
    model = kt.random_model(3, 3, joints, base="floating", base_velocity=base_velocity)
    robot = kt.Robot(model)
    rng = np.random.default_rng(0)
    first, second, third = errors(robot, robot.random(rng), 0.5 * rng.normal(size=robot.nv), integrator)
    assert order - 0.5 < np.log2(first / second) and order - 0.4 < np.log2(second / third) < order + 0.7

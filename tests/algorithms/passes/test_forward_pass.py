"""Motion step by step in the common frame: the same as body by body in body coordinates."""

import numpy as np
from hypothesis import given

from kinetree.algorithms.kinematics import accelerations, velocities
from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.algorithms.rnea import newton_euler
from kinetree.spatial import Motion
from peers import close
from states import State, states


@given(states(base_velocity="body"))
def test_velocities_accelerations_and_forces(s: State):
    """Series such as universal and planar joints included; τ_i = S_iᵀ f_i."""
    model = s.robot.model
    sums = SubtreeSums(model, s.q, s.v, s.a, gravity=True)
    frame = sums.common
    V, A = velocities(model, s.q, s.v), accelerations(model, s.q, s.v, s.a, Motion(-model.gravity, np.zeros(3)))
    tau = np.zeros(model.nv)
    for i, _ in model.root_to_tips():
        close((frame.X[i] * sums.V[i]).vector(), V[i].vector(), 1e-11)
        close((frame.X[i] * sums.A[i]).vector(), A[i].vector(), 1e-11)
        for step in sums.steps[i]:
            tau[step.at] += [column.dot(sums.f[i]) for column in step.S]
            assert step in sums.way(i)
    close(tau, newton_euler(model, s.q, s.v, s.a), 1e-10)

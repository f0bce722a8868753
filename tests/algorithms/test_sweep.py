"""Motion step by step in the common frame: the same as body by body in body coordinates."""

import numpy as np
from hypothesis import given

from kinetree.algorithms.common_frame import CommonFrame
from kinetree.algorithms.kinematics import accelerations, velocities
from kinetree.algorithms.rnea import newton_euler
from kinetree.algorithms.sweep import Sweep
from kinetree.spatial import Motion
from peers import close
from states import State, states


@given(states(base_velocity="body"))
def test_velocities_accelerations_and_forces(s: State):
    """Series such as universal and planar joints included; τ_i = S_iᵀ f_i."""
    model = s.robot.model
    frame = CommonFrame.of(model, s.q)
    sweep = Sweep(model, frame, s.v, s.a, Motion(-frame.gravity, np.zeros(3)))
    V, A = velocities(model, s.q, s.v), accelerations(model, s.q, s.v, s.a, Motion(-model.gravity, np.zeros(3)))
    tau = np.zeros(model.nv)
    for i, _ in model.root_to_tips():
        close((frame.X[i] * sweep.V[i]).vector(), V[i].vector(), 1e-11)
        close((frame.X[i] * sweep.A[i]).vector(), A[i].vector(), 1e-11)
        for step in sweep.steps[i]:
            tau[step.at] += [column.dot(sweep.f[i]) for column in step.S]
            assert [*sweep.before(i, step), step] == sweep.way(i)[: 1 + sweep.way(i).index(step)]
    close(tau, newton_euler(model, s.q, s.v, s.a), 1e-10)

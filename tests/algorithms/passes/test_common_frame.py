"""One frame for all bodies: the first body's, where there is one, otherwise the world."""

import numpy as np
from hypothesis import given

from kinetree.algorithms.passes.common_frame import CommonFrame
from peers import close
from states import State, states


@given(states())
def test_bodies_relative_to_the_frame(s: State):
    """X leads where the poses say, and ½ Σ vᵀ I v with v = Σ S q̇ is the kinetic energy."""
    model = s.robot.model
    frame = CommonFrame.of(model, s.q)
    poses = s.robot.eager.poses(s.q)
    home = poses[0] if len(model.children(0)) == 1 else np.eye(4)
    for i, _ in model.root_to_tips():
        close(frame.X[i].pose(), np.linalg.inv(home) @ poses[i - 1], 1e-12)
    close(frame.gravity, home[:3, :3].T @ model.gravity)
    energy, V = 0.0, {0: np.zeros(6)}
    for i, p in model.root_to_tips():
        rates = s.v[model.joints[i].v_slice]
        V[i] = V[p] + sum((rate * S.vector() for rate, S in zip(rates, frame.S[i], strict=True)), np.zeros(6))
        energy += 0.5 * V[i] @ frame.I[i].matrix() @ V[i]
    rotors = 0.5 * s.v @ (model.armature * s.v)
    close(energy + rotors, s.robot.eager.kinetic_energy(s.q, s.v), 1e-11)

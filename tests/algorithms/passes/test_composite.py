"""Subtrees as one body: their inertia by sums in the world, and the frame at the centre of mass."""

import numpy as np
from hypothesis import assume, given

from kinetree.algorithms.kinematics import world_transforms
from kinetree.algorithms.passes.composite import Composite
from peers import close
from states import State, rate_along, states


@given(states())
def test_subtrees_and_the_center_of_mass(s: State):
    assume(s.robot.mass > 0)
    model = s.robot.model
    composite, X, c = Composite.of(model, s.q), world_transforms(model, s.q), s.robot.eager.center_of_mass(s.q)
    in_world = {i: (X[i].transpose() * model.inertias[i]).matrix() for i in model.moving}
    for i, _ in model.root_to_tips():
        close(composite.X[i].R, X[i].R, 1e-12)
        close(composite.X[i].p, X[i].p - c, 1e-12)
        if i in model.moving and (i != composite.root_body):
            whole = sum(in_world[j] for j in model.subtree(i))
            close((X[i].transpose() * composite.Ic[i]).matrix(), whole, 1e-11)
    close(composite.locked.mass, model.mass, 1e-12)
    assert not np.any(composite.locked.h)
    R = composite.X[composite.root_body].R
    at_center = sum((composite.X[i].transpose() * model.inertias[i]).I for i in model.moving)
    close(R.T @ composite.locked.I @ R, at_center, 1e-11)


@given(states())
def test_how_subtrees_change_seen_from_their_bodies(s: State):
    assume(s.robot.mass > 0)
    model = s.robot.model
    seen = Composite.of(model, s.q).rates_seen({i: model.joints[i].velocity(s.q, s.v) for i in model.moving})
    for i in model.moving:
        slope = rate_along(s, lambda q, v, i=i: Composite.of(model, q).Ic[i].parameters())
        close(seen[i].parameters(), slope, 1e-7)

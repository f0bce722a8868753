"""How columns of joints move: by difference quotients of joints and bodies in the world."""

import numpy as np
from hypothesis import given

from kinetree.algorithms.kinematics import accelerations, velocities, world_transforms
from kinetree.algorithms.passes.moving_columns import moving_columns
from kinetree.model.joints.kinds import JOINTS
from kinetree.spatial import Motion
from peers import close
from states import State, rate_along, states

STEP = 1e-6


def in_world(model, i, q, motions):
    back = world_transforms(model, q)[i].inverse()
    return tuple(back * motion for motion in motions)


def all_columns(model, q, v, a):
    """Of every joint, in the world."""
    V, A = velocities(model, q, v), accelerations(model, q, v, a)
    for i, p in model.root_to_tips():
        S = in_world(model, i, q, model.joints[i].motion_subspace(q))
        (V_p,), (A_p,) = in_world(model, p, q, [V[p]]), in_world(model, p, q, [A[p]])
        yield i, *moving_columns(model.joints[i], S, V_p, A_p, v, a)


@given(states())
def test_the_body_moves_and_so_do_its_columns(s: State):
    model = s.robot.model
    V, A = velocities(model, s.q, s.v), accelerations(model, s.q, s.v, s.a)

    def columns(q, v, i):
        return np.array([x.vector() for x in in_world(model, i, q, model.joints[i].motion_subspace(q))])

    for i, steps, V_i, A_i in all_columns(model, s.q, s.v, s.a):
        close(V_i.vector(), in_world(model, i, s.q, [V[i]])[0].vector(), 1e-11)
        close(A_i.vector(), in_world(model, i, s.q, [A[i]])[0].vector(), 1e-11)
        joint = model.joints[i]
        if joint.nv:
            rates = np.empty((joint.nv, 6))
            for step in steps:
                rates[step.at.start - joint.iv : step.at.stop - joint.iv] = [x.vector() for x in step.rate]
            for step in steps:
                for psi1, psi2, seen in zip(step.psi1, step.psi2, step.psi2_seen, strict=True):
                    close(seen.vector(), (psi2 - V_i.cross(psi1)).vector(), 1e-10)
            close(rates, rate_along(s, lambda q, v, i=i: columns(q, v, i)), 1e-6)


@given(states(joints=tuple(JOINTS)))
def test_what_a_joint_carries_moves_along(s: State):
    """∂v_i/∂q_k = S × v_i + Ψ̇ and ∂a_i/∂q_k = S × a_i + Ψ̇ × v_i + Ψ̈ of the body itself."""
    model, robot = s.robot.model, s.robot.eager

    def state(q, i):
        V, A = velocities(model, q, s.v), accelerations(model, q, s.v, s.a)
        v, a = in_world(model, i, q, [V[i], A[i]])
        return np.concatenate([v.vector(), a.vector()])

    for i, steps, V, A in all_columns(model, s.q, s.v, s.a):
        for step in steps:
            for k, (S, psi1, psi2) in enumerate(zip(step.S, step.psi1, step.psi2, strict=True), start=step.at.start):
                dq = STEP * np.eye(model.nv)[k]
                quotient = (state(robot.integrate(s.q, dq), i) - state(robot.integrate(s.q, -dq), i)) / (2 * STEP)
                by_v, by_a = S.cross(V) + psi1, S.cross(A) + psi1.cross(V) + psi2
                assert isinstance(by_v, Motion)
                close(np.concatenate([by_v.vector(), by_a.vector()]), quotient, 1e-6)

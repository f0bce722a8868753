"""The Coriolis matrix: its product with v, the skew symmetry of Ṁ - 2C, Christoffel symbols, and Pinocchio.

Covers: algorithms/passes/column_pairs.py, spatial/coriolis.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.spatial import CoriolisInertia, Force, Motion
from peers import close
from states import H, State, state_of, states


def test_real_robots_beside_pinocchio(case):
    """Pinocchio's C is another one with the same product; both rates of M are equal."""
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    T, q_pin = peer.G, peer.q(q)
    theirs = T.T @ pin.computeCoriolisMatrix(peer.model, peer.data(), q_pin, T @ v) @ T
    ours = robot.coriolis_matrix(q, v)
    close(ours @ v, theirs @ v)
    if not robot.model.quaternions:  # then T is constant, and C + Cᵀ is Ṁ for both
        close(ours + ours.T, theirs + theirs.T)


@given(states())
def test_it_makes_the_bias_forces_and_the_rate_of_the_mass_matrix(s: State):
    robot = s.robot.eager
    C = robot.coriolis_matrix(s.q, s.v)
    close(C @ s.v, robot.bias_forces(s.q, s.v) - robot.gravity_forces(s.q), 1e-11)
    ahead, behind = (robot.mass_matrix(robot.integrate(s.q, sign * H * s.v)) for sign in (1, -1))
    close(robot.mass_matrix_rate(s.q, s.v), (ahead - behind) / (2 * H), 1e-6)
    skew = robot.mass_matrix_rate(s.q, s.v) - 2 * C
    close(skew, -skew.T, 1e-11)


@given(states(spatial_order="linear-first"))
def test_it_is_the_sum_over_bodies(s: State):
    """Σ Jᵀ (I J̇ + B J), with Jacobians and their rates of every body in its own axes, and B V = V ×* I V."""
    robot, model = s.robot.eager, s.robot.model
    C = np.zeros((robot.nv, robot.nv))
    for i, _ in model.root_to_tips():
        frame = robot.frame(model.names[i])
        J = frame.jacobian(s.q, "local")
        dJ = frame.jacobian_rate(s.q, s.v, "local")
        V = J @ s.v
        I = model.inertias[i].matrix()  # noqa: E741
        C += J.T @ (I @ (dJ + crossed(V) @ J) + body_matrix(I, V) @ J)
    close(robot.coriolis_matrix(s.q, s.v), C, 1e-10)


def crossed(V):
    """V× as a matrix, linear first."""
    v, w = (np.cross(np.eye(3), half) for half in (V[:3], V[3:]))
    return np.block([[w, v], [np.zeros((3, 3)), w]])


def body_matrix(I, V):  # noqa: E741
    """½ (V ×* I - I V× + (I V) ×̄*), as it is defined."""
    f = I @ V
    bar = np.array([Motion.from_vector(e).cross(Force.from_vector(f)).vector() for e in np.eye(6)]).T
    return (-crossed(V).T @ I - I @ crossed(V) + bar) / 2


def test_the_coriolis_inertia_is_what_its_definition_says():
    rng = np.random.default_rng(0)
    inertia = kt.random_model(rng, 1).inertias[1]
    V = rng.normal(size=6)
    B = CoriolisInertia.of(inertia, Motion.from_vector(V))
    expected = body_matrix(inertia.matrix(), V)
    columns = np.array([(B * Motion.from_vector(e)).vector() for e in np.eye(6)]).T
    close(columns, expected, 1e-13)
    close(np.array([B.transposed_times(Motion.from_vector(e)).vector() for e in np.eye(6)]), expected, 1e-13)


def test_christoffel_symbols_are_slopes_of_the_mass_matrix():
    """Γ_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i)."""
    rng = np.random.default_rng(2)
    s = state_of(kt.Robot(kt.random_model(rng, 5, ("revolute", "prismatic", "mimic"))), rng)
    n = s.robot.nv
    dM = np.array([(s.robot.mass_matrix(s.q + H * e) - s.robot.mass_matrix(s.q - H * e)) / (2 * H) for e in np.eye(n)])
    dM = dM.transpose(1, 2, 0)  # ∂M_ij/∂q_k
    expected = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2
    symbols = s.robot.christoffel_symbols(s.q)
    close(symbols, expected, 1e-7)
    close(symbols @ s.v, s.robot.coriolis_matrix(s.q, s.v), 1e-12)


@given(states())
def test_christoffel_symbols_make_the_coriolis_matrix(s: State):
    """Of joints with several columns too, whose velocities are no rates of coordinates."""
    close(s.robot.eager.christoffel_symbols(s.q) @ s.v, s.robot.eager.coriolis_matrix(s.q, s.v), 1e-11)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_compiled_and_in_batches(base):
    rng = np.random.default_rng(5)
    s = state_of(kt.Robot(kt.random_model(rng, 5, base=base)), rng)
    C = s.robot.coriolis_matrix(s.q, s.v)
    close(C, s.robot.eager.coriolis_matrix(s.q, s.v), 1e-12)
    batch = s.robot.coriolis_matrix(np.tile(s.q, (11, 1)), np.tile(s.v, (11, 1)))
    assert np.array_equal(batch[10], C)


def test_nan_stays_on_its_branch():
    """For one state NaN reaches every entry that it reaches in a batch, perhaps more, and not the other leg."""
    robot = kt.load("humanoid", base="floating")
    q, v, at = robot.neutral(), np.ones(robot.nv), robot.velocity_names.index
    v[at("left_knee")] = np.nan
    single, batch = np.isnan(robot.coriolis_matrix(q, v)), np.isnan(robot.coriolis_matrix(q[None], v[None])[0])
    assert batch[at("left_hip_pitch"), at("left_knee")]
    assert (single | ~batch).all()
    right = [k for k, name in enumerate(robot.velocity_names) if name.startswith("right_")]
    assert not single[right].any()
    assert not single[:, right].any()

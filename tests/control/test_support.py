"""Robots that stand: support-consistent torques, null-space torques and centroidal momentum.

Covers: control/centroidal_momentum.py, control/support_consistent.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import CentroidalMomentum, SupportConsistent


@pytest.fixture(scope="module")
def dog():
    return kt.load("quadruped", base="floating")


@pytest.fixture(scope="module")
def stance(dog):
    return dog.constrained([kt.Contact(name) for name in dog.frame_names if name.endswith("foot")])


def standing(robot, stance, seed):
    """Bent legs, moving as the feet allow."""
    rng = np.random.default_rng(seed)
    q = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=robot.nv))
    return q, stance.projector(q) @ (0.3 * rng.normal(size=robot.nv)), rng


@pytest.mark.sweep
def test_the_formula_of_the_lecture_notes(dog, stance):
    """(N_cᵀ Sᵀ)⁺ N_cᵀ (M a + b + g) + 𝒩(N_cᵀ Sᵀ) τ₀, by NumPy."""
    S = np.hstack([np.zeros((12, 6)), np.eye(12)])
    controller = SupportConsistent(stance, 30.0, 7.0)
    for seed in range(5):
        q, v, rng = standing(dog, stance, seed)
        goal, rate, a, tau_0 = dog.integrate(q, 0.1 * rng.normal(size=18)), *rng.normal(size=(3, 18))
        command = a + 30.0 * dog.difference(q, goal) + 7.0 * (rate - v)
        A = stance.projector(q).T @ S.T
        inverse = np.linalg.pinv(A, rcond=1e-9)
        tau = inverse @ stance.projector(q).T @ dog.inverse_dynamics(q, v, command)
        tau = tau + (np.eye(12) - inverse @ A) @ tau_0[6:]
        got = controller(q, v, (goal, rate, a, tau_0))
        np.testing.assert_array_equal(got[:6], 0.0)
        np.testing.assert_allclose(got[6:], tau, atol=1e-7 * max(1.0, np.abs(tau).max()))


def test_accelerations_are_those_that_contacts_allow(dog, stance):
    controller = SupportConsistent(stance, 40.0)
    for seed in range(5):
        q, v, rng = standing(dog, stance, seed)
        goal, a, tau_0 = dog.integrate(q, 0.1 * rng.normal(size=18)), *rng.normal(size=(2, 18))
        command = a + 40.0 * dog.difference(q, goal) - 2 * 40.0**0.5 * v
        taus = [controller(q, v, goal, a_des=a, tau_0=x).copy() for x in (np.zeros(18), tau_0)]
        (first, f), (second, f_0) = (stance.forward_dynamics(q, v, tau) for tau in taus)
        N = stance.projector(q)
        np.testing.assert_allclose(N @ first, N @ command, atol=1e-9 * np.abs(command).max())
        np.testing.assert_allclose(first, second, atol=1e-8)  # τ₀ moves nothing, it only squeezes
        assert np.abs(f - f_0).max() > 0.01 and np.linalg.norm(taus[0]) < np.linalg.norm(taus[1])


@pytest.mark.sweep
def test_nearest_torques_of_a_stance(dog, stance):
    q, v, rng = standing(dog, stance, 9)
    a, tau_0 = rng.normal(size=(2, 18))
    least, f = stance.inverse_dynamics(q, v, a)
    same, f_same = stance.nearest_torques(q, v, a, np.zeros(18))
    np.testing.assert_array_equal(same, least)
    np.testing.assert_array_equal(f_same, f)
    near, f_near = stance.nearest_torques(q, v, a, tau_0)
    assert np.linalg.norm((near - tau_0)[6:]) < np.linalg.norm((least - tau_0)[6:])
    J = stance.jacobian(q)
    np.testing.assert_allclose(near + J.T @ f_near, dog.inverse_dynamics(q, v, a), atol=1e-8)
    again, _ = stance.nearest_torques(q, v, a, near)
    np.testing.assert_allclose(again, near, atol=1e-7)


def crouched(dog, bend):
    """All legs bent by the same angles, and the feet on the ground where they are for every bend."""
    q, foot = dog.neutral(), dog.frame("front_left_foot")
    q[8::3], q[9::3] = bend, -2.0 * bend
    q[:3] = np.array([0.3, 0.2, 0.0]) - foot.pose(q)[:3, 3]
    return q


@pytest.mark.sweep
def test_a_dog_stands_and_sinks_to_a_crouch(dog, stance):
    """In simulation with the feet pinned: the base goes where the posture says, and all feet push."""
    q, goal = crouched(dog, 0.6), crouched(dog, 0.8)
    controller = SupportConsistent(stance, 60.0)
    held = dog.constrained(stance.constraints, frequency=50.0).pinned(q)

    @kt.compile(shapes={"goal": "q"})
    def accelerations(robot, q, v, goal):
        return held.forward_dynamics(q, v, controller(q, v, goal))

    step = accelerations.bind(dog)
    v, at, dt = np.zeros(18), q.copy(), 2e-3
    for _ in range(1500):
        a, f = step(at, v, goal)
        v = v + dt * a
        at = dog.integrate(at, dt * v)
    assert goal[2] - q[2] < -0.05
    np.testing.assert_allclose(dog.difference(at, goal), 0.0, atol=1e-4)
    assert (f.reshape(4, 3)[:, 2] > 0.1 * 9.81 * dog.mass).all()
    np.testing.assert_allclose(f.reshape(4, 3).sum(axis=0), [0.0, 0.0, 9.81 * dog.mass], atol=1e-3 * dog.mass)


@pytest.mark.sweep
def test_momentum_changes_as_commanded(dog, stance):
    """ḣ of the robot under the torques, through constrained forward dynamics, to 1e-9."""
    controller = CentroidalMomentum(stance, 50.0, 9.0, angular_gain=5.0, posture=dog.neutral(), posture_stiffness=10.0)
    for seed in range(3):
        q, v, rng = standing(dog, stance, seed)
        goal = dog.center_of_mass(q) + 0.02 * rng.normal(size=3)
        rate, a, spin, torque = rng.normal(size=(4, 3))
        tau = controller(q, v, (goal, rate, a, spin, torque))
        got, _ = stance.forward_dynamics(q, v, tau)
        linear = a + 50.0 * (goal - dog.center_of_mass(q)) + 9.0 * (rate - dog.center_of_mass_velocity(q, v))
        h = dog.centroidal_momentum(q, v)
        wanted = np.concatenate([dog.mass * linear, torque + 5.0 * (spin - h[3:])])
        np.testing.assert_allclose(dog.centroidal_momentum_rate(q, v, got), wanted, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_array_equal(tau[:6], 0.0)


def test_what_is_wrong_is_said(dog, stance):
    with pytest.raises(kt.ArgumentTypeError, match="stance is <Robot 'quadruped'"):
        SupportConsistent(dog, 10.0)
    with pytest.raises(kt.ArgumentError, match=r"stiffness has shape \(12,\); expected a number, 18 numbers"):
        SupportConsistent(stance, np.ones(12))
    with pytest.raises(kt.ArgumentError, match=r"posture has shape \(3,\)"):
        CentroidalMomentum(stance, 1.0, angular_gain=1.0, posture=np.zeros(3), posture_stiffness=1.0)

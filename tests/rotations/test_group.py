"""Products, differences, means and what lies between rotations.

Covers: rotations/samples.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

import kinetree as kt
from kinetree import rotations as rot
from peers import close


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def same(q, p, tolerance=1e-14):
    """Whether quaternions are the same rotations."""
    close(np.abs((np.asarray(q) * p).sum(axis=-1)), np.ones(np.shape(q)[:-1]), tolerance)


def test_the_group_is_that_of_scipy(rng):
    a, b, r = rot.random(rng, 40), rot.random(rng, 40), rng.normal(size=(40, 3))
    A, B = rot.to_scipy(a), rot.to_scipy(b)
    same(rot.quaternion_product(a, b), (A * B).as_quat())
    same(rot.quaternion_inverse(a), A.inv().as_quat())
    close(rot.rotate(a, r), A.apply(r), 1e-14)
    close(rot.box_minus(b, a), (B * A.inv()).as_rotvec(), 1e-13)
    close(rot.rotation_error(B.as_matrix(), A.as_matrix()), (B * A.inv()).as_rotvec(), 1e-13)
    close(rot.distance(a, b), (A.inv() * B).magnitude(), 1e-14)
    same(rot.box_plus(a, r), (Rotation.from_rotvec(r) * A).as_quat())


@given(st.integers(0, 2**32 - 1), st.floats(-16.0, 0.49))
def test_box_minus_undoes_box_plus(seed, exponent):
    rng = np.random.default_rng(seed)
    a = rot.random(rng)
    w = rng.normal(size=3)
    w *= 10.0**exponent / np.linalg.norm(w)
    close(rot.box_minus(rot.box_plus(a, w), a), w, 4e-16 + 4e-15 * np.linalg.norm(w))
    R = rot.matrix_from_quaternion(a)
    turned = rot.matrix_from_rotation_vector(w) @ R
    close(rot.rotation_error(turned, R), w, 4e-15)
    close(rot.rotation_error(turned, R), R @ pin.log3(R.T @ turned), 1e-9)  # in world axes
    assert not rot.box_minus(a, a).any() and rot.distance(a, a) == 0.0


def test_error_feedback_leads_to_the_target(rng):
    """R ← exp(k Δφ) R with Δφ = log(R* Rᵀ) shrinks the error by 1 - k: the sign and the axes are right."""
    R, target = (rot.matrix_from_quaternion(rot.random(rng)) for _ in range(2))
    error = np.linalg.norm(rot.rotation_error(target, R))
    for _ in range(5):
        R = rot.matrix_from_rotation_vector(0.3 * rot.rotation_error(target, R)) @ R
        error *= 0.7
        close(np.linalg.norm(rot.rotation_error(target, R)), error, 1e-13)


def test_slerp_is_that_of_scipy(rng):
    a, b = rot.random(rng, 30), rot.random(rng, 30)
    s = np.linspace(0.0, 1.0, 11)
    ours = rot.slerp(a[:, None], b[:, None], s)
    assert ours.shape == (30, 11, 4)
    for k in range(30):
        same(ours[k], Slerp([0.0, 1.0], rot.to_scipy(np.array([a[k], b[k]])))(s).as_quat())
    same(rot.slerp(a, -b, 0.3), rot.slerp(a, b, 0.3))  # the same rotations, and the shorter way
    assert np.array_equal(rot.slerp(a[0], a[0], 0.7), a[0])


def test_random_rotations_are_uniform():
    q = rot.random(0, (100, 1000))
    assert q.shape == (100, 1000, 4)
    R = rot.matrix_from_quaternion(q).reshape(-1, 3, 3)
    assert np.abs(R.mean(axis=0)).max() < 0.01
    close((R**2).mean(axis=0), np.full((3, 3), 1 / 3), 0.01)
    angles = np.sort(rot.distance(q, [0.0, 0.0, 0.0, 1.0]).ravel())  # of density (1 - cos θ)/π
    close((angles - np.sin(angles)) / np.pi, np.arange(1e5) / 1e5, 0.01)
    assert np.array_equal(rot.random(3), rot.random(np.random.default_rng(3)))


def test_mean_is_that_of_scipy(rng):
    q = rot.quaternion_product(rot.random(rng), rot.quaternion_from_rotation_vector(0.5 * rng.normal(size=(4, 20, 3))))
    weights = rng.uniform(0.0, 2.0, size=(4, 20))
    q[:, ::2] *= -1.0
    ours = rot.average(q, weights)
    for k in range(4):
        same(ours[k], rot.to_scipy(q[k]).mean(weights[k]).as_quat())
    same(rot.average(q[0]), rot.to_scipy(q[0]).mean().as_quat())
    a, b = rot.random(rng), rot.random(rng)
    same(rot.average(np.array([a, b])), rot.slerp(a, b, 0.5))


def test_rotations_without_a_mean_are_refused():
    halves = np.eye(4)  # no turn, and half a turn about each axis
    with pytest.raises(kt.ArgumentError, match="quaternions has no single mean"):
        rot.average(halves)
    with pytest.raises(kt.ArgumentError, match=r"quaternions\[1\] has no single mean"):
        rot.average(np.stack([np.tile(halves[0], (4, 1)), halves]))
    with pytest.raises(kt.ArgumentError, match="negative"):
        rot.average(halves, [1.0, 2.0, -1.0, 0.0])
    with pytest.raises(kt.ArgumentError, match=r"expected \(…, n, 4\)"):
        rot.average(halves[0])
    with pytest.raises(kt.ArgumentError, match="finite"):
        rot.average(np.full((2, 4), np.nan))


def test_derivatives_stay_finite_at_the_goal(rng):
    """∂Δφ/∂q = -J there, and the gradients of distances are zero, not NaN."""
    robot = kt.load("arm6")
    tool, q = robot.frame("tool0"), robot.random(rng)
    goal = tool.pose(q)[:3, :3]
    error = kt.compile(lambda robot, q: rot.rotation_error(goal, robot.frame("tool0").pose(q)[:3, :3]))
    close(kt.jacobian(error)(robot, q), -tool.jacobian(q)[3:], 1e-12)
    a = rot.random(rng)
    angle = kt.compile(lambda b: rot.distance(a, b), shapes={"b": (4,)})
    assert np.array_equal(kt.gradient(angle, "b")(a), np.zeros(4))
    middle = kt.jacobian(kt.compile(lambda s: rot.slerp(a, a, s), shapes={"s": ()}), "s")
    assert np.isfinite(middle(0.5)).all()

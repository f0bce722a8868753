"""Changes of coordinates against 6×6 matrices built here, and against Pinocchio.

Covers: spatial/force.py, spatial/motion.py, spatial/packing.py.
"""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.model.random import random_inertia
from kinetree.ops import skew
from kinetree.spatial import ArticulatedInertia, Force, Motion, Transform
from kinetree.spatial.packing import reordered
from kinetree.spatial.rotation import matrix_from_quaternion, random_quaternion
from peers import close


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def random_transform(rng):
    return Transform(matrix_from_quaternion(random_quaternion(rng)), rng.normal(size=3))


def random_motion(rng):
    return Motion(rng.normal(size=3), rng.normal(size=3))


def random_force(rng):
    return Force(rng.normal(size=3), rng.normal(size=3))


def plucker(X):
    """Eq (11), angular first: [[R, 0], [-R [p]×, R]]."""
    return np.block([[X.R, np.zeros((3, 3))], [-X.R @ skew(X.p), X.R]])


def angular(x):
    return x.vector("angular-first")


def inertia_matrix(inertia):
    """[[I, [h]×], [-[h]×, m 1]], angular first."""
    H = skew(inertia.h)
    return np.block([[inertia.I, H], [-H, inertia.mass * np.eye(3)]])


def test_motions_and_forces_transform_by_X_and_its_inverse_transpose(rng):
    X, V, F = random_transform(rng), random_motion(rng), random_force(rng)
    close(angular(X * V), plucker(X) @ angular(V), 1e-14)
    close(angular(X * F), np.linalg.inv(plucker(X)).T @ angular(F), 1e-13)
    close(angular(X.transpose() * F), plucker(X).T @ angular(F), 1e-14)
    close((X * V).dot(X * F), V.dot(F), 1e-13)


def test_composition_and_inverse(rng):
    X, Y, V = random_transform(rng), random_transform(rng), random_motion(rng)
    close(plucker(X * Y), plucker(X) @ plucker(Y), 1e-13)
    close(plucker(X.inverse()), np.linalg.inv(plucker(X)), 1e-13)
    close(angular((X * Y) * V), angular(X * (Y * V)), 1e-13)
    close((X * X.inverse()).pose(), np.eye(4), 1e-14)


def test_pose_is_that_of_the_new_frame_in_the_old(rng):
    X = random_transform(rng)
    T = X.pose()
    point = rng.normal(size=3)
    close(X.R @ (point - X.p), (np.linalg.inv(T) @ [*point, 1.0])[:3], 1e-13)
    close(Transform.from_pose(T).pose(), T, 0.0)


def test_inertia_transforms_by_congruence(rng):
    X, inertia = random_transform(rng), random_inertia(rng)
    back = plucker(X).T @ inertia_matrix(inertia) @ plucker(X)
    close(inertia_matrix(X.transpose() * inertia), back, 1e-13)
    inverse = np.linalg.inv(plucker(X))
    close(inertia_matrix(X * inertia), inverse.T @ inertia_matrix(inertia) @ inverse, 1e-13)
    articulated = X.transpose() * ArticulatedInertia.of(inertia)
    linear_first = np.block([[articulated.M, articulated.H.T], [articulated.H, articulated.I]])
    close(np.roll(linear_first, (3, 3), axis=(0, 1)), back, 1e-13)


def test_articulated_inertia_that_is_no_rigid_body(rng):
    X, V = random_transform(rng), random_motion(rng)
    A = rng.normal(size=(6, 6))
    A = A @ A.T
    inertia = ArticulatedInertia(A[:3, :3], A[3:, :3], A[3:, 3:])
    close((inertia * V).vector(), A @ V.vector(), 1e-13)
    swapped = np.roll(A, (3, 3), axis=(0, 1))
    moved = X.transpose() * inertia
    linear_first = np.block([[moved.M, moved.H.T], [moved.H, moved.I]])
    close(np.roll(linear_first, (3, 3), axis=(0, 1)), plucker(X).T @ swapped @ plucker(X), 1e-12)


def test_cross_products_are_the_rate_of_X(rng):
    """d/dt X = -V × X for a frame moving with V (in its own coordinates), and V ×* = -(V ×)ᵀ."""
    V, W, F = random_motion(rng), random_motion(rng), random_force(rng)
    close(V.cross(W).dot(F), -W.dot(V.cross(F)), 1e-13)
    close(V.cross(V).vector(), np.zeros(6), 1e-14)
    theirs = pin.Motion(V.linear, V.angular)
    close(V.cross(W).vector(), theirs.cross(pin.Motion(W.linear, W.angular)).vector, 1e-14)
    close(V.cross(F).vector(), theirs.cross(pin.Force(F.force, F.moment)).vector, 1e-14)
    h = 1e-6
    ahead, behind = (pin.exp6(theirs * s) for s in (h, -h))
    moved = [Transform.from_pose(step.homogeneous) * W for step in (ahead, behind)]
    close((moved[0] - moved[1]).vector() / (2 * h), -V.cross(W).vector(), 1e-8)


def test_momentum_and_energy(rng):
    inertia, V = random_inertia(rng), random_motion(rng)
    close(angular(inertia * V), inertia_matrix(inertia) @ angular(V), 1e-13)
    close(inertia.matrix("angular-first"), inertia_matrix(inertia), 1e-14)
    close(inertia.matrix(), pin.Inertia(inertia.mass, inertia.com, inertia.about_com).matrix(), 1e-13)
    close(V.dot(inertia * V), V.vector() @ inertia.matrix() @ V.vector(), 1e-13)


def test_inertia_of_two_bodies_is_their_sum(rng):
    one, two, V = random_inertia(rng), random_inertia(rng), random_motion(rng)
    close(((one + two) * V).vector(), (one * V + two * V).vector(), 1e-13)
    close((one + two).com, (one.h + two.h) / (one.mass + two.mass), 1e-14)


def test_both_orders_of_a_six_vector(rng):
    V = random_motion(rng)
    close(V.vector(), [*V.linear, *V.angular], 0.0)
    close(V.vector("angular-first"), [*V.angular, *V.linear], 0.0)
    for order in ("linear-first", "angular-first"):
        close(Motion.from_vector(V.vector(order), order).vector(), V.vector(), 0.0)
        F = random_force(rng)
        close(Force.from_vector(F.vector(order), order).vector(), F.vector(), 0.0)


def test_arithmetic(rng):
    V, W = random_motion(rng), random_motion(rng)
    close((2.0 * V - W + (-V)).vector(), V.vector() - W.vector(), 1e-14)
    close((np.float64(2.0) * V).vector(), 2 * V.vector(), 0.0)
    F = random_force(rng)
    close((np.float64(2.0) * F - F).vector(), F.vector(), 1e-14)


def test_six_vectors_have_six_entries_and_a_known_order(rng):
    V = random_motion(rng)
    for call in (V.vector, lambda order: Motion.from_vector(np.zeros(6), order)):
        with pytest.raises(kt.ArgumentError, match="order is 'linear'; expected 'linear-first' or 'angular-first'"):
            call("linear")
    with pytest.raises(kt.ArgumentError, match=r"six has shape \(7,\); expected \(…, 6\)"):
        Force.from_vector(np.zeros(7))
    with pytest.raises(kt.ArgumentError, match=r"angular has shape \(2,\); expected \(…, 3\)"):
        Motion(np.zeros(3), np.zeros(2)).vector()


def test_reordering_blocks_of_six():
    x = np.arange(24.0).reshape(12, 2)
    there = reordered(x, 0, "linear-first", "angular-first")
    close(there[:, 0] / 2, [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8], 0.0)
    close(reordered(there, -2, "angular-first", "linear-first"), x, 0.0)
    same = reordered(x, 0, "linear-first", "linear-first")
    assert np.array_equal(same, x) and not np.shares_memory(same, x)
    with pytest.raises(kt.ArgumentError, match="axis 1 has 2 entries; expected a multiple of 6"):
        reordered(x, 1, "linear-first", "angular-first")


def test_a_pose_must_be_one():
    shifted = np.eye(4)
    shifted[:3, 3] = 1, 2, 3
    close(Transform.from_pose(shifted.tolist()).p, [1, 2, 3], 0.0)
    for wrong in (2 * np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0]), shifted.T, np.full((4, 4), np.nan)):
        with pytest.raises(kt.ArgumentError, match=r"T_AB is .*; expected a pose"):
            Transform.from_pose(wrong)
    with pytest.raises(kt.ArgumentError, match=r"T_AB has shape \(3, 3\); expected \(…, 4, 4\)"):
        Transform.from_pose(np.eye(3))
    symbols = Transform.from_pose(2 * np.eye(4).astype(object))  # their values are not known yet
    assert symbols.R[0, 0] == 2.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (((1.0, 2.0), (0, 0, 0), np.eye(3)), r"mass is \(1\.0, 2\.0\); expected a number"),
        (("2", (0, 0, 0), np.eye(3)), "mass is '2'; expected a number"),
        ((True, (0, 0, 0), np.eye(3)), "mass is True; expected a number"),
        ((10**400, (0, 0, 0), np.eye(3)), "expected a number that a float can hold"),
        ((1.0, (0, 0), np.eye(3)), r"com has shape \(2,\); expected \(3,\)"),
        ((1.0, (0, 0, 0), np.ones(3)), r"rotational has shape \(3,\); expected \(3, 3\)"),
        ((1.0, (0, 0, 0), None), r"rotational is None; expected an array of shape \(3, 3\)"),
    ],
)
def test_inertias_from_what_is_not_numbers(arguments, sentence):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
        kt.Inertia.from_com(*arguments)

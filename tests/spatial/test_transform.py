"""Changes of coordinates against 6×6 matrices built here, and against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

from kinetree.model.random import random_inertia
from kinetree.ops import skew
from kinetree.spatial import ArticulatedInertia, Force, Motion, Transform
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

"""exp and log of SE(3) and SO(3), their Jacobians, and 6×6 matrices, by Pinocchio, expm and difference quotients.

Covers: functions/per_state.py, rotations/exponential.py, spatial/rigid_motion.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import expm

import kinetree as kt
from kinetree import rotations, se3
from kinetree.model.random import random_inertia
from peers import close

ANGLES = (0.0, 1e-12, 1e-8, 1e-4, 0.3, 0.499, 0.501, 1.0, 2.0, 3.0, np.pi - 1e-4, np.pi - 1e-9, np.pi)
ORDERS = ("linear-first", "angular-first")


def twists(rng):
    """One for each angle, (n, 6), linear first."""
    found = rng.normal(size=(len(ANGLES), 6))
    found[:, 3:] *= (np.array(ANGLES) / np.linalg.norm(found[:, 3:], axis=1))[:, None]
    return found


def in_order(x, order, *axes):
    """Linear first to the order."""
    return x if order == "linear-first" else np.roll(x, [3] * len(axes), axis=axes)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("order", ORDERS)
def test_exp_and_log_of_poses(rng, order):
    twist = twists(rng)
    T = se3.exp(in_order(twist, order, 1), order)
    assert T.shape == (len(ANGLES), 4, 4)
    for xi, pose in zip(twist, T, strict=True):
        hat = np.zeros((4, 4))
        hat[:3, :3], hat[:3, 3] = kt.skew(xi[3:]), xi[:3]
        close(pose, expm(hat), 1e-13)
        close(pose, pin.exp6(xi).homogeneous, 1e-12)
    back = in_order(se3.log(T, order), order, 1)
    close(back[:-1], twist[:-1], 1e-7)  # next to half a turn the axis has few digits
    close(back[:-3], twist[:-3], 1e-12)
    close(se3.exp(back), T, 1e-13)
    close(se3.exp(twist[4]), T[4], 1e-15)  # one alone


def test_poses_are_inverted(rng):
    T = se3.exp(rng.normal(size=(5, 2, 6)))
    close(se3.inverse(T), np.linalg.inv(T), 1e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_jacobians_of_exp(rng, order):
    """By difference quotients of exp, by Pinocchio's, and as inverses of each other, at angles from 0 to π."""
    twist = twists(rng)
    left = se3.left_jacobian(in_order(twist, order, 1), order)
    right = se3.right_jacobian(in_order(twist, order, 1), order)
    for xi, J_l, J_r in zip(twist, in_order(left, order, 1, 2), in_order(right, order, 1, 2), strict=True):
        h = 1e-6
        for k, unit in enumerate(h * np.eye(6)):
            ahead, behind = se3.exp(xi + unit), se3.exp(xi - unit)
            middle = se3.inverse(se3.exp(xi))
            close(se3.log(ahead @ middle) - se3.log(behind @ middle), 2 * h * J_l[:, k], 1e-14)
            close(se3.log(middle @ ahead) - se3.log(middle @ behind), 2 * h * J_r[:, k], 1e-14)
        close(J_r, pin.Jexp6(pin.Motion(xi)), 1e-8)
        close(J_l, se3.adjoint(se3.exp(xi)) @ J_r, 1e-12)
    eye = np.broadcast_to(np.eye(6), left.shape)
    close(left @ se3.left_jacobian_inverse(in_order(twist, order, 1), order), eye, 1e-12)
    close(right @ se3.right_jacobian_inverse(in_order(twist, order, 1), order), eye, 1e-12)


def test_jacobians_of_exp_to_round_off():
    """By 60 digits of the series Σ ad^k / (k + 1)!, at angles on both sides of where series and closed forms meet."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    with mpmath.workdps(60):
        for xi in twists(rng):
            ad = mpmath.matrix(se3.cross_matrix(xi).tolist())
            term, total = mpmath.eye(6), mpmath.eye(6)
            for k in range(1, 80):
                term = term * ad / (k + 1)
                total += term
            exact = np.array(total.tolist(), dtype=float)
            inverse = np.array((total**-1).tolist(), dtype=float)
            close(se3.left_jacobian(xi), exact, 1e-14)
            close(se3.left_jacobian_inverse(xi), inverse, 2e-14)
            close(rotations.left_jacobian(xi[3:]), exact[3:, 3:], 1e-15)
            close(rotations.right_jacobian(xi[3:]), exact[3:, 3:].T, 1e-15)
            close(rotations.left_jacobian_inverse(xi[3:]), inverse[3:, 3:], 2e-15)
            close(rotations.right_jacobian_inverse(xi[3:]), inverse[3:, 3:].T, 2e-15)


def test_exp_and_log_of_rotations(rng):
    w = twists(rng)[:, 3:]
    R = rotations.exp(w)
    for vector, matrix in zip(w, R, strict=True):
        close(matrix, expm(kt.skew(vector)), 1e-14)
        close(rotations.right_jacobian(vector), pin.Jexp3(vector), 1e-8)
        close(rotations.right_jacobian_inverse(vector), pin.Jlog3(matrix), 1e-6)
    close(rotations.exp(rotations.log(R)), R, 1e-14)
    close(rotations.log(R)[:-1], w[:-1], 1e-7)
    close(rotations.log(R), rotations.rotation_vector_from_matrix(R), 0.0)


def test_whole_turns_have_no_inverse_jacobian():
    turn = np.array([0.0, 0.0, 2 * np.pi])
    for inverse in (rotations.left_jacobian_inverse, rotations.right_jacobian_inverse):
        with pytest.raises(kt.ArgumentError, match="rotation_vector is a whole turn"):
            inverse(turn)
    for inverse in (se3.left_jacobian_inverse, se3.right_jacobian_inverse):
        with pytest.raises(kt.ArgumentError, match="twist turns by a whole turn"):
            inverse([1.0, 2.0, 3.0, *turn])


@pytest.mark.parametrize("order", ORDERS)
def test_matrices_of_transforms_and_cross_products(rng, order):
    T, V, U, F = se3.exp(rng.normal(size=6)), *rng.normal(size=(3, 6))
    M = pin.SE3(T)
    close(in_order(se3.adjoint(T, order), order, 0, 1), M.toActionMatrix(), 1e-14)
    close(in_order(se3.coadjoint(T, order), order, 0, 1), M.toDualActionMatrix(), 1e-14)
    motion, their = in_order(V, order, 0), pin.Motion(V)
    crossed = in_order(se3.cross_matrix(motion, order), order, 0, 1)
    close(crossed, np.array([their.cross(pin.Motion(e)).vector for e in np.eye(6)]).T, 0.0)
    crossed = in_order(se3.cross_force_matrix(motion, order), order, 0, 1)
    close(crossed, np.array([their.cross(pin.Force(e)).vector for e in np.eye(6)]).T, 0.0)
    X, twist = kt.Transform.from_pose(T), kt.Motion.from_vector(V)
    close(X.motion_matrix(order) @ in_order(U, order, 0), (X * kt.Motion.from_vector(U)).vector(order), 1e-14)
    close(X.force_matrix(order) @ in_order(F, order, 0), (X * kt.Force.from_vector(F)).vector(order), 1e-14)
    close(X.force_matrix(order), np.linalg.inv(X.motion_matrix(order)).T, 1e-13)
    close(se3.adjoint(T, order), X.inverse().motion_matrix(order), 1e-14)
    close(twist.cross_matrix(order) @ in_order(U, order, 0), twist.cross(kt.Motion.from_vector(U)).vector(order), 1e-14)
    force = kt.Force.from_vector(F)
    close(twist.cross_force_matrix(order) @ in_order(F, order, 0), twist.cross(force).vector(order), 1e-14)
    close(twist.cross_force_matrix(order), -twist.cross_matrix(order).T, 0.0)


def test_the_matrix_of_the_lecture():
    """Eq (11): angular first, [[R, 0], [-R [p]×, R]] for motions and [[R, -R [p]×], [0, R]] for forces."""
    R, p = rotations.matrix_from_euler([0.3, 0.2, 0.1], "ZYX"), np.array([1.0, 2.0, 3.0])
    X, zero = kt.Transform(R, p), np.zeros((3, 3))
    close(X.motion_matrix("angular-first"), np.block([[R, zero], [-R @ kt.skew(p), R]]), 0.0)
    close(X.force_matrix("angular-first"), np.block([[R, -R @ kt.skew(p)], [zero, R]]), 0.0)


@pytest.mark.parametrize("order", ORDERS)
def test_matrices_of_inertias_in_batches(rng, order):
    inertias = [random_inertia(rng) for _ in range(6)]
    phi = np.array([inertia.parameters() for inertia in inertias]).reshape(3, 2, 10)
    close(se3.inertia_matrix(phi, order)[2, 1], inertias[5].matrix(order), 1e-14)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("position", ["cartesian", "cylindrical", "spherical"])
@pytest.mark.parametrize("rotation", ["quaternion", "ZYX", "zyz", "rotation-vector", "angle-axis", "matrix"])
@pytest.mark.sampled(15)
def test_rates_of_pose_parameters(position, rotation, order):
    """J_0 = E_e J_A and J_A = E_e⁻¹ J_0."""
    robot = kt.load("arm6", spatial_order=order).eager
    tool = robot.frame("tool0")
    q = robot.random(1, 3)
    chi = tool.pose_parameters(q, position, rotation)
    E, J_A = se3.E_e(chi, position, rotation, order), tool.analytic_jacobian(q, position, rotation)
    assert E.shape == (3, 6, chi.shape[-1])
    close(E @ J_A, tool.jacobian(q), 1e-11)
    close(se3.E_e_inverse(chi, position, rotation, order) @ tool.jacobian(q), J_A, 1e-11)


def test_no_rates_in_gimbal_lock():
    with pytest.raises(kt.ArgumentError, match="ZYX parameters have no rates here"):
        se3.E_e_inverse([0.1, 0.2, 0.3, 0.4, np.pi / 2, 0.5], rotation="ZYX")
    with pytest.raises(kt.ArgumentError, match="parameters has norm"):
        se3.E_e([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.9])


def test_what_is_no_pose_is_refused():
    for function in (se3.log, se3.adjoint, se3.coadjoint, se3.inverse):
        with pytest.raises(kt.ArgumentError, match="pose has columns that are not orthonormal"):
            function(2.0 * np.eye(4))
        with pytest.raises(kt.ArgumentError, match="pose does not end in a row 0, 0, 0, 1"):
            function(np.eye(4) + np.eye(4)[[3, 3, 3, 0]].T * 0.1)
    with pytest.raises(kt.UnknownNameError, match="order 'linear' does not exist"):
        se3.exp(np.zeros(6), "linear")


def test_quaternion_rates_by_H():
    xyzw = rotations.random(0, 7)
    H = rotations.H(xyzw)
    close(2 * H, rotations.E_R(xyzw, "quaternion"), 0.0)
    close(0.5 * np.swapaxes(H, 1, 2), rotations.E_R_inverse(xyzw, "quaternion"), 0.0)
    x, y, z, w = xyzw[3]
    lecture = [[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]  # of the scalar first
    close(H[3], np.array(lecture)[:, [1, 2, 3, 0]], 0.0)


def test_rate_of_a_vector_in_turning_axes():
    rng = np.random.default_rng(2)
    w, x, rate = rng.normal(size=(3, 4, 3))
    h = 1e-6

    def at(t):
        """The vector in world axes, while its coordinates change and its axes turn."""
        return (rotations.exp(w * t) @ (x + rate * t)[..., None])[..., 0]

    close(rotations.vector_rate(x, rate, w), (at(h) - at(-h)) / (2 * h), 1e-8)


def test_unskew_undoes_skew():
    a = np.random.default_rng(0).normal(size=(4, 5, 3))
    assert kt.skew(a).shape == (4, 5, 3, 3)
    close(kt.skew(a) @ a[..., None], np.zeros((4, 5, 3, 1)), 1e-15)
    close(kt.skew(a)[2, 3], kt.skew(a[2, 3]), 0.0)
    close(kt.unskew(kt.skew(a)), a, 0.0)
    close(kt.unskew(kt.skew(a[0, 0])), a[0, 0], 0.0)
    close(kt.unskew(kt.skew(a) + np.eye(3)), a, 1e-15)

    @kt.compile(shapes={"a": (3,)})
    def there_and_back(a):
        return kt.unskew(kt.skew(a))

    close(there_and_back(a[0]), a[0], 0.0)


def test_inside_compiled_functions():
    @kt.compile(shapes={"xi": (6,)})
    def round_trip(xi):
        return se3.log(se3.exp(xi)), se3.left_jacobian(xi) @ se3.left_jacobian_inverse(xi)

    xi = np.array([1.0, -2.0, 0.5, 0.2, 0.1, -0.4])
    back, eye = round_trip(xi)
    close(back, xi, 1e-14)
    close(eye, np.eye(6), 1e-14)


@pytest.mark.parametrize("distance", [1e-1, 1e-4, 1e-8, 1e-9, 1e-12])
@pytest.mark.parametrize("of", ["half a turn", "no turn"])
def test_exp_and_log_have_all_their_digits_next_to_half_a_turn_and_to_none(of, distance):
    """Beside 40 digits of the matrix exponential, also where an axis is nearly one of the coordinates."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(7)
    axes = rng.normal(size=(12, 3)) * np.array([[1, 1, 1], [1, 1e-5, 1e-9], [1e-7, 1, 1e-3]])[np.arange(12) % 3]
    w = axes / np.linalg.norm(axes, axis=1)[:, None] * (np.pi - distance if of == "half a turn" else distance)
    with mpmath.workdps(40):
        exact = [np.array(mpmath.expm(mpmath.matrix(kt.skew(each).tolist())).tolist(), dtype=float) for each in w]
    close(rotations.exp(w), exact, 1e-15)
    scale = np.linalg.norm(w, axis=1)[:, None]
    np.testing.assert_array_less(np.abs(rotations.log(np.array(exact)) - w) / scale, 4e-16)
    twist = np.concatenate([rng.normal(size=(12, 3)), w], axis=1)
    close(se3.log(se3.exp(twist)), twist, 2e-15)

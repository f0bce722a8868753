"""Rotations, quaternions, exp and log, also near zero and near half a turn.

Covers: spatial/exponential.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.spatial.exponential import exp_quaternion, exp_translation, log_quaternion, log_translation
from kinetree.spatial.rotation import (
    is_rotation_matrix,
    matrix_about_axis,
    matrix_from_quaternion,
    matrix_from_rpy,
    normalized,
    quaternion_from_matrix,
    quaternion_inverse,
    quaternion_product,
    quaternion_rotate,
    random_quaternion,
    relative_quaternion,
)
from peers import close

SIZES = [0.0, 1e-300, 1e-160, 1e-12, 1e-6, 1e-3, 0.1, 0.49, 0.51, 0.99, 1.01, 2.0, 3.0, np.pi - 1e-9]
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(seeds)
def test_quaternions_and_matrices_agree(rng):
    p, q, r = random_quaternion(rng), random_quaternion(rng), rng.normal(size=3)
    P, Q = matrix_from_quaternion(p), matrix_from_quaternion(q)
    close(Q, pin.Quaternion(q).toRotationMatrix(), 1e-14)
    close(matrix_from_quaternion(quaternion_product(p, q)), P @ Q, 1e-13)
    close(quaternion_rotate(q, r), Q @ r, 1e-13)
    close(matrix_from_quaternion(quaternion_inverse(q)), Q.T, 1e-14)
    close(relative_quaternion(p, q), quaternion_product(quaternion_inverse(p), q), 1e-14)
    assert not relative_quaternion(q, q)[:3].any()
    back = quaternion_from_matrix(Q)
    assert back[3] >= 0
    close(back * np.sign(back @ q), q, 1e-13)
    assert is_rotation_matrix(Q)
    assert not is_rotation_matrix(-Q)
    assert not is_rotation_matrix(1.01 * Q)


@pytest.mark.parametrize("axis", [*np.eye(3), -np.eye(3)[0], np.array([1.0, 1.0, 1.0]) / np.sqrt(3)])
def test_quaternion_of_a_half_turn(axis):
    q = quaternion_from_matrix(2 * np.outer(axis, axis) - np.eye(3))
    close(np.abs(q), [*np.abs(axis), 0.0], 1e-15)


@given(seeds)
def test_rotation_about_an_axis(rng):
    axis, angle = normalized(rng.normal(size=3)), rng.uniform(-7, 7)
    close(matrix_about_axis(axis, angle), pin.AngleAxis(angle, axis).toRotationMatrix(), 1e-14)


@given(seeds)
def test_rpy_is_fixed_axes_xyz(rng):
    rpy = rng.uniform(-4, 4, size=3)
    close(matrix_from_rpy(rpy), pin.rpy.rpyToMatrix(*rpy), 1e-14)


def test_right_angles_in_a_file_are_exact():
    for text in ("1.5707963267948966", "1.570796326794897", "-4.71238898038469"):
        R = matrix_from_rpy([float(text), 0.0, 0.0])
        assert np.array_equal(R, [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert matrix_from_rpy([1.570796, 0.0, 0.0])[1, 1] == pytest.approx(3.267948966e-7, rel=1e-6)
    assert np.array_equal(matrix_from_rpy([3.141592653589793, 0, 0]), np.diag([1.0, -1.0, -1.0]))
    assert matrix_from_rpy([1.57079632679, 0.0, 0.0])[1, 1] == pytest.approx(4.8966e-12, rel=1e-4)


@pytest.mark.parametrize("size", SIZES)
def test_exp_and_log(size):
    rng = np.random.default_rng(1)
    for _ in range(20):
        w, v = normalized(rng.normal(size=3)) * size, rng.normal(size=3)
        q, p = exp_quaternion(w), exp_translation(v, w)
        theirs = pin.exp6(np.concatenate([v, w]))
        close(q @ q, 1.0, 1e-15)
        close(matrix_from_quaternion(q), theirs.rotation, 1e-14)
        close(p, theirs.translation, 1e-13)
        np.testing.assert_allclose(log_quaternion(q), w, rtol=1e-13, atol=1e-290)
        np.testing.assert_allclose(log_quaternion(-q), w, rtol=1e-13, atol=1e-290)
        close(log_translation(p, w), v, 1e-13)


@given(seeds)
def test_exp_takes_more_than_a_turn(rng):
    axis, angle = normalized(rng.normal(size=3)), rng.uniform(3, 20)
    close(matrix_from_quaternion(exp_quaternion(axis * angle)), matrix_about_axis(axis, angle), 1e-13)

"""Spatial values read lists as vectors, and refuse what they cannot be made of.

Covers: spatial/operands.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial.rotation import matrix_from_quaternion, random_quaternion

HALVES = {kt.Motion: ("linear", "angular"), kt.Force: ("force", "moment")}


@pytest.mark.parametrize("kind", [kt.Motion, kt.Force])
@pytest.mark.parametrize("given", [list, tuple, np.array, lambda six: np.array(six, dtype=np.float32)])
def test_six_numbers_are_a_vector_however_they_are_given(kind, given):
    doubled = kind.from_vector(given([1, 2, 3, 4, 5, 6])) * 2
    np.testing.assert_array_equal(doubled.vector(), [2, 4, 6, 8, 10, 12])
    assert doubled.vector().dtype == float
    np.testing.assert_array_equal((2 * kind([1, 2, 3], (4, 5, 6))).vector("angular-first"), [8, 10, 12, 2, 4, 6])
    both = kind([1, 2, 3], [4, 5, 6]) + kind([1, 1, 1], [1, 1, 1])
    np.testing.assert_array_equal(both.vector(), [2, 3, 4, 5, 6, 7])


@pytest.mark.parametrize("kind", [kt.Motion, kt.Force])
def test_other_than_three_and_three_numbers_are_refused(kind):
    first, second = HALVES[kind]
    for wrong in ([1, 2], np.zeros((3, 2)), np.zeros((3, 1)), 1.0):
        with pytest.raises(kt.ArgumentError, match=rf"{first} has shape .*; expected \(…, 3\)"):
            kind(wrong, [4, 5, 6])
        with pytest.raises(kt.ArgumentError, match=rf"{second} has shape .*; expected \(…, 3\)"):
            kind([1, 2, 3], wrong)
    with pytest.raises(kt.ArgumentError, match=rf"{first} has shape .* and {second} .*; expected leading axes that"):
        kind(np.zeros((2, 3)), np.zeros((4, 3)))
    for wrong in ("abc", None, [1, 2, "3"], np.array([1j, 2, "x"], dtype=object)[:0]):
        with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=f"{first} "):
            kind(wrong, [4, 5, 6])
    for wrong in ([1, 2, 3], np.zeros((6, 4)), np.zeros(7)):
        with pytest.raises(kt.ArgumentError, match=r"six has shape .*; expected \(…, 6\)"):
            kind.from_vector(wrong)


def test_inertias_read_lists_and_refuse_other_shapes():
    inertia = kt.Inertia(2, [0, 0, 1], [[3, 0, 0], [0, 3, 0], [0, 0, 1]])
    np.testing.assert_array_equal((inertia * kt.Motion([1, 0, 0], [0, 1, 0])).vector(), [3, 0, 0, 0, 4, 0])
    assert (inertia + inertia).mass == 4.0
    with pytest.raises(kt.ArgumentTypeError, match="mass is 'heavy'; expected a number"):
        kt.Inertia("heavy", [0, 0, 0], np.eye(3))
    with pytest.raises(kt.ArgumentError, match=r"I has shape \(3,\); expected \(3, 3\)"):
        kt.Inertia(1.0, [0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize(
    "R", [2 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.zeros((3, 3)), np.full((3, 3), np.nan), np.eye(3).tolist()[:2]]
)
def test_a_transform_turns_by_a_rotation_matrix_and_by_nothing_else(R):
    with pytest.raises(kt.ArgumentError, match=r"R (is|has shape) .*; expected"):
        kt.Transform(R, np.zeros(3))
    given = kt.Transform([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1, 2, 3])
    assert given.R.dtype == given.p.dtype == float


def test_products_of_the_wrong_kinds_are_type_errors_that_name_them():
    V, F, inertia = kt.Motion.zero(), kt.Force.zero(), kt.Inertia.zero()
    X = kt.Transform.identity()
    products = [
        (lambda: inertia * 2.0, "Inertia"),
        (lambda: inertia * F, "Inertia"),
        (lambda: V + F, "Motion"),
        (lambda: F - V, "Force"),
        (lambda: V * [1, 2, 3], "Motion"),
        (lambda: F * np.ones(3), "Force"),
        (lambda: V * V, "Motion"),
        (lambda: X * 2.0, "Transform"),
        (lambda: X * np.zeros(6), "Transform"),
        (lambda: V.dot(V), "Motion"),
        (lambda: V.cross(2.0), "Motion"),
    ]
    for product, name in products:
        with pytest.raises(TypeError, match=name):
            product()


def test_turned_and_moved_values_read_lists_too():
    V = kt.Motion([1, 2, 3], [0, 0, 1])
    np.testing.assert_array_equal(V.moved([1, 0, 0]).linear, [1, 3, 3])
    np.testing.assert_array_equal(V.rotated([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).linear, [-2, 1, 3])
    with pytest.raises(kt.ArgumentError, match="R has shape"):
        V.rotated(np.eye(2))
    with pytest.raises(kt.ArgumentError, match="r has shape"):
        kt.Force.zero().moved([1, 2])


def test_batches_of_motions_forces_and_transforms_are_each_of_them_alone():
    """Every product of a batch, and of one with a batch, is that of a loop over its members."""
    rng = np.random.default_rng(1)
    six, other, wrench = rng.normal(size=(3, 4, 2, 6))
    poses = kt.se3.exp(rng.normal(size=(4, 2, 6)))
    inertia = kt.Inertia.from_com(2.0, (0.1, -0.2, 0.3), np.diag([0.3, 0.2, 0.4]))

    def results(six, other, wrench, T):
        V, W = kt.Motion.from_vector(six), kt.Motion(other[..., :3], other[..., 3:])
        F, X = kt.Force.from_vector(wrench, "angular-first"), kt.Transform.from_pose(T)
        values = [V + W, V - W, -V, 2.0 * V, V.cross(W), V.cross(F), X * V, X * F, X.transpose() * F, inertia * V]
        values += [V.moved(X.p), F.moved(X.p), V.rotated(X.R), W.classical(V), inertia.net_force(V, W), X.inverse() * V]
        matrices = [X.motion_matrix(), X.force_matrix("angular-first"), V.cross_matrix(), V.cross_force_matrix()]
        return [x.vector() for x in values] + [V.dot(F), X.pose(), X.inverse().pose(), (X * X).pose(), *matrices]

    batched = results(six, other, wrench, poses)
    for i, j in np.ndindex(4, 2):
        for many, one in zip(batched, results(six[i, j], other[i, j], wrench[i, j], poses[i, j]), strict=True):
            np.testing.assert_allclose(many[i, j], one, rtol=1e-14, atol=1e-14)
    one = kt.Transform.from_pose(poses[0, 0])  # of one with many
    np.testing.assert_allclose((one * kt.Motion.from_vector(six)).vector(), six @ one.motion_matrix().T, atol=1e-14)
    many = kt.Transform.from_pose(poses) * kt.Motion.from_vector(six[0, 0])
    np.testing.assert_allclose(many.vector()[3, 1], kt.Transform.from_pose(poses[3, 1]).motion_matrix() @ six[0, 0])


def test_what_holds_one_body_refuses_batches():
    rng = np.random.default_rng(2)
    X, inertia = kt.Transform.from_pose(kt.se3.exp(rng.normal(size=(5, 6)))), kt.solids.sphere(0.1, mass=1.0)
    for product in (lambda: X * inertia, lambda: X.transpose() * inertia):
        with pytest.raises(kt.ArgumentError, match=r"an inertia is moved by transforms of shape \(5,\); expected one"):
            product()
    with pytest.raises(kt.ArgumentError, match=r"motions of shape \(5,\); expected one"):
        inertia.rate(kt.Motion.from_vector(np.zeros((5, 6))))
    wrong = np.tile(np.eye(3), (4, 1, 1))
    wrong[2] *= 1.1
    with pytest.raises(kt.ArgumentError, match=r"R is .*; expected a 3×3 rotation matrix"):
        kt.Transform(wrong, np.zeros(3))


def test_batches_that_do_not_fit_together_are_refused_in_a_sentence():
    three, four = np.ones((3, 6)), np.ones((4, 6))
    V, W, F = kt.Motion.from_vector(three), kt.Motion.from_vector(four), kt.Force.from_vector(four)
    X = kt.Transform.from_pose(np.tile(np.eye(4), (4, 1, 1)))
    products = (lambda: V + W, lambda: V - W, lambda: V.cross(W), lambda: V.cross(F), lambda: V.dot(F), lambda: X * V)
    for product in (
        *products,
        lambda: F + kt.Force.from_vector(three),
        lambda: X.transpose() * kt.Force.zero().moved(three[:, :3]),
    ):
        with pytest.raises(
            kt.ArgumentError, match=r"\(3,.* \(4, 3.*expected leading axes|\(4,.* \(3, 3.*expected leading axes"
        ):
            product()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: kt.cross([1, 0], [0, 1, 0]), r"cross of shape \(2,\) and \(3,\); expected \(…, 3\)"),
        (lambda: kt.cross(np.ones((3, 2)), np.ones((3, 2))), r"cross of shape \(3, 2\) and \(3, 2\)"),
        (lambda: kt.cross(1.0, [0, 1, 0]), r"cross of shape \(\) and"),
        (lambda: kt.skew([1, 2]), r"skew of shape \(2,\); expected \(…, 3\)"),
        (lambda: kt.skew(np.ones((3, 4))), r"skew of shape \(3, 4\)"),
        (lambda: kt.unskew([1, 2, 3]), r"unskew of an array of shape \(3,\); expected \(…, 3, 3\)"),
    ],
)
def test_vectors_of_other_than_three_numbers_are_refused(call, sentence):
    with pytest.raises(kt.ArgumentError, match=sentence):
        call()


def test_cross_products_of_batches_run_along_the_last_axis():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 3, 3))  # three vectors of three: either axis would fit
    np.testing.assert_allclose(kt.cross(a, b), np.cross(a, b), atol=1e-15)
    np.testing.assert_allclose(kt.cross(a[0], b), np.cross(a[0], b), atol=1e-15)


def test_compiled_functions_make_spatial_values_of_lists_of_traced_numbers():
    @kt.compile(shapes={"x": (6,), "R": (3, 3)})
    def power(x, R):
        V = kt.Motion([x[0], x[1], 0.0], [0.0, 0.0, x[2]])
        F = kt.Force.from_vector([x[3], 0.0, 0.0, 0.0, 1.0, x[4]])
        X = kt.Transform(R, [0.0, x[5], 0.0])
        return (X * V).dot(X * F)

    rng = np.random.default_rng(0)
    x, R = rng.normal(size=6), matrix_from_quaternion(random_quaternion(rng))
    assert np.isclose(power(x, R), x[0] * x[3] + x[2] * x[4])

"""Inertias against clouds of point masses, summed here from their definitions, and against Pinocchio.

Covers: model/plausibility.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.plausibility import inertia_doubts, inertia_error
from kinetree.model.random import random_inertia
from kinetree.spatial.rotation import matrix_from_quaternion, random_quaternion
from peers import close

seeds = st.integers(0, 2**32 - 1)


def cloud(rng, count=6):
    return rng.uniform(0.1, 2.0, size=count), rng.normal(size=(count, 3))


def of_points(masses, points):
    """∫ over the points, from the definitions: I = Σ m (r·r 1 - r rᵀ)."""
    I = np.einsum("k,kij->ij", masses, [(r @ r) * np.eye(3) - np.outer(r, r) for r in points])  # noqa: E741
    return kt.Inertia(masses.sum(), masses @ points, I)


def random_rotation(rng):
    return matrix_from_quaternion(random_quaternion(rng))


def same(one, two, tolerance=1e-12):
    close(one.parameters(), two.parameters(), tolerance)
    close(one.I, two.I, tolerance)


# -- moving ----------------------------------------------------------------------------------------------------


@given(seeds)
def test_moving_the_points_moves_the_inertia(seed):
    rng = np.random.default_rng(seed)
    masses, points = cloud(rng)
    inertia, R, r = of_points(masses, points), random_rotation(rng), rng.normal(size=3)
    same(inertia.rotated(R), of_points(masses, points @ R.T))
    same(inertia.shifted(r), of_points(masses, points + r))
    same(inertia.about(r), of_points(masses, points - r))
    same(inertia.rotated(R).shifted(r), of_points(masses, points @ R.T + r))
    T_AB = np.block([[R, r[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    same(inertia.rotated(R).shifted(r), kt.Transform.from_pose(T_AB).transpose() * inertia)


@given(seeds)
def test_moving_back(seed):
    rng = np.random.default_rng(seed)
    inertia, R, r = random_inertia(rng), random_rotation(rng), rng.normal(size=3)
    same(inertia.shifted(r).shifted(-r), inertia)
    same(inertia.about(r).about(-r), inertia)
    same(inertia.rotated(R).rotated(R.T), inertia)
    close(inertia.shifted(r).about_com, inertia.about_com, 1e-12)


def test_parallel_axis_theorem():
    """I_A = I_C + m (p·p 1 - p pᵀ)."""
    at_com, p = np.diag([0.3, 0.4, 0.5]), np.array([1.0, -2.0, 0.5])
    moved = kt.Inertia.from_com(2.0, (0, 0, 0), at_com).shifted(p)
    close(moved.I, at_com + 2.0 * (p @ p * np.eye(3) - np.outer(p, p)), 1e-15)
    close(moved.com, p, 0.0)
    same(moved, kt.Inertia.from_com(2.0, p, at_com))
    close(moved.about(moved.com).I, at_com, 1e-14)
    close(moved.about(moved.com).h, np.zeros(3), 0.0)


def test_sum_and_difference():
    rng = np.random.default_rng(1)
    masses, points = cloud(rng, 9)
    whole, part, rest = (of_points(masses[k], points[k]) for k in (slice(0, 9), slice(0, 4), slice(4, 9)))
    same(part + rest, whole)
    same(whole - part, rest)
    same(sum([part, rest], kt.Inertia.zero()), whole)
    assert (whole - part).is_consistent()
    assert not (part - whole).is_consistent()
    for wrong in (lambda: whole + 1.0, lambda: whole - np.eye(3), lambda: 1.0 + whole):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong()


# -- principal axes --------------------------------------------------------------------------------------------


@given(seeds)
def test_principal_axes(seed):
    rng = np.random.default_rng(seed)
    inertia, R, r = random_inertia(rng), random_rotation(rng), rng.normal(size=3)
    axes, moments = inertia.principal_axes, inertia.principal_moments
    close(axes @ axes.T, np.eye(3), 1e-14)
    close(np.linalg.det(axes), 1.0, 1e-14)
    close(axes @ np.diag(moments) @ axes.T, inertia.about_com, 1e-13)
    assert (np.diff(moments) >= 0).all()
    close(inertia.rotated(R).shifted(r).principal_moments, moments, 1e-13)
    aligned = inertia.about(inertia.com).rotated(axes.T)
    close(aligned.I, np.diag(moments), 1e-13)


def test_equal_moments_have_axes_too():
    close(kt.Inertia.zero().principal_moments, np.zeros(3), 0.0)
    axes = kt.Inertia(1.0, np.zeros(3), np.eye(3)).principal_axes
    close(axes @ axes.T, np.eye(3), 1e-15)


def test_no_numbers_have_no_axes():
    inertia = kt.Inertia(1.0, np.zeros(3), np.full((3, 3), np.nan))
    assert np.isnan(inertia.principal_moments).all()
    assert np.isnan(inertia.principal_axes).all()


# -- parameters and pseudo-inertia -----------------------------------------------------------------------------


@given(seeds)
def test_parameters(seed):
    inertia = random_inertia(np.random.default_rng(seed))
    phi = inertia.parameters()
    theirs = pin.Inertia(inertia.mass, inertia.com, inertia.about_com)
    close(phi, theirs.toDynamicParameters(), 1e-12)
    same(kt.Inertia.from_parameters(phi), inertia, 0.0)
    same(kt.Inertia.from_parameters(list(phi)), inertia, 0.0)


def test_order_of_the_parameters():
    inertia = kt.Inertia.from_parameters(range(10))
    assert inertia.mass == 0
    close(inertia.h, [1, 2, 3], 0.0)
    close(inertia.I, [[4, 5, 7], [5, 6, 8], [7, 8, 9]], 0.0)


@given(seeds)
def test_parameters_of_bodies_add(seed):
    rng = np.random.default_rng(seed)
    one, two = random_inertia(rng), random_inertia(rng)
    close((one + two).parameters(), one.parameters() + two.parameters(), 1e-14)


@given(seeds)
def test_pseudo_inertia_is_the_second_moment_of_homogeneous_points(seed):
    masses, points = cloud(np.random.default_rng(seed))
    homogeneous = np.column_stack([points, np.ones(len(points))])
    J = homogeneous.T @ np.diag(masses) @ homogeneous
    inertia = of_points(masses, points)
    close(inertia.pseudo_inertia(), J, 1e-13)
    close(inertia.second_moments, J[:3, :3], 1e-13)
    same(kt.Inertia.from_pseudo_inertia(J), inertia)
    same(kt.Inertia.from_pseudo_inertia(inertia.pseudo_inertia()), inertia, 1e-14)


def test_pseudo_inertia_moves_by_congruence():
    rng = np.random.default_rng(3)
    inertia, R, r = random_inertia(rng), random_rotation(rng), rng.normal(size=3)
    T = np.block([[R, r[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    close(inertia.rotated(R).shifted(r).pseudo_inertia(), T @ inertia.pseudo_inertia() @ T.T, 1e-13)


# -- consistency -----------------------------------------------------------------------------------------------


def moments(a, b, c, mass=1.0, com=(0.1, 0.2, -0.3)):
    return kt.Inertia.from_com(mass, com, np.diag([a, b, c]))


def test_what_a_body_can_have():
    assert moments(1, 1, 1).is_consistent()
    assert moments(1, 1, 2).is_consistent()  # a plate
    assert moments(0, 1, 1).is_consistent()  # a rod
    assert not moments(1, 1, 2.1).is_consistent()
    assert not moments(-0.1, 1, 1).is_consistent()
    assert not moments(1, 1, 1, mass=-1.0).is_consistent()
    assert not kt.Inertia(1.0, np.zeros(3), np.triu(np.ones((3, 3))) + 3 * np.eye(3)).is_consistent()
    assert not kt.Inertia(1.0, np.array([0, np.nan, 0]), np.eye(3)).is_consistent()
    assert not kt.Inertia(np.inf, np.zeros(3), np.eye(3)).is_consistent()
    assert not kt.Inertia(1.0, np.array([0.0, 0.0, 2.0]), np.eye(3)).is_consistent()  # too little, so far away


def test_nothing_weighs_nothing():
    assert kt.Inertia.zero().is_consistent()
    assert not kt.Inertia(0.0, np.zeros(3), np.eye(3)).is_consistent()
    assert not kt.Inertia(0.0, np.ones(3), np.zeros((3, 3))).is_consistent()
    assert inertia_doubts(kt.Inertia(0.0, np.ones(3), np.zeros((3, 3)))) == ["it has a first moment but no mass"]


def test_tolerance_of_consistency():
    """Six printed digits do; rounding at a distance is none of the body's faults."""
    assert moments(0.333333, 0.333333, 0.666667, com=(0, 0, 0)).is_consistent(tolerance=1e-5)
    assert not moments(0.333333, 0.333333, 0.666667, com=(0, 0, 0)).is_consistent(tolerance=1e-8)
    rng = np.random.default_rng(5)
    for com in rng.normal(size=(100, 3)) * 10:
        point = moments(0, 0, 0, mass=0.3, com=com)
        assert point.is_consistent()
        assert not inertia_doubts(point)


@given(seeds, st.floats(-1.0, 1.0))
def test_consistent_is_a_pseudo_inertia_without_negative_eigenvalue(seed, push):
    """Also of inertias that are off by a random symmetric matrix; too close to call is left out."""
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(4, 4))
    J = random_inertia(rng).pseudo_inertia() + push * (E + E.T) / 10
    lowest = np.linalg.eigvalsh(J)[0]
    assume(abs(lowest) > 1e-5)
    inertia = kt.Inertia.from_pseudo_inertia(J)
    assert inertia.is_consistent() == (lowest > 0)
    assert inertia.is_consistent() == (inertia_error(inertia) is None and not inertia_doubts(inertia))


# -- symbols and wrong arguments -------------------------------------------------------------------------------


def test_in_a_compiled_law():
    """A payload whose mass and place are only known when the law is called."""
    rng = np.random.default_rng(2)
    inertia, R, r = random_inertia(rng), random_rotation(rng), rng.normal(size=3)

    @kt.compile(shapes={"phi": (10,), "R": (3, 3), "r": (3,)})
    def law(phi, R, r):
        moved = kt.Inertia.from_parameters(phi).rotated(R).shifted(r)
        again = kt.Inertia.from_pseudo_inertia((moved + moved - moved).pseudo_inertia())
        return again.about(r).parameters()

    close(law(inertia.parameters(), R, r), inertia.rotated(R).parameters(), 1e-13)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda inertia: inertia.shifted((1, 2)), r"r has shape \(2,\); expected \(3,\)"),
        (lambda inertia: inertia.about("here"), r"point is 'here'; expected an array of shape \(3,\)"),
        (lambda inertia: inertia.rotated(np.eye(4)), r"R has shape \(4, 4\); expected \(3, 3\)"),
        (lambda inertia: inertia.rotated(2 * np.eye(3)), r"R is array\(.*; expected a 3×3 rotation matrix"),
        (lambda inertia: inertia.rotated(-np.eye(3)), r"R is array\(.*; expected a 3×3 rotation matrix"),
        (lambda inertia: inertia.from_parameters(np.ones(9)), r"phi has shape \(9,\); expected \(10,\)"),
        (lambda inertia: inertia.from_pseudo_inertia(np.eye(3)), r"J has shape \(3, 3\); expected \(4, 4\)"),
        (lambda inertia: inertia.from_pseudo_inertia(np.triu(np.ones((4, 4)))), "J is .*; expected a symmetric matrix"),
    ],
)
def test_wrong_arguments(wrong, sentence):
    with pytest.raises(kt.KinetreeError, match=sentence):
        wrong(kt.Inertia(1.0, np.zeros(3), np.eye(3)))


def test_the_rate_of_an_inertia_seen_from_rest():
    """V ×* I - I V×, by its columns."""
    rng = np.random.default_rng(7)
    inertia = random_inertia(rng)
    V = kt.Motion.from_vector(rng.normal(size=6))
    for unit in np.eye(6):
        U = kt.Motion.from_vector(unit)
        expected = V.cross(inertia * U) - inertia * V.cross(U)
        assert np.allclose((inertia.rate(V) * U).vector(), expected.vector(), atol=1e-14)

"""Mass matrices that can be divided by, and those that cannot."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.passes.regularity import diagonal_scale, is_singular_everywhere, pivots_of, require_regular
from kinetree.linalg import ltdl


def slider(mass):
    builder = kt.ModelBuilder("slider")
    builder.link("base")
    builder.link("car", kt.Inertia.from_com(mass, (0, 0, 0), np.eye(3) * mass))
    builder.joint("rail", "prismatic", "base", "car", axis=(1, 0, 0))
    return builder.build()


def test_pivots_are_those_of_the_factors():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    M = root @ root.T + np.eye(6)
    np.testing.assert_allclose(pivots_of(M), ltdl(M)[1], rtol=1e-10)
    assert (pivots_of(M - 3.0 * np.eye(6)) < 0.0).any()  # not positive definite: by the other way


def test_a_joint_that_moves_no_mass_is_named():
    model = slider(0.0)
    assert is_singular_everywhere(model) and not is_singular_everywhere(slider(1.0))
    q = np.zeros(1)
    with pytest.raises(kt.SingularMassMatrixError, match="singular at this q: joint 'rail' can move without moving"):
        require_regular(model, q, pivots_of(mass_matrix(model, q)))
    require_regular(slider(1.0), q, np.ones(1))


def test_small_pivots_are_looked_at_and_pass_where_the_matrix_is_regular():
    """The scale is of a few configurations; what is small beside it may be all there is here."""
    model = slider(2.0)
    assert diagonal_scale(model) == 2.0
    require_regular(model, np.zeros(1), np.array([1e-12]))  # the matrix itself is regular

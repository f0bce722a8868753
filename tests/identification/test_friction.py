"""Columns of friction, rotors and offsets, and their slopes beside finite differences."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.friction import TERMS, as_terms, term_column, term_slopes


@pytest.mark.parametrize("term", TERMS)
def test_slopes_are_those_of_the_columns(term):
    v, a, h = np.linspace(-0.5, 0.5, 41), np.linspace(1.0, -1.0, 41), 1e-6
    by_v, by_a = term_slopes(term, v, 0.05, 0.1)
    up, down = (term_column(term, v + s * h, a, 0.05, 0.1) for s in (1, -1))
    assert np.allclose(by_v, (up - down) / (2 * h), atol=1e-6)
    up, down = (term_column(term, v, a + s * h, 0.05, 0.1) for s in (1, -1))
    assert np.allclose(by_a, (up - down) / (2 * h), atol=1e-6)


def test_a_step_has_the_sign_of_the_speed_and_stribeck_friction_fades():
    v = np.array([-2.0, 0.0, 2.0])
    assert np.allclose(term_column("friction", v, v, 0.01, 0.1), [-1.0, 0.0, 1.0], atol=1e-4)
    assert np.allclose(term_column("stribeck", v, v, 0.01, 0.1), 0.0, atol=1e-9)
    assert term_column("stribeck", np.array(0.1), v, 1e-6, 0.1) == pytest.approx(np.exp(-1.0))


def test_what_can_be_asked_for():
    assert as_terms(True, False, False) == ("damping", "friction")
    assert as_terms(False, True, True) == ("armature", "offset")
    assert as_terms(["stribeck", "viscous"], False, False) == ("damping", "stribeck")
    assert as_terms("coulomb", False, False) == ("friction",)
    with pytest.raises(kt.ArgumentError, match="friction is 'dry'; expected 'viscous' or 'coulomb' or 'stribeck'"):
        as_terms("dry", False, False)
    with pytest.raises(kt.ArgumentTypeError, match="friction is 3; expected True, False, or some of viscous"):
        as_terms(3, False, False)

"""Sums of waves: the same sum is the same object, whatever way it was made, and means what it says."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.equations.derive import Letter, exact
from kinetree.equations.trig_polynomials import Sum

ANGLES = [Letter(f"q{k + 1}", k) for k in range(3)]
MASS = Letter("m", 3)
GROUPS = {ANGLES[0]: (0, 0), ANGLES[1]: (1, 1), ANGLES[2]: (1, 2)}
"""The first turns apart, the other two about parallel axes."""


def wave(kind, *multiples):
    total = Sum.number(Fraction(0))
    for angle, multiple in zip(ANGLES, multiples, strict=True):
        total += Sum.symbol(angle) * Sum.number(Fraction(multiple))
    return total.wave(kind, GROUPS)


def value(total, numbers):
    result = 0.0
    for (powers, waves), coefficient in total.terms.items():
        term = float(coefficient) * math.prod(numbers[letter] ** power for letter, power in powers)
        for each in waves:
            angle = sum(float(k) * (numbers[ANGLES[at]] if at >= 0 else 1.0) for at, k in each.frequency)
            term *= math.sin(angle) if each.kind == "sin" else math.cos(angle)
        result += term
    return result


def of_joint(kind, joint):
    return wave(kind, *(int(k == joint) for k in range(3)))


def test_sum_of_squares_is_one():
    for k in range(3):
        s, c = of_joint("sin", k), of_joint("cos", k)
        assert (s * s + c * c).constant() == 1


def test_angles_of_parallel_axes_add_up():
    s2, c2, s3, c3 = (of_joint(kind, k) for k in (1, 2) for kind in ("sin", "cos"))
    assert c2 * c3 - s2 * s3 == wave("cos", 0, 1, 1)
    assert s2 * c3 + c2 * s3 == wave("sin", 0, 1, 1)
    assert s3 * c2 - c3 * s2 == -wave("sin", 0, 1, -1)


def test_angles_of_other_axes_stay_apart():
    product = of_joint("cos", 0) * of_joint("cos", 1)
    assert len(product.terms) == 1
    assert (Sum.symbol(ANGLES[0]) + Sum.symbol(ANGLES[1])).wave("cos", GROUPS) is None


def test_products_come_back_where_they_are_shorter():
    s, c, s23 = of_joint("sin", 1), of_joint("cos", 1), wave("sin", 0, 1, 1)
    for product in (s * s, c * c, s * s23, c * s23, s * s * of_joint("cos", 0) * of_joint("cos", 0)):
        assert len(product.with_products().terms) == 1
    plain = wave("cos", 0, 0, 1) + wave("cos", 0, 1, 1)  # equal coefficients, but both are plain
    assert plain.with_products() == plain


def test_a_phase_is_an_angle_too():
    shifted = (Sum.symbol(ANGLES[0]) * Sum.number(Fraction(2)) + Sum.number(Fraction("0.3"))).wave("sin", GROUPS)
    numbers = dict.fromkeys(ANGLES, 0.7)
    assert value(shifted * shifted, numbers) == pytest.approx(math.sin(1.7) ** 2, abs=1e-15)


terms = st.tuples(
    st.integers(-3, 3), st.sampled_from(["sin", "cos"]), st.sampled_from(range(3)), st.booleans(), st.booleans()
)


@given(st.lists(terms, min_size=1, max_size=4), st.lists(terms, min_size=1, max_size=4))
def test_arithmetic_is_that_of_numbers(left, right):
    rng = np.random.default_rng(0)
    numbers = dict(zip((*ANGLES, MASS), rng.normal(size=4).tolist(), strict=True))

    def total(parts):
        result, number = Sum.number(Fraction(0)), 0.0
        for factor, kind, joint, heavy, squared in parts:
            one = of_joint(kind, joint) * (Sum.symbol(MASS) if heavy else Sum.number(Fraction(1)))
            x = (math.sin if kind == "sin" else math.cos)(numbers[ANGLES[joint]]) * (numbers[MASS] if heavy else 1.0)
            result += Sum.number(Fraction(factor)) * (one * one if squared else one)
            number += factor * (x * x if squared else x)
        return result, number

    (a, x), (b, y) = total(left), total(right)
    for ours, number in ((a + b, x + y), (a - b, x - y), (a * b, x * y), (-a, -x)):
        assert value(ours, numbers) == pytest.approx(number, abs=1e-11)
        assert value(ours.with_products(), numbers) == pytest.approx(number, abs=1e-11)
    assert a * b == b * a
    assert not (a * b - b * a).terms
    assert (a + b) * (a - b) == a * a - b * b


def test_decimals_are_taken_as_written():
    assert exact(0.1) == Fraction(1, 10)
    assert exact(0.1 + 0.2) == Fraction(3, 10)
    assert exact(1 / 3) == Fraction(repr(1 / 3))

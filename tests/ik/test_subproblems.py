"""Rotations about one axis, and conics on the circle: against roots of polynomials and against themselves.

Covers: ik/closed_form/conic.py, ik/closed_form/lines.py, ik/closed_form/subproblems.py.
"""

import numpy as np
import pytest

from kinetree.ik.closed_form.conic import Affine, squares_on_circle
from kinetree.ik.closed_form.lines import Line, distance, meeting_point, nearest_points
from kinetree.ik.closed_form.subproblems import angle_between, at_angle, on_circle, turned, wrapped


def unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def real_angles(coefficients):
    """θ with Σ aₖ cos kθ + bₖ sin kθ = 0, k = 0, 1, 2, by the polynomial in e^iθ."""
    (a0, _), (a1, b1), (a2, b2) = coefficients
    half = [(a2 - 1j * b2) / 2, (a1 - 1j * b1) / 2]
    roots = np.roots([half[0], half[1], a0, half[1].conjugate(), half[0].conjugate()])
    return np.sort(np.angle(roots[np.abs(np.abs(roots) - 1.0) < 1e-7]))


def test_a_conic_meets_the_circle_where_the_quartic_says():
    rng = np.random.default_rng(0)
    counts = set()
    for _ in range(300):
        f, g, rest = (Affine(*rng.normal(size=3)) for _ in range(3))
        weights = rng.normal(size=2)
        found = np.array(squares_on_circle([(weights[0], f), (weights[1], g)], rest))
        value = weights[0] * f(np.cos(found), np.sin(found)) ** 2 + weights[1] * g(np.cos(found), np.sin(found)) ** 2
        value = value + rest(np.cos(found), np.sin(found))
        real = np.sort(found[np.abs(value) < 1e-9])
        series = [[rest.one, 0.0], [rest.c, rest.s], [0.0, 0.0]]
        for w, part in zip(weights, (f, g), strict=True):
            series[0][0] += w * (part.one**2 + 0.5 * (part.c**2 + part.s**2))
            series[1] = [series[1][0] + 2 * w * part.one * part.c, series[1][1] + 2 * w * part.one * part.s]
            series[2] = [series[2][0] + 0.5 * w * (part.c**2 - part.s**2), series[2][1] + w * part.c * part.s]
        expected = real_angles(series)
        counts.add(len(expected))
        np.testing.assert_allclose(real, expected, atol=1e-6)
    assert counts == {0, 2, 4}


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_conics_that_are_lines(weight):
    """A square alone is a pair of parallel lines; without a square there is one line."""
    f = Affine(0.0, 0.6, 0.8)
    found = np.array(squares_on_circle([(weight, f)], Affine(-0.25, 0.0, 0.0) if weight else f))
    values = np.cos(found - np.arctan2(0.8, 0.6))
    np.testing.assert_allclose(np.sort(np.abs(values)), [0.5] * 4 if weight else [0.0] * 4, atol=1e-7)


def test_subproblems_do_what_they_say():
    rng = np.random.default_rng(1)
    for _ in range(200):
        h, v, other = unit(rng), rng.normal(size=3), unit(rng)
        theta = rng.uniform(-np.pi, np.pi)
        assert wrapped(angle_between(h, v, turned(h, theta, v)) - theta) == pytest.approx(0.0, abs=1e-12)
        a, b = rng.normal(size=2)
        c = a * np.cos(theta) + b * np.sin(theta)
        assert min(abs(wrapped(angle - theta)) for angle in on_circle(a, b, c)) < 1e-7
        goal, v = turned(h, theta, v / np.linalg.norm(v)), v / np.linalg.norm(v)
        for angle in at_angle(other, h, v, goal, other):
            assert turned(h, angle, v) @ other == pytest.approx(goal @ other, abs=1e-12)


@pytest.mark.parametrize("gamma", [1e-3, 1e-6, 1e-9, np.pi - 1e-6])
def test_angles_near_the_poles_keep_their_digits(gamma):
    x, y, z = np.eye(3)
    goal = np.array([np.sin(gamma), 0.0, np.cos(gamma)])
    assert sorted(map(abs, at_angle(z, y, z, goal, z))) == pytest.approx([gamma, gamma], rel=1e-7)
    assert angle_between(z, x, y) == pytest.approx(np.pi / 2)
    assert angle_between(z, z, y, free=0.25) == 0.25


def test_lines():
    rng = np.random.default_rng(2)
    for _ in range(50):
        a, b = (Line(unit(rng), rng.normal(size=3)) for _ in range(2))
        p, q = nearest_points(a, b)
        assert abs((p - q) @ a.h) < 1e-9 and abs((p - q) @ b.h) < 1e-9
        assert distance(a, b) == pytest.approx(
            abs((a.o - b.o) @ np.cross(a.h, b.h)) / np.linalg.norm(np.cross(a.h, b.h))
        )
        point = rng.normal(size=3)
        through = [Line(h, point + h * rng.normal()) for h in (unit(rng), unit(rng), unit(rng))]
        there, gap = meeting_point(*through)
        np.testing.assert_allclose(there, point, atol=1e-9)
        assert gap < 1e-9
    beside = Line(a.h, a.o + np.cross(a.h, unit(rng)))
    assert distance(a, beside) == pytest.approx(a.distance(beside.o))

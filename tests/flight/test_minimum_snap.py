from itertools import pairwise

import numpy as np
import pytest

import kinetree as kt
from kinetree import flight

POINTS = np.array([[0, 0, 1], [2, 1, 2], [3, -1, 1.5], [0, 0, 1.0]])
INSTANTS = np.array([0, 1.5, 2.5, 5.0])
PATH = flight.minimum_snap(POINTS, INSTANTS, [0, 0.5, 1.5, 0])


def test_it_goes_through_the_points_from_rest_to_rest():
    state = PATH(INSTANTS)
    assert np.allclose(state.position, POINTS) and np.allclose(state.yaw, [0, 0.5, 1.5, 0])
    for t in (0.0, 5.0, -3.0, 9.0):
        end = PATH(t)
        assert np.allclose(np.concatenate([end.velocity, end.acceleration, end.jerk]), 0.0, atol=1e-8)


def test_derivatives_go_on_and_are_those_of_each_other():
    t, h = np.linspace(0.05, 4.95, 200), 1e-6
    names = ("position", "velocity", "acceleration", "jerk", "snap")
    for name, rate in pairwise(names):
        slope = (getattr(PATH(t + h), name) - getattr(PATH(t - h), name)) / (2 * h)
        assert np.allclose(slope, getattr(PATH(t), rate), atol=2e-4 * np.abs(slope).max())


def test_nothing_near_it_has_less_snap():
    """∫|snap|² of the path plus ε times a bump that keeps all conditions has no slope at ε = 0, and grows both ways."""
    T, t = 5.0, np.linspace(0.0, 5.0, 200001)
    # a bump that is zero at all waypoints, and flat at both ends
    bump = np.prod([t - k for k in INSTANTS[1:3]], axis=0) * (t * (T - t)) ** 4 / T**8
    fourth = bump
    for _ in range(4):
        fourth = np.gradient(fourth, t, edge_order=2)
    snap = PATH(t).snap[:, 0]
    inside = slice(50, -50)
    mixed = np.trapezoid((snap * fourth)[inside], t[inside])
    alone = np.trapezoid((fourth**2)[inside], t[inside])
    assert abs(mixed) < 1e-3 * np.sqrt(alone * np.trapezoid(snap[inside] ** 2, t[inside]))


def test_one_piece_is_the_known_polynomial():
    """From rest to rest with zero jerk: s⁴ (35 - 84 s + 70 s² - 20 s³)."""
    path = flight.minimum_snap([[0, 0, 0], [2, 0, 0]], [0, 3.0])
    s = np.linspace(0, 1, 20)
    assert np.allclose(path(3.0 * s).position[:, 0], 2 * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3))


def test_compiled_it_is_the_same():
    law = kt.compile(lambda t: tuple(PATH(t)), shapes={"t": ()})
    times = np.linspace(-1.0, 6.0, 57)
    for traced, direct in zip(law(times), PATH(times), strict=True):
        assert np.allclose(traced, direct, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (([[0, 0, 0]], [0.0]), "points has shape"),
        (([[0, 0], [1, 1]], [0.0, 1.0]), "points has shape"),
        (([[0, 0, 0], [1, 1, 1]], [0.0, 0.0]), "instants is"),
        (([[0, 0, 0], [1, 1, 1]], [1.0, 2.0]), "instants is"),
        (([[0, 0, 0], [1, 1, np.nan]], [0.0, 2.0]), "not finite"),
        (([[0, 0, 0], [1, 1, 1]], [0.0, 2.0], [0.0]), "yaw has shape"),
    ],
)
def test_what_is_no_path_is_refused(arguments, words):
    with pytest.raises(kt.KinetreeError, match=words):
        flight.minimum_snap(*arguments)


def test_instants_by_a_speed():
    assert np.allclose(flight.instants_for([[0, 0, 0], [4, 0, 0], [4, 0, 0.1]], 2.0), [0, 2.0, 2.5])

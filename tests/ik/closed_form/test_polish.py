"""Branches that meet: from one place for both, each is sent its own way."""

import numpy as np
import pytest

from kinetree.ik.closed_form.polish import persistent
from kinetree.ik.closed_form.selection import RESIDUAL


def slopes(x):
    """Of f(x) = (x₀², x₁, …, x₅), which has two roots wherever f₀ > 0, and at x₀ = 0 no slope between them."""
    return np.array([np.diag([2.0 * each[0], *np.ones(5)]) for each in x])


def away(x, target):
    return np.linalg.norm(np.column_stack([x[:, 0] ** 2, x[:, 1:]]) - target, axis=1)


def polish(x, target, damping):
    """A step of Levenberg and Marquardt, how far it leaves f off its target, and how far that was before."""
    error = target - np.column_stack([x[:, 0] ** 2, x[:, 1:]])
    J = slopes(x)
    H = np.swapaxes(J, 1, 2) @ J + damping[:, None, None] * np.eye(6)
    moved = x + np.linalg.solve(H, np.swapaxes(J, 1, 2) @ error[..., None])[..., 0]
    return moved, away(moved, target), away(x, target)


@pytest.mark.parametrize("square", [1e-4, 1e-6])
def test_two_branches_go_to_both_roots(square):
    target = np.tile([square, 0.1, 0.2, 0.3, 0.4, 0.5], (2, 1))
    start = target.copy()
    start[:, 0] = 0.0
    x, left = persistent(polish, slopes, start, target, np.array([2, 3]))
    assert (left < RESIDUAL).all()
    np.testing.assert_allclose(np.sort(x[:, 0]), [-np.sqrt(square), np.sqrt(square)], rtol=1e-4)
    np.testing.assert_allclose(x[:, 1:], target[:, 1:], atol=1e-9)


def test_what_newton_reaches_stays_and_what_nothing_reaches_comes_as_near_as_it_can():
    target = np.array([[0.25, 0.1, 0.2, 0.3, 0.4, 0.5], [-0.01, 0.1, 0.2, 0.3, 0.4, 0.5]])
    start = np.array([[-0.51, 0.0, 0.2, 0.3, 0.4, 0.5], [0.02, 0.0, 0.2, 0.3, 0.4, 0.5]])
    x, left = persistent(polish, slopes, start, target, np.array([0, 1]))
    assert left[0] < RESIDUAL and left[1] == pytest.approx(0.01, rel=1e-2)
    assert x[0, 0] == pytest.approx(-0.5) and abs(x[1, 0]) < 0.01
    np.testing.assert_allclose(left, away(x, target))

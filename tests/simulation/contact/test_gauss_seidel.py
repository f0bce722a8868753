"""The solver of rigid contact by itself: Coulomb's conditions on problems at random, and two ways to the same sums.

Covers: simulation/contact/coupling.py.
"""

import numpy as np
import pytest

from kinetree.algorithms.constraints import DelassusOperator
from kinetree.simulation.contact.coupling import ByMatrix, ByMotion, Place, coupling
from kinetree.simulation.contact.gauss_seidel import ContactProblem
from peers import close


def problem(seed, contacts=4, joints=14, stops=2):
    """A mass matrix, contacts and stops at random, with velocities that press some of them together."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(joints, joints))
    rows = 3 * contacts + stops
    delassus = DelassusOperator(A @ A.T + 3.0 * np.eye(joints), rng.normal(size=(rows, joints)), 1.0)
    everywhere = np.arange(joints)
    places = [Place(slice(3 * k, 3 * k + 3), everywhere) for k in range(contacts)]
    places += [Place(slice(row, row + 1), everywhere) for row in range(3 * contacts, rows)]
    friction = [*rng.uniform(0.1, 1.5, contacts), *[None] * stops]
    return delassus, places, rng.normal(size=rows), friction


@pytest.mark.parametrize("seed", range(12))
def test_what_it_ends_with_is_coulomb_friction(seed):
    delassus, places, b, friction = problem(seed)
    solver = ContactProblem(delassus, places, b, friction)
    p = solver.solve(np.zeros(len(b)), 400)
    u = delassus.A @ p + b
    assert solver.residual(p) < 1e-9
    for at, mu in zip(places, friction, strict=True):
        own, moving = p[at.rows], u[at.rows]
        assert own[-1] >= 0.0 and moving[-1] > -1e-9
        assert abs(own[-1] * moving[-1]) < 1e-8
        if mu is not None:
            assert np.linalg.norm(own[:2]) <= mu * own[2] * (1.0 + 1e-12)
            slip = np.linalg.norm(moving[:2])
            if slip > 1e-6:
                close(own[:2], -mu * own[2] * moving[:2] / slip, 1e-6)


def test_some_stick_some_slip_and_some_open():
    """The problems above are no special case."""
    kinds = set()
    for seed in range(4):
        delassus, places, b, friction = problem(seed)
        p = ContactProblem(delassus, places, b, friction).solve(np.zeros(len(b)), 400)
        u = delassus.A @ p + b
        for at, mu in zip(places, friction, strict=True):
            if mu is not None:
                slips = np.linalg.norm(u[at.rows][:2]) > 1e-6
                kinds.add("open" if p[at.rows][2] < 1e-12 else "slips" if slips else "sticks")
    assert kinds == {"open", "slips", "sticks"}


def test_the_residual_falls_and_a_good_start_helps():
    delassus, places, b, friction = problem(1)
    solver = ContactProblem(delassus, places, b, friction)
    residuals = [solver.residual(solver.solve(np.zeros(len(b)), sweeps)) for sweeps in (1, 10, 40)]
    assert residuals[0] > residuals[1] > residuals[2]
    there = solver.solve(np.zeros(len(b)), 400)
    close(solver.solve(there, 1), there, 1e-9)


def test_without_friction_it_is_a_linear_complementarity_problem():
    """Against the active set found by trying all of them."""
    delassus, places, b, _ = problem(5, contacts=2, stops=3)
    p = ContactProblem(delassus, places, b, [0.0, 0.0, None, None, None]).solve(np.zeros(len(b)), 2000)
    rows = np.array([at.rows.stop - 1 for at in places])
    W, c = delassus.A[np.ix_(rows, rows)], b[rows]
    for active in range(2 ** len(rows)):
        on = np.array([bool(active >> k & 1) for k in range(len(rows))])
        exact = np.zeros(len(rows))
        if on.any():
            exact[on] = np.linalg.solve(W[np.ix_(on, on)], -c[on])
        if (exact >= 0.0).all() and (W @ exact + c >= -1e-12).all():
            close(p[rows], exact, 1e-8)
            return
    pytest.fail("no active set solves it")


@pytest.mark.parametrize("kind", [ByMatrix, ByMotion])
def test_both_ways_give_w_times_p(kind):
    delassus, places, b, _ = problem(7)
    effect = kind(delassus, places, b)
    close(np.concatenate([effect.velocity(k) for k in range(len(places))]), delassus.A @ b, 1e-12)
    other = b.copy()
    other[places[1].rows] = 1.0, 2.0, 3.0
    effect.change(1, other[places[1].rows])
    close(np.concatenate([effect.velocity(k) for k in range(len(places))]), delassus.A @ other, 1e-12)


def test_the_cheaper_way_is_taken():
    delassus, _, b, _ = problem(0)
    few = [Place(slice(3 * k, 3 * k + 3), np.arange(9)) for k in range(4)]
    many = [Place(slice(3 * (k % 4), 3 * (k % 4) + 3), np.arange(6)) for k in range(8)]
    assert isinstance(coupling(delassus, few, b), ByMatrix)
    assert isinstance(coupling(delassus, many, b), ByMotion)

"""Quadratic programs: solutions satisfy the conditions of optimality, whatever path the solver took.

Covers: compiler/runtime/loop_code.py, solvers/active_set.py, solvers/dense.py, solvers/stages.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.solvers import active_set, qp
from kinetree.solvers.stages import PROGRAM

SIZES = [(1, 0, 0), (3, 1, 2), (6, 0, 0), (7, 2, 9), (18, 6, 30), (40, 12, 25)]


def random_program(rng, n, equations, inequalities, rank=None):
    """With a point inside all bounds, many of them tight at the minimum."""
    root = rng.normal(size=(n, n if rank is None else rank))
    inside = rng.normal(size=n)
    A, C = rng.normal(size=(equations, n)), rng.normal(size=(inequalities, n))
    return {
        "H": root @ root.T / n + (1e-3 * np.eye(n) if rank is None else 0.0),
        "g": 3.0 * rng.normal(size=n),
        "A": A,
        "b": A @ inside,
        "C": C,
        "lower": np.where(rng.random(inequalities) < 0.3, -np.inf, C @ inside - rng.random(inequalities)),
        "upper": C @ inside + rng.random(inequalities),
        "x_lower": np.where(rng.random(n) < 0.3, -np.inf, inside - rng.random(n)),
        "x_upper": inside + rng.random(n),
    }


def worst(p, s):
    """The largest violation of the conditions of optimality."""
    gradient = p["H"] @ s.x + p["g"] + s.x_multipliers + p["A"].T @ s.A_multipliers + p["C"].T @ s.C_multipliers
    wrong = [np.abs(gradient), np.abs(p["A"] @ s.x - p["b"])]
    of_x = s.x, p["x_lower"], p["x_upper"], s.x_multipliers
    of_C = p["C"] @ s.x, p["lower"], p["upper"], s.C_multipliers
    for at, lower, upper, z in (of_x, of_C):
        wrong += [lower - at, at - upper]
        away = np.abs(np.where(z > 0, upper, np.where(z < 0, lower, at)) - at)
        wrong.append(np.abs(z) * away)
    return max((part.max(initial=0.0) for part in wrong), default=0.0)


@pytest.mark.parametrize(("n", "equations", "inequalities"), SIZES)
def test_solutions_are_optimal(n, equations, inequalities):
    rng = np.random.default_rng(n)
    iterations = 0
    for _ in range(60):
        p = random_program(rng, n, equations, inequalities)
        s = qp.solve(**p)
        assert worst(p, s) < 1e-9
        warm = qp.solve(**p, warm_start=s)
        np.testing.assert_allclose(warm.x, s.x, atol=1e-9)
        assert warm.iterations == 0
        misled = qp.solve(**p, warm_start=rng.integers(-1, 2, len(s.active)).astype(float))
        np.testing.assert_allclose(misled.x, s.x, atol=1e-8)
        iterations += s.iterations
    assert iterations > 30  # or there was nothing to do


@pytest.mark.parametrize(("n", "equations", "inequalities"), SIZES[1:])
def test_a_singular_matrix_is_solved(n, equations, inequalities):
    rng = np.random.default_rng(n)
    for _ in range(20):
        p = random_program(rng, n, equations, inequalities, rank=max(1, n // 2))
        p["x_lower"] = np.maximum(p["x_lower"], p["x_upper"] - 5.0)  # or it might fall without end
        assert worst(p, qp.solve(**p)) < 1e-7


def test_the_text_of_the_solver_computes_the_same():
    n, m = 5, 6
    rng = np.random.default_rng(0)
    for _ in range(10):
        p = random_program(rng, n, 2, 4)
        s = qp.solve(**p)
        lower, upper = (np.concatenate([p[f"x_{side}"], p["b"], p[side]]) for side in ("lower", "upper"))
        x, z, active, info = np.zeros(n), np.zeros(n + m), np.zeros(n + m), np.zeros(4)
        work = [np.zeros(shape) for shape in PROGRAM.workspace(n, m).values()]
        C = np.concatenate([p["A"], p["C"]])
        active_set.minimise(
            p["H"], p["g"], C, lower, upper, np.zeros(n + m), np.zeros(1), x, z, active, info, *work, n, m
        )
        np.testing.assert_allclose(x, s.x, atol=1e-11)
        np.testing.assert_array_equal(active, s.active)
        assert info[active_set.ITERATIONS] == s.iterations


def test_closed_forms():
    s = qp.solve(np.eye(2), [-1, -1], C=[[1, 1]], upper=[1.0])
    np.testing.assert_allclose(s.x, [0.5, 0.5])
    np.testing.assert_allclose(s.C_multipliers, [0.5])
    np.testing.assert_array_equal(s.active, [0, 0, 1])
    np.testing.assert_allclose(qp.solve(2 * np.eye(2), [-2, 0], A=[[1, 1]], b=[1]).x, [1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(qp.solve(np.diag([1.0, 0.0]), [0, 1], x_lower=[-1, -3]).x, [0, -3], atol=1e-12)
    np.testing.assert_allclose(qp.solve(np.zeros((2, 2)), [1, -1], x_lower=[-1, -1], x_upper=[2, 2]).x, [-1, 2])
    assert qp.solve([[2.0]], [-4.0]).x == pytest.approx([2.0])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_degenerate_programs_of_small_integers(n):
    """Rows of zeros, repeated and opposite rows, corners where many bounds meet, singular matrices, no solution."""
    rng = np.random.default_rng(n)
    infeasible = 0
    for _ in range(150):
        root, equations = rng.integers(-2, 3, (n, n)).astype(float), int(rng.integers(0, n + 1))
        inside, A = rng.integers(-1, 2, n).astype(float), rng.integers(-1, 2, (equations, n)).astype(float)
        C = rng.integers(-1, 2, (8, n)).astype(float)
        p = {
            "H": root @ root.T,
            "g": rng.integers(-3, 4, n).astype(float),
            "A": A,
            "b": A @ inside,
            "C": C,
            "lower": C @ inside - rng.integers(0, 2, 8),
            "upper": C @ inside + rng.integers(0, 2, 8),
            "x_lower": inside - 3.0,
            "x_upper": inside + rng.integers(0, 3, n),
        }
        assert worst(p, qp.solve(**p)) < 1e-9
        row = int(rng.integers(0, 8))
        beyond = np.abs(C[row]) @ np.maximum(np.abs(p["x_lower"]), np.abs(p["x_upper"])) + 1.0
        p["lower"][row], p["upper"][row] = beyond, np.inf
        with pytest.raises(kt.InfeasibleError) as caught:
            qp.solve(**p)
        infeasible += n + equations + row in caught.value.rows
    assert infeasible == 150


def test_repeated_equations_and_bounds():
    s = qp.solve(np.eye(2), [0, 1], A=[[1, 1], [2, 2]], b=[1, 2])
    np.testing.assert_allclose(s.x, [1, 0], atol=1e-12)
    C = [[1.0, 1.0]] * 3
    s = qp.solve(np.eye(2), [-3, -3], C=C, upper=[3.0, 1.0, 2.0], x_upper=[0.5, 9.0])
    np.testing.assert_allclose(s.x, [0.5, 0.5], atol=1e-12)


def test_small_and_large_numbers_together():
    """Weights of tasks from 1 to 1e12: an equation must still hold, and an optimum be one."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        p = random_program(rng, 12, 4, 10)
        scale = 10.0 ** rng.uniform(-3, 3, size=12)
        p["H"] = np.diag(scale) @ p["H"] @ np.diag(scale)
        p["g"] = scale * p["g"]
        s = qp.solve(**p)
        pull = s.x_multipliers + p["A"].T @ s.A_multipliers + p["C"].T @ s.C_multipliers
        terms = np.abs(p["H"]) @ np.abs(s.x) + np.abs(p["g"])
        assert (np.abs(p["H"] @ s.x + p["g"] + pull) < 1e-9 * terms.max()).all()
        assert np.abs(p["A"] @ s.x - p["b"]).max() < 1e-8


WRONG = {
    "bounds apart": (dict(x_lower=[1, 1], C=[[1, 1]], upper=[1.0]), kt.InfeasibleError, (0, 1, 2)),
    "bounds crossed": (dict(x_lower=[1, 1], x_upper=[2, 0]), kt.InfeasibleError, (1,)),
    "equations": (dict(A=[[1, 1], [2, 2]], b=[1, 3]), kt.InfeasibleError, (2, 3)),
    "equation and bound": (dict(A=[[1, 0]], b=[3], x_upper=[1, 1]), kt.InfeasibleError, (0, 2)),
    "matrix": (dict(H=[[1, 0], [0, -1]]), kt.NotConvexError, None),
    "direction": (dict(H=[[1, 0], [0, 0]], g=[0, 1]), kt.UnboundedError, None),
    "NaN in g": (dict(g=[0, np.nan]), kt.NotFiniteError, None),
    "NaN in H": (dict(H=[[np.nan, 0], [0, 1]]), kt.NotFiniteError, None),
    "NaN in C": (dict(C=[[np.nan, 1]], upper=[1]), kt.NotFiniteError, None),
    "infinite g": (dict(g=[np.inf, 1]), kt.NotFiniteError, None),
    "NaN bound": (dict(x_upper=[np.nan, 1]), kt.NotFiniteError, None),
    "shape": (dict(A=[[1, 1, 1]], b=[1]), kt.ArgumentError, None),
    "length": (dict(A=[[1, 1]], b=[1, 2]), kt.ArgumentError, None),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_has_no_solution_is_an_error_of_its_kind(case):
    changes, kind, rows = WRONG[case]
    with pytest.raises(kind) as caught:
        qp.solve(**{"H": np.eye(2), "g": [0.0, 1.0], **changes})
    if rows is not None:
        assert caught.value.rows == rows


def test_python_path(monkeypatch):
    monkeypatch.setenv("KINETREE_NATIVE", "0")
    native, python = qp.program(3, 2), qp.Program(3, 2)
    rng = np.random.default_rng(1)
    bounds = np.full(5, -0.2), np.full(5, 0.2), np.zeros(5)
    given = np.diag([1.0, 2, 3]), rng.normal(size=3), rng.normal(size=(2, 3)), *bounds
    for one, other in zip(python.run(*given), native.run(*given), strict=True):
        np.testing.assert_array_equal(one, other)

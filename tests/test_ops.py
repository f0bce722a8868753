"""The primitives on floats and on a scalar type that registers itself: dual numbers, which differentiate as they go."""

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

from kinetree import linalg, ops
from kinetree.algorithms import aba, crba, jacobian, kinematics, rnea
from kinetree.ops import _registered
from peers import close
from states import State, states


class Dual:
    """x + ε d with ε² = 0."""

    def __init__(self, x, d=0.0):
        self.x, self.d = float(x), float(d)

    @staticmethod
    def of(value):
        return value if isinstance(value, Dual) else Dual(value)

    def __add__(self, other):
        other = Dual.of(other)
        return Dual(self.x + other.x, self.d + other.d)

    def __neg__(self):
        return Dual(-self.x, -self.d)

    def __sub__(self, other):
        return self + (-Dual.of(other))

    def __rsub__(self, other):
        return Dual.of(other) - self

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = Dual.of(other)
        return Dual(self.x * other.x, self.x * other.d + self.d * other.x)

    def __truediv__(self, other):
        other = Dual.of(other)
        return Dual(self.x / other.x, (self.d * other.x - self.x * other.d) / other.x**2)

    def __rtruediv__(self, other):
        return Dual.of(other) / self

    __radd__, __rmul__ = __add__, __mul__


def chain(function, slope):
    return lambda a: Dual(function(a.x), slope(a.x) * a.d)


def unused(*_):
    raise NotImplementedError


DUAL = SimpleNamespace(**dict.fromkeys(ops.PRIMITIVES, unused))
DUAL.sin = chain(math.sin, math.cos)
DUAL.cos = chain(math.cos, lambda x: -math.sin(x))
DUAL.sqrt = chain(math.sqrt, lambda x: 0.5 / math.sqrt(x))
DUAL.divide = lambda a, b: Dual.of(a) / Dual.of(b)
DUAL.less = lambda a, b: Dual.of(a).x < Dual.of(b).x
DUAL.less_equal = lambda a, b: Dual.of(a).x <= Dual.of(b).x
DUAL.where = lambda c, a, b: a if c else b


@pytest.fixture(autouse=True)
def registered():
    ops.register(Dual, DUAL)
    yield
    del _registered[Dual]


def dual(x, dx):
    return np.array([Dual(a, b) for a, b in zip(x, dx, strict=True)] + [None])[:-1]


def derivative(array):
    return np.array([Dual.of(element).d for element in np.asarray(array).ravel()]).reshape(np.shape(array))


def value(array):
    return np.array([Dual.of(element).x for element in np.asarray(array).ravel()]).reshape(np.shape(array))


def test_dispatch_is_by_element():
    x = np.array([0.1, 0.2])
    assert np.array_equal(ops.sin(x), np.sin(x))
    assert isinstance(ops.sin(0.1), float)
    assert ops.where(True, 1.0, 2.0) == 1.0 and np.ndim(ops.where(True, 1.0, 2.0)) == 0
    duals = dual(x, [1.0, 0.0])
    close(derivative(ops.sin(duals)), [np.cos(0.1), 0.0], 1e-15)
    close(value(ops.where(np.array([True, False], dtype=object), duals, 7.0)), [0.1, 7.0], 0.0)


def test_every_primitive_says_what_it_takes_and_is():
    for name in (*ops.PRIMITIVES, "clip", "sign"):
        function = getattr(ops, name)
        parameters = inspect.signature(function).parameters.values()
        assert function.__name__ == name and function.__doc__
        assert parameters and all(parameter.kind is parameter.POSITIONAL_ONLY for parameter in parameters)
        with pytest.raises(TypeError, match=name):
            function()
    assert str(inspect.signature(ops.where)) == "(condition, a, b, /)"


def test_clip_and_sign_are_those_of_numpy():
    x = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, np.nan, np.inf])
    np.testing.assert_array_equal(ops.clip(x, -1.0, 0.7), np.clip(x, -1.0, 0.7))
    np.testing.assert_array_equal(ops.clip(x, 1.0, -1.0), np.clip(x, 1.0, -1.0))
    np.testing.assert_array_equal(ops.sign(x), np.sign(x))


def test_an_incomplete_type_cannot_register():
    with pytest.raises(TypeError, match="operations of int lack sin"):
        ops.register(int, SimpleNamespace())


def test_zeros_can_hold_what_they_are_like():
    assert ops.zeros(3, np.zeros(2)).dtype == np.float64
    assert ops.zeros(3, np.zeros(2), np.zeros(2, dtype=complex)).dtype == np.complex128
    holder = ops.zeros((2, 2), dual([1.0], [0.0]))
    holder[0, 0] += Dual(1.0, 2.0)
    assert holder[0, 0].d == 2.0 and holder[1, 1] == 0.0


@given(states(joints=("revolute", "prismatic", "continuous", "mimic"), base="fixed"))
def test_algorithms_run_on_any_registered_scalar(s: State):
    """Directional derivatives by dual numbers against central differences, through every algorithm."""
    model, q, v, a = s.robot.model, s.q, s.v, s.a
    direction, h = s.rng.normal(size=model.nq), 1e-6
    tool = model.frame("tool")
    cases = [
        lambda x: rnea.inverse_dynamics(model, x, v, a),
        lambda x: crba.mass_matrix(model, x),
        lambda x: kinematics.poses(model, x),
        lambda x: kinematics.frame_acceleration(model, tool, x, v, a, "world-aligned", "classical").vector(),
        lambda x: jacobian.frame_jacobian(model, tool, x, "local"),
    ]
    if not model.has_mimics:
        cases.append(lambda x: aba.forward_dynamics(model, x, v, a))
    for function in cases:
        exact = function(dual(q, direction))
        close(value(exact), function(q), 1e-11)
        close(derivative(exact), (function(q + h * direction) - function(q - h * direction)) / (2 * h), 1e-4)


@given(states(joints=("revolute", "free", "prismatic")))
def test_algorithms_run_on_complex_numbers(s: State):
    """The complex step: ∂τ/∂v exact to round-off, against the polynomial that τ(v) is."""
    model, q, v, a, h = s.robot.model, s.q, s.v, s.a, 1e-30
    direction = s.rng.normal(size=model.nv)
    step = rnea.inverse_dynamics(model, q, v + 1j * h * direction, a).imag / h
    quadratic = (rnea.bias_forces(model, q, v + direction) - rnea.bias_forces(model, q, v - direction)) / 2
    close(step, quadratic, 1e-10)


def test_ltdl_factors_and_solves():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    M, b = A @ A.T + np.eye(6), rng.normal(size=6)
    L, d = linalg.ltdl(M)
    close(L.T @ np.diag(d) @ L, M, 1e-13)
    assert np.array_equal(L, np.tril(L)) and np.all(np.diag(L) == 1)
    close(linalg.solve(M, b), np.linalg.solve(M, b), 1e-12)
    close(linalg.solve(M, np.eye(6)), np.linalg.inv(M), 1e-12)


def test_ltdl_keeps_the_zeros_of_a_branched_tree():
    M = np.array([[3.0, 1.0, 1.0], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0]])  # two branches on one root
    L, _ = linalg.ltdl(M)
    assert L[2, 1] == 0.0

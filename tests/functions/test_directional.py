"""Directional derivatives: against Jacobians, central differences, and each other.

Covers: functions/displaced.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.base.precision import FLOAT32, FLOAT64
from kinetree.errors import ArgumentError, UnknownNameError
from kinetree.functions.compiled_function import PLAIN
from kinetree.functions.directional import directional, shapes_of
from kinetree.functions.displaced import Displaced
from kinetree.interop.exported import resolved


@kt.compile(shapes={"gain": (2, 2)})
def branches(robot, q, gain):
    """Results of several shapes, with a branch, a constant and an argument that one of them does not depend on."""
    return {"energy": robot.potential_energy(q), "both": (gain @ gain, kt.where(q[0] < 0.0, q, 2.0 * q)), "one": 1.0}


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return [robot.random(rng), *rng.normal(size=(2, robot.nv))]


def test_products_with_the_jacobian(arm):
    compiled, key, _ = resolved(arm.inverse_dynamics)
    x, weights = state(arm), np.random.default_rng(1).normal(size=arm.nv)
    jacobians = [kt.jacobian(arm.inverse_dynamics, wrt=name)(*x) for name in "qva"]
    vjp = directional(compiled, key, "vjp", ("q", "v", "a"))
    assert shapes_of(vjp) == ((6,), (6,), (6,))
    for found, J in zip(vjp.evaluate([*x, weights]), jacobians, strict=True):
        np.testing.assert_allclose(found, weights @ J, rtol=1e-11, atol=1e-11)
    jvp = directional(compiled, key, "jvp", ("q", "a"))
    (found,) = jvp.evaluate([*x, weights, 2.0 * weights])
    np.testing.assert_allclose(found, (jacobians[0] + 2.0 * jacobians[2]) @ weights, rtol=1e-11, atol=1e-11)
    assert directional(compiled, key, "vjp", ("q", "v", "a")) is vjp
    assert jvp.transposed().mode == "vjp" and jvp.transposed().transposed() is jvp


def test_a_batch_is_its_states_to_the_bit(arm):
    compiled, key, _ = resolved(arm.mass_matrix)
    vjp = directional(compiled, key, "vjp", ("q",))
    q, weights = arm.random(0, size=(3, 5)), np.random.default_rng(1).normal(size=(5, 6, 6))
    (many,) = vjp.evaluate([q, weights])
    assert many.shape == (3, 5, 6)
    for index in np.ndindex(3, 5):
        np.testing.assert_array_equal(many[index], vjp.evaluate([q[index], weights[index[1]]])[0])
    assert vjp.evaluate([np.zeros((0, 6)), weights[0]])[0].shape == (0, 6)


def test_any_structure_of_results(arm):
    compiled, key, _ = resolved(branches.bind(arm))
    q, gain = state(arm)[0], np.array([[1.0, 2.0], [3.0, 4.0]])
    weights = [2.0, np.ones((2, 2)), np.arange(6.0), 5.0]
    jvp, vjp = (directional(compiled, key, mode, ("q", "gain")) for mode in ("jvp", "vjp"))
    rates = [np.arange(6.0) - 2.0, np.array([[0.0, 1.0], [2.0, 0.0]])]
    forward, backward = jvp.evaluate([q, gain, *rates]), vjp.evaluate([q, gain, *weights])
    assert [np.shape(x) for x in forward] == [(), (2, 2), (6,), ()] and forward[3] == 0.0
    np.testing.assert_allclose(forward[1], rates[1] @ gain + gain @ rates[1])
    paired = sum(np.sum(w * y) for w, y in zip(weights, forward, strict=True))
    assert paired == pytest.approx(sum(np.sum(r * x) for r, x in zip(rates, backward, strict=True)), rel=1e-12)


def test_second_derivatives_are_central_differences(arm):
    compiled, key, _ = resolved(arm.inverse_dynamics)
    vjp = directional(compiled, key, "vjp", ("q", "v"))
    second = directional(vjp, PLAIN, "jvp", ("q", "weights0"))
    x, rng, h = state(arm), np.random.default_rng(2), 1e-5
    weights, dq, dw = rng.normal(size=(3, 6))
    exact = second.evaluate([*x, weights, dq, dw])
    ahead, behind = (vjp.evaluate([x[0] + s * h * dq, x[1], x[2], weights + s * h * dw]) for s in (1, -1))
    for found, a, b in zip(exact, ahead, behind, strict=True):
        np.testing.assert_allclose(found, (a - b) / (2.0 * h), rtol=1e-6, atol=1e-6)


def test_quaternions_are_plain_numbers_and_displacements_are_tangent():
    robot = kt.load("quadruped", base="floating")
    compiled, key, _ = resolved(robot.center_of_mass)
    q, h = robot.random(0), 1e-7
    (found,) = directional(compiled, key, "jvp", ("q",)).evaluate([q, np.eye(robot.nq)[4]])
    ahead, behind = (robot.center_of_mass(q + s * h * np.eye(robot.nq)[4]) for s in (1, -1))
    np.testing.assert_allclose(found, (ahead - behind) / (2.0 * h), atol=1e-6)
    moved = Displaced(compiled, key)
    assert moved.arrays == {"q": (robot.nq,), "dq": (robot.nv,)}
    dq = 0.3 * np.ones(robot.nv)
    np.testing.assert_allclose(moved.evaluate([q, dq]), robot.center_of_mass(robot.integrate(q, dq)), atol=1e-14)
    columns = directional(moved, PLAIN, "jvp", ("dq",)).evaluate([q, np.zeros(robot.nv), np.eye(robot.nv)])[0]
    np.testing.assert_allclose(columns.T, robot.center_of_mass_jacobian(q), atol=1e-12)


def test_refused_states_raise_the_sentence_of_the_call():
    robot = kt.load("quadruped", base="floating")
    compiled, key, _ = resolved(robot.center_of_mass)
    vjp = directional(compiled, key, "vjp", ("q",))
    q = np.stack([robot.random(0)] * 3)
    q[1, 3:7] *= 1.1
    with pytest.raises(ArgumentError, match=r"q\[1\] has a quaternion .* of norm 1.1"):
        vjp.evaluate([q, np.ones(3)])


def test_in_float32_and_where_float64_is_needed(arm):
    compiled, key, _ = resolved(arm.inverse_dynamics)
    vjp = directional(compiled, key, "vjp", ("q",))
    short = vjp.astype(FLOAT32)
    given = [*state(arm), np.ones(6)]
    (found,) = short.evaluate([x.astype(FLOAT32) for x in given])
    assert found.dtype == FLOAT32 and vjp.astype(FLOAT32) is short
    np.testing.assert_allclose(found, vjp.evaluate(given)[0], rtol=1e-4, atol=1e-4)
    assert short.astype(FLOAT64).dtype == FLOAT64
    held, key, _ = resolved(arm.constrained([kt.Contact("tool0", "point")]).jacobian)
    assert held.astype(FLOAT32) is None and directional(held, key, "vjp", ("q",)).astype(FLOAT32) is None


def test_eagerly_it_is_the_same(arm):
    compiled, key, _ = resolved(arm.gravity_forces)
    vjp = directional(compiled, key, "vjp", ("q",))
    q, weights = state(arm)[0], np.ones(6)
    (by_nodes,) = vjp.on_numbers(PLAIN)(q, weights)
    np.testing.assert_allclose(by_nodes, vjp.evaluate([q, weights])[0], rtol=1e-12, atol=1e-12)


def test_an_unknown_argument(arm):
    compiled, key, _ = resolved(arm.gravity_forces)
    with pytest.raises(UnknownNameError, match="'v'"):
        directional(compiled, key, "vjp", ("v",))

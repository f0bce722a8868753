"""kt.to_jax: values, derivatives and batches under JAX's transformations, and what it refuses.

Covers: interop/foreign.py.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinetree as kt
from branching_law import law
from kinetree.control import ComputedTorque, WholeBody
from kinetree.errors import ArgumentError, ArgumentTypeError
from kinetree.tasks import Posture

jax = pytest.importorskip("jax", reason="jax is not installed: make test-interop")
jnp = jax.numpy
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module", autouse=True)
def _double():
    jax.config.update("jax_enable_x64", True)


def state(robot, size=(), seed=0):
    rng = np.random.default_rng(seed)
    return [robot.random(rng, size=size), *rng.normal(size=(2, *size, robot.nv))]


def test_values_are_those_of_the_call_to_the_bit(walker):
    f = kt.to_jax(walker.inverse_dynamics)
    for size in [(), (1,), (37,), (3, 5), (0,), (2, 0)]:
        x = state(walker, size)
        for g in (f, jax.jit(f)):
            found = g(*x)
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, walker.inverse_dynamics(*x))
    q, v, a = state(walker, (4,))
    np.testing.assert_array_equal(f(q, v[0], a=a[1:2]), walker.inverse_dynamics(q, v[0], a[1:2]))
    np.testing.assert_array_equal(f(q[:, None], v, a[0]), walker.inverse_dynamics(q[:, None], v, a[0]))


def test_structure_of_results_and_arguments_of_any_shape(arm):
    f = kt.to_jax(law.bind(arm))
    q, v, _ = state(arm, (3,))
    gain = np.arange(12.0).reshape(3, 2, 2)
    for got, expected in [(f(q, v, gain), law(arm, q, v, gain)), (f(q, v, gain[0]), law(arm, q, v, gain[0]))]:
        assert jax.tree.structure(got) == jax.tree.structure(expected)
        jax.tree.map(np.testing.assert_array_equal, got, expected)
    assert f(q[0], v[0], gain[0])["energy"].shape == ()


def test_jacobians_are_ours(arm):
    f, x = kt.to_jax(arm.forward_dynamics), state(arm)
    for k, name in enumerate(("q", "v", "tau")):
        expected = kt.jacobian(arm.forward_dynamics, wrt=name)(*x)
        for J in (jax.jacfwd(f, k), jax.jacrev(f, k), jax.jit(jax.jacrev(f, k))):
            np.testing.assert_allclose(J(*x), expected, rtol=1e-9, atol=1e-9)


def test_derivatives_of_all_orders_are_differences(arm):
    from jax.test_util import check_grads  # noqa: PLC0415

    f = kt.to_jax(law.bind(arm))
    q, v, _ = state(arm)
    check_grads(f, (q, v, np.eye(2)), order=3, modes=("fwd", "rev"), rtol=1e-5, atol=1e-5)


def test_derivatives_of_a_floating_base_by_its_numbers_and_on_its_tangent_space(walker):
    q, h = walker.random(0), 1e-7
    f = kt.to_jax(walker.center_of_mass)
    direction = np.random.default_rng(0).normal(size=walker.nq)
    _, rate = jax.jvp(f, (q,), (direction,))
    expected = (walker.center_of_mass(q + h * direction) - walker.center_of_mass(q - h * direction)) / (2.0 * h)
    np.testing.assert_allclose(rate, expected, atol=1e-6)
    g = kt.to_jax(walker.center_of_mass, tangent=True)
    J = jax.jacrev(g, 1)(q, np.zeros(walker.nv))
    np.testing.assert_allclose(J, walker.center_of_mass_jacobian(q), atol=1e-12)


def test_batched_arguments_have_summed_derivatives(arm):
    f = kt.to_jax(arm.inverse_dynamics)
    q, v, a = state(arm, (5,))
    total = jax.grad(lambda one: f(q, one, a).sum())(v[0])
    np.testing.assert_allclose(
        total, kt.jacobian(arm.inverse_dynamics, wrt="v")(q, v[0], a).sum((0, 1)), rtol=1e-10, atol=1e-10
    )


def test_vmap_in_any_nesting(arm):
    f = kt.to_jax(arm.inverse_dynamics)
    q, v, a = state(arm, (3, 4))
    expected = arm.inverse_dynamics(q, v, a)
    same = np.testing.assert_array_equal
    same(jax.vmap(f)(q, v, a), expected)
    same(jax.vmap(jax.vmap(f))(q, v, a), expected)
    same(jax.vmap(f, in_axes=(1, 0, 2), out_axes=1)(q, v.swapaxes(0, 1), np.moveaxis(a, 1, 2)), expected)
    same(jax.vmap(f, (0, None, None))(q, v[0], a[0, 0]), arm.inverse_dynamics(q, v[0], a[0, 0]))
    outer = jax.vmap(lambda q: jax.vmap(lambda v: f(q, v, a[0, 0]))(v[0]))(q[:, 0])
    same(outer, arm.inverse_dynamics(q[:, :1], v[0], a[0, 0]))
    crossed = jax.vmap(lambda q: jax.vmap(lambda v: f(q, v, a[0]))(v[:2, 0]))(q[:, 0])
    same(crossed, arm.inverse_dynamics(q[:, :1, None], v[:2, :1], a[0]))


def test_inside_loops_and_checkpoints(arm):
    f, dt = kt.to_jax(arm.forward_dynamics), 1e-3

    def step(x, _):
        q, v = x
        v = v + dt * f(q, v, jnp.zeros(6))
        return (q + dt * v, v), q

    def end(v0, step=step):
        return jax.lax.scan(step, (jnp.zeros(6), v0), None, length=20)[0][0].sum()

    v0 = np.linspace(-1.0, 1.0, 6)
    plain, slope = jax.jit(jax.value_and_grad(end))(v0)
    q, v = np.zeros(6), v0
    for _ in range(20):
        v = v + dt * arm.forward_dynamics(q, v, np.zeros(6))
        q = q + dt * v
    assert plain == pytest.approx(q.sum(), rel=1e-12)
    again = jax.grad(lambda v: end(v, jax.checkpoint(step)))(v0)
    np.testing.assert_allclose(again, slope, rtol=1e-12)
    h = 1e-5
    ahead, behind = (end(v0 + s * h * np.eye(6)[2]) for s in (1, -1))
    assert slope[2] == pytest.approx(float(ahead - behind) / (2.0 * h), rel=1e-6)


def test_float32_and_mixed_dtypes(arm):
    f, x = kt.to_jax(arm.inverse_dynamics), state(arm, (9,))
    short = [array.astype(np.float32) for array in x]
    found = jax.jit(f)(*short)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, arm.astype("float32").inverse_dynamics(*short))
    assert jax.grad(lambda q: f(q, *short[1:]).sum())(short[0]).dtype == np.float32
    assert f(short[0], *x[1:]).dtype == np.float64
    assert f(np.zeros(6, int), np.zeros(6, int), np.zeros(6, int)).dtype == np.float64
    held = kt.to_jax(arm.constrained([kt.Contact("tool0", "point")]).jacobian)
    exact = arm.constrained([kt.Contact("tool0", "point")]).jacobian(short[0].astype(float))
    found = held(short[0])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, exact.astype(np.float32))


def test_without_float64(arm):
    f, x = kt.to_jax(arm.inverse_dynamics), state(arm)
    held = kt.to_jax(arm.constrained([kt.Contact("tool0", "point")]).jacobian)
    jax.config.update("jax_enable_x64", False)
    try:
        found = jax.jit(f)(*x)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, arm.inverse_dynamics(*x), rtol=1e-4, atol=1e-4)
        with pytest.raises(ArgumentError, match="needs the digits of float64"):
            held(x[0])
    finally:
        jax.config.update("jax_enable_x64", True)


def test_refused_states_are_nan_and_so_are_their_derivatives(walker):
    f = kt.to_jax(walker.center_of_mass)
    q = walker.random(0, size=5)
    q[2, 3:7] *= 1.1
    found = np.asarray(f(q))
    assert np.isnan(found[2]).all() and np.isfinite(np.delete(found, 2, 0)).all()
    assert np.isnan(f(q[2])).all()
    slopes = np.asarray(jax.vmap(jax.grad(lambda q: f(q)[0]))(q))
    assert np.isnan(slopes[2]).all() and np.isfinite(np.delete(slopes, 2, 0)).all()


def test_states_where_a_matrix_loses_rank_are_computed(arm):
    inertia = arm.frame("tool0").operational_space_inertia
    f, q = kt.to_jax(inertia), np.stack([arm.random(0), np.zeros(6)])
    np.testing.assert_allclose(f(q), inertia(q), rtol=1e-9, atol=1e-9)


def test_a_controller_with_its_gains(arm):
    controller = ComputedTorque(arm, stiffness=100.0)
    f, (q, v, a) = kt.to_jax(controller), state(arm)
    np.testing.assert_array_equal(f(q, v, q + 0.1, v, a), controller(q, v, (q + 0.1, v, a)))
    np.testing.assert_array_equal(f(q, v, q + 0.1), controller(q, v, q + 0.1))


def test_from_threads(arm):
    f, x = jax.jit(kt.to_jax(arm.mass_matrix)), arm.random(0, size=(8, 50))
    expected = arm.mass_matrix(x)
    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(f, x), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_compiled_programs_hold_no_address():
    code = """
import jax, kinetree as kt, numpy as np
jax.config.update("jax_enable_x64", True)
f = kt.to_jax(kt.load("planar2").mass_matrix)
print(jax.jit(f).lower(np.zeros(2)).as_text(), jax.jit(f).lower(np.zeros((3, 2))).as_text())
"""
    texts = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert len(texts) == 1
    assert set(re.findall(r"@kinetree_(\w+)_[0-9a-f]{32}\(", texts.pop())) == {"single", "batch"}


def test_what_is_refused(arm):
    f, x = kt.to_jax(arm.inverse_dynamics), state(arm)
    with pytest.raises(ArgumentError, match=r"q has shape \(5,\); expected \(…, 6\)"):
        f(x[0][:5], *x[1:])
    with pytest.raises(ArgumentError, match=r"batch axes do not broadcast: q \(2,\), v \(3,\), a \(\)"):
        f(np.zeros((2, 6)), np.zeros((3, 6)), x[2])
    with pytest.raises(ArgumentTypeError, match="v is 'fast'"):
        f(x[0], "fast", x[2])
    with pytest.raises(ArgumentTypeError, match="a has elements of type complex128"):
        f(*x[:2], 1j * x[2])
    with pytest.raises(ArgumentTypeError, match="dtype float16; expected float32 or float64"):
        f(*(array.astype(np.float16) for array in x))
    with pytest.raises(ArgumentTypeError, match="missing a required argument: 'a'"):
        f(*x[:2])
    with pytest.raises(ArgumentTypeError, match="is a solver"):
        kt.to_jax(WholeBody(arm, Posture()))
    with pytest.raises(ArgumentTypeError, match="is not compiled"):
        kt.to_jax(np.sin)
    with pytest.raises(ArgumentTypeError, match="tangent is 1; expected True or False"):
        kt.to_jax(arm.mass_matrix, tangent=1)

"""kt.to_torch: values, derivatives and batches under PyTorch's transformations, and what it refuses."""

import copy
import pickle

import numpy as np
import pytest

import kinetree as kt
from branching_law import law
from kinetree.control import ComputedTorque, WholeBody
from kinetree.errors import ArgumentError, ArgumentTypeError
from kinetree.tasks import Posture

torch = pytest.importorskip("torch", reason="torch is not installed: make test-interop")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def state(robot, size=(), seed=0):
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(x) for x in (robot.random(rng, size=size), *rng.normal(size=(2, *size, robot.nv)))]


def same(found, expected):
    np.testing.assert_array_equal(np.asarray(found.detach()), expected)


def test_values_are_those_of_the_call_to_the_bit(walker):
    f = kt.to_torch(walker.inverse_dynamics)
    for size in [(), (1,), (37,), (3, 5), (0,), (2, 0)]:
        x = state(walker, size)
        found = f(*x)
        assert found.dtype == torch.float64
        same(found, walker.inverse_dynamics(*map(np.asarray, x)))
    q, v, a = state(walker, (4,))
    same(f(q, v[0], a=a[1:2]), walker.inverse_dynamics(*map(np.asarray, (q, v[0], a[1:2]))))
    same(f(q[:, None], v, a[0]), walker.inverse_dynamics(*map(np.asarray, (q[:, None], v, a[0]))))


def test_memory_is_read_where_it_is(arm, monkeypatch):
    """Views of any strides, one of which is read-only to NumPy."""
    f = kt.to_torch(arm.mass_matrix)
    run = f.callee.compiled.evaluate
    wide = torch.randn(50, 12, dtype=torch.float64)
    for q in (wide[:, ::2], wide[::5, :6], wide.T[:6].T, wide[:1, :6].expand(7, 6), torch._neg_view(wide[:, :6])):
        same(f(q), arm.mass_matrix(np.array(q.resolve_neg())))
    seen = []
    compiled = f.callee.compiled
    monkeypatch.setattr(
        compiled, "evaluate", lambda given, *rest: seen.append((given, run(given, *rest))) or seen[-1][1]
    )
    q = wide[::3, ::2]
    result = f(q)
    (((array,), returned),) = seen
    assert array.__array_interface__["data"][0] == q.data_ptr() and array.strides == (3 * 12 * 8, 2 * 8)
    assert returned.__array_interface__["data"][0] == result.data_ptr()


def test_structure_of_results_and_arguments_of_any_shape(arm):
    f = kt.to_torch(law.bind(arm))
    q, v, _ = state(arm, (3,))
    gain = torch.arange(12.0, dtype=torch.float64).reshape(3, 2, 2)
    got, expected = f(q, v, gain), law(arm, *map(np.asarray, (q, v, gain)))
    assert list(got) == ["energy", "both"] and type(got["both"]) is tuple
    same(got["energy"], expected["energy"])
    same(got["both"][0], expected["both"][0])
    assert f(q[0], v[0], gain[0])["energy"].shape == ()


def test_first_and_second_derivatives_are_differences(arm):
    q, v, a = (x.requires_grad_() for x in state(arm))
    f = kt.to_torch(arm.inverse_dynamics)
    assert torch.autograd.gradcheck(f, (q, v, a))
    assert torch.autograd.gradgradcheck(f, (q, v, a))
    g = kt.to_torch(law.bind(arm))
    gain = torch.randn(2, 2, dtype=torch.float64, requires_grad=True)
    many = [x.requires_grad_() for x in state(arm, (3,))[:2]]
    assert torch.autograd.gradcheck(lambda q, v, gain: g(q, v, gain)["both"], (*many, gain))
    assert torch.autograd.gradgradcheck(lambda q, v, gain: g(q, v, gain)["energy"], (*many, gain))


def test_only_derivatives_that_are_asked_for(arm):
    f = kt.to_torch(arm.inverse_dynamics)
    q, v, a = state(arm, (5,))
    one = v[0].clone().requires_grad_()
    f(q, one, a).sum().backward()
    expected = kt.jacobian(arm.inverse_dynamics, wrt="v")(*map(np.asarray, (q, one.detach(), a))).sum((0, 1))
    np.testing.assert_allclose(one.grad, expected, rtol=1e-10, atol=1e-10)
    assert q.grad is None


def test_a_floating_base_by_its_numbers_and_on_its_tangent_space(walker):
    q = state(walker)[0].requires_grad_()
    f = kt.to_torch(walker.center_of_mass)
    assert torch.autograd.gradcheck(f, (q,), eps=1e-7)
    g = kt.to_torch(walker.center_of_mass, tangent=True)
    J = torch.autograd.functional.jacobian(lambda dq: g(q, dq), torch.zeros(walker.nv, dtype=torch.float64))
    np.testing.assert_allclose(J, walker.center_of_mass_jacobian(q.detach().numpy()), atol=1e-12)


def test_vmap_and_torch_func(arm):
    f = kt.to_torch(arm.inverse_dynamics)
    q, v, a = state(arm, (3, 4))
    given = [np.asarray(x) for x in (q, v, a)]
    expected = arm.inverse_dynamics(*given)
    vmap = torch.func.vmap
    same(vmap(f)(q, v, a), expected)
    same(vmap(vmap(f))(q, v, a), expected)
    same(vmap(f, in_dims=(1, 0, 2), out_dims=1)(q, v.swapaxes(0, 1), a.movedim(1, 2)), expected)
    same(vmap(f, (0, None, None))(q, v[0], a[0, 0]), arm.inverse_dynamics(given[0], given[1][0], given[2][0, 0]))
    outer = vmap(lambda q: vmap(lambda v: f(q, v, a[0, 0]))(v[0]))(q[:, 0])
    same(outer, arm.inverse_dynamics(given[0][:, :1], given[1][0], given[2][0, 0]))
    one = (q[0, 0], v[0, 0], a[0, 0])
    J = kt.jacobian(arm.inverse_dynamics)(*(x[0, 0] for x in given))
    for derivative in (torch.func.jacrev, torch.func.jacfwd):
        np.testing.assert_allclose(derivative(f)(*one), J, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(torch.func.grad(lambda q: f(q, *one[1:])[1])(one[0]), J[1], rtol=1e-10, atol=1e-10)
    H = torch.func.jacrev(torch.func.jacrev(lambda q: f(q, *one[1:]).sum()))(one[0])
    np.testing.assert_allclose(H, H.T, atol=1e-10)


def test_torch_compile_has_it_in_its_graph(arm):
    f = kt.to_torch(arm.inverse_dynamics)

    def effort(q, v, a):
        return (f(torch.sin(q), v, 2.0 * a) ** 2).sum()

    compiled = torch.compile(effort, backend="aot_eager", fullgraph=True)
    for size in ((), (4,), (9,)):
        q, v, a = state(arm, size)
        q.requires_grad_()
        (expected,) = torch.autograd.grad(effort(q, v, a), q)
        value = compiled(q, v, a)
        (found,) = torch.autograd.grad(value, q)
        assert torch.allclose(value, effort(q, v, a)) and torch.allclose(found, expected)


def test_the_operator_is_as_pytorch_expects(arm):
    f = kt.to_torch(arm.inverse_dynamics)
    x = [x.requires_grad_() for x in state(arm, (2,))]
    torch.library.opcheck(f._operator.registered, tuple(x))


def test_inside_a_module_that_is_copied_and_pickled(arm):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.f = kt.to_torch(arm.mass_matrix)

    layer, q = Layer(), state(arm)[0]
    for again in (copy.deepcopy(layer).f, pickle.loads(pickle.dumps(layer.f))):
        same(again(q), arm.mass_matrix(np.asarray(q)))


def test_float32_and_mixed_dtypes(arm):
    f, x = kt.to_torch(arm.inverse_dynamics), state(arm, (9,))
    short = [tensor.to(torch.float32) for tensor in x]
    short[0].requires_grad_()
    found = f(*short)
    assert found.dtype == torch.float32
    same(found, arm.astype("float32").inverse_dynamics(*(np.asarray(tensor.detach()) for tensor in short)))
    found.sum().backward()
    assert short[0].grad.dtype == torch.float32
    assert f(short[0], *x[1:]).dtype == torch.float64
    single = kt.to_torch(arm.astype("float32").inverse_dynamics)
    same(single(*x), arm.inverse_dynamics(*map(np.asarray, x)))
    held = arm.constrained([kt.Contact("tool0", "point")]).jacobian
    found = kt.to_torch(held)(short[0].detach())
    same(found, held(np.asarray(short[0].detach(), dtype=float)).astype(np.float32))


def test_refused_states_raise_the_sentence_of_the_call(walker):
    f = kt.to_torch(walker.center_of_mass)
    q = state(walker, (5,))[0]
    q[2, 3:7] *= 1.1
    with pytest.raises(ArgumentError, match=r"q\[2\] has a quaternion .* of norm 1.1"):
        f(q)


def test_states_where_a_matrix_loses_rank_are_computed(arm):
    inertia = arm.frame("tool0").operational_space_inertia
    f, q = kt.to_torch(inertia), torch.stack([state(arm)[0], torch.zeros(6, dtype=torch.float64)])
    np.testing.assert_allclose(f(q), inertia(np.asarray(q)), rtol=1e-9, atol=1e-9)


def test_a_controller_with_its_gains(arm):
    controller = ComputedTorque(arm, stiffness=100.0)
    f, (q, v, a) = kt.to_torch(controller), state(arm)
    same(f(q, v, q + 0.1, v, a), controller(*(np.asarray(x) for x in (q, v, q + 0.1, v, a))))
    same(f(q, v, q + 0.1), controller(*(np.asarray(x) for x in (q, v, q + 0.1))))
    gain = torch.full((6,), 100.0, dtype=torch.float64, requires_grad=True)
    f(q, v, q + 0.1, stiffness=gain).sum().backward()
    np.testing.assert_allclose(gain.grad, 0.1 * arm.mass_matrix(np.asarray(q)).sum(0), rtol=1e-10, atol=1e-12)


def test_a_law_without_a_name():
    f = kt.to_torch(kt.compile(lambda x: x * x, shapes={"x": ()}))
    x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    f(x).backward()
    assert x.grad == 6.0


def test_what_is_refused(arm):
    f, x = kt.to_torch(arm.inverse_dynamics), state(arm)
    with pytest.raises(ArgumentError, match=r"q has shape \(5,\); expected \(…, 6\)"):
        f(x[0][:5], *x[1:])
    with pytest.raises(ArgumentError, match=r"batch axes do not broadcast: q \(2,\), v \(3,\), a \(\)"):
        f(x[0].expand(2, 6), x[1].expand(3, 6), x[2])
    with pytest.raises(ArgumentTypeError, match=r"v is array.*; expected a tensor"):
        f(x[0], np.zeros(6), x[2])
    with pytest.raises(ArgumentTypeError, match=r"a has elements of type torch.float16; expected torch.float64"):
        f(*x[:2], x[2].to(torch.float16))
    with pytest.raises(ArgumentTypeError, match=r"a has elements of type torch.int64"):
        f(*x[:2], x[2].to(torch.int64))
    with pytest.raises(ArgumentError, match="q is on the device meta; expected a tensor on the CPU"):
        f(x[0].to("meta"), *x[1:])
    with pytest.raises(ArgumentTypeError, match="missing a required argument: 'a'"):
        f(*x[:2])
    with pytest.raises(ArgumentTypeError, match="is a solver"):
        kt.to_torch(WholeBody(arm, Posture()))
    with pytest.raises(ArgumentTypeError, match="is not compiled"):
        kt.to_torch(np.sin)

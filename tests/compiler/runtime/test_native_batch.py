"""Batches that go natively into their kernel: the same bits as through Python, whatever the layout; and no leaks.

Covers: compiler/codegen/entry/batch.py.
"""

import gc
import os
import sys
import threading
import types

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import native
from kinetree.robot.quantity import QuantityFunction

pytestmark = pytest.mark.skipif(not native.available(), reason="the Python path is forced")


@pytest.fixture(scope="module", params=["fixed", "floating"])
def robot(request):
    return kt.load("quadruped", base=request.param)


@pytest.fixture
def in_python(monkeypatch):
    """How often a call was handed over to Python."""
    calls = []
    evaluate = QuantityFunction.evaluate

    def counted(self, *args, **kwargs):
        calls.append(args)
        return evaluate(self, *args, **kwargs)

    monkeypatch.setattr(QuantityFunction, "evaluate", counted)
    return calls


def states(robot, n, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, n), rng.normal(size=(n, robot.nv)), rng.normal(size=(n, robot.nv))


def by_rows(call, *arrays):
    return np.stack([call(*rows) for rows in zip(*arrays, strict=True)])


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 63, 64, 65, 300])
@pytest.mark.sampled(10)
def test_every_size_gives_the_same_bits_as_one_by_one(robot, n, in_python):
    q, v, a = states(robot, n)
    for call, arrays in (
        (robot.inverse_dynamics, (q, v, a)),
        (robot.forward_dynamics, (q, v, a)),
        (robot.mass_matrix, (q,)),
        (robot.kinetic_energy, (q, v)),
        (robot.frame("front_left_foot").jacobian, (q,)),
        (robot.poses, (q,)),
    ):
        assert type(call) is types.BuiltinFunctionType
        call(*arrays), call(*(array[0] for array in arrays))
        del in_python[:]
        got, one_by_one = call(*arrays), by_rows(call, *arrays)
        assert in_python == []
        assert got.flags.c_contiguous and got.flags.owndata and got.dtype == np.float64
        assert np.array_equal(got, one_by_one) and got.shape == one_by_one.shape


def test_layouts(robot, in_python):
    q, v, a = states(robot, 37)
    right = robot.inverse_dynamics(q, v, a)
    robot.inverse_dynamics(q, v, a)
    wide = np.zeros((37, 2 * robot.nv + 3))
    wide[:, 1 : 2 * robot.nv + 1 : 2] = v
    native_layouts = [
        np.asfortranarray(v),
        wide[:, 1 : 2 * robot.nv + 1 : 2],
        np.repeat(v, 2, axis=0)[::2],
        np.ascontiguousarray(v[::-1])[::-1],
        np.ascontiguousarray(v[:, ::-1])[:, ::-1],
    ]
    del in_python[:]
    for layout in native_layouts:
        assert np.array_equal(robot.inverse_dynamics(q, layout, a), right)
    assert in_python == []
    misaligned = np.frombuffer(b"x" + v.tobytes(), dtype="u1")[1:].view(np.float64).reshape(v.shape)
    for other in (misaligned, v.astype(">f8"), v.tolist(), v.astype(np.longdouble)):
        assert np.array_equal(robot.inverse_dynamics(q, other, a), right)
    assert len(in_python) == 4


def test_arrays_without_a_batch_axis_count_for_all(robot, in_python):
    q, v, a = states(robot, 20)
    robot.inverse_dynamics(q, v, a)
    robot.inverse_dynamics(q[0], v[0], a[0])
    del in_python[:]
    for arrays in ((q, v[0], a), (q[0], v, a), (q, v, a[3]), (q, v[1], a[2]), (q[1], v[0], a)):
        full = [np.broadcast_to(array, (20, array.shape[-1])) for array in arrays]
        assert np.array_equal(robot.inverse_dynamics(*arrays), by_rows(robot.inverse_dynamics, *full))
    assert in_python == []


def test_out(robot, in_python):
    """The result is written into an array of its shape, as of one state; into any other by Python, or it is refused."""
    q, v, a = states(robot, 21)
    for call, arrays in (
        (robot.inverse_dynamics, (q, v, a)),
        (robot.forward_dynamics, (q, v, a)),
        (robot.mass_matrix, (q,)),
        (robot.kinetic_energy, (q, v)),
        (robot.poses, (q,)),
    ):
        right = call(*arrays)
        out = np.full_like(right, np.nan)
        call(*arrays, out=out)
        out[...] = np.nan
        references = sys.getrefcount(out)
        del in_python[:]
        assert call(*arrays, out=out) is out and in_python == []
        assert np.array_equal(out, right) and sys.getrefcount(out) == references
        call(np.asfortranarray(arrays[0]), *arrays[1:], out=out)
        assert np.array_equal(out, right) and in_python == []
        strided = np.zeros((2, *right.shape)).T if right.ndim == 1 else np.zeros((*right.shape, 2))
        assert np.array_equal(call(*arrays, out=strided[..., 0]), right)
        with pytest.raises(kt.ArgumentError, match="out has shape"):
            call(*arrays, out=out[:-1])
        with pytest.raises(TypeError, match="out is an array of float32"):
            call(*arrays, out=out.astype(np.float32))
        out.flags.writeable = False
        with pytest.raises(kt.ArgumentError, match="out is read-only"):
            call(*arrays, out=out)


def test_out_that_is_an_argument(robot):
    """Each state of `out` would be read after it was written: the result is computed beside it."""
    q, v, a = states(robot, 21)
    right = robot.inverse_dynamics(q, v, a)
    memory = np.zeros((23, robot.nv))
    for given in (memory[:21], memory[1:22], memory[2:], memory[20::-1], memory[22:1:-1]):
        given[...] = a
        out = memory[1:22]
        assert robot.inverse_dynamics(q, v, given, out=out) is out and np.array_equal(out, right)


def test_out_keeps_its_numbers_if_a_state_is_refused():
    robot = kt.load("quadruped", base="floating")
    q, v, a = states(robot, 9)
    out = np.full((9, robot.nv), 7.0)
    robot.forward_dynamics(q, v, a, out=out.copy())
    q[4, 3:7] *= 1.01
    for call in (robot.inverse_dynamics, robot.forward_dynamics):
        with pytest.raises(kt.ArgumentError, match=r"^q\[4\]"):
            call(q, v, a, out=out)
    assert np.all(out == 7.0)


def test_what_python_does(robot):
    q, v, a = states(robot, 12)
    right = robot.inverse_dynamics(q, v, a)
    nested = robot.inverse_dynamics(q.reshape(3, 4, -1), v.reshape(3, 4, -1), a.reshape(3, 4, -1))
    assert np.array_equal(nested.reshape(12, -1), right)
    assert robot.inverse_dynamics(q[:0], v[:0], a[:0]).shape == (0, robot.nv)
    with pytest.raises(kt.ArgumentError, match="the batch axes do not broadcast"):
        robot.inverse_dynamics(q, v[:5], a)
    with pytest.raises(kt.ArgumentError, match="v has shape"):
        robot.inverse_dynamics(q, v[:, :-1], a)


def test_refused_states_are_named(robot):
    q, v, a = states(robot, 12)
    robot.inverse_dynamics(q, v, a)
    if robot.model.quaternions:
        q[7, 3:7] *= 1.01
        with pytest.raises(kt.ArgumentError, match=r"^q\[7\] has a quaternion .* of norm 1\.01"):
            robot.inverse_dynamics(q, v, a)
    q[3, -1] = np.nan
    if not robot.model.quaternions:
        assert np.isnan(robot.inverse_dynamics(q, v, a)[3]).any()


def test_references_and_memory_stay_as_they_were(robot):
    q, v, a = states(robot, 16)
    bad = q.copy()
    bad[3, 3:7] = 2.0
    robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
    held = [q, v, a, q.dtype, robot]

    def work():
        for _ in range(2000):
            robot.inverse_dynamics(q, v, a)
            robot.mass_matrix(q)
            robot.inverse_dynamics(q, v[0], a)

    work()
    gc.collect()
    counts = [sys.getrefcount(item) for item in held]
    pages = resident()
    for _ in range(5):
        work()
    for _ in range(100):
        with pytest.raises(kt.ArgumentError):
            robot.inverse_dynamics(q, v[:3], a)
    gc.collect()
    assert [sys.getrefcount(item) for item in held] == counts
    if pages is not None:
        assert resident() < pages + 500  # 2 MB


def resident():
    if not os.path.exists("/proc/self/statm"):
        return None
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def test_threads_at_once(robot):
    """The interpreter's lock is given up: each call has memory of its own."""
    n = 200
    q, v, a = states(robot, n)
    rights = {k: robot.forward_dynamics(q[k:], v[k:], a[k:]) for k in range(8)}
    wrong = []

    def work(k):
        for _ in range(200):
            if not np.array_equal(robot.forward_dynamics(q[k:], v[k:], a[k:]), rights[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_many_states_are_left_to_several_threads(robot, in_python):
    before = kt.get_num_threads()
    try:
        kt.set_num_threads(2)
        q, v, a = states(robot, 14_000)
        robot.forward_dynamics(q, v, a)
        del in_python[:]
        by_two = robot.forward_dynamics(q, v, a)
        assert len(in_python) >= 1
        kt.set_num_threads(1)
        del in_python[:]
        assert np.array_equal(robot.forward_dynamics(q, v, a), by_two)
        assert in_python == []
    finally:
        kt.set_num_threads(before)


def test_laws(robot):
    @kt.compile(shapes={"gain": ()})
    def law(robot, q, v, gain):
        return robot.gravity_forces(q) - gain * v, robot.kinetic_energy(q, v)

    q, v, _ = states(robot, 30)
    gain = np.linspace(0, 1, 30)
    call = law.bind(robot)
    for _ in range(2):
        for arguments in ((q, v, gain), (q, v, 0.5), (q, v[2], gain)):
            torque, energy = call(*arguments)
            for k in (0, 13, 29):
                one = [np.asarray(x)[k] if np.ndim(x) > (j < 2) else x for j, x in enumerate(arguments)]
                assert np.array_equal(torque[k], call(*one)[0]) and energy[k] == call(*one)[1]

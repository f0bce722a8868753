"""Batches of every size and layout, threads, and the targets this CPU can stand in for.

Covers: compiler/codegen/batch.py, compiler/codegen/kernel.py, compiler/codegen/prefetches.py,
compiler/codegen/tiles.py, compiler/program.py.
"""

import re
import threading
import time
import tracemalloc

import numpy as np
import pytest

import kinetree as kt
from kinetree import ops
from kinetree.base.precision import FLOAT32, FLOAT64
from kinetree.compiler import program
from kinetree.compiler.program import build
from kinetree.compiler.runtime import call
from kinetree.compiler.runtime.call import Kernel, flat_rows
from kinetree.compiler.runtime.jit import assembly_of, compile_object, host
from kinetree.compiler.runtime.threads import run_ranges
from targets import RUNNABLE

LANES = host().lanes


def function(x, y):
    """Outputs of several shapes, one wider than a tile."""
    s = ops.sin(x[0]) * y[1] + x[2] / y[0]
    return np.outer(x, y) * s, s, np.array([x @ x, 1.0, 0.0, y[0]])


SHAPES = ((3, 7), (), (4,))


@pytest.fixture(scope="module")
def compiled():
    return Kernel(build(function, [(3,), (7,)], host()))


def outputs(n):
    return [np.full((n, int(np.prod(shape))), np.nan) for shape in SHAPES]


def expected(x, y):
    rows = [function(a, b) for a, b in zip(x, y, strict=True)]
    return [np.array([np.ravel(row[k]) for row in rows]).reshape(len(rows), -1) for k in range(3)]


def states(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 7)) + 3


@pytest.mark.parametrize("n", [1, LANES - 1, LANES, LANES + 1, 3 * LANES, 1000])
def test_sizes_and_tails(compiled, n):
    x, y = states(n)
    out = outputs(n)
    compiled.batch([x, y], out)
    for got, right in zip(out, expected(x, y), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-13, atol=1e-13)
    for k in {0, n // 2, n - 1}:
        one = outputs(1)
        compiled.single([x[k], y[k]], one)
        assert all(np.array_equal(a[0], b[k]) for a, b in zip(one, out, strict=True))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 1000])
def test_float32_in_every_layout(n):
    compiled = Kernel(build(function, [(3,), (7,)], host().computing_in(FLOAT32)))
    x, y = (array.astype(np.float32) for array in states(n))
    right = [array.astype(np.float32) for array in outputs(n)]
    compiled.batch([x, y], right)
    for got, exact in zip(right, expected(x.astype(float), y.astype(float)), strict=True):
        np.testing.assert_allclose(got, exact, rtol=2e-6, atol=2e-6)
    wide = np.zeros((n, 20), np.float32)
    wide[:, 18:4:-2] = y
    layouts = {"F": np.asfortranarray(y), "strided": wide[:, 18:4:-2], "big-endian": y.astype(">f4")}
    for name, b in layouts.items():
        out = [np.full_like(array, np.nan) for array in right]
        compiled.batch([x, b], out)
        assert all(np.array_equal(got, wanted) for got, wanted in zip(out, right, strict=True)), name
    for k in {0, n // 2, n - 1}:
        one = [array[:1] * np.nan for array in right]
        compiled.single([x[k], y[k]], one)
        assert all(np.array_equal(a[0], b[k]) for a, b in zip(one, right, strict=True))
    with pytest.raises(RuntimeError, match="arrays do not fit"):
        compiled.batch([x, y.astype(float)], right)


@pytest.mark.parametrize("n", [5, 2 * LANES, 100])
def test_layouts(compiled, n):
    x, y = states(n)
    right = outputs(n)
    compiled.batch([x, y], right)
    wide_x, wide_y = np.zeros((2 * n, 9)), np.zeros((n, 20))
    wide_x[::2, 1:7:2], wide_y[:, 18:4:-2] = x, y
    layouts = {
        "F": (np.asfortranarray(x), np.asfortranarray(y)),
        "mixed": (np.asfortranarray(x), y),
        "strided": (wide_x[::2, 1:7:2], wide_y[:, 18:4:-2]),
        "reversed": (x[::-1].copy()[::-1], y[::-1].copy()[::-1]),
        "misaligned": (misaligned(x), y),
        "big-endian": (x.astype(">f8"), y),
    }
    for name, (a, b) in layouts.items():
        out = outputs(n)
        compiled.batch([a, b], out)
        assert all(np.array_equal(got, wanted) for got, wanted in zip(out, right, strict=True)), name


def misaligned(x):
    raw = np.zeros(x.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(x.shape)
    view[...] = x
    return view


def test_a_broadcast_input_is_read_once_per_state(compiled):
    x, y = states(50)
    repeated = np.broadcast_to(x[0], x.shape)
    assert repeated.strides[0] == 0
    out, right = outputs(50), outputs(50)
    compiled.batch([repeated, y], out)
    compiled.batch([repeated.copy(), y], right)
    assert all(np.array_equal(got, wanted) for got, wanted in zip(out, right, strict=True))


def test_arrays_that_do_not_fit_never_reach_the_code(compiled):
    x, y = states(9)
    for inputs, out in (
        ([x, y[:, :6]], outputs(9)),
        ([x[:8], y], outputs(9)),
        ([x, y.astype(np.float32)], outputs(9)),
        ([x, y], [array[::2] for array in outputs(18)]),
        ([x, y], [*outputs(9)[:2], np.zeros((9, 3))]),
    ):
        with pytest.raises(RuntimeError, match="arrays do not fit"):
            compiled.batch(inputs, out)
    with pytest.raises(ValueError, match="zip"):
        compiled.batch([x], outputs(9))
    with pytest.raises(RuntimeError, match="arrays do not fit"):
        compiled.single([x[0], y[0, :3]], outputs(1))


def test_nothing_beyond_the_outputs_is_written(compiled):
    n = LANES + 3
    x, y = states(n)
    out = [np.full((n + 4, int(np.prod(shape))), 7.0) for shape in SHAPES]
    compiled.batch([x, y], [array[2 : n + 2] for array in out])
    for array in out:
        assert np.all(array[:2] == 7.0) and np.all(array[n + 2 :] == 7.0)
        assert not np.any(array[2 : n + 2] == 7.0)


@pytest.mark.parametrize("target", RUNNABLE)
def test_other_targets(target):
    lesser = Kernel(build(function, [(3,), (7,)], host(target)))
    x, y = states(37)
    out = outputs(37)
    lesser.batch([x, y], out)
    for got, right in zip(out, expected(x, y), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-13, atol=1e-13)
    one = outputs(1)
    lesser.single([x[36], y[36]], one)
    assert all(np.array_equal(a[0], b[36]) for a, b in zip(one, out, strict=True))


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32])
@pytest.mark.parametrize("name", RUNNABLE)
def test_long_rows_of_inputs_in_every_layout(name, dtype):
    """Rows of as many numbers as the parameters of a robot: whole tiles, pieces of tiles, lines ahead of the last."""
    target = host(name).computing_in(dtype)
    for n in (13, 60, 67):
        kernel = Kernel(build(lambda x, y: (np.cumsum(x * y), x[::-1] * 2.0), [(n,), (n,)], target))
        for states in (1, 5, 2 * target.lanes, 50):
            rng = np.random.default_rng(n)
            x, y = rng.integers(-9, 9, (2, states, n)).astype(dtype)
            wide = np.zeros((states, 2 * n), dtype)
            wide[:, ::2] = y
            for b in (y, np.asfortranarray(y), wide[:, ::2], np.broadcast_to(y[0], y.shape), y[::-1]):
                out = [np.full((states, n), np.nan, dtype) for _ in range(2)]
                kernel.batch([x, b], out)
                assert np.array_equal(out[0], np.cumsum(x * b, axis=1)) and np.array_equal(out[1], x[:, ::-1] * 2)


def test_short_kernels_transpose_long_rows_near_their_use():
    """A second kernel reads rows that are long and differ, and writes no column of them to the workspace; a kernel of
    several parts has none. The bits are the same in all layouts."""

    def short(x, y):
        return (np.sin(x) * y).sum()

    program = build(short, [(60,), (60,)], host())
    text = program.batch_assembly()
    body = re.search(r"@kinetree_block\.by_rows\(.*?\n}", text, re.DOTALL)[0]
    assert body.count("store ") == 1 and "kinetree.pack" not in body
    assert "by_rows(" not in build(short, [(49,), (49,)], host()).batch_assembly()
    several_parts = build(lambda x, y: [x := x * y + x for _ in range(30)], [(60,), (60,)], host())
    assert "by_rows(" not in several_parts.batch_assembly()
    x, y = np.random.default_rng(0).normal(size=(2, 37, 60))
    kernel, results = Kernel(program), []
    for rows in ([x, y], [np.asfortranarray(x), y], [np.asfortranarray(x), np.asfortranarray(y)]):
        out = [np.empty((37, 1))]
        kernel.batch(rows, out)
        results.append(out[0])
    one = [np.empty((1, 1))]
    kernel.single([x[3], y[3]], one)
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])
    assert results[0][3] == one[0]
    np.testing.assert_allclose(results[0][:, 0], (np.sin(x) * y).sum(axis=1), atol=1e-13)


def test_prefetches_are_spread_over_all_of_the_kernel():
    """One at a time, the lines of two rows of 40 numbers, and no more than one for every few operations."""

    def chain(x, y):
        for _ in range(20):
            x = x * y + x
        return x

    text = build(chain, [(40,), (40,)], host()).batch_assembly()
    body = re.search(r"@kinetree_block\.part0\(.*?\n}", text, re.DOTALL)[0].splitlines()
    found = [k for k, line in enumerate(body) if "llvm.prefetch" in line]
    assert len(found) == 2 * -(-40 * host().width.bytes // 64)
    assert max(np.diff(found)) < 0.1 * len(body) and found[0] > 30 and found[-1] > 0.9 * len(body)
    assert "llvm.prefetch" not in text[text.index("@kinetree.read(") :].split("\n}")[0]
    short = build(lambda x: x[:1] + 1.0, [(1000,)], host()).batch_assembly()
    assert short.count("@llvm.prefetch") <= 3  # those of the result
    many = build(chain, [(400,), (400,)], host()).batch_assembly()
    assert "i32 0, i32 2, i32 1)" in many and "i32 0, i32 2, i32 1)" not in text  # to L2, where they evict less


def test_threads_give_the_same_bits(compiled, monkeypatch):
    monkeypatch.setattr(call, "WORTH_A_THREAD", 1.0)
    x, y = states(1003)
    results = []
    before = kt.get_num_threads()
    try:
        for threads in (1, 2, 3, 8):
            kt.set_num_threads(threads)
            assert kt.get_num_threads() == threads
            out = outputs(1003)
            compiled.batch([x, y], out)
            results.append(out)
    finally:
        kt.set_num_threads(before)
    for out in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(out, results[0], strict=True))


def test_ranges_cover_everything_once_and_errors_come_through():
    for size, block, worth in [(1, 8, 4), (100, 8, 3), (1000, 4, 7), (16, 8, 2), (100_000, 8, 8)]:
        seen = np.zeros(size, dtype=int)

        def work(start, stop, seen=seen, block=block, size=size):
            assert start % block == 0 and (stop % block == 0 or stop == size)
            seen[start:stop] += 1

        run_ranges(work, size, block, worth)
        assert np.all(seen == 1)

    def fail(start, stop):
        raise ValueError("no")

    before = kt.get_num_threads()
    kt.set_num_threads(2)
    try:
        with pytest.raises(ValueError, match="no"):
            run_ranges(fail, 100, 1, 2)
    finally:
        kt.set_num_threads(before)


def test_a_long_compilation_says_so(monkeypatch, capsys):
    """One line, or a bar on a terminal; nothing if it is short."""
    monkeypatch.setattr(program, "SECONDS_PER_OPERATION", 1.0)
    Kernel(build(function, [(3,), (7,)], host(), "something large")).load("single")
    assert re.fullmatch(r"kinetree: compiling something large, \d+ operations: about \d+ s\n", capsys.readouterr().err)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(program, "compile_object", lambda *given: time.sleep(0.35) or compile_object(*given))
    Kernel(build(function, [(3,), (7,)], host(), "something large")).load("single")
    shown = capsys.readouterr().err
    assert shown.count("something large") > 1 and "─" in shown and shown.endswith("\r\x1b[K")
    monkeypatch.undo()
    Kernel(build(function, [(3,), (7,)], host())).load("single")
    assert capsys.readouterr().err == ""


def test_nobody_works_any_more_when_the_caller_leaves():
    """By an error of the caller, of a helper, or an interrupt while waiting."""
    before = kt.get_num_threads()
    kt.set_num_threads(4)
    busy = []
    lock = threading.Lock()

    def work(start, stop, failing):
        with lock:
            busy.append(start)
        time.sleep(0.05)
        with lock:
            busy.remove(start)
        if start == failing:
            raise KeyboardInterrupt if failing else ValueError("no")

    try:
        for failing in (0, 40):
            with pytest.raises((ValueError, KeyboardInterrupt)):
                run_ranges(lambda start, stop, failing=failing: work(start, stop, failing), 320, 8, 40)
            assert not busy
    finally:
        kt.set_num_threads(before)


@pytest.fixture
def two_threads():
    """A pool of its own, of two."""
    before = kt.get_num_threads()
    kt.set_num_threads(before + 1)
    kt.set_num_threads(2)
    yield
    kt.set_num_threads(before + 1)
    kt.set_num_threads(before)


def test_threads_that_cannot_be_started(two_threads, monkeypatch):
    """The work is done all the same, and nobody works on when it is said to be done; not even a helper that was busy
    elsewhere, and found it in the queue."""
    real, refused = threading.Thread.start, []
    seen, busy = np.zeros(320, dtype=int), []

    def refuse(thread):
        if thread.name.startswith("kinetree"):
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        real(thread)

    def work(start, stop):
        busy.append(start)
        time.sleep(0.05 if threading.current_thread().name.startswith("kinetree") else 0.002)
        seen[start:stop] += 1
        busy.remove(start)

    kt.set_num_threads(3)  # two callers and a helper
    elsewhere = threading.Thread(target=run_ranges, args=(lambda start, stop: time.sleep(0.02), 2, 1, 2))
    elsewhere.start()
    time.sleep(0.01)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    run_ranges(work, 320, 8, 40)
    assert refused and not busy and np.all(seen == 1)
    seen[:] = 0
    run_ranges(work, 320, 8, 40)
    assert not busy and np.all(seen == 1)
    elsewhere.join()


def test_batches_from_inside_the_pool(two_threads):
    """All its threads are busy with batches that ask for helpers: nobody waits for one that cannot come."""
    done = []

    def outer(start, stop):
        run_ranges(lambda start, stop: time.sleep(0.001), 16, 1, 16)
        done.extend(range(start, stop))

    callers = [threading.Thread(target=run_ranges, args=(outer, 8, 1, 8), daemon=True) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(20)
    assert not any(caller.is_alive() for caller in callers)
    assert sorted(done) == sorted(6 * list(range(8)))


@pytest.mark.parametrize("target", RUNNABLE)
def test_the_code_needs_nothing_from_outside(target):
    """It finds the C library through addresses it is given, so that it can lie anywhere; without fused multiply-add, it
    does not look for one there."""
    program = build(function, [(3,), (7,)], host(target))
    for assembly in (program.single_assembly(), program.batch_assembly()):
        called = re.findall(r"\t(?:callq?|blr?)\s+(\S+)", assembly_of(assembly, host(target)))
        assert called
        assert all(re.match(r"kinetree|\*|x\d", name) for name in called)


@pytest.mark.parametrize("count", [0, -1, 1.5, "two", None, True])
def test_a_wrong_number_of_threads(count):
    with pytest.raises(kt.ArgumentError, match=r"count is .*; expected an integer of at least 1"):
        kt.set_num_threads(count)


def test_flat_rows_is_a_view_where_it_can_be():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert np.shares_memory(flat_rows(x, (2, 3), (4,)), x)
    assert flat_rows(x[0, 0], (5, 2), (4,)).shape == (10, 4)
    scattered = flat_rows(x[:, :1], (2, 3), (4,))
    assert np.array_equal(scattered.block(4, 5)[0], x[1, 0]) and np.shares_memory(scattered.array, x)


LAYOUTS = {
    "broadcast outside": lambda n, core: np.broadcast_to(n(70, *core), (9, 70, *core)),
    "broadcast inside": lambda n, core: np.broadcast_to(n(9, 1, *core), (9, 70, *core)),
    "every other row": lambda n, core: n(9, 141, *core)[:, 1::2],
    "exchanged axes": lambda n, core: n(70, 9, *core).swapaxes(0, 1),
    "backwards": lambda n, core: n(18, 70, *core)[::-2, ::-1],
    "part of a matrix": lambda n, core: n(9, 70, *(n + 1 for n in core))[..., *(np.s_[1:],) * len(core)],
    "transposed matrix": lambda n, core: n(9, 70, *core[::-1]).transpose(0, 1, *range(len(core) + 1, 1, -1)),
    "misaligned": lambda n, core: _misaligned(n(9, 70, *core)),
    "other byte order": lambda n, core: _swapped(n(9, 70, *core)),
    "nine short rows": lambda n, core: np.broadcast_to(n(70, 1, *core), (70, 9, *core)).swapaxes(0, 1),
}


def _swapped(array):
    return array.astype(array.dtype.newbyteorder())


def _misaligned(array):
    raw = np.zeros(array.nbytes + 8, np.uint8)
    view = raw[3 : 3 + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


@pytest.mark.parametrize("core", [(3,), (2, 3)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("few", [0, call.FEW], ids=["many", "few"])
@pytest.mark.sampled(4)
def test_batches_of_several_axes_in_any_layout(layout, core, threads, dtype, few, monkeypatch):
    monkeypatch.setattr(call, "FEW", few)
    rng = np.random.default_rng(3)
    kernel = Kernel(build(lambda X, y: X * ops.sin(y[0]) + y[1], [core, (2,)], host().computing_in(dtype)))
    X = LAYOUTS[layout](lambda *shape: rng.normal(size=shape).astype(dtype), core)
    y = rng.normal(size=(9, 70, 2)).astype(dtype)
    right, got = np.empty((9, 70, *core), dtype), np.empty((9, 70, *core), dtype)
    before = kt.get_num_threads()
    kt.set_num_threads(threads)
    try:
        kernel.run([(np.array(X, dtype=dtype), core), (y, (2,))], (9, 70), [right])
        kernel.run([(X, core), (y, (2,))], (9, 70), [got])
    finally:
        kt.set_num_threads(before)
    assert np.array_equal(got, right) and np.isfinite(got).all()


def test_a_broadcast_batch_is_not_copied():
    robot, rng = kt.load("arm6"), np.random.default_rng(0)
    q, v, a = rng.normal(size=(40, 1, 6)), rng.normal(size=(5000, 6)), rng.normal(size=(6,))
    out = np.empty((40, 5000, 6))
    robot.inverse_dynamics(q, v, a, out=out)
    tracemalloc.start()
    robot.inverse_dynamics(q, v, a, out=out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < out.nbytes / 20
    assert np.array_equal(out[7], robot.inverse_dynamics(np.tile(q[7], (5000, 1)), v, np.tile(a, (5000, 1))))

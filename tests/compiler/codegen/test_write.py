"""Results of large batches: written past the cache, whatever their size and place, and into memory used again.

Covers: compiler/runtime/memory.py.
"""

import gc
import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.base.precision import FLOAT32, FLOAT64
from kinetree.compiler.codegen import batch as emit_batch
from kinetree.compiler.codegen.write import STREAMED
from kinetree.compiler.program import build
from kinetree.compiler.runtime import memory
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.memory import ALIGNED, LARGE, LINE, TOGETHER, Blocks
from natively import recycling
from targets import RUNNABLE


def kernel(n, target="", dtype=FLOAT64):
    """n results: products, with runs of zeros, ones, and plain inputs between them."""

    def function(x):
        kinds = [lambda k: x[k % 3] * float(k), lambda k: 0.0, lambda k: 1.0, lambda k: x[1]]
        return np.array([kinds[0 if k % 40 < 20 else k % 4 if k % 80 < 40 else 1](k) for k in range(n)], dtype=object)

    def rows(x):
        columns = []
        for k in range(n):
            kind = 0 if k % 40 < 20 else k % 4 if k % 80 < 40 else 1
            columns.append([x[:, k % 3] * float(k), 0.0 * x[:, 0], 0.0 * x[:, 0] + 1.0, x[:, 1]][kind])
        return np.stack(columns, axis=1, dtype=dtype)

    return Kernel(build(function, [(3,)], host(target).computing_in(dtype))), rows


@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("n", [64, 65, 100, 128, 131, 333])
@pytest.mark.parametrize("least", [0, 2**60], ids=["past the cache", "whole lines"])
@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.sampled(8)
def test_long_rows(n, target, least, dtype, monkeypatch):
    monkeypatch.setattr(emit_batch, "STREAMED", least)
    streaming, rows = kernel(n, target, dtype)
    rng = np.random.default_rng(n)
    lanes, line, size = streaming.source.target.lanes, 64 // dtype.itemsize, dtype.itemsize
    for states in (1, lanes, 5 * lanes, 5 * lanes + 3):
        x = rng.normal(size=(states, 3)).astype(dtype)
        for shift in range(line):  # from the start of a cache line to its last number
            held = np.full(states * n + 3 * line, np.nan, dtype=dtype)
            first = (-(held.ctypes.data // size)) % line + shift
            out = held[first : first + states * n].reshape(states, n)
            streaming.batch([x], [out])
            assert np.array_equal(out, rows(x))
            assert np.isnan(held[:first]).all() and np.isnan(held[first + states * n :]).all()


def test_the_size_decides():
    both, rows = kernel(100)
    text = both.source.batch_assembly()
    assert "!nontemporal" in text and re.search(rf"icmp sge i64 %\S+, {STREAMED}\n", text)
    x = np.random.default_rng(0).normal(size=(STREAMED // 800 + 9, 3))
    for states in (5, len(x)):
        out = np.empty((states, 100))
        both.batch([x[:states]], [out])
        assert np.array_equal(out, rows(x[:states]))


def test_short_rows_are_written_as_they_are():
    assert "call fastcc void @kinetree.vectors." not in kernel(63)[0].source.batch_assembly()


@pytest.mark.parametrize("count", [ALIGNED // 8, LARGE // 8, LARGE // 4 + 1])
@pytest.mark.parametrize("limit", [0, 2 * LARGE])
def test_large_results_begin_at_a_cache_line(count, limit):
    for array in [Blocks(limit).empty((count, 1)) for _ in range(4)]:
        assert array.ctypes.data % LINE == 0 and array.flags.c_contiguous and array.flags.writeable
        assert array.shape == (count, 1)


# -- memory of large results ---------------------------------------------------------------------------------------


def test_memory_comes_back_only_when_nobody_has_it():
    blocks = Blocks(4 * LARGE)
    shape = (LARGE // 80 + 1, 10)
    first = blocks.empty(shape)
    assert first.shape == shape and first.dtype == np.float64 and first.flags.c_contiguous and first.flags.writeable
    address = first.ctypes.data
    view = first[3:5].T
    del first
    other = blocks.empty(shape)
    assert other.ctypes.data != address  # somebody still looks at it
    del view
    again = blocks.empty(shape)
    assert again.ctypes.data == address
    assert not np.may_share_memory(again, other)


def test_blocks_are_bounded():
    blocks = Blocks(2 * LARGE)
    kept = [blocks.empty((LARGE // 8,)) for _ in range(5)]
    addresses = {array.ctypes.data for array in kept}
    assert len(addresses) == 5
    for k, array in enumerate(kept):
        array[:] = k
    assert all((array == k).all() for k, array in enumerate(kept))
    assert sum(map(len, blocks._blocks)) <= 2 * LARGE
    blocks.set_limit(0)
    assert not blocks._blocks
    assert blocks.empty((LARGE // 8,)).shape and not blocks._blocks


def test_no_blocks_for_small_and_huge_results():
    blocks = Blocks(2 * LARGE)
    assert blocks.empty((3, 4)).flags.owndata
    assert blocks.empty((2 * LARGE // 8 + 1,)).shape
    assert not blocks._blocks


@recycling
def test_a_loop_takes_turns(monkeypatch):
    robot = kt.load("arm6")
    q = robot.random(np.random.default_rng(0), size=LARGE // (8 * 36) + 1)
    monkeypatch.setattr(memory._blocks, "limit", 8 * LARGE)
    expected = robot.mass_matrix(q)
    addresses = set()
    for _ in range(4):
        M = robot.mass_matrix(q)
        assert np.array_equal(M, expected)
        addresses.add(M.ctypes.data)
    assert len(addresses) == 2 and expected.ctypes.data not in addresses
    assert expected[7].base is expected.base
    del M, expected
    gc.collect()
    kt.set_result_memory(0)
    assert not memory._blocks._blocks


def test_several_results_take_turns_where_they_are_large_together(monkeypatch):
    robot = kt.load("arm6")
    count = TOGETHER // (8 * 72) + 1
    q, v, a = robot.random(np.random.default_rng(0), size=count), np.zeros(6), np.ones(6)
    monkeypatch.setattr(memory._blocks, "limit", 8 * LARGE)
    expected = robot.inverse_dynamics_derivatives(q, v, a)
    assert expected[0].nbytes < LARGE
    addresses = set()
    for _ in range(4):
        both = robot.inverse_dynamics_derivatives(q, v, a)
        assert all(np.array_equal(x, y) for x, y in zip(both, expected, strict=True))
        addresses |= {x.ctypes.data for x in both}
    assert len(addresses) == 4 and not addresses & {x.ctypes.data for x in expected}
    few = robot.inverse_dynamics_derivatives(q[: count // 2], v, a)
    assert not {id(x.base) for x in few} & {id(block) for block in memory._blocks._blocks}
    kt.set_result_memory(0)


@pytest.mark.parametrize("size", [-1, 1.5, "1 GB", True, None])
def test_a_wrong_size(size):
    with pytest.raises(kt.ArgumentError, match=r"size is .*; expected a number of bytes of at least 0"):
        kt.set_result_memory(size)

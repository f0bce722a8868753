"""Results of native calls that are used again: only when nobody could ever tell.

Covers: compiler/codegen/entry/results.py.
"""

import ctypes
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import kinetree as kt
from natively import native_only, natively, recycling

pytestmark = native_only


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture
def call(arm):
    """A native call with a result of (6, 6)."""
    arm.mass_matrix(arm.neutral())
    return arm.mass_matrix


def overwrite(arm, call, times=8):
    """As many other results as it takes to use all that is free."""
    rng = np.random.default_rng(1)
    held = [natively(call, arm.random(rng)) for _ in range(times // 2)]
    for _ in range(times):
        natively(call, arm.random(rng))
    return held


@recycling
def test_two_arrays_take_turns(arm, call):
    q = arm.random(0)
    right = np.array(call(q))
    seen = set()
    for _ in range(100):
        result = call(q)
        assert np.array_equal(result, right)
        seen.add(id(result))
    assert len(seen) == 2


def test_results_that_are_kept_are_all_different(arm, call):
    qs = arm.random(0, 50)
    kept = [call(q) for q in qs]
    assert len({id(item) for item in kept}) == len({item.__array_interface__["data"][0] for item in kept}) == 50
    overwrite(arm, call)
    assert np.array_equal(kept, call(qs))


def generator(array):
    yield 0.0
    yield from array.ravel()


def running(array):
    steps = generator(array)
    next(steps)
    return steps


def in_thread(array):
    """Held by nothing but the stack of another thread."""
    go, box = threading.Event(), []

    def wait(array):
        go.wait()
        box.append(array.copy())

    thread = threading.Thread(target=wait, args=(array,))
    thread.start()

    def finish():
        go.set()
        thread.join()
        return box[0]

    return finish


class Exports:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


HOLDERS = {
    "itself": (lambda x: x, np.array),
    "a view": (lambda x: x[1:, ::2], lambda x: x.base),
    "an element's view": (lambda x: x[2, 2:3], lambda x: x.base),
    "transposed": (lambda x: x.T, lambda x: x.T),
    "reshaped": (lambda x: x.reshape(-1), lambda x: x.reshape(6, 6)),
    "another dtype": (lambda x: x.view(np.int64), lambda x: x.view(float)),
    "a subclass": (lambda x: x.view(np.recarray), np.asarray),
    "memoryview": (memoryview, np.asarray),
    "memory of a view": (lambda x: x[1:].data, lambda x: x.obj.base),
    "flat": (lambda x: x.flat, lambda x: x.base),
    "iterator": (np.nditer, lambda x: x.operands[0]),
    "row by row": (iter, lambda x: np.array(list(x))),
    "flags": (lambda x: x.flags, None),
    "generator": (running, lambda x: np.array(list(x)).reshape(6, 6)),
    "closure": (lambda x: lambda: x, lambda x: x()),
    "method": (lambda x: x.copy, lambda x: x()),
    "ctypes": (lambda x: x.ctypes.data_as(ctypes.c_void_p), lambda x: x._arr),
    "ctypes buffer": ((ctypes.c_double * 36).from_buffer, lambda x: np.array(x).reshape(6, 6)),
    "interface": (Exports, np.asarray),
    "capsule": (lambda x: x.__array_struct__, None),
    "dlpack": (np.from_dlpack, np.array),
    "buffer": (np.frombuffer, lambda x: x.reshape(6, 6)),
    "object array": (lambda x: np.array([x, None], dtype=object)[:1], lambda x: x[0]),
    "thread": (in_thread, lambda x: x()),
}


@pytest.mark.parametrize(("keep", "look"), HOLDERS.values(), ids=HOLDERS)
def test_whoever_still_sees_a_result_sees_it_unchanged(arm, call, keep, look):
    for turn in range(4):
        q = arm.random(turn)
        result = natively(call, q)
        right, address = result.copy(), result.__array_interface__["data"][0]
        holder = keep(result)
        del result
        others = overwrite(arm, call)
        assert all(item.__array_interface__["data"][0] != address for item in others)
        if look is not None:
            assert np.array_equal(look(holder), right)
        del holder


@recycling
def test_a_weak_reference_sees_the_result_or_nothing(arm, call):
    """Never another result in its place."""
    seen = []
    for turn in range(20):
        q = arm.random(turn)
        result = natively(call, q)
        right, reference = result.copy(), weakref.ref(result)
        del result
        kept = []
        for k in range(6):
            kept.append(natively(call, arm.random(100 + k)))
            if turn % 2:
                kept.clear()
            found = reference()
            seen.append(found is None)
            assert found is None or np.array_equal(found, right)
            del found
    assert any(seen) and not all(seen)


def readonly(x):
    x.setflags(write=False)


def flat(x):
    x.shape = (36,)


def integers(x):
    x.dtype = np.int64


def scrambled(x):
    x[:] = np.nan


def larger(x):
    x.resize((100, 100), refcheck=False)


def smaller(x):
    x.resize(3, refcheck=False)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("change", [readonly, flat, integers, scrambled, larger, smaller], ids=lambda f: f.__name__)
def test_a_result_that_was_changed_does_not_come_back(arm, call, change):
    for turn in range(6):
        q = arm.random(turn)
        right = np.array(type(arm).mass_matrix(arm, q))
        for _ in range(3):
            result = natively(call, q)
            assert type(result) is np.ndarray and result.dtype == float and result.shape == (6, 6)
            assert result.flags.writeable and result.flags.owndata and result.flags.c_contiguous
            assert np.array_equal(result, right)
            change(result)
            del result


def test_a_result_may_be_the_next_argument(arm):
    difference = arm.difference
    q = arm.random(0)
    right = q.copy()
    for _ in range(6):
        right = np.array(type(arm).difference(arm, right, q))
    found = q
    for _ in range(6):
        found = difference(found, q)
    assert np.array_equal(found, right)
    assert np.array_equal(
        difference(difference(q, q + 1), difference(q, q + 2)), difference(np.ones(6), np.full(6, 2.0))
    )
    total = difference(q, q + 1) + difference(q, q + 2) + difference(q, q + 4)  # three results in one expression
    np.testing.assert_allclose(total, np.full(6, 7.0))


def test_out_may_be_an_earlier_result(arm, call):
    first, second = call(arm.random(0)), call(arm.random(1))
    right = np.array(call(arm.random(2)))
    assert call(arm.random(2), out=first) is first and np.array_equal(first, right)
    del second
    overwrite(arm, call)
    assert np.array_equal(first, right)


def test_a_callback_that_calls_again_while_a_result_is_let_go(arm, call):
    """The entry gives up a result; what hears of that calls the same entry."""
    q, heard = arm.random(0), []
    right = np.array(call(q))

    def callback(reference):
        heard.append(call(q).copy())

    kept = []
    for _ in range(50):
        result = call(q)
        kept.append(weakref.ref(result, callback))
        keep_two = [call(q), call(q), call(q)]
        assert all(np.array_equal(item, right) for item in keep_two)
    del result, keep_two
    assert heard and all(np.array_equal(item, right) for item in heard)


@recycling
def test_a_robot_that_goes_lets_its_results_go():
    robot = kt.load("arm6")
    q = robot.neutral()
    robot.gravity_forces(q)
    died = []
    result = robot.gravity_forces(q)
    weakref.finalize(result, died.append, True)
    other = np.zeros(6)
    assert sys.getrefcount(result) == sys.getrefcount(other) + 1  # the entry's
    del robot
    gc.collect()
    assert not died and sys.getrefcount(result) == sys.getrefcount(other)
    del result
    assert died

"""Native calls that are interrupted, short of memory, or made by several threads."""

import gc
import itertools
import signal
import sys
import threading
import time
from textwrap import dedent

import numpy as np
import pytest

import kinetree as kt
from kinetree.base.locks import FREE_THREADED
from natively import native_only
from processes import run
from used_robots import Q, fresh


@pytest.fixture(autouse=True)
def collected():
    """Nothing is collected but when a test says so."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # where Python cannot pass it on
def test_an_interrupt_leaves_everything_usable():
    robot, tool, mass, jacobian = fresh()
    call, out = robot.mass_matrix, np.zeros((6, 6))
    batch = np.array([Q] * 3)

    def interrupt(number, frame):
        interrupted.append(True)
        raise KeyboardInterrupt

    interrupted = []
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(60):
            interrupted.clear()
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0003 * (k % 7))
                while not interrupted:
                    call(Q)
                    call(Q, out=out)
                    tool.jacobian(Q, reference="world-aligned")
                    call(list(Q))
                    call(batch)
            except KeyboardInterrupt:
                pass
            assert np.array_equal(call(Q), mass) and np.array_equal(tool.jacobian(Q), jacobian)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_eight_threads_call_the_same_methods():
    robot, tool, _, _ = fresh()
    qs = robot.random(0, 8)
    right = [(np.array(robot.mass_matrix(q)), np.array(tool.jacobian(q, "local"))) for q in qs]
    wrong = []

    def work(k):
        out = np.zeros((6, 6))
        kept = []
        for _ in range(300):
            results = robot.mass_matrix(qs[k]), tool.jacobian(qs[k], "local"), robot.mass_matrix(qs[k], out=out)
            kept.append(results[0])
            if not all(np.array_equal(a, b) for a, b in zip(results, (*right[k], right[k][0]), strict=True)):
                wrong.append(k)
        if not all(np.array_equal(item, right[k][0]) for item in kept):
            wrong.append(k)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


@native_only
@pytest.mark.skipif(FREE_THREADED, reason="without a global lock, numbers of an array change one by one")
def test_an_array_that_another_thread_changes_is_read_before_or_after():
    """A native call is one step to other threads."""
    robot, _, _, _ = fresh()
    states = robot.random(0, 2)
    rights = [np.array(robot.mass_matrix(q)) for q in states]
    q, stop, seen = states[0].copy(), threading.Event(), set()

    def change():
        for k in itertools.cycle((0, 1)):
            q[:] = states[k]
            if stop.is_set():
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=change)
    thread.start()
    try:
        end = time.monotonic() + 5.0
        while len(seen) < 2 and time.monotonic() < end:
            for _ in range(500):
                result = robot.mass_matrix(q)
                fitting = [k for k in (0, 1) if np.array_equal(result, rights[k])]
                assert fitting
                seen.update(fitting)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert seen == {0, 1}


@pytest.mark.skipif(FREE_THREADED, reason="without a global lock, NumPy itself does not allow that")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_array_whose_shape_another_thread_changes():
    robot, _, mass, _ = fresh()
    q, stop, outcomes = Q.copy(), threading.Event(), set()

    def change():
        while not stop.is_set():
            q.shape = (2, 3)
            q.shape = (6,)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=change)
    thread.start()
    try:
        end = time.monotonic() + 1.0
        while len(outcomes) < 2 and time.monotonic() < end:
            for _ in range(200):
                try:
                    assert np.array_equal(robot.mass_matrix(q), mass)
                    outcomes.add("right")
                except (kt.ArgumentError, RuntimeError) as error:
                    assert "shape" in str(error) or "do not fit" in str(error)
                    outcomes.add("refused")
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert "right" in outcomes


def test_a_list_and_a_dict_that_another_thread_changes():
    """Their items come and go; a call has the old ones or the new ones, or says that they do not fit."""
    robot, _, _, _ = fresh()
    numbers, pushes, stop, outcomes = list(Q), {"tool0": np.ones(6)}, threading.Event(), set()
    robot.prepare("gravity_forces")
    robot.prepare("bias_forces", wrenches=["tool0", "forearm_link"])

    def change():
        for k in itertools.count():
            numbers.append(float(k))  # a new object, and perhaps a new place for all of them
            del numbers[6:]
            numbers[k % 6] = float(k)
            pushes["tool0"] = np.full(6, float(k))
            pushes["forearm_link"] = np.ones(6)
            del pushes["forearm_link"]
            if stop.is_set():
                return

    thread = threading.Thread(target=change)
    thread.start()
    try:
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            for call in (lambda: robot.gravity_forces(numbers), lambda: robot.bias_forces(Q, Q, pushes)):
                try:
                    assert np.isfinite(call()).all()
                    outcomes.add("computed")
                except (kt.KinetreeError, RuntimeError) as error:
                    assert "shape" in str(error) or "expected" in str(error) or "changed" in str(error), error
    finally:
        stop.set()
        thread.join()
    assert "computed" in outcomes


class Endless:
    """Read by reading it."""

    def __init__(self, call):
        self.call = call

    def __array__(self, dtype=None, copy=None):
        return self.call(self)


def test_endless_recursion_is_an_exception():
    robot, tool, mass, _ = fresh()
    for call in (robot.mass_matrix, tool.jacobian):
        with pytest.raises((RecursionError, kt.ArgumentTypeError)):
            call(Endless(call))
    with pytest.raises((RecursionError, kt.ArgumentTypeError)):
        robot.bias_forces(Q, Q, {"tool0": Endless(robot.mass_matrix)})
    assert np.array_equal(robot.mass_matrix(Q), mass)


NO_MEMORY = """
    import sys
    import _testcapi
    import numpy as np
    import kinetree as kt

    robot = kt.load("arm6")
    tool, q = robot.frame("tool0"), robot.random(0)
    wrench = kt.Wrench(np.ones(6))
    named = {"reference": "world-aligned"}
    native = [
        lambda: robot.mass_matrix(q),
        lambda: robot.potential_energy(q),
        lambda: tool.jacobian(q, **named),
        lambda: robot.bias_forces(q, q, {"tool0": wrench}),
    ]
    through_python = [
        lambda: robot.mass_matrix([0.0] * 6),
        lambda: robot.mass_matrix(q, q),
        lambda: tool.jacobian(q, "no"),
    ]
    fail, mend = _testcapi.set_nomemory, _testcapi.remove_mem_hooks
    failed = 0
    for call in native + through_python:
        errors = (MemoryError, TypeError, ValueError) + (SystemError,) * (call in through_python)
        right = None
        for start in [None, *range(60), None]:
            kept = []
            try:
                try:
                    if start is not None:
                        fail(start, start + 1 + start % 5)
                    for _ in range(4):
                        kept.append(call())
                finally:
                    mend()
            except errors as error:  # Python 3.11 itself may fail to say why it could not make a frame
                failed += isinstance(error, MemoryError)
            if start is None and kept:
                right = right if right is not None else kept[0]
            assert all(np.array_equal(item, right) for item in kept)
    print(failed > 50)
    """


@native_only
def test_when_any_allocation_fails():
    """Every one of the first allocations of a call, in turn, by CPython's own means; the process goes on."""
    pytest.importorskip("_testcapi")
    out = run(dedent(NO_MEMORY))
    assert out.split() == ["True"]


TOO_LARGE = """
    import resource, sys
    import numpy as np
    from kinetree.compiler.runtime.call import Loaded
    from kinetree.compiler.runtime.code import Code
    from kinetree.compiler.runtime.jit import compile_object, host
    from kinetree.compiler.runtime.native import Interface, NativeEntry, Variant

    text = '''
    define void @kinetree_single(ptr %inputs, ptr %outputs, ptr %workspace) nounwind {
      ret void
    }
    define void @kinetree_bind(ptr %table) nounwind {
      ret void
    }
    '''
    code = Loaded("single", Code(compile_object(text, host()), 1, 0), host())

    def call_of(results, bare):
        interface = Interface("call", "call($self, x)", (("x", (1,)),), results, bare, print, "here")
        entry = NativeEntry(interface)
        entry.set_variants([])
        aligned_zeros = entry._aligned_zeros
        entry._aligned_zeros = lambda size: aligned_zeros(64)  # the kernel writes nothing
        entry.set_variants([Variant(code)])
        return entry.bind(None)

    large = (1 << 27,)
    calls = [call_of((large,), True), call_of(((3,), (), large, (2,)), False)]
    small = call_of(((3,),), True)
    x = np.zeros(1)
    for call in (*calls, small, small):
        call(x)
    counts = [sys.getrefcount(item) for item in (x, x.dtype, None)]
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20), limits[1]))
    failed = 0
    for _ in range(200):
        for call in calls:
            try:
                kept = [call(x), call(x)]
            except MemoryError:
                failed += 1
            kept = None
        assert small(x).shape == (3,)
    resource.setrlimit(resource.RLIMIT_AS, limits)
    print(failed)
    print(all(abs(sys.getrefcount(item) - count) < 20 for item, count in zip((x, x.dtype, None), counts)))
    """


@native_only
@pytest.mark.skipif(FREE_THREADED, reason="without memory for the call itself, it is left to Python")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux how much memory is used")
def test_when_there_is_no_memory_for_a_result():
    out = run(dedent(TOO_LARGE))
    assert out.split() == ["400", "True"]

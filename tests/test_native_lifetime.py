"""Native calls whose robot is going or gone, that are interrupted, short of memory, or made by several threads."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import hold, native
from kinetree.compiler.emit.entry import records
from natively import in_python, native_only, natively

Q = np.linspace(-1.0, 1.0, 6)


@pytest.fixture(autouse=True)
def collected():
    """Nothing is collected but when a test says so."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def fresh():
    """A robot that has been used, and right results of it."""
    robot = kt.load("arm6")
    tool = robot.frame("tool0")
    return robot, tool, np.array(robot.mass_matrix(Q)), np.array(tool.jacobian(Q))


def run(text, *, status=0, timeout=120, **environment):
    """Output of a Python program, whose exit status is checked."""
    code = textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


# -- robots that are gone ----------------------------------------------------------------------------------------------


def test_a_method_outlives_every_name_of_its_robot():
    """In whatever order the names go."""
    for order in itertools.permutations(["robot", "tool", "mass_matrix"]):
        robot, tool, mass, jacobian = fresh()
        names = {"robot": robot, "tool": tool, "mass_matrix": robot.mass_matrix}
        call, gone = tool.jacobian, weakref.ref(robot)
        del robot, tool
        for name in order:
            del names[name]
            gc.collect()
            assert np.array_equal(call(Q), jacobian)
            assert np.array_equal(call.__self__.robot.mass_matrix(Q), mass)
        assert gone() is not None
        del call
        gc.collect()
        assert gone() is None


@native_only
def test_methods_of_robots_that_are_gone_stay_native_and_apart():
    kept, right = [], []
    for k in range(20):
        robot = kt.load("arm6", gravity=(0.0, 0.0, -float(k)))
        robot.gravity_forces(Q)
        kept.append(robot.gravity_forces)
        right.append(np.array(in_python(robot.gravity_forces, Q)))
        del robot
        if k % 3 == 0:
            gc.collect()
    for call, expected in zip(kept, right, strict=True):
        assert np.array_equal(natively(call, Q), expected)
    del kept[::2], call
    gc.collect()
    others = [kt.load("arm6", base="floating").potential_energy for _ in range(30)]  # in the places that are free now
    for call in others:
        call(call.__self__.neutral())
    for call, expected in zip(kept, right[1::2], strict=True):
        assert np.array_equal(natively(call, Q), expected)


class User:
    """Calls a robot when it is finalized."""

    def __init__(self, robot, tool, seen):
        self.robot, self.tool, self.seen = robot, tool, seen
        self.mass_matrix, self.jacobian, self.Q = robot.mass_matrix, tool.jacobian, Q
        self.itself = self

    def __del__(self):
        for _ in range(3):
            self.seen.append((np.array(self.mass_matrix(self.Q)), np.array(self.jacobian(self.Q))))
        self.seen.append((self.mass_matrix(np.array([self.Q]))[0], self.jacobian(np.array([self.Q]))[0]))
        self.seen.append((self.robot.mass_matrix(list(self.Q)), self.tool.jacobian(list(self.Q))))


def test_finalizers_in_a_cycle_with_the_robot_still_call_it():
    """The collector finalizes what is dead in the order in which it was made, so users come before and after."""
    for place in range(3):
        seen = []
        user = User.__new__(User) if place == 0 else None
        robot, tool, mass, jacobian = fresh()
        robot.mass_matrix(np.array([Q])), tool.jacobian(np.array([Q]))
        user = user or User.__new__(User)
        user.__init__(robot, tool, seen)
        if place == 2:
            gc.collect()
        robot.__dict__["user"] = user
        died = weakref.ref(robot)
        del robot, tool, user
        gc.collect()
        assert died() is None and len(seen) == 5
        for found_mass, found_jacobian in seen:
            assert np.array_equal(found_mass, mass)
            assert np.array_equal(found_jacobian, jacobian)


class Saviour:
    """Saves the method when it is finalized, and with it the robot."""

    def __init__(self, call, saved):
        self.call, self.saved, self.itself = call, saved, self

    def __del__(self):
        self.saved.append(self.call)


def test_a_robot_that_a_finalizer_saves_is_whole():
    """Others that come after it do not get its place."""
    saved, right = [], []
    for k in range(5):
        robot = kt.load("arm6", gravity=(0.0, 0.0, -1.0 - k))
        right.append(np.array(robot.gravity_forces(Q)))
        robot.__dict__["saviour"] = Saviour(robot.gravity_forces, saved)
        del robot
        gc.collect()
        others = [kt.load("arm6", base="floating") for _ in range(3)]
        for other in others:
            other.mass_matrix(other.neutral())
        assert len(saved) == k + 1
    for call, expected in zip(saved, right, strict=True):
        assert np.array_equal(call(Q), expected) and np.array_equal(call(Q), expected)
    del saved, call
    gc.collect()


@native_only
def test_doors_are_used_again():
    """Robots come and go, and the number of pages stays."""
    robot = kt.load("arm6")
    robot.mass_matrix(Q)
    model = robot.model
    gc.collect()

    def free():
        return sum(len(page.free) for page in native._pages)

    before = len(native._pages), free()
    for _ in range(3 * records.DOORS):
        robot = kt.Robot(model)
        assert robot.mass_matrix is not None and robot.frame("tool0").pose is not None
        del robot
        gc.collect(0)
    gc.collect()
    assert len(native._pages) <= before[0] + 1 and free() >= before[1]
    many = [kt.Robot(model) for _ in range(records.DOORS + 1)]
    calls = [robot.mass_matrix for robot in many]
    assert len({id(call) for call in calls}) == len(many)
    assert len(native._pages) > 1
    assert all(np.array_equal(call(Q), calls[0](Q)) for call in calls)


@native_only
def test_a_door_that_is_closed_says_so():
    """Only one who takes a call's home away can have such a call."""
    interface = native.Interface("call", "call($self)\n--\n\n", (), ((1,),), True, print, __name__)
    call = native.Door(interface).bind(None)
    call.__module__ = "elsewhere"
    gc.collect()
    with pytest.raises(ReferenceError, match="is gone"):
        call()
    with pytest.raises(ReferenceError, match="is gone"):
        call(1, out=2)


def test_the_collector_does_not_see_what_is_held():
    class Finalized:
        def __del__(self):
            died.append(True)

    died, thing = [], Finalized()
    reference = weakref.ref(thing)
    cycle = [hold.hold(thing)]
    cycle.append(cycle)
    assert not gc.is_tracked(cycle[0])
    del thing
    assert reference() is not None
    del cycle
    assert not died
    gc.collect()
    assert died and reference() is None


EXIT = """
    import atexit, builtins, sys
    import numpy as np, kinetree as kt

    class User:
        def __init__(self):
            self.itself = self
            self.robot, self.tool, self.q, self.right, self.same = robot, tool, q, right, np.array_equal
            self.write = sys.stdout.write

        def __del__(self):
            self.robot.mass_matrix(self.q)
            self.write("right " if (self.robot.mass_matrix(self.q) == self.right).all() else "wrong ")
            self.tool.jacobian(self.q)

    robot = kt.load("arm6")
    tool, q = robot.frame("tool0"), robot.random(0)
    right = robot.mass_matrix(q).copy()
    tool.jacobian(q)
    users = [User(), User()]
    del users[1].itself
    robot.__dict__["user"] = User()
    sys.modules["another"] = type(sys)("another")
    sys.modules["another"].user = User()
    builtins.user = User()
    atexit.register(User)
    """


def test_calls_while_the_interpreter_shuts_down():
    """Of finalizers that run when modules are already gone."""
    out, err = run(EXIT)
    assert out.split() == ["right"] * 6
    assert err == ""


# -- interrupts, threads, memory ---------------------------------------------------------------------------------------


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
    out, _ = run(NO_MEMORY)
    assert out.split() == ["True"]


TOO_LARGE = """
    import resource, sys
    import numpy as np
    from kinetree.compiler.call import Loaded
    from kinetree.compiler.code import Code
    from kinetree.compiler.jit import compile_object, host
    from kinetree.compiler.native import Door, Interface, Variant

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
        door = Door(interface)
        door.lead_to([])
        rooms = door._room
        door._room = lambda size: rooms(64)  # the kernel writes nothing
        door.lead_to([Variant(code)])
        return door.bind(None)

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
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux how much memory is used")
def test_when_there_is_no_memory_for_a_result():
    out, _ = run(TOO_LARGE)
    assert out.split() == ["400", "True"]

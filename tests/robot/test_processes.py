"""Robots across processes and threads: pickled, forked, raced, and still in use when Python ends."""

import os
import sys
import textwrap
import threading
from collections import Counter

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import program
from kinetree.compiler.runtime import native
from kinetree.functions.specialization import Specialization
from processes import finish, run, start

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


# -- pickled ----------------------------------------------------------------------------------------------------------

WORKER = """
import numpy as np

def apply(call):
    function, arguments = call
    return function(*arguments), function.__self__

def use(robot):
    q = robot.neutral()
    return robot.mass_matrix(q), robot.frame("tool0").pose(np.array([q, q]))
"""

SPAWN = """
import multiprocessing
import numpy as np
import kinetree as kt
import worker

if __name__ == "__main__":
    robot = kt.load("arm6", "floating", gravity=(0, 0, -1.62))
    tool, q, v = robot.frame("tool0"), robot.random(0, 4), np.ones(robot.nv)
    calls = [
        (robot.mass_matrix, (q[0],)),
        (robot.mass_matrix, (q,)),
        (robot.bias_forces, (q[1], v, {"tool0": kt.Wrench(np.ones(6), "local")})),
        (tool.jacobian, (q[2], "local")),
        (robot.eager.gravity_forces, (q[3],)),
    ]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for (function, arguments), (result, owner) in zip(calls, pool.map(worker.apply, calls)):
            assert np.array_equal(result, function(*arguments)), function
            assert owner == function.__self__
        for got, expected in zip(pool.map(worker.use, [robot])[0], worker.use(robot)):
            assert np.array_equal(got, expected)
    print("done")
"""


@pytest.mark.sweep
def test_robots_frames_and_bound_calls_reach_a_spawned_process(tmp_path):
    (tmp_path / "worker.py").write_text(WORKER)
    assert run(SPAWN, cwd=tmp_path).strip() == "done"


# -- forked -----------------------------------------------------------------------------------------------------------

FORK = """
import os, signal, sys, threading, warnings
import numpy as np
import kinetree as kt

warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads, from Python 3.12 on

def ends_well(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def forked(work):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            right = work()
        except BaseException:
            os._exit(2)
        os._exit(0 if right else 1)
    return child
"""

AFTER_A_BATCH = """
kt.set_num_threads(2)
arm = kt.load("arm6")
q = arm.random(0, 300_000)
tau, one, some = arm.inverse_dynamics(q, q, q), arm.inverse_dynamics(q[0], q[0], q[0]), arm.poses(q[:9])
names = [thread.name for thread in threading.enumerate()]
assert any(name.startswith("kinetree") for name in names), names
M = kt.load("arm7").mass_matrix(np.zeros(7))

def work():
    right = np.array_equal(arm.inverse_dynamics(q, q, q), tau)
    right = right and sum(thread.name.startswith("kinetree") for thread in threading.enumerate()) == 1
    right = right and np.array_equal(arm.inverse_dynamics(q[0], q[0], q[0]), one)
    right = right and np.array_equal(arm.poses(q[:9]), some)
    right = right and np.array_equal(kt.load("arm7").mass_matrix(np.zeros(7)), M)  # compiled here, with the cache off
    kt.set_num_threads(3)
    return right and np.array_equal(arm.inverse_dynamics(q, q, q), tau)

assert all([ends_well(child) for child in [forked(work) for _ in range(3)]])
assert np.array_equal(arm.inverse_dynamics(q, q, q), tau)
assert ends_well(forked(lambda: ends_well(forked(work))))
print("done")
"""


@forks
def test_a_child_after_threads_ran_a_batch():
    assert run(FORK + AFTER_A_BATCH, KINETREE_CACHE="0").strip() == "done"


MEANWHILE = """
arm, small = kt.load("arm6"), kt.load("planar2")
q = arm.random(0, 300)
kt.cache.warm(small, "mass_matrix", "poses")
tau = arm.inverse_dynamics(q, q, q)
G = kt.load("arm6").gravity_forces(q[0])
stop = threading.Event()

def load_and_forget():
    while not stop.is_set():
        for _ in range(4):
            robot = kt.load("planar2")
            robot.prepare("mass_matrix")
            robot.prepare("poses", batch=True)
            for name in ("_functions", *[name for name in vars(robot) if callable(vars(robot)[name])]):
                vars(robot).pop(name)  # what it holds goes now, not with the next collection

def compile_anew():
    k = 0
    while not stop.is_set():
        k += 1
        kt.load("planar2", gravity=(0, 0, -k)).gravity_forces(np.zeros(2))

def small_batches():
    while not stop.is_set():
        assert np.array_equal(arm.inverse_dynamics(q, q, q), tau)

def work():
    fresh = kt.load("arm6")
    right = np.array_equal(fresh.gravity_forces(q[0]), G) and np.array_equal(arm.inverse_dynamics(q, q, q), tau)
    return right and fresh.prepare("mass_matrix") is None

threads = [threading.Thread(target=target) for target in (load_and_forget, compile_anew, small_batches)]
for thread in threads:
    thread.start()
results = [ends_well(forked(work)) for _ in range(60)]
stop.set()
for thread in threads:
    thread.join()
print(results.count(True))
"""


@forks
@pytest.mark.sweep
def test_children_while_other_threads_load_compile_run_and_forget(tmp_path):
    """No child waits for a lock of a thread that it does not have."""
    code = FORK.replace("alarm(60)", "alarm(10)") + MEANWHILE
    assert run(code, KINETREE_CACHE_DIR=tmp_path).strip() == "60"


# -- many threads -----------------------------------------------------------------------------------------------------


@pytest.fixture
def traced(monkeypatch):
    """Which quantities were traced and which code was compiled, each time; nothing comes from the disk."""
    monkeypatch.setenv("KINETREE_CACHE", "0")
    counts = Counter()
    make, code = Specialization.__init__, program.Program.code

    def counted_make(self, name, arrays, run, identity, *others, **named):
        counts[identity] += 1
        make(self, name, arrays, run, identity, *others, **named)

    def counted_code(self, kind):
        counts[self.outputs, kind] += 1
        return code(self, kind)

    monkeypatch.setattr(Specialization, "__init__", counted_make)
    monkeypatch.setattr(program.Program, "code", counted_code)
    return counts


def asked(robot, q, v, k):
    """Single and batched calls, in an order of its own for every k."""
    push = {"tool0": v}
    calls = [
        lambda: robot.mass_matrix(q[k]),
        lambda: robot.mass_matrix(q),
        lambda: robot.bias_forces(q[k], v),
        lambda: robot.bias_forces(q[k], v, push),
        lambda: robot.bias_forces(q, v, push),
        lambda: robot.frame("tool0").jacobian(q[k], "local"),
        lambda: robot.frame("tool0").jacobian(q),
        lambda: robot.frame("tool0").pose(q[k]),
        lambda: robot.gravity_forces(list(q[k])),
        lambda: robot.prepare("gravity_forces", "poses"),
        lambda: robot.prepare("gravity_forces", batch=True),
    ]
    results = [None] * len(calls)
    for repeat in range(30):
        for i in range(len(calls)):
            at = (i * (k + 1) + k) % len(calls)  # their number is a prime
            result = calls[at]()
            assert repeat == 0 or np.array_equal(result, results[at]) or result is None, at
            results[at] = result
    return results


@pytest.mark.sweep
def test_eight_threads_and_a_fresh_robot(traced):
    """Whoever comes first compiles, and only once; everybody gets the right bits."""
    robot, alone = kt.load("arm6"), kt.load("arm6")
    q, v = robot.random(0, 8), np.arange(6.0)
    results, meet = [None] * 8, threading.Barrier(8)

    def ask(k):
        meet.wait()
        results[k] = asked(robot, q, v, k)

    before, threads = sys.getswitchinterval(), [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert set(traced.values()) == {1}
    assert len(traced) == 8 + 11  # traced, and compiled for one state or for a batch
    for k in range(8):
        for got, expected in zip(results[k], asked(alone, q, v, k), strict=True):
            assert expected is got is None or np.array_equal(got, expected)


def test_all_threads_share_what_is_compiled():
    """Whoever computes it second gets what the first has kept."""
    robot, lazy = kt.load("planar2"), kt.Robot._functions
    late = type(lazy)(lambda robot: (robot._functions, lazy.make(robot))[1])
    late.__set_name__(kt.Robot, "_functions")
    assert late.__get__(robot, kt.Robot) is robot._functions


@pytest.mark.skipif(not native.available(), reason="native calls are switched off or do not work here")
@pytest.mark.sweep
def test_native_calls_are_found_to_work_while_other_threads_work():
    """They share float64 with everybody, and so the count of references to it."""
    stop = threading.Event()

    def take_and_give():
        while not stop.is_set():
            for _ in range(100):
                arrays = [np.empty(3) for _ in range(10)]
                del arrays

    before, threads = sys.getswitchinterval(), [threading.Thread(target=take_and_give) for _ in range(3)]
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    try:
        assert all(native._works.__wrapped__() for _ in range(40))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)


INTERRUPTED = """
import random, signal, sys, threading
import numpy as np
import kinetree as kt

def interrupt(*arguments):
    raise KeyboardInterrupt

right = kt.load("arm6").gravity_forces(np.ones(6))
signal.signal(signal.SIGALRM, interrupt)
sys.unraisablehook = lambda problem: None  # should it come while something is given up
random.seed(0)
caught = 0
for k in range(40):
    robot = kt.load("arm6")
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0002, 0.03))
        robot.gravity_forces(np.ones(6))
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        caught += 1
    results = []
    thread = threading.Thread(target=lambda: results.append(robot.gravity_forces(np.ones(6))), daemon=True)
    thread.start()
    thread.join(20)
    assert results and np.array_equal(results[0], right)
print(caught)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs timers")
@pytest.mark.sweep
def test_an_interrupt_while_compiling_harms_nobody():
    """The same robot serves another thread right after, which may compile."""
    assert int(run(INTERRUPTED, KINETREE_CACHE="0")) > 10


# -- many processes ---------------------------------------------------------------------------------------------------

SHORT = """
import sys
import numpy as np
import kinetree as kt

robot = kt.load("arm6")
q = robot.random(0, 9)
print(robot.forward_dynamics(q[0], q[1], q[2]).tobytes().hex(), robot.forward_dynamics(q, q, q).tobytes().hex(),
      robot.frame("tool0").pose(q[3]).tobytes().hex(), "kinetree.compiler.program" in sys.modules)
if sys.argv[1] == "clear":
    kt.cache.clear()
"""


@pytest.mark.sweep
def test_processes_that_compile_the_same_at_once(tmp_path):
    runs = [start(SHORT, "work", KINETREE_CACHE_DIR=tmp_path) for _ in range(2)]
    first, second = (finish(process).split() for process in runs)
    assert first[:3] == second[:3]
    assert run(SHORT, "work", KINETREE_CACHE_DIR=tmp_path).split() == [*first[:3], "False"]
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".kinetree"]


@pytest.mark.parametrize("processes", [8, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.sweep
def test_many_short_processes_and_some_that_clear(tmp_path, processes):
    words = ["clear" if k % 3 == 2 else "work" for k in range(processes)]
    expected = run(SHORT, "work", KINETREE_CACHE_DIR=tmp_path).split()[:3]
    runs = [start(SHORT, word, KINETREE_CACHE_DIR=tmp_path) for word in words]
    for process in runs:
        assert finish(process, 600.0).split()[:3] == expected


# -- when Python ends -------------------------------------------------------------------------------------------------

COMMON = """
import atexit, gc, os, sys, threading, time
import numpy as np
import kinetree as kt

kt.set_num_threads(2)
arm = kt.load("arm6")
q = arm.random(0, 300_000)
some, one = q[:200].copy(), q[0].copy()
big = lambda: arm.inverse_dynamics(q, q, q)
"""

ENDINGS = {
    "a large batch in an atexit handler, the first": """
        @atexit.register
        def last():
            assert big().shape == q.shape
            print("done")
    """,
    "something new in an atexit handler": """
        @atexit.register
        def last():
            assert kt.load("arm7").mass_matrix(np.zeros(7)).shape == (7, 7)
            assert kt.load("arm7").mass_matrix(np.zeros((3, 7))).shape == (3, 7, 7)
            print("done")
    """,
    "os._exit while a helper works": """
        threading.Thread(target=lambda: [big() for _ in range(1000)]).start()
        time.sleep(0.5)
        print("done", flush=True)
        os._exit(0)
    """,
    "sys.exit while another thread works": """
        big()
        threading.Thread(target=lambda: ([big() for _ in range(5)], print("done"))).start()
        sys.exit(0)
    """,
    "daemons at work": """
        big(), arm.inverse_dynamics(some, some, some), arm.inverse_dynamics(one, one, one)
        def forever(*arguments):
            while True:
                arm.inverse_dynamics(*arguments)
        for x in (q, q, some, some, one, list(one)):
            threading.Thread(target=forever, args=(x, x, x), daemon=True).start()
        time.sleep(0.1)
        print("done")
    """,
    "a daemon that compiles": """
        def forever():
            for k in range(10_000):
                kt.load("planar2", gravity=(0, 0, -k)).gravity_forces(np.zeros(2))
        threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.5)
        print("done")
    """,
    "robots everywhere": """
        class Holder:
            def __init__(self, robot):
                self.robot, self.me = robot, self
                self.call, self.pose = robot.inverse_dynamics, robot.frame(robot.frame_names[-1]).pose
                self.results = self.all()
            def all(self):
                x, y = one[:self.robot.nv], q[:, :self.robot.nv]
                return [self.call(x, x, x), self.call(y[:9], y[:9], y[:9]), self.call(y, y, y), self.pose(x)]
            def __del__(self):
                assert all(map(np.array_equal, self.all(), self.results))
                sys.stdout.write("done ")
        plain, cycle = Holder(arm), Holder(kt.load("planar2"))
        plain.me = None
        cycle.other = [cycle]
        sys.modules["held"] = Holder(kt.load("planar2"))
        Holder.one = Holder(kt.load("planar2"))
        np.held = Holder(kt.load("arm6"))
        atexit.register(Holder(kt.load("arm6")).all)
        call = kt.load("arm6").mass_matrix
        call(one)
        collected = Holder(kt.load("arm6"))
        del collected
        gc.collect()
    """,
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.sampled(4)
def test_python_ends_without_a_word(ending):
    assert run(COMMON + textwrap.dedent(ending)).startswith("done")


INTERPRETER = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import numpy as np
import kinetree as kt

arm = kt.load("arm6")
M = arm.mass_matrix(np.zeros(6))
inside = '''
import warnings
warnings.simplefilter("ignore")
try:
    import kinetree
    robot = kinetree.robot.load("arm6")
    assert robot.mass_matrix([0.0] * 6).shape == (6, 6)
except ImportError:
    pass
'''
other = interpreters.create()
problem = interpreters.run_string(other, inside)
assert problem is None, problem
interpreters.destroy(other)
assert np.array_equal(arm.mass_matrix(np.zeros(6)), M)
assert np.array_equal(kt.load("arm6").mass_matrix(np.zeros(6)), M)
print("done")
"""


def test_another_interpreter_in_this_process_works_or_is_refused_by_numpy():
    available = "import importlib.util as u; print(any(map(u.find_spec, ('_interpreters', '_xxsubinterpreters'))))"
    if run(available).strip() != "True":
        pytest.skip("this Python has no other interpreters")
    assert run(INTERPRETER).strip() == "done"

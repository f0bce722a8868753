"""Machine code that many threads ask for at the same time is made once, and stays.

Covers: compiler/runtime/jit.py.
"""

import threading
import time

import pytest

import kinetree as kt
from kinetree import control
from kinetree.compiler.runtime import cache, single_state_loop
from kinetree.compiler.runtime.jit import lock, once
from kinetree.ik import lanes
from kinetree.solvers import stages
from processes import run


def test_threads_that_ask_together_get_the_same():
    made = []

    @once
    def slow(name):
        time.sleep(0.05)
        made.append(name)
        return object()

    found = {}
    threads = [threading.Thread(target=lambda k=k: found.setdefault(k, slow("code"))) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["code"] and len(set(found.values())) == 1
    assert slow("other") is not slow("code") and slow("other") is slow("other")


def test_what_holds_code_is_made_once():
    for function in (single_state_loop._driver, lanes._driver, stages._code):
        assert function.__code__ is once(len).__code__, function


WORK = """
import threading
import numpy as np
import kinetree as kt
from kinetree import control

robot = kt.load("arm6")
q, v = 0.1 * np.ones(6), np.zeros(6)
pose = robot.frame("tool0").pose(q)
body, ik = control.WholeBody(robot, control.Posture()), kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0"))
space = control.OperationalSpace(robot, "tool0", 100.0)
law = kt.compile(lambda robot, q, v: control.ComputedTorque(robot, 50.0)(q, v, q))
together, found = threading.Barrier(6), []

def first():
    together.wait()
    found.append((body(q, v, {"posture": q}), ik(q, pose), space(q, v, pose), law(robot, q, v)))

threads = [threading.Thread(target=first) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found), all(np.array_equal(a, b) for other in found for a, b in zip(found[0], other)))
"""


@pytest.mark.parametrize("native", ["1", "0"])
@pytest.mark.sampled(2)
@pytest.mark.sweep
def test_the_first_calls_of_many_threads(native):
    """This once ran code that another thread had replaced, and sometimes crashed."""
    assert run(WORK, KINETREE_NATIVE=native).split() == ["6", "True"]


def test_a_graph_is_looked_at_while_another_thread_loads_code(tmp_path, monkeypatch):
    """Formulas that the disk knows are traced for their graph, or for code that is gone: both under the lock that
    loading takes first, so that neither waits for what the other has."""
    monkeypatch.setenv(cache.FOLDER, str(tmp_path))

    def traced():
        return control.ComputedTorque(kt.load("planar2"), 10.0).law.specialization()

    traced()
    one, other = traced(), traced()
    assert one._program is other._program is None
    held = threading.Event()

    def load():
        with lock:
            held.set()
            time.sleep(0.1)
            assert one.program.operations

    def look():
        held.wait()
        assert other.graph.operations()

    threads = [threading.Thread(target=work, daemon=True) for work in (load, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20.0)
    assert not any(thread.is_alive() for thread in threads)
    assert one._program is not None and other._program is not None

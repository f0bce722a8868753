"""Threads that begin together, forks and interrupts, with nothing compiled before: nobody hangs, and results are right.

`together.py` is one such run; it ends itself, with all its threads shown, if it takes too long.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="about forks and timers")
TESTS = Path(__file__).parents[1]


def together(seed, cache):
    command = [sys.executable, str(TESTS / "together.py"), str(seed), "300"]
    variables = {**os.environ, "KINETREE_CACHE_DIR": str(cache), "KINETREE_CACHE": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert ended.returncode == 0, f"seed {seed}: {ended.stdout}\n{ended.stderr}"


@pytest.mark.sweep
def test_laws_quantities_ik_controllers_rollouts_forks_and_interrupts_at_once(tmp_path):
    """The second time, code comes from the disk."""
    together(1, tmp_path)
    together(2, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300))
def test_the_same_from_many_starts(seed, tmp_path):
    together(seed, tmp_path)


def test_a_batch_inside_of_a_signal_handler():
    """While the same thread waits for helpers of another batch, or asks for them."""
    code = """
import faulthandler, signal
import numpy as np
import kinetree as kt

faulthandler.dump_traceback_later(200.0, exit=True)
robot = kt.load("planar2")
q = np.random.default_rng(0).normal(size=(200_000, 2))
right = robot.mass_matrix(q)
kt.set_num_threads(3)
seen = []

def handle(number, frame):
    seen.append(np.array_equal(robot.mass_matrix(q[:50_000]), right[:50_000]))

signal.signal(signal.SIGALRM, handle)
while len(seen) < 100:
    signal.setitimer(signal.ITIMER_REAL, 1e-3)
    assert np.array_equal(robot.mass_matrix(q), right)
signal.setitimer(signal.ITIMER_REAL, 0.0)
assert all(seen)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.sweep
def test_a_child_forked_while_the_memory_of_results_is_set():
    code = """
import faulthandler, os, signal, threading, warnings
import numpy as np
import kinetree as kt

warnings.simplefilter("ignore", DeprecationWarning)
faulthandler.dump_traceback_later(200.0, exit=True)
robot = kt.load("planar2")
q = np.random.default_rng(0).normal(size=(100_000, 2))
right = robot.mass_matrix(q)
over = threading.Event()

def set_and_use():
    while not over.is_set():
        kt.set_result_memory(0)
        kt.set_result_memory(2**28)
        robot.mass_matrix(q)

threads = [threading.Thread(target=set_and_use) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    for _ in range(40):
        child = os.fork()
        if child == 0:
            signal.alarm(100)
            os._exit(0 if np.array_equal(robot.mass_matrix(q), right) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
finally:
    over.set()
    for thread in threads:
        thread.join()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_child_imports_what_another_thread_was_importing(tmp_path):
    """As parts of the library are imported when they are first needed."""
    (tmp_path / "slow.py").write_text("import time\nbegun = True\ntime.sleep(1.0)\nanswer = 42\n")
    code = """
import os, signal, sys, threading, time, warnings
import kinetree

warnings.simplefilter("ignore", DeprecationWarning)
thread = threading.Thread(target=__import__, args=("slow",))
thread.start()
while not hasattr(sys.modules.get("slow"), "begun"):
    time.sleep(0.001)
child = os.fork()
if child == 0:
    signal.alarm(60)
    import slow
    os._exit(slow.answer)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
thread.join()
assert sys.modules["slow"].answer == 42
"""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert ended.returncode == 0, ended.stderr

"""Ctrl-C ends what takes long, soon after it is pressed, and what comes next is right."""

import os
import subprocess
import sys

import pytest

from processes import PATIENCE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="about signals of POSIX")

START = """
import os, signal, threading, time
import numpy as np
import kinetree as kt

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background is started without

def interrupted(call, after=0.3):
    \"\"\"Seconds from the signal to the interrupt, the least of three: others may keep the machine busy.\"\"\"
    waited = []
    for _ in range(3):
        sent = []
        def send():
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(after, send)
        timer.start()
        try:
            call()
            raise AssertionError("it was over before")
        except KeyboardInterrupt:
            waited.append(time.perf_counter() - sent[0])
        finally:
            timer.join()
    return min(waited)

arm = kt.load("planar2")
beside = np.array([0.0, 0.3, 0.8])  # of the plane in which it moves
"""
START += f"SOON = {PATIENCE}\n"

CALLS = {
    "IK of one target": 'interrupted(lambda: arm.ik("tip", beside, attempts=10**9))',
    "IK of many targets": 'interrupted(lambda: arm.ik("tip", np.tile(beside, (3000, 1)), attempts=10**5))',
}


def run(code):
    command = [sys.executable, "-c", START + code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300 * PATIENCE)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("name", ["IK of one target", "IK of many targets"])
@pytest.mark.sampled(2)
@pytest.mark.sweep
def test_searches_can_be_interrupted(name):
    run(f"""
arm.ik("tip", [0.7, 0.0, 0.9]), arm.ik("tip", [[0.7, 0.0, 0.9]] * 3)
right = arm.ik("tip", [[0.7, 0.0, 0.9]] * 600, q0=[0.3, 0.2]).q
late = {CALLS[name]}
assert late < SOON, late
assert np.array_equal(arm.ik("tip", [[0.7, 0.0, 0.9]] * 600, q0=[0.3, 0.2]).q, right)
assert arm.ik("tip", [0.7, 0.0, 0.9]).success
""")


def test_a_handler_may_search_while_its_thread_does():
    """A search has its lanes for itself."""
    run("""
target = [0.7, 0.0, 0.9]
right, seen = arm.ik("tip", target, q0=[0.3, 0.2]).q, []
far = arm.ik("tip", [30.0, 0.0, 0.0], attempts=20_000)
def handle(number, frame):
    seen.append(np.array_equal(arm.ik("tip", target, q0=[0.3, 0.2]).q, right))
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
again = arm.ik("tip", [30.0, 0.0, 0.0], attempts=20_000)
while len(seen) < 5:
    again = arm.ik("tip", [30.0, 0.0, 0.0], attempts=20_000)
signal.setitimer(signal.ITIMER_REAL, 0.0)
assert all(seen) and np.array_equal(again.q, far.q) and again.iterations == far.iterations
""")


def test_batches_can_be_interrupted():
    """On one thread and on several; nothing is spread in memory, so that the system has nothing to clear."""
    run("""
one = kt.compile(lambda robot, q: sum(robot.potential_energy(q * k) for k in range(1, 60)))
law = one.bind(arm)
law(np.zeros(2)), law(np.zeros((9, 2)))
q = np.lib.stride_tricks.as_strided(np.zeros(2), (6 * 10**7, 2), (0, 8))
for threads in (1, 2):
    kt.set_num_threads(threads)
    late = interrupted(lambda: law(q), 0.5)
    assert late < SOON, (threads, late)
assert law(np.ones(2)) == law(np.ones((9, 2)))[3]
""")


@pytest.mark.sweep
def test_batches_of_a_solver_can_be_interrupted():
    """Whose time depends on iterations that nobody can count before; on one thread and on several."""
    run("""
from kinetree.control import CenterOfMass, PointContact, Posture, WholeBody
robot = kt.load("quadruped", base="floating")
feet = [name for name in robot.frame_names if name.endswith("_foot")]
controller = WholeBody(robot, [CenterOfMass(), Posture(weight=0.1)], [PointContact(foot) for foot in feet])
q, v = robot.neutral(), np.zeros(robot.nv)
q[[8, 11, 14, 17]], q[[9, 12, 15, 18]] = 0.6, -1.2
reference = {"center_of_mass": robot.center_of_mass(q), "posture": q}
right = controller(q, v, reference)
many = np.broadcast_to(q, (1_600_000, robot.nq))
for threads in (1, 2):
    kt.set_num_threads(threads)
    late = interrupted(lambda: controller(many, v, reference), 0.5)
    assert late < SOON, (threads, late)
assert np.array_equal(controller(many[:3], v, reference)[2], right)
""")


@pytest.mark.sweep
def test_contact_can_be_interrupted():
    """Its kernels have loops inside of loops."""
    run("""
from kinetree.simulation import Ground, RigidContact, Touch
robot = kt.load("quadruped", base="floating")
contact = RigidContact([Touch(name, radius=0.01) for name in robot.frame_names if name.endswith("_foot")], Ground())
q, v = robot.neutral(), np.zeros(robot.nv)
q[2] = 0.5
right = robot.rollout(q, v, None, 1e-3, 50, contact=contact).q
for start in (q, np.tile(q, (64, 1))):
    robot.rollout(start, v, None, 1e-3, 1, contact=contact)
    late = interrupted(lambda: robot.rollout(start, v, None, 1e-3, 10**7, contact=contact, every=10**5))
    assert late < SOON, (start.shape, late)
assert np.array_equal(robot.rollout(q, v, None, 1e-3, 50, contact=contact).q, right)
""")


def test_an_interrupt_while_a_thread_starts_leaves_none_that_nobody_ends():
    """Python waits at its end for threads, and ends those of a pool if the pool knows them."""
    run("""
kt.set_num_threads(2)
robot, states = kt.load("arm6"), np.zeros((200_000, 6))
start = threading.Thread.start

def interrupted_start(thread):
    start(thread)
    if thread.name.startswith("kinetree"):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)

threading.Thread.start = interrupted_start
try:
    while True:
        robot.inverse_dynamics(states, states, states)
except KeyboardInterrupt:
    threading.Thread.start = start
assert robot.inverse_dynamics(states, states, states).shape == states.shape
""")

"""Signals that come while something is compiled or loaded reach their handlers: those of Python and those of C code."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="about signals of POSIX")

START = """
import ctypes, os, signal, sys, threading, time
import numpy as np
import kinetree as kt
from kinetree.compiler.runtime.jit import LoadedCode, compile_object, host

HANDLER = '''
@count = global i64 0
define void @handler(i32 %number) {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  ret void
}
define i64 @read() {
  %now = load i64, ptr @count
  ret i64 %now
}
'''

def compile_something(k=[0]):
    k[0] += 1
    robot = kt.load("arm6", gravity=(0.0, 0.0, -9.0 - 0.01 * k[0]))
    robot.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6))
"""


def run(code):
    command = [sys.executable, "-c", START + code]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_handlers_of_c_code_stay_installed():
    """As those that rclpy installs: Python does not know of them."""
    run("""
code = LoadedCode(compile_object(HANDLER, host()), host(), library=False)
address, read = code.address("handler"), ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("read"))
libc = ctypes.CDLL(None)
libc.signal.argtypes, libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    libc.signal(number, address)
compile_something()
assert libc.signal(signal.SIGINT, address) == address
thread = threading.Thread(target=compile_something)
thread.start()
thread.join()
kt.load("arm6").inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6))
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    assert libc.signal(number, address) == address, number
os.kill(os.getpid(), signal.SIGINT)
assert read() == 1
""")


def test_every_signal_is_handled_once_and_in_order():
    run("""
from kinetree.base.deferred_signals import deferring_signals
handled = []

def stop(number, frame):
    handled.append(number)
    raise KeyboardInterrupt

def end(number, frame):
    handled.append(number)
    raise SystemExit

signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGUSR1, lambda number, frame: handled.append(number))
before = {number: signal.getsignal(number) for number in signal.valid_signals()}

def work():
    for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        os.kill(os.getpid(), number)
        time.sleep(0.3)
    return "done"

for _ in range(3):
    handled.clear()
    try:
        deferring_signals(work)
        raise AssertionError("nothing was raised")
    except SystemExit as problem:
        assert type(problem.__context__) is KeyboardInterrupt
    assert handled == [signal.SIGUSR1, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1], handled
assert before == {number: signal.getsignal(number) for number in signal.valid_signals()}

handled.clear()
begun = time.monotonic()
def send():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):  # at the same time
        os.kill(os.getpid(), number)
threading.Timer(0.2, send).start()
signal.signal(signal.SIGTERM, lambda number, frame: handled.append(number))
try:
    while time.monotonic() < begun + 60.0:
        compile_something()
except KeyboardInterrupt:
    pass
while len(handled) < 3 and time.monotonic() < begun + 60.0:
    time.sleep(0.01)
    repr(handled)  # CPython forgets others until such a check, if the first handler raised inside of one
assert sorted(handled) == sorted({signal.SIGINT, signal.SIGTERM, signal.SIGUSR1}), handled
compile_something()
""")


def test_a_handler_may_compile_and_fork_meanwhile():
    """Also a child that comes back from the handler, into a call whose thread it does not have."""
    run("""
from kinetree.base.deferred_signals import deferring_signals
import faulthandler
faulthandler.dump_traceback_later(90.0, exit=True)
parent, seen = os.getpid(), []

def handle(number, frame):
    compile_something()
    seen.append(os.fork())

signal.signal(signal.SIGUSR1, handle)

def work():
    os.kill(parent, signal.SIGUSR1) if os.getpid() == parent else None
    time.sleep(0.5)
    return os.getpid()

assert deferring_signals(work) == os.getpid()
compile_something()
if seen[0] == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(seen[0], 0)[1]) == 7
""")


def test_small_stacks_of_threads_are_not_for_the_compiler():
    run("""
threading.stack_size(2**18)
compile_something()
assert threading.stack_size(0) == 2**18
""")

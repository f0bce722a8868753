"""Of several processes that need one entry of the disk cache, the first makes it and the others wait."""

import os
import signal
import sys
import time

import pytest

from kinetree.compiler.runtime import cache, cache_lock
from kinetree.compiler.runtime.cache_lock import first_on_this_host
from processes import finish, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
KEY = "0123456789abcdef"

COMPILE = """
import os, sys, time
from llvmlite.binding.targets import TargetMachine
import numpy as np
import kinetree as kt

real, made = TargetMachine.emit_object, []

def counted(self, module):
    made.append(1)
    return real(self, module)

TargetMachine.emit_object = counted
robot = kt.load("arm6")
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.001)
q = robot.random(0, 8)
robot.inverse_dynamics(q, q, q)
robot.rollout(q, q, None, 1e-3, 2)
print(len(made))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv(cache.SWITCH, raising=False)
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache"


def compilations(tmp_path, count):
    """How many kernels so many processes make that begin at the same time, with an empty cache."""
    go = tmp_path / f"go {count}"
    folder = tmp_path / f"cache of {count}"
    processes = [start(COMPILE, go, KINETREE_CACHE_DIR=folder) for _ in range(count)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    go.touch()
    made = [int(finish(process)) for process in processes]
    assert not [path.name for path in folder.iterdir() if path.name.endswith("lock")]
    return made


@pytest.mark.sweep
def test_several_processes_compile_as_much_as_one(tmp_path):
    alone, together = compilations(tmp_path, 1), compilations(tmp_path, 3)
    assert alone[0] >= 2 and sum(together) == alone[0], together


HOLD = """
import sys, time
from kinetree.compiler.runtime.cache_lock import first_on_this_host

with first_on_this_host(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60.0)
"""


@pytest.fixture
def holder():
    process = start(HOLD, KEY)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_lock_of_a_killed_process_is_free(holder, folder):
    assert [path.name for path in folder.iterdir()] == [f"{KEY}.kinetree-lock"]
    with first_on_this_host("f" * 16):  # another key waits for nobody
        pass
    os.kill(holder.pid, signal.SIGKILL)
    begun = time.monotonic()
    with first_on_this_host(KEY):
        assert time.monotonic() - begun < 10.0
    assert not list(folder.iterdir())


def test_patience_ends(holder, monkeypatch):
    monkeypatch.setattr(cache_lock, "PATIENCE", 0.05)
    with first_on_this_host(KEY):
        assert holder.poll() is None


def test_who_waits_is_next(holder, monkeypatch):
    """The holder removes its file; who has waited for that file takes the new one."""
    taken = []
    real = cache_lock._locked

    def look(descriptor):
        taken.append(real(descriptor))
        if len(taken) == 3:
            holder.kill()
        return taken[-1]

    monkeypatch.setattr(cache_lock, "_locked", look)
    with first_on_this_host(KEY):
        pass
    assert taken[:3] == [False] * 3 and taken[-1]


def test_a_signal_handler_does_not_wait_for_what_it_interrupts(folder):
    with first_on_this_host(KEY), first_on_this_host(KEY):
        assert len(list(folder.iterdir())) == 1
    assert not list(folder.iterdir())


def test_without_locks_nobody_waits(holder, monkeypatch):
    def refuse(descriptor):
        raise OSError("no locks available")

    monkeypatch.setattr(cache_lock, "_locked", refuse)
    with first_on_this_host(KEY):
        pass
    monkeypatch.setenv(cache.SWITCH, "0")
    with first_on_this_host(KEY):
        assert holder.poll() is None


def test_locks_of_killed_processes_are_cleared(folder):
    with first_on_this_host(KEY):
        assert cache.clear() == 0 and not list(folder.iterdir())

"""No thread waits for ever for another: properties hold no locks, and those that threads share have an order."""

import ast
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import kinetree

SOURCE = Path(kinetree.__file__).parent
OWN_LOCKS = {
    "base/locks.py": "the shared ones, in their order",
    "compiler/runtime/threads.py": "of the pool and of one batch, inside of which nothing else is taken",
    "base/deferred_signals.py": "of one call, for which nobody but its caller waits",
    "compiler/runtime/cache.py": "taken once, never waited for",
    "compiler/runtime/jit.py": "llvmlite's, if it had none",
    "base/progress.py": "of one bar, inside of which nothing else is taken",
}
"""Files that may make locks, and why no order is needed there."""
LOCKS = {"Lock", "RLock", "ReentrantLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}


def files():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("viewer/"):  # whose lock is outside of all others
            yield name, ast.parse(path.read_text())


def test_no_property_holds_a_lock_of_its_own():
    """functools.cached_property of Python 3.11 has one for all instances of a class."""
    for name, tree in files():
        for node in ast.walk(tree):
            said = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            assert said != "cached_property", f"{name}, line {node.lineno}"


def test_locks_are_made_where_their_order_is_written_down():
    for name, tree in files():
        made = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in LOCKS
        ]
        assert not made or name in OWN_LOCKS, f"{name}, line {made[0]}"


def test_locks_are_taken_by_with_or_without_waiting():
    """What is acquired otherwise is not given back by an interrupt."""
    for name, tree in files():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "acquire":
                waits = not any(word.arg in ("blocking", "timeout") for word in node.keywords)
                assert not waits or name in ("base/deferred_signals.py", "base/locks.py"), f"{name}, line {node.lineno}"


@pytest.mark.sweep
def test_no_module_takes_the_compilers_lock_while_it_is_imported():
    """Who compiles may import, and who forks takes the compiler's lock first, then Python's of imports."""
    code = """
import faulthandler, importlib, pkgutil, threading
faulthandler.dump_traceback_later(300, exit=True)
import kinetree
from kinetree.base.locks import compiler

held, over = threading.Event(), threading.Event()

def hold():
    with compiler:
        held.set()
        over.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
names = [module.name for module in pkgutil.walk_packages(kinetree.__path__, "kinetree.")]
for name in names:
    if not name.endswith(("__main__", "_child", "object_worker")):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as missing:  # of an extra
            assert missing.name in ("torch", "jax", "casadi", "dask", "ray", "zarr", "distributed"), missing.name
over.set()
thread.join()
assert len(names) > 400
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="about timers of POSIX")
@pytest.mark.sweep
def test_an_interrupt_gives_locks_back():
    """Python 3.14 runs handlers between `__enter__` of a built-in lock and the block."""
    code = """
import signal, time
from kinetree.base.locks import ReentrantLock

class Interrupt(BaseException):
    pass

def interrupt(*_):
    raise Interrupt

signal.signal(signal.SIGALRM, interrupt)
lock = ReentrantLock()
count, end = 0, time.monotonic() + 2.0
while time.monotonic() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, 2e-5)
        while True:
            with lock:
                with lock:
                    pass
    except Interrupt:
        count += 1
    assert not lock._is_owned(), count
assert count > 100
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

"""What handlers raise waits for llvmlite, which has a lock of its own."""

import gc
import signal
import threading

import pytest
from llvmlite.binding import ffi

from kinetree.base.deferred_signals import deferring_signals
from kinetree.compiler.runtime.jit import (
    LoadedCode,
    _llvmlite_lock,
    assembly_of,
    compile_object,
    host,
    lock,
    optimized_object,
)

ANSWER = "define i64 @answer() {\n  ret i64 42\n}"
CODE = compile_object(ANSWER, host())


@pytest.fixture
def interrupt():
    """A signal that raises, and one more with a handler of its own."""
    handled = []

    def raising(number, frame):
        handled.append(number)
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGUSR1)}
    signal.signal(signal.SIGALRM, raising)
    signal.signal(signal.SIGUSR1, lambda number, frame: handled.append(number))
    yield handled
    for number, handler in before.items():
        signal.signal(number, handler)


def test_what_handlers_raise_is_raised_at_the_end(interrupt):
    done = []

    def work(x, y=1):
        for number in (signal.SIGUSR1, signal.SIGALRM):
            signal.raise_signal(number)
        done.append((x, y))

    with pytest.raises(KeyboardInterrupt):
        deferring_signals(work, 3, y=4)
    assert done == [(3, 4)] and interrupt == [signal.SIGUSR1, signal.SIGALRM]
    assert deferring_signals(divmod, 7, 3) == (2, 1)
    with pytest.raises(ZeroDivisionError):
        deferring_signals(divmod, 7, 0)


@pytest.mark.parametrize("work", [compile_object, optimized_object, assembly_of])
def test_other_threads_compile_after_an_interrupt(work, interrupt):
    """It comes as soon as llvmlite has taken its lock, in code that would not give it back."""

    def take():
        signal.raise_signal(signal.SIGALRM)

    def give_back():
        pass

    ffi.register_lock_callback(take, give_back)
    try:
        with pytest.raises(KeyboardInterrupt):
            work(ANSWER, host())
    finally:
        ffi.unregister_lock_callback(take, give_back)
    made = []
    thread = threading.Thread(target=lambda: made.append(compile_object(ANSWER, host())), daemon=True)
    thread.start()
    thread.join(20.0)
    assert made == [CODE], "llvmlite's lock is still taken"


def test_other_threads_compile_after_code_was_given_up_and_that_interrupted(interrupt):
    """llvmlite would take its lock, be interrupted, and keep it, or call handlers while it has it."""
    code = LoadedCode(CODE, host(), library=False)
    ffi.register_lock_callback(take := lambda: signal.raise_signal(signal.SIGALRM), give_back := lambda: None)
    try:
        del code
    finally:
        ffi.unregister_lock_callback(take, give_back)
    assert interrupt == [], "llvmlite's lock was taken to give up code"
    made = []
    thread = threading.Thread(target=lambda: made.append(compile_object(ANSWER, host())), daemon=True)
    thread.start()
    thread.join(20.0)
    assert made == [CODE], "llvmlite's lock is still taken"


def test_finalizers_that_compile_are_not_run_in_the_middle_of_a_compile():
    """The thread that compiles for the main thread has none of its locks."""

    class Caller:
        def __init__(self):
            self.itself = self

        def __del__(self):
            made.append(compile_object(ANSWER, host()))

    made = []
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            Caller()
            assert compile_object(ANSWER, host()) == CODE
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert len(made) == 20


def test_code_is_given_up_without_waiting_for_a_lock():
    """A finalizer runs anywhere, in a thread that another one may be waiting for."""
    code, others = [LoadedCode(CODE, host(), library=False)], [threading.Event(), threading.Event()]

    def hold_both():
        with lock, _llvmlite_lock:
            others[0].set()
            others[1].wait(20.0)

    holder = threading.Thread(target=hold_both, daemon=True)
    holder.start()
    assert others[0].wait(20.0)
    thread = threading.Thread(target=code.clear, daemon=True)
    thread.start()
    thread.join(10.0)
    waited = thread.is_alive()
    others[1].set()
    holder.join(20.0)
    assert not code and not waited

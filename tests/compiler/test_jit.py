"""llvmlite, which has a lock of its own, when it is interrupted."""

import threading
from contextlib import contextmanager

import pytest
from llvmlite.binding import ffi

from kinetree.compiler.jit import LoadedCode, assembly_of, compile_object, host, optimized_object

ANSWER = "define i64 @answer() {\n  ret i64 42\n}"
CODE = compile_object(ANSWER, host())


@contextmanager
def interrupted():
    """An interrupt as soon as llvmlite has taken its lock, in code that would not give it back."""

    def take():
        raise KeyboardInterrupt

    def give_back():
        pass

    ffi.register_lock_callback(take, give_back)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        ffi.unregister_lock_callback(take, give_back)


@pytest.mark.parametrize("work", [compile_object, optimized_object, assembly_of, LoadedCode])
def test_other_threads_compile_after_an_interrupt(work):
    with interrupted():
        work(CODE if work is LoadedCode else ANSWER, host())
    made = []
    thread = threading.Thread(target=lambda: made.append(compile_object(ANSWER, host())), daemon=True)
    thread.start()
    thread.join(20.0)
    assert made == [CODE], "llvmlite's lock is still taken"
    assert LoadedCode(made[0], host(), library=False).address("answer")

"""The number of threads of a batch: never more, with those of other workers and callers, than there are CPUs."""

import threading

import pytest

import kinetree as kt
from kinetree.compiler.runtime import threads
from kinetree.compiler.runtime.threads import run_ranges
from processes import run

CHILD = """
import multiprocessing
import kinetree as kt

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(kt.get_num_threads))
"""


def test_the_environment_has_a_say(monkeypatch):
    monkeypatch.setattr(threads._pool, "count", None)
    for name in threads.LIMITS:
        monkeypatch.delenv(name, raising=False)
    cpus = kt.get_num_threads()
    for text, count in (
        ("1", 1),
        ("1,4", 1),
        ("100000", cpus),
        *((junk, cpus) for junk in ("", "0", "-2", "many", "²")),
    ):
        monkeypatch.setenv("OMP_NUM_THREADS", text)  # as Dask, Ray and joblib say it to their workers
        assert kt.get_num_threads() == count, text
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("KINETREE_NUM_THREADS", str(cpus))
    assert kt.get_num_threads() == cpus


def test_a_process_of_a_pool_has_one_thread(tmp_path):
    (tmp_path / "script.py").write_text(CHILD)
    code = "import runpy; runpy.run_path('script.py', run_name='__main__')"
    assert run(code, cwd=tmp_path, OMP_NUM_THREADS=None, KINETREE_NUM_THREADS=None) == "1\n"


@pytest.mark.parametrize(("callers", "helped"), [(1, True), (3, False)])
def test_callers_are_no_helpers_for_each_other(callers, helped):
    """With three threads, three callers at a time have no helpers; one alone has."""
    names, done, before = [], [], kt.get_num_threads()
    together, lock = threading.Barrier(callers), threading.Lock()
    kt.set_num_threads(3)

    def work(start, stop):
        with lock:
            names.append(threading.current_thread().name)
            done.append(stop - start)
        threading.Event().wait(0.05)

    def call():
        with lock:
            threads._pool.callers.add(threading.get_ident())  # all are there before any asks for helpers
        together.wait()
        run_ranges(work, 8, 1, 8)

    try:
        listed = [threading.Thread(target=call) for _ in range(callers)]
        for each in listed:
            each.start()
        for each in listed:
            each.join()
    finally:
        kt.set_num_threads(before)
    assert any(name.startswith("kinetree") for name in names) == helped
    assert sum(done) == 8 * callers and not threads._pool.callers

"""Processes, threads and children of a fork that use the cache at once."""

import os
import subprocess
import sys
import threading

import pytest

from cache_entries import KEY, entry, names
from kinetree.compiler.runtime import cache
from processes import run

RACE = """
import sys, time
from kinetree.compiler.runtime import cache
mine, key = int(sys.argv[1]), {key!r}
allowed = {{bytes([digit]) * 50_000 for digit in range(4)}} | {{None}}
print("ready", flush=True)
input()
seen, end = set(), time.time() + 1.0
while time.time() < end:
    cache.write(key, bytes([mine]) * 50_000)
    for _ in range(5):
        data = cache.read(key)
        assert data in allowed, "torn"
        seen.add(data and data[0])
    if mine == 3:
        cache.clear()
print(*seen)
"""


@pytest.mark.sweep
def test_processes_that_write_and_read_and_clear_at_once(where):
    runs = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", RACE.format(key=KEY), str(mine)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for mine in range(4)
    ]
    for process in runs:
        process.stdout.readline()
    for process in runs:
        process.stdin.write("go\n")
        process.stdin.flush()
    results = [process.communicate(timeout=60) for process in runs]
    assert [process.returncode for process in runs] == [0] * 4, results
    assert [complaints for _, complaints in results] == [""] * 4
    assert any(len(seen.split()) > 2 for seen, _ in results)  # they did meet
    assert not [name for name in names(where) if name.endswith("-part")]


def test_threads_that_write_and_read_at_once(where):
    versions = [bytes([number]) * 20_000 for number in range(6)]
    torn = []

    def work(mine):
        for _ in range(50):
            cache.write(KEY, mine)
            data = cache.read(KEY)
            if data not in versions:
                torn.append(data)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in versions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torn == []
    assert names(where) == [entry(where).name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_of_a_fork_go_on(where):
    code = f"""
import os, signal, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from kinetree.compiler.runtime import cache
stop = threading.Event()
def work():
    while not stop.is_set():
        cache.write({KEY!r}, bytes(20_000))
        cache.read({KEY!r})
thread = threading.Thread(target=work)
thread.start()
results = []
for number in range(30):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        key = f"{{number:064x}}"
        cache.write(key, b"child")
        os._exit(0 if cache.read(key) == b"child" else 1)
    results.append(os.waitpid(child, 0)[1])
stop.set()
thread.join()
print(set(results))
"""
    assert run(code).strip() == "{0}"
    assert len(names(where)) == 31

"""The least recently used make room when the cache is full."""

import errno
import os
import time

import pytest

from cache_entries import DATA, KEY, OTHER, age, entry, key, names, raising, system_error
from kinetree.compiler.runtime import cache


def fill(where, count):
    """Entries 0 … count-1 of one size, the first the least recently used; that size."""
    for number in range(count):
        cache.write(key(number), bytes(1000))
        age(entry(where, key(number)), 10_000 - 100 * number)
    return entry(where, key(0)).stat().st_size


def kept(where, count):
    return [number for number in range(count) if entry(where, key(number)).exists()]


def test_the_least_recently_used_make_room(where, monkeypatch):
    step = fill(where, 10)
    monkeypatch.setenv(cache.BOUND, str(10.5 * step / 1e6))
    assert cache.read(key(0)) is not None and cache.read(key(3)) is not None
    cache.write(key(10), bytes(1000))
    assert kept(where, 11) == [0, 3, 4, 5, 6, 7, 8, 9, 10]  # 9 are below 90 % of the bound; 1 and 2 were the oldest
    assert cache.size() == 9 * step


def test_nothing_goes_below_the_bound(where, monkeypatch):
    step = fill(where, 10)
    monkeypatch.setenv(cache.BOUND, str(11 * step / 1e6))
    cache.write(key(10), bytes(1000))
    assert kept(where, 11) == list(range(11))


def test_the_bound_is_half_a_gigabyte_unless_set(monkeypatch):
    assert cache.limit() == 512e6
    monkeypatch.setenv(cache.BOUND, "0.5")
    assert cache.limit() == 0.5e6


def test_the_one_just_written_stays(where, monkeypatch):
    step = fill(where, 3)
    monkeypatch.setenv(cache.BOUND, str(1.05 * step / 1e6))
    real = os.replace

    def replace(source, target):
        real(source, target)
        age(target, 1e6)  # as if clocks differed

    monkeypatch.setattr(os, "replace", replace)
    cache.write(key(3), bytes(1000))
    assert kept(where, 4) == [3]


def test_what_exceeds_the_bound_alone_is_not_written(where, monkeypatch):
    step = fill(where, 3)
    monkeypatch.setenv(cache.BOUND, str(step / 1e6))
    cache.write(key(3), bytes(1001))
    assert kept(where, 4) == [0, 1, 2]
    cache.write(key(3), bytes(1000))
    assert kept(where, 4) == [3]
    monkeypatch.setenv(cache.BOUND, "0")
    cache.write(key(4), b"")
    assert kept(where, 5) == [3]


@pytest.mark.parametrize(("seconds", "marked"), [(0, False), (30, False), (90, True), (-90, True)])
def test_reading_counts_as_use_once_a_minute(where, seconds, marked):
    cache.write(KEY, DATA)
    age(entry(where), seconds)  # the last one by a clock that was ahead
    before = entry(where).stat().st_mtime_ns
    assert cache.read(KEY) == DATA
    after = entry(where).stat()
    assert (after.st_mtime_ns != before) == marked
    assert abs(time.time() - after.st_mtime) < 60


def test_entries_that_vanish_during_the_scan(where, monkeypatch):
    step = fill(where, 10)
    monkeypatch.setenv(cache.BOUND, str(10.5 * step / 1e6))
    real = os.unlink

    def someone_was_faster(path):
        real(path)
        real(path)

    monkeypatch.setattr(os, "unlink", someone_was_faster)
    cache.write(key(10), bytes(1000))
    assert kept(where, 11) == list(range(2, 11))  # no more than if it had removed them itself


def test_entries_that_cannot_be_removed(where, monkeypatch):
    step = fill(where, 4)
    monkeypatch.setenv(cache.BOUND, str(3 * step / 1e6))
    real = os.unlink
    stuck = raising(system_error(errno.EACCES))
    monkeypatch.setattr(os, "unlink", lambda path: stuck() if key(0) in str(path) else real(path))
    cache.write(key(4), bytes(1000))
    assert kept(where, 5) == [0, 4]  # 2 are below 90 % of 3


def test_stray_temporaries(where):
    cache.write(KEY, DATA)
    old, new = (where / f"{OTHER}.{digit * 16}.kinetree-part" for digit in "ab")
    for path, seconds in ((old, 3700), (new, 3500)):
        path.write_bytes(DATA)
        age(path, seconds)
    assert cache.size() == entry(where).stat().st_size
    cache.write(KEY, DATA)
    assert names(where) == sorted([entry(where).name, new.name])
    assert cache.clear() == 1
    assert names(where) == []

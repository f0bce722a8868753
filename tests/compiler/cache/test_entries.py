"""Object code on disk: what was written comes back.

Covers: compiler/runtime/cache.py.
"""

import time

import pytest

from cache_entries import DATA, KEY, OTHER, entry, names
from kinetree.compiler.runtime import cache
from processes import run


@pytest.mark.parametrize("data", [b"", b"x", DATA, b"\0" * 3_000_000], ids=len)
def test_what_was_written_comes_back(data):
    assert cache.read(KEY) is None
    cache.write(KEY, data)
    assert cache.read(KEY) == data
    assert cache.read(OTHER) is None


def test_the_last_one_written_counts(where):
    cache.write(KEY, b"first")
    cache.write(KEY, b"second")
    assert cache.read(KEY) == b"second"
    assert names(where) == [entry(where).name]


def test_reading_makes_no_folder(where):
    assert cache.read(KEY) is None and cache.size() == 0 and cache.clear() == 0
    assert not where.parent.exists()


def test_another_process_reads_it():
    cache.write(KEY, DATA)
    code = f"from kinetree.compiler.runtime import cache; print(cache.read({KEY!r}).hex())"
    assert run(code).strip() == DATA.hex()


def test_size_and_clear(where):
    cache.write(KEY, DATA)
    cache.write(OTHER, b"")
    (where / "mine.txt").write_text("not of the cache")
    (where / f"{KEY}.o").write_text("nor this")
    assert cache.size() == sum(entry(where, key).stat().st_size for key in (KEY, OTHER)) > len(DATA)
    assert cache.clear() == 2
    assert names(where) == sorted(["mine.txt", f"{KEY}.o"])
    assert cache.size() == 0 and cache.clear() == 0 and cache.read(KEY) is None


@pytest.mark.parametrize("wrong", ["", "../" + KEY, KEY + "/x", "xyz", KEY.upper(), KEY + "\n", "a" * 129])
def test_only_digests_are_keys(where, wrong):
    cache.write(KEY, DATA)
    cache.write(wrong, DATA)
    assert cache.read(wrong) is None
    assert names(where) == [entry(where).name] and names(where.parent) == [where.name]


def test_no_key_leads_out_of_the_folder(where):
    cache.write(KEY, DATA)
    outside = where.parent / f"{KEY}.kinetree"
    for content in (b"mine", cache._head(f"../{KEY}", DATA) + DATA):
        outside.write_bytes(content)
        assert cache.read(f"../{KEY}") is None
        assert outside.read_bytes() == content


def test_a_read_is_fast():
    cache.write(KEY, bytes(30_000))
    times = []
    for _ in range(50):
        start = time.perf_counter()
        assert cache.read(KEY) is not None
        times.append(time.perf_counter() - start)
    assert min(times) < 1e-3


def test_a_platform_without_owners_and_links():
    code = f"""
import numpy, os
for name in ("geteuid", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"):
    delattr(os, name) if hasattr(os, name) else None
os.supports_fd = set()
from kinetree.compiler.runtime import cache
cache.write({KEY!r}, b"data")
path = cache.folder() / "{KEY}.kinetree"
os.utime(path, (1000, 1000))
print(cache.read({KEY!r}), os.stat(path).st_mtime > 2000, cache.clear(), cache.read({KEY!r}))
"""
    assert run(code).split() == ["b'data'", "True", "1", "None"]

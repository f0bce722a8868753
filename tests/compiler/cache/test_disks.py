"""Nothing that happens to folders and disks becomes an exception, and nothing is left behind; one warning tells."""

import errno
import os
import shutil
import warnings

import pytest

import kinetree as kt
from cache_entries import DATA, KEY, OTHER, age, entry, names, posix, raising, system_error
from kinetree.compiler.runtime import cache
from processes import run


def test_a_folder_that_disappears(where):
    cache.write(KEY, DATA)
    shutil.rmtree(where.parent)
    assert cache.read(KEY) is None and cache.size() == 0 and cache.clear() == 0
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA


def test_a_folder_that_disappears_during_a_write(where, monkeypatch):
    real = cache._put

    def put(path, content):
        real(path, content)
        shutil.rmtree(where)

    monkeypatch.setattr(cache, "_put", put)
    cache.write(KEY, DATA)  # no warning: someone has cleared the cache
    assert not where.exists()


@pytest.mark.parametrize("level", [0, 1])
def test_a_file_in_place_of_the_folder(where, level):
    where.parent.mkdir()
    blocking = [where, where.parent][level]
    if level:
        blocking.rmdir()
    blocking.write_text("mine")
    with pytest.warns(kt.CacheWarning, match=f"compiled code is not kept in {where}: it (is not a folder|cannot be)"):
        cache.write(KEY, DATA)
    assert cache.read(KEY) is None and cache.size() == 0 and cache.clear() == 0
    assert blocking.read_text() == "mine"


@posix
def test_a_folder_that_is_a_link_to_nowhere(where, tmp_path):
    where.parent.mkdir()
    where.symlink_to(tmp_path / "nowhere")
    assert cache.read(KEY) is None
    with pytest.warns(kt.CacheWarning, match=f"in {where}: it cannot be made"):
        cache.write(KEY, DATA)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_cannot_be_made(where, monkeypatch, code):
    monkeypatch.setattr(os, "mkdir", raising(system_error(code)))
    with pytest.warns(kt.CacheWarning, match=rf"in {where}: it cannot be made \({os.strerror(code)}\)"):
        cache.write(KEY, DATA)
    assert cache.read(KEY) is None


def test_a_folder_that_cannot_be_looked_at(where, monkeypatch):
    real = os.stat
    denied = raising(system_error(errno.EACCES))
    monkeypatch.setattr(os, "stat", lambda path, **how: denied() if path == where else real(path, **how))
    with pytest.warns(kt.CacheWarning, match=rf"in {where}: it cannot be read \({os.strerror(errno.EACCES)}\)"):
        assert cache.read(KEY) is None


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written(where, monkeypatch, code):
    cache.write(KEY, DATA)
    real = os.open

    def only_reading(path, flags, *args):
        if flags & os.O_CREAT:
            raise system_error(code)
        return real(path, flags, *args)

    age(entry(where), 1000)  # so that reading would mark it as used
    monkeypatch.setattr(os, "open", only_reading)
    monkeypatch.setattr(os, "utime", raising(system_error(code)))
    with pytest.warns(kt.CacheWarning, match=rf"cannot be written \({os.strerror(code)}\); KINETREE_CACHE_DIR can"):
        cache.write(OTHER, DATA)
    assert cache.read(KEY) == DATA and cache.read(OTHER) is None


def test_an_entry_that_cannot_be_read_stays(where, monkeypatch):
    cache.write(KEY, DATA)
    for code in (errno.EACCES, errno.EMFILE, errno.EIO):
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", raising(system_error(code)))
            assert cache.read(KEY) is None
        with monkeypatch.context() as patch:
            patch.setattr(os, "read", raising(system_error(code)))
            assert cache.read(KEY) is None
    assert cache.read(KEY) == DATA


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_modes_that_deny(where):
    cache.write(KEY, DATA)
    entry(where).chmod(0)
    assert cache.read(KEY) is None
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA
    where.chmod(0o500)
    with pytest.warns(kt.CacheWarning, match="cannot be written"):
        cache.write(OTHER, DATA)
    assert cache.read(KEY) == DATA
    where.chmod(0o700)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
@pytest.mark.parametrize("step", ["write", "close", "replace"])
def test_a_full_disk_leaves_nothing_behind(where, monkeypatch, code, step):
    cache.write(KEY, b"old")
    write = os.write
    before = {"write": lambda file, data: write(file, data[:100]), "close": os.close, "replace": lambda *names: None}
    match = rf"in {where}: {KEY}.kinetree cannot be written \({os.strerror(code)}\)"
    with monkeypatch.context() as patch, pytest.warns(kt.CacheWarning, match=match):
        patch.setattr(os, step, raising(system_error(code), after=before[step]))
        cache.write(KEY, DATA)
    assert names(where) == [entry(where).name]
    assert cache.read(KEY) == b"old"


@posix
def test_a_real_limit_to_file_sizes(where):
    code = f"""
import resource, warnings
from kinetree.compiler.runtime import cache
cache.write({OTHER!r}, bytes(1000))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    cache.write({KEY!r}, bytes(10000))
print(*[warning.message for warning in said], sep="\\n")
"""
    assert os.strerror(errno.EFBIG) in run(code)
    assert names(where) == [entry(where, OTHER).name]


def test_writes_that_take_several_steps(monkeypatch):
    write, read = os.write, os.read
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:100]))
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA
    monkeypatch.setattr(os, "read", lambda file, size: read(file, min(size, 100)))
    assert cache.read(KEY) == DATA


@pytest.mark.parametrize("step", ["write", "close", "replace"])
def test_an_interrupt_passes_and_leaves_nothing_behind(where, monkeypatch, step):
    cache.write(OTHER, DATA)
    real = {"write": lambda *args: None, "close": os.close, "replace": lambda *args: None}
    with monkeypatch.context() as patch:
        patch.setattr(os, step, raising(KeyboardInterrupt(), after=real[step]))
        with pytest.raises(KeyboardInterrupt):
            cache.write(KEY, DATA)
    assert names(where) == [entry(where, OTHER).name]


def test_no_file_stays_open(monkeypatch):
    opened, closed = [], []
    really_open, really_close = os.open, os.close
    monkeypatch.setattr(os, "open", lambda *args: opened.append(really_open(*args)) or opened[-1])
    monkeypatch.setattr(os, "close", lambda file: closed.append(file) or really_close(file))
    cache.write(KEY, DATA)
    cache.read(KEY)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", raising(system_error(errno.EIO)))
        cache.read(KEY)
    with monkeypatch.context() as patch, pytest.warns(kt.CacheWarning):
        patch.setattr(os, "write", raising(system_error(errno.EIO)))
        cache.write(KEY, DATA)
    assert len(opened) == 4 and opened == closed


@posix
def test_one_warning_per_process_whatever_the_filters(where):
    code = f"""
import os, threading, warnings
from kinetree.compiler.runtime import cache
os.makedirs({str(where)!r}); os.chmod({str(where)!r}, 0o777)
start = threading.Barrier(8)
def work():
    start.wait()
    for _ in range(20):
        assert cache.read({KEY!r}) is None
        cache.write({KEY!r}, b"data")
threads = [threading.Thread(target=work) for _ in range(8)]
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    os.chmod({str(where)!r}, 0o700)
    os.environ["KINETREE_CACHE_MB"] = "many"
    cache.write({KEY!r}, b"data")
print(len(said), *[type(warning.message).__name__ for warning in said], cache.read({KEY!r}))
"""
    assert run(code).split() == ["1", "CacheWarning", "b'data'"]


@posix
def test_a_warning_that_is_made_an_error_is_printed(where, capsys):
    cache.write(KEY, DATA)
    where.chmod(0o777)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.read(KEY) is None
        assert cache.read(KEY) is None
    said = capsys.readouterr().err
    assert said.startswith(f"CacheWarning: compiled code is not kept in {where}: it may be written by others")
    assert said.count("CacheWarning") == 1

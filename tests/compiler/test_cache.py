"""Object code on disk: what was written comes back, what was tampered with never does, and nothing that happens to the
files becomes an exception."""

import errno
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
import warnings

import pytest

import kinetree as kt
from kinetree.compiler import cache

KEY, OTHER = (hashlib.sha256(word).hexdigest() for word in (b"one", b"other"))
DATA = bytes(range(256)) * 4
posix = pytest.mark.skipif(os.name != "posix", reason="about owners and modes")


@pytest.fixture(autouse=True)
def where(tmp_path, monkeypatch, capsys):
    """A folder that does not exist yet, no settings of the user's, and a process that has not warned.

    A warning that no test waits for would be printed, and is none that should be.
    """
    for name in (cache.SWITCH, cache.BOUND):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "below" / "cache"))
    monkeypatch.setattr(cache, "_warned", threading.Lock())
    yield tmp_path / "below" / "cache"
    assert capsys.readouterr().err == ""


def entry(where, key=KEY):
    return where / f"{key}.kinetree"


def names(where):
    return sorted(path.name for path in where.iterdir())


def key(number):
    return f"{number:064x}"


def age(path, seconds):
    moment = time.time() - seconds
    os.utime(path, (moment, moment), follow_symlinks=False)


def raising(problem, after=lambda *args: None):
    """A function that does something and then fails as the operating system would."""

    def function(*args, **kwargs):
        after(*args)
        raise problem

    return function


def system_error(code):
    return OSError(code, os.strerror(code))


# -- what was written comes back --------------------------------------------------------------------------------------


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
    code = f"from kinetree.compiler import cache; print(cache.read({KEY!r}).hex())"
    assert run(code).stdout.strip() == DATA.hex()


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
from kinetree.compiler import cache
cache.write({KEY!r}, b"data")
path = cache.folder() / "{KEY}.kinetree"
os.utime(path, (1000, 1000))
print(cache.read({KEY!r}), os.stat(path).st_mtime > 2000, cache.clear(), cache.read({KEY!r}))
"""
    assert run(code).stdout.split() == ["b'data'", "True", "1", "None"]


# -- settings ---------------------------------------------------------------------------------------------------------


def test_switched_off(where, monkeypatch):
    cache.write(KEY, DATA)
    monkeypatch.setenv(cache.SWITCH, "0")
    cache.write(OTHER, DATA)
    assert cache.folder() is None
    assert cache.read(KEY) is None and cache.size() == 0 and cache.clear() == 0
    monkeypatch.setenv(cache.SWITCH, "1")
    assert cache.folder() == where
    assert cache.read(KEY) == DATA and cache.read(OTHER) is None


@pytest.mark.parametrize(
    ("platform", "variables", "right"),
    [
        ("linux", {"HOME": "{tmp}"}, ".cache/kinetree"),
        ("linux", {"HOME": "{tmp}", "XDG_CACHE_HOME": "{tmp}/xdg"}, "xdg/kinetree"),
        ("linux", {"HOME": "{tmp}", "XDG_CACHE_HOME": "relative"}, ".cache/kinetree"),
        ("linux", {"HOME": "{tmp}", "KINETREE_CACHE_DIR": ""}, ".cache/kinetree"),
        ("linux", {"HOME": "{tmp}", "KINETREE_CACHE_DIR": "~/mine"}, "mine"),
        ("linux", {"HOME": "{tmp}/a", "XDG_CACHE_HOME": "{tmp}/b", "KINETREE_CACHE_DIR": "{tmp}/mine"}, "mine"),
        ("linux", {"HOME": ""}, None),
        ("linux", {"HOME": "relative"}, None),
        ("darwin", {"HOME": "{tmp}", "XDG_CACHE_HOME": "{tmp}/xdg"}, "Library/Caches/kinetree"),
        ("win32", {"LOCALAPPDATA": "{tmp}"}, "kinetree/Cache"),
        ("win32", {"HOME": "{tmp}"}, None),
    ],
)
@posix
def test_where_it_is(tmp_path, monkeypatch, platform, variables, right):
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", cache.FOLDER):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert cache.folder() == (right and tmp_path / right)


@posix
def test_a_relative_folder_is_in_the_working_directory_as_long_as_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.FOLDER, "near")
    monkeypatch.chdir(tmp_path)
    assert cache.folder() == tmp_path / "near"
    monkeypatch.setattr(os, "getcwd", raising(FileNotFoundError()))
    assert cache.folder() is None


@posix
def test_no_home_at_all(monkeypatch):
    monkeypatch.delenv(cache.FOLDER)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it returns for a user without an entry
    assert cache.folder() is None
    cache.write(KEY, DATA)
    assert cache.read(KEY) is None


@posix
def test_root_keeps_nothing_in_the_home_of_another(tmp_path, monkeypatch):
    monkeypatch.delenv(cache.FOLDER)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    own = os.stat(tmp_path).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    pretend_owner(monkeypatch, "stat", own or 1234)
    assert cache.folder() is None
    pretend_owner(monkeypatch, "stat", 0)
    assert cache.folder() == tmp_path / ".cache" / "kinetree"


@pytest.mark.parametrize("text", ["much", "-1", "nan", "1 GB"])
def test_a_bound_that_is_no_number(monkeypatch, text):
    monkeypatch.setenv(cache.BOUND, text)
    with pytest.warns(kt.CacheWarning, match=f"^KINETREE_CACHE_MB is '{text}'; expected a number of megabytes"):
        cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA


# -- damaged entries --------------------------------------------------------------------------------------------------


def spoiled(where, content):
    """Whether an entry of this content is missing, and quietly gone."""
    entry(where).write_bytes(content)
    return cache.read(KEY) is None and names(where) == []


def test_truncated_anywhere(where):
    cache.write(KEY, b"machine code")
    content = entry(where).read_bytes()
    assert all(spoiled(where, content[:length]) for length in range(len(content)))
    assert spoiled(where, content + b"\0")
    assert spoiled(where, content + content)
    entry(where).write_bytes(content)
    assert cache.read(KEY) == b"machine code"


def test_any_bit_flipped(where):
    cache.write(KEY, b"machine code")
    content = entry(where).read_bytes()
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        assert spoiled(where, changed), bit


def test_an_entry_of_another_format(where):
    cache.write(KEY, DATA)
    content = entry(where).read_bytes()
    digest = hashlib.sha256(KEY.encode() + b"\n" + DATA).digest()
    assert content == b"kinetree object code, format 1\n" + digest + len(DATA).to_bytes(8, "big") + DATA
    assert spoiled(where, content.replace(b"format 1", b"format 2"))


def test_an_entry_renamed_to_another_key(where):
    cache.write(KEY, DATA)
    entry(where).rename(entry(where, OTHER))
    assert cache.read(OTHER) is None
    assert names(where) == []


def test_where_key_and_data_meet_matters(where):
    cache.write(KEY, b"0123")
    os.rename(entry(where), entry(where, KEY[:-1]))
    content = entry(where, KEY[:-1]).read_bytes()
    entry(where, KEY[:-1]).write_bytes(content[:-12] + (5).to_bytes(8, "big") + KEY[-1:].encode() + b"0123")
    assert cache.read(KEY[:-1]) is None


def test_a_damaged_entry_is_written_anew(where):
    cache.write(KEY, DATA)
    entry(where).write_bytes(b"")
    assert cache.read(KEY) is None
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA


# -- entries and folders that others may have touched -----------------------------------------------------------------


def pretend_owner(monkeypatch, function, owner):
    """Let os.stat or os.fstat report another owner."""
    real = getattr(os, function)

    def pretended(*args, **kwargs):
        fields = list(real(*args, **kwargs))
        fields[4] = owner
        return os.stat_result(fields)

    monkeypatch.setattr(os, function, pretended)


@posix
def test_files_are_private_whatever_the_umask(where):
    before = os.umask(0)
    try:
        cache.write(KEY, DATA)
    finally:
        os.umask(before)
    assert stat.S_IMODE(where.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(where).stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write(where, mode):
    cache.write(KEY, DATA)
    entry(where).chmod(mode)
    with pytest.warns(kt.CacheWarning, match=rf"{where}: {KEY}.kinetree may be written by others \(mode {mode:o}\)"):
        assert cache.read(KEY) is None
    assert entry(where).exists()
    cache.write(KEY, DATA)  # in its place
    assert cache.read(KEY) == DATA


@posix
def test_an_entry_that_others_may_read_is_fine(where):
    cache.write(KEY, DATA)
    where.chmod(0o755)
    entry(where).chmod(0o644)
    assert cache.read(KEY) == DATA


@posix
@pytest.mark.parametrize("what", ["entry", "folder"])
def test_what_belongs_to_another_user(where, monkeypatch, what):
    cache.write(KEY, DATA)
    stranger = os.geteuid() + 1234
    if os.geteuid() == 0:
        os.chown(entry(where) if what == "entry" else where, stranger, -1)
    else:
        pretend_owner(monkeypatch, "fstat" if what == "entry" else "stat", stranger)
    with pytest.warns(kt.CacheWarning, match=rf"in {where}: \S+ belongs to another user \(number {stranger}\)"):
        assert cache.read(KEY) is None
    assert entry(where).read_bytes().endswith(DATA)


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_left_alone(where, mode):
    cache.write(KEY, DATA)
    where.chmod(mode)
    with pytest.warns(kt.CacheWarning, match=rf"in {where}: it may be written by others \(mode {mode & 0o777:o}\)"):
        assert cache.read(KEY) is None
    cache.write(OTHER, DATA)
    assert cache.size() == 0 and cache.clear() == 0
    assert names(where) == [entry(where).name]
    where.chmod(0o700)
    assert cache.read(KEY) == DATA


@posix
def test_the_file_that_is_judged_is_the_one_that_is_read(where, monkeypatch):
    cache.write(KEY, DATA)
    other = where / "other"
    other.write_bytes(b"swapped in between")
    real = os.fstat

    def swap(descriptor):
        os.replace(other, entry(where))
        return real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", swap)
        assert cache.read(KEY) == DATA
    assert not other.exists() and cache.read(KEY) is None


@posix
def test_a_linked_entry_is_not_followed(where, tmp_path):
    cache.write(KEY, DATA)
    elsewhere = tmp_path / "elsewhere"
    entry(where).rename(elsewhere)
    entry(where).symlink_to(elsewhere)
    assert cache.read(KEY) is None
    assert elsewhere.exists() and names(where) == []
    entry(where).symlink_to(elsewhere)
    cache.write(KEY, b"new")
    assert cache.read(KEY) == b"new" and not entry(where).is_symlink()
    assert elsewhere.read_bytes().endswith(DATA)


@posix
def test_a_linked_folder_counts_as_what_it_leads_to(where, tmp_path):
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    where.parent.mkdir()
    where.symlink_to(real)
    cache.write(KEY, DATA)
    assert cache.read(KEY) == DATA and names(real) == [entry(where).name]
    real.chmod(0o770)
    with pytest.warns(kt.CacheWarning, match="may be written by others"):
        assert cache.read(KEY) is None


@posix
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_an_entry_that_is_no_file(where, make):
    cache.write(KEY, DATA)
    entry(where).unlink()
    make(entry(where))
    assert cache.read(KEY) is None  # and does not wait for someone to write to the pipe
    assert cache.size() == 0


@posix
def test_an_entry_that_is_a_pipe_with_the_right_content(where):
    cache.write(KEY, DATA)
    content = entry(where).read_bytes()
    entry(where).unlink()
    os.mkfifo(entry(where), 0o600)
    pipe = os.open(entry(where), os.O_RDWR)
    try:
        os.write(pipe, content)
        assert cache.read(KEY) is None
    finally:
        os.close(pipe)
    assert names(where) == []


@posix
def test_links_count_for_themselves(where, tmp_path):
    cache.write(KEY, DATA)
    mine = tmp_path / "mine"
    mine.write_bytes(bytes(100_000))
    entry(where, OTHER).symlink_to(mine)
    assert cache.size() < 50_000
    assert cache.clear() == 2
    assert mine.exists() and names(where) == []


@posix
def test_a_temporary_that_is_there_already_is_not_used(where, monkeypatch):
    cache.write(OTHER, DATA)
    monkeypatch.setattr(os, "urandom", bytes)
    planted = where / f"{KEY}.{'00' * 8}.kinetree-part"
    with planted.open("w+b") as held, pytest.warns(kt.CacheWarning, match=os.strerror(errno.EEXIST)):
        cache.write(KEY, DATA)
        assert held.read() == b""
    assert cache.read(KEY) is None


def test_a_folder_in_place_of_an_entry(where):
    (entry(where) / "full").mkdir(parents=True)
    where.chmod(0o700)
    with pytest.warns(kt.CacheWarning, match=f"{KEY}.kinetree cannot be written"):
        cache.write(KEY, DATA)
    cache.write(OTHER, DATA)
    assert names(where) == sorted([entry(where).name, entry(where, OTHER).name])
    assert cache.read(KEY) is None and cache.read(OTHER) == DATA
    assert cache.clear() == 1


# -- what can go wrong with folders and disks -------------------------------------------------------------------------


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
from kinetree.compiler import cache
cache.write({OTHER!r}, bytes(1000))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    cache.write({KEY!r}, bytes(10000))
print(*[warning.message for warning in said], sep="\\n")
"""
    assert os.strerror(errno.EFBIG) in run(code).stdout
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


# -- warnings ---------------------------------------------------------------------------------------------------------


@posix
def test_one_warning_per_process_whatever_the_filters(where):
    code = f"""
import os, threading, warnings
from kinetree.compiler import cache
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
    assert run(code).stdout.split() == ["1", "CacheWarning", "b'data'"]


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


# -- the bound --------------------------------------------------------------------------------------------------------


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
    assert cache._bound() == 512e6
    monkeypatch.setenv(cache.BOUND, "0.5")
    assert cache._bound() == 0.5e6


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


# -- several at once --------------------------------------------------------------------------------------------------


def run(code):
    """A process of its own, with this one's environment."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)


RACE = """
import sys, time
from kinetree.compiler import cache
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
from kinetree.compiler import cache
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
    assert run(code).stdout.strip() == "{0}"
    assert len(names(where)) == 31

"""Archives of the cache: what was packed comes back; what is damaged, forged or of others is refused as a whole."""

import errno
import os
import stat
import threading
from hashlib import sha256

import numpy as np
import pytest

import kinetree as kt
from cache_entries import DATA, entry, names, posix, pretend_owner, raising, system_error
from kinetree.compiler.runtime import archive, cache
from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.stored import build, build_tag, cpu_tag, key_of
from kinetree.compiler.runtime.target import cpu_names

ENTRIES = {key_of(host(), "test", word): data for word, data in (("a", b""), ("b", DATA), ("c", b"x" * 10))}
FIRST, SECOND, THIRD = ENTRIES
WHOLE = b"".join(archive.packed(ENTRIES))


@pytest.fixture(autouse=True)
def where(tmp_path, monkeypatch):
    """A cache that does not exist yet."""
    for name in (cache.SWITCH, cache.BOUND):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "below" / "cache"))
    monkeypatch.setattr(cache, "_warned", threading.Lock())
    return tmp_path / "below" / "cache"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "fleet.cache"
    path.write_bytes(WHOLE)
    path.chmod(0o600)
    return path


def test_what_was_packed_comes_back():
    assert archive.unpacked(WHOLE, "it") == ENTRIES
    assert archive.unpacked(b"".join(archive.packed({})), "it") == {}


def test_keys_tell_build_and_cpu(where):
    for key, data in ENTRIES.items():
        cache.write(key, data)
    old = build_tag({**build(), "NumPy": "1.0"}) + FIRST[16:]
    cache.write(old, b"of an earlier installation")
    others = [key_of(host(name), "test") for name in cpu_names()]
    for key in others:
        cache.write(key, b"for a named CPU")
    assert archive.keys_here() == sorted([*ENTRIES, *others])
    assert [archive.keys_here(name) for name in cpu_names()] == [[key] for key in others]
    assert archive.counted([*ENTRIES, *others]) == {archive.own_cpu(): 3, **dict.fromkeys(cpu_names(), 1)}
    assert archive.counted([FIRST[:16] + "0" * 72]) == {"another CPU": 1}
    single, double = (
        key_of(host().computing_in(dtype), "test") for dtype in (np.dtype("float32"), np.dtype("float64"))
    )
    assert single != double and single[:24] == double[:24] == build_tag(build()) + cpu_tag(host())


# -- damage and forgery ------------------------------------------------------------------------------------------------


def test_every_truncation_and_every_flipped_byte_is_refused():
    """Also one that ends between two entries."""
    for size in range(len(WHOLE)):
        with pytest.raises(kt.ArgumentError, match=r"^it is (damaged at byte|not an archive|of another build)"):
            archive.unpacked(WHOLE[:size], "it")
    for place in range(len(WHOLE)):
        changed = bytearray(WHOLE)
        changed[place] ^= 0x41
        with pytest.raises(kt.ArgumentError, match=r"^it is (damaged at byte|not an archive|of another build)"):
            archive.unpacked(bytes(changed), "it")
    with pytest.raises(kt.ArgumentError, match="damaged"):
        archive.unpacked(WHOLE + b"\n", "it")


@pytest.mark.parametrize(
    "key",
    [
        f"../{FIRST}",
        f"../../{FIRST[6:]}",
        f"/tmp/{FIRST[5:]}",
        FIRST[:-1],
        FIRST.upper(),
        "",
        FIRST[:-1] + "\0",
        build_tag({**build(), "system": "other"}) + FIRST[16:],
    ],
)
def test_forged_keys_with_right_checksums_are_refused(key, where):
    with pytest.raises(kt.ArgumentError, match=r"^it is damaged"):
        archive.unpacked(b"".join(archive.packed({SECOND: b"good", key: b"bad"})), "it")


def header(*lines):
    return archive.MAGIC + "".join(f"{line}\n" for line in (*build().values(), *lines)).encode()


@pytest.mark.parametrize("count", ["-1", "2", "", "x", "9" * 150, "1e3", "9" * 5000])
def test_a_wrong_number_of_entries(count):
    content = cache.packed(FIRST, b"")
    right = header("1") + f"{FIRST}\n{len(content)}\n".encode() + content
    assert archive.unpacked(right, "it") == {FIRST: b""}
    with pytest.raises(kt.ArgumentError, match=r"^it is damaged"):
        archive.unpacked(right.replace(b"\n1\n", f"\n{count}\n".encode(), 1), "it")


@pytest.mark.parametrize("size", ["-1", "0", "1", "", "9" * 15, "9" * 150])
def test_a_wrong_size_of_an_entry(size):
    with pytest.raises(kt.ArgumentError, match=r"^it is damaged"):
        archive.unpacked(header("1") + f"{FIRST}\n{size}\n".encode() + cache.packed(FIRST, DATA), "it")


def test_an_entry_twice():
    content = cache.packed(FIRST, b"")
    twice = f"{FIRST}\n{len(content)}\n".encode() + content
    with pytest.raises(kt.ArgumentError, match=r"^it is damaged"):
        archive.unpacked(header("2") + twice + twice, "it")


@pytest.mark.parametrize("part", list(build()))
def test_another_build_is_named(part, monkeypatch):
    other = {**build(), part: "something\x1b[31m else"}
    monkeypatch.setattr(archive, "build", lambda: other)
    foreign = b"".join(archive.packed(ENTRIES))
    monkeypatch.undo()
    sentence = rf"^it is of another build, .*: its {part} is 'something\\x1b\[31m else', here it is '"
    with pytest.raises(kt.ArgumentError, match=sentence):
        archive.unpacked(foreign, "it")


# -- whose file it is --------------------------------------------------------------------------------------------------


def test_a_file_of_ones_own(file):
    assert archive.trusted_content(str(file), None) == WHOLE


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_needs_its_digest(file, mode):
    file.chmod(mode)
    with pytest.raises(kt.ArgumentError, match=rf"may be written by others \(mode {mode:o}\), so .* SHA-256 is given$"):
        archive.trusted_content(str(file), None)
    assert archive.trusted_content(str(file), sha256(WHOLE).hexdigest().upper()) == WHOLE


@posix
def test_a_file_of_another_user_needs_its_digest(file, monkeypatch):
    pretend_owner(monkeypatch, "fstat", os.geteuid() + 1234)
    with pytest.raises(kt.ArgumentError, match="belongs to another user"):
        archive.trusted_content(str(file), None)
    assert archive.trusted_content(str(file), sha256(WHOLE).hexdigest()) == WHOLE


@posix
def test_root_is_trusted_like_oneself(file, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    pretend_owner(monkeypatch, "fstat", 0)
    assert archive.trusted_content(str(file), None) == WHOLE
    file.chmod(0o666)
    with pytest.raises(kt.ArgumentError, match="belongs to another user"):
        archive.trusted_content(str(file), None)


@pytest.mark.parametrize("digest", ["", "0" * 64, sha256(WHOLE).hexdigest()[:-1]])
def test_another_digest(file, digest):
    with pytest.raises(kt.ArgumentError, match=rf"has the SHA-256 {sha256(WHOLE).hexdigest()}; expected '"):
        archive.trusted_content(str(file), digest)


def test_what_is_no_file(tmp_path):
    with pytest.raises(kt.ArgumentError, match=r"nowhere cannot be read: No such file"):
        archive.trusted_content(str(tmp_path / "nowhere"), None)
    with pytest.raises(kt.ArgumentError, match=r"is not a file$|cannot be read"):
        archive.trusted_content(str(tmp_path), None)


@posix
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(kt.ArgumentError, match=r"pipe is not a file$"):
        archive.trusted_content(str(tmp_path / "pipe"), None)


def test_more_than_the_cache_may_hold(file, monkeypatch):
    monkeypatch.setenv(cache.BOUND, f"{len(WHOLE) / 1e6 / cache.ROOM - 1e-5}")
    with pytest.raises(
        kt.ArgumentError, match=r"has 0\.0 MB, too many for the cache, whose KINETREE_CACHE_MB is 0\.00"
    ):
        archive.trusted_content(str(file), None)
    monkeypatch.setenv(cache.BOUND, f"{len(WHOLE) / 1e6 / cache.ROOM + 1e-5}")
    assert archive.store(archive.unpacked(archive.trusted_content(str(file), None), "it")) == 3
    assert all(cache.read(key) == data for key, data in ENTRIES.items()), "none had to make room for another"


# -- into the cache ----------------------------------------------------------------------------------------------------


def test_entries_that_are_there_stay(where):
    cache.write(SECOND, b"mine")
    assert archive.store(ENTRIES) == 2
    assert [cache.read(key) for key in ENTRIES] == [b"", b"mine", b"x" * 10]
    assert archive.store(ENTRIES) == 0
    entry(where, FIRST).write_bytes(b"damaged")
    assert archive.store(ENTRIES) == 1
    assert stat.S_IMODE(entry(where, FIRST).stat().st_mode) == 0o600 or os.name == "nt"


@pytest.mark.parametrize("problem", [system_error(errno.ENOSPC), KeyboardInterrupt()])
def test_what_fails_on_its_way_leaves_nothing(where, monkeypatch, problem):
    cache.write(FIRST, b"mine")
    real, written = os.replace, []

    def replace(source, target):
        written.append(target)
        return raising(problem)() if len(written) == 2 else real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        if isinstance(problem, OSError):
            with pytest.warns(kt.CacheWarning), pytest.raises(kt.KinetreeError, match=r"^nothing was imported: "):
                archive.store(ENTRIES)
        else:
            with pytest.raises(KeyboardInterrupt):
                archive.store(ENTRIES)
    assert len(written) == 2
    assert names(where) == [entry(where, FIRST).name] and cache.read(FIRST) == b"mine"
    assert archive.store(ENTRIES) == 2


@posix
def test_a_cache_that_others_may_write_takes_nothing(where):
    where.mkdir(parents=True)
    where.chmod(0o777)
    with pytest.warns(kt.CacheWarning), pytest.raises(kt.KinetreeError, match="nothing was imported"):
        archive.store(ENTRIES)
    assert names(where) == []

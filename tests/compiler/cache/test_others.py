"""Entries and folders that other users may have touched are neither read nor followed."""

import errno
import os
import stat

import pytest

import kinetree as kt
from cache_entries import DATA, KEY, OTHER, entry, names, posix, pretend_owner
from kinetree.compiler.runtime import cache


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

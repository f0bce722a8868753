"""Where the cache is, how large it may get, and whether there is one at all."""

import os
import sys

import pytest

import kinetree as kt
from cache_entries import DATA, KEY, OTHER, posix, pretend_owner, raising
from kinetree.compiler.runtime import cache


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

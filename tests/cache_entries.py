"""Entries of the cache of object code, for tests that look at what becomes of them."""

import hashlib
import os
import time

import pytest

KEY, OTHER = (hashlib.sha256(word).hexdigest() for word in (b"one", b"other"))
DATA = bytes(range(256)) * 4
posix = pytest.mark.skipif(os.name != "posix", reason="about owners and modes")


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


def pretend_owner(monkeypatch, function, owner):
    """Let os.stat or os.fstat report another owner."""
    real = getattr(os, function)

    def pretended(*args, **kwargs):
        fields = list(real(*args, **kwargs))
        fields[4] = owner
        return os.stat_result(fields)

    monkeypatch.setattr(os, function, pretended)

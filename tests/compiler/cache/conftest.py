"""A cache of its own for every test of it."""

import threading

import pytest

from kinetree.compiler.runtime import cache


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

"""Native calls work where they should: otherwise all other tests of them would be skipped without a word.

Covers: compiler/codegen/entry/arrays.py, compiler/codegen/entry/assembly.py, compiler/codegen/entry/interpreter.py.
"""

import os
import platform
import sys

import pytest

from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.runtime import assumptions, native


def test_native_calls_work_here():
    expected = (
        sys.implementation.name == "cpython"
        and platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64")
        and sys.maxsize > 2**32
    )
    assert native._works() == expected
    assert native.available() == (expected and os.environ.get("KINETREE_NATIVE") != "0")
    assert assumptions.counts_are_as_expected() != FREE_THREADED


@pytest.mark.parametrize("check", ["is_cpython", "types_are_as_expected", "arrays_are_as_expected"])
def test_they_are_given_up_where_an_assumption_does_not_hold(check, monkeypatch):
    monkeypatch.setattr(native, check, lambda: False)
    assert not native._works.__wrapped__()


def test_objects_that_lie_elsewhere_in_memory_are_noticed(monkeypatch):
    interpreter = assumptions.interpreter

    class Elsewhere(interpreter.Object):
        _fields_ = tuple(interpreter.Array._fields_[k] for k in (2, 1, 0, *range(3, 8)))  # data and shape change places

    monkeypatch.setattr(interpreter, "TUPLE", interpreter.TUPLE << 1)
    assert not assumptions.types_are_as_expected()
    monkeypatch.setattr(interpreter, "Array", Elsewhere)
    assert not assumptions.arrays_are_as_expected()

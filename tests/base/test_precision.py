"""Tolerances by the type of numbers, and which types robots can have."""

import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.base.precision import FLOAT32, FLOAT64, as_dtype, computing_in, tolerance


def test_a_tolerance_is_that_of_the_traced_formula():
    assert tolerance(1.0, 2.0) == 1.0
    with computing_in(FLOAT32):
        assert tolerance(1.0, 2.0) == 2.0
        with computing_in(FLOAT64):
            assert tolerance(1.0, 2.0) == 1.0
        assert tolerance(1.0, 2.0) == 2.0
    assert tolerance(1.0, 2.0) == 1.0


def test_other_threads_and_errors_do_not_change_it():
    seen = []
    with pytest.raises(ValueError, match="on purpose"), computing_in(FLOAT32):
        thread = threading.Thread(target=lambda: seen.append(tolerance(1.0, 2.0)))
        thread.start()
        thread.join()
        raise ValueError("on purpose")
    assert seen == [1.0] and tolerance(1.0, 2.0) == 1.0


@pytest.mark.parametrize("value", ["float32", np.float32, np.dtype(np.float32), "f4"])
def test_names_of_float32(value):
    assert as_dtype(value) is FLOAT32


@pytest.mark.parametrize("value", ["float16", "int", "float 32", None, 32, np.complex128, ">f4"])
def test_what_robots_cannot_be_computed_in(value):
    with pytest.raises(kt.ArgumentError, match=r'dtype is .*; expected "float64" or "float32"'):
        as_dtype(value)

"""Conditions of a formula: collected where it is traced, raised where it runs on numbers, and found by machine code."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import ops
from kinetree.compiler.graph.requirements import any_broken, collected_requirements, require


def test_conditions_are_collected_inside_only():
    require(False)
    with collected_requirements() as outer:
        require(True)
        with collected_requirements() as inner:
            require(False)
        require(True)
    require(False)
    assert outer == [True, True] and inner == [False]


def test_what_fails_inside_leaves_nothing_behind():
    with collected_requirements() as outer:
        with pytest.raises(ZeroDivisionError), collected_requirements():
            require(1 / 0)
        require(True)
    assert outer == [True]


@pytest.mark.parametrize(("conditions", "broken"), [([], False), ([True, True], False), ([True, False, True], True)])
def test_any_broken(conditions, broken):
    assert bool(any_broken(conditions)) is broken


def test_machine_code_refuses_what_numbers_refuse():
    @kt.compile
    def root(robot, q):
        ops.require(ops.less_equal(0.0, q[0]), "q[0] is negative")
        ops.require(ops.less(q[1], 2.0), "q[1] is too large")
        return ops.sqrt(q[0]) + q[1]

    robot = kt.load("planar2")
    for one in (robot, robot.eager):
        assert root(one, [4.0, 1.0]) == 3.0
        with pytest.raises(kt.ArgumentError, match=r"q\[0\] is negative"):
            root(one, [-4.0, 1.0])
        with pytest.raises(kt.ArgumentError, match=r"q\[1\] is too large"):
            root(one, np.array([[4.0, 1.0], [1.0, 1.0], [4.0, 2.5]]))

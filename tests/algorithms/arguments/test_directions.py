"""Directions of a frame by name, in both orders of 6-vectors."""

import pytest

import kinetree as kt
from kinetree.algorithms.arguments.directions import DIRECTIONS, directions, task_directions, task_rows


def test_names_of_directions():
    assert task_directions("pose") == DIRECTIONS and task_directions("orientation") == ("rx", "ry", "rz")
    assert task_directions(["z", "x"]) == ("x", "z") and task_directions("ry") == ("ry",)
    assert directions("task", ("rz", "y")) == (1, 5)


def test_rows_follow_the_order_of_six_vectors():
    assert task_rows(("x", "rz"), "linear-first") == [0, 5]
    assert task_rows(("x", "rz"), "angular-first") == [2, 3]
    assert task_rows("position", "angular-first") == [3, 4, 5]


def test_what_is_no_direction():
    with pytest.raises(kt.UnknownNameError, match="did you mean 'position'"):
        task_directions("positions")
    with pytest.raises(kt.UnknownNameError, match="direction 'w' does not exist"):
        task_directions(("x", "w"))
    with pytest.raises(kt.ArgumentError, match="task has 'x' 2 times; expected each direction once"):
        task_directions(["z", "x", "x"])
    with pytest.raises(kt.ArgumentError, match="task is empty"):
        task_directions(())
    with pytest.raises(kt.ArgumentTypeError, match="task is 3; expected names among x, y"):
        task_directions(3)

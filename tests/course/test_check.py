"""Right answers pass, typical wrong ones get their hint, and the solution is never shown.

Covers: course/exercise.py, course/robots.py, course/sheets/rotations.py, course/sheets/transforms.py,
course/sheets/kinematics.py, course/sheets/inverse_kinematics.py, course/sheets/dynamics.py,
course/sheets/floating_base.py, course/sheets/centroidal.py, course/sheets/control.py, course/sheets/multicopters.py,
course/sheets/fixed_wing.py, course/sheets/listed.py.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.course import SHEETS, check, exercises, find, given

SOLUTIONS = runpy.run_path(str(Path(__file__).parents[2] / "teaching" / "solutions.py"))["SOLUTIONS"]
ALL = {exercise.number: exercise for exercise in exercises()}


def answered(exercise, answer):
    """A function where one is asked for, else its value for what is given."""
    return answer if exercise.draw is not None else answer(*vars(given(exercise.number)).values())


@pytest.mark.parametrize("number", ALL)
@pytest.mark.sampled(2)
def test_the_solution_passes(number):
    verdict = check(number, answered(ALL[number], SOLUTIONS[number]))
    assert verdict and repr(verdict).startswith("✓"), verdict


@pytest.mark.parametrize(("number", "hint"), [(e.number, hint) for e in ALL.values() for hint in e.mistakes])
def test_typical_mistakes_get_their_hint(number, hint):
    verdict = check(number, answered(ALL[number], ALL[number].mistakes[hint]))
    assert not verdict and hint in verdict.message


@pytest.mark.parametrize("number", ["1.3", "3.3", "5.4", "6.2", "8.3"])
def test_common_mistakes_get_a_hint(number):
    exercise = ALL[number]

    def wrong(change):
        if exercise.draw is None:
            return change(answered(exercise, exercise.answer))
        return lambda *arguments: change(exercise.answer(*arguments))

    assert "sign" in check(number, wrong(lambda x: -x)).message
    assert "twice" in check(number, wrong(lambda x: 2.0 * x)).message
    if number == "3.3":
        assert "linear first" in check(number, wrong(lambda J: J[[3, 4, 5, 0, 1, 2]])).message
    if number == "1.3":
        assert "transposed" in check(number, wrong(lambda R: R.T)).message
    if number == "6.2":
        assert "transpose" in check(number, wrong(lambda J: J.T)).message
        one_row = wrong(lambda J: np.vstack([J[:-1], J[-1:] + 1.0]))
        assert "198 of 216 entries are right; look at (11, 0)" in check(number, one_row).message


def test_there_are_exercises_for_every_sheet():
    assert {exercise.sheet for exercise in ALL.values()} == set(SHEETS)
    assert len(ALL) >= 50 and set(SOLUTIONS) == set(ALL)
    for exercise in ALL.values():
        assert exercise.text.endswith(".") and exercise.title


def test_no_message_has_a_number_of_the_solution():
    for number in ("2.1", "4.1", "8.8"):
        right = answered(ALL[number], ALL[number].answer)
        message = check(number, right + 1e-3).message
        assert not any(f"{x:.4g}" in message for x in right.flat if abs(x) > 1e-3 and x != round(x)), message


def test_what_is_no_answer_gets_a_sentence():
    assert "expected a function of q" in check("3.1", np.zeros(2)).message
    assert "expected a value, not a function" in check("2.1", lambda T: T).message
    assert "ZeroDivisionError" in check("3.1", lambda q: 1 / 0).message
    assert "the shape is (3,); expected (2,)" in check("3.1", lambda q: np.zeros(3)).message
    assert "not numbers" in check("3.1", lambda q: np.full(2, np.nan)).message
    assert "ValueError" in check("2.1", "text").message or "could not convert" in check("2.1", "text").message
    with pytest.raises(kt.ArgumentError, match=r"exercise '9\.9' does not exist"):
        check("9.9", 0.0)
    with pytest.raises(kt.ArgumentError, match="did you mean"):
        find("5.11")


def test_what_is_given_is_a_copy():
    given("2.1").T[:] = 0.0
    assert given("2.1").T[3, 3] == 1.0


def test_an_exercise_prints_its_text_and_not_its_answer():
    exercise = find("1.1")
    assert str(exercise) == f"1.1 Cylindrical coordinates: {exercise.text}"
    assert repr(exercise) == "<Exercise 1.1: Cylindrical coordinates>"

"""All sheets, in the order of the course."""

from __future__ import annotations

from kinetree.course.exercise import EXERCISES, Exercise
from kinetree.course.sheets import (  # noqa: F401 - importing a sheet makes its exercises known
    centroidal,
    control,
    dynamics,
    fixed_wing,
    floating_base,
    inverse_kinematics,
    kinematics,
    multicopters,
    rotations,
    transforms,
)


def exercises() -> list[Exercise]:
    """All exercises, in the order of the course."""
    return sorted(EXERCISES.values(), key=lambda exercise: [int(part) for part in exercise.number.split(".")])

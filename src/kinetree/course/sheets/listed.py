"""All sheets, in the order of the course."""

from __future__ import annotations

from kinetree.course.exercise import EXERCISES, Exercise
from kinetree.course.sheets import (
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

MODULES = (
    *(rotations, transforms, kinematics, inverse_kinematics, dynamics, floating_base, centroidal, control),
    *(multicopters, fixed_wing),
)
"""Importing a sheet makes its exercises known."""


def exercises() -> list[Exercise]:
    """All exercises, in the order of the course."""
    return sorted(EXERCISES.values(), key=lambda exercise: [int(part) for part in exercise.number.split(".")])

"""Scenes of examples, for tests that look at what happens in them."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

EXAMPLES = Path(__file__).parent.parent / "examples"


@cache
def scene(name: str) -> ModuleType:
    """An example as a module, without running it."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def share_of_limits(recording) -> float:
    """The largest torque, as a share of the robot's limits."""
    motors = recording.robot.limits.effort < np.inf
    return float(np.abs(recording.tau[:, motors] / recording.robot.limits.effort[motors]).max())


def share_of_cone(forces, friction, least=5.0) -> float:
    """Of contact forces (n, 6) on a level ground, the largest tangential part over what friction can bear; where a foot
    presses with at least so many newtons."""
    pressed = forces[forces[:, 2] > least]
    return float((np.linalg.norm(pressed[:, :2], axis=1) / (friction * pressed[:, 2])).max())

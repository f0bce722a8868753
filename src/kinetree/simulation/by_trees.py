"""Rollouts of scenes of equal trees: copies of a tree move as a batch of it, whose step is compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.model.forest import Copies
from kinetree.ops import Array
from kinetree.robot import Robot, trees
from kinetree.simulation.adaptive_rollout import IS_PART, warn_of
from kinetree.simulation.efforts import Efforts
from kinetree.simulation.labels import names_and_units
from kinetree.simulation.trajectory import Trajectory

KIND = "trees of a scene"


def moves_apart(efforts: Efforts, wanted: tuple[str, ...]) -> bool:
    """Whether the trees of a scene share code, and nothing but given efforts acts on them."""
    others = (efforts.law, efforts.function, *efforts.forces, *efforts.places, *efforts.memory)
    is_plain = all(each is None for each in others) and set(efforts.given) <= {"controls"}
    robot = efforts.robot
    return is_plain and not robot.loops and {*wanted} <= {"q", "v", "tau"} and bool(trees.shared(robot.model))


def rolled_by_trees(
    run: Callable[..., Trajectory],
    efforts: Efforts,
    start: Mapping[str, Array],
    steps: int,
    wanted: tuple[str, ...],
    options: Mapping[str, Any],
) -> Trajectory:
    """The motion of all trees, each as `run` moves it with these options, from (…, nq) and (…, nv)."""
    robot, batch, found = efforts.robot, start["q"].shape[:-1], list[tuple[Copies, Trajectory]]()
    before = IS_PART.set(True)
    try:
        for tree, alone in _alone(robot):
            q, v = (trees.of_copies(start[name], tree, name) for name in ("q", "v"))
            found.append((tree, run(alone, q, v, _controls(efforts, tree), steps=steps, record=wanted, **options)))
    finally:
        IS_PART.reset(before)
    motions = [motion for _, motion in found]
    series = {}
    for name in wanted:
        size = robot.nq if name == "q" else robot.nv
        series[name] = np.empty((*batch, motions[0][name].shape[-2], size))
        for tree, motion in found:
            at = tree.entries("q" if name == "q" else "v")
            series[name][..., at] = np.moveaxis(motion[name], -3, -2)
    diverged = np.any([motion.diverged.any(axis=-1) for motion in motions], axis=0)
    made = np.min([motion.steps.min(axis=-1) for motion in motions], axis=0)
    warn_of(np.ravel(diverged), np.ravel(made), steps, batch, "other trees of the scene go on")
    names, units = names_and_units(robot, series, {})
    return Trajectory(motions[0].t, series, diverged=diverged, steps=made, names=names, units=units)


def _alone(robot: Robot) -> list[tuple[Copies, Robot]]:
    """Each tree of a scene as a robot, kept with the scene."""
    made = [(tree, Robot(tree.model, robot.textbook, robot.dtype)) for tree in trees.shared(robot.model)]
    known: list[tuple[Copies, Robot]] = robot._functions.setdefault(KIND, made)
    return known


def _controls(efforts: Efforts, tree: Copies) -> Array | None:
    """Those of the copies, (…, copies, steps, nv), or (…, copies, 1, nv) if they stay."""
    given = efforts.given.get("controls")
    if given is None:
        return None
    rows = given.array if given.moving else given.array[..., None, :]
    return np.moveaxis(trees.of_copies(rows, tree, "v"), -2, -3)

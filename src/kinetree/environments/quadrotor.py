"""A quadrotor that is to hover at a place, or to fly through waypoints."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt
from kinetree import flight
from kinetree.environments.task import Task
from kinetree.ops import Array
from kinetree.robot import Robot

LOST, FAR = 3.0, 12.0
"""Further away than that [m], hovering and flying to a waypoint are given up."""
NEAR = 0.3
"""A waypoint is reached within this distance [m]."""
WAYPOINTS = 4
DT, SUBSTEPS = 0.005, 4


def _quadrotor() -> tuple[Robot, Any]:
    """The robot, and a law of its rotors: an action of 0 hovers, -1 stops a rotor, 1 doubles its thrust."""
    robot, craft = kt.load("quadrotor", base="floating"), flight.aircraft("quadrotor")
    rotors = [part for part in craft.parts if isinstance(part, flight.Rotor)]
    allocation = flight.Allocation(robot, rotors)
    hover = allocation.hover

    @kt.compile(shapes={"action": (4,)})
    def drive(robot: Any, q: Any, v: Any, action: Any) -> Any:
        return craft.efforts(robot, q, v, 0.0, allocation.speeds_of(hover * (1.0 + action)))

    return robot, drive


def _state(robot: Any, q: Any, v: Any) -> tuple[Any, Any, Any]:
    """The rotation (9,), the velocity in the world (3,) and the rates (3,)."""
    R = robot.frame("base_link").pose(q)[:3, :3]
    return R.reshape(9), R @ v[:3], v[3:]


def _start(robot: Robot, rng: np.random.Generator, count: int, spread: float) -> tuple[Array, Array]:
    moved = rng.uniform(-1.0, 1.0, (count, 6)) * np.array([spread, spread, spread, 0.4, 0.4, 3.1])
    q = robot.integrate(np.broadcast_to(robot.neutral(), (count, 7)), moved)
    return q, rng.uniform(-0.3, 0.3, (count, 6))


def hover() -> Task:
    """Action: thrusts of four rotors in -1 … 1 about hovering. Observation: vector to the goal, rotation,
    velocities."""
    robot, drive = _quadrotor()

    @kt.compile(shapes={"action": (4,), "goal": (3,)})
    def outcome(robot: Any, q: Any, v: Any, action: Any, goal: Any) -> Any:
        away = goal - q[:3]
        R, velocity, rates = _state(robot, q, v)
        distance = kt.sqrt(away @ away)
        reward = 1.0 - distance - 0.05 * (velocity @ velocity) - 0.02 * (rates @ rates) - 0.02 * (action @ action)
        seen = np.concatenate([away, R, velocity, rates])
        return {"observation": seen, "reward": reward, "terminated": kt.less(LOST, distance)}

    def start(rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
        return *_start(robot, rng, count, 0.5), np.zeros((count, 3))

    ones = np.ones(4)
    return Task(robot, drive, outcome, start, -ones, ones, 18, DT, SUBSTEPS, 250, made_by=hover)


def waypoints() -> Task:
    """Action: as for `hover`. Observation: vectors to this waypoint and from it to the next, rotation, velocities."""
    robot, drive = _quadrotor()

    @kt.compile(shapes={"action": (4,), "goal": (3 * WAYPOINTS,)})
    def outcome(robot: Any, q: Any, v: Any, action: Any, goal: Any) -> Any:
        reached = kt.less((goal[:3] - q[:3]) @ (goal[:3] - q[:3]), NEAR**2)
        ahead = kt.where(reached, np.concatenate([goal[3:], goal[-3:]]), goal)
        away = ahead[:3] - q[:3]
        R, velocity, rates = _state(robot, q, v)
        distance = kt.sqrt(away @ away + 1e-9)
        closing = velocity @ away / distance
        reward = closing + 10.0 * kt.where(reached, 1.0, 0.0) - 0.02 * (rates @ rates) - 0.02 * (action @ action)
        seen = np.concatenate([away, ahead[3:6] - ahead[:3], R, velocity, rates])
        return {"observation": seen, "reward": reward, "terminated": kt.less(FAR, distance), "goal": ahead}

    def start(rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
        steps = rng.uniform(-2.0, 2.0, (count, WAYPOINTS, 3))
        return *_start(robot, rng, count, 0.2), np.cumsum(steps, axis=1).reshape(count, 3 * WAYPOINTS)

    ones = np.ones(4)
    return Task(robot, drive, outcome, start, -ones, ones, 21, DT, SUBSTEPS, 500, made_by=waypoints)

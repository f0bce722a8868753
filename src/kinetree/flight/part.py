"""What flies: parts on frames of a robot, which feel the air and push the robot by spatial forces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, Any, NamedTuple, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import as_listed, as_real, optional
from kinetree.errors import ArgumentError
from kinetree.flight.atmosphere import SEA_LEVEL_DENSITY, standard_atmosphere
from kinetree.flight.fields import Finite, ReadsFields, kind_of, positive
from kinetree.flight.wind import UniformWind, Wind
from kinetree.functions.law import Law, compile
from kinetree.ops import Array, Scalar
from kinetree.robot import Robot
from kinetree.spatial import Force, Motion, Transform


class Airflow(NamedTuple):
    """The airflow at a part, in the axes of its frame."""

    velocity: Any
    """Of the frame's origin through the air, (3,) [m/s]: its own velocity less that of the wind."""
    rate: Any
    """The angular velocity, (3,) [rad/s]."""
    density: Any
    """ρ [kg/m³]"""
    height: Any
    """Above the ground [m]."""


class Part(ABC):
    """A part fixed to a frame on which the air exerts a force. Parts are hashable: equal parts are compiled once."""

    frame: str
    inputs: tuple[str, ...] = ()
    """Names of what can be set, such as the speed of a rotor."""

    @abstractmethod
    def force(self, flow: Airflow, u: Array) -> Force:
        """The force of the air on the robot, at the frame's origin and in its axes; u are its inputs."""


@final
@dataclass(frozen=True)
class Air(ReadsFields):
    """The air around an aircraft: density, wind, ground."""

    density: Annotated[float | None, optional(positive)] = SEA_LEVEL_DENSITY
    """ρ [kg/m³]; None takes that of the standard atmosphere at the height z above the sea."""
    wind: Annotated[Wind, kind_of(Wind, "UniformWind((5, 0, 0))")] = UniformWind()  # noqa: RUF009 - it is frozen
    ground: Finite = 0.0
    """The height z of the ground in the world [m]."""

    def at(self, position: Array, t: Scalar) -> tuple[Any, Array]:
        """ρ [kg/m³] and the wind (3,) [m/s] in world axes, at a place (3,) [m] and a time [s]."""
        rho = standard_atmosphere(position[2]).density if self.density is None else self.density
        return rho, self.wind.velocity(position, t)


@final
@dataclass(frozen=True)
class Aircraft(ReadsFields):
    """Parts and the air around them. It acts on any robot that has the frames of its parts.

    In a rollout it is one of the `forces`, if no part has inputs; otherwise a law adds `efforts(robot, q, v, t, u)`.
    Its methods are for one state. In compiled functions they become part of the code; on numbers they run as written.
    """

    parts: Annotated[Any, partial(as_listed, kind=Part, example="kt.flight.Rotor('rotor_1', …)")]
    air: Annotated[Air, kind_of(Air, "Air()")] = Air()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of all inputs, in the order of u."""
        return tuple(f"{part.frame} {name}" for part in self.parts for name in part.inputs)

    @property
    def in_still_air(self) -> Aircraft:
        """The same without wind, which is how steady flight is seen from the air around it."""
        return replace(self, air=replace(self.air, wind=UniformWind()))

    def forces(self, robot: Robot, q: Array, v: Array, u: Any = (), t: Scalar = 0.0) -> list[tuple[str, Force]]:
        """Of every part, its frame and its force in the frame's axes, for one state; u are all inputs (n,)."""
        given, robot = self._inputs(u), as_written(robot, q, v)
        found, start = [], 0
        for part in self.parts:
            stop = start + len(part.inputs)
            found.append((part.frame, part.force(self.flow(robot, part.frame, q, v, t), given[start:stop])))
            start = stop
        return found

    def flow(self, robot: Robot, frame: str, q: Array, v: Array, t: Scalar = 0.0) -> Airflow:
        """The airflow at a frame, for one state."""
        if np.ndim(q) != 1 or np.ndim(v) != 1:
            raise ArgumentError(
                f"q has shape {np.shape(q)} and v {np.shape(v)}; expected one state: a function that is compiled by "
                "kt.compile takes batches"
            )
        robot = as_written(robot, q, v)
        pose = robot.frame(frame).pose(q)
        V = Motion.from_vector(robot.frame(frame).velocity(q, v, "local"), robot.model.spatial_order)
        rho, wind = self.air.at(pose[:3, 3], t)
        return Airflow(V.linear - pose[:3, :3].T @ wind, V.angular, rho, pose[2, 3] - self.air.ground)

    def efforts(self, robot: Robot, q: Array, v: Array, t: Scalar = 0.0, u: Any = ()) -> Array:
        """τ = Σ Jᵀ f, (nv,): the generalised forces of all parts, for one state.

        Forces go from tips to root as in the recursion of Newton and Euler, so that no rotation to the world and back
        is in them: those on the base of a multicopter are constant matrices times forces.
        """
        robot = as_written(robot, q, v)
        model, F = robot.model, dict[int, Force]()
        for frame, force in self.forces(robot, q, v, u, t):
            body = model.frame(robot.frame(frame).name).body
            F[body] = F.get(body, Force.zero()) + placement(robot, frame).transpose() * force
        q = q if ops.is_scalar_array(q) else np.asarray(q, dtype=float)
        tau = ops.zeros(robot.nv, q, v, *([u] if ops.is_scalar_array(u) else []))
        for i, p in model.tips_to_root():
            if i in F:
                joint = model.joints[i]
                tau[joint.v_slice] += joint.generalized_force(q, F[i])
                F[p] = F.get(p, Force.zero()) + (joint.transform(q) * model.placements[i]).transpose() * F[i]
        return tau

    def wrenches(self, robot: Robot, q: Array, v: Array, u: Any = (), t: Scalar = 0.0) -> dict[str, Array]:
        """The same as wrenches (6,) by frame, world-aligned, as `robot.forward_dynamics` and the viewer take them."""
        robot = as_written(robot, q, v)
        found: dict[str, Array] = {}
        for frame, force in self.forces(robot, q, v, u, t):
            turned = force.rotated(robot.frame(frame).pose(q)[:3, :3]).vector(robot.model.spatial_order)
            found[frame] = found[frame] + turned if frame in found else turned
        return found

    def wrenches_along(self, robot: Robot, path: Any, u: Any = ()) -> dict[str, Array]:
        """The wrenches by frame (n, 6) along a motion with .t, .q and .v, as `viewer.play(path, wrenches=…)` takes
        them: the arrows of thrust, lift and drag. u is (k,), or has a row for every time, or for every step between."""
        given = np.asarray(as_real("u", u, f"an array of shape (…, {len(self.inputs)})"))
        if given.ndim == 2 and len(given) == len(path.t) - 1:  # of steps: the last one is shown until the end
            given = np.concatenate([given, given[-1:]])
        return _wrenches_law(self)(robot, path.q, path.v, given, path.t)

    def _inputs(self, u: Any) -> Array:
        given = u if ops.is_scalar_array(u) else as_real("u", u, f"an array of shape ({len(self.inputs)},)")
        if np.shape(given) != (len(self.inputs),):
            listed = ", ".join(self.inputs) or "nothing"
            raise ArgumentError(f"u has shape {np.shape(given)}; expected ({len(self.inputs)},): {listed}")
        return np.asarray(given)


@lru_cache(maxsize=64)
def _wrenches_law(aircraft: Aircraft) -> Law:
    def wrenches(robot: Any, q: Any, v: Any, u: Any, t: Any) -> dict[str, Array]:
        return aircraft.wrenches(robot, q, v, u, t)

    return compile(wrenches, shapes={"u": (len(aircraft.inputs),), "t": ()})


def as_written(robot: Robot, q: Any, v: Any) -> Robot:
    """The robot for symbols; its eager form for numbers, which compiles no call for each of the frames."""
    return robot if ops.is_scalar_array(q) or ops.is_scalar_array(v) else robot.eager


def placement(robot: Robot, frame: str) -> Transform:
    """^F X_B, from the body that a frame is fixed to to the frame itself, which does not change."""
    return robot.model.frame(robot.frame(frame).name).X

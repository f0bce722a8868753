"""The torques of a robot as a linear function of what is sought: τ = Y θ + what is known already.

θ has the ten inertial parameters of each chosen body, then one parameter for each chosen term of `friction.TERMS` and
each coordinate with a motor. All else, such as springs, contact wrenches and bodies that are not chosen, is known from
the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.edit import description_of
from kinetree.errors import ArgumentError, ModelError, known
from kinetree.identification.base_parameters import BaseParameters, independent_columns
from kinetree.identification.friction import term_column
from kinetree.model import JointDynamics, ModelBuilder
from kinetree.model.joints.dynamics import of_coordinate
from kinetree.model.parametric import INERTIAL
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial import Inertia

TINY = 1e-9
"""Relative to the torques at random states: what is known is nothing."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """What is sought of a robot."""

    robot: Robot
    bodies: tuple[int, ...]
    """Numbers of bodies in the model, from 1."""
    terms: tuple[str, ...] = ()
    stribeck_speed: float = 0.1
    """v_s [rad/s or m/s]."""

    @staticmethod
    def of(robot: Robot, bodies: Iterable[str] | None, terms: tuple[str, ...], stribeck_speed: float) -> Unknowns:
        """The unknowns of bodies by name; of all bodies, for None."""
        model = robot.model
        if not robot.nv:
            raise ArgumentError(f"{robot.name!r} has no joint that moves, so nothing depends on its parameters")
        listed = model.names[1:] if bodies is None else [bodies] if isinstance(bodies, str) else list(bodies)
        numbers = {model.names.index(known("body", name, model.names[1:])) for name in listed}
        found = Unknowns(robot, tuple(sorted(numbers)), terms, stribeck_speed)
        if not found.names:
            raise ArgumentError("bodies is empty, and neither friction nor armature is sought; expected some unknowns")
        return found

    # -- names and values --------------------------------------------------------------------------------------

    @lazy
    def coordinates(self) -> tuple[tuple[str, str, int], ...]:
        """Of each coordinate with a motor: its name, its joint's name, and which entry of the joint it is."""
        owners = (joint for joint in self.robot.model.owners if joint.has_motor)
        return tuple(
            (f"{joint.name}[{k}]" if joint.nv > 1 else joint.name, joint.name, k)
            for joint in owners
            for k in range(joint.nv)
        )

    @lazy
    def names(self) -> tuple[str, ...]:
        """One for each entry of θ, such as "forearm.Ixx", "elbow.damping" or "elbow.offset"."""
        model = self.robot.model
        bodies = [f"{model.names[i]}.{name}" for i in self.bodies for name in INERTIAL]
        ends = [(joint, name.removeprefix(joint)) for name, joint, _ in self.coordinates]
        return (*bodies, *(f"{joint}.{term}{end}" for term in self.terms for joint, end in ends))

    def index(self, name: str) -> int:
        """Where in θ the parameter of this name is."""
        return self.names.index(known("parameter", name, self.names))

    @property
    def n_inertial(self) -> int:
        """How many entries of θ are inertial parameters."""
        return 10 * len(self.bodies)

    @lazy
    def signs(self) -> Array:
        """Which entries may not be negative: rotors and friction, (len(θ),)."""
        positive = [term not in ("offset", "stribeck") for term in self.terms for _ in self.coordinates]
        return np.array([False] * self.n_inertial + positive)

    @lazy
    def values(self) -> Array:
        """θ of the model, including friction that its option `passive` leaves out of the dynamics."""
        model = self.robot.model
        joints = {joint.name: joint for joint in model.joints}
        bodies = [model.inertias[i].parameters() for i in self.bodies]
        terms = [
            of_coordinate(getattr(joints[joint].dynamics, term, 0.0), k)
            for term in self.terms
            for _, joint, k in self.coordinates
        ]
        return np.concatenate([*bodies, np.array(terms, dtype=float)])

    # -- the regressor -----------------------------------------------------------------------------------------

    @lazy
    def inertial_columns(self) -> Array:
        """Which columns of the robot's own regressor the inertial parameters have."""
        return np.array([10 * (i - 1) + k for i in self.bodies for k in range(10)], dtype=int)

    def rows(self, columns: Array, Y: Array, v: Array, a: Array) -> Iterator[tuple[int, Array, Array]]:
        """For each coordinate j: which of these columns of θ it depends on, and its rows of the regressor, (n, k).

        Y is the robot's own regressor, (n, nv, …), v and a (n, nv).
        """
        actuated = self.robot.model.actuated
        for j in range(self.robot.nv):
            own = columns[self._pattern[j, columns]]
            bodies = own[own < self.n_inertial]
            terms = [
                term_column(
                    self.terms[(c - self.n_inertial) // len(actuated)],
                    v[:, j], a[:, j], self.robot.model.friction_width, self.stribeck_speed,
                )
                for c in own[len(bodies) :]
            ]  # fmt: skip
            part = np.empty((len(Y), len(own)))
            np.take(Y[:, j], self.inertial_columns[bodies], axis=1, out=part[:, : len(bodies)], mode="clip")
            for k, column in enumerate(terms, len(bodies)):
                part[:, k] = column
            yield j, own, part

    @lazy
    def _pattern(self) -> Array:
        """Which entries of a row of the regressor may differ from zero, (nv, len(θ))."""
        Y, _ = self._random
        pattern = np.zeros((self.robot.nv, len(self.names)), dtype=bool)
        pattern[:, : self.n_inertial] = np.abs(Y[..., self.inertial_columns]).max(axis=0) > 0.0
        actuated = np.array(self.robot.model.actuated, dtype=int)
        for t in range(len(self.terms)):
            pattern[actuated, self.n_inertial + t * len(actuated) + np.arange(len(actuated))] = True
        return pattern

    @lazy
    def _random(self) -> tuple[Array, tuple[Array, Array, Array]]:
        """The robot's regressor at random states, and the states: enough for the rank."""
        robot, rng = self.robot, np.random.default_rng(0)
        count = 2 * -(-len(self.names) // robot.nv) + 10
        q = robot.random(rng, count)
        v, a = rng.normal(size=(2, count, robot.nv))
        return robot.regressor(q, v, a), (q, v, a)

    def whole(self, q: Array, v: Array, a: Array) -> Array:
        """Y with all columns, (n, nv, len(θ))."""
        return self._whole(self.robot.regressor(q, v, a), v, a)

    def _whole(self, regressor: Array, v: Array, a: Array) -> Array:
        whole = np.zeros((*regressor.shape[:2], len(self.names)))
        for j, own, part in self.rows(np.arange(len(self.names)), regressor, v, a):
            whole[:, j, own] = part
        return whole

    @lazy
    def base(self) -> BaseParameters:
        """The combinations of θ that torques depend on."""
        Y, (_, v, a) = self._random
        return independent_columns(self.names, self._whole(Y, v, a).reshape(-1, len(self.names)))

    @lazy
    def active(self) -> Array:
        """The part of the model's θ that its own dynamics has: no friction where `passive` is off."""
        held = self.values.copy()
        if not self.robot.model.passive:
            held[self.n_inertial :] *= [term == "armature" for term in self.terms for _ in self.coordinates]
        return held

    def known(self, q: Array, v: Array, a: Array, wrenches: Mapping[str, Array]) -> Array:
        """The torques that do not depend on θ, (n, nv): springs, wrenches, bodies and friction that are not sought."""
        if not wrenches and self._nothing_known:
            return np.zeros_like(v)
        return self._known(q, v, a, wrenches)

    def _known(self, q: Array, v: Array, a: Array, wrenches: Mapping[str, Array]) -> Array:
        total = self.robot.inverse_dynamics(q, v, a, dict(wrenches) or None)
        sought = np.zeros_like(v)
        for j, own, part in self.rows(np.arange(len(self.names)), self.robot.regressor(q, v, a), v, a):
            sought[:, j] = part @ self.active[own]
        return total - sought

    @lazy
    def _nothing_known(self) -> bool:
        states = self._random[1]
        scale = float(np.abs(self.robot.inverse_dynamics(*states)).max(initial=0.0))
        return float(np.abs(self._known(*states, {})).max(initial=0.0)) <= TINY * max(scale, TINY)

    # -- the robot with other values ---------------------------------------------------------------------------

    def inertias(self, theta: Array) -> dict[str, Inertia]:
        """The inertias of the bodies, by name."""
        names = self.robot.model.names
        return {
            names[i]: Inertia.from_parameters(theta[10 * k : 10 * k + 10].copy()) for k, i in enumerate(self.bodies)
        }

    def robot_with(self, theta: Array) -> Robot:
        """The robot with these inertias, rotors and friction; Stribeck friction and offsets are not part of a robot.

        All that a body weighs goes to its own link: links fixed to it weigh nothing then.
        """
        model, builder = self.robot.model, ModelBuilder.of(description_of(self.robot))
        for name, inertia in self.inertias(theta).items():
            if not inertia.is_consistent():
                raise ModelError(
                    f"body {name!r} would have mass {inertia.mass:.4g} kg and an inertia that no body has; "
                    "expected parameters that were identified with consistent=True"
                )
            number = model.names.index(name)
            for frame in model.frames:
                if frame.body == number and frame.name in builder.links:
                    own = inertia if frame.name == name else Inertia.zero()
                    builder.links[frame.name] = replace(builder.links[frame.name], inertia=own)
        passive = model.passive or "damping" in self.terms or "friction" in self.terms
        for name, joint in builder.joints.items():
            builder.joints[name] = replace(joint, dynamics=self._dynamics(name, joint.dynamics, theta))
        assert model.options is not None
        return Robot(
            builder.build(**{**vars(model.options), "passive": passive}), self.robot.textbook, self.robot.dtype
        )

    def _dynamics(self, name: str, before: JointDynamics, theta: Array) -> JointDynamics:
        """Of one joint: what was identified, and the rest as the model has it."""
        entries = [k for k, (_, joint, _) in enumerate(self.coordinates) if joint == name]
        changes: dict[str, Any] = {}
        if not self.robot.model.passive and {"damping", "friction"} & set(self.terms):
            changes = {"damping": 0.0, "friction": 0.0, "stiffness": 0.0}  # what it has is not part of its dynamics
        for t, term in enumerate(self.terms):
            if entries and term in ("armature", "damping", "friction"):
                start = self.n_inertial + t * len(self.coordinates)
                changes[term] = tuple(float(theta[start + k]) for k in entries)
        return replace(before, **changes) if changes else before

"""Torques for a step that has no solution: chosen beforehand, safe, and bounded."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal, TypeAlias

import numpy as np

from kinetree import linalg, ops
from kinetree.base.lazy import lazy
from kinetree.control.whole_body.problem import Problem
from kinetree.errors import KinetreeError
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.definition import Definition
from kinetree.functions.identity import identity
from kinetree.ops import Array
from kinetree.robot import Robot

Fallback: TypeAlias = Literal["gravity-compensation", "damping"]
FALLBACKS = ("gravity-compensation", "damping")
SMALL = 1e-6
"""Of what is added to N Nᵀ, so that forces stay bounded where contacts cannot carry the robot."""


class Safe:
    """τ = -d v, and with "gravity-compensation" the torques that hold the robot still on the contacts that are on, with
    the least forces of theirs, whatever the cones say, if q is a configuration. Within torque limits; entries of v that
    are not finite count as zero."""

    def __init__(self, problem: Problem, kind: Fallback, damping: float) -> None:
        self.problem, self.kind, self.damping = problem, kind, damping

    def torques(self, q: Array, v: Array, switches: Array, *parameters: Array) -> Array:
        """τ, (nv,), of the robot with its own numbers, or with these."""
        d = self.problem.dynamics
        tau = -self.damping * np.where(np.isfinite(v), v, 0.0)
        if self.kind == "gravity-compensation" and np.isfinite(q).all():
            with suppress(KinetreeError):  # of what is no configuration, nothing is known
                values = self.holding.with_parameters((q, switches[: len(d.contacts)]), *parameters)
                tau = tau + self.holding.evaluate(values)
        efforts = self.problem.torque_limits.efforts(d)
        tau = np.clip(np.where(np.isfinite(tau), tau, 0.0), -efforts, efforts)
        tau[list(d.idle)] = 0.0
        return tau

    @lazy
    def holding(self) -> BoundLaw:
        """The torques that hold the robot, as a law."""
        d = self.problem.dynamics

        def holding(robot: Robot, q: Array, contacts: Array) -> Array:
            state, g, idle = d.at(robot, q, np.zeros(robot.nv)), robot.gravity_forces(q), list(d.idle)
            columns = [ops.zeros((0, robot.nv), q)]
            for (J, _), contact, switch in zip(state.motions, d.contacts, contacts, strict=True):
                rows = J if contact.friction_rows(J @ state.v) is None else J[[contact.normal_row]]
                columns.append(rows * ops.where(ops.less(0.5, switch), 1.0, 0.0))
            J_c = np.concatenate(columns)
            if not idle or not len(J_c):
                return g * 1.0
            N = J_c[:, idle].T
            small = SMALL * np.eye(len(idle))
            f = N.T @ linalg.solve(N @ N.T + small, g[idle], positive_definite=True)
            return g - J_c.T @ f

        own = identity("whole-body fallback", d)
        return BoundLaw(Definition(holding, {"contacts": (len(d.contacts),)}, identity=own), {"robot": d.robot}, {})

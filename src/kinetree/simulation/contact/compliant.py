"""Compliant contact: forces that are smooth functions of q and v, without branches (Hunt and Crossley 1975).

With depth δ = max(-gap, 0) and the velocity u of the contact point against the obstacle,

    f_n = k δ max(1 - d u_n, 0)             a spring, with a damping that grows with depth: it sets in without a jump
                                            and never pulls
    f_t = -μ f_n u_t / √(‖u_t‖² + s²)       Coulomb friction, smoothed over a slip speed s

Friction needs some slip: a robot at rest that asks for a share x of μ f_n creeps at s x / √(1 - x²). Explicit steps
have to resolve what is stiff: about dt < 2 √(m/k) for the spring and dt < 2 s m / (μ f_n) for friction, where m is the
inertia that a contact meets; `longest_step` tells.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import ops
from kinetree.algorithms.constraints import DelassusOperator
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.kinematics import world_transforms
from kinetree.base.arguments import as_constant, as_positive, read_fields
from kinetree.functions.law import compile
from kinetree.model.tree import Model
from kinetree.ops import Array, cross
from kinetree.robot import Robot
from kinetree.simulation.contact.contact_model import FORCES, GAPS, ContactModel, labels
from kinetree.simulation.contact.meeting import Meetings
from kinetree.simulation.contact.touch import as_not_negative
from kinetree.simulation.dynamics import Dynamics
from kinetree.spatial import Force


@final
@dataclass(frozen=True)
class CompliantContact(ContactModel):
    """Contact by springs, dampers and smoothed friction; works with every integrator, and can be differentiated.

    stiffness     k of one contact [N/m]
    dissipation   d [s/m]: an impact at speed v keeps about 1 - ⅔ d v of it
    slip_speed    s, at which friction has come up to 0.7 of what it can be [m/s]

    Rollouts can record "contact_forces", (…, steps, n, 3) [N], on the robot in world axes, and "contact_gaps",
    (…, steps, n) [m], both at the beginning of steps.
    """

    stiffness: float = field(default=2e4, kw_only=True)
    dissipation: float = field(default=2.0, kw_only=True)
    slip_speed: float = field(default=0.02, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_fields(self, stiffness=as_positive, dissipation=as_not_negative, slip_speed=as_positive)

    def dynamics(self, robot: Robot) -> Dynamics:
        """The dynamics of a robot with these contacts."""
        found = self.pairs(robot)
        held = robot.constrained() if robot.loops else None

        def acceleration(q: Array, v: Array, tau: Array) -> Array:
            meetings = Meetings(robot.model, found, q)
            pushes = wrenches(meetings, compliant_forces(meetings, v, self))
            if held is not None:
                return held.forward_dynamics(q, v, tau, wrenches=pushes)[0]
            return robot.forward_dynamics(q, v, tau, wrenches=pushes)

        def observed(q: Array, v: Array) -> dict[str, Array]:
            meetings = Meetings(robot.model, found, q)
            return {FORCES: meetings.in_world_axes(compliant_forces(meetings, v, self)), GAPS: meetings.gaps}

        settled = None if held is None else held.projected
        return Dynamics(acceleration, settled, key=(self,), observed=observed, labels=labels(robot, found))

    def forces(self, robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
        """The forces on the robot at every contact, in world axes, (…, n, 3) [N]."""
        return _forces(self)(robot, q, v)

    def longest_step(self, robot: Robot, q: ArrayLike, load: float | None = None) -> float:
        """About the longest dt [s] that explicit steps near q can take, if one contact carries `load` [N], the robot's
        weight if none is given: 2/ω of the fastest oscillation, or 2/r of the fastest decay, whichever is shorter."""
        at = as_constant("q", q, (robot.nq,))
        meetings = Meetings(robot.model, self.pairs(robot), at)
        W = DelassusOperator(mass_matrix(robot.model, at), meetings.J, 1.0).A
        normal = np.arange(2, len(W), 3)
        tangent = np.setdiff1d(np.arange(len(W)), normal)
        weight = robot.mass * float(np.linalg.norm(robot.gravity)) if load is None else as_not_negative("load", load)
        damping = max(pair.friction for pair in meetings.pairs) * weight / self.slip_speed
        omega = (self.stiffness * float(np.linalg.eigvalsh(W[np.ix_(normal, normal)])[-1])) ** 0.5
        decay = damping * float(np.linalg.eigvalsh(W[np.ix_(tangent, tangent)])[-1])
        return 2.0 / max(omega, decay)


@lru_cache(maxsize=64)
def _forces(contact: CompliantContact) -> Any:
    @compile
    def contact_forces(robot: Robot, q: Array, v: Array) -> Array:
        meetings = Meetings(robot.model, contact.pairs(robot), q)
        return meetings.in_world_axes(compliant_forces(meetings, v, contact))

    return contact_forces


def compliant_forces(meetings: Meetings, v: Array, rules: CompliantContact) -> Array:
    """The contact forces in the axes of each contact, (3 n,) [N]."""
    u, forces = meetings.J @ v, []
    for k, pair in enumerate(meetings.pairs):
        slip, rate = u[3 * k : 3 * k + 2], u[3 * k + 2]
        depth = ops.maximum(-meetings.each[k].gap, 0.0)
        normal = rules.stiffness * depth * ops.maximum(1.0 - rules.dissipation * rate, 0.0)
        drag = pair.friction * normal * ops.divide(1.0, ops.sqrt(slip @ slip + rules.slip_speed**2))
        forces += [-drag * slip[0], -drag * slip[1], normal]
    return np.array(forces)


def wrenches(meetings: Meetings, forces: Array) -> dict[str, Array]:
    """Of all contacts, by the frame they act on, world-aligned at its origin; obstacles of the robot's own feel the
    opposite."""
    model: Model = meetings.model
    X = world_transforms(model, meetings.q)
    total: dict[str, Force] = {}
    for k, force in enumerate(meetings.in_world_axes(forces)):
        pair, point = meetings.pairs[k], meetings.world_point(k)
        for name, sign in ((pair.touch.frame, 1.0), (pair.obstacle.frame, -1.0)):
            if name is not None:
                frame = model.frame(name)
                lever = point - (frame.X * X[frame.body]).p
                total[name] = total.get(name, Force.zero()) + Force(sign * force, cross(lever, sign * force))
    return {name: force.vector(model.spatial_order) for name, force in total.items()}

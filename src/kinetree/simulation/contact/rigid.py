"""Rigid contact, solved for a whole step at a time (Moreau 1988, Stewart and Trinkle 1996).

A step of dt begins at q, v with efforts τ. Without contact it would lead to v_f = v + dt M⁻¹ (τ - c). Impulses p at the
contacts, in M (v⁺ - v_f) = Jᵀ p, change that, and W = J M⁻¹ Jᵀ is what they do to the velocities of contacts:

    u⁺ = J v⁺ = W p + J v_f

They are those of Coulomb's law (see `gauss_seidel`), in which the normal velocity counts from what is allowed:

    u_n⁺ ≥ -gap⁺ / dt                            nearer, but not through: a contact that closes ends the step closed
    u_n⁺ ≥ -e u_n⁻                               where it hits, with restitution e

Then q⁺ = q ⊕ dt v⁺. Velocities of this rule belong to the middle between positions, so that the velocity of an impact
is u_n⁻ = J (v + ½ dt a_f), and half a step of a_f belongs behind it: an elastic ball keeps its energy exactly.

What has got inside is brought out by a velocity of its own, w with J_n w ≥ -β gap / dt, which moves q by dt w and is
forgotten: it adds no energy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.algorithms.constraints import Felt
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.factorization import SINGULAR_PIVOT
from kinetree.algorithms.rnea import inverse_dynamics
from kinetree.arguments import as_count
from kinetree.compiler.doubts import doubt
from kinetree.errors import ArgumentError
from kinetree.linalg import unit_lower_solve, unit_upper_solve
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.contact.contact_model import ContactModel
from kinetree.simulation.contact.coupling import Place
from kinetree.simulation.contact.free_bodies import in_new_axes, straight_acceleration, straight_step
from kinetree.simulation.contact.gauss_seidel import ContactProblem, push_out
from kinetree.simulation.contact.meeting import Meetings, Pair
from kinetree.simulation.contact.touch import as_share
from kinetree.simulation.dynamics import Dynamics

FORCES, GAPS, RESIDUAL = "contact_forces", "contact_gaps", "contact_residual"
PUSHING_OUT = 8
"""Sweeps of the normal impulses that bring out what is inside."""


@final
@dataclass(frozen=True)
class RigidContact(ContactModel):
    """Contact without any give: it sticks, slips, breaks, and hits, once every step.

    restitution   e from 0, plastic, to 1, elastic, where neither touch nor obstacle says
    sweeps        over all contacts in every step, from the forces of the step before
    correction    β, the share of a penetration that one step takes back

    Rollouts can record "contact_forces", (…, steps, n, 3) [N], on the robot in world axes; "contact_gaps",
    (…, steps, n) [m], at the beginning of steps; and "contact_residual", (…, steps) [m/s], by which the contacts' laws
    are broken when the sweeps end.
    """

    restitution: float = field(default=0.0, kw_only=True)
    sweeps: int = field(default=12, kw_only=True)
    correction: float = field(default=0.2, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "restitution", as_share("restitution", self.restitution))
        object.__setattr__(self, "correction", as_share("correction", self.correction))
        if as_count("sweeps", self.sweeps) == 0:
            raise ArgumentError("sweeps is 0; expected at least one")

    @property
    def _restitution(self) -> float:
        return self.restitution

    def dynamics(self, robot: Robot) -> Dynamics:
        """Of a robot with these contacts."""
        found, model = self.pairs(robot), robot.model

        def step(q: Array, v: Array, tau: Array, dt: Any, **before: Array) -> tuple[Array, Array, Mapping[str, Array]]:
            return rigid_step(model, found, self, q, v, tau, dt, before[FORCES])

        extras = {FORCES: (len(found), 3), GAPS: (len(found),), RESIDUAL: ()}
        return Dynamics(robot.forward_dynamics, None, (self,), step, extras, (FORCES,))


def rigid_step(
    model: Model, found: tuple[Pair, ...], rules: RigidContact, q: Array, v: Array, tau: Array, dt: Any, before: Array
) -> tuple[Array, Array, Mapping[str, Array]]:
    """q and v after one step of dt, and what there is to record; `before` are forces to start from, (n, 3) [N]."""
    meetings = Meetings(model, found, q)
    J, gaps = meetings.J, meetings.gaps
    M = mass_matrix(model, q)
    feel = Felt(M, J, 1.0)
    for pivot, entry in zip(feel.d, M.diagonal(), strict=True):
        doubt(ops.less_equal(pivot, SINGULAR_PIVOT * entry))
    free = unit_upper_solve(feel.L, tau - inverse_dynamics(model, q, v, straight_acceleration(model, v)))
    a_f, u = feel.W.T @ free, J @ v
    b = u + dt * a_f
    per_dt = ops.divide(1.0, dt)
    for k, pair in enumerate(found):
        b[3 * k + 2] = b[3 * k + 2] - _allowed(pair, gaps[k], u[3 * k + 2], a_f[3 * k + 2], dt, per_dt)
    columns = [meetings.columns(pair) for pair in found]
    places = [Place(slice(3 * k, 3 * k + 3), entries) for k, entries in enumerate(columns)]
    problem = ContactProblem(feel, places, b, [pair.friction for pair in found])
    p = problem.solve(meetings.in_contact_axes(before) * dt, rules.sweeps)
    y, moved = dt * free + feel.Y @ p, np.zeros(model.nv)
    v_next = v + unit_lower_solve(feel.L, y * feel.inverse_d)
    if rules.correction:
        normal = [Place(slice(3 * k + 2, 3 * k + 3), entries) for k, entries in enumerate(columns)]
        pi = push_out(feel, normal, ops.maximum(-rules.correction * gaps, 0.0), PUSHING_OUT)
        moved = unit_lower_solve(feel.L, (feel.Y[:, 2::3] @ pi) * feel.inverse_d)
    told = {FORCES: meetings.in_world_axes(p * per_dt), GAPS: gaps, RESIDUAL: problem.residual(p)}
    step = dt * v_next + moved
    return straight_step(model, q, step), in_new_axes(model, v_next, step), told


def _allowed(pair: Pair, gap: Any, u: Any, a: Any, dt: Any, per_dt: Any) -> Any:
    """The least normal velocity after the step: what closes the gap, or after a hit what it is thrown back with."""
    closing = -ops.maximum(gap, 0.0) * per_dt
    if not pair.restitution:
        return closing
    half = (0.5 * dt) * a
    back = half - pair.restitution * (u + half)
    hits = ops.less(gap + dt * (u + 2.0 * half), 0.0)
    return ops.where(hits, ops.maximum(back, closing), closing)

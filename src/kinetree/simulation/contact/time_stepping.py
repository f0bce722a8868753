"""One step of rigid contact, for a whole dt at a time (Moreau 1988, Stewart and Trinkle 1996).

A step of dt begins at q, v with efforts τ. Without contact it would lead to v_f = v + dt M⁻¹ (τ - c). Impulses p at the
contacts, in M (v⁺ - v_f) = Jᵀ p, change that, and W = J M⁻¹ Jᵀ is what they do to the velocities of contacts:

    u⁺ = J v⁺ = W p + J v_f

They are those of Coulomb's law (see `gauss_seidel`, and `load_sharing` where contacts repeat each other), in which the
normal velocity counts from what is allowed:

    u_n⁺ ≥ -gap⁺ / dt                            nearer, but not through: a contact that closes ends the step closed
    u_n⁺ ≥ -e u_n⁻                               where it hits, with restitution e

Then q⁺ = q ⊕ dt v⁺. Velocities of this rule belong to the middle between positions, so that the velocity of an impact
is u_n⁻ = J (v + ½ dt a_f), and half a step of a_f belongs behind it: an elastic ball keeps its energy exactly.

What has got inside is brought out by a velocity of its own, w with J_n w ≥ -β gap / dt, which moves q by dt w and is
forgotten: it adds no energy. Frames that are held, rows G, are taken out of the equations beforehand: with Y = L⁻ᵀ Jᵀ
and Z = L⁻ᵀ Gᵀ of M = Lᵀ D L, contacts act through Y - Z S⁻¹ Zᵀ D⁻¹ Y, where S = Zᵀ D⁻¹ Z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.algorithms.constraints import DelassusOperator
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.joint_forces import passive_force_derivatives
from kinetree.algorithms.passes.constraint_kinematics import ConstraintKinematics
from kinetree.algorithms.passes.regularity import SINGULAR_PIVOT
from kinetree.algorithms.rnea import inverse_dynamics
from kinetree.linalg import unit_lower_solve, unit_upper_solve
from kinetree.model.constraints import ConstraintSet
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.simulation.contact.contact_model import FORCES, GAPS, RESIDUAL, STOPS
from kinetree.simulation.contact.coupling import Place
from kinetree.simulation.contact.free_bodies import in_new_axes, straight_acceleration, straight_step
from kinetree.simulation.contact.gauss_seidel import ContactProblem
from kinetree.simulation.contact.load_sharing import repeated
from kinetree.simulation.contact.meeting import Meetings, Pair
from kinetree.simulation.contact.stops import Stop, columns_of, stop_rows

PUSHING_OUT = 8
"""Sweeps of the normal impulses that bring out what is inside."""


@dataclass(frozen=True)
class TimeStepping:
    """A robot, what it may touch, and how contacts are solved."""

    model: Model
    pairs: tuple[Pair, ...]
    stops: tuple[Stop, ...]
    held: ConstraintSet | None
    sweeps: int
    correction: float

    @property
    def extras(self) -> dict[str, tuple[int, ...]]:
        """What is told of a step, and its shape."""
        shapes: dict[str, tuple[int, ...]] = {RESIDUAL: ()}
        if self.pairs:
            shapes |= {FORCES: (len(self.pairs), 3), GAPS: (len(self.pairs),)}
        if self.stops:
            shapes[STOPS] = (len(self.stops),)
        return shapes

    @property
    def carried(self) -> tuple[str, ...]:
        """What the next step starts from."""
        return tuple(name for name in (FORCES, STOPS) if name in self.extras)

    def step(
        self, q: Array, v: Array, tau: Array, dt: Any, **before: Array
    ) -> tuple[Array, Array, Mapping[str, Array]]:
        """q and v after one step of dt, and what there is to tell: to the bit the same however pairs are listed."""
        if not self.pairs:
            return self._step(q, v, tau, dt, **before)
        order = sorted(range(len(self.pairs)), key=lambda k: self.pairs[k].key)
        back = np.argsort(order)
        rule = replace(self, pairs=tuple(self.pairs[k] for k in order))
        before[FORCES] = before[FORCES][order]
        q_next, v_next, told = rule._step(q, v, tau, dt, **before)
        return q_next, v_next, {**told, FORCES: told[FORCES][back], GAPS: told[GAPS][back]}

    def _step(
        self, q: Array, v: Array, tau: Array, dt: Any, **before: Array
    ) -> tuple[Array, Array, Mapping[str, Array]]:
        model, per_dt = self.model, ops.divide(1.0, dt)
        meetings = Meetings(model, self.pairs, q)
        stop_gaps, stop_J = stop_rows(model, self.stops, q)
        gaps, J = np.concatenate([meetings.gaps, stop_gaps]), np.concatenate([meetings.J, stop_J])
        delassus = _trusted(self._inertia(q, v, dt), J)
        free = unit_upper_solve(delassus.L, tau - inverse_dynamics(model, q, v, straight_acceleration(model, v)))
        moved = np.zeros(model.nv)
        if self.held is not None:
            rows = ConstraintKinematics(model, self.held, q)
            held = DelassusOperator(self._inertia(q, v, dt), rows.J, self.held.damping, self.held.blocks)
            free, moved = _taken_out(held, delassus, free, v, per_dt, rows.error())
        a_f, u = delassus.W.T @ free, J @ v
        b = u + dt * a_f
        places = self._places(meetings)
        normal = [at.last for at in places]
        for k, at in enumerate(normal):
            row, e = at.rows.start, self.pairs[k].restitution if k < len(self.pairs) else 0.0
            b[row] = b[row] - _allowed(e, gaps[k], u[row], a_f[row], dt, per_dt)
        one_way = [None] * len(self.stops)
        friction = [*(pair.friction for pair in self.pairs), *one_way]
        problem = ContactProblem(delassus, places, b, friction, repeated(model, self.pairs))
        start = [meetings.in_contact_axes(before[FORCES])] if self.pairs else []
        start += [before[STOPS]] if self.stops else []
        p = problem.solve(np.concatenate(start) * dt, self.sweeps)
        v_next = v + unit_lower_solve(delassus.L, (dt * free + delassus.Y @ p) * delassus.inverse_d)
        if self.correction:
            moved = moved + self._pushed_out(delassus, normal, gaps)
        contacts = 3 * len(self.pairs)
        told = {RESIDUAL: problem.residual(p), GAPS: meetings.gaps, STOPS: p[contacts:] * per_dt}
        told[FORCES] = meetings.in_world_axes(p[:contacts] * per_dt)
        step = dt * v_next + moved
        return straight_step(model, q, step), in_new_axes(model, v_next, step), told

    def _inertia(self, q: Array, v: Array, dt: Any) -> Array:
        """M, and dt ∂/∂v of damping and friction in the joints, which are taken at the end of the step: however strong
        they are, they only slow down."""
        M = mass_matrix(self.model, q)
        return M + dt * passive_force_derivatives(self.model, q, v)[1] if self.model.passive else M

    def _places(self, meetings: Meetings) -> list[Place]:
        """Three rows for every pair, then one for every stop."""
        columns = [meetings.columns(pair) for pair in self.pairs]
        columns += [columns_of(self.model, stop) for stop in self.stops]
        if self.held is not None or self.model.has_mimics:  # they carry what happens on one branch to others
            columns = [np.arange(self.model.nv)] * len(columns)
        ends = np.cumsum([3] * len(self.pairs) + [1] * len(self.stops)).tolist()
        return [Place(slice(a, b), entries) for a, b, entries in zip([0, *ends], ends, columns, strict=False)]

    def _pushed_out(self, delassus: DelassusOperator, normal: list[Place], gaps: Array) -> Array:
        """The step that takes back a share β of what is inside, (nv,)."""
        rows = [at.rows.start for at in normal]
        wanted = ops.zeros(delassus.Y.shape[1], delassus.Y)
        for row, gap in zip(rows, gaps, strict=True):
            wanted[row] = -ops.maximum(-self.correction * gap, 0.0)
        problem = ContactProblem(delassus, normal, wanted, [None] * len(normal))
        pi = problem.solve(np.zeros(len(wanted)), PUSHING_OUT)
        return unit_lower_solve(delassus.L, (delassus.Y[:, rows] @ pi) * delassus.inverse_d)


def _trusted(M: Array, J: Array) -> DelassusOperator:
    """States at which M is singular are refused."""
    delassus = DelassusOperator(M, J, 1.0)
    for pivot, entry in zip(delassus.d, M.diagonal(), strict=True):
        is_small = ops.less_equal(pivot, SINGULAR_PIVOT * entry)
        ops.require(ops.logical_not(is_small), "the mass matrix is singular: a joint can move without moving any mass")
    return delassus


def _taken_out(
    held: DelassusOperator, delassus: DelassusOperator, free: Array, v: Array, per_dt: Any, error: Array
) -> tuple[Array, Array]:
    """Makes contacts act through what is held, and gives what moves the robot without contact such that G v⁺ = 0; and
    the step that closes what has come apart."""
    delassus.Y = delassus.Y - held.Y @ held.solve(held.W.T @ delassus.Y)
    delassus.W = delassus.Y * delassus.inverse_d[:, None]
    free = free - held.Y @ held.solve(held.W.T @ free + (held.J @ v) * per_dt)
    return free, -unit_lower_solve(delassus.L, (held.Y @ held.solve(error)) * delassus.inverse_d)


def _allowed(restitution: float, gap: Any, u: Any, a: Any, dt: Any, per_dt: Any) -> Any:
    """The least normal velocity after the step: what closes the gap, or after a hit what it is thrown back with."""
    closing = -ops.maximum(gap, 0.0) * per_dt
    if not restitution:
        return closing
    half = (0.5 * dt) * a
    back = half - restitution * (u + half)
    hits = ops.less(gap + dt * (u + 2.0 * half), 0.0)
    return ops.where(hits, ops.maximum(back, closing), closing)

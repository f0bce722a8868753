"""The equations of constraints at one configuration: r = 0 with ṙ = J v and r̈ = J a + J̇ v.

Here rows are in the axes of the common frame, linear above angular, at the origin of the constrained frame; of a loop,
those of frame a less those of frame b. Results for users are turned to world axes. What lines, planes, balls and wheels
make of them is in `contact_rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.algorithms.arguments.one_state import Push, of_one_state
from kinetree.algorithms.kinematics import accelerations, velocities, world_transforms
from kinetree.algorithms.passes.common_frame import CommonFrame, columns
from kinetree.algorithms.passes.contact_rows import ContactRows, RollingRows, contact_rows
from kinetree.algorithms.passes.coupling_rows import CouplingRows
from kinetree.base.lazy import lazy
from kinetree.model.constraints import Constraint, ConstraintSet, Contact, Coupling, TendonCoupling
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, Scalar, cross, logical_not, require, zeros
from kinetree.spatial import Force, Motion
from kinetree.spatial.exponential import log_quaternion
from kinetree.spatial.packing import ordered
from kinetree.spatial.rotation import quaternion_from_matrix


@dataclass(frozen=True)
class ConstraintKinematics:
    """The equations of all constraints at one configuration."""

    model: Model
    constraints: ConstraintSet
    q: Array

    @lazy
    def common(self) -> CommonFrame:
        return CommonFrame.of(self.model, self.q)

    @lazy
    def J(self) -> Array:
        """(k, nv)."""
        model, S = self.model, self.common.S
        J = zeros((self.constraints.size, model.nv), self.q)
        for rows, constraint in self.each():
            if isinstance(constraint, Coupling | TendonCoupling):
                J[rows] = CouplingRows(model, constraint, self.q).J()
                continue
            ends = [(frame, frame.X * self.common.X[frame.body]) for frame, _ in self.ends(constraint)]
            supports = [model.support(frame.body) for frame, _ in ends]
            shared = set.intersection(*map(set, supports)) if len(ends) == 2 else set()
            for (_, X), support, sign in zip(ends, supports, (1.0, -1.0), strict=False):
                for i in support:
                    for k, s in enumerate(S[i], start=model.joints[i].iv):
                        if i not in shared:
                            J[rows, k] += sign * self.rows_of(constraint, s.moved(X.p))
            for i in shared:  # of what moves both frames, only their distance shows
                for k, s in enumerate(S[i], start=model.joints[i].iv):
                    J[rows, k][:3] += cross(s.angular, ends[0][1].p - ends[1][1].p)
        return J

    @lazy
    def columns(self) -> Array | None:
        """Sums of squares of the columns of all six rows of the constrained frames, (nv,); None where J has them all,
        each of one frame."""
        if all(constraint.size == 6 and len(self.ends(constraint)) == 1 for _, constraint in self.each()):
            return None
        squares = zeros(self.model.nv, self.q)
        for rows, constraint in self.each():
            if isinstance(constraint, Coupling | TendonCoupling):
                squares = squares + self.J[rows.start] ** 2
            for frame, _ in self.ends(constraint):
                X = frame.X * self.common.X[frame.body]
                for k, s in columns(self.model, self.common.S, frame.body):
                    motion = s.moved(X.p).vector()
                    squares[k] = squares[k] + motion @ motion
        return squares

    @lazy
    def size(self) -> Scalar:
        """The size that ranks of J are measured by, squared: the sum of all these squares, or of those of J."""
        return (self.J * self.J).sum() if self.columns is None else self.columns.sum()

    def bias(self, v: Array) -> Array:
        """J̇ v, (k,): the acceleration of points and axes at a = 0."""
        model, q, common = self.model, self.q, self.common
        V = velocities(model, q, v)
        A = accelerations(model, q, v, np.zeros(model.nv), Motion(-model.gravity, np.zeros(3)))  # shared with RNEA
        gamma = zeros(self.constraints.size, q, v)
        for rows, constraint in self.each():
            if isinstance(constraint, Coupling | TendonCoupling):
                gamma[rows.start] = CouplingRows(model, constraint, q).bias(v)
            held = 0.0
            for frame, sign in self.ends(constraint):
                if frame.body:
                    local = (frame.X * A[frame.body]).classical(frame.X * V[frame.body])
                    aligned = local.rotated((frame.X * common.X[frame.body]).R.T)
                    gamma[rows] += sign * self.rows_of(constraint, aligned)
                    held += sign
                    if constraint in self.special:
                        omega = (frame.X * V[frame.body]).rotated((frame.X * common.X[frame.body]).R.T).angular
                        gamma[rows] += self.special[constraint].drift(omega)
            if held:
                gamma[rows][:3] += self.rows_of(constraint, Motion(held * common.gravity, np.zeros(3)))[:3]
        return gamma

    def error(self) -> Array:
        """r, (k,)."""
        X, R = world_transforms(self.model, self.q), self.common.R
        error = zeros(self.constraints.size, self.q)
        for rows, constraint in self.each():
            if isinstance(constraint, Coupling | TendonCoupling):
                error[rows.start] = CouplingRows(self.model, constraint, self.q).error()
            frames = [frame.X * X[frame.body] for frame, _ in self.ends(constraint)]
            if isinstance(constraint, Contact):
                frames += [] if constraint.target is None else [constraint.target]
            if len(frames) == 2:
                a, b = frames
                if constraint in self.special:
                    error[rows] = self.special[constraint].error(R @ a.p, R @ b.p, R @ b.R.T)
                    continue
                error[rows][:3] = R @ (a.p - b.p)
                if constraint.size == 6:
                    error[rows][3:] = R @ log_quaternion(quaternion_from_matrix(a.R.T @ b.R))
        return error

    def stabilized_bias(self, v: Array) -> Array:
        """γ = J̇ v + 2 ζ ω J v + ω² r, (k,)."""
        gamma, omega, zeta = self.bias(v), self.constraints.frequency, self.constraints.damping_ratio
        if omega:
            gamma = gamma + (2.0 * zeta * omega) * (self.J @ v) + omega**2 * self.error()
        return gamma

    def in_world_axes(self, rows: Array) -> Array:
        """Vectors or matrices with a row for every equation, turned, and in the user's order."""
        turned = rows.copy()
        for at in self.constraints.rows:
            blocks = [rows[start : min(start + 3, at.stop)] for start in range(at.start, at.stop, 3)]
            blocks = [self.common.R.T @ block if len(block) == 3 else block for block in blocks]
            turned[at] = np.concatenate(ordered(blocks, self.model.spatial_order))
        return turned

    def pushes(self, f: Array) -> list[Push]:
        """The forces of all constraints as wrenches at their frames."""
        found: list[Push] = []
        order = self.model.spatial_order
        for at, constraint in self.each():
            if constraint in self.special:
                (frame, _), to_world = self.ends(constraint)[0], self.common.R.T
                linear, stays, carried = self.special[constraint].forces(f[at])
                found.append((frame, "world-aligned", Force(linear, stays).rotated(to_world).vector(order)))
                own = (frame.X * self.common.X[frame.body]).R @ carried
                found.append((frame, "local", Force(np.zeros(3), own).vector(order)))
                continue
            moment = f[at][3:] if constraint.size == 6 else np.zeros(3)
            for frame, sign in self.ends(constraint):
                force = Force(f[at][:3] * sign, moment * sign).rotated(self.common.R.T)
                found.append((frame, "world-aligned", force.vector(order)))
        return found

    @lazy
    def special(self) -> dict[Constraint, ContactRows]:
        """The equations of contacts other than points and surfaces, in the axes of the common frame."""
        found: dict[Constraint, ContactRows] = {}
        for constraint in self.constraints.constraints:
            if isinstance(constraint, Contact):
                ((frame, _),) = self.ends(constraint)
                rows = contact_rows(constraint, (frame.X * self.common.X[frame.body]).R.T, self.common.R)
                if rows is not None:
                    found[constraint] = rows
        return found

    def flat_wheels(self) -> dict[Constraint, Any]:
        """Whether each wheel in contact lies flat, so that it has no equations."""
        found = {constraint: rows for constraint, rows in self.special.items() if isinstance(rows, RollingRows)}
        return {constraint: rows.is_flat for constraint, rows in found.items() if rows.s is not None}

    def rows_of(self, constraint: Constraint, m: Motion) -> Array:
        """The equations of a constraint for a motion of its frame, at its origin in the axes of the common frame."""
        if constraint in self.special:
            return self.special[constraint].of(m.linear, m.angular)
        return m.vector()[: constraint.size]

    def each(self) -> list[tuple[slice, Constraint]]:
        """Every constraint and which equations are its own."""
        return list(zip(self.constraints.rows, self.constraints.constraints, strict=True))

    def ends(self, constraint: Constraint) -> list[tuple[FramePlacement, float]]:
        """The frames, and whether their motion counts as it is or against the other's."""
        frames = [self.model.frame(name) for name in constraint.frames]
        return list(zip(frames, (1.0, -1.0), strict=False))


@of_one_state
def upright_kinematics(model: Model, constraints: ConstraintSet, q: Array) -> ConstraintKinematics:
    """The equations of constraints; a state is refused in which a wheel lies flat, its axle along the normal."""
    rows = ConstraintKinematics(model, constraints, q)
    for contact, is_flat in rows.flat_wheels().items():
        require(
            logical_not(is_flat),
            f"the wheel of frame {contact.frames[0]!r} lies flat at this q, its axle along the normal of the plane; "
            "expected a wheel that stands on its rim",
        )
    return rows

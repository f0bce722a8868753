"""The equations of constraints at one configuration: r = 0 with ṙ = J v and r̈ = J a + J̇ v.

Here rows are in the axes of the common frame, linear above angular, at the origin of the constrained frame; of a loop,
those of frame a less those of frame b. Results for users are turned to world axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.common_frame import CommonFrame
from kinetree.algorithms.kinematics import accelerations, velocities, world_transforms
from kinetree.algorithms.one_state import Push
from kinetree.lazy import lazy
from kinetree.model.constraints import Constraint, ConstraintSet, Contact
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, cross, zeros
from kinetree.spatial import Force, Motion
from kinetree.spatial.exponential import log_quaternion
from kinetree.spatial.rotation import quaternion_from_matrix


@dataclass(frozen=True)
class Rows:
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
            ends = [(frame, frame.X * self.common.X[frame.body]) for frame, _ in self.ends(constraint)]
            supports = [model.support(frame.body) for frame, _ in ends]
            shared = set.intersection(*map(set, supports)) if len(ends) == 2 else set()
            for (_, X), support, sign in zip(ends, supports, (1.0, -1.0), strict=False):
                for i in support:
                    for k, s in enumerate(S[i], start=model.joints[i].iv):
                        if i not in shared:
                            J[rows, k] += sign * s.moved(X.p).vector()[: constraint.size]
            for i in shared:  # of what moves both frames, only their distance shows
                for k, s in enumerate(S[i], start=model.joints[i].iv):
                    J[rows, k][:3] += cross(s.angular, ends[0][1].p - ends[1][1].p)
        return J

    def bias(self, v: Array) -> Array:
        """J̇ v, (k,): the acceleration of points and axes at a = 0."""
        model, q, common = self.model, self.q, self.common
        V = velocities(model, q, v)
        A = accelerations(model, q, v, np.zeros(model.nv), Motion(-model.gravity, np.zeros(3)))  # shared with RNEA
        gamma = zeros(self.constraints.size, q, v)
        for rows, constraint in self.each():
            held = 0.0
            for frame, sign in self.ends(constraint):
                if frame.body:
                    local = (frame.X * A[frame.body]).classical(frame.X * V[frame.body])
                    aligned = local.rotated((frame.X * common.X[frame.body]).R.T)
                    gamma[rows] += sign * aligned.vector()[: constraint.size]
                    held += sign
            if held:
                gamma[rows][:3] += held * common.gravity
        return gamma

    def error(self) -> Array:
        """r, (k,)."""
        X, R = world_transforms(self.model, self.q), self.common.R
        error = zeros(self.constraints.size, self.q)
        for rows, constraint in self.each():
            frames = [frame.X * X[frame.body] for frame, _ in self.ends(constraint)]
            if isinstance(constraint, Contact):
                frames += [] if constraint.target is None else [constraint.target]
            if len(frames) == 2:
                a, b = frames
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
        for at, constraint in self.each():
            blocks = [self.common.R.T @ block for block in rows[at].reshape(-1, 3, *rows.shape[1:])]
            if self.model.spatial_order == "angular-first":
                blocks.reverse()
            turned[at] = np.concatenate(blocks).reshape(constraint.size, *rows.shape[1:])
        return turned

    def pushes(self, f: Array) -> list[Push]:
        """The forces of all constraints as wrenches at their frames."""
        found: list[Push] = []
        for at, constraint in self.each():
            moment = f[at][3:] if constraint.size == 6 else np.zeros(3)
            for frame, sign in self.ends(constraint):
                force = Force(f[at][:3] * sign, moment * sign).rotated(self.common.R.T)
                found.append((frame, "world-aligned", force.vector(self.model.spatial_order)))
        return found

    def each(self) -> list[tuple[slice, Constraint]]:
        """Every constraint and which equations are its own."""
        return list(zip(self.constraints.rows, self.constraints.constraints, strict=True))

    def ends(self, constraint: Constraint) -> list[tuple[FramePlacement, float]]:
        """The frames, and whether their motion counts as it is or against the other's."""
        frames = [self.model.frame(name) for name in constraint.frames]
        return list(zip(frames, (1.0, -1.0), strict=False))

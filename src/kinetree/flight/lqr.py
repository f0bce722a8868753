"""Linear-quadratic regulators: Riccati's equation, and hovering by it."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import ops
from kinetree.base.arguments import as_floats
from kinetree.control.controller import Controller
from kinetree.errors import ArgumentError
from kinetree.flight.fields import positive
from kinetree.flight.flyers import STATE, without_joints
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.rotation import quaternion_from_matrix

ON_AXIS = 1e-9
"""Eigenvalues of the Hamiltonian nearer to the imaginary axis, relative to the largest, are on it."""


def lqr(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> tuple[Array, Array]:
    """The gain K (m, n) of u = -K x that minimises ∫ xᵀQx + uᵀRu dt for ẋ = A x + B u, and P (n, n) with the least cost
    xᵀPx: AᵀP + PA - PBR⁻¹BᵀP + Q = 0, K = R⁻¹BᵀP.

    P = Y X⁻¹ of the stable eigenvectors (X, Y) of the Hamiltonian matrix [[A, -BR⁻¹Bᵀ], [-Q, -Aᵀ]], refined by Newton's
    method (Kleinman 1968).
    """
    a = as_floats("A", A, np.shape(A))
    n = len(a) if a.ndim == 2 else -1
    if a.shape != (n, n):
        raise ArgumentError(f"A has shape {a.shape}; expected a square matrix")
    b = as_floats("B", B, np.shape(B))
    if b.ndim != 2 or len(b) != n:
        raise ArgumentError(f"B has shape {b.shape}; expected ({n}, m)")
    q, r = as_floats("Q", Q, (n, n)), as_floats("R", R, (b.shape[1], b.shape[1]))
    if (
        np.linalg.eigvalsh(r).min(initial=1.0) <= 0.0
        or np.linalg.eigvalsh(q).min(initial=0.0) < -1e-9 * np.abs(q).max()
    ):
        raise ArgumentError("R is not positive definite, or Q not positive semidefinite; expected costs that are")
    by_input = b @ np.linalg.solve(r, b.T)
    values, vectors = np.linalg.eig(np.block([[a, -by_input], [-q, -a.T]]))
    stable = values.real < -ON_AXIS * np.abs(values).max(initial=1.0)
    X, Y = vectors[:n, stable], vectors[n:, stable]
    if stable.sum() != n or (n and np.linalg.cond(X) > 1.0 / ON_AXIS**1.5):
        raise ArgumentError("A, B and Q have no stabilising regulator; expected (A, B) stabilisable, (A, Q) detectable")
    P = np.linalg.solve(X.T, Y.T).T.real
    P = 0.5 * (P + P.T)
    for _ in range(2):
        K = np.linalg.solve(r, b.T @ P)
        closed = a - b @ K
        P = _lyapunov(closed, q + K.T @ r @ K)
    return np.linalg.solve(r, b.T @ P), P


def _lyapunov(A: Array, Q: Array) -> Array:
    """P with AᵀP + PA + Q = 0, by Kronecker products."""
    n = len(A)
    eye = np.eye(n)
    P = np.linalg.solve(np.kron(A.T, eye) + np.kron(eye, A.T), -Q.ravel()).reshape(n, n)
    return 0.5 * (P + P.T)


@final
class HoverLQR(Controller):
    """τ = (0, 0, f, m) of a multicopter at a place and heading: `controller(q, v, position, yaw)`.

        δx = (q ⊖ q*, v),   ẋ = [[0, 1], [∂v̇/∂q, ∂v̇/∂v]] x + [[0], [M⁻¹ S]] u,   u = u* - K δx

    about hovering, by the derivatives of forward dynamics. Costs are one over the square of errors that are as bad as
    each other: position [m], tilt [rad], velocity [m/s], rate [rad/s], thrust as a part of the weight, moments as parts
    of the weight on a lever of one metre. The base is level in the reference; for paths, see `GeometricControl`.
    """

    def __init__(
        self,
        robot: Robot,
        position: float = 0.5,
        tilt: float = 0.5,
        velocity: float = 1.0,
        rate: float = 2.0,
        thrust: float = 0.5,
        moment: float = 0.05,
    ) -> None:
        robot = without_joints(robot, "HoverLQR")
        q, v = robot.neutral(), np.zeros(6)
        tau = robot.gravity_forces(q)
        by_q, by_v, by_tau = robot.forward_dynamics_derivatives(q, v, tau)
        zero, eye = np.zeros((6, 6)), np.eye(6)
        A = np.block([[zero, eye], [by_q, by_v]])
        B = np.concatenate([np.zeros((6, 4)), by_tau[:, 2:]])
        weight = robot.mass * float(np.linalg.norm(robot.gravity))
        if not weight:
            raise ArgumentError(f"{robot.name!r} has no weight; expected gravity, by which costs are scaled")
        errors = {"position": position, "tilt": tilt, "velocity": velocity, "rate": rate}
        cost = np.repeat([positive(name, value) for name, value in errors.items()], 3) ** -2.0
        lift, turn = weight * positive("thrust", thrust), weight * positive("moment", moment)
        effort = np.array([lift, turn, turn, turn]) ** -2.0
        K, _ = lqr(A, B, np.diag(cost), np.diag(effort))
        self._prepare(robot, {**STATE, "position": (3,), "yaw": ()}, {"yaw": 0.0}, {"gain": K})

    def formula(self, robot: Robot, q: Array, v: Array, position: Array, yaw: Any, gain: Array) -> Array:
        """τ, (6,)."""
        c, s = ops.cos(yaw), ops.sin(yaw)
        zero = 0.0 * c
        level = np.array([[c, -s, zero], [s, c, zero], [zero, zero, 1.0 + zero]])
        there = np.concatenate([position, quaternion_from_matrix(level)])
        hover = robot.gravity_forces(there)[2:]
        u = hover - gain @ np.concatenate([robot.difference(there, q), v])
        return np.concatenate([np.zeros(2), u])

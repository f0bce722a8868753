"""The printed formula of support-consistent torques, as it stands, by singular values; also in 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np

from kinetree.linalg import RANK_TOLERANCE


def projector(J, M):
    """N_c of J and M, in whatever number NumPy has."""
    C = np.linalg.cholesky(M)
    U, s, _ = np.linalg.svd(np.linalg.solve(C, J.T), full_matrices=False)
    U = U[:, s > RANK_TOLERANCE * np.linalg.norm(s)]
    return np.eye(len(M)) - np.linalg.solve(C.T, U @ U.T @ C.T)


def printed(stance, q, v, a, tau_0):
    """τ of the joints with motors, N_c, and singular values of N_cᵀ Sᵀ."""
    robot = stance.robot
    S = np.eye(robot.nv)[list(stance.equations.actuated)]
    N = projector(stance.jacobian(q), robot.mass_matrix(q))
    B = N.T @ S.T
    U, s, V = np.linalg.svd(B, full_matrices=False)
    keep = s > 1e-9
    inverse = V[keep].T @ np.diag(1.0 / s[keep]) @ U[:, keep].T
    w = robot.inverse_dynamics(q, v, a)
    return inverse @ (N.T @ w) + (np.eye(len(S)) - inverse @ B) @ (S @ tau_0), N, s


def printed_in_40_digits(stance, q, v, a, tau_0):
    """The same τ, in 40 digits from the numbers of J, M and M a + b."""
    robot = stance.robot
    with mpmath.workdps(40):
        number = lambda x: mpmath.matrix(np.atleast_2d(x).tolist())  # noqa: E731
        J, M = number(stance.jacobian(q)), number(robot.mass_matrix(q))
        S = number(np.eye(robot.nv)[list(stance.equations.actuated)])
        C = mpmath.cholesky(M)
        root = mpmath.inverse(C)
        U = _range(root * J.T, RANK_TOLERANCE)
        N = mpmath.eye(robot.nv) - root.T * (U * U.T) * C.T
        B = N.T * S.T
        L, s, V = mpmath.svd_r(B, full_matrices=False)
        inverse = V.T * mpmath.diag([1 / x if x > 1e-9 else mpmath.mpf(0) for x in s]) * L.T
        w, tau = number(robot.inverse_dynamics(q, v, a)).T, S * number(tau_0).T
        result = inverse * (N.T * w) + tau - inverse * (B * tau)
        return np.array([float(x) for x in result])


def _range(G, tolerance):
    U, s, _ = mpmath.svd_r(G, full_matrices=False)
    size = mpmath.norm(s, 2)
    return U * mpmath.diag([mpmath.mpf(x > tolerance * size) for x in s])

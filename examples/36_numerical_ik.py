"""Algorithm 1 of the lecture, numerical inverse kinematics by the analytic Jacobian, and what became of it.

    while |χ* - χ(q)| > tolerance:   q ← q + J_A(q)⁺ (χ* - χ(q))

χ is the pose as three coordinates and Euler angles, J_A its derivative. That is Newton's method: near the solution the
error is squared by every step. Far from it, steps are too long, and differences of angles are no measure of rotations:
yaw of 3.1 and of -3.1 rad are six radians apart in χ and 0.08 in space. With the rotation error log(C* Cᵀ) and the
geometric Jacobian the same loop does not have the second trouble. `robot.ik` damps its steps, holds limits and begins
anew, which removes the first.

    python 36_numerical_ik.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

ROTATION, TOLERANCE, STEPS = "ZYX", 1e-9, 30
robot = kt.load("arm6")
tool = robot.frame("tool0")


def by_parameters(q, target):
    """Δχ and J_A."""
    chi = np.concatenate([target[..., :3, 3], kt.rotations.euler_from_matrix(target[..., :3, :3], ROTATION)], axis=-1)
    return chi - tool.pose_parameters(q, rotation=ROTATION), tool.analytic_jacobian(q, rotation=ROTATION)


def by_rotation_error(q, target):
    """Δr and Δφ = log(C* Cᵀ), and J_0."""
    pose = tool.pose(q)
    turn = kt.rotations.rotation_error(target[..., :3, :3], pose[..., :3, :3])
    return np.concatenate([target[..., :3, 3] - pose[..., :3, 3], turn], axis=-1), tool.jacobian(q)


def newton(errors, q, target):
    """q after STEPS steps, and the norm of the error before each of them; states of a batch side by side."""
    norms = []
    for _ in range(STEPS):
        error, J = errors(q, target)
        norms.append(np.linalg.norm(error, axis=-1))
        q = robot.integrate(q, (np.linalg.pinv(J, rcond=1e-6) @ error[..., None])[..., 0])
    return q, np.array(norms)


goal = np.array([0.3, -0.6, 1.1, -0.5, 0.9, 0.1])
target = tool.pose(goal)
q, norms = newton(by_parameters, goal + 0.15, target)
print("from nearby:", ", ".join(f"{norm:.0e}" for norm in norms[:8]))
assert norms[7] < TOLERANCE and np.allclose(tool.pose(q), target, atol=1e-8)

rng = np.random.default_rng(0)
goals = robot.random(rng, 500)
targets, starts = tool.pose(goals), goals + rng.normal(scale=0.5, size=goals.shape)
shares = {}
for name, errors in (("Δχ and J_A", by_parameters), ("Δφ and J_0", by_rotation_error)):
    q, norms = newton(errors, starts, targets)
    there = np.abs(tool.pose(q) - targets).max(axis=(-2, -1)) < 1e-6
    shares[name] = there.mean()
    print(f"from half a radian away, {name}: {100 * shares[name]:.0f} % of 500 targets")
solution = robot.ik("tool0", targets, starts)
print(f"robot.ik: {100 * solution.success.mean():.0f} %, within limits")
assert shares["Δχ and J_A"] < shares["Δφ and J_0"] < 1.0 and solution.success.all()

figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
for errors, style, label in ((by_parameters, "o-", "Δχ and J_A"), (by_rotation_error, "s--", "Δφ and J_0")):
    axes.semilogy(newton(errors, goal + 0.15, target)[1][:8].clip(1e-17), style, label=label)
axes.set(xlabel="step", ylabel="norm of the error [m, rad]", title="Newton's method squares the error")
axes.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "36_numerical_ik.png", dpi=150)
print("drawn in", folder / "36_numerical_ik.png")

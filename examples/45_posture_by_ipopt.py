"""A humanoid looks for the posture in which its joints have the least to do: CasADi and Ipopt, with our dynamics.

    minimize   Σ τ²(q, w) + small terms      over  dq (37), wrenches w of both feet (12)
    subject to no force on the base that nobody exerts, and feet that stay where they are

`kt.to_casadi` gives the dynamics as expressions of CasADi, whose exact first and second derivatives Ipopt uses. A
configuration with a quaternion is no vector: the variable is the displacement dq of q = q0 ⊕ dq, so that the quaternion
stays of unit length without a constraint (`tangent=True`).

    python 45_posture_by_ipopt.py [folder for the picture]
"""

import sys
import time
from pathlib import Path

import casadi
import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

FEET, NEWTON = ("left_sole", "right_sole"), 100.0
robot = kt.load("humanoid", base="floating")


@kt.compile(shapes={"forces": (len(FEET), 6)})
def standing(robot, q, forces):
    """Torques at rest with these wrenches on the feet, and position and rotation of the feet."""
    still = np.zeros(robot.nv)
    tau = robot.inverse_dynamics(q, still, still, wrenches=dict(zip(FEET, forces, strict=True)))
    poses = [robot.frame(foot).pose(q) for foot in FEET]
    feet = [np.concatenate([X[:3, 3], kt.unskew(X[:3, :3] - X[:3, :3].T)]) for X in poses]
    return {"tau": tau, "feet": np.concatenate(feet)}


q0 = robot.neutral()
for side in ("left", "right"):
    for joint, angle in (("hip_pitch", -0.7), ("knee", 1.4), ("ankle_pitch", -0.7)):
        q0[7 + robot.joint_names.index(f"{side}_{joint}")] = angle

start = time.perf_counter()
f = kt.to_casadi(standing.bind(robot), tangent=True)
dq, forces = casadi.SX.sym("dq", robot.nv), casadi.SX.sym("forces", len(FEET), 6)
tau, feet = f(q0, dq, NEWTON * forces)
before = f(q0, np.zeros(robot.nv), np.zeros((len(FEET), 6)))[1]
problem = {
    "x": casadi.vertcat(dq, casadi.vec(forces)),
    "f": 0.01 * casadi.sumsqr(tau[6:]) + casadi.sumsqr(forces) + 0.1 * casadi.sumsqr(dq),
    "g": casadi.vertcat(tau[:6], feet - before),
}
solver = casadi.nlpsol("posture", "ipopt", problem, {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
made = time.perf_counter()
x = solver(x0=np.zeros(problem["x"].shape[0]), lbg=0.0, ubg=0.0)["x"].full().ravel()
solved = time.perf_counter()
stats = solver.stats()
print(f"{f} and its derivatives: {made - start:.1f} s")
print(f"Ipopt: {stats['return_status']} after {stats['iter_count']} iterations, {1000 * (solved - made):.0f} ms")
assert stats["success"]

q, wrenches = robot.integrate(q0, x[: robot.nv]), NEWTON * x[robot.nv :].reshape(6, len(FEET)).T
share = np.zeros((len(FEET), 6))
share[:, 2] = robot.mass * 9.81 / len(FEET)
first, last = standing(robot, q0, share)["tau"], standing(robot, q, wrenches)["tau"]
print(f"largest torque: {np.abs(first[6:]).max():.0f} N m before, {np.abs(last[6:]).max():.1f} N m after")
print(f"weight on the feet: {wrenches[:, 2].sum():.1f} N of {robot.mass * 9.81:.1f} N")
assert np.abs(last[:6]).max() < 1e-3 and np.abs(last[6:]).max() < 0.5 * np.abs(first[6:]).max()

figure = Figure(figsize=(8, 4), layout="constrained")
axes = figure.subplots()
names, places = robot.joint_names, np.arange(robot.nv - 6)
axes.bar(places - 0.2, np.abs(first[6:]), 0.4, label="knees bent, weight on both feet")
axes.bar(places + 0.2, np.abs(last[6:]), 0.4, label="found by Ipopt")
axes.set_xticks(places, names, rotation=90, fontsize=6)
axes.set(ylabel="torque at rest [N m]")
axes.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "45_posture_by_ipopt.png", dpi=150)
print("drawn in", folder / "45_posture_by_ipopt.png")

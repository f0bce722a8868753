"""A controlled swing of an arm, plotted: its tree, where it gets, how it tracks, its efforts, how well it could move.

Every function of `kt.plot` draws into axes that are given, or into a figure of its own.

    python 34_plots.py [folder for pictures]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

robot = kt.load("arm6")
t = np.linspace(0.0, 3.0, 601)
dt = t[1]
phases = np.array([0.0, 0.9, 1.8, 2.7, 3.6, 4.5])
amplitudes = np.array([0.8, 0.4, 0.6, 0.5, 0.5, 0.5])
wanted = amplitudes * np.sin(2.0 * t[:, None] + phases) + [0.0, -0.6, 1.0, 0.0, 0.8, 0.0]
rates = 2.0 * amplitudes * np.cos(2.0 * t[:, None] + phases)

# PD control, weighed by the mass matrix, about gravity: it does not know the wanted acceleration, so it lags behind.
q, v = wanted[0].copy(), rates[0].copy()
states, efforts = [], []
for k in range(len(t)):
    pull = 100.0 * (wanted[k] - q) + 20.0 * (rates[k] - v)
    tau = robot.mass_matrix(q) @ pull + robot.gravity_forces(q)
    states.append(q)
    efforts.append(tau)
    v = v + dt * robot.forward_dynamics(q, v, tau)
    q = robot.integrate(q, dt * v)
states, efforts = np.array(states), np.array(efforts)

error = np.abs(wanted - states).max(axis=0)
print("largest errors [rad]:", *(f"{name} {e:.3f}" for name, e in zip(robot.joint_names, error, strict=True)))
hardest = np.argmax(np.abs(efforts).max(axis=0) / robot.limits.effort)
print(f"hardest working: {robot.joint_names[hardest]}, {np.abs(efforts[:, hardest]).max():.0f} N m")

sheet = Figure(figsize=(13.0, 12.0), layout="constrained")
rows = sheet.subfigures(3, 1, height_ratios=(0.5, 1.1, 1.1))
kt.plot.tree(robot, rows[0].subplots())
left, right = rows[1].subfigures(1, 2, width_ratios=(1.25, 1.0))
kt.plot.workspace(robot, "tool0", left.subplots(1, 2), samples=8000)
kt.plot.sparsity(robot, ax=right.subplots())
left, middle, right = rows[2].subfigures(1, 3)
kt.plot.tracking(t, wanted[:, :3], states[:, :3], left.subplots(2, 1, sharex=True), names=robot.joint_names[:3])
kt.plot.torques(robot, t, efforts, middle.subplots(), relative=True)
kt.plot.manipulability(robot, "tool0", t, states, right.subplots())

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
sheet.savefig(folder / "34_plots.png", dpi=110)
print("drawn in", folder / "34_plots.png")
